//! The log of a model on disk: copied while the service runs, and cut where it is damaged.

use std::path::Path;
use std::sync::Arc;

use parsimon_log::{Copied, Directory, Repair};

use super::archive::check;
use super::open::{OpenError, other};

/// Copies a log with its snapshots to a directory that is empty or does not exist, and checks the copy. The service may be running:
/// the copy ends with a record that it had written by then.
pub fn backup(from: &Path, to: &Path) -> Result<Copied, OpenError> {
    check(from)?;
    let cannot = |e: std::io::Error| other(format!("{}: cannot be created: {e}", to.display()));
    let place = Directory::create(to).map_err(cannot)?;
    Ok(parsimon_log::copy(&Directory::existing(from), Arc::new(place))?)
}

/// Returns the changes that [`repair`] would make, without making them.
pub fn damage(directory: &Path) -> Result<Repair, OpenError> {
    present(directory)?;
    Ok(parsimon_log::damage(Arc::new(Directory::existing(directory)))?)
}

/// Cuts a damaged log before its first damaged record. The removed files are kept under names that begin with `damaged-`.
pub fn repair(directory: &Path) -> Result<Repair, OpenError> {
    present(directory)?;
    Ok(parsimon_log::repair(Arc::new(Directory::existing(directory)))?)
}

/// Copies all files of a directory, damaged or not, to one that is empty or does not exist.
pub fn duplicate(from: &Path, to: &Path) -> Result<(), OpenError> {
    present(from)?;
    let failed = |path: &Path, e: std::io::Error| other(format!("{}: {e}", path.display()));
    std::fs::create_dir_all(to).map_err(|e| failed(to, e))?;
    if std::fs::read_dir(to).map_err(|e| failed(to, e))?.next().is_some() {
        let words = "is not empty; name a directory that is empty or does not exist";
        return Err(other(format!("{}: {words}", to.display())));
    }
    for entry in std::fs::read_dir(from).map_err(|e| failed(from, e))? {
        let path = entry.map_err(|e| failed(from, e))?.path();
        if let (true, Some(name)) = (path.is_file(), path.file_name()) {
            std::fs::copy(&path, to.join(name)).map_err(|e| failed(&path, e))?;
        }
    }
    Ok(())
}

/// Refuses a directory without segments. Their headers may be damaged.
fn present(directory: &Path) -> Result<(), OpenError> {
    let names = std::fs::read_dir(directory);
    let names = names.map_err(|e| other(format!("{}: {e}", directory.display())))?;
    let is_segment = |name: &str| {
        name.strip_prefix("log-").is_some_and(|rest| rest.strip_suffix(".seg").is_some())
    };
    match names.flatten().any(|entry| entry.file_name().to_str().is_some_and(is_segment)) {
        true => Ok(()),
        false => Err(other(format!(
            "{}: there is no log; the log of a model is in DATA/NAME",
            directory.display()
        ))),
    }
}

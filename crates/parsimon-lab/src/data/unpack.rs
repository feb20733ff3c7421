//! Extraction of files from an archive that is not trusted.
//!
//! An archive decides nothing: the files to take, their names, lengths and checksums are known beforehand. Whatever else
//! it holds is skipped, and an archive with a path that leads out of it is refused. Files get their names after all of them were checked.

use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use parsimon_files::{ErrorKind, OutputFile};
use sha2::{Digest, Sha256};

use super::set::{Form, Inside};
use super::state::hexadecimal;

/// No archive of the list unpacks to a third of it.
pub(super) const LARGEST_ARCHIVE: u64 = 1 << 28;

/// Why an archive was refused. Nothing of it was kept.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UnpackError {
    /// An output file cannot be written.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Error message of the operating system.
        error: io::Error,
    },
    /// A file of the same name is there.
    #[error("{}: is there already and is not replaced", .0.display())]
    Exists(PathBuf),
    /// It is no archive, or a torn one, or too large.
    #[error("the archive cannot be read: {0}")]
    Archive(String),
    /// A path in it leads out of it.
    #[error("the archive is not to be trusted: its entry {0:?} leads out of it")]
    Escapes(String),
    /// The wanted file is a link, a folder or a device.
    #[error("{0} is not a file in the archive")]
    NotAFile(String),
    /// The wanted file occurs twice.
    #[error("{0} is in the archive twice")]
    Twice(String),
    /// The wanted file is missing.
    #[error("{0} is not in the archive")]
    Lacks(String),
    /// The wanted file has another length.
    #[error("{entry}: {found} bytes, expected {expected}")]
    Size {
        /// Name of the wanted file.
        entry: String,
        /// Its length, or `more than` what was expected.
        found: String,
        /// Expected value.
        expected: u64,
    },
    /// The wanted file has other bytes.
    #[error("{entry}: sha256 {found}, expected {expected}")]
    Checksum {
        /// Name of the wanted file.
        entry: String,
        /// Its checksum.
        found: String,
        /// Expected value.
        expected: String,
    },
}

/// Takes files out of a tar archive, given as a stream, into a data folder; gives their paths.
///
/// Wanted are the forms that are [an entry](Inside::Entry) of it. All are written, or none.
pub fn unpack(
    archive: impl Read,
    wanted: &[&Form],
    dir: &Path,
) -> Result<Vec<PathBuf>, UnpackError> {
    keep(stage_entries(archive, wanted, dir)?)
}

/// A whole and checked file that has no name yet.
pub(super) struct Staged {
    file: OutputFile,
    target: PathBuf,
}

/// The wanted entries of an archive, which is read to its end.
pub(super) fn stage_entries(
    archive: impl Read,
    wanted: &[&Form],
    dir: &Path,
) -> Result<Vec<Staged>, UnpackError> {
    let mut stream = Bounded::new(archive);
    let mut staged: Vec<Option<Staged>> = wanted.iter().map(|_| None).collect();
    let mut archive = tar::Archive::new(&mut stream);
    for entry in archive.entries().map_err(torn)? {
        let mut entry = entry.map_err(torn)?;
        let name = plain_name(&entry.path_bytes())?;
        let Some(i) = wanted.iter().position(|form| entry_of(form) == Some(&name)) else {
            continue;
        };
        if staged[i].is_some() {
            return Err(UnpackError::Twice(name));
        }
        if !entry.header().entry_type().is_file() {
            return Err(UnpackError::NotAFile(name));
        }
        if entry.size() != wanted[i].size {
            let found = entry.size().to_string();
            return Err(UnpackError::Size { entry: name, found, expected: wanted[i].size });
        }
        staged[i] = Some(stage(&mut entry, &name, wanted[i], dir)?);
    }
    // Read the stream to its end, so that its writer is not interrupted.
    io::copy(&mut stream, &mut io::sink()).map_err(torn)?;
    let lacking = |form: &Form| UnpackError::Lacks(entry_of(form).unwrap_or(&form.path).to_owned());
    staged.into_iter().zip(wanted).map(|(s, form)| s.ok_or_else(|| lacking(form))).collect()
}

fn entry_of(form: &Form) -> Option<&String> {
    match &form.inside {
        Some(Inside::Entry(entry)) => Some(entry),
        _ => None,
    }
}

/// Without a leading `./`, and refused if it leads out.
fn plain_name(bytes: &[u8]) -> Result<String, UnpackError> {
    let name = String::from_utf8_lossy(bytes);
    let escapes = |part: Component<'_>| !matches!(part, Component::Normal(_) | Component::CurDir);
    // Paths of other systems count too: a path that is harmless here makes the rest of the archive no safer.
    if Path::new(&*name).components().any(escapes)
        || name.split(['/', '\\']).any(|part| part == "..")
    {
        return Err(UnpackError::Escapes(name.into_owned()));
    }
    Ok(name.strip_prefix("./").unwrap_or(&name).to_owned())
}

fn torn(error: io::Error) -> UnpackError {
    UnpackError::Archive(error.to_string())
}

/// Copies to a temporary file beside the target and checks length and checksum on the way.
pub(super) fn stage(
    mut from: impl Read,
    entry: &str,
    form: &Form,
    dir: &Path,
) -> Result<Staged, UnpackError> {
    let target = dir.join(&form.path);
    let cannot = |error: io::Error| UnpackError::Io { path: target.clone(), error };
    let folder = target.parent().unwrap_or(dir);
    let refused = |error: parsimon_files::Error| cannot(error.into_io_error());
    parsimon_files::create_folders(folder).map_err(refused)?;
    let mut file = OutputFile::create_new(&target).map_err(refused)?;
    let (mut hash, mut length, mut buffer) = (Sha256::new(), 0u64, vec![0; 1 << 16]);
    loop {
        let n = from.read(&mut buffer).map_err(torn)?;
        if n == 0 {
            break;
        }
        length += n as u64;
        if length > form.size {
            let found = format!("more than {}", form.size);
            return Err(UnpackError::Size { entry: entry.into(), found, expected: form.size });
        }
        hash.update(&buffer[..n]);
        file.put(&buffer[..n]).map_err(refused)?;
    }
    if length != form.size {
        let found = length.to_string();
        return Err(UnpackError::Size { entry: entry.into(), found, expected: form.size });
    }
    let found = hexadecimal(&hash.finalize());
    if found != form.sha256 {
        let (entry, expected) = (entry.into(), form.sha256.clone());
        return Err(UnpackError::Checksum { entry, found, expected });
    }
    file.sync().map_err(refused)?;
    Ok(Staged { file, target })
}

/// Gives files their names; a name that is taken stays unchanged.
pub(super) fn keep(staged: Vec<Staged>) -> Result<Vec<PathBuf>, UnpackError> {
    if let Some(taken) = staged.iter().find(|s| s.target.symlink_metadata().is_ok()) {
        return Err(UnpackError::Exists(taken.target.clone()));
    }
    let name = |Staged { file, target }: Staged| match file.commit() {
        Ok(()) => Ok(target),
        Err(e) if e.kind() == ErrorKind::Exists => Err(UnpackError::Exists(target)),
        Err(e) => Err(UnpackError::Io { path: target, error: e.into_io_error() }),
    };
    staged.into_iter().map(name).collect()
}

/// A stream that is not read beyond a length.
pub(super) struct Bounded<R> {
    inner: R,
    left: u64,
}

impl<R> Bounded<R> {
    pub(super) fn new(inner: R) -> Self {
        Self { inner, left: LARGEST_ARCHIVE }
    }
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer)?;
        self.left = self.left.checked_sub(n as u64).ok_or_else(|| {
            io::Error::other(format!("it is larger than {LARGEST_ARCHIVE} bytes"))
        })?;
        Ok(n)
    }
}

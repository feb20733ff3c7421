//! Files under names that cannot be guessed, and a list of those that exist.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tempfile::NamedTempFile;

use crate::disk::{Operation, ask};

/// The temporary files of this process that have not been renamed or removed.
static LIVE: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// An entry of the list.
#[derive(Debug)]
struct Listed(PathBuf);

impl Drop for Listed {
    fn drop(&mut self) {
        let mut live = LIVE.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = live.iter().position(|path| *path == self.0) {
            live.swap_remove(place);
        }
    }
}

/// A file that did not exist before and that only its owner may read, until it is renamed. It is removed when dropped.
#[derive(Debug)]
pub(crate) struct Temporary {
    file: NamedTempFile,
    /// Dropped after the file is gone.
    listed: Listed,
    /// The output as the user named it.
    named: PathBuf,
}

impl Temporary {
    /// A file in the folder of `path`, for the output that the user calls `named`.
    pub(crate) fn beside(path: &Path, named: &Path) -> io::Result<Self> {
        ask(Operation::Create, named)?;
        let mut live = LIVE.lock().unwrap_or_else(PoisonError::into_inner);
        let file = builder().tempfile_in(folder_of(path))?;
        live.push(file.path().to_owned());
        let listed = Listed(file.path().to_owned());
        Ok(Self { file, listed, named: named.into() })
    }

    pub(crate) fn file(&self) -> &File {
        self.file.as_file()
    }

    /// Waits until the bytes are on the disk.
    pub(crate) fn sync(&self) -> io::Result<()> {
        ask(Operation::Sync, &self.named)?;
        self.file().sync_all()
    }

    /// Gives the file its name, over a file that is there unless it has to be `new`.
    pub(crate) fn rename(self, path: &Path, new: bool) -> io::Result<()> {
        ask(Operation::Rename, &self.named)?;
        let Self { file, listed: _listed, .. } = self;
        let renamed = match new {
            true => file.persist_noclobber(path),
            false => file.persist(path),
        };
        renamed.map(|_| ()).map_err(|e| e.error)
    }
}

impl Write for Temporary {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let most = ask(Operation::Write(bytes), &self.named)?.of(bytes.len());
        self.file.write(&bytes[..most])
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// The permissions that the umask and the folder give an ordinary new file: the only way to know is to make one.
#[cfg(unix)]
pub(crate) fn ordinary_mode(path: &Path, named: &Path) -> io::Result<u32> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    ask(Operation::Create, named)?;
    let mut ordinary = builder();
    ordinary.permissions(std::fs::Permissions::from_mode(0o666));
    Ok(ordinary.tempfile_in(folder_of(path))?.as_file().metadata()?.mode())
}

/// Removes the temporary files of this process, for a process that is about to end without dropping what it holds: by a
/// signal. Files that are begun afterwards wait for the end of the process.
pub fn remove_temporary_files() {
    let live = LIVE.lock().unwrap_or_else(PoisonError::into_inner);
    for path in &*live {
        // It may have been renamed in the meantime.
        let _ = std::fs::remove_file(path);
    }
    // Never unlocked: a file begun now would stay behind.
    std::mem::forget(live);
}

/// The folder of a file.
pub(crate) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Source of names.
fn builder() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".parsimon-").rand_bytes(12).suffix(".tmp");
    builder
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    /// With no random characters the name is known, and a link can be planted there.
    #[test]
    fn a_planted_link_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (victim, planted) =
            (folder.path().join("victim"), folder.path().join(".parsimon-.tmp"));
        std::fs::write(&victim, "precious").unwrap();
        symlink(&victim, &planted).unwrap();
        let created = builder().rand_bytes(0).tempfile_in(folder.path());
        assert_eq!(created.unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(std::fs::read(&victim).unwrap(), b"precious");
    }

    #[test]
    fn temporary_names_differ_and_only_the_owner_may_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let [one, two] = [(); 2].map(|()| Temporary::beside(&path, &path).unwrap());
        assert_ne!(one.file.path(), two.file.path());
        assert_eq!(one.file.path().parent(), Some(folder.path()));
        assert_eq!(one.file().metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
}

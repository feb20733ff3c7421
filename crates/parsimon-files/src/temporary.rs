//! Files under names that cannot be guessed, and a list of those that exist.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tempfile::NamedTempFile;

/// The temporary files of this process that have not been renamed or removed.
static LIVE: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// A temporary file. It is removed when dropped.
#[derive(Debug)]
pub(crate) struct Temporary {
    file: NamedTempFile,
    /// Dropped after the file is gone.
    _listed: Listed,
}

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

impl Temporary {
    pub(crate) fn as_file(&self) -> &File {
        self.file.as_file()
    }

    #[cfg(test)]
    pub(crate) fn path(&self) -> &Path {
        self.file.path()
    }

    /// Gives the file its name; a file that is there is replaced unless the file has to be new.
    pub(crate) fn persist(self, path: &Path, new: bool) -> io::Result<()> {
        let Self { file, _listed } = self;
        let renamed = if new { file.persist_noclobber(path) } else { file.persist(path) };
        renamed.map(|_| ()).map_err(|e| e.error)
    }
}

impl Write for Temporary {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for Temporary {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        self.file.seek(position)
    }
}

/// A file in the folder of `path` that did not exist before and that only its owner may read.
pub(crate) fn temporary(path: &Path) -> io::Result<Temporary> {
    let mut live = LIVE.lock().unwrap_or_else(PoisonError::into_inner);
    let file = builder().tempfile_in(folder_of(path))?;
    live.push(file.path().to_owned());
    let listed = Listed(file.path().to_owned());
    Ok(Temporary { file, _listed: listed })
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

/// Where names come from.
pub(crate) fn builder() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".parsimon-").rand_bytes(12).suffix(".tmp");
    builder
}

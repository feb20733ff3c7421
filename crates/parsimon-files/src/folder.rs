//! Folders for outputs.

use std::fs::File;
use std::io;
use std::path::Path;

use crate::disk::{Operation, ask};
use crate::error::{Error, WRITTEN};
use crate::temporary::folder_of;

/// Makes a folder and those above it that are missing.
pub fn create_folders(path: &Path) -> Result<(), Error> {
    let made = ask(Operation::Create, path).and_then(|_| std::fs::create_dir_all(path));
    made.map_err(|e| Error::new(path, WRITTEN, e))
}

/// Locks the folder of a file until the result is dropped: other processes that lock it wait. `None` where folders cannot be locked.
pub fn lock_folder_of(path: &Path) -> Option<File> {
    let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = File::open(folder_of(&path)).ok()?;
    folder.lock().ok().map(|()| folder)
}

/// Waits until the names in a folder are on the disk: a new name survives a power failure from then on.
pub(crate) fn sync_folder(folder: &Path, named: &Path) -> io::Result<()> {
    ask(Operation::SyncFolder, named)?;
    if !cfg!(unix) {
        return Ok(());
    }
    // A folder that may be written and not read cannot be opened; the file itself is safe.
    let Ok(folder) = File::open(folder) else { return Ok(()) };
    match folder.sync_all() {
        // Some file systems cannot sync a folder.
        Err(e) if [io::ErrorKind::InvalidInput, io::ErrorKind::Unsupported].contains(&e.kind()) => {
            Ok(())
        }
        synced => synced,
    }
}

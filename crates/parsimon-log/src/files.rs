//! Names of files, and errors about them.

use std::io;

use crate::disk::Disk;
use crate::error::Error;

/// Name of the lock file; the holder of its lock may write.
pub(crate) const LOCK: &str = "LOCK";

/// Ends the names of unfinished files. They are removed when a log is opened.
pub(crate) const UNFINISHED: &str = ".tmp";

/// The lock of a directory.
pub(crate) type Lock = Box<dyn Send + Sync>;

/// Locks the directory, or refuses.
pub(crate) fn lock(disk: &dyn Disk) -> Result<Lock, Error> {
    let lock = disk.lock(LOCK).map_err(|error| written(disk, LOCK, error))?;
    lock.ok_or_else(|| Error::InUse { directory: disk.path("") })
}

/// A number written with this many digits.
pub(crate) fn number(text: &str, digits: usize) -> Option<u64> {
    (text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit()))
        .then(|| text.parse().ok())?
}

pub(crate) fn list(disk: &dyn Disk) -> Result<Vec<String>, Error> {
    disk.list().map_err(|error| read(disk, "", error))
}

pub(crate) fn read(disk: &dyn Disk, name: &str, source: io::Error) -> Error {
    Error::Io { file: disk.path(name), doing: "cannot be read", source }
}

pub(crate) fn written(disk: &dyn Disk, name: &str, source: io::Error) -> Error {
    Error::Io { file: disk.path(name), doing: "cannot be written", source }
}

pub(crate) fn damaged(disk: &dyn Disk, name: &str, offset: u64, why: &str) -> Error {
    Error::Damaged { file: disk.path(name), offset, why: why.into() }
}

/// Writes a file under another name, syncs it, and gives it its name.
pub(crate) fn put(disk: &dyn Disk, name: &str, bytes: &[u8]) -> io::Result<()> {
    let unfinished = format!("{name}{UNFINISHED}");
    if disk.list()?.contains(&unfinished) {
        disk.remove(&unfinished)?;
    }
    let file = disk.create(&unfinished)?;
    file.write_at(0, bytes)?;
    file.sync()?;
    disk.rename(&unfinished, name)?;
    disk.sync_names()
}

//! The disk interface of the log: one directory, files written at offsets, and syncs. The real one is [`Directory`].

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::sync::Arc;

/// A directory on a disk.
///
/// The file that a name refers to is durable after [`sync_names`](Self::sync_names), the bytes of a file after
/// [`DiskFile::sync`]. Before that, any part of it may be lost in a power cut.
pub trait Disk: Send + Sync {
    /// Creates a file that must not exist.
    fn create(&self, name: &str) -> io::Result<Arc<dyn DiskFile>>;
    /// Opens a file for reading and, if `write`, for writing.
    fn open(&self, name: &str, write: bool) -> io::Result<Arc<dyn DiskFile>>;
    /// Gives a file another name, in place of the file that had it.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;
    /// Removes a file.
    fn remove(&self, name: &str) -> io::Result<()>;
    /// The names of all files, in no order.
    fn list(&self) -> io::Result<Vec<String>>;
    /// Makes all names durable.
    fn sync_names(&self) -> io::Result<()>;
    /// Locks the directory through a file, until the answer is dropped. `None` if it is locked already.
    fn lock(&self, name: &str) -> io::Result<Option<Box<dyn Send + Sync>>>;
    /// The path of a file, or of the directory if the name is empty, for messages.
    fn path(&self, name: &str) -> String;
}

/// A file on a [`Disk`].
pub trait DiskFile: Send + Sync {
    /// The number of bytes.
    fn size(&self) -> io::Result<u64>;
    /// Reads bytes at an offset into the buffer. Fewer are read at the end of the file, and whenever the system returns fewer.
    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<usize>;
    /// Writes all bytes at an offset.
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()>;
    /// Makes the bytes and the size durable.
    fn sync(&self) -> io::Result<()>;
}

/// Reads until the buffer is full or the file ends; returns the number of bytes.
pub(crate) fn read_full(file: &dyn DiskFile, offset: u64, bytes: &mut [u8]) -> io::Result<usize> {
    let mut read = 0;
    while read < bytes.len() {
        match file.read_at(offset + read as u64, &mut bytes[read..]) {
            Ok(0) => break,
            Ok(more) => read += more,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(read)
}

/// A directory of the file system.
#[derive(Clone, Debug)]
pub struct Directory {
    path: PathBuf,
}

impl Directory {
    /// A directory that exists.
    pub fn existing(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// A directory, created with its parents if it is missing.
    pub fn create(path: impl Into<PathBuf>) -> io::Result<Self> {
        let path = path.into();
        if !path.is_dir() {
            fs::create_dir_all(&path)?;
            // The name of the directory has to be durable, too.
            if let Some(parent) = path.canonicalize()?.parent() {
                sync_directory(parent.to_owned())?;
            }
        }
        Ok(Self { path })
    }
}

#[cfg(unix)]
fn sync_directory(path: PathBuf) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// Elsewhere directories cannot be opened, and names are durable with the files.
#[cfg(not(unix))]
fn sync_directory(_: PathBuf) -> io::Result<()> {
    Ok(())
}

impl Disk for Directory {
    fn create(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .open(self.path.join(name))?;
        Ok(Arc::new(file))
    }

    fn open(&self, name: &str, write: bool) -> io::Result<Arc<dyn DiskFile>> {
        Ok(Arc::new(OpenOptions::new().read(true).write(write).open(self.path.join(name))?))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.path.join(from), self.path.join(to))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.path.join(name))
    }

    fn list(&self) -> io::Result<Vec<String>> {
        let names = fs::read_dir(&self.path)?.map(|entry| Ok(entry?.file_name()));
        // A name that is not text is not of this log.
        names.filter_map(|name| name.map(|name| name.into_string().ok()).transpose()).collect()
    }

    fn sync_names(&self) -> io::Result<()> {
        sync_directory(self.path.clone())
    }

    fn lock(&self, name: &str) -> io::Result<Option<Box<dyn Send + Sync>>> {
        let path = self.path.join(name);
        let file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Box::new(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    fn path(&self, name: &str) -> String {
        match name {
            "" => self.path.display().to_string(),
            name => self.path.join(name).display().to_string(),
        }
    }
}

impl DiskFile for File {
    fn size(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    #[cfg(unix)]
    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<usize> {
        std::os::unix::fs::FileExt::read_at(self, bytes, offset)
    }

    #[cfg(unix)]
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        std::os::unix::fs::FileExt::write_all_at(self, bytes, offset)
    }

    #[cfg(windows)]
    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<usize> {
        std::os::windows::fs::FileExt::seek_read(self, bytes, offset)
    }

    #[cfg(windows)]
    fn write_at(&self, mut offset: u64, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let written = std::os::windows::fs::FileExt::seek_write(self, bytes, offset)?;
            offset += written as u64;
            bytes = &bytes[written..];
        }
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        self.sync_data()
    }
}

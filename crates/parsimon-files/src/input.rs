//! Files that are read. None is mapped into memory: a mapped file that another program cuts short ends the process with a signal,
//! and a read one gives fewer bytes.

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crate::disk::{Operation, ask};
use crate::error::{Error, READ};
use crate::memory;

/// A file that is read from beginning to end, or from anywhere.
///
/// ```
/// use std::io::Read;
/// use parsimon_files::{InputFile, write_file};
///
/// let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("numbers.txt");
/// write_file(&path, b"1 2 3\n").unwrap();
/// let mut text = String::new();
/// InputFile::open(&path).unwrap().read_to_string(&mut text).unwrap();
/// assert_eq!(text, "1 2 3\n");
/// ```
#[derive(Debug)]
pub struct InputFile {
    path: PathBuf,
    file: File,
}

impl InputFile {
    /// Opens a file. The error is the system's; the caller names the file.
    pub fn open(path: &Path) -> io::Result<Self> {
        ask(Operation::Open, path)?;
        Ok(Self { path: path.into(), file: File::open(path)? })
    }

    /// Metadata of the file.
    pub fn metadata(&self) -> io::Result<Metadata> {
        self.file.metadata()
    }

    /// Returns a second handle to the open file, with a shared position.
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(Self { path: self.path.clone(), file: self.file.try_clone()? })
    }
}

impl Read for InputFile {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let most = ask(Operation::Read, &self.path)?.of(bytes.len());
        self.file.read(&mut bytes[..most])
    }
}

impl Seek for InputFile {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        self.file.seek(position)
    }
}

/// The bytes of a whole file.
pub fn read_file(path: &Path) -> Result<Vec<u8>, Error> {
    let fail = |e| Error::new(path, READ, e);
    let mut file = InputFile::open(path).map_err(fail)?;
    let mut bytes = Vec::new();
    // The size is a hint: the file may change while it is read.
    let size = file.metadata().map_or(0, |m| if m.is_file() { m.len() } else { 0 });
    let too_large = |shortage: memory::Shortage| {
        io::Error::new(io::ErrorKind::OutOfMemory, format!("reading the file needs {shortage}"))
    };
    // The bytes, what is made of them, and a copy of that.
    memory::check(size.saturating_mul(3)).map_err(|e| fail(too_large(e)))?;
    let size = usize::try_from(size).unwrap_or(usize::MAX);
    bytes
        .try_reserve_exact(size)
        .map_err(|e| fail(io::Error::new(io::ErrorKind::OutOfMemory, e)))?;
    // A pipe or a file that grows may have more than there is memory for.
    let most = memory::left() / 3;
    file.by_ref().take(most).read_to_end(&mut bytes).map_err(fail)?;
    if bytes.len() as u64 >= most {
        let why = format!(
            "it has more than {}, a third of what the memory budget has left",
            memory::amount(most)
        );
        return Err(fail(io::Error::new(io::ErrorKind::OutOfMemory, why)));
    }
    Ok(bytes)
}

/// The text of a whole file.
pub fn read_text(path: &Path) -> Result<String, Error> {
    String::from_utf8(read_file(path)?).map_err(|e| {
        let place = e.utf8_error().valid_up_to();
        let why = format!("it is not UTF-8 text: byte {} belongs to no character", place + 1);
        Error::new(path, READ, io::Error::new(io::ErrorKind::InvalidData, why))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ErrorKind, write_file};

    #[test]
    fn reading_names_the_file_and_the_reason() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        write_file(&path, b"some bytes").unwrap();
        assert_eq!(read_file(&path).unwrap(), b"some bytes");
        assert_eq!(read_text(&path).unwrap(), "some bytes");
        assert_eq!(read_file(folder.path()).unwrap_err().kind(), ErrorKind::Directory);
        let missing = read_file(&folder.path().join("missing")).unwrap_err();
        assert_eq!(missing.kind(), ErrorKind::NotFound);
        write_file(&path, b"ab\xff").unwrap();
        let error = read_text(&path).unwrap_err().to_string();
        assert!(error.ends_with("not UTF-8 text: byte 3 belongs to no character"), "{error}");
    }
}

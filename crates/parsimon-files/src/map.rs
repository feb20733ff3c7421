//! Files seen through memory maps: the one place of this crate with `unsafe`.

#![allow(unsafe_code)]

use std::fs::File;
use std::ops::Deref;
use std::path::Path;

use memmap2::Mmap;

use crate::error::{Error, READ};

/// The bytes of a file, mapped into memory instead of read.
pub fn map(path: &Path) -> Result<impl Deref<Target = [u8]> + use<>, Error> {
    let file = File::open(path).map_err(|e| Error::new(path, READ, e))?;
    if file.metadata().is_ok_and(|m| m.is_dir()) {
        // A folder can be opened but not mapped, and the system's words for that do not name the reason.
        return Err(Error::new(path, READ, std::io::ErrorKind::IsADirectory.into()));
    }
    // SAFETY: the map is only read, as bytes, whose every value is valid. If another process changes the
    // file meanwhile, bytes change under us: everything taken from the map is checked (checksum, lengths) and
    // copied out, and our own writers never change a file in place but rename a new one over it.
    unsafe { Mmap::map(&file) }.map_err(|e| Error::new(path, READ, e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_equals_its_safe_twin() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        crate::write_file(&path, b"some bytes").unwrap();
        assert_eq!(map(&path).unwrap()[..], std::fs::read(&path).unwrap());
    }
}

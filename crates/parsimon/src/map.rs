//! Files seen through memory maps: the one place of this crate with `unsafe`.

#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::path::Path;

use memmap2::Mmap;

/// The bytes of a file, mapped, not read.
pub(crate) fn map(path: &Path) -> io::Result<Mmap> {
    let file = File::open(path)?;
    if file.metadata()?.is_dir() {
        // A folder can be opened but not mapped, and the system's words for that do not say so.
        return Err(io::ErrorKind::IsADirectory.into());
    }
    // SAFETY: the map is only read, as bytes, whose every value is valid. If another process changes the
    // file meanwhile, bytes change under us: everything taken from the map is checked (checksum, lengths) and
    // copied out, and our own writers never change a file in place but rename a new one over it.
    unsafe { Mmap::map(&file) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_equals_its_safe_twin() {
        let path = std::env::temp_dir().join(format!("parsimon-map-{}", std::process::id()));
        std::fs::write(&path, b"some bytes").unwrap();
        assert_eq!(map(&path).unwrap()[..], std::fs::read(&path).unwrap());
        std::fs::remove_file(&path).unwrap();
    }
}

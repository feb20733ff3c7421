//! The layout of our files: a bounded header that says everything, flat arrays, a checksum.
//!
//! ```text
//! bytes 0..8    "PARSIMON"
//! bytes 8..12   version of the layout, little endian
//! bytes 12..16  kind: 1 model, 2 checkpoint, 3 delta
//! bytes 16..24  length of the header
//! bytes 24..    the header, JSON; it lists the sections with their lengths
//! ...           the sections, in that order, each beginning at a multiple of 8
//! last 8 bytes  XXH3 of everything before
//! ```
//!
//! Old files stay readable: a reader knows the versions up to its own, and a header field it does not know is left
//! alone. A file from a newer version, a torn file and a flipped bit are told apart in words. Nothing in a file is ever
//! executed.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use xxhash_rust::xxh3::xxh3_64;

use crate::error::Refusal;
use crate::map::map;
use crate::{FormatError, FormatErrorKind};

const MAGIC: &[u8; 8] = b"PARSIMON";
const VERSION: u32 = 1;
const FIXED: usize = 24;
const MAX_HEADER: u64 = 1 << 28;

/// What a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Model = 1,
    Checkpoint = 2,
    Delta = 3,
}

impl Kind {
    fn name(code: u32) -> &'static str {
        match code {
            1 => "a model",
            2 => "a checkpoint",
            3 => "a delta",
            _ => "something unknown",
        }
    }
}

#[derive(Serialize, Deserialize)]
struct Header {
    about: Value,
    sections: Vec<Section>,
}

#[derive(Serialize, Deserialize)]
struct Section {
    name: String,
    bytes: u64,
}

/// A header and named arrays, in memory.
pub(crate) struct Container {
    pub(crate) about: Value,
    sections: Vec<(String, Vec<u8>)>,
}

impl Container {
    pub(crate) fn new(about: Value) -> Self {
        Self { about, sections: Vec::new() }
    }

    pub(crate) fn push(&mut self, name: &str, bytes: Vec<u8>) {
        self.sections.push((name.into(), bytes));
    }

    /// A section's bytes, empty when there is none of that name.
    pub(crate) fn section(&self, name: &str) -> &[u8] {
        self.sections.iter().find(|(n, _)| n == name).map_or(&[], |(_, bytes)| bytes)
    }

    /// Puts other bytes in a section's place.
    #[cfg(test)]
    pub(crate) fn replace(&mut self, name: &str, bytes: Vec<u8>) {
        self.sections.iter_mut().filter(|(n, _)| n == name).for_each(|s| s.1.clone_from(&bytes));
    }

    pub(crate) fn to_bytes(&self, kind: Kind) -> Vec<u8> {
        let sections = self.sections.iter();
        let sections =
            sections.map(|(name, b)| Section { name: name.clone(), bytes: b.len() as u64 });
        let header = Header { about: self.about.clone(), sections: sections.collect() };
        let header = serde_json::to_vec(&header).unwrap_or_default();
        let mut out = Vec::new();
        out.extend_from_slice(MAGIC);
        out.extend_from_slice(&VERSION.to_le_bytes());
        out.extend_from_slice(&(kind as u32).to_le_bytes());
        out.extend_from_slice(&(header.len() as u64).to_le_bytes());
        out.extend_from_slice(&header);
        for (_, bytes) in &self.sections {
            out.resize(out.len().next_multiple_of(8), 0);
            out.extend_from_slice(bytes);
        }
        out.extend_from_slice(&xxh3_64(&out).to_le_bytes());
        out
    }

    /// Writes to a temporary name, syncs, renames: the file is the old one or the new one, never half of one.
    pub(crate) fn write(&self, path: &Path, kind: Kind) -> Result<(), FormatError> {
        write_atomically(path, &self.to_bytes(kind))
    }

    pub(crate) fn read(path: &Path, kind: Kind) -> Result<Self, FormatError> {
        let bytes =
            map(path).map_err(|e| FormatError::new(path, Refusal::io("cannot be read", e)))?;
        Self::from_bytes(&bytes, kind).map_err(|refusal| FormatError::new(path, refusal))
    }

    pub(crate) fn from_bytes(bytes: &[u8], kind: Kind) -> Result<Self, Refusal> {
        let torn = || {
            let words = "is cut short: the file was not written completely";
            Refusal::new(FormatErrorKind::Damaged, words)
        };
        if bytes.len() < MAGIC.len() || &bytes[..8] != MAGIC {
            return Err(Refusal::new(FormatErrorKind::NotOurs, "is not a file of parsimon"));
        }
        if bytes.len() < FIXED + 8 {
            return Err(torn());
        }
        let u32_at =
            |i: usize| u32::from_le_bytes([bytes[i], bytes[i + 1], bytes[i + 2], bytes[i + 3]]);
        let (version, code) = (u32_at(8), u32_at(12));
        if version == 0 || version > VERSION {
            let words =
                format!("has layout version {version}; this program reads versions 1 to {VERSION}");
            return Err(Refusal::new(FormatErrorKind::Version, words));
        }
        let header_len = u64::from(u32_at(16)) | u64::from(u32_at(20)) << 32;
        let (body, checksum) = bytes.split_at(bytes.len() - 8);
        if header_len > MAX_HEADER || FIXED as u64 + header_len > body.len() as u64 {
            return Err(torn());
        }
        if xxh3_64(body).to_le_bytes() != checksum {
            let words = "is damaged or cut short: its checksum does not match";
            return Err(Refusal::new(FormatErrorKind::Damaged, words));
        }
        if code != kind as u32 {
            let (found, wanted) = (Kind::name(code), Kind::name(kind as u32));
            let words = format!("is {found}, not {wanted}");
            return Err(Refusal::new(FormatErrorKind::WrongFile, words));
        }
        let header_end = FIXED + header_len as usize;
        let header: Header = serde_json::from_slice(&body[FIXED..header_end])
            .map_err(|e| format!("has a header that cannot be read: {e}"))?;
        let (mut sections, mut at) = (Vec::new(), header_end as u64);
        for Section { name, bytes } in header.sections {
            at = at.next_multiple_of(8);
            let end = at.checked_add(bytes).filter(|&end| end <= body.len() as u64);
            let end = end.ok_or_else(torn)?;
            sections.push((name, body[at as usize..end as usize].to_vec()));
            at = end;
        }
        Ok(Self { about: header.about, sections })
    }
}

/// Replaces a file by rename, after the new bytes are on the disk.
pub(crate) fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), FormatError> {
    let fail = |what: &str, e: std::io::Error| FormatError::new(path, Refusal::io(what, e));
    // A link is followed, and what is no file (a device, a pipe) is written to, not replaced.
    let followed = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let path = followed.as_path();
    if std::fs::metadata(path).is_ok_and(|m| !m.is_file() && !m.is_dir()) {
        return std::fs::write(path, bytes).map_err(|e| fail("cannot be written", e));
    }
    let temporary = temporary_name(path);
    let write = || -> std::io::Result<()> {
        let mut file = File::create(&temporary)?;
        file.write_all(bytes)?;
        file.sync_all()
    };
    let written = write().and_then(|()| std::fs::rename(&temporary, path));
    if let Err(e) = written {
        // The half-written file is ours alone; if it cannot even be removed there is nothing to add.
        let _ = std::fs::remove_file(&temporary);
        return Err(fail("cannot be written", e));
    }
    // The rename itself must survive a power failure.
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder).and_then(|f| f.sync_all()).map_err(|e| fail("cannot be synced", e))
}

fn temporary_name(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{}.tmp", std::process::id()));
    path.with_file_name(name)
}

/// Numbers as little-endian bytes.
pub(crate) fn bytes_of<const N: usize, T: Copy>(items: &[T], le: fn(T) -> [u8; N]) -> Vec<u8> {
    items.iter().flat_map(|&item| le(item)).collect()
}

/// Little-endian bytes as numbers; what does not fill a number is left out.
pub(crate) fn numbers_of<const N: usize, T>(bytes: &[u8], le: fn([u8; N]) -> T) -> Vec<T> {
    bytes.as_chunks::<N>().0.iter().map(|chunk| le(*chunk)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Vec<u8> {
        let mut container = Container::new(serde_json::json!({"rows": 3}));
        container.push("a", vec![1, 2, 3]);
        container.push("b", vec![4; 20]);
        container.to_bytes(Kind::Model)
    }

    #[test]
    fn a_file_round_trips() {
        let read = Container::from_bytes(&sample(), Kind::Model).unwrap();
        assert_eq!(read.about["rows"], 3);
        assert_eq!(
            (read.section("a"), read.section("b"), read.section("c")),
            (&[1, 2, 3][..], &[4; 20][..], &[][..])
        );
    }

    #[test]
    fn every_flipped_bit_and_every_truncation_is_an_error() {
        let good = sample();
        for i in 0..good.len() {
            for bit in 0..8 {
                let mut bad = good.clone();
                bad[i] ^= 1 << bit;
                assert!(Container::from_bytes(&bad, Kind::Model).is_err(), "byte {i} bit {bit}");
            }
            assert!(Container::from_bytes(&good[..i], Kind::Model).is_err(), "cut at {i}");
        }
    }

    #[test]
    fn errors_say_what_it_is() {
        let mut newer = sample();
        newer[8] = 9;
        let version = "x: has layout version 9; this program reads versions 1 to 1";
        let torn = "x: is cut short: the file was not written completely";
        for (bytes, kind, words) in [
            (&b"hello, world"[..], FormatErrorKind::NotOurs, "x: is not a file of parsimon"),
            (&sample(), FormatErrorKind::WrongFile, "x: is a model, not a checkpoint"),
            (&newer, FormatErrorKind::Version, version),
            (&sample()[..20], FormatErrorKind::Damaged, torn),
        ] {
            let refusal = Container::from_bytes(bytes, Kind::Checkpoint).err().unwrap();
            let error = FormatError::new("x", refusal);
            assert_eq!((error.kind(), &*error.to_string()), (kind, words));
        }
    }
}

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
//! There is one version of the layout; a file of another version is refused. The errors distinguish a file of another version, a
//! file that is cut short and a file with a flipped bit. Nothing in a file is ever executed.

use std::borrow::Cow;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::checksum::{Checksum, checksum};
use crate::error::Error;
use crate::output::{OutputFile, PreparedFile};

const MAGIC: &[u8; 8] = b"PARSIMON";
const VERSION: u32 = 1;
const FIXED: usize = 24;
const MAX_HEADER: u64 = 1 << 28;

/// Kinds of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Weights to predict with.
    Model = 1,
    /// The state of a learner, to resume.
    Checkpoint = 2,
    /// The difference of a learner's state from an earlier state.
    Delta = 3,
    /// Weights of the command that runs command lines of Vowpal Wabbit.
    Vw = 4,
}

/// Why bytes are not a container. The messages continue the name of a file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ContainerError {
    /// They are of another program.
    #[error("is not a parsimon model or checkpoint")]
    NotOurs,
    /// The file ends too early.
    #[error("is cut short: the file was not written completely")]
    CutShort,
    /// The bytes changed after they were written.
    #[error("is damaged or cut short: its checksum does not match")]
    Damaged,
    /// The layout is of a version that this program does not read.
    #[error(
        "has layout version {0}, and this program reads version {VERSION}; make the file again with this program"
    )]
    Version(u32),
    /// A file of another kind.
    #[error("is {}, not {}", Kind::name(*found), Kind::name(*expected as u32))]
    Kind {
        /// The code of the kind that it is.
        found: u32,
        /// The kind that it should be.
        expected: Kind,
    },
    /// The header is whole and not understood.
    #[error("has a header that cannot be read: {0}")]
    Header(String),
}

impl Kind {
    fn name(code: u32) -> &'static str {
        match code {
            1 => "a model",
            2 => "a checkpoint",
            3 => "a delta",
            4 => "a model of parsimon vw",
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

/// A header and named arrays. Arrays that were read stay in the bytes of the file.
pub struct Container<'a> {
    /// The header, except for the list of arrays.
    pub about: Value,
    sections: Vec<(String, Cow<'a, [u8]>)>,
}

impl<'a> Container<'a> {
    /// A header without arrays.
    pub fn new(about: Value) -> Self {
        Self { about, sections: Vec::new() }
    }

    /// Adds an array.
    pub fn push(&mut self, name: &str, bytes: impl Into<Cow<'a, [u8]>>) {
        self.sections.push((name.into(), bytes.into()));
    }

    /// A section's bytes, empty when there is none of that name.
    pub fn section(&self, name: &str) -> &[u8] {
        self.sections.iter().find(|(n, _)| n == name).map_or(&[], |(_, bytes)| bytes)
    }

    /// Puts other bytes in a section's place: tests make files that are wrong with it.
    pub fn replace(&mut self, name: &str, bytes: Vec<u8>) {
        self.sections
            .iter_mut()
            .filter(|(n, _)| n == name)
            .for_each(|s| s.1 = bytes.clone().into());
    }

    /// The file's bytes.
    pub fn to_bytes(&self, kind: Kind) -> Vec<u8> {
        let mut out = Vec::new();
        self.pieces(kind, |piece| out.extend_from_slice(piece));
        out
    }

    /// Replaces a file by this one, piece by piece.
    pub fn write(&self, path: &Path, kind: Kind) -> Result<(), Error> {
        self.prepare(path, kind)?.commit()
    }

    /// Writes the file under a temporary name.
    pub fn prepare(&self, path: &Path, kind: Kind) -> Result<PreparedFile, Error> {
        let mut file = OutputFile::create(path)?;
        let mut written = Ok(());
        self.pieces(kind, |piece| {
            if written.is_ok() {
                written = file.put(piece);
            }
        });
        written?;
        file.prepare()
    }

    /// Calls `sink` with the file's bytes in pieces; the last piece is the checksum.
    fn pieces(&self, kind: Kind, mut put: impl FnMut(&[u8])) {
        let sections = self.sections.iter();
        let sections =
            sections.map(|(name, b)| Section { name: name.clone(), bytes: b.len() as u64 });
        let header = Header { about: self.about.clone(), sections: sections.collect() };
        let header = serde_json::to_vec(&header).unwrap_or_default();
        let mut start = Vec::new();
        start.extend_from_slice(MAGIC);
        start.extend_from_slice(&VERSION.to_le_bytes());
        start.extend_from_slice(&(kind as u32).to_le_bytes());
        start.extend_from_slice(&(header.len() as u64).to_le_bytes());
        start.extend_from_slice(&header);
        let (mut sum, mut len) = (Checksum::new(), 0);
        let mut next = |piece: &[u8]| {
            sum.update(piece);
            len += piece.len();
            put(piece);
            len
        };
        let mut len = next(&start);
        for (_, bytes) in &self.sections {
            next(&[0; 8][..len.next_multiple_of(8) - len]);
            len = next(bytes);
        }
        let seal = sum.finish().to_le_bytes();
        put(&seal);
    }

    /// Checks the bytes of a file of this kind.
    pub fn from_bytes(bytes: &'a [u8], kind: Kind) -> Result<Self, ContainerError> {
        if bytes.len() < MAGIC.len() || &bytes[..8] != MAGIC {
            return Err(ContainerError::NotOurs);
        }
        if bytes.len() < FIXED + 8 {
            return Err(ContainerError::CutShort);
        }
        let u32_at =
            |i: usize| u32::from_le_bytes([bytes[i], bytes[i + 1], bytes[i + 2], bytes[i + 3]]);
        let (version, code) = (u32_at(8), u32_at(12));
        if version != VERSION {
            return Err(ContainerError::Version(version));
        }
        let header_len = u64::from(u32_at(16)) | u64::from(u32_at(20)) << 32;
        let (body, seal) = bytes.split_at(bytes.len() - 8);
        if header_len > MAX_HEADER || FIXED as u64 + header_len > body.len() as u64 {
            return Err(ContainerError::CutShort);
        }
        if checksum(body).to_le_bytes() != seal {
            return Err(ContainerError::Damaged);
        }
        if code != kind as u32 {
            return Err(ContainerError::Kind { found: code, expected: kind });
        }
        let header_end = FIXED + header_len as usize;
        let header: Header = serde_json::from_slice(&body[FIXED..header_end])
            .map_err(|e| ContainerError::Header(e.to_string()))?;
        let (mut sections, mut at) = (Vec::new(), header_end as u64);
        for Section { name, bytes } in header.sections {
            at = at.next_multiple_of(8);
            let end = at.checked_add(bytes).filter(|&end| end <= body.len() as u64);
            let end = end.ok_or(ContainerError::CutShort)?;
            sections.push((name, body[at as usize..end as usize].into()));
            at = end;
        }
        Ok(Self { about: header.about, sections })
    }
}

/// Numbers as little-endian bytes.
pub fn bytes_of<const N: usize, T: Copy>(items: &[T], le: impl Fn(T) -> [u8; N]) -> Vec<u8> {
    items.iter().flat_map(|&item| le(item)).collect()
}

/// Little-endian bytes as numbers; `None` if they do not fill whole numbers.
pub fn numbers_of<const N: usize, T>(bytes: &[u8], le: impl Fn([u8; N]) -> T) -> Option<Vec<T>> {
    let (chunks, rest) = bytes.as_chunks::<N>();
    rest.is_empty().then(|| chunks.iter().map(|chunk| le(*chunk)).collect())
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
        let bytes = sample();
        let read = Container::from_bytes(&bytes, Kind::Model).unwrap();
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
        let other = ContainerError::Kind { found: 1, expected: Kind::Checkpoint };
        let version = "has layout version 9, and this program reads version 1; \
                       make the file again with this program";
        let torn = "is cut short: the file was not written completely";
        for (bytes, kind, words) in [
            (
                &b"hello, world"[..],
                ContainerError::NotOurs,
                "is not a parsimon model or checkpoint",
            ),
            (&sample(), other, "is a model, not a checkpoint"),
            (&newer, ContainerError::Version(9), version),
            (&sample()[..20], ContainerError::CutShort, torn),
        ] {
            let error = Container::from_bytes(bytes, Kind::Checkpoint).err().unwrap();
            assert_eq!((error.to_string().as_str(), error), (words, kind));
        }
    }
}

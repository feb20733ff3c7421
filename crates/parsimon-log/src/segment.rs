//! A segment: a file of fixed size, a header of one sector, records behind it, zeros to the end.
//!
//! The header has a sector of 512 bytes for itself, so that no write of a record touches it. A segment gets its name after its
//! header is durable: a file with the name of a segment has a header.

use std::sync::Arc;

use crate::disk::{Disk, DiskFile, read_full};
use crate::error::Error;
use crate::files;
use crate::record::{SEAL_SIZE, size_of, u32_at, u64_at};

/// Start of the records.
pub(crate) const START: usize = 512;
pub(crate) const VERSION: u32 = 1;
const MAGIC: &[u8; 8] = b"parslog\n";
const CHECKED: usize = START - 4;

/// Header of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The log that the segment belongs to.
    pub log: u128,
    /// The number that the caller gave to the arithmetic that learned the records.
    pub arithmetic: u32,
    /// The epoch of all its records.
    pub epoch: u32,
    /// The checksum of the seal before.
    pub previous: u32,
    /// The sequence number of its first record.
    pub first: u64,
    /// The log time when it was started.
    pub time: u64,
    /// The size of the file.
    pub capacity: u64,
}

/// A segment of a directory, with its header.
#[derive(Clone)]
pub(crate) struct Segment {
    pub(crate) name: String,
    pub(crate) header: Header,
    pub(crate) file: Arc<dyn DiskFile>,
}

pub(crate) fn name(first: u64) -> String {
    format!("log-{first:020}.seg")
}

/// The sequence number in the name of a segment.
pub(crate) fn first_of(name: &str) -> Option<u64> {
    files::number(name.strip_prefix("log-")?.strip_suffix(".seg")?, 20)
}

/// The sequence numbers in the names of all segments, in order.
pub(crate) fn firsts(disk: &dyn Disk) -> Result<Vec<u64>, Error> {
    let mut firsts: Vec<u64> =
        files::list(disk)?.iter().filter_map(|name| first_of(name)).collect();
    firsts.sort_unstable();
    Ok(firsts)
}

/// The size of a file for segments of about this size: whole sectors, and room for a record.
pub(crate) fn size(wanted: u64) -> u64 {
    wanted.clamp(2 * START as u64, 1 << 40).next_multiple_of(START as u64)
}

/// The most bytes of payload that fit in a segment as its only record.
pub(crate) fn limit(capacity: u64) -> usize {
    (capacity as usize).saturating_sub(START + SEAL_SIZE + size_of(0)).min(u32::MAX as usize) & !7
}

impl Header {
    pub(crate) fn encode(&self) -> [u8; START] {
        let mut bytes = [0; START];
        let mut at = 0;
        let mut put = |field: &[u8]| {
            bytes[at..at + field.len()].copy_from_slice(field);
            at += field.len();
        };
        put(MAGIC);
        put(&VERSION.to_le_bytes());
        put(&self.arithmetic.to_le_bytes());
        put(&self.log.to_le_bytes());
        put(&self.epoch.to_le_bytes());
        put(&self.previous.to_le_bytes());
        put(&self.first.to_le_bytes());
        put(&self.time.to_le_bytes());
        put(&self.capacity.to_le_bytes());
        let checksum = crc32c::crc32c(&bytes[..CHECKED]);
        bytes[CHECKED..].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// Reads the header; an error is the version, if it is a newer one, or the fault.
    fn decode(bytes: &[u8; START]) -> Result<Self, Result<u32, &'static str>> {
        if !bytes.starts_with(MAGIC) {
            return Err(Err("the header of the segment is not that of a log"));
        }
        let version = u32_at(bytes, 8);
        if version > VERSION {
            return Err(Ok(version));
        }
        if version != VERSION || crc32c::crc32c(&bytes[..CHECKED]) != u32_at(bytes, CHECKED) {
            return Err(Err("the checksum of the segment's header does not match"));
        }
        Ok(Self {
            arithmetic: u32_at(bytes, 12),
            log: u128::from(u64_at(bytes, 16)) | u128::from(u64_at(bytes, 24)) << 64,
            epoch: u32_at(bytes, 32),
            previous: u32_at(bytes, 36),
            first: u64_at(bytes, 40),
            time: u64_at(bytes, 48),
            capacity: u64_at(bytes, 56),
        })
    }
}

impl Segment {
    pub(crate) fn open(disk: &dyn Disk, first: u64, write: bool) -> Result<Self, Error> {
        let name = name(first);
        let damaged = |offset, why: &str| files::damaged(disk, &name, offset, why);
        let file = disk.open(&name, write).map_err(|error| files::read(disk, &name, error))?;
        let mut bytes = [0; START];
        let read = read_full(&*file, 0, &mut bytes).map_err(|e| files::read(disk, &name, e))?;
        if read < START {
            return Err(damaged(read as u64, "the segment is shorter than its header"));
        }
        let header = Header::decode(&bytes).map_err(|wrong| match wrong {
            Ok(version) => Error::Newer { file: disk.path(&name), version, known: VERSION },
            Err(why) => damaged(0, why),
        })?;
        let size = file.size().map_err(|error| files::read(disk, &name, error))?;
        if header.first != first {
            return Err(damaged(0, "the header names another first record than the file name"));
        }
        if header.capacity != size {
            return Err(damaged(size.min(header.capacity), "the size differs from the header's"));
        }
        Ok(Self { name, header, file })
    }
}

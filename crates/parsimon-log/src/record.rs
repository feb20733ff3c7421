//! A record in a segment: 40 bytes of header, the payload, zeros up to a multiple of eight.
//!
//! | byte | is |
//! | --- | --- |
//! | 0 | the magic number |
//! | 4 | CRC32C of everything after it |
//! | 8 | the checksum of the record before, or the one in the segment's header |
//! | 12 | length of the payload |
//! | 16 | sequence number |
//! | 24 | log time in milliseconds (6 bytes), tag, kind |
//! | 32 | epoch |
//! | 36 | group: number of records after the last one known to be synced when it was written |
//!
//! A checksum covers the one before it, so that records of another file, another order or another past do not follow each other.
//! The group is the claim that record `seq - group` was durable when this one was written. It distinguishes a torn tail from damage: bytes that
//! were not synced may have reached the disk in any order, so that a whole record behind a broken one proves nothing unless it claims
//! that the broken one was durable.

use crate::step::{Step, taken};

pub(crate) const HEADER: usize = 40;
const MAGIC: u32 = u32::from_le_bytes(*b"prec");
const CHECKED: usize = 8;

/// The seal behind the last record of a segment: the number of records as payload, and the sequence number of the next record.
pub(crate) const SEAL_SIZE: usize = size_of(8);

/// A record, as read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// The sequence number: 1 for the first record of a log. Never used twice, except after a repair for records that it cut.
    pub seq: u64,
    /// The epoch.
    pub epoch: u32,
    /// The log time in milliseconds: never less than that of the record before.
    pub time: u64,
    /// Kind of the record.
    pub content: Content<'a>,
}

/// Kinds of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content<'a> {
    /// Bytes of the caller.
    Data {
        /// The caller's kind.
        kind: u8,
        /// The caller's bytes.
        payload: &'a [u8],
    },
    /// An epoch starts from the state after record `base`. A reader whose state is not that one has to go back to it.
    Epoch {
        /// The record whose state the epoch starts from, 0 for the empty state.
        base: u64,
        /// Why, in the caller's words.
        reason: &'a [u8],
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tag {
    Data,
    Seal,
    Epoch,
}

/// A record with a valid checksum.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Raw<'a> {
    pub(crate) tag: Tag,
    pub(crate) kind: u8,
    pub(crate) seq: u64,
    pub(crate) epoch: u32,
    pub(crate) time: u64,
    pub(crate) group: u32,
    pub(crate) previous: u32,
    pub(crate) checksum: u32,
    pub(crate) payload: &'a [u8],
}

/// The bytes that a payload takes in a segment.
pub(crate) const fn size_of(payload: usize) -> usize {
    (HEADER + payload).next_multiple_of(8)
}

/// The size of the record that starts here, if one seems to. At least [`HEADER`] bytes are needed.
pub(crate) fn size_at(bytes: &[u8]) -> Option<usize> {
    (bytes.len() >= HEADER && u32_at(bytes, 0) == MAGIC)
        .then(|| size_of(u32_at(bytes, 12) as usize))
}

/// Appends a record without the fields that only the writer knows: see [`complete`].
pub(crate) fn push(
    bytes: &mut Vec<u8>,
    tag: Tag,
    kind: u8,
    seq: u64,
    time: u64,
    payload: &[&[u8]],
) {
    let length = payload.iter().map(|part| part.len()).sum::<usize>();
    let end = bytes.len() + size_of(length);
    bytes.extend_from_slice(&MAGIC.to_le_bytes());
    bytes.extend_from_slice(&[0; 8]);
    bytes.extend_from_slice(&(length as u32).to_le_bytes());
    bytes.extend_from_slice(&seq.to_le_bytes());
    bytes.extend_from_slice(&time.to_le_bytes()[..6]);
    bytes.extend_from_slice(&[tag as u8, kind]);
    bytes.extend_from_slice(&[0; 8]);
    for part in payload {
        bytes.extend_from_slice(part);
    }
    bytes.resize(end, 0);
}

/// Returns the sequence number of a record.
pub(crate) fn seq_of(record: &[u8]) -> u64 {
    u64_at(record, 16)
}

/// Completes a record and gives its checksum.
pub(crate) fn complete(bytes: &mut [u8], epoch: u32, previous: u32, synced: u64) -> u32 {
    let seq = seq_of(bytes);
    assert!(seq > synced, "record {seq} is written after record {synced} was synced");
    let group = u32::try_from(seq - synced).unwrap_or(u32::MAX);
    bytes[8..12].copy_from_slice(&previous.to_le_bytes());
    bytes[32..36].copy_from_slice(&epoch.to_le_bytes());
    bytes[36..40].copy_from_slice(&group.to_le_bytes());
    let checksum = crc32c::crc32c(&bytes[CHECKED..]);
    bytes[4..8].copy_from_slice(&checksum.to_le_bytes());
    checksum
}

impl<'a> Raw<'a> {
    /// The record at the start of the bytes, if it is whole and its checksum holds.
    pub(crate) fn decode(bytes: &'a [u8]) -> Option<Self> {
        let bytes = bytes.get(..size_at(bytes)?)?;
        let holds = crc32c::crc32c(&bytes[CHECKED..]) == u32_at(bytes, 4);
        if holds || !taken(Step::CheckChecksum) { Self::parse(bytes) } else { None }
    }

    /// The record at the start of the bytes, whose checksum was found to hold before.
    pub(crate) fn parse(bytes: &'a [u8]) -> Option<Self> {
        let bytes = bytes.get(..size_at(bytes)?)?;
        let tag =
            [Tag::Data, Tag::Seal, Tag::Epoch].into_iter().find(|&tag| tag as u8 == bytes[30]);
        let time = u64_at(bytes, 24) & ((1 << 48) - 1);
        let payload = &bytes[HEADER..HEADER + u32_at(bytes, 12) as usize];
        let tag = tag?;
        let long_enough = match tag {
            Tag::Data => true,
            Tag::Seal => payload.len() == 8,
            Tag::Epoch => payload.len() >= 8,
        };
        long_enough.then_some(Self {
            tag,
            kind: bytes[31],
            seq: u64_at(bytes, 16),
            epoch: u32_at(bytes, 32),
            time,
            group: u32_at(bytes, 36),
            previous: u32_at(bytes, 8),
            checksum: u32_at(bytes, 4),
            payload,
        })
    }

    /// Whether the writer knew the record `seq` to be durable when it wrote this one.
    pub(crate) fn claims(&self, seq: u64) -> bool {
        self.seq.saturating_sub(u64::from(self.group)) >= seq || !taken(Step::CheckClaim)
    }

    /// The record in its public form; `None` for a seal.
    pub(crate) fn record(&self) -> Record<'a> {
        let content = match self.tag {
            Tag::Epoch => {
                Content::Epoch { base: u64_at(self.payload, 0), reason: &self.payload[8..] }
            }
            Tag::Data | Tag::Seal => Content::Data { kind: self.kind, payload: self.payload },
        };
        Record { seq: self.seq, epoch: self.epoch, time: self.time, content }
    }
}

pub(crate) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    let mut four = [0; 4];
    four.copy_from_slice(&bytes[at..at + 4]);
    u32::from_le_bytes(four)
}

pub(crate) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    let mut eight = [0; 8];
    eight.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(eight)
}

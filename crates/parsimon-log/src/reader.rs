//! Reading records in order, segment by segment, whether a writer appends to them or not.

use std::sync::Arc;

use crate::disk::{Disk, read_full};
use crate::error::Error;
use crate::files;
use crate::record::{self, HEADER, Raw, Record, Tag};
use crate::segment::{self, Header, START, Segment};
use crate::step::{Step, taken};

const WINDOW: usize = 256 << 10;

/// Reads the records of a directory in order. Needs no lock, changes nothing, and accepts any bytes: anything but a record is an error with
/// its place.
pub struct Records {
    disk: Arc<dyn Disk>,
    cursor: Option<Cursor>,
}

/// Bytes behind the last record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tail {
    /// The last record, or the one before the first if there is none.
    pub last: u64,
    /// Number of bytes of unfinished records, which opening the log will cut.
    pub torn: u64,
}

impl Records {
    /// The records after record `after`; those of the log from its first if that is later.
    pub fn open(disk: Arc<dyn Disk>, after: u64) -> Result<Self, Error> {
        let mut records = Self { disk, cursor: None };
        records.enter(after)?;
        while records.next_seq() <= after && records.advance()? {}
        Ok(records)
    }

    /// Goes to the segment that holds the record after `after`, if any.
    fn enter(&mut self, after: u64) -> Result<(), Error> {
        let firsts = segment::firsts(&*self.disk)?;
        let holding = firsts.partition_point(|&first| first <= after + 1).saturating_sub(1);
        if let Some(&first) = firsts.get(holding) {
            self.cursor = Some(Cursor::new(Segment::open(&*self.disk, first, false)?));
        }
        Ok(())
    }

    /// The header of the segment of the present record.
    pub fn header(&self) -> Option<&Header> {
        self.cursor.as_ref().map(|cursor| &cursor.segment.header)
    }

    /// The sequence number of the next record.
    pub fn next_seq(&self) -> u64 {
        self.cursor.as_ref().map_or(1, |cursor| cursor.link.next)
    }

    /// Goes to the next record; false at the end. A writer may append meanwhile, and what it has appended may be found by the next
    /// call.
    pub fn advance(&mut self) -> Result<bool, Error> {
        let mut second_look = false;
        loop {
            if self.cursor.is_none() {
                self.enter(0)?;
            }
            let Some(cursor) = &mut self.cursor else { return Ok(false) };
            let (disk, own) = (&*self.disk, cursor.segment.header.first);
            let found = cursor.advance().map_err(|e| files::read(disk, &cursor.segment.name, e))?;
            if found == Found::Record {
                return Ok(true);
            }
            let firsts = segment::firsts(disk)?;
            if found == Found::Seal && firsts.contains(&cursor.link.next) {
                let next = Segment::open(disk, cursor.link.next, false)?;
                cursor.check_next(disk, &next)?;
                *cursor = Cursor::new(next);
                continue;
            }
            let later = firsts.into_iter().find(|&first| first > own);
            // Only at the end of the log may a segment end without a seal, or the next segment be missing.
            match later {
                // Read again: the writer may have reached this point since the segment was read.
                Some(_) if !second_look && found == Found::Nothing => {}
                Some(later) if taken(Step::CheckLaterSegments) => {
                    let why = format!(
                        "record {} should be here, and is damaged or missing; the log goes on with {}",
                        cursor.link.next,
                        segment::name(later)
                    );
                    let offset = cursor.offset as u64;
                    return Err(files::damaged(disk, &cursor.segment.name, offset, &why));
                }
                // An empty segment is replaced when an epoch starts.
                None if !second_look && cursor.link.count == 0 => {
                    *cursor = Cursor::new(Segment::open(disk, own, false)?);
                }
                _ => return Ok(false),
            }
            second_look = true;
        }
    }

    /// The present record, after [`advance`](Self::advance) was true.
    pub fn record(&self) -> Option<Record<'_>> {
        Some(self.cursor.as_ref()?.present()?.record())
    }

    /// Returns the bytes behind the last record. Unread records, and records that a writer appends meanwhile, are skipped.
    pub fn tail(&mut self) -> Result<Tail, Error> {
        loop {
            while self.advance()? {}
            let Some(cursor) = &self.cursor else { return Ok(Tail { last: 0, torn: 0 }) };
            let last = cursor.link.next - 1;
            if cursor.sealed {
                return Ok(Tail { last, torn: 0 });
            }
            let (disk, Segment { name, header, file }) = (&*self.disk, &cursor.segment);
            let offset = cursor.offset;
            let mut rest = vec![0; (header.capacity as usize).saturating_sub(offset)];
            let read = read_full(&**file, offset as u64, &mut rest);
            rest.truncate(read.map_err(|error| files::read(disk, name, error))?);
            match judge(&rest, last + 1) {
                Ok(torn) => return Ok(Tail { last, torn: torn as u64 }),
                Err(at) => {
                    let damage = damage(disk, name, offset, offset + at, last + 1);
                    // The writer may have appended it since.
                    if !self.advance()? {
                        return Err(damage);
                    }
                }
            }
        }
    }
}

/// Returns the number of bytes of a broken group behind the last record, whose successor is `next`; or the position of a whole record that was
/// written when `next` was durable.
pub(crate) fn judge(rest: &[u8], next: u64) -> Result<usize, usize> {
    let Some(end) = rest.iter().rposition(|&byte| byte != 0) else { return Ok(0) };
    for at in (0..=end).step_by(8) {
        let later = Raw::decode(&rest[at..]).filter(|raw| raw.seq >= next && raw.claims(next));
        if later.is_some() {
            return Err(at);
        }
    }
    Ok(end + 1)
}

/// The damage that [`judge`] found.
pub(crate) fn damage(disk: &dyn Disk, name: &str, offset: usize, later: usize, seq: u64) -> Error {
    let why = format!("record {seq} is damaged, and whole records follow at byte {later}");
    files::damaged(disk, name, offset as u64, &why)
}

/// Findings at the end of the read part of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    Record,
    Seal,
    Nothing,
}

/// The position in a chain of records, which determines the next record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    pub(crate) next: u64,
    pub(crate) chain: u32,
    pub(crate) count: u64,
}

impl Link {
    pub(crate) fn start(header: &Header) -> Self {
        Self { next: header.first, chain: header.previous, count: 0 }
    }

    /// Goes on to the record, if it is the one that follows.
    pub(crate) fn follow(&mut self, raw: &Raw<'_>, header: &Header) -> Option<Found> {
        let chained = raw.previous == self.chain || !taken(Step::CheckChain);
        if !chained || raw.seq != self.next || raw.epoch != header.epoch {
            return None;
        }
        let found = match raw.tag {
            Tag::Seal if record::u64_at(raw.payload, 0) != self.count => return None,
            Tag::Seal => Found::Seal,
            // An epoch starts a segment.
            Tag::Epoch if self.count > 0 => return None,
            Tag::Data | Tag::Epoch => Found::Record,
        };
        self.chain = raw.checksum;
        if found == Found::Record {
            self.next += 1;
            self.count += 1;
        }
        Some(found)
    }
}

/// The consecutive records at the start of a segment's bytes.
pub(crate) struct Walk {
    /// End of the records.
    pub(crate) valid: usize,
    pub(crate) link: Link,
    pub(crate) sealed: bool,
    /// The log time of the last one.
    pub(crate) time: u64,
}

impl Walk {
    pub(crate) fn start(header: &Header) -> Self {
        Self { valid: START, link: Link::start(header), sealed: false, time: header.time }
    }

    /// Goes on to the first record that does not follow, or that is not before `end`.
    pub(crate) fn on(&mut self, bytes: &[u8], header: &Header, end: u64) {
        while !self.sealed
            && self.link.next < end
            && let Some(raw) = bytes.get(self.valid..).and_then(Raw::decode)
            && let Some(found) = self.link.follow(&raw, header)
        {
            self.sealed = found == Found::Seal;
            self.time = raw.time;
            self.valid += record::size_of(raw.payload.len());
        }
    }
}

/// A place in a segment, with a window of its bytes.
pub(crate) struct Cursor {
    segment: Segment,
    /// Start of the next record.
    offset: usize,
    /// The size of the present record, which ends at `offset`; 0 if there is none.
    size: usize,
    link: Link,
    sealed: bool,
    window: Vec<u8>,
    /// Start of the window in the file.
    start: usize,
}

impl Cursor {
    pub(crate) fn new(segment: Segment) -> Self {
        let link = Link::start(&segment.header);
        Self {
            segment,
            offset: START,
            size: 0,
            link,
            sealed: false,
            window: Vec::new(),
            start: START,
        }
    }

    pub(crate) fn advance(&mut self) -> std::io::Result<Found> {
        self.size = 0;
        if self.sealed {
            return Ok(Found::Seal);
        }
        // The writer may have appended since the window was read: read it again before giving up.
        for fresh in [false, true] {
            if fresh || self.buffered(HEADER).is_none() {
                self.fill(WINDOW)?;
            }
            let Some(size) = self.buffered(HEADER).and_then(record::size_at) else { continue };
            if (self.offset + size) as u64 > self.segment.header.capacity {
                continue;
            }
            if self.buffered(size).is_none() {
                self.fill(size.max(WINDOW))?;
            }
            let Some(raw) = self.buffered(size).and_then(Raw::decode) else { continue };
            let mut link = self.link;
            let Some(found) = link.follow(&raw, &self.segment.header) else { continue };
            self.link = link;
            self.offset += size;
            assert!(self.offset as u64 <= self.segment.header.capacity, "within the segment");
            self.size = size;
            self.sealed = found == Found::Seal;
            return Ok(found);
        }
        Ok(Found::Nothing)
    }

    /// Returns `len` bytes from the present position, if they are in the window.
    fn buffered(&self, bytes: usize) -> Option<&[u8]> {
        let at = self.offset - self.start;
        self.window.get(at..at + bytes)
    }

    /// Reads the window from the present place, never beyond the segment.
    fn fill(&mut self, bytes: usize) -> std::io::Result<()> {
        let left = (self.segment.header.capacity as usize).saturating_sub(self.offset);
        self.start = self.offset;
        self.window.resize(bytes.min(left), 0);
        let read = read_full(&*self.segment.file, self.offset as u64, &mut self.window);
        self.window.truncate(*read.as_ref().unwrap_or(&0));
        read.map(|_| ())
    }

    pub(crate) fn present(&self) -> Option<Raw<'_>> {
        let at = (self.offset - self.start).checked_sub(self.size)?;
        Raw::parse(self.window.get(at..).filter(|_| self.size > 0)?)
    }

    /// Checks that a segment follows the seal of this one.
    fn check_next(&self, disk: &dyn Disk, next: &Segment) -> Result<(), Error> {
        let (own, header) = (&self.segment.header, &next.header);
        let chained = header.previous == self.link.chain || !taken(Step::CheckChain);
        if chained && header.log == own.log && header.epoch >= own.epoch {
            return Ok(());
        }
        let why = format!("the segment does not follow {}", self.segment.name);
        Err(files::damaged(disk, &next.name, 0, &why))
    }
}

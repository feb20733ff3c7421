//! Records that wait for the writer, each with its place: a record is taken only if there is room for it.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::epoch::{Epoch, Epochs};
use crate::error::AppendError;
use crate::keep::Needs;
use crate::record::{self, SEAL_SIZE, Tag, size_of};
use crate::recovery::Recovered;
use crate::segment::{self, START};
use crate::writer::{Group, Mark, Spare};

/// Limits of a queue and of the segments.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) queue_bytes: usize,
    pub(crate) segment_bytes: u64,
    pub(crate) seal_after: u64,
}

/// Request to append.
#[derive(Clone, Copy)]
pub(crate) enum Entry<'a> {
    Data { kind: u8, payload: &'a [u8] },
    Epoch { base: u64, reason: &'a str },
}

/// The records that wait, and the position of the next one.
pub(crate) struct Queue {
    limits: Limits,
    pub(crate) group: Group,
    place: Place,
    /// Segments to come, oldest first. The records that wait need the first `promised` of them.
    pub(crate) spares: VecDeque<Spare>,
    /// The reason why there is no further segment.
    pub(crate) problem: Option<Arc<str>>,
    pub(crate) epochs: Epochs,
    pub(crate) first: u64,
}

/// State that appending changes besides the group. It is restored if the whole group cannot be taken.
#[derive(Clone, Copy)]
struct Place {
    next: u64,
    time: u64,
    /// Position of the next record in its segment, and the size of the segment.
    offset: u64,
    capacity: u64,
    /// The log time when the segment was started.
    started: u64,
    promised: usize,
}

impl Queue {
    pub(crate) fn new(recovered: &Recovered, arithmetic: u32, limits: Limits) -> Self {
        // A segment is learned by one arithmetic.
        let active = recovered.active.as_ref().filter(|_| recovered.arithmetic == Some(arithmetic));
        let place = Place {
            next: recovered.next,
            time: recovered.time,
            offset: active.map_or(0, |active| active.offset),
            capacity: active.map_or(0, |active| active.capacity),
            started: active.map_or(0, |active| active.started),
            promised: 0,
        };
        Self {
            limits,
            group: Group::default(),
            place,
            spares: VecDeque::new(),
            problem: None,
            epochs: recovered.epochs.clone(),
            first: recovered.first,
        }
    }

    /// The sequence number of the next record.
    pub(crate) fn next_seq(&self) -> u64 {
        self.place.next
    }

    /// The log time of the last record.
    pub(crate) fn time(&self) -> u64 {
        self.place.time
    }

    /// Information that decides about removal.
    pub(crate) fn needs(&self, log: u128, durable: u64) -> Needs {
        let (epochs, first, to_come) = (self.epochs.clone(), self.first, self.place.next - 1);
        Needs { log, epochs, first, durable, to_come }
    }

    /// Whether another spare segment should be made.
    pub(crate) fn wants_spare(&self) -> bool {
        self.spares.len() <= self.place.promised
    }

    /// The segment for the record that the writer has come to.
    pub(crate) fn take_spare(&mut self) -> Option<Spare> {
        assert!(self.place.promised > 0, "a record that starts a segment was promised one");
        self.place.promised -= 1;
        self.spares.pop_front()
    }

    /// Takes all records, or none. Returns the last sequence number and the log time.
    pub(crate) fn append<'a>(
        &mut self,
        entries: impl IntoIterator<Item = Entry<'a>>,
        clock: u64,
    ) -> Result<(u64, u64), AppendError> {
        let before = (self.place, self.group.bytes.len(), self.group.marks.len());
        self.place.time = clock.max(self.place.time);
        for entry in entries {
            if let Err(error) = self.append_one(entry) {
                self.place = before.0;
                self.group.bytes.truncate(before.1);
                self.group.marks.truncate(before.2);
                return Err(error);
            }
        }
        let added = (self.group.marks.len() - before.2) as u64;
        assert_eq!(self.place.next, before.0.next + added, "sequence numbers ascend by one");
        Ok((self.place.next - 1, self.place.time))
    }

    fn append_one(&mut self, entry: Entry<'_>) -> Result<(), AppendError> {
        let Place { next, time, .. } = self.place;
        let base = match entry {
            Entry::Data { .. } => [0; 8],
            Entry::Epoch { base, .. } => base.to_le_bytes(),
        };
        let (tag, kind, parts) = match entry {
            Entry::Data { kind, payload } => (Tag::Data, kind, [&[][..], payload]),
            Entry::Epoch { base: seq, reason } => {
                if seq >= next || seq + 1 < self.first {
                    let (first, last) = (self.first, next - 1);
                    return Err(AppendError::NoSuchBase { base: seq, first, last });
                }
                (Tag::Epoch, 0, [&base[..], reason.as_bytes()])
            }
        };
        let (length, limit) =
            (parts[0].len() + parts[1].len(), segment::limit(self.limits.segment_bytes));
        if length > limit {
            return Err(AppendError::TooLarge { bytes: length, limit });
        }
        let size = size_of(length);
        let waiting = self.group.bytes.len();
        if waiting > 0 && waiting + size > self.limits.queue_bytes {
            return Err(AppendError::Overloaded);
        }
        let starts_epoch = tag == Tag::Epoch;
        let starts_segment = self.reserve(size as u64, starts_epoch)?.then_some(time);
        self.group.marks.push(Mark { at: waiting, starts_segment, starts_epoch });
        record::push(&mut self.group.bytes, tag, kind, next, time, &parts);
        self.place.next += 1;
        if let Entry::Epoch { base, reason } = entry {
            // Appended alone, so that no later failure can leave it here.
            let (number, reason) = (self.epochs.of(next).number + 1, reason.to_owned());
            assert!(base < next, "an epoch starts from an earlier record");
            self.epochs.0.push(Epoch { number, first: next, base, reason, time });
        }
        Ok(())
    }

    /// Finds a place for a record; returns whether it starts a segment.
    fn reserve(&mut self, size: u64, starts_epoch: bool) -> Result<bool, AppendError> {
        let place = &mut self.place;
        let fits = place.offset + size + SEAL_SIZE as u64 <= place.capacity;
        let old = place.time.saturating_sub(place.started) >= self.limits.seal_after
            && place.offset > START as u64;
        if fits && !starts_epoch && !(old && self.spares.len() > place.promised) {
            place.offset += size;
            assert!(place.offset + SEAL_SIZE as u64 <= place.capacity, "the seal has its place");
            return Ok(false);
        }
        let Some(spare) = self.spares.get(place.promised) else {
            let problem = self.problem.clone();
            return Err(problem.map_or(AppendError::Overloaded, AppendError::DiskFull));
        };
        place.promised += 1;
        place.capacity = spare.capacity;
        place.started = place.time;
        place.offset = START as u64 + size;
        assert!(place.offset + SEAL_SIZE as u64 <= place.capacity, "the seal has its place");
        Ok(true)
    }
}

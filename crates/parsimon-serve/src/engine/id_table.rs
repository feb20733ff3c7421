//! The table of row ids: what became of every row that was scored or learned, so that no id is learned twice.
//!
//! | state | meaning | what may follow |
//! | --- | --- | --- |
//! | scored | the row waits for its label | every other state; or the row leaves the table |
//! | learned | a request had the row with its label | |
//! | labelled | the row was scored, its label came later | |
//! | expired | the row was learned with the default label | labelled, where late labels are learned |
//! | set aside | the row cannot be learned with its label | learned, when a request has a row that can be |
//!
//! The table follows from the log alone, as the weights do. It is ahead of the weights by the records that wait for the learner.
//! `changes` holds what those records changed, so that a snapshot of the weights gets the table of its own record (`id_save`).

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parsimon::workspace::Claim;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::id_entries::Entries;
use super::policy::{Labels, Policy};

/// An id is kept while fewer settled rows than this have come after it, ...
const LEAST: usize = 10_000_000;
/// ... and for this many milliseconds of log time.
const LEAST_TIME: u64 = 24 * 60 * 60 * 1000;

/// Rows that were set aside and are listed; the log has all of them.
const LISTED: usize = 1000;

/// The most bytes of an id: its places in the map and in the order of the log, when both have just doubled.
const COST: u64 = 144;

/// Settled ids between two looks at the memory.
const LOOK_EVERY: u64 = 1024;

/// The bytes that a waiting row costs besides its text.
const OVERHEAD: usize = 160;

/// The state of an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub(crate) enum State {
    Scored,
    Learned,
    Labelled,
    Expired,
    SetAside,
}

impl State {
    pub(crate) const ALL: [Self; 5] =
        [Self::Scored, Self::Learned, Self::Labelled, Self::Expired, Self::SetAside];

    /// Returns the name in metrics.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Scored => "scored",
            Self::Learned => "learned",
            Self::Labelled => "labelled",
            Self::Expired => "expired",
            Self::SetAside => "set_aside",
        }
    }
}

/// The label and the weight of a row, hashed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) label: u32,
    pub(crate) weight: u32,
}

impl Answer {
    /// Hashes a label and a weight.
    pub(crate) fn new(label: f64, weight: f64) -> Self {
        // Adding zero makes the two zeros one.
        let hash = |x: f64| xxhash_rust::xxh3::xxh3_64(&(x + 0.0).to_bits().to_le_bytes()) as u32;
        Self { label: hash(label), weight: hash(weight) }
    }
}

/// An id of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) state: State,
    /// The record by which the id came to this state.
    pub(crate) seq: u64,
    /// The hash of the features, label and weight that were learned; 0 where nothing was.
    pub(crate) content: u64,
    /// Label and weight, learned or refused.
    pub(crate) answer: Answer,
}

/// The position of a row in the log: its record, and its number in that record.
pub(super) type At = (u64, u32);

/// A row whose text is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeptRow {
    pub(crate) at: At,
    /// The log time of its record.
    pub(crate) time: u64,
    /// The row as a line of JSON.
    pub(crate) text: Arc<[u8]>,
}

/// A row that could not be learned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct AsideRow {
    pub(crate) id: String,
    /// The reason.
    pub(crate) why: String,
    /// The label that came, or the default label.
    pub(crate) label: Value,
    /// The label and the weight as numbers.
    pub(crate) answer: (f64, f64),
    /// Whether the label window ended before a label came.
    pub(crate) is_expired: bool,
    /// The row that was scored.
    pub(crate) row: Value,
}

/// A row that could not be learned, with the record that says so.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ListedAside {
    pub(crate) seq: u64,
    pub(crate) time: u64,
    #[serde(flatten)]
    pub(crate) row: AsideRow,
}

/// A change by a record: the entry before it.
#[derive(Clone, Debug)]
pub(super) struct Change {
    pub(super) seq: u64,
    pub(super) id: u64,
    pub(super) before: Option<Entry>,
    pub(super) row: Option<KeptRow>,
}

/// An id that came to a state other than scored, in the order of the log. The entry may have moved on since.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settled {
    pub(super) time: u64,
    pub(super) id: u64,
    pub(super) seq: u64,
}

/// The ids of a model.
#[derive(Debug)]
pub(crate) struct IdTable {
    /// Tells tables apart: a rollback replaces the table.
    pub(super) generation: u64,
    entries: Entries,
    /// Rows that wait for a label, and rows whose late label would be learned.
    pub(super) rows: FxHashMap<u64, KeptRow>,
    pub(super) waiting: BTreeMap<At, u64>,
    pub(super) late: BTreeMap<At, u64>,
    pub(super) settled: VecDeque<Settled>,
    /// The number of elements that have left the front of `settled`, and of `changes`.
    pub(super) settled_gone: u64,
    pub(super) changes_gone: u64,
    pub(super) changes: VecDeque<Change>,
    pub(super) aside: VecDeque<ListedAside>,
    /// A snapshot of the state after this record is being written.
    pub(super) frozen: Option<u64>,
    counts: [u64; 5],
    /// The cost of all kept rows, and of the late ones among them.
    bytes: usize,
    late_bytes: usize,
    most_rows: usize,
    most_bytes: usize,
    keeps_late: bool,
    least: usize,
    most_settled: usize,
    claim: Claim,
    /// The bytes of the ids at the last look.
    id_bytes: u64,
    #[cfg(test)]
    pub(super) fault: Option<super::id_check::Fault>,
}

impl IdTable {
    /// Returns an empty table with the limits of a policy.
    pub(crate) fn new(policy: &Policy) -> Self {
        static GENERATIONS: AtomicU64 = AtomicU64::new(0);
        Self {
            generation: GENERATIONS.fetch_add(1, Ordering::Relaxed),
            entries: Entries::new(),
            rows: FxHashMap::default(),
            waiting: BTreeMap::new(),
            late: BTreeMap::new(),
            settled: VecDeque::new(),
            settled_gone: 0,
            changes_gone: 0,
            changes: VecDeque::new(),
            aside: VecDeque::new(),
            frozen: None,
            counts: [0; 5],
            bytes: 0,
            late_bytes: 0,
            most_rows: policy.pending_rows,
            most_bytes: policy.pending_bytes,
            keeps_late: matches!(policy.labels, Labels::Window { learn_late: true, .. }),
            least: LEAST,
            most_settled: usize::try_from(policy.id_bytes / COST).unwrap_or(usize::MAX).max(1),
            claim: Claim::default(),
            id_bytes: 0,
            #[cfg(test)]
            fault: policy.fault,
        }
    }

    /// Returns what is known of an id.
    pub(crate) fn get(&self, id: u64) -> Option<Entry> {
        self.entries.get(id)
    }

    /// Returns the text of a row that waits, or whose late label would be learned.
    pub(crate) fn row(&self, id: u64) -> Option<&KeptRow> {
        self.rows.get(&id)
    }

    /// Returns the number of ids in a state.
    pub(crate) fn count(&self, state: State) -> u64 {
        self.counts[state as usize]
    }

    /// Returns the latest rows that were set aside, newest first.
    pub(crate) fn aside(&self) -> impl Iterator<Item = &ListedAside> {
        self.aside.iter().rev()
    }

    /// Returns how many of the oldest waiting rows have to leave before rows of these texts fit. `None` if the table is too small for
    /// them even when it is empty.
    pub(crate) fn surplus(&self, rows: usize, bytes: usize) -> Option<usize> {
        let wanted = bytes + rows * OVERHEAD;
        if rows > self.most_rows || wanted > self.most_bytes {
            return None;
        }
        // Late rows leave without a record: their labels were never promised a place.
        let (mut count, mut held) =
            (self.waiting.len() + rows, self.bytes - self.late_bytes + wanted);
        let mut surplus = 0;
        for id in self.waiting.values() {
            if count <= self.most_rows && held <= self.most_bytes {
                break;
            }
            (count, held, surplus) = (count - 1, held - cost(&self.rows[id]), surplus + 1);
        }
        Some(surplus)
    }

    /// Adds a row that was scored. The first row of an id stays while it waits; false, if there is one.
    pub(crate) fn score(&mut self, id: u64, row: KeptRow) -> bool {
        match self.get(id).map(|entry| entry.state) {
            Some(State::Scored) => return false,
            // A record of the log: the id was forgotten then, when less memory was given to ids.
            Some(_) => self.leave(id, false),
            None => {}
        }
        let (seq, at) = (row.at.0, row.at);
        let entry = Entry { state: State::Scored, seq, content: 0, answer: Answer::default() };
        self.set(seq, id, Some(entry));
        self.bytes += cost(&row);
        self.waiting.insert(at, id);
        self.rows.insert(id, row);
        while self.bytes > self.most_bytes && self.drop_oldest_late() {}
        self.check();
        true
    }

    /// A row was learned by a record.
    pub(crate) fn learned(&mut self, id: u64, entry: Entry, time: u64) {
        let keeps_row = entry.state == State::Expired && self.keeps_late;
        #[cfg(test)]
        if self.fault == Some(super::id_check::Fault::LearnKeepsRow)
            && entry.state == State::Learned
        {
            self.settled.push_back(Settled { time, id, seq: entry.seq });
            return;
        }
        self.set(entry.seq, id, Some(entry));
        self.leave(id, keeps_row);
        self.settled.push_back(Settled { time, id, seq: entry.seq });
        self.forget_old(time);
        self.check();
    }

    /// A row could not be learned, as a record says.
    pub(crate) fn set_aside(&mut self, id: u64, row: AsideRow, seq: u64, time: u64) {
        let answer = Answer::new(row.answer.0, row.answer.1);
        self.set(seq, id, Some(Entry { state: State::SetAside, seq, content: 0, answer }));
        self.leave(id, false);
        self.settled.push_back(Settled { time, id, seq });
        self.aside.push_back(ListedAside { seq, time, row });
        while self.aside.len() > LISTED {
            self.aside.pop_front();
        }
        self.forget_old(time);
        self.check();
    }

    /// Returns the rows that have waited since a log time or longer, oldest first, at most `most`.
    pub(crate) fn since(&self, time: u64, most: usize) -> Vec<(u64, KeptRow)> {
        let waiting = self.waiting.values().map(|id| (*id, self.rows[id].clone()));
        waiting.take_while(|(_, row)| row.time <= time).take(most).collect()
    }

    /// The rows that have waited since a log time or longer leave by a record. Returns how many.
    pub(crate) fn forget(&mut self, time: u64, seq: u64) -> u64 {
        let is_old = |id: &&u64| self.rows[*id].time <= time;
        let old = self.waiting.values().take_while(is_old).count();
        self.evict(old as u64, seq)
    }

    /// The oldest waiting rows leave by a record. Returns how many.
    pub(crate) fn evict(&mut self, count: u64, seq: u64) -> u64 {
        let mut left = 0;
        while left < count {
            let Some(id) = self.waiting.values().next().copied() else { break };
            self.set(seq, id, None);
            self.leave(id, false);
            left += 1;
        }
        self.check();
        left
    }

    /// Late labels of rows that were scored at a log time or before are not learned any more.
    pub(crate) fn drop_late(&mut self, time: u64) {
        while self.late.values().next().is_some_and(|id| self.rows[id].time <= time) {
            self.drop_oldest_late();
        }
    }

    fn drop_oldest_late(&mut self) -> bool {
        let Some((_, id)) = self.late.pop_first() else { return false };
        let freed = self.rows.remove(&id).map_or(0, |row| cost(&row));
        (self.bytes, self.late_bytes) = (self.bytes - freed, self.late_bytes - freed);
        true
    }

    /// The state after record `seq` is the earliest that can still be asked for.
    pub(crate) fn release(&mut self, seq: u64) {
        let seq = self.frozen.map_or(seq, |frozen| frozen.min(seq));
        while self.changes.front().is_some_and(|change| change.seq <= seq) {
            self.changes.pop_front();
            self.changes_gone += 1;
        }
    }

    /// Changes an entry, and notes what it was.
    fn set(&mut self, seq: u64, id: u64, entry: Option<Entry>) {
        let before = match entry {
            Some(entry) => self.entries.insert(id, entry),
            None => self.entries.remove(id),
        };
        assert!(
            self.changes.back().is_none_or(|change| change.seq <= seq),
            "records change the table in order"
        );
        let row = self.rows.get(&id).cloned();
        self.changes.push_back(Change { seq, id, before, row });
        if let Some(before) = before {
            self.counts[before.state as usize] -= 1;
        }
        if let Some(entry) = entry {
            self.counts[entry.state as usize] += 1;
        }
    }

    /// A row waits no longer.
    fn leave(&mut self, id: u64, keeps_row: bool) {
        let Some(at) = self.rows.get(&id).map(|row| row.at) else { return };
        #[cfg(test)]
        if self.fault == Some(super::id_check::Fault::OrderLeaks) {
            return;
        }
        let was_waiting = self.waiting.remove(&at).is_some();
        let was_late = self.late.remove(&at).is_some();
        assert!(was_waiting != was_late, "a row that is kept waits, or is late");
        let cost = cost(&self.rows[&id]);
        if was_late {
            self.late_bytes -= cost;
        }
        if keeps_row {
            self.late.insert(at, id);
            self.late_bytes += cost;
        } else {
            self.rows.remove(&id);
            self.bytes -= cost;
        }
    }

    /// Forgets settled ids beyond the number and the time that are kept.
    fn forget_old(&mut self, time: u64) {
        self.claim_memory();
        while self.settled.len() > self.most_settled
            || self.settled.len() > self.least
                && self.settled.front().is_some_and(|old| old.time + LEAST_TIME < time)
        {
            let Some(old) = self.settled.pop_front() else { break };
            self.settled_gone += 1;
            // An entry that has moved on since is further back, too.
            if let Some(entry) = self.entries.get(old.id).filter(|entry| entry.seq == old.seq) {
                self.counts[entry.state as usize] -= 1;
                self.entries.remove(old.id);
                self.leave(old.id, false);
            }
        }
    }

    /// Puts back an entry of a snapshot.
    pub(super) fn restore_settled(&mut self, id: u64, entry: Entry, time: u64) {
        if let Some(before) = self.entries.insert(id, entry) {
            self.counts[before.state as usize] -= 1;
        }
        self.counts[entry.state as usize] += 1;
        self.settled.push_back(Settled { time, id, seq: entry.seq });
    }

    /// Puts back a row of a snapshot, which may have it twice.
    pub(super) fn restore_row(&mut self, id: u64, row: KeptRow, is_late: bool) {
        if self.rows.contains_key(&id) {
            return;
        }
        self.bytes += cost(&row);
        if is_late {
            self.late_bytes += cost(&row);
            self.late.insert(row.at, id);
        } else {
            let (seq, answer) = (row.at.0, Answer::default());
            self.entries.insert(id, Entry { state: State::Scored, seq, content: 0, answer });
            self.counts[State::Scored as usize] += 1;
            self.waiting.insert(row.at, id);
        }
        self.rows.insert(id, row);
    }

    /// Returns the bytes of the ids, as of the last look at them, and those of the rows that are kept.
    pub(crate) fn bytes(&self) -> [u64; 2] {
        [self.id_bytes, self.bytes as u64]
    }

    /// Counts the memory of the ids in the budget of the process, now and then. Where there is no more the ids become no more.
    fn claim_memory(&mut self) {
        if !(self.settled_gone + self.settled.len() as u64).is_multiple_of(LOOK_EVERY) {
            return;
        }
        let settled = self.settled.capacity() * size_of::<Settled>();
        let changes = self.changes.capacity() * size_of::<Change>();
        self.id_bytes = self.entries.bytes() + (settled + changes) as u64;
        let bytes = self.bytes().iter().sum();
        if bytes > self.claim.bytes() && self.claim.set(bytes).is_err() {
            self.most_settled = self.most_settled.min(self.settled.len());
        }
    }

    /// Holds what every change must leave true.
    pub(super) fn check(&self) {
        #[cfg(test)]
        if self.fault.is_some() {
            return;
        }
        let waiting = self.waiting.len();
        assert!(waiting as u64 == self.count(State::Scored), "a scored row waits, and no other");
        assert!(waiting + self.late.len() == self.rows.len(), "a kept row waits, or is late");
    }
}

fn cost(row: &KeptRow) -> usize {
    row.text.len() + OVERHEAD
}

//! The table of ids in snapshots: written part by part while the table continues, and read back.
//!
//! A snapshot holds the state after a record, and the table is ahead of it. Between two parts the table may change; `changes` says
//! what an id was before. A part takes the lock of the table for some thousand ids, however many there are.
//!
//! Each item begins with a byte: `E` for the entry of an id, `R` and `L` for a row that waits and for a late one, `A` for a row that
//! was set aside.

use std::ops::Bound;

use rustc_hash::FxHashMap;

use super::id_table::{Answer, At, Entry, IdTable, KeptRow, ListedAside, State};

/// Ids of a part. Each may be a miss of all caches, and requests with ids wait meanwhile.
const PART: usize = 1024;

/// The way through a table that is being written.
pub(crate) struct TableSave {
    seq: u64,
    generation: u64,
    settled: u64,
    changes: u64,
    /// The entries at `seq` of ids that have changed since.
    past: FxHashMap<u64, (Option<Entry>, Option<KeptRow>)>,
    stage: Stage,
}

enum Stage {
    Settled,
    Waiting(Option<At>),
    Late(Option<At>),
    Rest,
    Done,
}

/// The table was replaced by a rollback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Replaced;

impl IdTable {
    /// Begins to write the table as it was after record `seq`. [`end_save`](Self::end_save) must follow.
    pub(crate) fn begin_save(&mut self, seq: u64) -> TableSave {
        self.frozen = Some(seq);
        TableSave {
            seq,
            generation: self.generation,
            settled: self.settled_gone,
            changes: self.changes_gone,
            past: FxHashMap::default(),
            stage: Stage::Settled,
        }
    }

    /// The table is written, or will not be.
    pub(crate) fn end_save(&mut self, save: &TableSave) {
        if self.generation == save.generation {
            self.frozen = None;
        }
    }

    /// Returns the whole table as it was after record `seq`.
    pub(crate) fn save(&mut self, seq: u64) -> Vec<u8> {
        let mut save = self.begin_save(seq);
        let mut out = Vec::new();
        while save.part(self, &mut out) == Ok(true) {}
        self.end_save(&save);
        out
    }

    /// Adds the entries of such bytes; `None` if they are not a table.
    pub(crate) fn restore(&mut self, mut bytes: &[u8]) -> Option<()> {
        while let Some((tag, rest)) = bytes.split_first() {
            let mut input = rest;
            match tag {
                b'E' => {
                    let [time, id, seq, content] = numbers(&mut input)?;
                    let (answer, rest) = input.split_first_chunk::<8>()?;
                    let (label, weight) = answer.split_at(4);
                    let half = |b: &[u8]| b.try_into().ok().map(u32::from_le_bytes);
                    let answer = Answer { label: half(label)?, weight: half(weight)? };
                    let (state, rest) = rest.split_first()?;
                    let state = *State::ALL.get(usize::from(*state))?;
                    self.restore_settled(id, Entry { state, seq, content, answer }, time);
                    input = rest;
                }
                b'R' | b'L' => {
                    let [id, seq, index, time, length] = numbers(&mut input)?;
                    let (text, rest) = input.split_at_checked(usize::try_from(length).ok()?)?;
                    let at = (seq, u32::try_from(index).ok()?);
                    let row = KeptRow { at, time, text: text.into() };
                    self.restore_row(id, row, *tag == b'L');
                    input = rest;
                }
                b'A' => {
                    let [length] = numbers(&mut input)?;
                    let (json, rest) = input.split_at_checked(usize::try_from(length).ok()?)?;
                    self.aside.push_back(serde_json::from_slice::<ListedAside>(json).ok()?);
                    input = rest;
                }
                _ => return None,
            }
            bytes = input;
        }
        self.check();
        Some(())
    }
}

fn numbers<const N: usize>(input: &mut &[u8]) -> Option<[u64; N]> {
    let mut out = [0; N];
    for number in &mut out {
        let (bytes, rest) = input.split_first_chunk::<8>()?;
        *number = u64::from_le_bytes(*bytes);
        *input = rest;
    }
    Some(out)
}

fn put(out: &mut Vec<u8>, numbers: &[u64]) {
    numbers.iter().for_each(|number| out.extend_from_slice(&number.to_le_bytes()));
}

fn put_row(out: &mut Vec<u8>, tag: u8, id: u64, row: &KeptRow) {
    out.push(tag);
    put(out, &[id, row.at.0, row.at.1.into(), row.time, row.text.len() as u64]);
    out.extend_from_slice(&row.text);
}

impl TableSave {
    /// Appends the next part. False if it was the last one.
    pub(crate) fn part(&mut self, table: &IdTable, out: &mut Vec<u8>) -> Result<bool, Replaced> {
        if table.generation != self.generation {
            return Err(Replaced);
        }
        self.note_changes(table);
        self.stage = match self.stage {
            Stage::Settled => self.settled(table, out),
            Stage::Waiting(after) => match self.rows(table, &table.waiting, b'R', after, out) {
                None => Stage::Late(None),
                after => Stage::Waiting(after),
            },
            Stage::Late(after) => match self.rows(table, &table.late, b'L', after, out) {
                None => Stage::Rest,
                after => Stage::Late(after),
            },
            Stage::Rest | Stage::Done => {
                self.rest(table, out);
                Stage::Done
            }
        };
        Ok(!matches!(self.stage, Stage::Done))
    }

    /// Collects what changed since the last part.
    fn note_changes(&mut self, table: &IdTable) {
        let from = self.changes.max(table.changes_gone) - table.changes_gone;
        for change in table.changes.iter().skip(from as usize) {
            if change.seq > self.seq {
                self.past.entry(change.id).or_insert_with(|| (change.before, change.row.clone()));
            }
        }
        self.changes = table.changes_gone + table.changes.len() as u64;
    }

    fn settled(&mut self, table: &IdTable, out: &mut Vec<u8>) -> Stage {
        let from = self.settled.max(table.settled_gone) - table.settled_gone;
        let part = table.settled.range(from as usize..).take(PART);
        let mut count = 0;
        for settled in part {
            count += 1;
            if settled.seq > self.seq {
                return Stage::Waiting(None);
            }
            let entry = match self.past.get(&settled.id) {
                Some((before, _)) => *before,
                None => table.get(settled.id),
            };
            if let Some(entry) = entry.filter(|entry| entry.seq == settled.seq) {
                out.push(b'E');
                put(out, &[settled.time, settled.id, entry.seq, entry.content]);
                out.extend_from_slice(&entry.answer.label.to_le_bytes());
                out.extend_from_slice(&entry.answer.weight.to_le_bytes());
                out.push(entry.state as u8);
            }
        }
        self.settled = table.settled_gone + from + count;
        if (count as usize) < PART { Stage::Waiting(None) } else { Stage::Settled }
    }

    /// Appends rows that have not changed since; the place to continue after, or `None` at the end.
    fn rows(
        &self,
        table: &IdTable,
        rows: &std::collections::BTreeMap<At, u64>,
        tag: u8,
        after: Option<At>,
        out: &mut Vec<u8>,
    ) -> Option<At> {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let (mut last, mut count) = (None, 0);
        let until = Bound::Included((self.seq, u32::MAX));
        // A row beyond the last one of the snapshot has a place before the start only if the snapshot has none.
        if after.is_some_and(|after| after > (self.seq, u32::MAX)) {
            return None;
        }
        for (at, id) in rows.range((from, until)).take(PART) {
            (last, count) = (Some(*at), count + 1);
            if !self.past.contains_key(id) {
                put_row(out, tag, *id, &table.rows[id]);
            }
        }
        last.filter(|_| count == PART)
    }

    /// Appends rows that have changed since, and rows that were set aside.
    fn rest(&self, table: &IdTable, out: &mut Vec<u8>) {
        let past = self.past.iter().filter_map(|(id, (before, row))| {
            let (before, row) = (before.as_ref()?, row.as_ref()?);
            Some((row, if before.state == State::Scored { b'R' } else { b'L' }, *id))
        });
        let mut past: Vec<(&KeptRow, u8, u64)> = past.collect();
        past.sort_unstable_by_key(|(row, ..)| row.at);
        past.into_iter().for_each(|(row, tag, id)| put_row(out, tag, id, row));
        for aside in table.aside.iter().filter(|aside| aside.seq <= self.seq) {
            let json = serde_json::to_vec(aside).unwrap_or_default();
            out.push(b'A');
            put(out, &[json.len() as u64]);
            out.extend_from_slice(&json);
        }
    }
}

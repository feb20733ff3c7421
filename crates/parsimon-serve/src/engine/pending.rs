//! Rows that were scored and wait for their labels.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

/// A row that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Waiting {
    /// The row as a line of JSON.
    pub(crate) text: Box<[u8]>,
    /// The record that has it.
    pub(crate) seq: u64,
    /// The log time of that record.
    pub(crate) time: u64,
}

/// The rows that wait, by what identifies them.
#[derive(Debug)]
pub(crate) struct Pending {
    rows: FxHashMap<Box<[u8]>, Waiting>,
    /// In the order of the log: time and id. Some may have gone.
    order: VecDeque<(u64, Box<[u8]>)>,
    /// Rows that went lately, with the record by which they went: the state before that record has them still.
    gone: VecDeque<(u64, Box<[u8]>, Waiting)>,
    bytes: usize,
    most_rows: usize,
    most_bytes: usize,
}

/// What a row costs besides its text and its id twice.
const OVERHEAD: usize = 96;

impl Pending {
    pub(crate) fn new(most_rows: usize, most_bytes: usize) -> Self {
        Self {
            rows: FxHashMap::default(),
            order: VecDeque::new(),
            gone: VecDeque::new(),
            bytes: 0,
            most_rows,
            most_bytes,
        }
    }

    /// How many rows wait.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether a row waits.
    pub(crate) fn contains(&self, id: &[u8]) -> bool {
        self.rows.contains_key(id)
    }

    /// The row of an id.
    pub(crate) fn get(&self, id: &[u8]) -> Option<&Waiting> {
        self.rows.get(id)
    }

    /// Whether there is room for a row.
    pub(crate) fn has_room(&self, id: &[u8], text: &[u8]) -> bool {
        self.rows.len() < self.most_rows
            && self.bytes + text.len() + 2 * id.len() + OVERHEAD <= self.most_bytes
    }

    /// Adds a row; the first one of an id stays. What the log has is added whether there is room or not.
    pub(crate) fn insert(&mut self, id: &[u8], row: Waiting) {
        if !self.contains(id) {
            self.bytes += row.text.len() + 2 * id.len() + OVERHEAD;
            self.order.push_back((row.time, id.into()));
            self.rows.insert(id.into(), row);
        }
    }

    /// A row goes by a record.
    pub(crate) fn remove(&mut self, id: &[u8], seq: u64) {
        if let Some((id, row)) = self.rows.remove_entry(id) {
            self.bytes -= row.text.len() + 2 * id.len() + OVERHEAD;
            self.gone.push_back((seq, id, row));
        }
    }

    /// The state after record `seq` is the earliest that can still be asked for.
    pub(crate) fn settle(&mut self, seq: u64) {
        while self.gone.front().is_some_and(|(went, ..)| *went <= seq) {
            self.gone.pop_front();
        }
        while self.order.front().is_some_and(|(_, id)| !self.rows.contains_key(id)) {
            self.order.pop_front();
        }
    }

    /// The rows that have waited since a log time or longer, oldest first, at most `most`.
    pub(crate) fn since(&self, time: u64, most: usize) -> Vec<(Box<[u8]>, Waiting)> {
        let old = self.order.iter().take_while(|(then, _)| *then <= time);
        let waiting = old.filter_map(|(then, id)| {
            let row = self.rows.get(id).filter(|row| row.time == *then)?;
            Some((id.clone(), row.clone()))
        });
        waiting.take(most).collect()
    }

    /// Rows that have waited since a log time or longer go by a record.
    pub(crate) fn forget(&mut self, time: u64, seq: u64) {
        let old: Vec<_> = self.since(time, usize::MAX).into_iter().map(|(id, _)| id).collect();
        old.iter().for_each(|id| self.remove(id, seq));
    }

    /// The rows that wait in the state after record `seq`, as bytes.
    pub(crate) fn save(&self, seq: u64) -> Vec<u8> {
        let here = self.order.iter().filter_map(|(_, id)| Some((id, self.rows.get(id)?)));
        let gone = self.gone.iter().filter(|(went, ..)| *went > seq).map(|(_, id, row)| (id, row));
        let mut all: Vec<_> = here.chain(gone).filter(|(_, row)| row.seq <= seq).collect();
        all.sort_by_key(|(_, row)| row.seq);
        let mut out = Vec::new();
        for (id, row) in all {
            for number in [row.seq, row.time, id.len() as u64, row.text.len() as u64] {
                out.extend_from_slice(&number.to_le_bytes());
            }
            out.extend_from_slice(id);
            out.extend_from_slice(&row.text);
        }
        out
    }

    /// Adds the rows of such bytes; `None` if they are not.
    pub(crate) fn restore(&mut self, mut bytes: &[u8]) -> Option<()> {
        while !bytes.is_empty() {
            let (head, rest) = bytes.split_at_checked(32)?;
            let number =
                |k: usize| head.get(8 * k..8 * k + 8)?.try_into().ok().map(u64::from_le_bytes);
            let (seq, time) = (number(0)?, number(1)?);
            let (id, rest) = rest.split_at_checked(usize::try_from(number(2)?).ok()?)?;
            let (text, rest) = rest.split_at_checked(usize::try_from(number(3)?).ok()?)?;
            self.insert(id, Waiting { text: text.into(), seq, time });
            bytes = rest;
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(seq: u64, text: &str) -> Waiting {
        Waiting { text: text.as_bytes().into(), seq, time: 10 * seq }
    }

    #[test]
    fn rows_wait_until_they_go_and_earlier_states_have_them() {
        let mut pending = Pending::new(3, 1 << 20);
        for (seq, id) in [(1, "a"), (2, "b"), (3, "c")] {
            assert!(pending.has_room(id.as_bytes(), b"{}"));
            pending.insert(id.as_bytes(), row(seq, "{}"));
        }
        pending.insert(b"a", row(9, "other"));
        assert_eq!(pending.get(b"a").unwrap().seq, 1, "the first stays");
        assert!(!pending.has_room(b"d", b"{}"));
        pending.remove(b"b", 4);
        assert_eq!(pending.since(20, 9).len(), 1);
        let restored = |bytes: &[u8]| {
            let mut again = Pending::new(3, 1 << 20);
            again.restore(bytes).unwrap();
            again.len()
        };
        assert_eq!([2, 3, 4].map(|seq| restored(&pending.save(seq))), [2, 3, 2]);
        pending.settle(4);
        assert_eq!(restored(&pending.save(3)), 2);
        pending.forget(25, 5);
        assert_eq!(pending.len(), 1);
        assert!(pending.restore(&[1; 31]).is_none());
    }
}

//! Which rows were learned, by what identifies them, so that none is learned twice.

use std::collections::VecDeque;

use parsimon::rows::Chunk;
use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::{Xxh3, xxh3_64, xxh3_64_with_seed};

/// An id is kept while fewer rows than this have come after it, ...
const LEAST: usize = 10_000_000;
/// ... and for so many milliseconds of log time.
const LEAST_TIME: u64 = 24 * 60 * 60 * 1000;

/// The hash of a row's id. Ids of rows and keys of requests have different hashes.
pub(crate) fn row_id(id: &[u8]) -> u64 {
    xxh3_64(id)
}

/// The hash of a request's key.
pub(crate) fn request_key(key: &[u8]) -> u64 {
    xxh3_64_with_seed(key, 1)
}

/// The hash of what is learned from row `i`: features, label and weight, however they were written.
pub(crate) fn content(chunk: &Chunk, i: usize) -> u64 {
    let mut hash = Xxh3::new();
    content_into(chunk, i, &mut hash);
    hash.digest()
}

/// The same of all rows.
pub(crate) fn content_of_all(chunks: &[Chunk]) -> u64 {
    let mut hash = Xxh3::new();
    for chunk in chunks {
        (0..chunk.len()).for_each(|i| content_into(chunk, i, &mut hash));
    }
    hash.digest()
}

fn content_into(chunk: &Chunk, i: usize, hash: &mut Xxh3) {
    let label = chunk.label(i).unwrap_or(f64::NAN);
    for (j, x) in chunk.row(i).iter() {
        hash.update(&j.to_le_bytes());
        hash.update(&x.to_bits().to_le_bytes());
    }
    for x in chunk.numbers(i).iter().chain([&label, &chunk.weight(i), &chunk.base(i)]) {
        // Not-a-number has many spellings.
        let bits = if x.is_nan() { u64::MAX } else { x.to_bits() };
        hash.update(&bits.to_le_bytes());
    }
}

/// What is known of an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Known {
    /// The record that has the row.
    pub(crate) seq: u64,
    content: u64,
    /// Whether the row was learned with the default label, because none had come.
    pub(crate) is_default: bool,
}

/// What became of a row with an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// It is new.
    Never,
    /// It is in the log already.
    Same(Known),
    /// The id belongs to a row with other features, another label or another weight.
    Other(Known),
}

/// The ids of rows that were learned.
#[derive(Debug)]
pub(crate) struct Ids {
    known: FxHashMap<u64, Known>,
    /// In the order of the log: log time and hash.
    order: VecDeque<(u64, u64)>,
    least: usize,
}

impl Default for Ids {
    fn default() -> Self {
        Self { known: FxHashMap::default(), order: VecDeque::new(), least: LEAST }
    }
}

impl Ids {
    /// What is known of a row.
    pub(crate) fn look(&self, id: u64, content: u64) -> Seen {
        match self.known.get(&id) {
            None => Seen::Never,
            Some(known) if known.content == content => Seen::Same(*known),
            Some(known) => Seen::Other(*known),
        }
    }

    /// What is known of an id.
    pub(crate) fn get(&self, id: u64) -> Option<Known> {
        self.known.get(&id).copied()
    }

    /// Remembers a row, and forgets those that are old enough.
    pub(crate) fn insert(&mut self, id: u64, content: u64, seq: u64, time: u64, is_default: bool) {
        self.known.insert(id, Known { seq, content, is_default });
        self.order.push_back((time, id));
        while self.order.len() > self.least
            && self.order.front().is_some_and(|(then, _)| then + LEAST_TIME < time)
        {
            let Some((_, old)) = self.order.pop_front() else { break };
            self.known.remove(&old);
        }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.known.len()
    }

    /// The ids of records up to `seq`, as bytes.
    pub(crate) fn save(&self, seq: u64) -> Vec<u8> {
        let mut out = Vec::new();
        for (time, id) in &self.order {
            if let Some(known) = self.known.get(id).filter(|known| known.seq <= seq) {
                for number in [*time, *id, known.seq, known.content, known.is_default.into()] {
                    out.extend_from_slice(&number.to_le_bytes());
                }
            }
        }
        out
    }

    /// The ids of such bytes; `None` if they are not.
    pub(crate) fn restore(bytes: &[u8]) -> Option<Self> {
        let (entries, rest) = bytes.as_chunks::<40>();
        let mut ids = Self::default();
        for entry in entries {
            let number = |k: usize| {
                let mut bytes = [0; 8];
                bytes.copy_from_slice(&entry[8 * k..8 * k + 8]);
                u64::from_le_bytes(bytes)
            };
            ids.insert(number(1), number(3), number(2), number(0), number(4) != 0);
        }
        rest.is_empty().then_some(ids)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_kept_by_number_and_by_time_whichever_is_more() {
        let mut ids = Ids { least: 3, ..Ids::default() };
        for k in 0..5 {
            ids.insert(k, 100 + k, k + 1, 1000, false);
        }
        assert_eq!(ids.len(), 5, "all are young");
        assert!(matches!(ids.look(2, 102), Seen::Same(known) if known.seq == 3));
        assert!(matches!(ids.look(2, 7), Seen::Other(_)));
        ids.insert(9, 109, 6, 1001 + LEAST_TIME, true);
        assert_eq!(ids.len(), 3, "the old ones beyond the least number have gone");
        assert_eq!(ids.look(0, 100), Seen::Never);
        let again = Ids::restore(&ids.save(6)).unwrap();
        assert_eq!((again.len(), again.get(9)), (3, ids.get(9)));
        assert_eq!(Ids::restore(&ids.save(5)).unwrap().len(), 2);
        assert!(Ids::restore(&[0; 41]).is_none());
    }
}

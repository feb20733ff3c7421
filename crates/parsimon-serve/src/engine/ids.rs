//! Hashes that identify rows and requests, and what a record of rows does to the table of ids.

use parsimon::data::Format;
use parsimon::rows::Chunk;
use xxhash_rust::xxh3::{Xxh3, xxh3_64, xxh3_64_with_seed};

use super::id_table::{Answer, Entry, IdTable, State};
use super::record::{LoggedRows, Origin};
use super::rows::each;

/// Returns the hash of a row's id. Ids of rows and keys of requests have different hashes.
pub(crate) fn row_id(id: &[u8]) -> u64 {
    xxh3_64(id)
}

/// Returns the hash of a request's key.
pub(crate) fn request_key(key: &[u8]) -> u64 {
    xxh3_64_with_seed(key, 1)
}

/// Returns the hash of the content of row `i`: features, label and weight, independent of the format.
pub(crate) fn content(chunk: &Chunk, i: usize) -> u64 {
    let mut hash = Xxh3::new();
    content_into(chunk, i, &mut hash);
    hash.digest()
}

/// Returns the hash of what is learned from all rows.
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

impl IdTable {
    /// Processes a record of rows that are learned.
    pub(crate) fn learned_rows(
        &mut self,
        rows: &LoggedRows<'_>,
        chunks: &[Chunk],
        seq: u64,
        time: u64,
    ) {
        let state = match rows.origin {
            Origin::Sent => State::Learned,
            Origin::Labelled => State::Labelled,
            Origin::Expired => State::Expired,
        };
        if !rows.key.is_empty() {
            let answer = Answer::default();
            let entry = Entry { state: State::Learned, seq, content: rows.content, answer };
            self.learned(request_key(rows.key), entry, time);
        }
        if rows.format != Format::Jsonl {
            return;
        }
        for (chunk, i) in each(chunks).filter(|(chunk, i)| !chunk.tag(*i).is_empty()) {
            let answer = Answer::new(chunk.label(i).unwrap_or(0.0), chunk.weight(i));
            let entry = Entry { state, seq, content: content(chunk, i), answer };
            self.learned(row_id(chunk.tag(i)), entry, time);
        }
    }
}

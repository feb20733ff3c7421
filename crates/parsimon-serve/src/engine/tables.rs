//! What is known of rows besides the weights: which were learned, and which wait for their labels.

use parsimon::data::Format;
use parsimon::rows::Chunk;

use super::ids::{self, Ids};
use super::pending::Pending;
use super::policy::Policy;
use super::record::{Origin, Rows};

/// The tables of a model. They follow from the log alone, as the weights do.
#[derive(Debug)]
pub(crate) struct Tables {
    pub(crate) ids: Ids,
    pub(crate) pending: Pending,
}

impl Tables {
    pub(crate) fn new(policy: &Policy) -> Self {
        let pending = Pending::new(policy.pending_rows, policy.pending_bytes);
        Self { ids: Ids::default(), pending }
    }

    /// Takes in a record of rows that are learned.
    pub(crate) fn learned(&mut self, rows: &Rows<'_>, chunks: &[Chunk], seq: u64, time: u64) {
        if !rows.key.is_empty() {
            self.ids.insert(ids::request_key(rows.key), rows.content, seq, time, false);
        }
        if rows.format != Format::Jsonl {
            return;
        }
        for (chunk, i) in each(chunks) {
            let id = chunk.tag(i);
            if !id.is_empty() {
                let content = ids::content(chunk, i);
                let is_default = rows.origin == Origin::Expired;
                self.ids.insert(ids::row_id(id), content, seq, time, is_default);
                if rows.origin != Origin::Sent {
                    self.pending.remove(id, seq);
                }
            }
        }
    }
}

/// Every row of some chunks.
pub(crate) fn each(chunks: &[Chunk]) -> impl Iterator<Item = (&Chunk, usize)> {
    chunks.iter().flat_map(|chunk| (0..chunk.len()).map(move |i| (chunk, i)))
}

/// The lines of a text that are rows.
pub(crate) fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|&b| b == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty())
}

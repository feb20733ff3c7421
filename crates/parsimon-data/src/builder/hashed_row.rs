//! A row of hashed features before it is sorted.

use parsimon_core::Chunk;

use crate::row_sort;

/// A row of hashed features before it is sorted.
#[derive(Debug, Default)]
pub(super) struct HashedRow {
    pub(super) slots: Vec<u32>,
    pub(super) values: Vec<f64>,
    keys: Vec<u64>,
    pub(super) buffers: Box<row_sort::SortBuffers>,
}

impl HashedRow {
    #[inline(always)]
    pub(super) fn push(&mut self, slot: u32, value: f64) {
        self.slots.push(slot);
        self.values.push(value);
    }

    pub(super) fn clear(&mut self) {
        self.slots.clear();
        self.values.clear();
    }

    /// Moves the row in the order of its slots, adds up features of one slot in the order they stand in, and forgets it.
    #[inline]
    pub(super) fn move_into(&mut self, chunk: &mut Chunk) {
        let (slots, values) = (&self.slots[..], &self.values[..]);
        // PERF: slots come in no order, so every row must be sorted. Most rows are short and meet no slot twice.
        if !row_sort::push_distinct(slots, values, &mut self.buffers, chunk) {
            self.sort_into(chunk);
        }
        self.clear();
    }

    /// Finishes a row of any length by sorting its features.
    fn sort_into(&mut self, chunk: &mut Chunk) {
        // INVARIANT: a line of at most 1 GiB and at most 2^27 products are fewer than 2^32.
        let key = |(k, &slot): (usize, &u32)| u64::from(slot) << 32 | u64::from(k as u32);
        self.keys.clear();
        self.keys.extend(self.slots.iter().enumerate().map(key));
        self.keys.sort_unstable();
        let value =
            |key: u64| self.values.get((key & 0xffff_ffff) as usize).copied().unwrap_or(0.0);
        let mut keys = self.keys.iter().copied();
        if let Some(first) = keys.next() {
            let (mut slot, mut sum) = ((first >> 32) as u32, value(first));
            for key in keys {
                let next = (key >> 32) as u32;
                if next == slot {
                    sum += value(key);
                } else {
                    chunk.push_feature(slot, sum);
                    (slot, sum) = (next, value(key));
                }
            }
            chunk.push_feature(slot, sum);
        }
    }
}

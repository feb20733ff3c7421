//! The entries of the table of ids, in many small maps.
//!
//! One map of ten million entries takes about a second when it doubles, and requests with ids wait for that. A small map takes a
//! millisecond or two, and the maps do not double at one time.

use rustc_hash::FxHashMap;

use super::id_table::Entry;

const BITS: u32 = 10;

/// Entries by the hashes of their ids.
#[derive(Debug)]
pub(super) struct Entries(Box<[FxHashMap<u64, Entry>]>);

impl Entries {
    pub(super) fn new() -> Self {
        Self((0..1 << BITS).map(|_| FxHashMap::default()).collect())
    }

    fn of(&self, id: u64) -> &FxHashMap<u64, Entry> {
        &self.0[(id >> (64 - BITS)) as usize]
    }

    fn of_mut(&mut self, id: u64) -> &mut FxHashMap<u64, Entry> {
        &mut self.0[(id >> (64 - BITS)) as usize]
    }

    pub(super) fn get(&self, id: u64) -> Option<Entry> {
        self.of(id).get(&id).copied()
    }

    pub(super) fn insert(&mut self, id: u64, entry: Entry) -> Option<Entry> {
        self.of_mut(id).insert(id, entry)
    }

    pub(super) fn remove(&mut self, id: u64) -> Option<Entry> {
        self.of_mut(id).remove(&id)
    }

    /// Returns the bytes of the maps: each place holds an id, an entry and a byte, and an eighth of the places is empty.
    pub(super) fn bytes(&self) -> u64 {
        let places: usize = self.0.iter().map(|map| map.capacity() + map.capacity() / 7).sum();
        (places * (size_of::<(u64, Entry)>() + 1)) as u64
    }
}

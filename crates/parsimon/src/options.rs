//! What a learner is built with beside its settings: number type, bias, store.

use parsimon_core::{Float, Packed, Precision, State, Table};

/// What a learner needs beside its settings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LearnerOptions {
    /// The number type.
    pub precision: Precision,
    /// Whether there is a bias.
    pub bias: bool,
    /// Where coordinates live.
    pub storage: Storage,
}

/// Where coordinates live. It never changes an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// An array of so many slots, for hashed features.
    Slots(
        /// The number of slots.
        u32,
    ),
    /// An array that grows with the largest slot seen, up to so many: for learners from files, which may have been made to name any
    /// number of slots.
    GrowingSlots(
        /// The number of slots.
        u32,
    ),
    /// An array that grows with the largest id, for ids kept as they are.
    Growing,
    /// An index: memory for the features seen, whatever their ids.
    Index,
}

impl Storage {
    /// An empty table.
    pub(crate) fn table<C: State + Copy>(self) -> Table<C> {
        match self {
            Storage::Slots(slots) => Table::dense(slots),
            Storage::GrowingSlots(slots) => Table::growing_to(slots),
            Storage::Growing => Table::growing(),
            Storage::Index => Table::index(),
        }
    }

    /// The slots that an empty table has an array for.
    pub(crate) fn slots(self) -> u64 {
        match self {
            Storage::Slots(slots) => slots.into(),
            Storage::GrowingSlots(_) | Storage::Growing | Storage::Index => 0,
        }
    }

    /// An empty table of several settings. It holds the features that were seen: arrays of all slots for sixteen settings would
    /// not fit in memory.
    pub(crate) fn packed<F: Float, const K: usize>(self) -> Packed<F, K> {
        match self {
            Storage::Slots(slots) => Packed::dense(slots),
            Storage::GrowingSlots(slots) => Packed::growing_to(slots),
            Storage::Growing => Packed::growing(),
            Storage::Index => Packed::index(),
        }
    }
}

impl Default for LearnerOptions {
    fn default() -> Self {
        Self { precision: Precision::F64, bias: true, storage: Storage::Growing }
    }
}

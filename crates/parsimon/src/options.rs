//! What a learner is built with beside its settings: number type, bias, store.

use parsimon_core::{Precision, State, Table};

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
            Storage::Growing => Table::growing(),
            Storage::Index => Table::index(),
        }
    }
}

impl Default for LearnerOptions {
    fn default() -> Self {
        Self { precision: Precision::F64, bias: true, storage: Storage::Growing }
    }
}

//! Options of a learner beside its settings: number type, bias, store.

use parsimon_core::{Float, Packed, Precision, State, Table};

/// Options of a learner besides its settings: precision, bias and storage.
///
/// ```
/// use parsimon::settings::{Precision, Storage};
/// use parsimon::LearnerOptions;
///
/// // Weights in single precision, for features that are hashed into 2^18 slots.
/// let options = LearnerOptions {
///     precision: Precision::F32,
///     storage: Storage::Slots(1 << 18),
///     ..LearnerOptions::default()
/// };
/// assert!(options.bias);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LearnerOptions {
    /// The type of the weights.
    pub precision: Precision,
    /// Whether there is a bias.
    pub bias: bool,
    /// Storage of weights.
    pub storage: Storage,
}

/// Storage of weights. It affects memory and speed, not results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// An array with a fixed number of slots, for hashed features.
    Slots(
        /// The number of slots.
        u32,
    ),
    /// An array that grows with the largest slot seen, up to a number of slots. For learners that are restored from files, where
    /// the number of slots cannot be trusted.
    GrowingSlots(
        /// The number of slots.
        u32,
    ),
    /// An array that grows with the largest id, for features that are not hashed.
    Growing,
    /// A hash table: memory grows with the number of features seen, not with their ids.
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

    /// The storage for several classes: arrays of all slots for every class would mostly be empty, so features are found through an
    /// index unless the arrays are small.
    pub(crate) fn for_heads(self, heads: Option<usize>) -> Self {
        match (self, heads) {
            (Storage::Slots(slots) | Storage::GrowingSlots(slots), Some(heads))
                if u64::from(slots).saturating_mul(heads as u64) > MOST_SLOTS =>
            {
                Storage::Index
            }
            _ => self,
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

/// More slots of all classes together are not allocated before features are seen.
const MOST_SLOTS: u64 = 1 << 22;

impl Default for LearnerOptions {
    fn default() -> Self {
        Self { precision: Precision::F64, bias: true, storage: Storage::Growing }
    }
}

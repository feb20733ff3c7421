//! Memory needs of a learner, computed before the memory is allocated.
//!
//! Sizes are computed from the number of coordinates and not measured, so that the same stream is refused at the same row
//! on every machine. They are upper bounds, which include the temporary copy while a vector or a hash table grows.

use std::cell::Cell;

use crate::state::{StateError, StateErrorKind};

/// Upper bounds on the features of some rows, found without a look at each feature.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Coming {
    /// The number of rows.
    pub rows: usize,
    /// The number of features of all rows.
    pub features: usize,
    /// One more than the largest index.
    pub end: u64,
    /// One more than the largest index below [`FAR`].
    pub near_end: u64,
    /// The number of features from [`FAR`] on.
    pub far: usize,
    /// The number of features of all rows that were learned before: there are no more coordinates than that and those of these rows.
    pub before: u64,
}

/// Indices below this may live in an array that grows; others are found through an index.
pub const FAR: u32 = 1 << 26;

/// The length to which an array grows for indices below `end`, if it may have `limit` places.
pub(crate) fn grown(end: u64, limit: u32) -> u64 {
    end.next_power_of_two().max(1024).min(limit.into())
}

/// The bytes of an array of `len` items, and those of the next one while the array is copied into it.
pub(crate) fn array(len: usize, after: u64, size: usize) -> u64 {
    let len = len as u64;
    let items = if after > len { len.saturating_add(after) } else { len };
    items.saturating_mul(size as u64)
}

/// Returns the bytes of a vector of up to `len` items that is filled one by one: at most twice the items, and half of that again
/// while it grows.
pub(crate) fn vector(len: u64, size: usize) -> u64 {
    len.saturating_mul(3 * size as u64)
}

/// The bytes that a checkpoint or a model of `len` coordinates takes while it is made: their state in a vector that doubles, or
/// weights that are sorted, put in two vectors and checked. A run must not end without memory to save what it learned.
pub(crate) fn saved(coordinates: u64, size: usize) -> u64 {
    coordinates.saturating_mul(64.max(3 * (4 + size as u64)))
}

/// The bytes of a hash table of up to `len` pairs of 4-byte numbers: 9 bytes for each of at most 16/7 places per pair, and half
/// of that again while it grows.
pub(crate) fn index(len: u64) -> u64 {
    len.saturating_mul(32)
}

thread_local! {
    static ALLOWANCE: Cell<u64> = const { Cell::new(u64::MAX) };
}

/// Restores a state in this thread. Arrays for its features may take `bytes` bytes together; a state that needs more
/// is refused. One feature with a large id is enough to require a large array.
pub fn restore_within<T>(bytes: u64, restore: impl FnOnce() -> T) -> T {
    let before = ALLOWANCE.replace(bytes);
    let restored = restore();
    ALLOWANCE.set(before);
    restored
}

/// Subtracts bytes from the allowance.
pub(crate) fn claim(bytes: u64) -> Result<(), StateError> {
    match ALLOWANCE.get().checked_sub(bytes) {
        Some(left) => {
            ALLOWANCE.set(left);
            Ok(())
        }
        None => Err(StateError::new(StateErrorKind::TooLarge, "an array for its largest feature")),
    }
}

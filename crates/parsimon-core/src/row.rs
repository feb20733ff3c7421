//! One example's features.

/// The features of one example: sorted by index, unique, finite, without explicit zeros.
///
/// A `Row` is only ever borrowed from a [`Chunk`](crate::Chunk), which checks these promises once, on
/// entry. Everything behind it may rely on them.
///
/// ```
/// use parsimon_core::{Chunk, Repeats};
///
/// let mut chunk = Chunk::new();
/// chunk.push_feature(7, 0.5);
/// chunk.push_feature(2, 1.0);
/// chunk.finish_row(Some(1.0), 1.0, Repeats::Refuse).unwrap();
/// assert_eq!(chunk.row(0).iter().collect::<Vec<_>>(), [(2, 1.0), (7, 0.5)]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row<'a> {
    indices: &'a [u32],
    values: &'a [f64],
}

impl<'a> Row<'a> {
    /// INVARIANT: the caller (`Chunk`) has checked order, uniqueness and finiteness.
    #[inline]
    pub(crate) fn from_checked(indices: &'a [u32], values: &'a [f64]) -> Self {
        debug_assert_eq!(indices.len(), values.len());
        Self { indices, values }
    }

    /// The indices, strictly increasing.
    #[inline]
    pub fn indices(&self) -> &'a [u32] {
        self.indices
    }

    /// The values, one per index, finite and not zero.
    #[inline]
    pub fn values(&self) -> &'a [f64] {
        self.values
    }

    /// The number of nonzero features.
    #[inline]
    pub fn len(&self) -> usize {
        self.indices.len()
    }

    /// Whether every feature is zero.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.indices.is_empty()
    }

    /// The features in increasing order of index.
    #[inline]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (u32, f64)> + 'a {
        self.indices.iter().copied().zip(self.values.iter().copied())
    }
}

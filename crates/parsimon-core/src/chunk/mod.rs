//! A block of examples: the unit that crosses every thread, `dyn` and language boundary.

mod bases;
mod numbers;

use std::ops::Range;

pub use self::numbers::NumberColumn;
use crate::Row;
use crate::room::{Coming, FAR};
use crate::wide::{Work, wide};

/// Examples in compressed sparse rows, with labels, importance weights and optional tags.
///
/// Buffers are reused: [`clear`](Chunk::clear) keeps their capacity. A row is built feature by
/// feature and then finished; finishing sorts it, refuses or adds up repeated indices, drops explicit
/// zeros and refuses what is not finite. A refused row leaves the chunk as it was before.
///
/// ```
/// use parsimon_core::{Chunk, Repeats, RowError};
///
/// let mut chunk = Chunk::new();
/// chunk.push_feature(3, 1.0);
/// chunk.push_feature(3, 2.0);
/// assert_eq!(chunk.finish_row(Some(1.0), 1.0, Repeats::Refuse), Err(RowError::Repeated { index: 3 }));
/// assert_eq!(chunk.len(), 0);
///
/// chunk.push_feature(3, 1.0);
/// chunk.push_feature(3, 2.0);
/// chunk.finish_row(Some(1.0), 1.0, Repeats::Add).unwrap();
/// assert_eq!(chunk.row(0).values(), [3.0]);
/// ```
#[derive(Clone, Debug)]
pub struct Chunk {
    offsets: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f64>,
    labels: Vec<f64>,
    weights: Vec<f64>,
    tags: Vec<u8>,
    tag_ends: Vec<usize>,
    /// The base values, `base_width` for each row; none where no row has one.
    bases: Vec<f64>,
    base_width: usize,
    /// The number columns, and their cells row by row: NaN where a cell is missing.
    columns: Vec<NumberColumn>,
    numbers: Vec<f64>,
    scratch: Vec<(u32, f64)>,
}

impl Default for Chunk {
    fn default() -> Self {
        Self::new()
    }
}

/// Treatment of an index that occurs twice in one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeats {
    /// Refuse the row. A repeated index in an svmlight file is an error.
    Refuse,
    /// Add the values up: two names that fall into one slot, or a word that occurs twice.
    Add,
}

/// Why a row was refused.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RowError {
    /// An index occurs twice.
    Repeated {
        /// The index.
        index: u32,
    },
    /// A feature's value is NaN, infinite, or overflows when repeated features add up.
    NotFinite {
        /// The index whose value it is.
        index: u32,
    },
    /// The label is NaN or infinite.
    Label,
    /// The importance weight is negative, NaN or infinite.
    Importance,
}

impl std::fmt::Display for RowError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            RowError::Repeated { index } => write!(f, "feature index {index} appears twice"),
            RowError::NotFinite { index } => {
                write!(f, "the value of feature {index} is not a finite number")
            }
            RowError::Label => f.write_str("the label is not a finite number"),
            RowError::Importance => f.write_str("the importance weight must be finite and >= 0"),
        }
    }
}

impl std::error::Error for RowError {}

impl Chunk {
    /// An empty chunk.
    pub fn new() -> Self {
        Self {
            offsets: vec![0],
            indices: Vec::new(),
            values: Vec::new(),
            labels: Vec::new(),
            weights: Vec::new(),
            tags: Vec::new(),
            tag_ends: Vec::new(),
            bases: Vec::new(),
            base_width: 1,
            columns: Vec::new(),
            numbers: Vec::new(),
            scratch: Vec::new(),
        }
    }

    /// Forgets every row and all number columns, and keeps the buffers.
    pub fn clear(&mut self) {
        self.columns.clear();
        self.numbers.clear();
        self.offsets.truncate(1);
        self.indices.clear();
        self.values.clear();
        self.labels.clear();
        self.weights.clear();
        self.tags.clear();
        self.tag_ends.clear();
        self.bases.clear();
        self.base_width = 1;
    }

    /// The number of finished rows.
    #[inline]
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether there is no finished row.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// The number of features of all finished rows.
    #[inline]
    pub fn nonzeros(&self) -> usize {
        self.offsets[self.len()]
    }

    /// The bytes of the rows, including the spare capacity of vectors that double.
    pub fn room(&self) -> u64 {
        let rows = self.labels.capacity() * (2 * size_of::<f64>() + 2 * size_of::<usize>());
        let features = self.indices.capacity() * (size_of::<u32>() + size_of::<f64>());
        let cells = (self.numbers.capacity() + self.bases.capacity()) * size_of::<f64>();
        (rows + features + cells + self.tags.capacity()) as u64
    }

    /// The number of features that there is memory for.
    pub fn capacity(&self) -> usize {
        self.indices.capacity()
    }

    /// Returns upper bounds on the features of some rows. Cells of number columns count as features.
    pub fn coming(&self, rows: Range<usize>) -> Coming {
        let mut coming = Coming { rows: rows.len(), ..Coming::default() };
        coming.features = self.offsets[rows.end] - self.offsets[rows.start];
        for i in rows.clone() {
            let indices = self.row(i).indices();
            let mut near = indices;
            if indices.last().is_some_and(|&last| last >= FAR) {
                near = &indices[..indices.partition_point(|&j| j < FAR)];
                coming.far += indices.len() - near.len();
            }
            let end = |indices: &[u32]| indices.last().map_or(0, |&last| u64::from(last) + 1);
            coming.end = coming.end.max(end(indices));
            coming.near_end = coming.near_end.max(end(near));
        }
        for column in &self.columns {
            let end = u64::from(column.id) + 1;
            coming.features += rows.len();
            coming.end = coming.end.max(end);
            match column.id < FAR {
                true => coming.near_end = coming.near_end.max(end),
                false => coming.far += rows.len(),
            }
        }
        coming
    }

    /// The features of row `i`.
    #[inline]
    pub fn row(&self, i: usize) -> Row<'_> {
        let (a, b) = (self.offsets[i], self.offsets[i + 1]);
        Row::from_checked(&self.indices[a..b], &self.values[a..b])
    }

    /// The label of row `i`, if it has one. A row without a label can be predicted, not learned.
    #[inline]
    pub fn label(&self, i: usize) -> Option<f64> {
        let y = self.labels[i];
        (!y.is_nan()).then_some(y)
    }

    /// The labels of all rows, NaN where there is none.
    pub fn labels(&self) -> &[f64] {
        &self.labels
    }

    /// The importance weight of row `i`.
    #[inline]
    pub fn weight(&self, i: usize) -> f64 {
        self.weights[i]
    }

    /// The tag of row `i`, empty when it has none.
    pub fn tag(&self, i: usize) -> &[u8] {
        if self.tag_ends.is_empty() {
            return &[];
        }
        let start = if i == 0 { 0 } else { self.tag_ends[i - 1] };
        &self.tags[start..self.tag_ends[i]]
    }

    /// Appends a row with more features, which are in the order of their ids. Values of one id add up.
    pub(crate) fn push_merged(
        &mut self,
        row: Row<'_>,
        extra: &[(u32, f64)],
        label: Option<f64>,
        weight: f64,
    ) {
        let mut features = row.iter().peekable();
        let mut extra = extra.iter().copied().peekable();
        while let Some(j) = [features.peek(), extra.peek()].into_iter().flatten().map(|f| f.0).min()
        {
            let mut sum = 0.0;
            if let Some((_, v)) = features.next_if(|f| f.0 == j) {
                sum += v;
            }
            while let Some((_, v)) = extra.next_if(|f| f.0 == j) {
                sum += v;
            }
            if sum != 0.0 {
                self.push_feature(j, sum);
            }
        }
        self.close_row(label, weight);
    }

    /// Appends a row of sorted features: ascending ids, and finite values other than zero.
    #[inline]
    pub(crate) fn push_ordered(
        &mut self,
        indices: &[u32],
        values: &[f64],
        label: Option<f64>,
        weight: f64,
    ) {
        self.push_features(indices, values);
        self.close_row(label, weight);
    }

    /// Adds a feature to the row under construction.
    #[inline]
    pub fn push_feature(&mut self, index: u32, value: f64) {
        self.indices.push(index);
        self.values.push(value);
    }

    /// Adds several features to the row under construction, as many as there are in both.
    #[inline]
    pub fn push_features(&mut self, indices: &[u32], values: &[f64]) {
        let n = indices.len().min(values.len());
        self.indices.extend_from_slice(&indices[..n]);
        self.values.extend_from_slice(&values[..n]);
    }

    /// Adds features to the row under construction, as many as there are in both.
    ///
    /// ```
    /// use parsimon_core::{Chunk, Repeats};
    ///
    /// let mut chunk = Chunk::new();
    /// chunk.extend_row([3, 5].into_iter(), [1.0, 2.0].into_iter());
    /// chunk.finish_row(Some(1.0), 1.0, Repeats::Refuse).unwrap();
    /// assert_eq!(chunk.row(0).indices(), [3, 5]);
    /// ```
    #[inline]
    pub fn extend_row(
        &mut self,
        indices: impl Iterator<Item = u32>,
        values: impl Iterator<Item = f64>,
    ) {
        self.indices.extend(indices);
        self.values.extend(values);
        let n = self.indices.len().min(self.values.len());
        self.indices.truncate(n);
        self.values.truncate(n);
    }

    /// Adds `n` features to the row under construction, for the caller to fill in.
    ///
    /// ```
    /// use parsimon_core::{Chunk, Repeats};
    ///
    /// let mut chunk = Chunk::new();
    /// let (indices, values) = chunk.push_blank(2);
    /// indices.copy_from_slice(&[3, 5]);
    /// values.copy_from_slice(&[1.0, 2.0]);
    /// chunk.finish_row(Some(1.0), 1.0, Repeats::Refuse).unwrap();
    /// assert_eq!(chunk.row(0).indices(), [3, 5]);
    /// ```
    #[inline]
    pub fn push_blank(&mut self, n: usize) -> (&mut [u32], &mut [f64]) {
        let at = self.indices.len();
        self.indices.resize(at + n, 0);
        self.values.resize(at + n, 1.0);
        (&mut self.indices[at..], &mut self.values[at..])
    }

    /// Adds features of value 1 to the row under construction; the caller may replace the values.
    ///
    /// ```
    /// use parsimon_core::{Chunk, Repeats};
    ///
    /// let mut chunk = Chunk::new();
    /// let (indices, values) = chunk.push_ones([3, 5].into_iter());
    /// assert_eq!(indices, [3, 5]);
    /// values[1] = 2.0;
    /// chunk.finish_row(Some(1.0), 1.0, Repeats::Refuse).unwrap();
    /// assert_eq!(chunk.row(0).values(), [1.0, 2.0]);
    /// ```
    #[inline]
    pub fn push_ones(&mut self, indices: impl Iterator<Item = u32>) -> (&[u32], &mut [f64]) {
        let at = self.indices.len();
        self.indices.extend(indices);
        self.values.resize(self.indices.len(), 1.0);
        (&self.indices[at..], &mut self.values[at..])
    }

    /// The row under construction, as pushed so far: unchecked and unsorted.
    pub fn open_row(&self) -> (&[u32], &[f64]) {
        let start = self.offsets[self.len()];
        (&self.indices[start..], &self.values[start..])
    }

    /// Throws the row under construction away.
    pub fn abandon_row(&mut self) {
        let start = self.offsets[self.len()];
        self.indices.truncate(start);
        self.values.truncate(start);
        self.numbers.truncate(self.len() * self.columns.len());
    }

    /// Checks and keeps the row under construction; on refusal nothing of it remains.
    pub fn finish_row(
        &mut self,
        label: Option<f64>,
        weight: f64,
        repeats: Repeats,
    ) -> Result<(), RowError> {
        let checked = self.check_open_row(label, weight, repeats);
        if checked.is_err() {
            self.abandon_row();
            return checked;
        }
        self.close_row(label, weight);
        Ok(())
    }

    /// Gives the row just finished a tag.
    pub fn tag_last(&mut self, tag: &[u8]) {
        let Some(last) = self.len().checked_sub(1) else {
            return;
        };
        self.tag_ends.resize(last, self.tags.len());
        self.tags.extend_from_slice(tag);
        self.tag_ends.push(self.tags.len());
    }

    /// Copies row `i` of `other`, with everything that belongs to it.
    pub fn copy_row(&mut self, other: &Chunk, i: usize) {
        let row = other.row(i);
        self.copy_numbers(other, i);
        self.indices.extend_from_slice(row.indices());
        self.values.extend_from_slice(row.values());
        self.offsets.push(self.indices.len());
        self.labels.push(other.labels[i]);
        self.weights.push(other.weights[i]);
        if !other.tag(i).is_empty() {
            self.tag_last(other.tag(i));
        } else if !self.tag_ends.is_empty() {
            self.tag_ends.push(self.tags.len());
        }
        self.open_base();
        self.copy_base(other, i);
    }

    /// Copies row `i` of `other` with another importance weight, which must be finite and >= 0.
    pub fn copy_row_weighted(
        &mut self,
        other: &Chunk,
        i: usize,
        weight: f64,
    ) -> Result<(), RowError> {
        if !(weight.is_finite() && weight >= 0.0) {
            return Err(RowError::Importance);
        }
        self.copy_row(other, i);
        if let Some(last) = self.weights.last_mut() {
            *last = weight;
        }
        Ok(())
    }

    /// Gives a row another label.
    pub fn set_label(&mut self, i: usize, label: Option<f64>) {
        self.labels[i] = label.unwrap_or(f64::NAN);
    }

    /// Copies row `i` of `other` with another label, without its tag and its base value.
    pub(crate) fn copy_row_with_label(&mut self, other: &Chunk, i: usize, label: Option<f64>) {
        self.open_copy(other.row(i));
        self.close_row(label, other.weights[i]);
    }

    /// Opens a row with the features of another, whose values the caller may replace by other finite ones.
    /// [`finish_open_copy`](Chunk::finish_open_copy) ends it.
    #[inline]
    pub(crate) fn open_copy(&mut self, row: Row<'_>) -> (&[u32], &mut [f64]) {
        let start = self.indices.len();
        self.indices.extend_from_slice(row.indices());
        self.values.extend_from_slice(row.values());
        (&self.indices[start..], &mut self.values[start..])
    }

    /// Multiplies the values of the row begun by [`open_copy`](Chunk::open_copy) and keeps it; values that have become
    /// zero are dropped.
    ///
    /// INVARIANT: the indices are those of a row, and are not looked at again.
    #[inline]
    pub(crate) fn finish_open_copy(&mut self, factor: f64, label: Option<f64>, weight: f64) {
        let start = self.offsets[self.len()];
        // PERF: zeros are rare; the search for them has no branch per feature.
        let mut any_zero = false;
        for v in &mut self.values[start..] {
            *v *= factor;
            any_zero |= *v == 0.0;
        }
        if any_zero {
            self.drop_open_zeros(start);
        }
        self.close_row(label, weight);
    }

    fn drop_open_zeros(&mut self, start: usize) {
        let mut kept = start;
        for k in start..self.values.len() {
            if self.values[k] != 0.0 {
                (self.indices[kept], self.values[kept]) = (self.indices[k], self.values[k]);
                kept += 1;
            }
        }
        self.indices.truncate(kept);
        self.values.truncate(kept);
    }

    fn close_row(&mut self, label: Option<f64>, weight: f64) {
        if !self.columns.is_empty() {
            // The cells that were not given are missing.
            self.open_numbers();
        }
        self.offsets.push(self.indices.len());
        self.labels.push(label.unwrap_or(f64::NAN));
        self.weights.push(weight);
        if !self.tag_ends.is_empty() {
            self.tag_ends.push(self.tags.len());
        }
        self.open_base();
    }

    fn check_open_row(
        &mut self,
        label: Option<f64>,
        weight: f64,
        repeats: Repeats,
    ) -> Result<(), RowError> {
        if label.is_some_and(|y| !y.is_finite()) {
            return Err(RowError::Label);
        }
        if !(weight.is_finite() && weight >= 0.0) {
            return Err(RowError::Importance);
        }
        let start = self.offsets[self.len()];
        let (indices, values) = (&self.indices[start..], &self.values[start..]);
        // PERF: most rows are valid already; the check has no branch per feature.
        if wide(InOrder { indices, values }) {
            return Ok(());
        }
        if let Some((&index, _)) = indices.iter().zip(values).find(|(_, v)| !v.is_finite()) {
            return Err(RowError::NotFinite { index });
        }
        // PERF: many rows of tables are sorted and only contain zeros.
        if are_ordered(indices) {
            self.drop_open_zeros(start);
            return Ok(());
        }
        let mut row = std::mem::take(&mut self.scratch);
        row.clear();
        row.extend(indices.iter().copied().zip(values.iter().copied()));
        // Stable: repeated features add up in the order in which they stand in the row.
        row.sort_by_key(|&(j, _)| j);
        let checked = self.rebuild_open_row(&row, repeats);
        self.scratch = row;
        checked
    }

    fn rebuild_open_row(&mut self, row: &[(u32, f64)], repeats: Repeats) -> Result<(), RowError> {
        let start = self.offsets[self.len()];
        self.indices.truncate(start);
        self.values.truncate(start);
        let mut rest = row;
        while let Some(&(j, first)) = rest.first() {
            let run = rest.iter().take_while(|&&(k, _)| k == j).count();
            if run > 1 && repeats == Repeats::Refuse {
                return Err(RowError::Repeated { index: j });
            }
            let sum = rest[1..run].iter().fold(first, |sum, &(_, v)| sum + v);
            if !sum.is_finite() {
                return Err(RowError::NotFinite { index: j });
            }
            if sum != 0.0 {
                self.push_feature(j, sum);
            }
            rest = &rest[run..];
        }
        Ok(())
    }
}

/// Whether a row is sorted and all values are finite and not zero.
struct InOrder<'a> {
    indices: &'a [u32],
    values: &'a [f64],
}

impl Work for InOrder<'_> {
    type Output = bool;

    #[inline(always)]
    fn work(self) -> bool {
        // NaN is neither.
        let good = |v: &f64| (v.abs() > 0.0) & (v.abs() <= f64::MAX);
        self.values.iter().fold(true, |all, v| all & good(v)) & are_ordered(self.indices)
    }
}

#[inline(always)]
fn are_ordered(indices: &[u32]) -> bool {
    let (first, second) = (indices, indices.get(1..).unwrap_or_default());
    first.iter().zip(second).fold(true, |all, (a, b)| all & (a < b))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row_of(pairs: &[(u32, f64)], repeats: Repeats) -> Result<Vec<(u32, f64)>, RowError> {
        let mut chunk = Chunk::new();
        pairs.iter().for_each(|&(j, v)| chunk.push_feature(j, v));
        chunk.finish_row(Some(1.0), 1.0, repeats)?;
        Ok(chunk.row(0).iter().collect())
    }

    #[test]
    fn a_row_is_sorted_and_keeps_no_zero() {
        let row = row_of(&[(9, 1.0), (1, 0.0), (4, -2.0)], Repeats::Refuse);
        assert_eq!(row, Ok(vec![(4, -2.0), (9, 1.0)]));
    }

    #[test]
    fn repeated_features_that_cancel_vanish() {
        assert_eq!(row_of(&[(3, 1.0), (3, -1.0)], Repeats::Add), Ok(vec![]));
    }

    #[test]
    fn a_refused_row_leaves_the_chunk_as_it_was() {
        type Case<'a> = (&'a [(u32, f64)], Option<f64>, f64);
        let mut chunk = Chunk::new();
        chunk.push_feature(1, 1.0);
        chunk.finish_row(Some(1.0), 1.0, Repeats::Refuse).unwrap();
        let bad: [Case<'_>; 5] = [
            (&[(2, f64::NAN)], Some(1.0), 1.0),
            (&[(2, f64::INFINITY)], Some(1.0), 1.0),
            (&[(2, 1.0)], Some(f64::NAN), 1.0),
            (&[(2, 1.0)], Some(1.0), -1.0),
            (&[(2, f64::MAX), (2, f64::MAX)], Some(1.0), 1.0),
        ];
        for (pairs, label, weight) in bad {
            pairs.iter().for_each(|&(j, v)| chunk.push_feature(j, v));
            assert!(chunk.finish_row(label, weight, Repeats::Add).is_err());
            assert_eq!((chunk.len(), chunk.nonzeros(), chunk.open_row().0.len()), (1, 1, 0));
        }
    }

    #[test]
    fn tags_stay_with_their_rows() {
        let mut chunk = Chunk::new();
        for tag in [&b""[..], b"two", b"", b"four"] {
            chunk.finish_row(None, 1.0, Repeats::Add).unwrap();
            if !tag.is_empty() {
                chunk.tag_last(tag);
            }
        }
        let tags: Vec<_> = (0..4).map(|i| chunk.tag(i).to_vec()).collect();
        assert_eq!(tags, [&b""[..], b"two", b"", b"four"]);
        let mut copy = Chunk::new();
        copy.copy_row(&chunk, 3);
        assert_eq!(copy.tag(0), b"four");
    }
}

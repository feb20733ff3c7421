//! The margins of rows by weights that are laid out: the loop behind `Scorer`.
//!
//! Rows come from chunks, or from arrays as other libraries have them. The sum of a row has the order of [`sum_lanes`], and the
//! copy for AVX2, which loads eight weights at once, gives the same bits. Measured in `record/python.md`.

#![allow(unsafe_code)]

mod numbers;

use std::collections::HashMap;

use crate::sums::sum_lanes;
use crate::{Chunk, Float, Precision, huge};
#[cfg(target_arch = "x86_64")]
use avx2::{EightIds, EightValues};
#[cfg(not(target_arch = "x86_64"))]
use lanes::{EightIds, EightValues};
pub(crate) use numbers::NumberWeights;

/// The weights of one head.
pub(crate) enum Weights {
    /// The last item is a zero and serves every id beyond the array.
    Array(Vec<f64>),
    /// Weights of a learner that rounds to f32.
    ///
    /// PERF: half the memory, and more of it in the cache.
    Short(Vec<f32>),
    Map(HashMap<u32, f64>, Precision),
}

/// Weights whose largest id is below this are laid out as an array.
pub(crate) const ARRAY_LIMIT: u32 = 1 << 26;

impl Weights {
    /// Weights with ids in ascending order.
    pub(crate) fn new(ids: &[u32], weights: &[f64], precision: Precision) -> Self {
        let Some(&largest) = ids.last().filter(|largest| **largest < ARRAY_LIMIT) else {
            return Self::map(ids, weights, precision);
        };
        let len = largest as usize + 2;
        match precision {
            Precision::F64 => {
                let mut array = huge::zeros(len);
                ids.iter().zip(weights).for_each(|(&j, &w)| array[j as usize] = w);
                Weights::Array(array)
            }
            Precision::F32 => {
                let mut array = huge::zeros(len);
                ids.iter().zip(weights).for_each(|(&j, &w)| array[j as usize] = w as f32);
                Weights::Short(array)
            }
        }
    }

    /// Weights without an array.
    pub(crate) fn map(ids: &[u32], weights: &[f64], precision: Precision) -> Self {
        Weights::Map(ids.iter().copied().zip(weights.iter().copied()).collect(), precision)
    }

    pub(crate) fn get(&self, j: u32) -> f64 {
        match self {
            Weights::Array(array) => array.get(j as usize).copied().unwrap_or(0.0),
            Weights::Short(array) => array.get(j as usize).map_or(0.0, |&w| f64::from(w)),
            Weights::Map(map, _) => map.get(&j).copied().unwrap_or(0.0),
        }
    }
}

/// An item of an array that says which feature a value belongs to.
pub trait ArrayIndex: EightIds + Copy + PartialOrd + Sync {
    /// Converts an id to an array index; a negative id becomes larger than any index.
    fn place(self) -> usize;
    /// Whether it is the index of one of `columns` columns.
    fn is_below(self, columns: usize) -> bool;
    /// The id of the feature.
    fn id(self) -> u32;
}

/// The id itself, as chunks have it.
impl ArrayIndex for u32 {
    fn place(self) -> usize {
        self as usize
    }
    fn is_below(self, columns: usize) -> bool {
        (self as usize) < columns
    }
    #[inline(always)]
    fn id(self) -> u32 {
        self
    }
}

/// A column, counted from 0: the feature that is counted from 1.
macro_rules! column_index {
    ($type:ty) => {
        impl ArrayIndex for $type {
            #[inline(always)]
            fn place(self) -> usize {
                usize::try_from(self).unwrap_or(usize::MAX)
            }
            // PERF: a negative index is a large one without its sign, and no branch is needed.
            #[inline(always)]
            fn is_below(self, columns: usize) -> bool {
                (self.cast_unsigned() as usize) < columns
            }
            #[inline(always)]
            fn id(self) -> u32 {
                (self as u32).wrapping_add(1)
            }
        }
    };
}
column_index!(i32);
column_index!(i64);

/// An item of an array that is the value of a feature.
pub trait ArrayValue: EightValues + Copy + Sync {
    /// Exact.
    fn wide(self) -> f64;
}
impl ArrayValue for f32 {
    #[inline(always)]
    fn wide(self) -> f64 {
        f64::from(self)
    }
}
impl ArrayValue for f64 {
    #[inline(always)]
    fn wide(self) -> f64 {
        self
    }
}

/// Rows whose margins are wanted.
pub(crate) trait Rows {
    type Index: ArrayIndex;
    type Value: ArrayValue;
    /// Whether every row is valid: ids ascend and are in range, and values are finite numbers other than zero.
    const ORDERED: bool;
    /// Number of names.
    fn len(&self) -> usize;
    /// Ids and values of a row.
    fn row(&self, i: usize) -> (&[Self::Index], &[Self::Value]);
    /// Whether the ids of all rows are in order.
    fn ids_are_ordered(&self) -> bool;
    /// Whether the ids of one row are in order.
    fn row_is_ordered(&self, i: usize) -> bool;
}

impl Rows for Chunk {
    type Index = u32;
    type Value = f64;
    const ORDERED: bool = true;
    fn len(&self) -> usize {
        self.len()
    }
    #[inline(always)]
    fn row(&self, i: usize) -> (&[u32], &[f64]) {
        let row = self.row(i);
        (row.indices(), row.values())
    }
    fn ids_are_ordered(&self) -> bool {
        true
    }
    fn row_is_ordered(&self, _: usize) -> bool {
        true
    }
}

/// Some rows of a CSR matrix. Row `i` is the range from `starts[i]` to `starts[i + 1]` of `indices` and `values`.
pub struct SparseRows<'a, I, V> {
    /// Starts of the rows, and the end of the last row.
    pub starts: &'a [I],
    /// The columns of all entries of the matrix.
    pub indices: &'a [I],
    /// The values of all entries of the matrix.
    pub values: &'a [V],
    /// The number of columns.
    pub columns: usize,
}

impl<I: ArrayIndex, V: ArrayValue> Rows for SparseRows<'_, I, V> {
    type Index = I;
    type Value = V;
    const ORDERED: bool = false;
    fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }
    #[inline(always)]
    fn row(&self, i: usize) -> (&[I], &[V]) {
        let (a, b) = (self.starts[i].place(), self.starts[i + 1].place());
        (&self.indices[a..b], &self.values[a..b])
    }
    /// PERF: one pass over all rows without a branch: the ids that are not above their predecessor are counted, and must be the beginnings of rows.
    #[inline(always)]
    fn ids_are_ordered(&self) -> bool {
        let [start, .., end] = self.starts else { return true };
        let ids = &self.indices[start.place()..end.place()];
        let is_inside = ids.iter().fold(true, |all, j| all & j.is_below(self.columns));
        let pairs = ids.iter().zip(ids.get(1..).unwrap_or_default());
        let drops = pairs.fold(0, |n: u32, (a, b)| n + u32::from(a >= b));
        let mut at_starts = 0;
        // An empty row has no beginning: several rows may begin at one place.
        let mut last = start.place();
        for start in &self.starts[1..] {
            let start = start.place();
            if start > last && start < end.place() {
                at_starts += u32::from(self.indices[start - 1] >= self.indices[start]);
            }
            last = start;
        }
        is_inside & (drops == at_starts)
    }
    fn row_is_ordered(&self, i: usize) -> bool {
        let (ids, _) = self.row(i);
        ids.is_sorted_by(|a, b| a < b) && ids.iter().all(|j| j.is_below(self.columns))
    }
}

/// Appends the margins of the first rows, one per head, up to a row that is not sorted. Returns the number of these rows.
pub(crate) fn score<R: Rows>(
    heads: &[(f64, Weights)],
    limit: f64,
    rows: &R,
    margins: &mut Vec<f64>,
) -> usize {
    margins.reserve(rows.len() * heads.len());
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the machine has AVX2, as checked above.
        return unsafe { avx2::score(heads, limit, rows, margins) };
    }
    plain(heads, limit, rows, margins)
}

/// Like the function above, for dense rows, whose cells are the features from 1 on.
pub(crate) fn score_dense<V: ArrayValue>(
    heads: &[(f64, Weights)],
    limit: f64,
    (cells, columns): (&[V], usize),
    margins: &mut Vec<f64>,
) -> usize {
    if columns == 0 {
        return 0;
    }
    margins.reserve(cells.len() / columns * heads.len());
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the machine has AVX2, as checked above.
        return unsafe { avx2::score_dense(heads, limit, (cells, columns), margins) };
    }
    plain_dense(heads, limit, (cells, columns), margins)
}

/// Whether no value is zero or beyond the limit. NaN is neither.
fn are_good<V: ArrayValue>(values: &[V], limit: f64) -> bool {
    let is_good = |v: &V| (v.wide().abs() > 0.0) & (v.wide().abs() <= limit);
    values.iter().fold(true, |all, v| all & is_good(v))
}

/// The safe twin of [`score`], and what other machines run.
fn plain<R: Rows>(heads: &[(f64, Weights)], limit: f64, rows: &R, margins: &mut Vec<f64>) -> usize {
    let is_ordered = R::ORDERED || rows.ids_are_ordered();
    for i in 0..rows.len() {
        let (ids, values) = rows.row(i);
        let is_good = || (is_ordered || rows.row_is_ordered(i)) && are_good(values, limit);
        if !R::ORDERED && !is_good() {
            return i;
        }
        let entries = || ids.iter().map(|j| j.id()).zip(values);
        margins.extend(heads.iter().map(|(bias, weights)| weights.margin(entries(), *bias)));
    }
    rows.len()
}

/// The safe twin of [`score_dense`].
fn plain_dense<V: ArrayValue>(
    heads: &[(f64, Weights)],
    limit: f64,
    (cells, columns): (&[V], usize),
    margins: &mut Vec<f64>,
) -> usize {
    for (i, row) in cells.chunks_exact(columns).enumerate() {
        if !are_good(row, limit) {
            return i;
        }
        let entries = || (1u32..).zip(row);
        margins.extend(heads.iter().map(|(bias, weights)| weights.margin(entries(), *bias)));
    }
    cells.len() / columns
}

impl Weights {
    /// The margin of one row.
    fn margin<'a, V: ArrayValue + 'a>(
        &self,
        entries: impl Iterator<Item = (u32, &'a V)>,
        bias: f64,
    ) -> f64 {
        fn sum<'a, F: Float, V: ArrayValue + 'a>(
            entries: impl Iterator<Item = (u32, &'a V)>,
            bias: f64,
            weight: impl Fn(u32) -> F,
        ) -> f64 {
            let products = entries.map(|(j, v)| weight(j) * F::from_f64(v.wide()));
            (sum_lanes(products) + F::from_f64(bias)).to_f64()
        }
        match self {
            Weights::Array(array) => {
                sum(entries, bias, |j| array.get(j as usize).copied().unwrap_or(0.0))
            }
            Weights::Short(array) => {
                sum(entries, bias, |j| array.get(j as usize).copied().unwrap_or(0.0))
            }
            Weights::Map(map, Precision::F64) => {
                sum(entries, bias, |j| map.get(&j).copied().unwrap_or(0.0))
            }
            Weights::Map(map, Precision::F32) => {
                sum(entries, bias, |j| map.get(&j).map_or(0.0, |&w| w as f32))
            }
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod lanes {
    /// No check of an item.
    pub trait EightIds {}
    pub trait EightValues {}
    impl<T> EightIds for T {}
    impl<T> EightValues for T {}
}

#[cfg(target_arch = "x86_64")]
mod avx2;

#[cfg(test)]
mod tests;

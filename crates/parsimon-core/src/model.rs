//! What is left when learning is over: the nonzero weights, or a dictionary with its coefficients.

use std::any::Any;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use crate::dictionary::Dictionary;
use crate::prefetch::prefetch;
use crate::sums::{fold_lanes, sum_lanes};
use crate::wide::{Work, wide};
use crate::{Chunk, ColumnMoments, Columns, Float, Precision, huge};

/// What remains of a learner after training: weights, or a dictionary of rows with coefficients.
///
/// ```
/// use parsimon_core::kernel::{Dictionary, Kernel};
/// use parsimon_core::{Frozen, Head};
///
/// let head = Head::from_parts(0.5, vec![2, 7], vec![1.0, -1.0]).unwrap();
/// let linear = Frozen::Linear(vec![head]);
/// assert_eq!(linear.nonzeros(), 2);
///
/// // The constant 3: every row meets the empty row in 1 + 0.
/// let kernels = vec![Kernel::Polynomial { degree: 1 }];
/// let constant = Dictionary::from_parts(kernels, vec![0], vec![], vec![], vec![3.0]).unwrap();
/// let kernel = Frozen::Kernel(constant);
/// assert_eq!(kernel.nonzeros(), 1);
/// assert!(kernel.heads().is_empty()); // it has no weights
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Frozen {
    /// Weights, one set per class.
    Linear(Vec<Head>),
    /// Centers and the coefficients of their kernels.
    Kernel(Dictionary),
}

impl Frozen {
    /// The sets of weights; none when the model is not linear.
    pub fn heads(&self) -> &[Head] {
        match self {
            Frozen::Linear(heads) => heads,
            Frozen::Kernel(_) => &[],
        }
    }
    /// Takes the sets of weights out; none when the model is not linear.
    pub fn into_heads(self) -> Vec<Head> {
        match self {
            Frozen::Linear(heads) => heads,
            Frozen::Kernel(_) => Vec::new(),
        }
    }
    /// The dictionary; `None` when the model is linear.
    pub fn dictionary(&self) -> Option<&Dictionary> {
        match self {
            Frozen::Linear(_) => None,
            Frozen::Kernel(dictionary) => Some(dictionary),
        }
    }
    /// The nonzero weights of all heads; of a dictionary, its centers with a coefficient that is not zero.
    pub fn nonzeros(&self) -> usize {
        match self {
            Frozen::Linear(heads) => heads.iter().map(|head| head.indices.len()).sum(),
            Frozen::Kernel(dictionary) => {
                let counts = |j: &usize| dictionary.coefficients(*j).iter().any(|h| *h != 0.0);
                (0..dictionary.len()).filter(counts).count()
            }
        }
    }
    /// Whether all weights, or all coefficients, are finite.
    pub fn is_finite(&self) -> bool {
        match self {
            Frozen::Linear(heads) => heads.iter().all(Head::is_finite),
            Frozen::Kernel(dictionary) => {
                dictionary.all_coefficients().iter().all(|h| h.is_finite())
            }
        }
    }
    /// The number of margins per row: 1, or the number of classes.
    pub fn outputs(&self) -> usize {
        match self {
            Frozen::Linear(heads) => heads.len(),
            Frozen::Kernel(_) => 1,
        }
    }
    /// The features with a nonzero weight, once for every set of weights.
    pub fn used(&self) -> impl Iterator<Item = u32> + '_ {
        let centers = self.dictionary().map_or(&[][..], Dictionary::indices);
        self.heads().iter().flat_map(|head| &head.indices).chain(centers).copied()
    }
    /// Lays the weights out for prediction, with the arithmetic of the learner.
    pub fn scorer(&self, precision: Precision) -> Scorer {
        match self {
            Frozen::Linear(heads) => Scorer::new(heads, precision),
            Frozen::Kernel(dictionary) => Scorer::of(Body::Kernel(dictionary.clone()), precision),
        }
    }
}

/// One set of weights: a bias and the nonzeros in increasing order of index.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Head {
    bias: f64,
    indices: Vec<u32>,
    weights: Vec<f64>,
}

impl Head {
    /// INVARIANT: `weights` is sorted by index, without repetition and without zeros.
    pub(crate) fn new(bias: f64, weights: Vec<(u32, f64)>) -> Self {
        let (indices, weights) = weights.into_iter().unzip();
        Self { bias, indices, weights }
    }

    /// Builds a head from arrays; `None` unless indices strictly increase and all numbers are finite.
    pub fn from_parts(bias: f64, indices: Vec<u32>, weights: Vec<f64>) -> Option<Self> {
        // PERF: without a branch for each number, these loops go into wide registers.
        let pairs = indices.iter().zip(indices.iter().skip(1));
        let sorted = pairs.fold(true, |all, (a, b)| all & (a < b));
        let finite = weights.iter().fold(bias.is_finite(), |all, w| all & w.is_finite());
        (sorted && finite && indices.len() == weights.len()).then_some(Self {
            bias,
            indices,
            weights,
        })
    }

    /// Whether the bias and all weights are finite.
    fn is_finite(&self) -> bool {
        self.bias.is_finite() && self.weights.iter().all(|w| w.is_finite())
    }
    /// The bias, 0 when there is none.
    pub fn bias(&self) -> f64 {
        self.bias
    }
    /// The indices of the nonzero weights, strictly increasing.
    pub fn indices(&self) -> &[u32] {
        &self.indices
    }
    /// The nonzero weights.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }
    /// The weight of feature `j`.
    pub fn weight(&self, j: u32) -> f64 {
        self.indices.binary_search(&j).map_or(0.0, |k| self.weights[k])
    }
    /// The weights in the units of the data: of a number column per unit of its cells instead of per standard deviation, with the
    /// bias to match.
    ///
    /// ```
    /// use parsimon_core::{ColumnMoments, Head};
    ///
    /// let head = Head::from_parts(1.0, vec![3], vec![2.0]).unwrap();
    /// let column = ColumnMoments { id: 3, weight: 1.0, mean: 10.0, squares: 16.0, ..ColumnMoments::default() };
    /// let raw = head.in_units(&[column]);
    /// assert_eq!((raw.bias(), raw.weights()), (1.0 - 0.5 * 10.0, &[0.5][..]));
    /// ```
    #[must_use]
    pub fn in_units(&self, columns: &[ColumnMoments]) -> Head {
        let mut raw = self.clone();
        for column in columns {
            let deviation = column.deviation();
            if let Ok(k) = self.indices.binary_search(&column.id)
                && deviation > 0.0
            {
                raw.weights[k] = self.weights[k] / deviation;
                raw.bias -= raw.weights[k] * column.mean;
            }
        }
        raw
    }
    /// The nonzero weights with their indices.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (u32, f64)> + '_ {
        self.indices.iter().copied().zip(self.weights.iter().copied())
    }
}

/// A model laid out for fast scoring, with the arithmetic of the learner it came from.
///
/// ```
/// use parsimon_core::{Chunk, Head, Precision, Repeats, Scorer};
///
/// let head = Head::from_parts(0.5, vec![2, 7], vec![1.0, -1.0]).unwrap();
/// let scorer = Scorer::new(&[head], Precision::F64);
/// let mut chunk = Chunk::new();
/// chunk.push_feature(2, 3.0);
/// chunk.push_feature(9, 1.0); // not in the model
/// chunk.finish_row(None, 1.0, Repeats::Refuse).unwrap();
/// let mut margins = Vec::new();
/// scorer.margins(&chunk, &mut margins);
/// assert_eq!(margins, [3.5]);
/// ```
pub struct Scorer {
    body: Body,
    precision: Precision,
    /// How the cells of number columns become features; as they are if there is nothing here.
    columns: Option<Columns>,
    /// The range of margins.
    range: Option<(f64, f64)>,
    _kept: Option<Arc<dyn Any + Send + Sync>>,
}

enum Body {
    Linear(Vec<(f64, Weights)>),
    Kernel(Dictionary),
}

enum Weights {
    Array(Vec<f64>),
    /// Weights of a learner that rounds to f32.
    ///
    /// PERF: half the memory, and more of it in the cache.
    Short(Vec<f32>),
    Map(HashMap<u32, f64>),
}

/// Models whose largest index is below this are laid out as an array.
const ARRAY_LIMIT: u32 = 1 << 26;

impl Weights {
    /// The bytes of an array, if there would be one.
    fn room(head: &Head) -> u64 {
        let array = head.indices.last().filter(|largest| **largest < ARRAY_LIMIT);
        array.map_or(0, |largest| (u64::from(*largest) + 1) * size_of::<f64>() as u64)
    }

    fn new(head: &Head, precision: Precision) -> Self {
        match (head.indices.last(), precision) {
            (Some(&largest), Precision::F64) if largest < ARRAY_LIMIT => {
                let mut array = huge::zeros(largest as usize + 1);
                head.iter().for_each(|(j, w)| array[j as usize] = w);
                Weights::Array(array)
            }
            (Some(&largest), Precision::F32) if largest < ARRAY_LIMIT => {
                let mut array = huge::zeros(largest as usize + 1);
                head.iter().for_each(|(j, w)| array[j as usize] = w as f32);
                Weights::Short(array)
            }
            _ => Self::map(head),
        }
    }

    fn map(head: &Head) -> Self {
        Weights::Map(head.iter().collect())
    }

    fn prefetch(&self, indices: &[u32]) {
        match self {
            Weights::Array(array) => {
                indices.iter().filter_map(|&j| array.get(j as usize)).for_each(prefetch);
            }
            Weights::Short(array) => {
                indices.iter().filter_map(|&j| array.get(j as usize)).for_each(prefetch);
            }
            Weights::Map(_) => {}
        }
    }

    #[inline(always)]
    fn prefetch_one(&self, j: u32) {
        match self {
            Weights::Array(array) => array.get(j as usize).into_iter().for_each(prefetch),
            Weights::Short(array) => array.get(j as usize).into_iter().for_each(prefetch),
            Weights::Map(_) => {}
        }
    }

    fn get(&self, j: u32) -> f64 {
        match self {
            Weights::Array(array) => array.get(j as usize).copied().unwrap_or(0.0),
            Weights::Short(array) => array.get(j as usize).map_or(0.0, |&w| f64::from(w)),
            Weights::Map(map) => map.get(&j).copied().unwrap_or(0.0),
        }
    }
}

impl Scorer {
    /// Lays the heads out.
    pub fn new(heads: &[Head], precision: Precision) -> Self {
        let heads = heads.iter().map(|head| (head.bias, Weights::new(head, precision))).collect();
        Self::of(Body::Linear(heads), precision)
    }

    /// As [`new`](Scorer::new), without arrays: slower, and no larger than the model for any largest index.
    pub fn compact(heads: &[Head], precision: Precision) -> Self {
        let heads = heads.iter().map(|head| (head.bias, Weights::map(head))).collect();
        Self::of(Body::Linear(heads), precision)
    }

    /// The bytes of the arrays of [`new`](Scorer::new).
    pub fn room(heads: &[Head]) -> u64 {
        heads.iter().map(Weights::room).sum()
    }

    /// Keeps a value until the scorer is dropped: a claim of the memory it takes.
    #[must_use]
    pub fn keeping(self, kept: impl Any + Send + Sync) -> Self {
        Self { _kept: Some(Arc::new(kept)), ..self }
    }

    fn of(body: Body, precision: Precision) -> Self {
        Self { body, precision, columns: None, range: None, _kept: None }
    }

    /// Standardizes the cells of number columns as the learner did.
    #[must_use]
    pub fn with_columns(self, columns: &[ColumnMoments]) -> Self {
        Self { columns: Some(Columns::new(columns.to_vec())), ..self }
    }

    /// Clips margins to a range.
    #[must_use]
    pub fn with_range(self, range: Option<(f64, f64)>) -> Self {
        Self { range, ..self }
    }

    /// Appends the margins of every row, one per head; one if there is a dictionary.
    pub fn margins(&self, chunk: &Chunk, margins: &mut Vec<f64>) {
        let start = margins.len();
        self.plain_margins(&self.features(chunk), margins);
        if let Some((low, high)) = self.range {
            margins[start..].iter_mut().for_each(|p| *p = p.max(low).min(high));
        }
        chunk.add_bases(&mut margins[start..]);
    }

    /// Appends the weights of features: for each index one per head. Nothing is appended if there is a dictionary.
    pub fn weights_of(&self, indices: &[u32], weights: &mut Vec<f64>) {
        if let Body::Linear(heads) = &self.body {
            let of = |&j: &u32| heads.iter().map(move |(_, weights)| weights.get(j));
            weights.extend(indices.iter().flat_map(of));
        }
    }

    /// The rows with the cells of number columns as the features that the weights belong to.
    pub fn features<'a>(&self, chunk: &'a Chunk) -> Cow<'a, Chunk> {
        match &self.columns {
            _ if chunk.columns().is_empty() => Cow::Borrowed(chunk),
            None => Cow::Owned(chunk.with_plain_numbers()),
            Some(columns) => {
                let mut rows = Chunk::new();
                columns.clone().apply(chunk, 0..chunk.len(), &mut rows);
                Cow::Owned(rows)
            }
        }
    }

    fn plain_margins(&self, chunk: &Chunk, margins: &mut Vec<f64>) {
        match &self.body {
            Body::Linear(heads) => self.linear(heads, chunk, margins),
            Body::Kernel(dictionary) => {
                let margin = |i| dictionary.margin(chunk.row(i), self.precision);
                margins.extend((0..chunk.len()).map(margin));
            }
        }
    }

    fn linear(&self, heads: &[(f64, Weights)], chunk: &Chunk, margins: &mut Vec<f64>) {
        for i in 0..chunk.len() {
            // PERF: see `prefetch.rs`.
            if i + 1 < chunk.len() {
                let next = chunk.row(i + 1).indices();
                heads.iter().for_each(|(_, weights)| weights.prefetch(next));
            }
            let x = chunk.row(i);
            let (ids, values) = (x.indices(), x.values());
            self.row(heads, &Entries { ids, values, id: |j| j, value: |v| v }, margins);
        }
    }

    fn row<I: Copy + PartialOrd, V: Copy, A: Fn(I) -> u32, B: Fn(V) -> f64>(
        &self,
        heads: &[(f64, Weights)],
        x: &Entries<'_, I, V, A, B>,
        margins: &mut Vec<f64>,
    ) {
        margins.extend(heads.iter().map(|(bias, weights)| match self.precision {
            Precision::F32 => x.margin::<f32>(*bias, weights),
            Precision::F64 => x.margin::<f64>(*bias, weights),
        }));
    }

    /// Appends the margins of a row in arrays of any type, as [`margins`](Self::margins) has them for the same row in a chunk.
    ///
    /// Returns `false` and appends nothing unless the ids rise and every value is a number other than zero within the limit of the
    /// precision ([`Precision::max_value`]), or if there is a dictionary. The ids of the next row are a hint.
    pub fn margins_of<I: Copy + PartialOrd, V: Copy>(
        &self,
        (ids, id): (&[I], impl Fn(I) -> u32),
        (values, value): (&[V], impl Fn(V) -> f64),
        next: &[I],
        margins: &mut Vec<f64>,
    ) -> bool {
        let Body::Linear(heads) = &self.body else { return false };
        let start = margins.len();
        let x = Entries { ids, values, id, value };
        if !wide(ScoreRow { heads, precision: self.precision, x: &x, next, margins }) {
            return false;
        }
        if let Some((low, high)) = self.range {
            margins[start..].iter_mut().for_each(|p| *p = p.max(low).min(high));
        }
        true
    }

    /// Whether there are weights, and not a dictionary.
    pub fn is_linear(&self) -> bool {
        matches!(self.body, Body::Linear(_))
    }
}

/// The margins of one row.
struct ScoreRow<'a, I, V, A, B> {
    heads: &'a [(f64, Weights)],
    precision: Precision,
    x: &'a Entries<'a, I, V, A, B>,
    next: &'a [I],
    margins: &'a mut Vec<f64>,
}

impl<I: Copy + PartialOrd, V: Copy, A: Fn(I) -> u32, B: Fn(V) -> f64> Work
    for ScoreRow<'_, I, V, A, B>
{
    /// Whether the row is in order; otherwise nothing is appended.
    type Output = bool;

    #[inline(always)]
    fn work(self) -> bool {
        let Self { heads, precision, x, next, margins } = self;
        // PERF: see `prefetch.rs`. More weights are on their way than the processor would ask for by itself.
        for (_, weights) in heads {
            for &j in next {
                weights.prefetch_one((x.id)(j));
            }
        }
        if !x.is_in_order(precision.max_value()) {
            return false;
        }
        for (bias, weights) in heads {
            margins.push(match precision {
                Precision::F32 => x.margin::<f32>(*bias, weights),
                Precision::F64 => x.margin::<f64>(*bias, weights),
            });
        }
        true
    }
}

/// One row in arrays of any type, and how their entries are read.
struct Entries<'a, I, V, A, B> {
    ids: &'a [I],
    values: &'a [V],
    id: A,
    value: B,
}

impl<I: Copy + PartialOrd, V: Copy, A: Fn(I) -> u32, B: Fn(V) -> f64> Entries<'_, I, V, A, B> {
    /// Whether the ids rise, and no value is zero or beyond the limit.
    #[inline(always)]
    fn is_in_order(&self, limit: f64) -> bool {
        let (first, second) = (self.ids, self.ids.get(1..).unwrap_or_default());
        let rises = first.iter().zip(second).fold(true, |all, (a, b)| all & (a < b));
        // NaN is neither.
        let is_good = |v: f64| (v.abs() > 0.0) & (v.abs() <= limit);
        rises & self.values.iter().fold(true, |all, &v| all & is_good((self.value)(v)))
    }

    #[inline(always)]
    fn margin<F: Float>(&self, bias: f64, weights: &Weights) -> f64 {
        let sum: F = match weights {
            Weights::Array(array) => self.sum(array, F::from_f64),
            Weights::Short(array) => self.sum(array, |w| F::from_f64(f64::from(w))),
            Weights::Map(_) => {
                let product = |(&j, &v): (&I, &V)| {
                    F::from_f64(weights.get((self.id)(j))) * F::from_f64((self.value)(v))
                };
                sum_lanes(self.ids.iter().zip(self.values).map(product))
            }
        };
        (sum + F::from_f64(bias)).to_f64()
    }

    /// The sum of products in the order of [`sum_lanes`], eight at a time.
    #[inline(always)]
    fn sum<W: Copy, F: Float>(&self, array: &[W], read: impl Fn(W) -> F) -> F {
        let weight = |j: I| array.get((self.id)(j) as usize).map_or(F::ZERO, |&w| read(w));
        let mut sums = [F::ZERO; 8];
        let (ids, rest) = self.ids.as_chunks::<8>();
        let (values, other) = self.values.as_chunks::<8>();
        for (ids, values) in ids.iter().zip(values) {
            // PERF: weights that lie apart are brought together first; the rest is done with wide registers.
            let weights = ids.map(weight);
            for k in 0..8 {
                sums[k] += weights[k] * F::from_f64((self.value)(values[k]));
            }
        }
        for (sum, (&j, &v)) in sums.iter_mut().zip(rest.iter().zip(other)) {
            *sum += weight(j) * F::from_f64((self.value)(v));
        }
        fold_lanes(sums)
    }
}

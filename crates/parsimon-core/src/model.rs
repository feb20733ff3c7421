//! The result of learning: the nonzero weights, or a dictionary with its coefficients.

use std::any::Any;
use std::borrow::Cow;
use std::sync::Arc;

use crate::dictionary::Dictionary;
use crate::score::{
    ARRAY_LIMIT, ArrayIndex, ArrayValue, NumberWeights, SparseRows, Weights, score, score_dense,
};
use crate::{Chunk, ColumnMoments, Columns, NumberColumn, Precision};

/// Result of training: weights, or a dictionary of rows with coefficients.
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
    /// The number of nonzero weights of each head. PERF: not generic, so that it is compiled once for the learners of all types.
    pub(crate) fn nonzeros_by_head(&self) -> Vec<usize> {
        self.heads().iter().map(|head| head.indices().len()).collect()
    }
    /// Appends the weights of features, in all heads for each feature.
    pub(crate) fn weights_of(&self, indices: &[u32], weights: &mut Vec<f64>) {
        let heads = self.heads();
        weights.extend(indices.iter().flat_map(|&j| heads.iter().map(move |head| head.weight(j))));
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
    /// Builds a head from weights in any order; zeros are left out.
    ///
    /// INVARIANT: no index is repeated.
    ///
    /// PERF: one sort for the learners of all types. A sort in each of them would be compiled 140 times, a twentieth of `parsimon`.
    pub(crate) fn new(bias: f64, mut weights: Vec<(u32, f64)>) -> Self {
        weights.retain(|&(_, w)| w != 0.0);
        weights.sort_unstable_by_key(|&(j, _)| j);
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
    /// The moments by which cells of number columns are standardized; cells become features unchanged without them.
    columns: Option<Columns>,
    /// The range of margins.
    range: Option<(f64, f64)>,
    _kept: Option<Arc<dyn Any + Send + Sync>>,
}

enum Body {
    Linear(Vec<(f64, Weights)>),
    Kernel(Dictionary),
}

impl Scorer {
    /// Lays the heads out.
    pub fn new(heads: &[Head], precision: Precision) -> Self {
        let weights = |head: &Head| Weights::new(&head.indices, &head.weights, precision);
        let heads = heads.iter().map(|head| (head.bias, weights(head))).collect();
        Self::of(Body::Linear(heads), precision)
    }

    /// Like [`new`](Scorer::new), without arrays: slower, and no larger than the model for any largest index.
    pub fn compact(heads: &[Head], precision: Precision) -> Self {
        let weights = |head: &Head| Weights::map(&head.indices, &head.weights, precision);
        let heads = heads.iter().map(|head| (head.bias, weights(head))).collect();
        Self::of(Body::Linear(heads), precision)
    }

    /// The bytes of the arrays of [`new`](Scorer::new).
    pub fn room(heads: &[Head]) -> u64 {
        let room = |head: &Head| {
            let array = head.indices.last().filter(|largest| **largest < ARRAY_LIMIT);
            array.map_or(0, |largest| (u64::from(*largest) + 2) * size_of::<f64>() as u64)
        };
        heads.iter().map(room).sum()
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
        // PERF: rows of numbers alone need not become features first.
        let numbers =
            (chunk.nonzeros() == 0).then(|| self.number_weights(chunk.columns())).flatten();
        match numbers {
            Some(numbers) => numbers.margins(chunk.all_numbers(), margins),
            None => self.plain_margins(&self.features(chunk), margins),
        }
        self.clip(&mut margins[start..]);
        chunk.add_bases(&mut margins[start..]);
    }

    /// The weights of number columns; `None` if there are no such columns, or if their cells do not become features one by one.
    fn number_weights(&self, columns: &[NumberColumn]) -> Option<NumberWeights> {
        let (Body::Linear(heads), Some(known)) = (&self.body, &self.columns) else { return None };
        let moments = |k: usize| known.moments_of(k, columns[k]);
        (!columns.is_empty())
            .then(|| NumberWeights::new(heads, columns, moments, self.precision))?
    }

    /// Lays the weights of number columns out for rows that have no other features; `None` where
    /// [`margins`](Self::margins) has to make features of their cells.
    pub fn for_numbers(&self, columns: &[NumberColumn]) -> Option<NumberScorer> {
        let weights = self.number_weights(columns)?;
        Some(NumberScorer { weights, range: self.range })
    }

    /// Appends the weights of features: for each index one per head. Nothing is appended if there is a dictionary.
    pub fn weights_of(&self, indices: &[u32], weights: &mut Vec<f64>) {
        if let Body::Linear(heads) = &self.body {
            let of = |&j: &u32| heads.iter().map(move |(_, weights)| weights.get(j));
            weights.extend(indices.iter().flat_map(of));
        }
    }

    /// Returns the rows with the cells of number columns as features with the ids of the weights.
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
            Body::Linear(heads) => {
                score(heads, self.precision.max_value(), chunk, margins);
            }
            Body::Kernel(dictionary) => {
                let margin = |i| dictionary.margin(chunk.row(i), self.precision);
                margins.extend((0..chunk.len()).map(margin));
            }
        }
    }

    /// Appends the margins of rows of a CSR matrix, as [`margins`](Self::margins) has them for the same rows in a chunk, where column
    /// `j` is the feature `j + 1`.
    ///
    /// Ends before a row whose ids do not rise or are not below the number of columns, or with a value that is no number other than
    /// zero within the limit of the precision ([`Precision::max_value`]), and at once if there is a dictionary. Returns the number of rows that
    /// have margins. Panics if the matrix is malformed: starts must ascend and lie inside of its arrays.
    ///
    /// ```
    /// use parsimon_core::{Head, Precision, Scorer, SparseRows};
    ///
    /// let scorer = Scorer::new(&[Head::from_parts(0.5, vec![2], vec![3.0]).unwrap()], Precision::F64);
    /// let rows = SparseRows { starts: &[0, 1, 2, 3], indices: &[0, 1, 5], values: &[1.0, 2.0, 1.0], columns: 4 };
    /// let mut margins = Vec::new();
    /// assert_eq!(scorer.margins_of_sparse(&rows, &mut margins), 2);
    /// assert_eq!(margins, [0.5, 6.5]);
    /// ```
    pub fn margins_of_sparse<I: ArrayIndex, V: ArrayValue>(
        &self,
        rows: &SparseRows<'_, I, V>,
        margins: &mut Vec<f64>,
    ) -> usize {
        let Body::Linear(heads) = &self.body else { return 0 };
        let start = margins.len();
        let scored = score(heads, self.precision.max_value(), rows, margins);
        self.clip(&mut margins[start..]);
        scored
    }

    /// Like the method above, for dense rows one after the other. Also ends before a row with a zero.
    pub fn margins_of_dense<V: ArrayValue>(
        &self,
        cells: &[V],
        columns: usize,
        margins: &mut Vec<f64>,
    ) -> usize {
        let Body::Linear(heads) = &self.body else { return 0 };
        let start = margins.len();
        let scored = score_dense(heads, self.precision.max_value(), (cells, columns), margins);
        self.clip(&mut margins[start..]);
        scored
    }

    fn clip(&self, margins: &mut [f64]) {
        clip(self.range, margins);
    }

    /// Whether there are weights, and not a dictionary.
    pub fn is_linear(&self) -> bool {
        matches!(self.body, Body::Linear(_))
    }
}

fn clip(range: Option<(f64, f64)>, margins: &mut [f64]) {
    if let Some((low, high)) = range {
        margins.iter_mut().for_each(|p| *p = p.max(low).min(high));
    }
}

/// A model laid out for rows whose cells are all in number columns.
///
/// ```
/// use parsimon_core::{ColumnMoments, Head, NumberColumn, Precision, Scorer};
///
/// let head = Head::from_parts(0.5, vec![1], vec![2.0]).unwrap();
/// let column = ColumnMoments { key: 1, id: 1, weight: 1.0, mean: 10.0, squares: 16.0 };
/// let scorer = Scorer::new(&[head], Precision::F64).with_columns(&[column]);
/// let numbers = scorer.for_numbers(&[NumberColumn { key: 1, id: 1 }]).unwrap();
/// let mut margins = Vec::new();
/// numbers.margins(&[12.0, 1e9, f64::NAN], &mut margins);
/// assert_eq!(margins, [1.5, 8.5, 0.5]);
/// ```
pub struct NumberScorer {
    weights: NumberWeights,
    range: Option<(f64, f64)>,
}

impl NumberScorer {
    /// Appends the margins of rows, one per head, with the bits of [`Scorer::margins`]. The cells of a row are one after the
    /// other; NaN is a missing cell.
    pub fn margins<V: ArrayValue>(&self, cells: &[V], margins: &mut Vec<f64>) {
        let start = margins.len();
        self.weights.margins(cells, margins);
        clip(self.range, &mut margins[start..]);
    }
}

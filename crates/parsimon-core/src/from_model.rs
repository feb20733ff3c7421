//! Learning that begins with a model.
//!
//! ```text
//! p0    = the model's margin of the row              is a base value for the learner inside
//! p     = p0 + the margin of the learner inside      which begins at the origin
//! w     = w0 + the weights of the learner inside     is what is read
//! ```
//!
//! A model has weights but no other state of a learner: no sums of gradients, no scales of features, no clock. The learner
//! inside begins without them, and at the origin, so the first prediction is that of the model. Weights that no new row changes stay as
//! they are, including zeros. A penalty acts on the change: where the rows give little evidence, the model stays. For a method that keeps
//! weights and has no penalty, this equals a start at the weights of the model.

use std::ops::Range;

use crate::normalized::blocks;
use crate::online::{bare, forward};
use crate::state::{StateError, StateWriter, fits};
use crate::{Chunk, ColumnMoments, Frozen, Head, Online, Precision, Scorer, State};

/// A learner of the change of a linear model.
///
/// ```
/// use parsimon_core::penalty::L1;
/// use parsimon_core::rule::mirror::{HalfStep, Scheduled};
/// use parsimon_core::{Chunk, FromModel, Head, Learner, Loss, Online, Precision, Repeats, Schedule, Table};
///
/// let rule = Scheduled { penalty: L1 { l1: 0.0 }, schedule: Schedule::Sqrt { rate: 0.3 }, half_step: HalfStep::Same };
/// let learner = Learner::<f64, _>::new(rule, Some(rule), Loss::Squared, Table::growing());
/// let head = Head::from_parts(0.5, vec![1, 2], vec![3.0, 1.0]).unwrap();
/// let mut learner = FromModel::new(learner, Precision::F64);
/// learner.start(vec![head], &[], None);
/// let mut chunk = Chunk::new();
/// chunk.push_feature(1, 2.0);
/// chunk.finish_row(Some(4.0), 1.0, Repeats::Refuse).unwrap();
/// let mut margins = Vec::new();
/// learner.learn(&chunk, &mut margins);
/// assert_eq!(margins, [6.5]); // as the model predicts it
/// let head = &learner.freeze().into_heads()[0];
/// assert!(head.weight(1) < 3.0 && head.weight(2) == 1.0);
/// ```
pub struct FromModel<O> {
    inner: O,
    precision: Precision,
    heads: Vec<Head>,
    columns: Vec<ColumnMoments>,
    /// The range of margins: of the model's labels and those learned since; none if margins are not clipped.
    range: Option<(f64, f64)>,
    scorer: Scorer,
    /// Rows whose base values are the margins of the model.
    rows: Chunk,
    bases: Vec<f64>,
}

impl<O: Online> FromModel<O> {
    /// Wraps a learner at the origin. The model is set afterwards, by [`start`](FromModel::start) or [`restore`](Online::restore).
    ///
    /// # Panics
    /// If the learner is not linear, or knows no base values.
    pub fn new(inner: O, precision: Precision) -> Self {
        assert!(inner.is_linear() && inner.takes_bases(), "the learner must add to a margin");
        Self {
            inner,
            precision,
            heads: Vec::new(),
            columns: Vec::new(),
            range: None,
            scorer: Scorer::new(&[], precision),
            rows: Chunk::new(),
            bases: Vec::new(),
        }
    }

    /// The weights to begin with, one set per class; the moments of the number columns they belong to; and the range of
    /// predictions, if any.
    ///
    /// # Panics
    /// If the learner has another number of heads.
    pub fn start(
        &mut self,
        heads: Vec<Head>,
        columns: &[ColumnMoments],
        range: Option<(f64, f64)>,
    ) {
        assert_eq!(heads.len(), self.inner.heads(), "a set of weights for each class");
        self.scorer = Scorer::new(&heads, self.precision).with_columns(columns);
        (self.heads, self.columns, self.range) = (heads, columns.to_vec(), range);
        self.inner.learn_change_of(columns);
    }

    /// Clips the margins of rows that begin with `first`, the base values of the data apart.
    fn clip(&self, chunk: &Chunk, first: usize, margins: &mut [f64]) {
        let Some((low, high)) = self.range else { return };
        for (i, p) in (first..).zip(margins) {
            let base = chunk.base(i);
            let own = *p - base;
            // A margin that is not a number has to stay one, for divergence to be seen.
            if own < low || own > high {
                *p = own.clamp(low, high) + base;
            }
        }
    }

    /// Widens the range by the label of a row that was learned.
    fn take_label(&mut self, chunk: &Chunk, i: usize) {
        if let (Some((low, high)), Some(y)) = (&mut self.range, chunk.label(i))
            && chunk.weight(i) > 0.0
        {
            let own = y - chunk.base(i);
            (*low, *high) = (low.min(own), high.max(own));
        }
    }

    /// Shows rows of a chunk, block by block, with the margins of the model as their base values.
    fn margins_with(
        &self,
        chunk: &Chunk,
        margins: &mut Vec<f64>,
        read: impl Fn(&O, &Chunk, &mut Vec<f64>),
    ) {
        let (mut rows, mut bases) = (Chunk::new(), Vec::new());
        for block in blocks(0..chunk.len()) {
            let (first, start) = (block.start, margins.len());
            rest(&self.scorer, chunk, block, &mut rows, &mut bases);
            read(&self.inner, &rows, margins);
            self.clip(chunk, first, &mut margins[start..]);
        }
    }

    /// A sum of two weights in the precision of the learner.
    fn rounded(&self, w: f64) -> f64 {
        match self.precision {
            Precision::F32 => f64::from(w as f32),
            Precision::F64 => w,
        }
    }

    fn sum(&self, start: &Head, change: &Head) -> Head {
        let mut weights: Vec<(u32, f64)> = Vec::with_capacity(start.indices().len());
        let (mut a, mut b) = (start.iter().peekable(), change.iter().peekable());
        while let Some(j) = [a.peek(), b.peek()].into_iter().flatten().map(|(j, _)| *j).min() {
            let w = match (a.next_if(|w| w.0 == j), b.next_if(|w| w.0 == j)) {
                (Some((_, w)), None) => w,
                (a, b) => self.rounded(a.map_or(0.0, |w| w.1) + b.map_or(0.0, |w| w.1)),
            };
            if w != 0.0 {
                weights.push((j, w));
            }
        }
        Head::new(start.bias() + change.bias(), weights)
    }
}

/// Copies rows, and gives them the margins of a model as base values.
fn rest(
    scorer: &Scorer,
    chunk: &Chunk,
    block: Range<usize>,
    rows: &mut Chunk,
    bases: &mut Vec<f64>,
) {
    rows.clear();
    block.for_each(|i| rows.copy_row(chunk, i));
    bases.clear();
    scorer.margins(rows, bases);
    rows.set_bases(bases);
}

impl<O: Online> FromModel<O> {
    /// Lets the learner inside learn rows, block by block, with the margins of the model as their base values. `learn` gets the rows
    /// of a block and where the block begins among all rows.
    fn learn_blocks(
        &mut self,
        chunk: &Chunk,
        rows: Range<usize>,
        margins: &mut Vec<f64>,
        learn: impl Fn(&mut O, &Chunk, usize, &mut Vec<f64>),
    ) {
        let begin = rows.start;
        for block in blocks(rows) {
            let (first, mut start) = (block.start, margins.len());
            rest(&self.scorer, chunk, block.clone(), &mut self.rows, &mut self.bases);
            learn(&mut self.inner, &self.rows, first - begin, margins);
            if self.range.is_some() {
                // A margin is clipped to the labels before its row.
                for i in first..block.end {
                    self.clip(chunk, i, &mut margins[start..=start]);
                    self.take_label(chunk, i);
                    start += 1;
                }
            }
        }
    }
}

impl<O: Online> Online for FromModel<O> {
    bare!(all_rows nonzeros_of_frozen);
    bare!(@unmergeable BEGAN);
    forward!(self, self.inner;
        scale_penalty takes_bases is_linear columns learn_change_of chosen decide heads room overflow);

    fn learn_rows(&mut self, chunk: &Chunk, rows: Range<usize>, margins: &mut Vec<f64>) {
        self.learn_blocks(chunk, rows, margins, |inner, rows, _, margins| {
            inner.learn_rows(rows, 0..rows.len(), margins);
        });
    }

    fn learn_rows_scaled(
        &mut self,
        chunk: &Chunk,
        rows: Range<usize>,
        scales: &[f64],
        margins: &mut Vec<f64>,
    ) {
        self.learn_blocks(chunk, rows, margins, |inner, rows, first, margins| {
            inner.learn_rows_scaled(rows, 0..rows.len(), &scales[first..], margins);
        });
    }

    fn predict(&self, chunk: &Chunk, margins: &mut Vec<f64>) {
        self.margins_with(chunk, margins, Online::predict);
    }

    fn score(&self, chunk: &Chunk, margins: &mut Vec<f64>) {
        self.margins_with(chunk, margins, Online::score);
    }

    fn weights_of(&self, indices: &[u32], weights: &mut Vec<f64>) {
        let start = weights.len();
        self.inner.weights_of(indices, weights);
        let each = weights[start..].chunks_exact_mut(self.heads.len().max(1));
        for (&j, of_feature) in indices.iter().zip(each) {
            of_feature.iter_mut().zip(&self.heads).for_each(|(w, head)| *w += head.weight(j));
        }
    }

    fn label_range(&self) -> Option<(f64, f64)> {
        self.range
    }
    // The model has weights of features that the learner inside has not met.
    fn nonzeros_among(&self, _met: &[u32], _read: &dyn Fn(u32) -> bool) -> Option<usize> {
        None
    }
    fn nonzeros(&self) -> usize {
        self.freeze().nonzeros()
    }
    fn freeze(&self) -> Frozen {
        let change = self.inner.freeze().into_heads();
        Frozen::Linear(self.heads.iter().zip(&change).map(|(a, b)| self.sum(a, b)).collect())
    }
    fn save(&self, out: &mut StateWriter) {
        for head in &self.heads {
            head.bias().write(out);
            head.indices().to_vec().write(out);
            head.weights().to_vec().write(out);
        }
        self.columns.write(out);
        u32::from(self.range.is_some()).write(out);
        if let Some((low, high)) = self.range {
            low.write(out);
            high.write(out);
        }
        self.inner.save(out);
    }

    fn restore(&mut self, input: &mut &[u8]) -> Result<(), StateError> {
        const MODEL: &str = "the model that learning began with";
        let mut heads = Vec::new();
        for _ in 0..self.inner.heads() {
            let bias = f64::read(input).map_err(|e| e.in_field(MODEL))?;
            let (indices, weights) = (Vec::read(input)?, Vec::read(input)?);
            let head = Head::from_parts(bias, indices, weights);
            heads.push(head.ok_or(StateError::inconsistent(MODEL))?);
        }
        let columns = Vec::<ColumnMoments>::read(input)?;
        fits(columns.iter().all(ColumnMoments::is_sound), "the moments of the columns")?;
        let range = match u32::read(input).map_err(|e| e.in_field(MODEL))? {
            0 => None,
            _ => Some((f64::read(input)?, f64::read(input)?)),
        };
        fits(range.is_none_or(|(low, high)| low <= high), "the range of predictions")?;
        self.inner.restore(input)?;
        self.start(heads, &columns, range);
        Ok(())
    }
}

/// Two learners may have begun with different models.
const BEGAN: &str = "it began with a model; merge learners that began without one";

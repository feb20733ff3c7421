//! One learner per class.

use std::ops::Range;

use crate::loss::own_label;
use crate::room::Coming;
use crate::rule::Rule;
use crate::share::Mergeable;
use crate::state::{StateError, StateWriter};
use crate::{Chunk, Float, Frozen, Learner, Online};

/// Multiclass by one-vs-all: class `k`'s learner sees the label 1 for its class and the other label else.
///
/// Labels are class positions `0.0, 1.0, ...`. Each learner sees the same stream, so each is exactly the binary
/// learner trained alone.
pub struct OneVsAll<F: Float, R: Rule<F>> {
    pub(crate) learners: Vec<Learner<F, R>>,
    other: f64,
}

impl<F: Float, R: Rule<F>> OneVsAll<F, R> {
    /// `other` is the label of "not this class": -1 for classification losses, 0 for the others.
    pub fn new(learners: Vec<Learner<F, R>>, other: f64) -> Self {
        Self { learners, other }
    }

    /// Lets every class's learner learn the rows: `learn` gets the learner, the row's place in `rows`, the row, and
    /// the label and the base value as that learner sees them.
    #[inline(always)]
    fn learn_each(
        &mut self,
        chunk: &Chunk,
        rows: Range<usize>,
        margins: &mut Vec<f64>,
        learn: impl Fn(&mut Learner<F, R>, usize, usize, Option<f64>, f64) -> f64,
    ) {
        let (classes, start) = (self.learners.len(), margins.len());
        margins.resize(start + classes * rows.len(), 0.0);
        for (k, learner) in self.learners.iter_mut().enumerate() {
            for (n, i) in rows.clone().enumerate() {
                let own = |y: f64| own_label(y, k, self.other);
                let (label, base) = (chunk.label(i).map(own), chunk.base_of(i, k));
                margins[start + n * classes + k] = learn(learner, n, i, label, base);
            }
        }
    }
}

impl<F: Float, R: Rule<F>> Online for OneVsAll<F, R> {
    fn learn_rows(&mut self, chunk: &Chunk, rows: Range<usize>, margins: &mut Vec<f64>) {
        self.learn_each(chunk, rows, margins, |learner, _, i, y, base| {
            learner.learn_row(chunk, i, y, base)
        });
    }

    fn learn_rows_scaled(
        &mut self,
        chunk: &Chunk,
        rows: Range<usize>,
        scales: &[f64],
        margins: &mut Vec<f64>,
    ) {
        self.learn_each(chunk, rows, margins, |learner, n, i, y, base| {
            learner.learn_row_scaled(chunk, i, y, base, scales[n])
        });
    }

    fn scale_penalty(&mut self, scale: f64) {
        self.learners.iter_mut().for_each(|learner| learner.scale_penalty(scale));
    }

    fn takes_bases(&self) -> bool {
        true
    }

    fn predict(&self, chunk: &Chunk, margins: &mut Vec<f64>) {
        let (classes, start) = (self.learners.len(), margins.len());
        margins.resize(start + classes * chunk.len(), 0.0);
        for (k, learner) in self.learners.iter().enumerate() {
            for i in 0..chunk.len() {
                let margin = learner.predict_row(chunk.row(i)) + chunk.base_of(i, k);
                margins[start + i * classes + k] = margin;
            }
        }
    }

    fn nonzeros(&self) -> usize {
        self.learners.iter().map(Online::nonzeros).sum()
    }

    fn weights_of(&self, indices: &[u32], weights: &mut Vec<f64>) {
        let of = |&j: &u32| self.learners.iter().map(move |learner| learner.weight(j).to_f64());
        weights.extend(indices.iter().flat_map(of));
    }

    fn freeze(&self) -> Frozen {
        let heads = self.learners.iter().flat_map(|learner| learner.freeze().into_heads());
        Frozen::Linear(heads.collect())
    }

    fn heads(&self) -> usize {
        self.learners.len()
    }

    fn room(&self, coming: Coming) -> u64 {
        self.learners.iter().fold(0, |sum, learner| sum.saturating_add(learner.room(coming)))
    }

    fn save(&self, out: &mut StateWriter) {
        self.learners.iter().for_each(|learner| learner.save(out));
    }

    fn restore(&mut self, input: &mut &[u8]) -> Result<(), StateError> {
        self.learners.iter_mut().try_for_each(|learner| learner.restore(input))
    }

    fn mergeable(&self) -> Result<&dyn Mergeable, &'static str> {
        self.learners.iter().try_for_each(|l| l.merge_shares().map(|_| ()))?;
        Ok(self)
    }

    fn mergeable_mut(&mut self) -> Result<&mut dyn Mergeable, &'static str> {
        self.learners.iter().try_for_each(|l| l.merge_shares().map(|_| ()))?;
        Ok(self)
    }
}

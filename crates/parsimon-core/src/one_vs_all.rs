//! One learner per class, each against all others or all together.

use std::ops::Range;

use crate::loss::own_label;
use crate::online::bare;
use crate::room::Coming;
use crate::rule::Rule;
use crate::share::{MergeRead, MergeWrite};
use crate::softmax::Shares;
use crate::state::{StateError, StateWriter};
use crate::{Chunk, Float, Frozen, Learner, Online};

/// Several classes, one learner for each.
///
/// Labels are class positions `0.0, 1.0, ...`. By one-vs-all, class `k`'s learner sees the label 1 for its class and the other label
/// else. Each learner sees the same stream, so each is exactly the binary learner trained alone. By softmax, all learners learn the
/// loss of all margins together: class `k`'s slope is its probability, less 1 for its own rows.
///
/// ```
/// use parsimon_core::rule::leader::{Accrual, Iterate, Leader};
/// use parsimon_core::{Chunk, Learner, Loss, OneVsAll, Online, Repeats, Table};
/// use parsimon_core::{metric::AdaGrad, penalty::ElasticNet};
///
/// let rule = Leader {
///     penalty: ElasticNet { l1: 0.0, l2: 0.0 },
///     accrual: Accrual::Once,
///     center: Iterate,
///     metric: AdaGrad { rate: 0.5, delta: 1.0 },
/// };
/// let learner = || Learner::<f64, _>::new(rule, None, Loss::Softmax, Table::index());
/// let mut softmax = OneVsAll::softmax((0..3).map(|_| learner()).collect());
/// let mut chunk = Chunk::new();
/// chunk.push_feature(1, 1.0);
/// chunk.finish_row(Some(2.0), 1.0, Repeats::Refuse).unwrap();
/// softmax.learn(&chunk, &mut Vec::new());
/// // Gradients of 1/3, 1/3 and -2/3.
/// let weights = softmax.freeze().into_heads();
/// let weight = |k: usize| weights[k].weight(1);
/// assert!(weight(0) == weight(1) && weight(0) < 0.0 && weight(2) > 0.0);
/// ```
pub struct OneVsAll<F: Float, R: Rule<F>> {
    pub(crate) learners: Vec<Learner<F, R>>,
    other: f64,
    /// Margins and slopes of a row, where all classes are learned together.
    together: Option<[Vec<f64>; 2]>,
}

impl<F: Float, R: Rule<F>> OneVsAll<F, R> {
    /// `other` is the label of "not this class": -1 for classification losses, 0 for the others.
    pub fn new(learners: Vec<Learner<F, R>>, other: f64) -> Self {
        Self { learners, other, together: None }
    }

    /// Learns all classes together.
    pub fn softmax(learners: Vec<Learner<F, R>>) -> Self {
        Self { together: Some([Vec::new(), Vec::new()]), ..Self::new(learners, -1.0) }
    }

    /// Predicts and then learns rows by the softmax of all margins, under multiples of the penalty if there are some.
    fn learn_together(
        &mut self,
        chunk: &Chunk,
        rows: Range<usize>,
        scales: &[f64],
        margins: &mut Vec<f64>,
    ) {
        let classes = self.learners.len();
        let [own, slopes] = self.together.get_or_insert_default();
        for (n, i) in rows.enumerate() {
            let learns = chunk.label(i).filter(|_| chunk.weight(i) > 0.0);
            if let (Some(&scale), Some(_)) = (scales.get(n), learns) {
                self.learners.iter_mut().for_each(|learner| learner.scale_penalty(scale));
            }
            own.clear();
            let gathered = self.learners.iter_mut().enumerate();
            own.extend(gathered.map(|(k, learner)| learner.margin(chunk, i, chunk.base_of(i, k))));
            margins.extend_from_slice(own);
            let Some(y) = learns else { continue };
            let shares = Shares::of(own.iter().copied());
            slopes.clear();
            slopes.extend((0..classes).map(|k| shares.slope(k, own[k], y as usize)));
            for (learner, slope) in self.learners.iter_mut().zip(&*slopes) {
                learner.learn_slope(chunk.row(i), *slope, chunk.weight(i));
            }
        }
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
    bare!(all_rows no_scales no_race linear nonzeros_of_frozen unbounded);

    fn learn_rows(&mut self, chunk: &Chunk, rows: Range<usize>, margins: &mut Vec<f64>) {
        if self.together.is_some() {
            return self.learn_together(chunk, rows, &[], margins);
        }
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
        if self.together.is_some() {
            return self.learn_together(chunk, rows, scales, margins);
        }
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

    fn nonzeros_among(&self, met: &[u32], read: &dyn Fn(u32) -> bool) -> Option<usize> {
        self.learners.iter().map(|learner| learner.nonzeros_among(met, read)).sum()
    }

    fn weights_of(&self, indices: &[u32], weights: &mut Vec<f64>) {
        for &j in indices {
            for learner in &self.learners {
                weights.push(learner.weight(j).to_f64());
            }
        }
    }

    fn freeze(&self) -> Frozen {
        let mut heads = Vec::with_capacity(self.learners.len());
        for learner in &self.learners {
            heads.append(&mut learner.freeze().into_heads());
        }
        Frozen::Linear(heads)
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

    fn mergeable(&self) -> Result<Box<dyn MergeRead + '_>, &'static str> {
        self.merge_read()
    }

    fn mergeable_mut(&mut self) -> Result<Box<dyn MergeWrite + '_>, &'static str> {
        self.merge_write()
    }
}

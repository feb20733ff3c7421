//! Learning that does not depend on the unit and the origin of the label.
//!
//! ```text
//! m, sigma = the weighted mean and standard deviation of the labels, this row's included; sigma = 1 while all are the same;
//! a prediction is made with those before the row
//! y'       = (y - m) / sigma          is the label that the learner inside sees
//! m + sigma p'                        is the margin in the units of the label
//! ```

use std::ops::Range;

use crate::fade::{DIVIDED, Fade};
use crate::merge::{Around, AroundMut, MergeRead, MergeWrite, OwnMoments};
use crate::moments::{Moments, MomentsDelta, TargetMoments};
use crate::normalized::blocks;
use crate::online::{bare, forward};
use crate::state::{StateError, StateWriter, fits};
use crate::{Chunk, ColumnMoments, Frozen, HalfLife, Head, Online, State};

/// A learner of a real label (the squared, Huber and quantile losses) that sees standardized labels. Margins and weights
/// are in the units of the original label.
///
/// All heads see the same label, so the learner inside may be [`Lanes`](crate::Lanes) but not
/// [`OneVsAll`](crate::OneVsAll), whose labels are classes. The parameter of a Huber loss is in standard deviations.
///
/// ```
/// use parsimon_core::penalty::L1;
/// use parsimon_core::rule::mirror::{HalfStep, Scheduled};
/// use parsimon_core::{Chunk, Learner, Loss, Online, Repeats, Schedule, StandardizedTarget, Table};
///
/// let rule = Scheduled { penalty: L1 { l1: 0.0 }, schedule: Schedule::Sqrt { rate: 0.3 }, half_step: HalfStep::Same };
/// let learner = Learner::<f64, _>::new(rule, Some(rule), Loss::Squared, Table::growing());
/// let mut learner = StandardizedTarget::new(learner, true);
/// let mut chunk = Chunk::new();
/// for i in 0..200 {
///     let x = f64::from(i % 5) - 2.0;
///     chunk.push_feature(1, x);
///     chunk.finish_row(Some(1e6 + 1e4 * x), 1.0, Repeats::Refuse).unwrap();
/// }
/// learner.learn(&chunk, &mut Vec::new());
/// assert_eq!(learner.label_range(), Some((0.98e6, 1.02e6)));
/// let head = &learner.freeze().into_heads()[0];
/// assert!((head.bias() - 1e6).abs() < 1e3 && (head.iter().next().unwrap().1 - 1e4).abs() < 1e3);
/// ```
pub struct StandardizedTarget<O> {
    inner: O,
    target: TargetMoments,
    /// Whether margins are clipped to the range of the labels learned so far.
    clips: bool,
    fade: Fade,
    /// Rows with the labels that the learner inside sees, and `m` and `sigma` as they were before each.
    rows: Chunk,
    units: Vec<Units>,
}

/// The labels before a row: their mean and deviation, and the range of margins.
#[derive(Clone, Copy, Debug)]
struct Units {
    m: f64,
    sigma: f64,
    low: f64,
    high: f64,
}

impl Units {
    /// A standardized margin in the units of the labels.
    fn margin(&self, p: f64) -> f64 {
        let p = self.m + self.sigma * p;
        // A margin that is not a number has to stay one, for divergence to be seen.
        if p.is_nan() { p } else { p.max(self.low).min(self.high) }
    }
}

impl<O: Online> StandardizedTarget<O> {
    /// Standardizes the labels of a learner at the origin. With `clips`, margins are clipped to the range of the labels
    /// learned before.
    ///
    /// # Panics
    /// If the learner is not linear: its state has no reading in the units of the label.
    pub fn new(inner: O, clips: bool) -> Self {
        assert!(inner.is_linear(), "only linear learners can be read in the units of the label");
        let target = TargetMoments::default();
        let fade = Fade::default();
        Self { inner, target, clips, fade, rows: Chunk::new(), units: Vec::new() }
    }

    /// Builds the learner with a mean and a deviation in which old rows fade, around a learner whose old rows fade equally. The range
    /// of the labels does not fade.
    #[must_use]
    pub fn fading(self, half_life: Option<HalfLife>) -> Self {
        Self { fade: Fade::new(half_life), ..self }
    }

    /// The learner inside, which knows standardized labels only.
    pub fn inner(&self) -> &O {
        &self.inner
    }

    /// Like the method above, but mutable.
    pub fn inner_mut(&mut self) -> &mut O {
        &mut self.inner
    }

    /// Replaces the inner learner and keeps mean and deviation.
    pub fn map<P: Online>(self, change: impl FnOnce(O) -> P) -> StandardizedTarget<P> {
        let Self { inner, target, clips, fade, rows, units } = self;
        StandardizedTarget { inner: change(inner), target, clips, fade, rows, units }
    }

    /// The mean and the deviation of the labels so far, with their range.
    pub fn target(&self) -> &TargetMoments {
        &self.target
    }

    fn units(&self) -> Units {
        let (m, sigma) = (self.target.mean, self.target.deviation());
        let (low, high) = self.label_range().unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
        Units { m, sigma, low, high }
    }

    /// Appends row `i` to the block, with its label standardized.
    fn push(&mut self, chunk: &Chunk, i: usize) {
        let (label, h) = (chunk.label(i), chunk.weight(i));
        // The margin is made before the label is seen: in the units of the labels before it.
        self.units.push(self.units());
        // The label minus the base value is standardized; the base value is added to the margin afterwards.
        let label = label.map(|y| if chunk.has_bases() { y - chunk.base(i) } else { y });
        if let Some(y) = label.filter(|_| h > 0.0) {
            self.target.push(y, h * self.fade.tick());
            if self.fade.divides() {
                self.target.weight *= DIVIDED;
                self.target.squares *= DIVIDED;
            }
        }
        let (m, sigma) = (self.target.mean, self.target.deviation());
        self.rows.copy_row_with_label(chunk, i, label.map(|y| (y - m) / sigma));
    }

    /// Margins in the units of the labels; base values are added to them, and not to those of the learner inside.
    fn margins_with(
        &self,
        chunk: &Chunk,
        margins: &mut Vec<f64>,
        read: impl Fn(&O, &Chunk, &mut Vec<f64>),
    ) {
        let start = margins.len();
        if chunk.has_bases() {
            read(&self.inner, &chunk.without_bases(), margins);
        } else {
            read(&self.inner, chunk, margins);
        }
        let units = self.units();
        margins[start..].iter_mut().for_each(|p| *p = units.margin(*p));
        chunk.add_bases(&mut margins[start..]);
    }

    fn learn_blocks(
        &mut self,
        chunk: &Chunk,
        rows: Range<usize>,
        margins: &mut Vec<f64>,
        learn: impl Fn(&mut O, &Chunk, Range<usize>, &mut Vec<f64>),
    ) {
        let first = rows.start;
        for block in blocks(rows) {
            let (at, bases) = (block.start - first, block.clone());
            self.rows.clear();
            self.units.clear();
            block.for_each(|i| self.push(chunk, i));
            let start = margins.len();
            learn(&mut self.inner, &self.rows, at..at + self.rows.len(), margins);
            let heads = self.inner.heads();
            let all = margins[start..].chunks_exact_mut(heads).zip(&self.units).zip(bases);
            for ((p, units), i) in all {
                p.iter_mut().for_each(|p| *p = units.margin(*p) + chunk.base(i));
            }
        }
    }
}

impl<O: Online> Online for StandardizedTarget<O> {
    bare!(all_rows);
    forward!(self, self.inner;
        scale_penalty takes_bases is_linear columns chosen decide nonzeros nonzeros_among
        nonzeros_by_head heads room overflow);

    fn learn_rows(&mut self, chunk: &Chunk, rows: Range<usize>, margins: &mut Vec<f64>) {
        self.learn_blocks(chunk, rows, margins, |inner, block, _, margins| {
            inner.learn_rows(block, 0..block.len(), margins);
        });
    }

    fn learn_rows_scaled(
        &mut self,
        chunk: &Chunk,
        rows: Range<usize>,
        scales: &[f64],
        margins: &mut Vec<f64>,
    ) {
        self.learn_blocks(chunk, rows, margins, |inner, block, at, margins| {
            inner.learn_rows_scaled(block, 0..block.len(), &scales[at], margins);
        });
    }

    fn predict(&self, chunk: &Chunk, margins: &mut Vec<f64>) {
        self.margins_with(chunk, margins, Online::predict);
    }

    fn score(&self, chunk: &Chunk, margins: &mut Vec<f64>) {
        self.margins_with(chunk, margins, Online::score);
    }

    fn weights_of(&self, indices: &[u32], weights: &mut Vec<f64>) {
        let (start, sigma) = (weights.len(), self.target.deviation());
        self.inner.weights_of(indices, weights);
        weights[start..].iter_mut().for_each(|w| *w *= sigma);
    }

    fn learn_change_of(&mut self, columns: &[ColumnMoments]) {
        // The range of the residual labels bounds no prediction.
        self.clips = false;
        self.inner.learn_change_of(columns);
    }

    fn freeze(&self) -> Frozen {
        let (m, sigma) = (self.target.mean, self.target.deviation());
        let in_units = |head: Head| {
            let weights = head.iter().map(|(j, w)| (j, sigma * w)).filter(|&(_, w)| w != 0.0);
            Head::new(m + sigma * head.bias(), weights.collect())
        };
        Frozen::Linear(self.inner.freeze().into_heads().into_iter().map(in_units).collect())
    }

    fn label_range(&self) -> Option<(f64, f64)> {
        (self.clips && self.target.weight > 0.0).then_some((self.target.low, self.target.high))
    }

    fn lacks_labels(&self) -> bool {
        self.target.weight <= 0.0
    }

    fn save(&self, out: &mut StateWriter) {
        self.target.write(out);
        self.fade.save(out);
        self.inner.save(out);
    }

    fn restore(&mut self, input: &mut &[u8]) -> Result<(), StateError> {
        self.target = TargetMoments::read(input)?;
        fits(self.target.is_sound(), "the moments of the labels")?;
        self.fade.restore(input)?;
        self.inner.restore(input)
    }

    fn mergeable(&self) -> Result<Box<dyn MergeRead + '_>, &'static str> {
        let with_own = |inner: Moments| Moments { target: self.target, ..inner };
        Ok(Box::new(Around { inner: self.inner.mergeable()?, with_own }))
    }

    fn mergeable_mut(&mut self) -> Result<Box<dyn MergeWrite + '_>, &'static str> {
        let Self { inner, target, .. } = self;
        Ok(Box::new(AroundMut { inner: inner.mergeable_mut()?, own: target }))
    }
}

/// The inner learner is merged like any other, and the moments of the labels are merged separately.
impl OwnMoments for &mut TargetMoments {
    fn add_moments(&mut self, added: &MomentsDelta) {
        self.add(&added.target);
    }
    fn penalty_scale(&self) -> Option<f64> {
        None
    }
}

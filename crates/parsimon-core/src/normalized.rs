//! Learning that does not depend on the units of the features.
//!
//! ```text
//! s_j  = root mean square of feature j's values, this row included
//! u_j  = x_j / s_j
//! T    = sum of the rows' importances h
//! S    = sum over rows of h (sum_j u_j^2 + 1 for the bias)
//! a    = sqrt(T / S)
//! xhat = a u                    is the row that the learner inside sees
//! ```
//!
//! The factor `a` makes the mean squared length of a row 1, so that rows with many features take smaller steps
//! (Ross, Mineiro and Langford, Normalized Online Learning, 2013). A penalty in force once is charged `a` times: the
//! weights, with which the penalty is compared, grow as `a` shrinks.
//!
//! Multiplying a feature by a constant changes no margin: bit for bit if the constant is a power of two.
//!
//! A weight is read as zero until two learned rows had its feature. A feature of one row helps no other row, and in
//! texts and logs most features occur once: without this rule they would be most of the model.

#![allow(clippy::needless_range_loop, reason = "a loop over several arrays is to be vectorized")]

use std::ops::Range;

use crate::fade::{DIVIDED, Fade};
use crate::merge::{Around, AroundMut, MergeRead, MergeWrite, OwnMoments};
use crate::moments::{HORIZON, Moments, MomentsDelta, combined};
use crate::online::{bare, forward};
use crate::room::Coming;
use crate::state::state;
use crate::state::{StateError, StateWriter, fits, read_places};
use crate::wide::{Work, wide};
use crate::{Chunk, Float, Frozen, HalfLife, Head, Online, State, Table};

/// Statistics of a feature's values.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stat<F> {
    /// The root mean square, with a minus sign while one learned row had the feature: its weight then reads as zero.
    s: F,
    /// The importance of the rows that had the feature, at most 4096: older values are forgotten.
    n: F,
}

state!(Stat<F: Float> { s, n });

impl<F: Float> Stat<F> {
    /// Processes a value of a row of importance `h > 0`; no more than `horizon` is remembered.
    #[inline(always)]
    fn with(self, x: f64, h: f64, horizon: f64) -> Self {
        let n = F::from_f64(least(self.n.to_f64() + h, horizon));
        let (share, s) = (least(h / n.to_f64(), 1.0), self.s.to_f64());
        let root = (s * s + share * (x * x - s * s)).sqrt();
        Self { s: F::from_f64(if self.n > F::ZERO { root } else { -root }), n }
    }

    /// A value in units of the root mean square as a user reads it; zero if fewer than two rows had the feature.
    #[inline(always)]
    fn scaled_if_read(&self, x: f64) -> f64 {
        if self.s > F::ZERO { self.scaled(x) } else { 0.0 }
    }

    /// A value in units of the root mean square; zero if there is none.
    ///
    /// NUMERICS: only a value that was not taken in, or one of a row of next to no importance, can be so large that it
    /// must be cut.
    #[inline(always)]
    fn scaled(&self, x: f64) -> f64 {
        let (s, most) = (self.s.to_f64().abs(), F::PRECISION.max_value());
        let u = -least(-least(x / s, most), most);
        if s > 0.0 { u } else { 0.0 }
    }
}

/// The smaller of the two; the bound if the value is NaN.
///
/// PERF: this is one instruction, which `f64::min` is not.
#[inline(always)]
fn least(x: f64, bound: f64) -> f64 {
    if x < bound { x } else { bound }
}

/// The sums over all rows, and the factor that follows from them.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Clock {
    weight: f64,
    energy: f64,
    a: f64,
}

impl Clock {
    fn new(weight: f64, energy: f64) -> Self {
        let a = (weight / energy).sqrt();
        // NaN or infinite until a row has a feature or a bias.
        let usable = a > 0.0 && a.is_finite();
        Self { weight, energy, a: if usable { a } else { 1.0 } }
    }
}

/// A learner whose rows are scaled to a common unit while they are learned, and whose weights are read in the units of the
/// original features.
///
/// All heads share the statistics: two numbers per feature. Rows without a label or of importance 0 are predicted
/// and change nothing. A feature that fewer than two learned rows had reads as zero. The cost of a row is proportional to its number of features.
///
/// ```
/// use parsimon_core::metric::AdaGrad;
/// use parsimon_core::penalty::ElasticNet;
/// use parsimon_core::rule::leader::{Accrual, Iterate, Leader};
/// use parsimon_core::{Chunk, Learner, Loss, Normalized, Online, Repeats, Table};
///
/// let margins = |unit: f64| {
///     let rule = |l1| Leader {
///         penalty: ElasticNet { l1, l2: 0.0 },
///         accrual: Accrual::Once,
///         center: Iterate,
///         metric: AdaGrad { rate: 0.5, delta: 0.0 },
///     };
///     let learner = Learner::<f64, _>::new(rule(0.1), Some(rule(0.0)), Loss::Logistic, Table::growing());
///     let mut learner = Normalized::<f64, _>::new(learner, true, Table::growing());
///     let mut chunk = Chunk::new();
///     for (meters, label) in [(1.0, 1.0), (-2.0, -1.0), (3.0, 1.0), (-1.5, -1.0)] {
///         chunk.push_feature(1, unit * meters);
///         chunk.finish_row(Some(label), 1.0, Repeats::Refuse).unwrap();
///     }
///     let mut margins = Vec::new();
///     learner.learn(&chunk, &mut margins);
///     margins
/// };
/// assert_eq!(margins(1.0), margins(1024.0));
/// ```
pub struct Normalized<F: Float, O> {
    inner: O,
    has_bias: bool,
    stats: Table<Stat<F>>,
    clock: Clock,
    fade: Fade,
    /// Rows as the inner learner sees them, and the factor on its penalty for each row.
    rows: Chunk,
    scales: Vec<f64>,
}

/// Number of rows that are normalized before the inner learner gets them, so that they stay in the near cache.
const BLOCK: usize = 64;

/// Cuts rows into blocks.
pub(crate) fn blocks(rows: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let end = rows.end;
    rows.step_by(BLOCK).map(move |start| start..(start + BLOCK).min(end))
}

impl<F: Float, O: Online> Normalized<F, O> {
    /// Normalizes the rows of a learner at the origin. `has_bias` tells whether the learner has a bias, and `stats`
    /// where the features' statistics are kept.
    ///
    /// # Panics
    /// If the learner is not linear: its state has no reading in the units of the features.
    pub fn new(inner: O, has_bias: bool, stats: Table<Stat<F>>) -> Self {
        assert!(inner.is_linear(), "only linear learners can be read in the units of the features");
        let clock = Clock::new(0.0, 0.0);
        let fade = Fade::default();
        Self { inner, has_bias, stats, clock, fade, rows: Chunk::new(), scales: Vec::new() }
    }

    /// Builds the learner with statistics whose old rows fade, around a learner whose old rows fade equally.
    #[must_use]
    pub fn fading(self, half_life: Option<HalfLife>) -> Self {
        Self { fade: Fade::new(half_life), ..self }
    }

    /// The learner inside, which knows normalized rows only.
    pub fn inner(&self) -> &O {
        &self.inner
    }

    /// Like the method above, but mutable.
    pub fn inner_mut(&mut self) -> &mut O {
        &mut self.inner
    }

    /// Continues with another learner inside and the same statistics, for example with fewer lanes
    /// ([`Lanes::keep`](crate::Lanes::keep)).
    pub fn map<P: Online>(self, change: impl FnOnce(O) -> P) -> Normalized<F, P> {
        let Self { inner, has_bias, stats, clock, fade, rows, scales } = self;
        let mut inner = change(inner);
        if clock.weight > 0.0 {
            inner.scale_penalty(clock.a);
        }
        Normalized { inner, has_bias, stats, clock, fade, rows, scales }
    }

    /// The root mean square of a feature's values so far; 0 if it was never seen.
    pub fn scale(&self, j: u32) -> f64 {
        self.stats.get(j).s.to_f64().abs()
    }

    /// The factor `a` after the last learned row; 1 before the first.
    pub fn factor(&self) -> f64 {
        self.clock.a
    }

    /// Appends row `i` to the block, normalized. A row that will be learned is taken into the statistics first.
    fn push(&mut self, chunk: &Chunk, i: usize) {
        let (label, h) = (chunk.label(i), chunk.weight(i));
        if i + 1 < chunk.len() {
            // PERF: see `prefetch.rs`.
            self.stats.prefetch(chunk.row(i + 1).indices());
        }
        let (indices, values) = self.rows.open_copy(chunk.row(i));
        if label.is_some() && h > 0.0 {
            let growth = self.fade.tick();
            let (stats, horizon, h) = (&mut self.stats, growth * HORIZON, growth * h);
            let energy = wide(TakeIn { stats, indices, values, h, horizon });
            let bias = if self.has_bias { 1.0 } else { 0.0 };
            let Clock { weight, energy: before, .. } = self.clock;
            self.clock = Clock::new(weight + h, before + h * (energy + bias));
            if self.fade.divides() {
                self.divide();
            }
        } else {
            scale(&self.stats, indices, values);
        }
        self.rows.finish_open_copy(self.clock.a, label, h);
        self.rows.copy_base(chunk, i);
        self.scales.push(self.clock.a);
    }

    /// Scales the sums after a division; the values computed from them do not change.
    #[cold]
    fn divide(&mut self) {
        let Clock { weight, energy, .. } = self.clock;
        self.clock = Clock::new(weight * DIVIDED, energy * DIVIDED);
        for (_, stat) in self.stats.seen_mut() {
            stat.n *= F::from_f64(DIVIDED);
        }
    }

    /// Restores the penalty of the last learned row after the learner inside was given another state.
    fn restore_scale(&mut self) {
        if self.clock.weight > 0.0 {
            self.inner.scale_penalty(self.clock.a);
        }
    }

    /// A weight of the learner inside, in the units of the feature.
    fn in_units(&self, j: u32, w: f64) -> f64 {
        let s = self.stats.get(j).s.to_f64();
        if s > 0.0 { w * self.clock.a / s } else { 0.0 }
    }

    /// Passes the rows of a chunk to a function, block by block, as the learner inside reads them.
    fn scaled(&self, chunk: &Chunk, mut show: impl FnMut(&Chunk)) {
        let mut rows = Chunk::new();
        for block in blocks(0..chunk.len()) {
            rows.clear();
            for i in block {
                let (indices, values) = rows.open_copy(chunk.row(i));
                scale(&self.stats, indices, values);
                rows.finish_open_copy(self.clock.a, chunk.label(i), chunk.weight(i));
                rows.copy_base(chunk, i);
            }
            show(&rows);
        }
    }

    fn head_in_units(&self, head: &Head) -> Head {
        let weights = head.iter().map(|(j, w)| (j, self.in_units(j, w)));
        Head::new(head.bias(), weights.filter(|&(_, w)| w != 0.0).collect())
    }
}

/// Scales values to units of their root mean squares.
fn scale<F: Float>(stats: &Table<Stat<F>>, indices: &[u32], values: &mut [f64]) {
    for (&j, x) in indices.iter().zip(values) {
        *x = stats.get(j).scaled_if_read(*x);
    }
}

const AT_ONCE: usize = 8;

/// Adds a row's values to the statistics and scales them; returns the sum of their squares.
struct TakeIn<'a, F: Float> {
    stats: &'a mut Table<Stat<F>>,
    indices: &'a [u32],
    values: &'a mut [f64],
    h: f64,
    horizon: f64,
}

impl<F: Float> Work for TakeIn<'_, F> {
    type Output = f64;

    #[inline(always)]
    fn work(self) -> f64 {
        let Self { stats, indices, values, h, horizon } = self;
        let mut energy = 0.0;
        // PERF: two divisions and a root per feature, several features at a time.
        let (wide, rest) = indices.as_chunks::<AT_ONCE>();
        let (wide_values, rest_values) = values.as_chunks_mut::<AT_ONCE>();
        for (indices, values) in wide.iter().zip(wide_values) {
            let (mut s, mut n) = ([F::ZERO; AT_ONCE], [F::ZERO; AT_ONCE]);
            for k in 0..AT_ONCE {
                let stat = stats.get(indices[k]);
                (s[k], n[k]) = (stat.s, stat.n);
            }
            for k in 0..AT_ONCE {
                let stat = Stat { s: s[k], n: n[k] }.with(values[k], h, horizon);
                values[k] = stat.scaled(values[k]);
                (s[k], n[k]) = (stat.s, stat.n);
            }
            for k in 0..AT_ONCE {
                *stats.slot(indices[k]) = Stat { s: s[k], n: n[k] };
                energy += values[k] * values[k];
            }
        }
        for (&j, x) in rest.iter().zip(rest_values) {
            let stat = stats.slot(j);
            *stat = stat.with(*x, h, horizon);
            *x = stat.scaled(*x);
            energy += *x * *x;
        }
        energy
    }
}

impl<F: Float, O: Online> Online for Normalized<F, O> {
    bare!(all_rows);
    forward!(self, self.inner;
        takes_bases is_linear columns label_range lacks_labels learn_change_of chosen heads overflow);

    fn learn_rows(&mut self, chunk: &Chunk, rows: Range<usize>, margins: &mut Vec<f64>) {
        for block in blocks(rows) {
            self.rows.clear();
            self.scales.clear();
            block.for_each(|i| self.push(chunk, i));
            let Self { inner, rows, scales, .. } = self;
            inner.learn_rows_scaled(rows, 0..rows.len(), scales, margins);
        }
    }

    fn learn_rows_scaled(
        &mut self,
        chunk: &Chunk,
        rows: Range<usize>,
        scales: &[f64],
        margins: &mut Vec<f64>,
    ) {
        let mut given = scales.iter();
        for block in blocks(rows) {
            self.rows.clear();
            self.scales.clear();
            block.for_each(|i| self.push(chunk, i));
            let Self { inner, rows, scales, .. } = self;
            scales.iter_mut().zip(&mut given).for_each(|(own, more)| *own *= more);
            inner.learn_rows_scaled(rows, 0..rows.len(), scales, margins);
        }
    }

    fn scale_penalty(&mut self, scale: f64) {
        self.inner.scale_penalty(scale * self.clock.a);
    }

    fn predict(&self, chunk: &Chunk, margins: &mut Vec<f64>) {
        self.scaled(chunk, |rows| self.inner.predict(rows, margins));
    }

    fn score(&self, chunk: &Chunk, margins: &mut Vec<f64>) {
        self.scaled(chunk, |rows| self.inner.score(rows, margins));
    }

    fn weights_of(&self, indices: &[u32], weights: &mut Vec<f64>) {
        let start = weights.len();
        self.inner.weights_of(indices, weights);
        let each = weights[start..].chunks_exact_mut(self.inner.heads().max(1));
        for (&j, of_feature) in indices.iter().zip(each) {
            of_feature.iter_mut().for_each(|w| *w = self.in_units(j, *w));
        }
    }

    fn decide(&mut self) {
        self.inner.decide();
        self.restore_scale();
    }

    fn nonzeros(&self) -> usize {
        self.nonzeros_by_head().iter().sum()
    }

    fn nonzeros_among(&self, met: &[u32], read: &dyn Fn(u32) -> bool) -> Option<usize> {
        self.inner.nonzeros_among(met, &|j| self.stats.get(j).s > F::ZERO && read(j))
    }

    // Weights of features that only one row had are not zero in the learner inside.
    fn nonzeros_by_head(&self) -> Vec<usize> {
        let heads = self.inner.freeze().into_heads();
        let is_read = |j: &&u32| self.stats.get(**j).s > F::ZERO;
        heads.iter().map(|head| head.indices().iter().filter(is_read).count()).collect()
    }

    fn freeze(&self) -> Frozen {
        let heads = self.inner.freeze().into_heads();
        Frozen::Linear(heads.iter().map(|head| self.head_in_units(head)).collect())
    }

    fn room(&self, coming: Coming) -> u64 {
        self.stats.room(coming).saturating_add(self.inner.room(coming))
    }

    fn save(&self, out: &mut StateWriter) {
        self.clock.weight.write(out);
        self.clock.energy.write(out);
        self.fade.save(out);
        out.places(self.stats.places());
        self.inner.save(out);
    }

    fn restore(&mut self, input: &mut &[u8]) -> Result<(), StateError> {
        let mut sum = |field| {
            let sum = f64::read(input).map_err(|e: StateError| e.in_field(field))?;
            fits(sum >= 0.0, field).map(|()| sum)
        };
        self.clock = Clock::new(sum("the importance of all rows")?, sum("the energy of all rows")?);
        self.fade.restore(input)?;
        read_places(input, |j, stat: Stat<F>| {
            fits(stat.n >= F::ZERO, "Stat.n")?;
            self.stats.fill(j, stat)
        })?;
        self.inner.restore(input)?;
        self.restore_scale();
        Ok(())
    }

    fn mergeable(&self) -> Result<Box<dyn MergeRead + '_>, &'static str> {
        let with_own = |inner: Moments| {
            let seen = self.stats.seen();
            let mut features: Vec<_> =
                seen.map(|(j, stat)| (j, [stat.n.to_f64(), stat.s.to_f64()])).collect();
            features.sort_unstable_by_key(|&(j, _)| j);
            let Clock { weight, energy, .. } = self.clock;
            Moments { weight, energy, features, ..inner }
        };
        Ok(Box::new(Around { inner: self.inner.mergeable()?, with_own }))
    }

    fn mergeable_mut(&mut self) -> Result<Box<dyn MergeWrite + '_>, &'static str> {
        let Self { inner, stats, clock, .. } = self;
        Ok(Box::new(AroundMut { inner: inner.mergeable_mut()?, own: Scales { stats, clock } }))
    }
}

/// The inner learner is merged like any other, and the statistics are merged separately.
struct Scales<'a, F> {
    stats: &'a mut Table<Stat<F>>,
    clock: &'a mut Clock,
}

impl<F: Float> OwnMoments for Scales<'_, F> {
    fn add_moments(&mut self, added: &MomentsDelta) {
        let Clock { weight, energy, .. } = *self.clock;
        *self.clock = Clock::new(weight + added.weight, energy + added.energy);
        for (j, sample) in &added.features {
            let stat = self.stats.slot(*j);
            let [n, s] = combined([stat.n.to_f64(), stat.s.to_f64()], sample);
            *stat = Stat { s: F::from_f64(s), n: F::from_f64(n) };
        }
    }
    fn penalty_scale(&self) -> Option<f64> {
        (self.clock.weight > 0.0).then_some(self.clock.a)
    }
}

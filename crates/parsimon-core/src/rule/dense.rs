//! Rules whose rounds may change every weight in a way that has no closed form. They are dense:
//! a round costs O(features seen), with a sort.
//!
//! * [`Clipped`]: the proximal step of the largest magnitude (linf) clips all weights at one level.
//! * [`BallProjected`]: SGD projected on the l1 ball, and its average in the l1 or l2 ball.
//! * [`HardL1`]: dual averaging in the l1 ball.
//! * [`Simplex`]: dual averaging, mirror descent and RDA with the Kullback-Leibler divergence over a simplex; there even a feature never
//!   seen has a weight, so the number of features must be known.

use super::Rule;
use super::mirror::HalfStep;
use crate::penalty::Candidate;
use crate::{Float, Schedule, State, Table, soft, state::state};

/// The `theta` for which `sum max(|v| - theta, 0) = radius`, or 0 when the sum is within the radius already.
///
/// Soft thresholding at it is the projection on the l1 ball; clipping at it is the proximal step of `radius`
/// times the linf norm (Moreau).
///
/// ```
/// let theta = parsimon_core::rule::dense::threshold(&mut [3.0, 1.0], 2.0);
/// assert_eq!(theta, 1.0); // (3 - 1) + (1 - 1) = 2
/// ```
pub fn threshold(magnitudes: &mut [f64], radius: f64) -> f64 {
    if magnitudes.iter().sum::<f64>() <= radius {
        return 0.0;
    }
    magnitudes.sort_by(|a, b| b.total_cmp(a));
    let (mut sum, mut theta) = (0.0, 0.0);
    for (k, &m) in magnitudes.iter().enumerate() {
        let candidate = (sum + m - radius) / (k + 1) as f64;
        if m <= candidate {
            break;
        }
        sum += m;
        theta = candidate;
    }
    theta.max(0.0)
}

/// Forward-backward splitting with `l1 max_i |w_i|`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clipped {
    /// `eta_t`
    pub schedule: Schedule,
    /// The strength; 0 for the bias.
    pub l1: f64,
    /// 1 for FOBOS, `K` for Algorithm 1 of the lazy thesis.
    pub period: u64,
    /// Step of the proximal half.
    pub half_step: HalfStep,
}

/// The round, its step, and the proximal steps not yet taken.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ClippedClock {
    t: u64,
    eta: f64,
    waiting: f64,
}

state!(ClippedClock { t, eta, waiting });

impl<F: Float> Rule<F> for Clipped {
    type Coord = F;
    type Clock = ClippedClock;

    fn tick(&self, now: &mut ClippedClock) {
        now.t += 1;
        now.eta = self.schedule.at(now.t);
        now.waiting += match self.half_step {
            HalfStep::Same => now.eta,
            HalfStep::Next => self.schedule.at(now.t + 1),
        };
    }
    fn played(&self, _now: &ClippedClock, _j: u32, w: &F) -> F {
        *w
    }
    fn absorb(&self, now: &mut ClippedClock, _j: u32, c: &mut F, w: F, g: F, _at: F) {
        *c = w - F::from_f64(now.eta) * g;
    }
    fn close(&self, now: &mut ClippedClock, table: &mut Table<F>) {
        if self.l1 == 0.0 || !now.t.is_multiple_of(self.period) {
            return;
        }
        let radius = self.l1 * std::mem::take(&mut now.waiting);
        let mut magnitudes: Vec<f64> = table.seen().map(|(_, w)| w.abs().to_f64()).collect();
        let total: f64 = magnitudes.iter().sum();
        // All weights are inside of the ball of the threshold: the result of the proximal step is zero.
        let level = if total <= radius { 0.0 } else { threshold(&mut magnitudes, radius) };
        let level = F::from_f64(level);
        for (_, w) in table.seen_mut() {
            if w.abs() > level {
                *w = level.copysign(*w);
            }
        }
    }
}

/// The ball.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Ball {
    /// `|w|_1 <= radius`
    L1(
        /// The radius.
        f64,
    ),
    /// `|w|_2 <= radius`
    L2(
        /// The radius.
        f64,
    ),
    /// The whole space: the bias.
    Everything,
}

impl Ball {
    fn project<'a, F: Float>(self, weights: impl Iterator<Item = &'a mut F>) {
        let mut weights: Vec<&mut F> = weights.collect();
        match self {
            Ball::Everything => {}
            Ball::L1(radius) => {
                let mut magnitudes: Vec<f64> = weights.iter().map(|w| w.abs().to_f64()).collect();
                let theta = F::from_f64(threshold(&mut magnitudes, radius));
                weights.iter_mut().for_each(|w| **w = soft(**w, theta));
            }
            Ball::L2(radius) => {
                let norm = weights.iter().map(|w| w.to_f64() * w.to_f64()).sum::<f64>().sqrt();
                if norm > radius {
                    let scale = F::from_f64(radius / norm);
                    weights.iter_mut().for_each(|w| **w *= scale);
                }
            }
        }
    }
}

/// Projected SGD, with the iterate or its mean to be read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BallProjected {
    /// `eta_t`
    pub schedule: Schedule,
    /// The constraint.
    pub ball: Ball,
    /// The weight that a user reads.
    pub read: Read,
}

/// The weight that a user reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Read {
    /// The last iterate.
    Iterate,
    /// The mean of the iterates.
    Mean,
}

/// An iterate and its mean.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Boxes<F> {
    w: F,
    mean: F,
}

state!(Boxes<F: Float> { w, mean });

/// The number of the round and its step size.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BoxedClock {
    t: u64,
    eta: f64,
}

state!(BoxedClock { t, eta });

impl<F: Float> Rule<F> for BallProjected {
    type Coord = Boxes<F>;
    type Clock = BoxedClock;

    fn tick(&self, now: &mut BoxedClock) {
        now.t += 1;
        now.eta = self.schedule.at(now.t);
    }
    fn played(&self, _now: &BoxedClock, _j: u32, c: &Boxes<F>) -> F {
        c.w
    }
    fn weight(&self, _now: &BoxedClock, _j: u32, c: &Boxes<F>) -> F {
        match self.read {
            Read::Iterate => c.w,
            Read::Mean => c.mean,
        }
    }
    fn absorb(&self, now: &mut BoxedClock, _j: u32, c: &mut Boxes<F>, w: F, g: F, _at: F) {
        c.w = w - F::from_f64(now.eta) * g;
    }
    fn close(&self, now: &mut BoxedClock, table: &mut Table<Boxes<F>>) {
        self.ball.project(table.seen_mut().map(|(_, c)| &mut c.w));
        if self.read == Read::Mean {
            let share = F::from_f64(1.0 / now.t as f64);
            for (_, c) in table.seen_mut() {
                c.mean += (c.w - c.mean) * share;
            }
        }
    }
}

impl<F: Float> super::Implicit<F> for BallProjected {
    fn candidate(&self, now: &BoxedClock, _j: u32, _c: &Boxes<F>, w: F, _at: F) -> Candidate {
        let q = 1.0 / now.eta;
        Candidate { z: -q * w.to_f64(), q, l1: 0.0, bounds: None }
    }
}

/// Dual averaging in the l1 ball: `w = Pi(-(rate/sqrt(t)) s)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HardL1 {
    /// `1/gamma`
    pub rate: f64,
    /// The ball's radius.
    pub radius: f64,
}

/// The round, and the threshold that brings the weights into the ball.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HardClock {
    t: u64,
    scale: f64,
    theta: f64,
}

state!(HardClock { t, scale, theta });

impl<F: Float> Rule<F> for HardL1 {
    type Coord = F;
    type Clock = HardClock;

    fn tick(&self, now: &mut HardClock) {
        now.t += 1;
    }
    fn played(&self, now: &HardClock, _j: u32, s: &F) -> F {
        soft(-(F::from_f64(now.scale) * *s), F::from_f64(now.theta))
    }
    fn absorb(&self, _now: &mut HardClock, _j: u32, s: &mut F, _w: F, g: F, _at: F) {
        *s += g;
    }
    fn close(&self, now: &mut HardClock, table: &mut Table<F>) {
        now.scale = self.rate / (now.t as f64).sqrt();
        let mut magnitudes: Vec<f64> =
            table.seen().map(|(_, s)| now.scale * s.abs().to_f64()).collect();
        now.theta = threshold(&mut magnitudes, self.radius);
    }
}

/// Exponents of the weights on the simplex, from the gradients so far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Exponents {
    /// Dual averaging with the entropy: `-(rate/sqrt(t)) sum g`.
    Dual,
    /// Mirror descent with the entropy: `-sum (rate/sqrt(tau)) g_tau`.
    Mirror,
    /// RDA with `sigma` times the Kullback-Leibler divergence from the even weights, and no stabilizer: `-sum g / (sigma t)`.
    Divergence {
        /// `sigma`
        sigma: f64,
    },
}

/// Weights on the simplex `w >= 0, sum w = radius` as exponentials: `w_i ~ exp(e_i)`, with the exponents of [`Exponents`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Simplex {
    /// `1/gamma`
    pub rate: f64,
    /// The sum of the weights.
    pub radius: f64,
    /// The number of features, whose ids are `1..=dimension`.
    pub dimension: u32,
    /// The exponents.
    pub exponents: Exponents,
}

/// The round, the scale of the exponents, and the logarithm of their sum.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SimplexClock {
    t: u64,
    scale: f64,
    log_sum: f64,
}

state!(SimplexClock { t, scale, log_sum });

impl<F: Float> Rule<F> for Simplex {
    type Coord = F;
    type Clock = SimplexClock;

    fn tick(&self, now: &mut SimplexClock) {
        now.t += 1;
    }
    fn played(&self, now: &SimplexClock, j: u32, s: &F) -> F {
        if j == 0 || j > self.dimension {
            return F::ZERO;
        }
        if now.t == 0 {
            return F::from_f64(self.radius / f64::from(self.dimension));
        }
        F::from_f64(self.radius * (-now.scale * s.to_f64() - now.log_sum).exp())
    }
    fn absorb(&self, now: &mut SimplexClock, _j: u32, s: &mut F, _w: F, g: F, _at: F) {
        *s += match self.exponents {
            Exponents::Mirror => F::from_f64(self.rate / (now.t as f64).sqrt()) * g,
            Exponents::Dual | Exponents::Divergence { .. } => g,
        };
    }
    fn close(&self, now: &mut SimplexClock, table: &mut Table<F>) {
        now.scale = match self.exponents {
            Exponents::Dual => self.rate / (now.t as f64).sqrt(),
            Exponents::Mirror => 1.0,
            Exponents::Divergence { sigma } => 1.0 / (sigma * now.t as f64),
        };
        let exponents = || {
            let inside = |j| 0 < j && j <= self.dimension;
            table.seen().filter(move |(j, _)| inside(*j)).map(|(_, s)| -now.scale * s.to_f64())
        };
        // The features never seen have exponent 0.
        let (seen, largest) = exponents().fold((0u32, 0.0f64), |(n, m), e| (n + 1, m.max(e)));
        let unseen = f64::from(self.dimension - seen) * (-largest).exp();
        let sum = unseen + exponents().map(|e| (e - largest).exp()).sum::<f64>();
        now.log_sum = largest + sum.ln();
    }
    fn dimension(&self) -> Option<u32> {
        Some(self.dimension)
    }
}

/// The bias beside a [`HardL1`] or [`Simplex`] rule must have the rule's own type: it is plain dual averaging.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Dense<R> {
    /// The features.
    Features(
        /// The rule.
        R,
    ),
    /// The bias, free of the constraint: `-(rate/sqrt(t)) s`.
    Bias {
        /// `1/gamma`
        rate: f64,
    },
}

/// A dense rule's clock, and the round for the bias.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DenseClock<C> {
    t: u64,
    inner: C,
}

state!(DenseClock<C: State> { t, inner });

impl<F: Float, R: Rule<F, Coord = F>> Rule<F> for Dense<R> {
    type Coord = F;
    type Clock = DenseClock<R::Clock>;

    fn tick(&self, now: &mut Self::Clock) {
        now.t += 1;
        if let Dense::Features(rule) = self {
            rule.tick(&mut now.inner);
        }
    }
    fn played(&self, now: &Self::Clock, j: u32, s: &F) -> F {
        match self {
            Dense::Features(rule) => rule.played(&now.inner, j, s),
            Dense::Bias { .. } if now.t == 0 => F::ZERO,
            Dense::Bias { rate } => -(F::from_f64(rate / (now.t as f64).sqrt()) * *s),
        }
    }
    fn absorb(&self, now: &mut Self::Clock, j: u32, s: &mut F, w: F, g: F, at: F) {
        match self {
            Dense::Features(rule) => rule.absorb(&mut now.inner, j, s, w, g, at),
            Dense::Bias { .. } => *s += g,
        }
    }
    fn close(&self, now: &mut Self::Clock, table: &mut Table<F>) {
        if let Dense::Features(rule) = self {
            rule.close(&mut now.inner, table);
        }
    }
    fn dimension(&self) -> Option<u32> {
        match self {
            Dense::Features(rule) => rule.dimension(),
            Dense::Bias { .. } => None,
        }
    }
}

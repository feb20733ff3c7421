//! A penalty inside of an interval, infinite outside.

use super::{Bounds, Candidate, Elastic, Flat, Lazy, Penalty, Times};
use crate::Float;

/// `psi(w) = base(w)` for `lower <= w <= upper`, infinite outside.
///
/// The problems are convex in one variable, so the minimizer on an interval is the point of the interval nearest to the minimizer
/// on the whole line: minimizers of the base are clamped.
///
/// Between two visits a coordinate meets proximal steps only. Each shrinks the weight's magnitude and then projects. The step with
/// the gradient left the weight inside, zero is inside, and shrinking moves it towards zero, so no later projection acts: the
/// missed steps are those of the base, in the base's closed form.
///
/// ```
/// use parsimon_core::Penalty;
/// use parsimon_core::penalty::{Bounded, Bounds, ElasticNet};
///
/// let base = ElasticNet { l1: 0.5, l2: 0.0 };
/// let bounded = Bounded { base, bounds: Bounds::new(-1.0, 2.0).unwrap() };
/// assert_eq!([-9.0, -1.0, 0.2, 2.0, 9.0].map(|v| bounded.prox(v, 1.0)), [-1.0, -0.5, 0.0, 1.5, 2.0]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounded<P> {
    /// The penalty inside.
    pub base: P,
    /// Position of the bound.
    pub bounds: Bounds,
}

impl<F: Float, P: Penalty<F>> Penalty<F> for Bounded<P> {
    fn free() -> Self {
        Self { base: P::free(), bounds: Bounds::NONE }
    }
    #[inline(always)]
    fn argmin(&self, z: F, q: F, amount: F) -> F {
        self.bounds.clamp(self.base.argmin(z, q, amount))
    }
    #[inline(always)]
    fn prox(&self, v: F, eta: F) -> F {
        self.bounds.clamp(self.base.prox(v, eta))
    }
    #[inline(always)]
    fn bounds(&self) -> Option<Bounds> {
        Some(self.bounds)
    }
}

impl<F: Float, P: Elastic<F>> Elastic<F> for Bounded<P> {
    fn candidate(&self, z: f64, q: f64, amount: f64) -> Candidate {
        Candidate { bounds: Some(self.bounds), ..self.base.candidate(z, q, amount) }
    }
}

impl<P: Times> Times for Bounded<P> {
    #[inline(always)]
    fn times(self, factor: f64) -> Self {
        Self { base: self.base.times(factor), ..self }
    }
}

// NUMERICS: weights that were caught up are clamped again, because a difference of totals may be off in its last digit.
impl<F: Float, P: Lazy<F>> Lazy<F> for Bounded<P> {
    type Debt = P::Debt;
    type Stamp = P::Stamp;

    fn charge(&self, debt: &mut P::Debt, eta: f64) {
        self.base.charge(debt, eta);
    }
    #[inline(always)]
    fn stamp(&self, debt: &P::Debt) -> P::Stamp {
        self.base.stamp(debt)
    }
    #[inline(always)]
    fn catch_up(&self, w: F, debt: &P::Debt, seen: &P::Stamp) -> F {
        self.bounds.clamp(self.base.catch_up(w, debt, seen))
    }
    #[inline(always)]
    fn repeat(&self, w: F, eta: F, rounds: u64) -> F {
        self.bounds.clamp(self.base.repeat(w, eta, rounds))
    }
}

impl<P: Flat> Flat for Bounded<P> {
    fn l1(&self) -> f64 {
        self.base.l1()
    }
}

//! Past penalties linearized: a gradient step, then a proximal step.
//!
//! `v = w - eta_t g`, `w = prox_{eta'_t psi}(v)`. Between two visits a coordinate meets proximal steps only,
//! whose composition is closed ([`Lazy`]); it is caught up before it is read, which is what makes the
//! lazy form equal to the eager one.

use super::{Implicit, Rule};
use crate::metric::{AdaGrad, Metric};
use crate::penalty::{Candidate, CatchUp, Elastic, Lazy, Penalty, PerFeature};
use crate::share::{Merging, Parts, Share};
use crate::{Float, Schedule, State, Table, state::state};

/// FOBOS (Duchi and Singer 2009), COMID, and with no penalty plain SGD: steps that depend on the round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scheduled<P> {
    /// The penalty.
    pub penalty: P,
    /// `eta_t`
    pub schedule: Schedule,
    /// Which step the proximal half takes.
    pub half_step: HalfStep,
}

/// `eta'_t`, the step size of the proximal half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HalfStep {
    /// `eta_t`
    Same,
    /// `eta_{t+1}`
    Next,
}

/// A weight and what its penalty had charged at the last visit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Primal<F, Stamp> {
    w: F,
    seen: Stamp,
}

state!(Primal<F: Float, Stamp: State> { w, seen });

/// The round, its two steps, and all proximal steps so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ScheduledClock<Debt> {
    t: u64,
    eta: f64,
    half: f64,
    debt: Debt,
}

state!(ScheduledClock<Debt: State> { t, eta, half, debt });

impl<F: Float, P: CatchUp<F>> Rule<F> for Scheduled<P> {
    type Coord = Primal<F, P::Stamp>;
    type Clock = ScheduledClock<P::Debt>;

    fn tick(&self, now: &mut Self::Clock) {
        now.t += 1;
        now.eta = self.schedule.at(now.t);
        now.half = match self.half_step {
            HalfStep::Same => now.eta,
            HalfStep::Next => self.schedule.at(now.t + 1),
        };
        self.penalty.charge(&mut now.debt, now.half);
    }
    fn merging(&self) -> Result<&dyn Merging<Self::Coord, Self::Clock>, &'static str> {
        Ok(self)
    }
    #[inline(always)]
    fn played(&self, now: &Self::Clock, j: u32, c: &Self::Coord) -> F {
        self.penalty.catch_up(j, c.w, &now.debt, &c.seen)
    }
    #[inline(always)]
    fn absorb(&self, now: &mut Self::Clock, j: u32, c: &mut Self::Coord, w: F, g: F, _at: F) {
        c.w = self.penalty.of(j).prox(w - F::from_f64(now.eta) * g, F::from_f64(now.half));
        c.seen = self.penalty.stamp(&now.debt);
    }
}

/// A weight, paid up: the debt begins anew.
impl<F: Float, P: CatchUp<F>> Merging<Primal<F, P::Stamp>, ScheduledClock<P::Debt>>
    for Scheduled<P>
{
    fn shares(&self) -> &'static [Share] {
        &[Share::Mean]
    }
    fn rounds(&self, now: &ScheduledClock<P::Debt>) -> u64 {
        now.t
    }
    fn parts(&self, now: &ScheduledClock<P::Debt>, j: u32, c: &Primal<F, P::Stamp>) -> Parts {
        let w = self.penalty.catch_up(j, c.w, &now.debt, &c.seen);
        Parts { value: w.to_f64(), ..Parts::default() }
    }
    fn coordinate(&self, _t: u64, j: u32, parts: &Parts) -> Primal<F, P::Stamp> {
        // NUMERICS: a mean of weights inside of bounds may be outside in its last digit.
        let w = self.penalty.of(j).project(F::from_f64(parts.value));
        Primal { w, seen: self.penalty.stamp(&P::Debt::default()) }
    }
    fn clock(&self, t: u64, _table: &Table<Primal<F, P::Stamp>>) -> ScheduledClock<P::Debt> {
        // The next round sets its steps.
        ScheduledClock { t, ..ScheduledClock::default() }
    }
}

impl<F: Float, P: CatchUp<F, One: Elastic<F>>> Implicit<F> for Scheduled<P> {
    fn candidate(&self, now: &Self::Clock, j: u32, _c: &Self::Coord, w: F, _at: F) -> Candidate {
        let q = 1.0 / now.eta;
        self.penalty.of(j).candidate(-q * w.to_f64(), q, now.half / now.eta)
    }
}

/// AdaGrad-FOBOS (Duchi, Hazan and Singer 2011): steps that depend on the coordinate's own gradients.
///
/// A coordinate without a gradient keeps its step, so what it missed is the same step repeated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Adaptive<P> {
    /// The penalty.
    pub penalty: P,
    /// The steps.
    pub metric: AdaGrad,
}

/// A weight, its sum of squared gradients, and the round of the last visit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AdaptivePrimal<F> {
    w: F,
    sum: F,
    seen: u64,
}

state!(AdaptivePrimal<F: Float> { w, sum, seen });

impl<F: Float, P: PerFeature<F, One: Lazy<F>>> Rule<F> for Adaptive<P> {
    type Coord = AdaptivePrimal<F>;
    type Clock = u64;

    fn belongs(&self, now: &u64, c: &AdaptivePrimal<F>) -> bool {
        c.seen <= *now
    }
    fn tick(&self, now: &mut u64) {
        *now += 1;
    }
    fn merging(&self) -> Result<&dyn Merging<Self::Coord, Self::Clock>, &'static str> {
        Ok(self)
    }
    #[inline(always)]
    fn played(&self, now: &u64, j: u32, c: &AdaptivePrimal<F>) -> F {
        let q: F = self.metric.q(F::ZERO, &c.sum);
        self.penalty.of(j).repeat(c.w, F::ONE / q, now - c.seen)
    }
    #[inline(always)]
    fn absorb(&self, now: &mut u64, j: u32, c: &mut AdaptivePrimal<F>, w: F, g: F, at: F) {
        self.metric.absorb(&mut c.sum, at);
        let q: F = self.metric.q(F::ZERO, &c.sum);
        c.w = if q > F::ZERO { self.penalty.of(j).prox(w - g / q, F::ONE / q) } else { F::ZERO };
        c.seen = *now;
    }
}

/// The weight is averaged; the squares of the gradients add up.
impl<F: Float, P: PerFeature<F, One: Lazy<F>>> Merging<AdaptivePrimal<F>, u64> for Adaptive<P> {
    fn shares(&self) -> &'static [Share] {
        &[Share::Mean, Share::Sum]
    }
    fn rounds(&self, now: &u64) -> u64 {
        *now
    }
    fn parts(&self, now: &u64, j: u32, c: &AdaptivePrimal<F>) -> Parts {
        Parts { value: self.played(now, j, c).to_f64(), memory: c.sum.to_f64(), second: 0.0 }
    }
    fn coordinate(&self, t: u64, j: u32, parts: &Parts) -> AdaptivePrimal<F> {
        let w = self.penalty.of(j).project(F::from_f64(parts.value));
        AdaptivePrimal { w, sum: F::from_f64(parts.memory.max(0.0)), seen: t }
    }
    fn clock(&self, t: u64, _table: &Table<AdaptivePrimal<F>>) -> u64 {
        t
    }
}

impl<F: Float, P: PerFeature<F, One: Lazy<F> + Elastic<F>>> Implicit<F> for Adaptive<P> {
    fn candidate(&self, _now: &u64, j: u32, c: &AdaptivePrimal<F>, w: F, at: F) -> Candidate {
        let mut sum = c.sum;
        self.metric.absorb(&mut sum, at);
        let q: F = self.metric.q(F::ZERO, &sum);
        self.penalty.of(j).candidate(-(q * w).to_f64(), q.to_f64(), 1.0)
    }
}

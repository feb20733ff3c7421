//! Truncation of small weights, every `period` rounds (Langford, Li and Zhang 2009).
//!
//! A coordinate without gradients keeps its magnitude except at the rounds that are multiples of the period, so
//! the missed truncations follow from the number of these rounds, or from the sum of their steps.

use super::Rule;
use crate::share::{Merging, Parts, Share};
use crate::{Float, Schedule, Table, soft, state::state};

/// Simple truncation: `|w| <= theta` becomes 0 at every `period`-th round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Truncation {
    /// `eta_t`
    pub schedule: Schedule,
    /// `k`
    pub period: u64,
    /// Weights up to this magnitude are cut.
    pub theta: f64,
}

/// A weight and the round of its last visit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Visited<F> {
    w: F,
    seen: u64,
}

state!(Visited<F: Float> { w, seen });

/// The round, its step, and the last round so far in which weights were cut.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepClock {
    t: u64,
    eta: f64,
    cut: u64,
}

state!(StepClock { t, eta, cut });

impl Truncation {
    #[inline(always)]
    fn cut<F: Float>(&self, w: F) -> F {
        if w.abs() <= F::from_f64(self.theta) { F::ZERO } else { w }
    }
}

impl<F: Float> Rule<F> for Truncation {
    type Coord = Visited<F>;
    type Clock = StepClock;

    fn belongs(&self, now: &StepClock, c: &Visited<F>) -> bool {
        c.seen <= now.t
    }
    fn tick(&self, now: &mut StepClock) {
        now.t += 1;
        now.eta = self.schedule.at(now.t);
        if now.t.is_multiple_of(self.period) {
            now.cut = now.t;
        }
    }
    fn merging(&self) -> Result<&dyn Merging<Self::Coord, Self::Clock>, &'static str> {
        Ok(self)
    }
    #[inline(always)]
    fn played(&self, now: &StepClock, _j: u32, c: &Visited<F>) -> F {
        if c.seen < now.cut { self.cut(c.w) } else { c.w }
    }
    #[inline(always)]
    fn absorb(&self, now: &mut StepClock, _j: u32, c: &mut Visited<F>, w: F, g: F, _at: F) {
        let v = w - F::from_f64(now.eta) * g;
        c.w = if now.cut == now.t { self.cut(v) } else { v };
        c.seen = now.t;
    }
}

/// Truncated gradient: at every `period`-th round, `|w| <= theta` loses `eta_t period l1`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TruncatedGradient {
    /// `eta_t`
    pub schedule: Schedule,
    /// `k`
    pub period: u64,
    /// Weights beyond this magnitude are left alone; may be infinite.
    pub theta: f64,
    /// The gravity per round.
    pub l1: f64,
}

/// A weight and the gravity that had been charged at its last visit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pulled<F> {
    w: F,
    seen: F,
}

state!(Pulled<F: Float> { w, seen });

/// The round, its step, the gravity of this round and of all rounds so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GravityClock {
    t: u64,
    eta: f64,
    gravity: f64,
    total: f64,
}

state!(GravityClock { t, eta, gravity, total });

impl TruncatedGradient {
    #[inline(always)]
    fn pull<F: Float>(&self, w: F, gravity: F) -> F {
        if w.abs() <= F::from_f64(self.theta) { soft(w, gravity) } else { w }
    }
}

impl<F: Float> Rule<F> for TruncatedGradient {
    type Coord = Pulled<F>;
    type Clock = GravityClock;

    fn tick(&self, now: &mut GravityClock) {
        now.t += 1;
        now.eta = self.schedule.at(now.t);
        let due = now.t.is_multiple_of(self.period);
        // NUMERICS: with period 1 this is l1 * eta to the bit, so that FOBOS is this rule to the bit.
        now.gravity = if due { self.l1 * self.period as f64 * now.eta } else { 0.0 };
        now.total += now.gravity;
    }
    fn merging(&self) -> Result<&dyn Merging<Self::Coord, Self::Clock>, &'static str> {
        Ok(self)
    }
    #[inline(always)]
    fn played(&self, now: &GravityClock, _j: u32, c: &Pulled<F>) -> F {
        self.pull(c.w, F::from_f64(now.total) - c.seen)
    }
    #[inline(always)]
    fn absorb(&self, now: &mut GravityClock, _j: u32, c: &mut Pulled<F>, w: F, g: F, _at: F) {
        c.w = self.pull(w - F::from_f64(now.eta) * g, F::from_f64(now.gravity));
        c.seen = F::from_f64(now.total);
    }
}

impl<F: Float> Merging<Visited<F>, StepClock> for Truncation {
    fn shares(&self) -> &'static [Share] {
        &[Share::Mean]
    }
    fn rounds(&self, now: &StepClock) -> u64 {
        now.t
    }
    fn parts(&self, now: &StepClock, j: u32, c: &Visited<F>) -> Parts {
        Parts { value: self.played(now, j, c).to_f64(), ..Parts::default() }
    }
    fn coordinate(&self, t: u64, _j: u32, parts: &Parts) -> Visited<F> {
        Visited { w: F::from_f64(parts.value), seen: t }
    }
    fn clock(&self, t: u64, _table: &Table<Visited<F>>) -> StepClock {
        StepClock { t, ..StepClock::default() }
    }
}

impl<F: Float> Merging<Pulled<F>, GravityClock> for TruncatedGradient {
    fn shares(&self) -> &'static [Share] {
        &[Share::Mean]
    }
    fn rounds(&self, now: &GravityClock) -> u64 {
        now.t
    }
    fn parts(&self, now: &GravityClock, j: u32, c: &Pulled<F>) -> Parts {
        Parts { value: self.played(now, j, c).to_f64(), ..Parts::default() }
    }
    fn coordinate(&self, _t: u64, _j: u32, parts: &Parts) -> Pulled<F> {
        Pulled { w: F::from_f64(parts.value), seen: F::ZERO }
    }
    fn clock(&self, t: u64, _table: &Table<Pulled<F>>) -> GravityClock {
        GravityClock { t, ..GravityClock::default() }
    }
}

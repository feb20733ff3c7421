//! Averaged stochastic gradient descent (Polyak and Juditsky): the iterate is played, its mean is read.

use super::{Implicit, Rule};
use crate::penalty::Candidate;
use crate::share::{Merging, Parts, Share};
use crate::{Float, Schedule, Table, state::state};

/// ASGD: the mean of the weights after rounds `1..=t`. An untouched weight stands still, so its share of the
/// mean is known from the number of rounds it missed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Averaged {
    /// `eta_t`
    pub schedule: Schedule,
}

/// A weight, its mean over rounds `1..=seen`, and the round of the last visit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Mean<F> {
    w: F,
    mean: F,
    seen: u64,
}

state!(Mean<F: Float> { w, mean, seen });

/// The round and its step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AveragedClock {
    t: u64,
    eta: f64,
}

state!(AveragedClock { t, eta });

/// The mean over `t` rounds, if the weight stood still since `seen`.
fn mean_after<F: Float>(c: &Mean<F>, t: u64) -> F {
    if t == c.seen {
        return c.mean;
    }
    c.mean + (c.w - c.mean) * F::from_f64((t - c.seen) as f64 / t as f64)
}

impl<F: Float> Rule<F> for Averaged {
    type Coord = Mean<F>;
    type Clock = AveragedClock;

    fn belongs(&self, now: &AveragedClock, c: &Mean<F>) -> bool {
        c.seen <= now.t
    }
    fn tick(&self, now: &mut AveragedClock) {
        now.t += 1;
        now.eta = self.schedule.at(now.t);
    }
    fn merging(&self) -> Result<&dyn Merging<Self::Coord, Self::Clock>, &'static str> {
        Ok(self)
    }
    fn played(&self, _now: &AveragedClock, _j: u32, c: &Mean<F>) -> F {
        c.w
    }
    fn weight(&self, now: &AveragedClock, _j: u32, c: &Mean<F>) -> F {
        mean_after(c, now.t)
    }
    fn absorb(&self, now: &mut AveragedClock, _j: u32, c: &mut Mean<F>, w: F, g: F, _at: F) {
        let before = mean_after(c, now.t - 1);
        c.w = w - F::from_f64(now.eta) * g;
        c.mean = before + (c.w - before) * F::from_f64(1.0 / now.t as f64);
        c.seen = now.t;
    }
}

impl<F: Float> Implicit<F> for Averaged {
    fn candidate(&self, now: &AveragedClock, _j: u32, _c: &Mean<F>, w: F, _at: F) -> Candidate {
        let q = 1.0 / now.eta;
        Candidate { z: -q * w.to_f64(), q, l1: 0.0, bounds: None }
    }
}

impl<F: Float> Merging<Mean<F>, AveragedClock> for Averaged {
    fn shares(&self) -> &'static [Share] {
        &[Share::Mean, Share::Mean]
    }
    fn rounds(&self, now: &AveragedClock) -> u64 {
        now.t
    }
    fn parts(&self, now: &AveragedClock, _j: u32, c: &Mean<F>) -> Parts {
        Parts { value: c.w.to_f64(), memory: mean_after(c, now.t).to_f64(), second: 0.0 }
    }
    fn coordinate(&self, t: u64, _j: u32, parts: &Parts) -> Mean<F> {
        Mean { w: F::from_f64(parts.value), mean: F::from_f64(parts.memory), seen: t }
    }
    fn clock(&self, t: u64, _table: &Table<Mean<F>>) -> AveragedClock {
        AveragedClock { t, ..AveragedClock::default() }
    }
}

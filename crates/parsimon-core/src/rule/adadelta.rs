//! AdaDelta (Zeiler 2012). Without a gradient a weight stands still and its averages decay: a power of `rho`.

use super::Rule;
use crate::exponential::exp;
use crate::share::{Merging, Parts, Share};
use crate::{Float, Table, state::state};

/// AdaDelta without a penalty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdaDelta {
    /// A factor on the step, 1 in the paper.
    pub rate: f64,
    /// The decay of both averages.
    pub rho: f64,
    /// Added under both roots.
    pub epsilon: f64,
}

/// A weight, the averages of squared gradients and squared steps, and the round of the last visit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Deltas<F> {
    w: F,
    gradients: F,
    steps: F,
    seen: u64,
}

state!(Deltas<F: Float> { w, gradients, steps, seen });

/// The round, and the logarithm of the decay, which is asked for at every coordinate.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DecayClock {
    t: u64,
    ln_rho: f64,
}

state!(DecayClock { t, ln_rho });

impl<F: Float> Rule<F> for AdaDelta {
    type Coord = Deltas<F>;
    type Clock = DecayClock;

    fn belongs(&self, now: &DecayClock, c: &Deltas<F>) -> bool {
        c.seen <= now.t
    }
    fn tick(&self, now: &mut DecayClock) {
        now.t += 1;
        now.ln_rho = self.rho.ln();
    }
    fn merging(&self) -> Result<&dyn Merging<Self::Coord, Self::Clock>, &'static str> {
        Ok(self)
    }
    #[inline(always)]
    fn played(&self, _now: &DecayClock, _j: u32, c: &Deltas<F>) -> F {
        c.w
    }
    #[inline(always)]
    fn absorb(&self, now: &mut DecayClock, _j: u32, c: &mut Deltas<F>, w: F, g: F, _at: F) {
        // Without a missed round nothing decays, even if rho is 0.
        let missed = (now.t - 1 - c.seen) as f64;
        let decay = if missed > 0.0 { exp(now.ln_rho * missed) } else { 1.0 };
        let (decay, rho) = (F::from_f64(decay), F::from_f64(self.rho));
        let epsilon = F::from_f64(self.epsilon);
        c.gradients = rho * (c.gradients * decay) + (F::ONE - rho) * g * g;
        let steps = c.steps * decay;
        let d = -((steps + epsilon).sqrt() / (c.gradients + epsilon).sqrt()) * g;
        c.steps = rho * steps + (F::ONE - rho) * d * d;
        c.w = w + F::from_f64(self.rate) * d;
        c.seen = now.t;
    }
}

impl<F: Float> Merging<Deltas<F>, DecayClock> for AdaDelta {
    fn shares(&self) -> &'static [Share] {
        &[Share::Mean; 3]
    }
    fn rounds(&self, now: &DecayClock) -> u64 {
        now.t
    }
    fn parts(&self, now: &DecayClock, _j: u32, c: &Deltas<F>) -> Parts {
        let decay = exp(self.rho.ln() * (now.t - c.seen) as f64);
        Parts {
            value: c.w.to_f64(),
            memory: c.gradients.to_f64() * decay,
            second: c.steps.to_f64() * decay,
        }
    }
    fn coordinate(&self, t: u64, _j: u32, parts: &Parts) -> Deltas<F> {
        let gradients = F::from_f64(parts.memory.max(0.0));
        let steps = F::from_f64(parts.second.max(0.0));
        Deltas { w: F::from_f64(parts.value), gradients, steps, seen: t }
    }
    fn clock(&self, t: u64, _table: &Table<Deltas<F>>) -> DecayClock {
        DecayClock { t, ..DecayClock::default() }
    }
}

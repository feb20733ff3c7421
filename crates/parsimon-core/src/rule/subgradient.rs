//! Subgradient descent on loss plus `l1 |w|`: `w <- w - eta (g + l1 sgn(w))`.
//!
//! For comparison: it never gives a zero. Near zero an untouched weight jumps from side to side with steps that
//! shrink, which has a closed form only for a constant step; for the other schedules a visit replays the rounds missed
//! once the weight has come close. A run costs no more than an eager one; a visit is not O(1).

use super::Rule;
use crate::share::{Merging, Parts, Share};
use crate::{Float, Schedule, Table, state::state};

/// Subgradient descent with l1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Subgradient {
    /// `eta_t`
    pub schedule: Schedule,
    /// The strength.
    pub l1: f64,
}

/// A weight and the round of its last visit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Replayed<F> {
    w: F,
    seen: u64,
}

state!(Replayed<F: Float> { w, seen });

fn sign<F: Float>(w: F) -> F {
    if w == F::ZERO { F::ZERO } else { F::ONE.copysign(w) }
}

impl<F: Float> Rule<F> for Subgradient {
    type Coord = Replayed<F>;
    type Clock = u64;

    fn belongs(&self, now: &u64, c: &Replayed<F>) -> bool {
        c.seen <= *now
    }
    fn tick(&self, now: &mut u64) {
        *now += 1;
    }
    fn merging(&self) -> Result<&dyn Merging<Self::Coord, Self::Clock>, &'static str> {
        Ok(self)
    }
    fn played(&self, now: &u64, _j: u32, c: &Replayed<F>) -> F {
        let mut w = c.w;
        if self.l1 == 0.0 || w == F::ZERO {
            return w;
        }
        let mut from = c.seen;
        if let Schedule::Constant { rate } = self.schedule {
            // Until it crosses zero it loses one step per round; then it repeats with period two.
            let step = rate * self.l1;
            let straight = ((w.abs().to_f64() / step).floor() as u64).min(now - from);
            w = (w.abs() - F::from_f64(straight as f64 * step)).max(F::ZERO).copysign(w);
            from += straight;
            from += (now - from) / 2 * 2;
        }
        for t in from + 1..=*now {
            if w == F::ZERO {
                break;
            }
            w -= F::from_f64(self.schedule.at(t) * self.l1) * sign(w);
        }
        w
    }
    fn absorb(&self, now: &mut u64, _j: u32, c: &mut Replayed<F>, w: F, g: F, _at: F) {
        let eta = self.schedule.at(*now);
        c.w = w - F::from_f64(eta) * g - F::from_f64(eta * self.l1) * sign(w);
        c.seen = *now;
    }
}

impl<F: Float> Merging<Replayed<F>, u64> for Subgradient {
    fn shares(&self) -> &'static [Share] {
        &[Share::Mean]
    }
    fn rounds(&self, now: &u64) -> u64 {
        *now
    }
    fn parts(&self, now: &u64, j: u32, c: &Replayed<F>) -> Parts {
        Parts { value: self.played(now, j, c).to_f64(), ..Parts::default() }
    }
    fn coordinate(&self, t: u64, _j: u32, parts: &Parts) -> Replayed<F> {
        Replayed { w: F::from_f64(parts.value), seen: t }
    }
    fn clock(&self, t: u64, _table: &Table<Replayed<F>>) -> u64 {
        t
    }
}

//! Adam (Kingma and Ba 2015), exact on sparse rows.
//!
//! A coordinate without gradient still moves, by its decaying first moment. The moves fall at least as fast as
//! `(beta1/sqrt(beta2))^k` until the moments vanish against `epsilon`, so that after a few hundred missed rounds
//! they no longer change the weight: a visit replays the missed rounds up to there.

use super::Rule;
use crate::share::{Merging, Parts, Share};
use crate::{Float, Table, state::state};

/// Adam without a penalty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Adam {
    /// `eta`
    pub rate: f64,
    /// The decay of the first moment.
    pub beta1: f64,
    /// The decay of the second moment.
    pub beta2: f64,
    /// Added to the root of the second moment.
    pub epsilon: f64,
}

/// A weight, its moments, and the round of its last visit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moments<F> {
    w: F,
    m: F,
    v: F,
    seen: u64,
}

state!(Moments<F: Float> { w, m, v, seen });

/// A coordinate's numbers in the middle of catching up, with the powers of the decays at its round.
struct Replay {
    w: f64,
    m: f64,
    v: f64,
    beta1_t: f64,
    beta2_t: f64,
}

impl Adam {
    /// One round: decays the moments, takes `g` in, and moves. Returns the move.
    fn round(&self, c: &mut Replay, g: f64) -> f64 {
        c.beta1_t *= self.beta1;
        c.beta2_t *= self.beta2;
        c.m = self.beta1 * c.m + (1.0 - self.beta1) * g;
        c.v = self.beta2 * c.v + (1.0 - self.beta2) * g * g;
        let m_hat = c.m / (1.0 - c.beta1_t);
        let v_hat = c.v / (1.0 - c.beta2_t);
        let step =
            if m_hat == 0.0 { 0.0 } else { self.rate * m_hat / (v_hat.sqrt() + self.epsilon) };
        c.w -= step;
        step
    }

    /// Weight and moments after round `t`, if rounds `seen+1..=t` brought no gradient.
    fn caught_up<F: Float>(&self, c: &Moments<F>, t: u64) -> Replay {
        let mut state = Replay {
            w: c.w.to_f64(),
            m: c.m.to_f64(),
            v: c.v.to_f64(),
            beta1_t: self.beta1.powf(c.seen as f64),
            beta2_t: self.beta2.powf(c.seen as f64),
        };
        let digit = F::PRECISION.epsilon() / 64.0;
        let mut s = c.seen;
        while s < t && state.m != 0.0 {
            s += 1;
            let step = self.round(&mut state, 0.0);
            // What is still to come is at most a small multiple of this step: less than the weight's last digit.
            let vanishing = step.abs() <= digit * state.w.abs() || step.abs() < 1e-300;
            if vanishing && self.beta1 * self.beta1 < self.beta2 {
                break;
            }
        }
        let rest = (t - s) as f64;
        if rest > 0.0 {
            let (decay1, decay2) = (self.beta1.powf(rest), self.beta2.powf(rest));
            state.m *= decay1;
            state.v *= decay2;
            state.beta1_t *= decay1;
            state.beta2_t *= decay2;
        }
        state
    }
}

impl<F: Float> Rule<F> for Adam {
    type Coord = Moments<F>;
    type Clock = u64;

    fn belongs(&self, now: &u64, c: &Moments<F>) -> bool {
        c.seen <= *now
    }
    fn tick(&self, now: &mut u64) {
        *now += 1;
    }
    fn merging(&self) -> Result<&dyn Merging<Self::Coord, Self::Clock>, &'static str> {
        Ok(self)
    }
    fn played(&self, now: &u64, _j: u32, c: &Moments<F>) -> F {
        F::from_f64(self.caught_up(c, *now).w)
    }
    fn absorb(&self, now: &mut u64, _j: u32, c: &mut Moments<F>, _w: F, g: F, _at: F) {
        let mut state = self.caught_up(c, *now - 1);
        self.round(&mut state, g.to_f64());
        let Replay { w, m, v, .. } = state;
        *c = Moments { w: F::from_f64(w), m: F::from_f64(m), v: F::from_f64(v), seen: *now };
    }
}

impl<F: Float> Merging<Moments<F>, u64> for Adam {
    fn shares(&self) -> &'static [Share] {
        &[Share::Mean; 3]
    }
    fn rounds(&self, now: &u64) -> u64 {
        *now
    }
    fn parts(&self, now: &u64, c: &Moments<F>) -> Parts {
        let Replay { w, m, v, .. } = self.caught_up(c, *now);
        [w, m, v]
    }
    fn coordinate(&self, t: u64, &[w, m, v]: &Parts) -> Moments<F> {
        let v = F::from_f64(v.max(0.0));
        Moments { w: F::from_f64(w), m: F::from_f64(m), v, seen: t }
    }
    fn clock(&self, t: u64, _table: &Table<Moments<F>>) -> u64 {
        t
    }
}

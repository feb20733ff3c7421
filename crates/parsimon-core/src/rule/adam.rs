//! Adam (Kingma and Ba 2015), exact on sparse rows.
//!
//! A coordinate without gradient still moves, by its decaying first moment. The moves fall at least as fast as
//! `(beta1/sqrt(beta2))^k` until the moments vanish against `epsilon`, so that after a few hundred missed rounds
//! they no longer change the weight: a visit replays the missed rounds up to there.

use super::Rule;
use crate::{Float, state::state};

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

impl Adam {
    /// One round: decays the moments, takes `g` in, and moves. Returns the move.
    fn round(&self, t: u64, c: &mut (f64, f64, f64), g: f64) -> f64 {
        let (w, m, v) = c;
        *m = self.beta1 * *m + (1.0 - self.beta1) * g;
        *v = self.beta2 * *v + (1.0 - self.beta2) * g * g;
        let t = t as f64;
        let m_hat = *m / (1.0 - self.beta1.powf(t));
        let v_hat = *v / (1.0 - self.beta2.powf(t));
        let step =
            if m_hat == 0.0 { 0.0 } else { self.rate * m_hat / (v_hat.sqrt() + self.epsilon) };
        *w -= step;
        step
    }

    /// Weight and moments after round `t`, if rounds `seen+1..=t` brought no gradient.
    fn caught_up<F: Float>(&self, c: &Moments<F>, t: u64) -> (f64, f64, f64) {
        let mut state = (c.w.to_f64(), c.m.to_f64(), c.v.to_f64());
        let mut s = c.seen;
        while s < t && state.1 != 0.0 {
            s += 1;
            let step = self.round(s, &mut state, 0.0);
            // What is still to come is at most a small multiple of this step.
            let vanishing =
                step.abs() <= f64::EPSILON * 1e-4 * state.0.abs() || step.abs() < 1e-300;
            if vanishing && self.beta1 * self.beta1 < self.beta2 {
                break;
            }
        }
        let rest = (t - s) as f64;
        state.1 *= self.beta1.powf(rest);
        state.2 *= self.beta2.powf(rest);
        state
    }
}

impl<F: Float> Rule<F> for Adam {
    type Coord = Moments<F>;
    type Clock = u64;

    fn tick(&self, now: &mut u64) {
        *now += 1;
    }
    fn played(&self, now: &u64, _j: u32, c: &Moments<F>) -> F {
        F::from_f64(self.caught_up(c, *now).0)
    }
    fn absorb(&self, now: &mut u64, _j: u32, c: &mut Moments<F>, _w: F, g: F, _at: F) {
        let mut state = self.caught_up(c, *now - 1);
        self.round(*now, &mut state, g.to_f64());
        let (w, m, v) = state;
        *c = Moments { w: F::from_f64(w), m: F::from_f64(m), v: F::from_f64(v), seen: *now };
    }
}

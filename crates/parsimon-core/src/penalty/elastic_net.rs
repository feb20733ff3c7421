//! `l1 |w| + l2/2 w^2`.

use super::{Candidate, Elastic, Lazy, Penalty, Times, soft};
use crate::exponential::exp;
use crate::{Float, state::state};

/// `psi(w) = l1 |w| + l2/2 w^2`.
///
/// One proximal step of size `eta` is `|w| -> s (|w| - eta l1)` with `s = 1/(1 + eta l2)`, so a
/// sequence of them is `|w| -> S|w| - b` with `S` the product of the `s`.
///
/// The total keeps `-ln S` instead of `S`: on an endless stream the product underflows, its logarithm
/// grows like the sum of the steps and never needs re-basing (Lipton and Elkan 2015 keep the products).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ElasticNet {
    /// The strength of `|w|`.
    pub l1: f64,
    /// The strength of `w^2/2`.
    pub l2: f64,
}

/// The running composition of elastic-net steps: `|w| -> e^(-decay) |w| - shift`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ElasticDebt {
    decay: f64,
    shift: f64,
}

state!(ElasticDebt { decay, shift });

impl<F: Float> Penalty<F> for ElasticNet {
    fn free() -> Self {
        Self { l1: 0.0, l2: 0.0 }
    }
    #[inline(always)]
    fn argmin(&self, z: F, q: F, amount: F) -> F {
        let over = z.abs() - amount * F::from_f64(self.l1);
        let den = q + amount * F::from_f64(self.l2);
        let magnitude = if over > F::ZERO && den > F::ZERO { over / den } else { F::ZERO };
        if z > F::ZERO { -magnitude } else { magnitude }
    }
    #[inline(always)]
    fn prox(&self, v: F, eta: F) -> F {
        soft(v, eta * F::from_f64(self.l1)) / (F::ONE + eta * F::from_f64(self.l2))
    }
}

impl<F: Float> Elastic<F> for ElasticNet {
    fn candidate(&self, z: f64, q: f64, amount: f64) -> Candidate {
        Candidate { z, q: q + amount * self.l2, l1: amount * self.l1, bounds: None }
    }
}

impl Times for ElasticNet {
    #[inline(always)]
    fn times(self, factor: f64) -> Self {
        Self { l1: factor * self.l1, l2: factor * self.l2 }
    }
}

impl<F: Float> Lazy<F> for ElasticNet {
    type Debt = ElasticDebt;
    type Stamp = ElasticDebt;

    fn charge(&self, debt: &mut ElasticDebt, eta: f64) {
        debt.decay += (eta * self.l2).ln_1p();
        debt.shift = (debt.shift + eta * self.l1) / (1.0 + eta * self.l2);
    }
    #[inline(always)]
    fn stamp(&self, debt: &ElasticDebt) -> ElasticDebt {
        *debt
    }
    #[inline(always)]
    fn catch_up(&self, w: F, debt: &ElasticDebt, seen: &ElasticDebt) -> F {
        let scale = exp(seen.decay - debt.decay);
        soft(w * F::from_f64(scale), F::from_f64(debt.shift - scale * seen.shift))
    }
    // NUMERICS: with s = 1/(1 + eta l2), the shifts sum to l1/l2 (1 - s^n); for l2 -> 0 that is
    // n eta l1. `exp_m1` keeps the digits on the way there.
    fn repeat(&self, w: F, eta: F, rounds: u64) -> F {
        let (eta, n) = (eta.to_f64(), rounds as f64);
        if self.l2 == 0.0 {
            return soft(w, F::from_f64(n * eta * self.l1));
        }
        let decay = n * (eta * self.l2).ln_1p();
        let shift = -(-decay).exp_m1() * self.l1 / self.l2;
        soft(w * F::from_f64((-decay).exp()), F::from_f64(shift))
    }
}

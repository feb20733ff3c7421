//! `l1 |w|`.

use super::{Candidate, Elastic, ElasticNet, Flat, Lazy, Penalty, Times, soft};
use crate::Float;

/// `psi(w) = l1 |w|`, for proximal steps. Steps add up: the debt is `l1` times the sum of their sizes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct L1 {
    /// The strength.
    pub l1: f64,
}

impl<F: Float> Penalty<F> for L1 {
    fn free() -> Self {
        Self { l1: 0.0 }
    }
    #[inline(always)]
    fn argmin(&self, z: F, q: F, amount: F) -> F {
        ElasticNet { l1: self.l1, l2: 0.0 }.argmin(z, q, amount)
    }
    #[inline(always)]
    fn prox(&self, v: F, eta: F) -> F {
        soft(v, eta * F::from_f64(self.l1))
    }
}

impl<F: Float> Elastic<F> for L1 {
    fn candidate(&self, z: f64, q: f64, amount: f64) -> Candidate {
        Candidate { z, q, l1: amount * self.l1, bounds: None }
    }
}

impl Times for L1 {
    #[inline(always)]
    fn times(self, factor: f64) -> Self {
        Self { l1: factor * self.l1 }
    }
}

impl<F: Float> Lazy<F> for L1 {
    type Debt = f64;
    type Stamp = F;

    fn charge(&self, debt: &mut f64, eta: f64) {
        *debt += self.l1 * eta;
    }
    #[inline(always)]
    fn stamp(&self, debt: &f64) -> F {
        F::from_f64(*debt)
    }
    // NUMERICS: both totals are rounded to F before the subtraction, so that a coordinate that
    // missed nothing loses exactly nothing.
    #[inline(always)]
    fn catch_up(&self, w: F, debt: &f64, seen: &F) -> F {
        soft(w, F::from_f64(*debt) - *seen)
    }
    #[inline(always)]
    fn repeat(&self, w: F, eta: F, rounds: u64) -> F {
        soft(w, eta * F::from_f64(self.l1) * F::from_f64(rounds as f64))
    }
}

impl Flat for L1 {
    fn l1(&self) -> f64 {
        self.l1
    }
}

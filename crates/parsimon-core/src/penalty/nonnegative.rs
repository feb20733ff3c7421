//! `l1 w + l2/2 w^2` for weights that are not negative.

use super::{Bounds, Candidate, ElasticNet, Lazy, Penalty};
use crate::Float;

/// `psi(w) = l1 w + l2/2 w^2` for `w >= 0`, infinite below.
///
/// The penalty has no kink, so a minimizer is the vertex of a parabola, or the floor if that is higher. Between two visits a weight
/// meets proximal steps only: each shrinks it and then projects. Shrinking stops at zero, so no projection acts, and the missed
/// steps are those of the elastic net on a weight that is not negative.
///
/// The floor is zero, or minus infinity where the penalty is [free](Penalty::free).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nonnegative {
    net: ElasticNet,
    floor: f64,
}

impl Nonnegative {
    /// The penalty of these strengths.
    pub fn new(l1: f64, l2: f64) -> Self {
        Self { net: ElasticNet { l1, l2 }, floor: 0.0 }
    }

    #[inline(always)]
    fn above_floor<F: Float>(&self, w: F) -> F {
        let floor = F::from_f64(self.floor);
        if w < floor { floor } else { w }
    }
}

impl<F: Float> Penalty<F> for Nonnegative {
    fn free() -> Self {
        Self { floor: f64::NEG_INFINITY, ..Self::new(0.0, 0.0) }
    }
    #[inline(always)]
    fn argmin(&self, z: F, q: F, amount: F) -> F {
        let den = q + amount * F::from_f64(self.net.l2);
        let vertex = -(z + amount * F::from_f64(self.net.l1)) / den;
        self.above_floor(if den > F::ZERO { vertex } else { F::ZERO })
    }
    #[inline(always)]
    fn prox(&self, v: F, eta: F) -> F {
        let over = v - eta * F::from_f64(self.net.l1);
        self.above_floor(over / (F::ONE + eta * F::from_f64(self.net.l2)))
    }
    fn candidate(&self, z: f64, q: f64, amount: f64) -> Candidate {
        let bounds = Penalty::<F>::bounds(self);
        Candidate { bounds, ..Penalty::<F>::candidate(&self.net, z, q, amount) }
    }
    #[inline(always)]
    fn bounds(&self) -> Option<Bounds> {
        Some(if self.floor < 0.0 { Bounds::NONE } else { Bounds::NONNEGATIVE })
    }
    #[inline(always)]
    fn project(&self, w: F) -> F {
        self.above_floor(w)
    }
}

impl<F: Float> Lazy<F> for Nonnegative {
    type Debt = <ElasticNet as Lazy<F>>::Debt;
    type Stamp = <ElasticNet as Lazy<F>>::Stamp;

    fn charge(&self, debt: &mut Self::Debt, eta: f64) {
        Lazy::<F>::charge(&self.net, debt, eta);
    }
    #[inline(always)]
    fn stamp(&self, debt: &Self::Debt) -> Self::Stamp {
        Lazy::<F>::stamp(&self.net, debt)
    }
    #[inline(always)]
    fn catch_up(&self, w: F, debt: &Self::Debt, seen: &Self::Stamp) -> F {
        self.net.catch_up(w, debt, seen)
    }
    #[inline(always)]
    fn repeat(&self, w: F, eta: F, rounds: u64) -> F {
        self.net.repeat(w, eta, rounds)
    }
}

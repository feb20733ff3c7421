//! Penalties by feature.

use super::{Lazy, Penalty};
use crate::{Float, State};

/// The penalty of every feature: `of(j).prox(value, step)`. A [`Penalty`] is the penalty of all of them.
pub trait PerFeature<F: Float>: Clone + Send + Sync + 'static {
    /// The penalty of one feature.
    type One: Penalty<F>;
    /// The penalty of feature `j`.
    fn of(&self, j: u32) -> Self::One;
    /// No penalty for any feature: the penalty of a bias.
    fn none() -> Self;
}

impl<F: Float, P: Penalty<F>> PerFeature<F> for P {
    type One = P;
    #[inline(always)]
    fn of(&self, _j: u32) -> P {
        *self
    }
    fn none() -> Self {
        P::free()
    }
}

/// Penalties whose missed proximal steps are caught up from one running total for all features ([`Lazy::Debt`]).
pub trait CatchUp<F: Float>: PerFeature<F, One: Lazy<F>> {
    /// The running total of all proximal steps so far, of a feature with the factor 1.
    type Debt: State + Copy + Send + Sync;
    /// The part of it that a coordinate remembers from its last visit.
    type Stamp: State + Copy + Send + Sync;

    /// Adds a proximal step of size `eta` to the total.
    fn charge(&self, debt: &mut Self::Debt, eta: f64);
    /// The total as a coordinate remembers it.
    fn stamp(&self, debt: &Self::Debt) -> Self::Stamp;
    /// Returns the weight of feature `j` after the steps since `seen`.
    fn catch_up(&self, j: u32, w: F, debt: &Self::Debt, seen: &Self::Stamp) -> F;
}

impl<F: Float, P: Lazy<F>> CatchUp<F> for P {
    type Debt = P::Debt;
    type Stamp = P::Stamp;

    fn charge(&self, debt: &mut P::Debt, eta: f64) {
        Lazy::charge(self, debt, eta);
    }
    #[inline(always)]
    fn stamp(&self, debt: &P::Debt) -> P::Stamp {
        Lazy::stamp(self, debt)
    }
    #[inline(always)]
    fn catch_up(&self, _j: u32, w: F, debt: &P::Debt, seen: &P::Stamp) -> F {
        Lazy::catch_up(self, w, debt, seen)
    }
}

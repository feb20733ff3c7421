//! (B) The penalties that act on one coordinate at a time.
//!
//! A leader needs a penalty's minimizer ([`Penalty`]). The mirror rules also need the effect of missed proximal steps on a weight
//! ([`Lazy`]): a proximal step with zero gradient only shrinks a weight's magnitude, `|w| -> max(0, s|w| - b)`. Any number of such
//! steps has that form again, so that an untouched coordinate can be caught up in O(1) from a running total ([`Lazy::Debt`])
//! and the total at its last visit. Rules whose metric grows on every round need a penalty without curvature ([`Flat`]).
//!
//! | penalty | `psi(w)` | has |
//! | --- | --- | --- |
//! | [`L1`] | `l1 abs(w)` | `Lazy`, `Flat` |
//! | [`ElasticNet`] | `l1 abs(w) + l2/2 w^2` | `Lazy` |
//! | [`Bounded`] | another penalty, infinite outside of an interval | what the other has |
//! | [`nonnegative`] | another penalty, infinite below zero | what the other has |
//! | [`Weighted`] | another penalty times the factor of the feature | a penalty for every feature ([`PerFeature`]) |
//!
//! Rules ask for the penalty of a feature ([`PerFeature::of`]). An elastic net, with or without bounds, can also be solved together
//! with other coordinates and merged ([`Elastic`]).

mod bounded;
mod bounds;
mod candidate;
mod elastic_net;
mod l1;
mod nonnegative;
mod per_feature;
mod weighted;

pub use bounded::Bounded;
pub use bounds::Bounds;
pub use candidate::Candidate;
pub use elastic_net::ElasticNet;
pub use l1::L1;
pub use nonnegative::nonnegative;
pub use per_feature::{CatchUp, PerFeature};
pub use weighted::{Factors, Times, Weighted};

use crate::{Float, State};

/// `sgn(v) max(|v| - c, 0)`: the proximal step of `c|w|`.
///
/// ```
/// use parsimon_core::soft;
/// assert_eq!([soft(3.0, 1.0), soft(-3.0, 1.0), soft(0.5, 1.0)], [2.0, -2.0, 0.0]);
/// ```
#[inline(always)]
pub fn soft<F: Float>(v: F, c: F) -> F {
    let over = v.abs() - c;
    if over > F::ZERO { over.copysign(v) } else { F::ZERO }
}

/// A convex function `psi` of one weight, least at zero, which may be infinite outside of an interval around zero.
pub trait Penalty<F: Float>: Copy + Send + Sync + 'static {
    /// The penalty of this type that is zero everywhere: the penalty of a bias.
    fn free() -> Self;
    /// `argmin_w z w + amount psi(w) + q/2 w^2`.
    ///
    /// Zero where the quadratic vanishes: there the coordinate has no gradient yet.
    fn argmin(&self, z: F, q: F, amount: F) -> F;
    /// One proximal step: `argmin_w (w - v)^2 / (2 eta) + psi(w)`.
    fn prox(&self, v: F, eta: F) -> F;
    /// The weights allowed; `None` from a type of penalties that are finite everywhere.
    #[inline(always)]
    fn bounds(&self) -> Option<Bounds> {
        None
    }
    /// Returns the nearest allowed weight.
    #[inline(always)]
    fn project(&self, w: F) -> F {
        self.bounds().map_or(w, |bounds| bounds.clamp(w))
    }
}

/// An elastic net, perhaps with bounds: its problem is a few numbers, which implicit updates solve together with those of other
/// coordinates, and which merging splits into weight and subgradient.
pub trait Elastic<F: Float>: Penalty<F> {
    /// The problem of [`argmin`](Penalty::argmin) with the penalty's strengths put in.
    fn candidate(&self, z: f64, q: f64, amount: f64) -> Candidate;
}

/// A penalty whose proximal steps compose: the one thing lazy forward-backward splitting needs.
///
/// Weights that are caught up are results of a proximal step, so they are inside of the penalty's bounds.
pub trait Lazy<F: Float>: Penalty<F> {
    /// The running total of all proximal steps so far.
    type Debt: State + Copy + Send + Sync;
    /// The part of it a coordinate remembers from its last visit.
    type Stamp: State + Copy + Send + Sync;

    /// Adds a proximal step of size `eta` to the total.
    fn charge(&self, debt: &mut Self::Debt, eta: f64);
    /// The total as a coordinate remembers it.
    fn stamp(&self, debt: &Self::Debt) -> Self::Stamp;
    /// Returns a weight after the steps since `seen` in which its feature did not occur.
    fn catch_up(&self, w: F, debt: &Self::Debt, seen: &Self::Stamp) -> F;
    /// Returns the weight after `rounds` steps of equal size.
    fn repeat(&self, w: F, eta: F, rounds: u64) -> F;
}

/// Promise: inside of its bounds the penalty is `l1 |w|`, without curvature.
///
/// Then a round takes the same amount from a coordinate's dual for any weight, and rules whose metric grows on every round have
/// a closed form for missed rounds.
#[diagnostic::on_unimplemented(
    message = "the penalty `{Self}` has a curvature",
    note = "missed rounds have no closed form with a curvature; use `L1` or `Bounded<L1>`"
)]
pub trait Flat {
    /// The strength of `|w|`.
    fn l1(&self) -> f64;
}

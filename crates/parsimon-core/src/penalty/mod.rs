//! (B) The penalties that act on one coordinate at a time.
//!
//! A proximal step with zero gradient only shrinks a weight's magnitude: `|w| -> max(0, s|w| - b)`.
//! Any number of such steps is again one of that form, so that a coordinate nobody touches can be
//! caught up in O(1) from a running total ([`Penalty::Debt`]) and the total it had paid at its last visit.

mod elastic_net;
mod l1;

pub use elastic_net::ElasticNet;
pub use l1::L1;

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

/// A penalty whose proximal steps compose: the one thing lazy forward-backward splitting needs.
pub trait Penalty<F: Float>: Copy + Send + Sync + 'static {
    /// The running total of all proximal steps so far.
    type Debt: State + Copy + Send;
    /// The part of it a coordinate remembers from its last visit.
    type Stamp: State + Copy + Send;

    /// Adds a proximal step of size `eta` to the total.
    fn charge(&self, debt: &mut Self::Debt, eta: f64);
    /// The total as a coordinate remembers it.
    fn stamp(&self, debt: &Self::Debt) -> Self::Stamp;
    /// What the steps since `seen` make of a weight that nobody touched.
    fn catch_up(&self, w: F, debt: &Self::Debt, seen: &Self::Stamp) -> F;
    /// What `rounds` steps of one and the same size make of it.
    fn repeat(&self, w: F, eta: F, rounds: u64) -> F;
    /// One proximal step: `argmin_w (w - v)^2 / (2 eta) + psi(w)`.
    fn prox(&self, v: F, eta: F) -> F;
    /// The strengths of `|w|` and `w^2/2`.
    fn strengths(&self) -> (f64, f64);
}

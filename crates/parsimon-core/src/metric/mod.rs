//! (C) The stabilizing quadratic: its weight `q_{1:t}` on one coordinate.

mod adagrad;
mod pace;

pub use adagrad::AdaGrad;
pub use pace::{Global, Pace};

use crate::{Float, State};

/// The weight `q` of the quadratic `q/2 w^2` on one coordinate.
pub trait Metric<F: Float>: Copy + Send + Sync + 'static {
    /// State of the metric for one coordinate.
    type Memory: State + Copy + Send + Sync;

    /// The part of `q` that depends on the round alone; asked once per round.
    fn pace(&self, t: u64) -> f64;
    /// `q` of a coordinate with this state.
    fn q(&self, pace: F, memory: &Self::Memory) -> F;
    /// The state as a sum that learners can add; zero for a metric without state.
    fn sum(&self, memory: &Self::Memory) -> f64;
    /// The horizon of that sum.
    fn memory(&self, sum: f64) -> Self::Memory;
    /// `integral dn/q(n)` while the sum of squares grows: of a correction that is due, the gradients of those rows leave
    /// `e^-overlap` undone. `None` where squares are not remembered.
    fn overlap(&self, _from: f64, _to: f64) -> Option<f64> {
        None
    }
    /// Takes note of a gradient.
    fn absorb(&self, memory: &mut Self::Memory, g: F);
}

/// Promise: `q` stands still on every coordinate whose gradient is zero.
///
/// Only then can a rule that adds `(q_t - q_{t-1}) w_t` on every round be lazy.
#[diagnostic::on_unimplemented(
    message = "the metric `{Self}` changes on coordinates without a gradient",
    note = "a quadratic centered at the iterate would have to be added for every coordinate on every \
            round; use `Proximal`, which has the closed form for a schedule"
)]
pub trait Quiet {}

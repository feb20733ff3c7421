//! Dense vector methods: the step is a projection, or the metric looks at every weight.
//!
//! With `X = [x_t .. x_{t-r+1}]` the last `r` regressors, `y` their targets, `Q` a diagonal metric and `e = X^T w - y`:
//!
//! | method | step | file |
//! | --- | --- | --- |
//! | LMS | `w -= eta e x` | [`lms`] |
//! | NLMS | `w -= eta e x / (x.x + delta)` | [`projection`] |
//! | APA | `w -= eta X (X^T X + delta I)^-1 e` | [`projection`] |
//! | PAPA | `g = Q^-1 X (X^T Q^-1 X + delta I)^-1 e`, `w -= eta g` | [`projection`] |
//! | APFBS | `w = soft(w - eta g, eta l1 q)` | [`projection`] |
//! | PDA | `s += g`, `w = soft(-eta s, eta l1 q)` | [`projection`] |
//! | PNLMS, IPNLMS | `w -= eta e k x / (x.(k x) + delta)` | [`proportionate`] |
//! | RLS | `w` is the ridge solution of all rows | [`rls`] |
//!
//! A [`Method`] sees regressors as slices. Two things feed it: a delay line, sample by sample ([`Tapped`], for
//! signals), and rows of a chunk ([`OverRows`], for tables; the whole family of [`Online`](crate::Online) learners
//! is then available to it). A round costs `O(r n + r^2 n)`, RLS `O(n^2)`; nothing is allocated after the first.

pub mod lms;
pub mod metric;
pub mod projection;
pub mod proportionate;
pub mod rls;

mod line;
mod rows;
mod solve;
mod tapped;

pub use rows::OverRows;
pub use tapped::{Filter, Tapped};

use crate::Float;
use crate::state::{StateError, StateWriter};

/// Input of a round: the last regressors and their targets, the newest first.
pub trait Past<F: Float> {
    /// Number of regressors, at least 1 and at most the method's order.
    fn len(&self) -> usize;
    /// Whether there are no regressors; a method always gets at least one.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The number of this round, from 1: regressor `c` was the newest in round `round - c`.
    fn round(&self) -> u64;
    /// The regressor `c` rounds ago.
    fn regressor(&self, c: usize) -> &[F];
    /// Its target.
    fn target(&self, c: usize) -> F;
    /// `x.x` of the newest regressor.
    fn energy(&self) -> F;
    /// Long average of `x.x`, for regularization that scales with the signal.
    fn usual_energy(&self) -> F;
}

/// A method over dense vectors. The weights start at zero.
pub trait Method<F: Float>: Clone + Send + Sync + 'static {
    /// Number of past regressors that the method uses, `r`.
    fn order(&self) -> usize {
        1
    }
    /// The weights; of a filter, the taps.
    fn weights(&self) -> &[F];
    /// Replaces the weights by as many others, as if they had just been learned.
    fn set_weights(&mut self, weights: &[F]);
    /// Forgets everything.
    fn reset(&mut self);
    /// Learns. The caller has computed `p = w.x` of the newest regressor; `weight` multiplies the step.
    fn adapt<P: Past<F>>(&mut self, past: &P, p: F, weight: F);
    /// Appends everything that learning needs to continue, bit for bit.
    fn save(&self, out: &mut StateWriter);
    /// Least count of numbers that [`save`](Method::save) writes for `len` weights.
    fn least_saved(len: u64) -> u64
    where
        Self: Sized,
    {
        len
    }
    /// Bytes that the method would take with `len` weights instead of its present ones.
    fn room(&self, len: u64) -> u64 {
        len.saturating_mul(2 * size_of::<F>() as u64)
    }
    /// Takes what [`save`](Method::save) wrote.
    fn restore(&mut self, input: &mut &[u8]) -> Result<(), StateError>;
}

/// `delta`, the constant added to a normalizer.
///
/// An absolute constant fails on speech, whose energy varies over five decades: in quiet passages the normalized step
/// amplifies the noise. The relative part is a share of the long average of the energy of a regressor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Delta<F> {
    /// Added unchanged.
    pub absolute: F,
    /// Times the usual energy.
    pub relative: F,
}

impl<F: Float> Delta<F> {
    /// An absolute `delta`.
    pub fn absolute(delta: F) -> Self {
        Self { absolute: delta, relative: F::ZERO }
    }

    /// Returns the regularization in a round, for a method with the mean gain `gain`.
    #[inline(always)]
    fn of(&self, past: &impl Past<F>, gain: F) -> F {
        self.absolute + self.relative * past.usual_energy() * gain
    }
}

/// Reads numbers into a place that knows how many there must be.
fn restore_into<F: Float>(
    place: &mut [F],
    input: &mut &[u8],
    field: &'static str,
) -> Result<(), StateError> {
    for slot in place {
        *slot = F::read(input).map_err(|e| e.in_field(field))?;
    }
    Ok(())
}

fn save_all<F: Float>(numbers: &[F], out: &mut StateWriter) {
    numbers.iter().for_each(|number| number.write(out));
}

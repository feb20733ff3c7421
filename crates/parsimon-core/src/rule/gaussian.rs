//! A Gaussian over the weights with a diagonal covariance: AROW and soft confidence-weighted learning.
//!
//! ```text
//! w_j += alpha y sigma_j x_j,      1/sigma_j += c x_j^2,      sigma_j = 1 at first
//! ```
//!
//! `margin.rs` computes `alpha` and `c` from a row. Use it for classes of words and other rare features, in one pass: a weight that
//! has rarely been seen still moves far, and a well-known weight hardly moves. The method makes no zeros, and its margins are no probabilities.

use super::Rule;
use crate::share::{Merging, Parts, Share};
use crate::{Float, Table, state::state};

/// Weights with a mean and a variance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gaussian;

/// The mean of a weight, and the sum that rows have added to the inverse of its variance.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Normal<F> {
    w: F,
    information: F,
}

state!(Normal<F: Float> { w, information });

impl<F: Float> Rule<F> for Gaussian {
    type Coord = Normal<F>;
    type Clock = u64;

    fn tick(&self, now: &mut u64) {
        *now += 1;
    }
    fn merging(&self) -> Result<&dyn Merging<Self::Coord, Self::Clock>, &'static str> {
        Ok(self)
    }
    #[inline(always)]
    fn played(&self, _now: &u64, _j: u32, c: &Normal<F>) -> F {
        c.w
    }
    #[inline(always)]
    fn variance(&self, c: &Normal<F>) -> F {
        F::ONE / (F::ONE + c.information)
    }
    #[inline(always)]
    fn absorb(&self, _now: &mut u64, _j: u32, c: &mut Normal<F>, w: F, g: F, at: F) {
        c.w = w - Rule::<F>::variance(self, c) * g;
        c.information += at * at;
    }
}

/// The means are averaged; the sums that rows have added to the inverses of the variances are added.
impl<F: Float> Merging<Normal<F>, u64> for Gaussian {
    fn shares(&self) -> &'static [Share] {
        &[Share::Mean, Share::Sum]
    }
    fn rounds(&self, now: &u64) -> u64 {
        *now
    }
    fn parts(&self, _now: &u64, _j: u32, c: &Normal<F>) -> Parts {
        Parts { value: c.w.to_f64(), memory: c.information.to_f64(), second: 0.0 }
    }
    fn coordinate(&self, _t: u64, _j: u32, parts: &Parts) -> Normal<F> {
        let information = F::from_f64(parts.memory.max(0.0));
        Normal { w: F::from_f64(parts.value), information }
    }
    fn clock(&self, t: u64, _table: &Table<Normal<F>>) -> u64 {
        t
    }
}

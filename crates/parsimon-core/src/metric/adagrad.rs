//! `q = (delta + sqrt(sum g^2)) / rate`.

use super::{Metric, Quiet};
use crate::Float;

/// AdaGrad's diagonal (Duchi, Hazan and Singer 2011): coordinates seen often move slowly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdaGrad {
    /// `eta`, or FTRL's `alpha`.
    pub rate: f64,
    /// Added to the root; FTRL's `beta`.
    pub delta: f64,
}

impl<F: Float> Metric<F> for AdaGrad {
    type Memory = F;

    fn pace(&self, _t: u64) -> f64 {
        0.0
    }
    #[inline(always)]
    fn q(&self, _pace: F, sum: &F) -> F {
        (F::from_f64(self.delta) + sum.sqrt()) * F::from_f64(1.0 / self.rate)
    }
    fn sum(&self, sum: &F) -> f64 {
        sum.to_f64()
    }
    fn memory(&self, sum: f64) -> F {
        F::from_f64(sum)
    }
    // The squares of logistic gradients have the loss's curvature for their mean.
    fn overlap(&self, from: f64, to: f64) -> Option<f64> {
        let (a, b) = (from.max(0.0).sqrt(), to.max(0.0).sqrt());
        let grown =
            if self.delta > 0.0 { self.delta * ((b - a) / (self.delta + a)).ln_1p() } else { 0.0 };
        Some((2.0 * self.rate * (b - a - grown)).max(0.0))
    }
    #[inline(always)]
    fn absorb(&self, sum: &mut F, g: F) {
        *sum += g * g;
    }
}

impl Quiet for AdaGrad {}

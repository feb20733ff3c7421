//! Metrics that depend on the round alone.

use super::Metric;
use crate::Float;

/// `q_{1:t}` as a function of `t`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pace {
    /// `sqrt(t) / rate`: Xiao's `beta_t = gamma sqrt(t)`, `gamma = 1/rate`.
    Sqrt {
        /// `1/gamma`
        rate: f64,
    },
    /// `t^b / rate`
    Power {
        /// `eta`
        rate: f64,
        /// The exponent.
        b: f64,
    },
    /// Constant.
    Constant {
        /// `q`
        q: f64,
    },
    /// `sigma (1 + ln t)`
    Log {
        /// The penalty's strong convexity.
        sigma: f64,
    },
}

impl Pace {
    /// `q_{1:t}`, `t >= 1`.
    pub fn at(&self, t: u64) -> f64 {
        let t = t as f64;
        match *self {
            Pace::Sqrt { rate } => t.sqrt() / rate,
            Pace::Power { rate, b } => t.powf(b) / rate,
            Pace::Constant { q } => q,
            Pace::Log { sigma } => sigma * (1.0 + t.ln()),
        }
    }
}

/// A metric that is the same on every coordinate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Global(
    /// Growth.
    pub Pace,
);

impl<F: Float> Metric<F> for Global {
    type Memory = ();

    fn pace(&self, t: u64) -> f64 {
        self.0.at(t)
    }
    #[inline(always)]
    fn q(&self, pace: F, _memory: &()) -> F {
        pace
    }
    fn sum(&self, _memory: &()) -> f64 {
        0.0
    }
    fn memory(&self, _sum: f64) {}
    #[inline(always)]
    fn absorb(&self, _memory: &mut (), _g: F) {}
}

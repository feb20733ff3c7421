//! One coordinate's problem, reduced to a few numbers.

use super::{Bounds, soft};

/// `argmin_w (z + u a) w + l1|w| + q/2 w^2` inside of bounds, as a function of `u`: one coordinate's share of an implicit update.
/// With `u = 0` it is the problem that a leader solves, which merging splits into weight and subgradient.
#[derive(Clone, Copy, Debug)]
pub struct Candidate {
    /// The linear part without the current loss.
    pub z: f64,
    /// The quadratic, the penalty's included.
    pub q: f64,
    /// The threshold.
    pub l1: f64,
    /// The allowed interval; `None` for penalties that are finite everywhere.
    pub bounds: Option<Bounds>,
}

impl Candidate {
    /// Returns the next weight if the slope of the loss there is `u`, along a feature of value `a`.
    #[inline(always)]
    pub fn at(&self, u: f64, a: f64) -> f64 {
        let w = if self.q > 0.0 { -soft(self.z + u * a, self.l1) / self.q } else { 0.0 };
        self.clamp(w)
    }

    /// The weight without a further loss.
    #[inline]
    pub fn weight(&self) -> f64 {
        let over = self.z.abs() - self.l1;
        let w = if over > 0.0 && self.q > 0.0 { (over / self.q).copysign(-self.z) } else { 0.0 };
        self.clamp(w)
    }

    #[inline(always)]
    fn clamp(&self, w: f64) -> f64 {
        self.bounds.map_or(w, |bounds| bounds.clamp(w))
    }
}

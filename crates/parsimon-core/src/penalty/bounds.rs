//! The interval of weights that a penalty allows.

use crate::Float;

/// `lower <= w <= upper`. Zero is inside: a feature that was never seen has the weight 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    lower: f64,
    upper: f64,
}

impl Bounds {
    /// The whole line.
    pub const NONE: Bounds = Bounds { lower: f64::NEG_INFINITY, upper: f64::INFINITY };
    /// The half-line of the weights that are not negative.
    pub const NONNEGATIVE: Bounds = Bounds { lower: 0.0, upper: f64::INFINITY };

    /// The interval, or `None` when zero is not in it. Either end may be infinite.
    ///
    /// ```
    /// use parsimon_core::penalty::Bounds;
    ///
    /// let bounds = Bounds::new(-0.5, f64::INFINITY).unwrap();
    /// assert_eq!([-2.0, -0.1, 9.0].map(|w| bounds.clamp(w)), [-0.5, -0.1, 9.0]);
    /// assert!(Bounds::new(0.1, 1.0).is_none());
    /// ```
    pub fn new(lower: f64, upper: f64) -> Option<Self> {
        (lower <= 0.0 && 0.0 <= upper).then_some(Self { lower, upper })
    }

    /// The lower end.
    pub fn lower(&self) -> f64 {
        self.lower
    }

    /// The upper end.
    pub fn upper(&self) -> f64 {
        self.upper
    }

    /// The nearest number inside that the precision has.
    #[inline(always)]
    pub fn clamp<F: Float>(&self, w: F) -> F {
        let (lower, upper) = (inward(self.lower), inward(self.upper));
        let w = if w < lower { lower } else { w };
        if w > upper { upper } else { w }
    }

    /// Whether `w` is one of the two ends, as [`clamp`](Bounds::clamp) rounds them.
    #[inline]
    pub fn is_end<F: Float>(&self, w: F) -> bool {
        w == inward(self.lower) || w == inward(self.upper)
    }
}

/// A bound in the learner's precision, rounded towards zero.
///
/// NUMERICS: `f32` rounds 0.1 up, and a weight at that bound would be larger than the user allowed. A bound reduced by half a unit
/// in the last place rounds to a number inside. Among subnormal numbers the unit is larger than that; zero is inside then.
#[inline(always)]
fn inward<F: Float>(bound: f64) -> F {
    let is_inside = |rounded: F| rounded.to_f64().abs() <= bound.abs();
    let nearest = F::from_f64(bound);
    let less = F::from_f64(bound * (1.0 - F::PRECISION.epsilon() / 2.0));
    match (is_inside(nearest), is_inside(less)) {
        (true, _) => nearest,
        (false, true) => less,
        (false, false) => F::ZERO,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_round_towards_zero_and_lose_two_units_at_most() {
        let mut bound = 1e-44;
        while bound < 1e38 {
            for b in [bound, -bound] {
                let rounded = f64::from(inward::<f32>(b));
                assert!(rounded.abs() <= b.abs(), "{b:e} became {rounded:e}");
                let is_normal = b.abs() >= f64::from(f32::MIN_POSITIVE);
                let unit = f64::from(f32::EPSILON) * b.abs();
                assert!(!is_normal || (rounded - b).abs() <= 2.0 * unit, "{b:e} {rounded:e}");
                assert_eq!(inward::<f64>(b), b);
            }
            bound *= 1.37;
        }
        assert_eq!(inward::<f32>(f64::INFINITY), f32::INFINITY);
        assert_eq!(inward::<f32>(0.5), 0.5);
        assert_eq!(inward::<f32>(0.0), 0.0);
    }
}

//! The set the weights of a penalty with bounds stay in.
//!
//! `psi(w) = l1 |w| + l2/2 w^2` for `lower <= w <= upper` and infinite outside, the same for every
//! feature. Every argmin of this crate with such a penalty is a sum of convex functions of one
//! coordinate each. A convex function of one coordinate falls up to its minimizer and rises after
//! it, so its minimizer on an interval is the point of the interval nearest to its minimizer on
//! the line. Each method therefore keeps its formula for `l1` and `l2` and ends with
//! [`Interval::nearest`]. The amount a penalty counts with (`t`, `eta`, once) does not matter here:
//! any positive multiple of infinity is infinity.

use crate::space::Space;
use crate::spec::Spec;

/// The penalties that are `l1 |w| + l2/2 w^2`, with or without bounds.
pub(crate) const ELASTIC_IN_BOUNDS: [&str; 3] = ["elastic", "nonnegative", "box"];

/// `[lower, upper]` with zero inside, hence `w = 0` is allowed for a feature never seen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Interval {
    lower: f64,
    upper: f64,
}

impl Interval {
    /// The whole line: no bounds.
    pub(crate) const LINE: Interval = Interval { lower: f64::NEG_INFINITY, upper: f64::INFINITY };

    /// The bounds of a penalty, which only "nonnegative" and "box" have.
    pub(crate) fn of_penalty(spec: &Spec, penalty: &str) -> Self {
        if penalty != "box" {
            for key in ["lower", "upper"] {
                assert!(spec.get(key).is_none(), "penalty {penalty:?} gives {key} no meaning");
            }
        }
        match penalty {
            "nonnegative" => Interval { lower: 0.0, ..Interval::LINE },
            "box" => {
                let lower = spec.number_or("lower", Interval::LINE.lower);
                let upper = spec.number_or("upper", Interval::LINE.upper);
                assert!(lower <= 0.0, "lower must be at most 0, got {lower}");
                assert!(upper >= 0.0, "upper must be at least 0, got {upper}");
                Interval { lower, upper }
            }
            _ => Interval::LINE,
        }
    }

    /// The bounds of a method whose penalties are "elastic", "nonnegative" and "box".
    pub(crate) fn from_spec(spec: &Spec) -> Self {
        let penalty = spec.text_or("penalty", "elastic");
        let known = ELASTIC_IN_BOUNDS.contains(&penalty.as_str());
        assert!(known, "{} has no penalty {penalty:?}", spec.text("algorithm"));
        Interval::of_penalty(spec, &penalty)
    }

    /// An interval per coordinate: this one on the features, the line on the bias.
    pub(crate) fn on_features(self, space: &Space) -> Vec<Interval> {
        let mut intervals = vec![self; space.dimension];
        intervals.resize(space.len(), Interval::LINE);
        intervals
    }

    /// The point of the interval nearest to `w`.
    pub(crate) fn nearest(self, w: f64) -> f64 {
        w.clamp(self.lower, self.upper)
    }
}

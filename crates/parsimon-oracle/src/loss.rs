//! Losses of the margin and their slopes (algorithms, section 0).

use crate::spec::Spec;

/// A convex loss `l(p, y)` of the margin `p`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Loss {
    /// `log(1 + exp(-y p))`, `y` in {-1, 1}.
    Logistic,
    /// `(p - y)^2 / 2`.
    Squared,
    /// `max(0, 1 - y p)`, `y` in {-1, 1}.
    Hinge,
    /// `max(0, 1 - y p)^2 / 2`, `y` in {-1, 1}.
    SquaredHinge,
    /// Quadratic up to `|p - y| = delta`, linear beyond.
    Huber {
        /// Start of the line.
        delta: f64,
    },
    /// `max(q (y - p), (q - 1) (y - p))`: its minimizer is the `q`-quantile of `y`.
    Quantile {
        /// The quantile `q`.
        level: f64,
    },
    /// `exp(p) - y p`, `y` a count.
    Poisson,
}

impl Loss {
    /// The loss of a name; `huber_delta` and `quantile` matter to the losses named after them.
    ///
    /// # Panics
    /// On an unknown name.
    pub fn named(name: &str, huber_delta: f64, quantile: f64) -> Self {
        match name {
            // Of one margin alone: the other classes are one, whose margin is zero.
            "logistic" | "softmax" => Loss::Logistic,
            "squared" => Loss::Squared,
            "hinge" => Loss::Hinge,
            "squared-hinge" => Loss::SquaredHinge,
            "huber" => Loss::Huber { delta: huber_delta },
            "quantile" => Loss::Quantile { level: quantile },
            "poisson" => Loss::Poisson,
            other => panic!("unknown loss {other:?}"),
        }
    }

    pub(crate) fn from_spec(spec: &Spec) -> Self {
        let huber_delta = spec.number_or("huber_delta", 1.0);
        Loss::named(&spec.text("loss"), huber_delta, spec.number_or("quantile", 0.5))
    }

    /// `l(p, y)`.
    pub fn value(&self, p: f64, y: f64) -> f64 {
        match *self {
            // NUMERICS: exp(-y p) overflows for margins below -709; the larger term is taken out.
            Loss::Logistic => (-y * p).max(0.0) + (-(y * p).abs()).exp().ln_1p(),
            Loss::Squared => 0.5 * (p - y) * (p - y),
            Loss::Hinge => (1.0 - y * p).max(0.0),
            Loss::SquaredHinge => 0.5 * (1.0 - y * p).max(0.0).powi(2),
            Loss::Huber { delta } => {
                let r = (p - y).abs();
                if r <= delta { 0.5 * r * r } else { delta * (r - 0.5 * delta) }
            }
            Loss::Quantile { level } => (level * (y - p)).max((level - 1.0) * (y - p)),
            Loss::Poisson => p.exp() - y * p,
        }
    }

    /// `l'(p, y)`, the derivative in `p`; at a kink the subgradient that the conventions choose.
    pub fn slope(&self, p: f64, y: f64) -> f64 {
        match *self {
            Loss::Logistic => -y / (1.0 + (y * p).exp()),
            Loss::Squared => p - y,
            Loss::Hinge => {
                if y * p < 1.0 {
                    -y
                } else {
                    0.0
                }
            }
            Loss::SquaredHinge => -y * (1.0 - y * p).max(0.0),
            Loss::Huber { delta } => (p - y).clamp(-delta, delta),
            Loss::Quantile { level } => {
                if p < y {
                    -level
                } else if p > y {
                    1.0 - level
                } else {
                    0.0
                }
            }
            Loss::Poisson => p.exp() - y,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slopes_by_hand() {
        assert_eq!(Loss::Logistic.slope(0.0, 1.0), -0.5);
        assert_eq!(Loss::Squared.slope(3.0, 1.0), 2.0);
        assert_eq!(Loss::Hinge.slope(0.5, -1.0), 1.0);
        assert_eq!(Loss::Hinge.slope(1.0, 1.0), 0.0);
        assert_eq!(Loss::SquaredHinge.slope(0.25, 1.0), -0.75);
        assert_eq!(Loss::Huber { delta: 0.5 }.slope(3.0, 1.0), 0.5);
        assert_eq!(Loss::Quantile { level: 0.9 }.slope(0.0, 1.0), -0.9);
        assert_eq!(Loss::Quantile { level: 0.9 }.slope(1.0, 1.0), 0.0);
        assert_eq!(Loss::Poisson.slope(0.0, 3.0), -2.0);
    }

    #[test]
    fn a_slope_is_the_derivative_of_the_value() {
        let step = 1e-6;
        let losses = [
            Loss::Logistic,
            Loss::Squared,
            Loss::Hinge,
            Loss::SquaredHinge,
            Loss::Huber { delta: 0.7 },
            Loss::Quantile { level: 0.3 },
            Loss::Poisson,
        ];
        for loss in losses {
            for y in [-1.0, 1.0] {
                for p in [-2.3, -0.4, 0.1, 0.6, 1.9] {
                    let difference =
                        (loss.value(p + step, y) - loss.value(p - step, y)) / (2.0 * step);
                    let error = (difference - loss.slope(p, y)).abs();
                    assert!(error < 1e-8, "{loss:?} at p = {p}, y = {y}: off by {error}");
                }
            }
        }
    }
}

//! (A) The losses: their value and their slope along `x`, at margin `p = w.x`.

use crate::exponential::{exp, ln_1p};
use crate::wide::{Work, wide};

/// A convex loss of the margin `p` and the label `y`.
///
/// It is evaluated once per row, hence an enum. Classification labels are -1 and 1.
///
/// ```
/// use parsimon_core::Loss;
///
/// let loss = Loss::Logistic;
/// assert_eq!(loss.slope(0.0, 1.0), -0.5);
/// assert!((loss.value(0.0, 1.0) - 2f64.ln()).abs() < 1e-15);
/// assert_eq!(loss.predict(0.0), 0.5);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Loss {
    /// `ln(1 + e^(-y p))`, `y` in {-1, 1}.
    Logistic,
    /// `(p - y)^2 / 2`.
    Squared,
    /// `max(0, 1 - y p)`, `y` in {-1, 1}.
    Hinge,
    /// `max(0, 1 - y p)^2 / 2`, `y` in {-1, 1}.
    SquaredHinge,
    /// `r^2 / 2` for `|r| <= delta`, `delta (|r| - delta/2)` beyond, `r = p - y`.
    Huber {
        /// Where the parabola becomes a line.
        delta: f64,
    },
    /// `tau (y - p)` above, `(1 - tau) (p - y)` below: the conditional `tau`-quantile.
    Quantile {
        /// The quantile, in (0, 1).
        tau: f64,
    },
    /// `e^p - y p`: counts with mean `e^p`, `y >= 0`.
    Poisson,
    /// `(p - y)^2 / 2` where `y` is a class, -1 or 1: Adaline's, whose class is the sign of `p`.
    Adaline,
}

/// What the labels of a loss may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LabelDomain {
    /// Two classes, with the labels -1 and 1.
    Binary,
    /// Any finite number.
    Real,
    /// A number >= 0.
    NonNegative,
}

// NUMERICS: e^p overflows near 709.8. A stream that gets this far has diverged; the slope must stay
// finite all the same so that the learner can say so instead of turning its state into NaN.
const MAX_EXPONENT: f64 = 700.0;

impl Loss {
    /// The loss at margin `p`.
    #[inline]
    pub fn value(&self, p: f64, y: f64) -> f64 {
        match *self {
            Loss::Logistic => logistic(y * p),
            Loss::Squared | Loss::Adaline => 0.5 * (p - y) * (p - y),
            Loss::Hinge => (1.0 - y * p).max(0.0),
            Loss::SquaredHinge => {
                let r = (1.0 - y * p).max(0.0);
                0.5 * r * r
            }
            Loss::Huber { delta } => {
                let r = (p - y).abs();
                if r <= delta { 0.5 * r * r } else { delta * (r - 0.5 * delta) }
            }
            Loss::Quantile { tau } => {
                let r = y - p;
                if r >= 0.0 { tau * r } else { (tau - 1.0) * r }
            }
            Loss::Poisson => exp(p.min(MAX_EXPONENT)) - y * p,
        }
    }

    /// The derivative in `p`; at a kink, the value the formulas of this library use.
    #[inline]
    pub fn slope(&self, p: f64, y: f64) -> f64 {
        match *self {
            Loss::Logistic => -y / (1.0 + exp(y * p)),
            Loss::Squared | Loss::Adaline => p - y,
            Loss::Hinge => {
                if y * p < 1.0 {
                    -y
                } else {
                    0.0
                }
            }
            Loss::SquaredHinge => -y * (1.0 - y * p).max(0.0),
            Loss::Huber { delta } => (p - y).clamp(-delta, delta),
            Loss::Quantile { tau } => {
                if p < y {
                    -tau
                } else if p > y {
                    1.0 - tau
                } else {
                    0.0
                }
            }
            Loss::Poisson => exp(p.min(MAX_EXPONENT)) - y,
        }
    }

    /// [`slope`](Loss::slope) at several margins; the logistic one several at a time.
    #[inline(always)]
    pub(crate) fn slopes<const K: usize>(&self, p: &[f64; K], y: f64) -> [f64; K] {
        let mut slopes = [0.0; K];
        match self {
            Loss::Logistic => {
                for (slope, p) in slopes.iter_mut().zip(p) {
                    *slope = -y / (1.0 + exp(y * p));
                }
            }
            _ => slopes.iter_mut().zip(p).for_each(|(slope, p)| *slope = self.slope(*p, y)),
        }
        slopes
    }

    /// [`value`](Loss::value) of every row, at its margin and its label; the logistic one several at a time.
    ///
    /// ```
    /// use parsimon_core::Loss;
    ///
    /// let mut losses = Vec::new();
    /// Loss::Logistic.row_values(&[0.0, 2.0], &[1.0, -1.0], &mut losses);
    /// assert_eq!(losses, [Loss::Logistic.value(0.0, 1.0), Loss::Logistic.value(2.0, -1.0)]);
    /// ```
    pub fn row_values(&self, margins: &[f64], labels: &[f64], losses: &mut Vec<f64>) {
        losses.clear();
        losses.resize(margins.len(), 0.0);
        wide(RowValues { loss: *self, margins, labels, losses });
    }

    /// The same where all rows have one label.
    pub fn values(&self, margins: &[f64], label: f64, losses: &mut Vec<f64>) {
        losses.clear();
        losses.resize(margins.len(), label);
        wide(Values { loss: *self, margins, losses });
    }

    /// The prediction for a margin: a probability, a mean count, or the margin itself.
    #[inline]
    pub fn predict(&self, p: f64) -> f64 {
        match self {
            Loss::Logistic => 1.0 / (1.0 + exp(-p)),
            Loss::Poisson => exp(p.min(MAX_EXPONENT)),
            _ => p,
        }
    }

    /// The label of a row of another class, for one of several learners.
    pub fn other_label(&self) -> f64 {
        match self {
            Loss::Logistic | Loss::Hinge | Loss::SquaredHinge => -1.0,
            _ => 0.0,
        }
    }

    /// Which labels the loss accepts.
    pub fn domain(&self) -> LabelDomain {
        match self {
            Loss::Logistic | Loss::Hinge | Loss::SquaredHinge | Loss::Adaline => {
                LabelDomain::Binary
            }
            Loss::Squared | Loss::Huber { .. } | Loss::Quantile { .. } => LabelDomain::Real,
            Loss::Poisson => LabelDomain::NonNegative,
        }
    }
}

struct RowValues<'a> {
    loss: Loss,
    margins: &'a [f64],
    labels: &'a [f64],
    losses: &'a mut [f64],
}

impl Work for RowValues<'_> {
    type Output = ();

    #[inline(always)]
    fn work(self) {
        let Self { loss, margins, labels, losses } = self;
        let rows = losses.iter_mut().zip(margins).zip(labels);
        match loss {
            Loss::Logistic => rows.for_each(|((value, p), y)| *value = logistic(y * p)),
            _ => rows.for_each(|((value, p), y)| *value = loss.value(*p, *y)),
        }
    }
}

/// The labels stand where the losses will.
struct Values<'a> {
    loss: Loss,
    margins: &'a [f64],
    losses: &'a mut [f64],
}

impl Work for Values<'_> {
    type Output = ();

    #[inline(always)]
    fn work(self) {
        let Self { loss, margins, losses } = self;
        let rows = losses.iter_mut().zip(margins);
        match loss {
            Loss::Logistic => rows.for_each(|(y, p)| *y = logistic(*y * p)),
            _ => rows.for_each(|(y, p)| *y = loss.value(*p, *y)),
        }
    }
}

/// `ln(1 + e^-m)`.
///
/// NUMERICS: as `ln(1 + e^-|m|) + max(0, -m)`, where nothing overflows.
#[inline(always)]
fn logistic(m: f64) -> f64 {
    ln_1p(exp(-m.abs())) + (-m).max(0.0)
}

/// The label that the learner of class `class` sees of a row whose label is the class at position `y`.
pub(crate) fn own_label(y: f64, class: usize, other: f64) -> f64 {
    if y == class as f64 { 1.0 } else { other }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Loss; 8] = [
        Loss::Logistic,
        Loss::Squared,
        Loss::Hinge,
        Loss::SquaredHinge,
        Loss::Huber { delta: 1.0 },
        Loss::Quantile { tau: 0.3 },
        Loss::Poisson,
        Loss::Adaline,
    ];

    #[test]
    fn the_slope_is_the_derivative() {
        for loss in ALL {
            for p in [-3.3, -0.7, 0.2, 0.9, 2.4] {
                let y = 1.0;
                let h = 1e-6;
                let numeric = (loss.value(p + h, y) - loss.value(p - h, y)) / (2.0 * h);
                assert!((numeric - loss.slope(p, y)).abs() < 1e-7, "{loss:?} at {p}");
            }
        }
    }

    #[test]
    fn no_margin_makes_a_slope_infinite() {
        for loss in ALL {
            for p in [-1e308, -800.0, 0.0, 800.0, 1e308] {
                assert!(loss.slope(p, 1.0).is_finite(), "{loss:?} at {p}");
            }
        }
    }

    #[test]
    fn logistic_is_exact_far_out() {
        assert_eq!(Loss::Logistic.value(-1000.0, 1.0), 1000.0);
        assert_eq!(Loss::Logistic.value(1000.0, 1.0), 0.0);
        assert_eq!(Loss::Logistic.slope(1000.0, 1.0), 0.0);
        assert_eq!(Loss::Logistic.slope(-1000.0, 1.0), -1.0);
    }
}

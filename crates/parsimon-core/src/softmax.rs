//! Softmax: the loss of the margins of several classes together.
//!
//! ```text
//! p_k   = e^(m_k) / sum_j e^(m_j)
//! loss  = -ln p_y
//! slope = p_k - [k = y]          for the margin of class k
//! ```
//!
//! Sums run over the classes in order, and exponentials are those of [`exponential`](crate::exponential): the same bits on every
//! machine, for margins that lie side by side and for margins with a stride.

use crate::exponential::{exp, ln};

/// Returns the position of the largest margin, the first of equals.
pub fn arg_max(margins: &[f64]) -> usize {
    (0..margins.len()).fold(0, |best, k| if margins[k] > margins[best] { k } else { best })
}

/// The exponentials of the margins relative to the largest one, as sums.
///
/// NUMERICS: the probability of the other classes is not computed as `1 - p_y`, which rounds to zero long before it is zero. The sum without the largest term is
/// kept apart; without any other term the sum is at least 1, and nothing cancels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shares {
    top: usize,
    most: f64,
    /// The sum of all terms but the largest, which is 1.
    others: f64,
}

impl Shares {
    /// Computes the sums from the margins of all classes.
    #[inline]
    pub(crate) fn of(margins: impl Iterator<Item = f64> + Clone) -> Self {
        let (mut top, mut most) = (0, f64::NEG_INFINITY);
        for (k, m) in margins.clone().enumerate() {
            if m > most {
                (top, most) = (k, m);
            }
        }
        let mut others = 0.0;
        for (k, m) in margins.enumerate() {
            if k != top {
                others += exp(m - most);
            }
        }
        Self { top, most, others }
    }

    /// The probability of class `k`, whose margin is `m`.
    #[inline]
    pub(crate) fn probability(&self, m: f64) -> f64 {
        exp(m - self.most) / (1.0 + self.others)
    }

    /// The slope of the loss for the margin `m` of class `k`.
    #[inline]
    pub(crate) fn slope(&self, k: usize, m: f64, class: usize) -> f64 {
        if k != class {
            return self.probability(m);
        }
        let others =
            if k == self.top { self.others } else { 1.0 + self.others - exp(m - self.most) };
        -(others / (1.0 + self.others))
    }

    /// The loss where the margin of the class is `m`.
    #[inline]
    pub(crate) fn value(&self, m: f64) -> f64 {
        (self.most - m) + ln(1.0 + self.others, self.others)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(margins: &[f64]) -> Shares {
        Shares::of(margins.iter().copied())
    }

    #[test]
    fn by_hand() {
        // Odds of 1 : 2 : 5.
        let margins = [0.0, 2f64.ln(), 5f64.ln()].map(|m| m + 700.0);
        let of = shares(&margins);
        for (k, p) in [0.125, 0.25, 0.625].into_iter().enumerate() {
            assert!((of.probability(margins[k]) - p).abs() < 1e-12);
            assert!((of.value(margins[k]) + p.ln()).abs() < 1e-12);
            let slope = |j: usize| of.slope(j, margins[j], k);
            assert!((slope(k) - (p - 1.0)).abs() < 1e-12);
            assert!((0..3).map(slope).sum::<f64>().abs() < 1e-12, "slopes add up to zero");
        }
    }

    #[test]
    fn the_slope_is_the_derivative() {
        let (margins, h) = ([-1.3, 0.4, 2.0, -0.2], 1e-6);
        for class in 0..4 {
            for k in 0..4 {
                let at = |step: f64| {
                    let mut moved = margins;
                    moved[k] += step;
                    shares(&moved).value(moved[class])
                };
                let numeric = (at(h) - at(-h)) / (2.0 * h);
                let slope = shares(&margins).slope(k, margins[k], class);
                assert!((slope - numeric).abs() < 1e-9, "{class} {k}");
            }
        }
    }

    #[test]
    fn two_classes_are_the_logistic_loss_of_the_difference() {
        for m in [-800.0, -40.0, -1.0, 0.0, 0.3, 37.0, 900.0] {
            let of = shares(&[0.25, m + 0.25]);
            let logistic = crate::Loss::Logistic;
            let close = |a: f64, b: f64| (a - b).abs() <= 1e-12 * b.abs();
            assert!(close(of.value(m + 0.25), logistic.value(m, 1.0)), "{m}");
            assert!(close(of.slope(1, m + 0.25, 1), logistic.slope(m, 1.0)), "{m}");
            assert!(close(of.slope(1, m + 0.25, 0), logistic.slope(m, -1.0)), "{m}");
        }
    }

    #[test]
    fn margins_far_apart_stay_finite() {
        let margins = [1e300, -1e300, 0.0];
        let of = shares(&margins);
        for class in 0..3 {
            assert!(of.value(margins[class]).is_finite());
            assert!((0..3).all(|k| of.slope(k, margins[k], class).abs() <= 1.0));
        }
        assert_eq!((of.value(1e300), of.slope(0, 1e300, 0)), (0.0, 0.0));
    }

    #[test]
    fn a_sure_class_still_has_a_slope() {
        let of = shares(&[50.0, 0.0]);
        assert!((of.slope(0, 50.0, 0) + (-50f64).exp()).abs() < 1e-35);
        assert!((of.value(50.0) - (-50f64).exp()).abs() < 1e-35);
    }
}

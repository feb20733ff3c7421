//! A sum that does not drift: Neumaier's compensated summation.
//!
//! After 10^9 rows a plain `f64` sum of losses has lost about six of its sixteen digits, because each
//! small loss is rounded to the last place of a large total. The compensated sum keeps what was rounded
//! away in a second number and is correct to the last place or two for any length of the stream.
//! It costs three more additions per row, nothing beside reading the row.
//!
//! A. Neumaier, Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen, 1974.

use serde::{Deserialize, Serialize};

/// A running sum with its rounding error.
///
/// ```
/// use parsimon_eval::Sum;
///
/// let values = [1.0, 1e100, 1.0, -1e100];
/// assert_eq!(values.iter().sum::<f64>(), 0.0);
/// assert_eq!(values.iter().copied().collect::<Sum>().value(), 2.0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sum {
    total: f64,
    lost: f64,
}

impl Sum {
    /// Adds one term.
    pub fn add(&mut self, x: f64) {
        let t = self.total + x;
        self.lost +=
            if self.total.abs() >= x.abs() { (self.total - t) + x } else { (x - t) + self.total };
        self.total = t;
    }

    /// The sum of all terms so far.
    pub fn value(&self) -> f64 {
        let value = self.total + self.lost;
        // NUMERICS: after an infinite term the error is inf - inf, and the total alone is correct.
        if value.is_nan() { self.total } else { value }
    }
}

impl FromIterator<f64> for Sum {
    fn from_iter<I: IntoIterator<Item = f64>>(terms: I) -> Self {
        let mut sum = Sum::default();
        terms.into_iter().for_each(|x| sum.add(x));
        sum
    }
}

/// `part / whole`, or nothing when the answer is not a finite number: a mean of no rows, a rate of no
/// weight, a loss that overflowed. Metrics that can be undefined say so instead of carrying NaN along.
pub(crate) fn ratio(part: f64, whole: f64) -> Option<f64> {
    let q = part / whole;
    (whole > 0.0 && q.is_finite()).then_some(q)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_million_tenths_are_a_million() {
        let sum: Sum = std::iter::repeat_n(0.1, 10_000_000).collect();
        assert_eq!(sum.value(), 1_000_000.0);
        let plain: f64 = std::iter::repeat_n(0.1, 10_000_000).sum();
        assert!((plain - 1_000_000.0).abs() > 1e-5, "the plain sum drifts: {plain}");
    }

    #[test]
    fn infinite_terms_stay_infinite() {
        let sum: Sum = [1.0, f64::INFINITY, 2.0].into_iter().collect();
        assert_eq!(sum.value(), f64::INFINITY);
    }

    #[test]
    fn nothing_over_nothing_is_undefined() {
        assert_eq!(ratio(0.0, 0.0), None);
        assert_eq!(ratio(f64::INFINITY, 1.0), None);
        assert_eq!(ratio(1.0, 4.0), Some(0.25));
    }
}

//! The mean of a number per row, with the uncertainty of that mean.

use serde::{Deserialize, Serialize};

use crate::sum::{Sum, ratio};

/// Half the width of a 95% interval, in standard errors.
const NORMAL_95: f64 = 1.959_963_984_540_054;

/// The weighted mean of a number per row, with its standard error and a 95% interval (normal approximation).
///
/// For two predictions of the same rows, record the difference of their losses: a paired comparison needs far fewer rows than
/// two separate means.
///
/// ```
/// use parsimon_eval::Mean;
///
/// let mut mean = Mean::default();
/// [1.0, 2.0, 3.0, 4.0].into_iter().for_each(|x| mean.record(x, 1.0));
/// assert_eq!(mean.value(), Some(2.5));
/// // The sample variance is 5/3, over four rows.
/// assert!((mean.standard_error().unwrap() - (5.0f64 / 12.0).sqrt()).abs() < 1e-15);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Mean {
    rows: u64,
    weight: Sum,
    total: Sum,
    /// Sums of the squared weights, alone, times the number, and times its square.
    squared_weight: f64,
    first: f64,
    second: f64,
}

impl Mean {
    /// Counts one row.
    pub fn record(&mut self, x: f64, weight: f64) {
        if weight > 0.0 {
            self.rows += 1;
            self.weight.add(weight);
            self.total.add(weight * x);
            let square = weight * weight;
            self.squared_weight += square;
            self.first += square * x;
            self.second += square * x * x;
        }
    }

    /// Rows of positive weight.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The sum of the weights.
    pub fn weight(&self) -> f64 {
        self.weight.value()
    }

    /// The mean; nothing before the first row, or if a number was not finite.
    pub fn value(&self) -> Option<f64> {
        ratio(self.total.value(), self.weight.value())
    }

    /// The standard error of the mean; nothing before the second row.
    pub fn standard_error(&self) -> Option<f64> {
        let (mean, rows) = (self.value()?, self.rows as f64);
        let squares = self.second - 2.0 * mean * self.first + mean * mean * self.squared_weight;
        let error = (squares.max(0.0) * ratio(rows, rows - 1.0)?).sqrt() / self.weight.value();
        (squares.is_finite() && error.is_finite()).then_some(error)
    }

    /// The ends of the 95% interval.
    pub fn interval(&self) -> Option<(f64, f64)> {
        let (mean, error) = (self.value()?, self.standard_error()?);
        Some((mean - NORMAL_95 * error, mean + NORMAL_95 * error))
    }

    /// Distance of the mean from zero in standard errors. Infinite if all rows have the same number.
    ///
    /// ```
    /// use parsimon_eval::Mean;
    ///
    /// let mut difference = Mean::default();
    /// (0..100).for_each(|i| difference.record(if i % 2 == 0 { 3.0 } else { -1.0 }, 1.0));
    /// assert!(difference.z().is_some_and(|z| z > 4.9 && z < 5.0));
    /// ```
    pub fn z(&self) -> Option<f64> {
        let (mean, error) = (self.value()?, self.standard_error()?);
        if mean == 0.0 { Some(0.0) } else { Some(mean / error) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_count_rows() {
        let mut weighted = Mean::default();
        [(1.0, 2.0), (5.0, 1.0), (9.0, 0.0)].iter().for_each(|(x, w)| weighted.record(*x, *w));
        assert_eq!((weighted.rows(), weighted.weight()), (2, 3.0));
        assert_eq!(weighted.value(), Some(7.0 / 3.0));
        // 4 (1 - 7/3)^2 + (5 - 7/3)^2 = 128/9, times 2, under the root, over 3.
        assert!((weighted.standard_error().unwrap() - (256.0f64 / 9.0).sqrt() / 3.0).abs() < 1e-14);
    }

    #[test]
    fn nothing_is_known_of_one_row() {
        let mut mean = Mean::default();
        assert_eq!((mean.value(), mean.z()), (None, None));
        mean.record(3.0, 1.0);
        assert_eq!((mean.value(), mean.interval()), (Some(3.0), None));
        mean.record(3.0, 1.0);
        assert_eq!((mean.interval(), mean.z()), (Some((3.0, 3.0)), Some(f64::INFINITY)));
    }

    #[test]
    fn numbers_beyond_the_range_have_no_error() {
        let mut mean = Mean::default();
        [1e200, 1.0].iter().for_each(|x| mean.record(*x, 1.0));
        assert_eq!((mean.value(), mean.z()), (Some(5e199), None));
    }
}

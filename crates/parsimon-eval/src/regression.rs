//! Real labels: how far off, how far off in the mean, and how much of the variance is explained.
//!
//! `MSE = mean (p - y)^2`, `RMSE = sqrt(MSE)`, `MAE = mean |p - y|`, `R2 = 1 - sum (p - y)^2 / sum (y - mean y)^2`.
//! R2 is 0 for a model that always predicts the mean of these labels and may be negative.
//! Everything is computed in one pass and constant memory.

use parsimon_core::Loss;
use serde::{Deserialize, Serialize};

use crate::measure::Measure;
use crate::progressive::Progressive;
use crate::sum::{Sum, ratio};

/// Collects predictions of real labels.
///
/// ```
/// use parsimon_core::Loss;
/// use parsimon_eval::Regression;
///
/// let mut regression = Regression::new(Loss::Squared);
/// for (predicted, label) in [(1.0, 2.0), (3.0, 3.0), (6.0, 4.0)] {
///     regression.record(predicted, label, 1.0);
/// }
/// let metrics = regression.finish();
/// assert_eq!(metrics.mae, Some(1.0));
/// assert_eq!(metrics.r2, Some(-1.5)); // worse than always saying 3
/// ```
#[derive(Clone, Debug)]
pub struct Regression {
    loss: Loss,
    progressive: Progressive,
    error: Sum,
    absolute: Sum,
    squared: Sum,
    variance: Variance,
}

/// The metrics of a regression task. What is undefined (R2 of constant labels) is absent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RegressionMetrics {
    /// Number of rows.
    pub rows: u64,
    /// Their importance.
    pub weight: f64,
    /// The mean of the loss that was trained.
    pub mean_loss: Option<f64>,
    /// The mean squared error.
    pub mse: Option<f64>,
    /// Whether the loss that was trained is half the squared error, so that people read the mean squared error instead.
    pub loss_is_half_mse: bool,
    /// The root of the mean squared error.
    pub rmse: Option<f64>,
    /// The mean absolute error.
    pub mae: Option<f64>,
    /// The mean of `prediction - label`: positive when the model predicts too much.
    pub bias: Option<f64>,
    /// The share of the variance of the labels that is explained.
    pub r2: Option<f64>,
    /// The mean of the labels.
    pub mean_label: Option<f64>,
}

impl Regression {
    /// For predictions of a model trained with `loss`.
    pub fn new(loss: Loss) -> Self {
        Self {
            loss,
            progressive: Progressive::new(),
            error: Sum::default(),
            absolute: Sum::default(),
            squared: Sum::default(),
            variance: Variance::default(),
        }
    }

    /// Counts one row.
    pub fn record(&mut self, predicted: f64, label: f64, weight: f64) {
        let error = predicted - label;
        self.progressive.record(self.loss.value(predicted, label), weight);
        if weight > 0.0 {
            self.error.add(weight * error);
            self.absolute.add(weight * error.abs());
            self.squared.add(weight * error * error);
            self.variance.record(label, weight);
        }
    }

    /// The metrics of all rows.
    pub fn finish(&self) -> RegressionMetrics {
        let weight = self.progressive.weight();
        let mean = |sum: &Sum| ratio(sum.value(), weight);
        RegressionMetrics {
            rows: self.progressive.rows(),
            weight,
            mean_loss: self.progressive.average(),
            mse: mean(&self.squared),
            loss_is_half_mse: Measure::of(self.loss).is_mse(),
            rmse: mean(&self.squared).map(f64::sqrt),
            mae: mean(&self.absolute),
            bias: mean(&self.error),
            r2: ratio(self.squared.value(), self.variance.squares.value()).map(|q| 1.0 - q),
            mean_label: (weight > 0.0).then_some(self.variance.mean),
        }
    }
}

/// NUMERICS: `sum y^2 - n * mean^2` cancels when the labels are far from zero (years, prices). West's
/// weighted form of Welford's recurrence (CACM 1979) does not.
#[derive(Clone, Debug, Default)]
struct Variance {
    weight: f64,
    mean: f64,
    squares: Sum,
}

impl Variance {
    fn record(&mut self, y: f64, weight: f64) {
        self.weight += weight;
        let step = y - self.mean;
        self.mean += step * (weight / self.weight);
        self.squares.add(weight * step * (y - self.mean));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metrics(rows: &[(f64, f64, f64)]) -> RegressionMetrics {
        let mut regression = Regression::new(Loss::Squared);
        for &(p, y, w) in rows {
            regression.record(p, y, w);
        }
        regression.finish()
    }

    #[test]
    fn by_hand() {
        // Errors 1, -2 (twice), 0; labels 0, 4 (twice), 1 with mean 9/4 and squares 33 - 81/4.
        let m = metrics(&[(1.0, 0.0, 1.0), (2.0, 4.0, 2.0), (1.0, 1.0, 1.0)]);
        assert_eq!((m.rows, m.weight, m.mean_label), (3, 4.0, Some(2.25)));
        assert_eq!((m.mean_loss, m.mse, m.rmse), (Some(1.125), Some(2.25), Some(1.5)));
        assert_eq!((m.mae, m.bias), (Some(1.25), Some(-0.75)));
        assert!((m.r2.unwrap() - (1.0 - 9.0 / 12.75)).abs() < 1e-15);
    }

    #[test]
    fn labels_far_from_zero_keep_their_variance() {
        let shift = 1e9;
        let m = metrics(&[(shift, shift - 1.0, 1.0), (shift, shift + 1.0, 1.0)]);
        assert_eq!(m.r2, Some(0.0));
    }

    #[test]
    fn constant_labels_have_no_r2() {
        let m = metrics(&[(1.0, 2.0, 1.0), (3.0, 2.0, 1.0)]);
        assert_eq!((m.r2, m.rmse), (None, Some(1.0)));
        assert_eq!(metrics(&[]).rmse, None);
    }

    #[test]
    fn a_diverged_model_has_no_error_but_still_a_mean_label() {
        let m = metrics(&[(f64::INFINITY, 2.0, 1.0), (3.0, 2.0, 1.0)]);
        assert_eq!((m.rmse, m.mae, m.mean_loss, m.mean_label), (None, None, None, Some(2.0)));
    }
}

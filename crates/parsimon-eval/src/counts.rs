//! Counts: the Poisson deviance and how much of it is explained, next to the plain errors.
//!
//! `D = 2 * mean(y ln(y / mu) - (y - mu))` with `0 ln 0 = 0`, the likelihood's own squared error: it
//! forgives an error of 3 at 100 and not at 1. `D2 = 1 - D / D_null` where `D_null` is the deviance of
//! always predicting the mean count, as R2 is for real labels. One pass, constant memory.

use parsimon_core::Loss;
use serde::{Deserialize, Serialize};

use crate::progressive::Progressive;
use crate::sum::{Sum, ratio};

/// Collects predictions of counts.
///
/// ```
/// use parsimon_eval::Counts;
///
/// let mut counts = Counts::new();
/// counts.record(2f64.ln(), 2.0, 1.0); // the margin is the logarithm of the mean
/// counts.record(2f64.ln(), 0.0, 1.0);
/// let metrics = counts.finish();
/// assert!((metrics.mean_predicted.unwrap() - 2.0).abs() < 1e-15);
/// assert!((metrics.deviance.unwrap() - 2.0).abs() < 1e-15); // 0 for the first, 4 for the second
/// ```
#[derive(Clone, Debug, Default)]
pub struct Counts {
    progressive: Progressive,
    deviance: Sum,
    squared: Sum,
    absolute: Sum,
    predicted: Sum,
    observed: Sum,
    // sum of w * y * ln y: what the null deviance needs besides the mean.
    label_entropy: Sum,
}

/// The metrics of a task of counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CountsMetrics {
    /// Number of rows.
    pub rows: u64,
    /// Their importance.
    pub weight: f64,
    /// The mean of `e^p - y p`, the loss that was trained.
    pub mean_loss: Option<f64>,
    /// The mean Poisson deviance.
    pub deviance: Option<f64>,
    /// The share of the deviance that is explained.
    pub d2: Option<f64>,
    /// The root of the mean squared error.
    pub rmse: Option<f64>,
    /// The mean absolute error.
    pub mae: Option<f64>,
    /// The mean of the predictions.
    pub mean_predicted: Option<f64>,
    /// The mean of the labels.
    pub mean_label: Option<f64>,
}

fn x_ln_x(x: f64) -> f64 {
    if x > 0.0 { x * x.ln() } else { 0.0 }
}

impl Counts {
    /// No rows yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts one row, from its margin: the prediction is `e^margin`.
    pub fn record(&mut self, margin: f64, label: f64, weight: f64) {
        self.progressive.record(Loss::Poisson.value(margin, label), weight);
        if weight <= 0.0 {
            return;
        }
        let mean = Loss::Poisson.predict(margin);
        // NUMERICS: ln(mu) is the margin; taking the logarithm of e^margin would lose what underflowed.
        self.deviance.add(weight * 2.0 * (x_ln_x(label) - label * margin - (label - mean)));
        self.squared.add(weight * (mean - label) * (mean - label));
        self.absolute.add(weight * (mean - label).abs());
        self.predicted.add(weight * mean);
        self.observed.add(weight * label);
        self.label_entropy.add(weight * x_ln_x(label));
    }

    /// The metrics of all rows.
    pub fn finish(&self) -> CountsMetrics {
        let weight = self.progressive.weight();
        let mean = |sum: &Sum| ratio(sum.value(), weight);
        let mean_label = mean(&self.observed);
        let null =
            mean_label.map_or(0.0, |y| 2.0 * (self.label_entropy.value() - weight * x_ln_x(y)));
        CountsMetrics {
            rows: self.progressive.rows(),
            weight,
            mean_loss: self.progressive.average(),
            deviance: mean(&self.deviance),
            d2: ratio(self.deviance.value(), null).map(|q| 1.0 - q),
            rmse: mean(&self.squared).map(f64::sqrt),
            mae: mean(&self.absolute),
            mean_predicted: mean(&self.predicted),
            mean_label,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_explains_nothing_and_the_truth_everything() {
        let labels = [1.0, 4.0, 7.0, 0.5];
        let mean = labels.iter().sum::<f64>() / 4.0;
        let (mut flat, mut exact) = (Counts::new(), Counts::new());
        for y in labels {
            flat.record(mean.ln(), y, 2.0);
            exact.record(y.ln(), y, 2.0);
        }
        assert!(flat.finish().d2.unwrap().abs() < 1e-14);
        assert!((exact.finish().d2.unwrap() - 1.0).abs() < 1e-14);
        assert!(exact.finish().deviance.unwrap().abs() < 1e-14);
    }

    #[test]
    fn by_hand() {
        let mut counts = Counts::new();
        counts.record(0.0, 0.0, 1.0); // mu = 1: deviance 2
        counts.record(0.0, 3.0, 3.0); // 2 (3 ln 3 - 2)
        let m = counts.finish();
        let deviance = (2.0 + 3.0 * 2.0 * (3.0 * 3f64.ln() - 2.0)) / 4.0;
        assert!((m.deviance.unwrap() - deviance).abs() < 1e-14);
        assert_eq!((m.mean_loss, m.mae), (Some(1.0), Some(1.75)));
        assert_eq!((m.mean_predicted, m.mean_label), (Some(1.0), Some(2.25)));
    }

    #[test]
    fn a_prediction_that_underflows_keeps_its_deviance() {
        let mut counts = Counts::new();
        counts.record(-800.0, 1.0, 1.0);
        assert!((counts.finish().deviance.unwrap() - 1598.0).abs() < 1e-9);
    }

    #[test]
    fn no_rows_and_equal_labels_leave_d2_undefined() {
        assert_eq!(Counts::new().finish().deviance, None);
        let mut counts = Counts::new();
        counts.record(0.5, 0.0, 1.0);
        assert_eq!(counts.finish().d2, None);
    }
}

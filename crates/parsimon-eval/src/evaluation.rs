//! Metrics of an evaluation in one form for every task, to print, store and compare.

use std::fmt;

use parsimon_core::Loss;
use serde::{Deserialize, Serialize};

use crate::binary::{AtThreshold, BinaryMetrics};
use crate::calibration::Bin;
use crate::confusion::Confusion;
use crate::counts::CountsMetrics;
use crate::measure::Measure;
use crate::multiclass::MulticlassMetrics;
use crate::number::{maybe, significant, thousands, weight};
use crate::regression::RegressionMetrics;
use crate::table::Table;

/// Digits shown of a metric.
const DIGITS: usize = 4;

/// Positives below this share are rare: high predictions have a separate table.
const RARE: f64 = 0.1;

/// A confusion matrix of more classes would not fit on a screen.
const MOST_CLASSES_SHOWN: usize = 12;

/// The metrics of a task. In JSON the field `task` says which; undefined metrics are `null`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "task", rename_all = "snake_case")]
pub enum Evaluation {
    /// Two classes.
    Binary(BinaryMetrics),
    /// More classes.
    Multiclass(MulticlassMetrics),
    /// Real labels.
    Regression(RegressionMetrics),
    /// Counts.
    Counts(CountsMetrics),
}

impl Evaluation {
    /// Number of rows that were evaluated.
    pub fn rows(&self) -> u64 {
        match self {
            Self::Binary(m) => m.rows,
            Self::Multiclass(m) => m.rows,
            Self::Regression(m) => m.rows,
            Self::Counts(m) => m.rows,
        }
    }

    /// The mean of the loss that was trained.
    pub fn mean_loss(&self) -> Option<f64> {
        match self {
            Self::Binary(m) => m.mean_loss,
            Self::Multiclass(m) => m.mean_loss,
            Self::Regression(m) => m.mean_loss,
            Self::Counts(m) => m.mean_loss,
        }
    }

    /// Every single-number metric with its name, the most telling first: the columns of a comparison.
    ///
    /// ```
    /// use parsimon_core::Loss;
    /// use parsimon_eval::Evaluator;
    ///
    /// let mut evaluator = Evaluator::new(Loss::Squared);
    /// evaluator.record(1.0, 3.0, 1.0);
    /// let names: Vec<_> = evaluator.finish().metrics().iter().map(|m| m.0).collect();
    /// assert_eq!(names, ["MSE", "RMSE", "MAE", "R2", "bias", "mean label"]);
    /// ```
    pub fn metrics(&self) -> Vec<(&'static str, Option<f64>)> {
        match self {
            Self::Binary(m) => vec![
                reported(m.mean_loss, m.loss_is_half_mse),
                ("log loss", m.log_loss),
                ("base log loss", m.base_log_loss),
                ("AUC", m.auc),
                ("accuracy", m.accuracy),
                ("precision", m.precision),
                ("recall", m.recall),
                ("F1", m.f1),
                ("Brier", m.brier),
                ("calibration error", m.calibration_error),
                ("calibration ratio", m.calibration_ratio),
                ("base rate", m.base_rate),
            ],
            Self::Multiclass(m) => vec![
                ("mean loss", m.mean_loss),
                ("log loss", m.log_loss),
                ("accuracy", m.accuracy),
                ("macro F1", m.macro_f1),
            ],
            Self::Regression(m) => vec![
                reported(m.mean_loss, m.loss_is_half_mse),
                ("RMSE", m.rmse),
                ("MAE", m.mae),
                ("R2", m.r2),
                ("bias", m.bias),
                ("mean label", m.mean_label),
            ],
            Self::Counts(m) => vec![
                ("mean loss", m.mean_loss),
                ("deviance", m.deviance),
                ("D2", m.d2),
                ("RMSE", m.rmse),
                ("MAE", m.mae),
                ("mean predicted", m.mean_predicted),
                ("mean label", m.mean_label),
            ],
        }
    }

    fn total_weight(&self) -> f64 {
        match self {
            Self::Binary(m) => m.weight,
            Self::Multiclass(m) => m.weight,
            Self::Regression(m) => m.weight,
            Self::Counts(m) => m.weight,
        }
    }
}

impl fmt::Display for Evaluation {
    /// A table for a terminal. Undefined metrics are a dash; the importance is shown where it is not simply
    /// the number of rows.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = Table::new(["metric", "value"]).right([1]);
        table.row(["rows".to_owned(), thousands(self.rows())]);
        if self.total_weight() != self.rows() as f64 {
            table.row(["weight".to_owned(), weight(self.total_weight())]);
        }
        for (name, value) in self.metrics() {
            table.row([name.to_owned(), maybe(value, DIGITS)]);
        }
        write!(f, "{table}")?;
        match self {
            Self::Binary(m) => {
                write!(f, "\n{}", decisions(&m.confusion))?;
                if let Some(at) = &m.at_threshold {
                    write!(f, "\n{}\n{}", at_threshold(at), decisions(&at.confusion))?;
                }
                if !m.calibration.is_empty() {
                    write!(f, "\n{}", calibration_table(&m.calibration))?;
                }
                if m.base_rate.is_some_and(|rate| rate < RARE) && !m.reliability.is_empty() {
                    write!(f, "\nin bins of equal width in the log odds\n")?;
                    write!(f, "{}", calibration_table(&m.reliability))?;
                }
                Ok(())
            }
            Self::Multiclass(m) => {
                write!(f, "\n{}", class_table(m))?;
                if m.classes.len() <= MOST_CLASSES_SHOWN {
                    write!(f, "\n{}", confusion_table(m))?;
                }
                Ok(())
            }
            Self::Regression(_) | Self::Counts(_) => Ok(()),
        }
    }
}

/// The mean loss as people read it.
fn reported(mean_loss: Option<f64>, is_half_mse: bool) -> (&'static str, Option<f64>) {
    let loss = if is_half_mse { Loss::Squared } else { Loss::Logistic };
    let measure = Measure::of(loss);
    (measure.name, mean_loss.map(|loss| measure.factor * loss))
}

fn at_threshold(at: &AtThreshold) -> Table {
    let mut table = Table::new(["at threshold", &significant(at.threshold, DIGITS)]).right([1]);
    let metrics = [
        ("accuracy", at.accuracy),
        ("precision", at.precision),
        ("recall", at.recall),
        ("F1", at.f1),
    ];
    for (name, value) in metrics {
        table.row([name.to_owned(), maybe(value, DIGITS)]);
    }
    table
}

fn decisions(c: &Confusion) -> Table {
    let mut table = Table::new(["truth", "predicted negative", "predicted positive"]).right([1, 2]);
    table.row(["negative".to_owned(), weight(c.true_negative), weight(c.false_positive)]);
    table.row(["positive".to_owned(), weight(c.false_negative), weight(c.true_positive)]);
    table
}

fn calibration_table(bins: &[Bin]) -> Table {
    let mut table = Table::new(["predicted", "observed", "gap", "rows"]).right(0..4);
    for bin in bins {
        let gap = significant((bin.observed - bin.predicted).abs(), 2);
        let sign = if bin.observed < bin.predicted { "-" } else { "+" };
        table.row([
            significant(bin.predicted, DIGITS),
            significant(bin.observed, DIGITS),
            format!("{sign}{gap}"),
            thousands(bin.rows),
        ]);
    }
    table
}

fn class_table(m: &MulticlassMetrics) -> Table {
    let mut table = Table::new(["class", "weight", "precision", "recall", "F1"]).right(1..5);
    for class in &m.classes {
        table.row([
            class.name.clone(),
            weight(class.weight),
            maybe(class.precision, DIGITS),
            maybe(class.recall, DIGITS),
            maybe(class.f1, DIGITS),
        ]);
    }
    if m.unknown > 0.0 {
        table.row(["(not known to the model)".to_owned(), weight(m.unknown)]);
    }
    table
}

fn confusion_table(m: &MulticlassMetrics) -> Table {
    let names = || m.classes.iter().map(|class| class.name.clone());
    let header = std::iter::once("truth \\ predicted".to_owned()).chain(names());
    let mut table = Table::new(header).right(1..=m.classes.len());
    for (name, row) in names().zip(&m.confusion) {
        table.row(std::iter::once(name).chain(row.iter().map(|&w| weight(w))));
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluator::Evaluator;
    use crate::multiclass::Multiclass;

    #[test]
    fn binary_in_a_terminal() {
        let mut evaluator = Evaluator::new(Loss::Logistic);
        let rows = [(2.0, 1.0, 1.0), (0.5, -1.0, 2.0), (-0.1, 1.0, 1.0), (-3.0, -1.0, 1.0)];
        for (margin, label, weight) in rows {
            evaluator.record(margin, label, weight);
        }
        assert_eq!(
            evaluator.finish().to_string(),
            "\
metric              value
-----------------  ------
rows                    4
weight                  5
mean loss          0.5736
log loss           0.5736
base log loss      0.6730
AUC                0.6667
accuracy           0.4000
precision          0.3333
recall             0.5000
F1                 0.4000
Brier              0.2134
calibration error  0.3873
calibration ratio   1.324
base rate          0.4000

truth     predicted negative  predicted positive
--------  ------------------  ------------------
negative                   1                   2
positive                   1                   1

predicted  observed     gap  rows
---------  --------  ------  ----
  0.04743         0  -0.047     1
   0.4750     1.000   +0.52     1
   0.6225         0   -0.62     1
   0.8808     1.000   +0.12     1
"
        );
    }

    #[test]
    fn classes_in_a_terminal() {
        let mut multiclass = Multiclass::new(Loss::Hinge, ["cat", "dog"]);
        multiclass.record(&[1.0, -1.0], 0, 1.0);
        multiclass.record(&[1.0, -1.0], 1, 1.0);
        multiclass.record(&[1.0, -1.0], 9, 1.0);
        assert_eq!(
            Evaluation::Multiclass(multiclass.finish()).to_string(),
            "\
metric      value
---------  ------
rows            3
mean loss   2.000
log loss        -
accuracy   0.3333
macro F1   0.3333

class                     weight  precision  recall      F1
------------------------  ------  ---------  ------  ------
cat                            1     0.5000   1.000  0.6667
dog                            1          -       0       0
(not known to the model)       1

truth \\ predicted  cat  dog
-----------------  ---  ---
cat                  1    0
dog                  1    0
"
        );
    }
}

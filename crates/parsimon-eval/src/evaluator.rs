//! Evaluation of scored rows under any loss.

use parsimon_core::{LabelDomain, Loss};

use crate::binary::Binary;
use crate::counts::Counts;
use crate::evaluation::Evaluation;
use crate::regression::Regression;

/// Collects scored rows for the task that a loss implies: two classes, real labels, or counts. For more
/// classes see [`Multiclass`](crate::Multiclass).
///
/// ```
/// use parsimon_core::Loss;
/// use parsimon_eval::{Evaluation, Evaluator};
///
/// let mut evaluator = Evaluator::new(Loss::Logistic);
/// evaluator.record(1.5, 1.0, 1.0); // margin, label, importance
/// evaluator.record(-0.5, -1.0, 1.0);
/// let evaluation = evaluator.finish();
/// assert!(matches!(&evaluation, Evaluation::Binary(metrics) if metrics.auc == Some(1.0)));
///
/// let json = serde_json::to_string(&evaluation).unwrap();
/// assert!(json.starts_with(r#"{"task":"binary","rows":2,"#));
/// assert_eq!(serde_json::from_str::<Evaluation>(&json).unwrap(), evaluation);
/// ```
#[derive(Clone, Debug)]
pub enum Evaluator {
    /// Logistic and hinge losses.
    Binary(Binary),
    /// Squared, Huber and quantile losses.
    Regression(Regression),
    /// Poisson loss.
    Counts(Counts),
}

impl Evaluator {
    /// The collector for models trained with `loss`.
    pub fn new(loss: Loss) -> Self {
        match loss.domain() {
            LabelDomain::Binary => Self::Binary(Binary::new(loss)),
            LabelDomain::Real => Self::Regression(Regression::new(loss)),
            LabelDomain::NonNegative => Self::Counts(Counts::new()),
        }
    }

    /// Counts one row, from its margin `w.x`.
    pub fn record(&mut self, margin: f64, label: f64, weight: f64) {
        match self {
            Self::Binary(binary) => binary.record(margin, label, weight),
            Self::Regression(regression) => regression.record(margin, label, weight),
            Self::Counts(counts) => counts.record(margin, label, weight),
        }
    }

    /// The metrics of all rows.
    pub fn finish(self) -> Evaluation {
        match self {
            Self::Binary(binary) => Evaluation::Binary(binary.finish()),
            Self::Regression(regression) => Evaluation::Regression(regression.finish()),
            Self::Counts(counts) => Evaluation::Counts(counts.finish()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_loss_has_its_task() {
        let task = |loss| Evaluator::new(loss).finish();
        assert!(matches!(task(Loss::SquaredHinge), Evaluation::Binary(_)));
        assert!(matches!(task(Loss::Quantile { tau: 0.5 }), Evaluation::Regression(_)));
        assert!(matches!(task(Loss::Poisson), Evaluation::Counts(_)));
    }

    #[test]
    fn every_task_survives_json() {
        for loss in [Loss::Logistic, Loss::Hinge, Loss::Squared, Loss::Poisson] {
            let mut evaluator = Evaluator::new(loss);
            for i in 0..9 {
                evaluator.record(f64::from(i) / 3.0 - 1.0, f64::from(i % 2), 0.1);
            }
            let evaluation = evaluator.finish();
            let json = serde_json::to_string(&evaluation).unwrap();
            assert_eq!(serde_json::from_str::<Evaluation>(&json).unwrap(), evaluation);
        }
        let empty = Evaluator::new(Loss::Logistic).finish();
        let json = serde_json::to_string(&empty).unwrap();
        assert!(json.contains("\"auc\":null"));
        assert_eq!(serde_json::from_str::<Evaluation>(&json).unwrap(), empty);
    }
}

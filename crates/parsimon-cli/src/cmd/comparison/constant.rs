//! The constant prediction beside the runs: a run that is no better is not recommended.

use parsimon::eval::Evaluation;
use parsimon::settings::LabelDomain;
use parsimon::tune::Sweep;
use serde_json::{Value, json};

use super::choice::{Criterion, metric};

/// The loss of a prediction without features. On the learned rows each is predicted from the labels before it, on the test data
/// all of them from the labels learned.
pub(crate) struct ConstantScore {
    /// The average loss, or share of errors; none where the runs have different losses.
    pub(crate) loss: Option<f64>,
    accuracy: Option<f64>,
    deviation: Option<f64>,
    is_binary: bool,
    pub(crate) test: Option<Evaluation>,
}

impl ConstantScore {
    /// The constant of a sweep, so far without the test data.
    pub(crate) fn of(sweep: &Sweep) -> Option<Self> {
        let first = sweep.constant(0)?;
        let same = (0..sweep.len()).all(|k| sweep.settings(k).loss() == sweep.settings(0).loss());
        let settings = sweep.settings(0);
        let is_multiclass = settings.is_multiclass();
        let loss = first.average().filter(|_| same || is_multiclass);
        let accuracy = match is_multiclass {
            true => loss.map(|errors| 1.0 - errors),
            false => first.constant().accuracy(),
        };
        let is_binary = !is_multiclass && settings.loss().domain() == LabelDomain::Binary;
        let deviation = first.constant().deviation();
        Some(Self { loss, accuracy, deviation, is_binary, test: None })
    }

    /// Cost by the criterion that ranks the runs.
    pub(crate) fn cost(&self, criterion: Criterion) -> Option<f64> {
        let of_test = |name: &str| self.test.as_ref().and_then(|test| metric(test, name));
        let cost = match (criterion, &self.test) {
            // A constant score does not rank rows.
            (Criterion::Auc, _) => Some(0.5),
            (Criterion::Loss | Criterion::Error, None) => self.loss,
            (Criterion::Mse, None) => self.loss.map(|loss| 2.0 * loss),
            (Criterion::Loss, Some(test)) => test.mean_loss(),
            (Criterion::Mse, Some(test)) => test.mean_loss().map(|loss| 2.0 * loss),
            (Criterion::Error, Some(_)) => of_test("accuracy").map(|accuracy| 1.0 - accuracy),
            (Criterion::Rmse, None) => self.deviation,
            (Criterion::Rmse, Some(_)) => of_test("RMSE"),
        };
        cost.filter(|cost| cost.is_finite())
    }

    /// The number of the constant in a column of the table, by the name of the column.
    pub(crate) fn value(&self, column: &str) -> Option<f64> {
        let auc = self.is_binary.then_some(0.5);
        match column.strip_prefix("test ") {
            Some("AUC") => auc,
            Some(name) => self.test.as_ref().and_then(|test| metric(test, name)),
            None => match column {
                "mean loss" if self.accuracy.is_some() && !self.is_binary => None,
                "mean loss" => self.loss,
                "MSE" | "progressive MSE" => self.loss.map(|loss| 2.0 * loss),
                "AUC" => auc,
                "accuracy" => self.accuracy,
                "RMSE" => self.deviation,
                "R2" => self.deviation.map(|_| 0.0),
                name if name.starts_with("progressive ") => self.loss,
                _ => None,
            },
        }
    }

    pub(crate) fn to_json(&self, criterion: Criterion) -> Value {
        json!({"progressive_loss": self.loss, "cost": self.cost(criterion), "test": self.test})
    }
}

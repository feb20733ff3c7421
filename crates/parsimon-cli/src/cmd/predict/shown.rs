//! Conversion of a row's margins to the predictions that are written.

use parsimon::Model;
use parsimon::settings::Loss;

use crate::args::PredictionArg;
use crate::fault::Fault;

/// Shown values of a row.
pub(super) struct Shown {
    what: PredictionArg,
    /// Turns margins into predictions: the logistic loss where margins are calibrated.
    loss: Loss,
    raw: Loss,
    pub(super) classes: Vec<String>,
    is_binary: bool,
    pub(super) is_calibrated: bool,
}

/// A prediction.
pub(super) enum Value<'a> {
    Number(f64),
    Class(&'a str),
    /// One per class.
    Numbers(Vec<f64>),
}

impl Shown {
    pub(super) fn new(model: &Model, what: PredictionArg) -> Result<Self, Fault> {
        let what = match what {
            PredictionArg::Auto if model.is_multiclass() => PredictionArg::Class,
            PredictionArg::Probability if !model.has_probabilities() => {
                let name = model.settings().loss_name();
                return Err(Fault::Usage(format!(
                    "the loss {name} gives no probabilities; use --as margin, or fit probabilities with `parsimon calibrate`"
                )));
            }
            PredictionArg::Class if !model.is_binary() && !model.is_multiclass() => {
                return Err(Fault::Usage("the model predicts numbers, not classes".into()));
            }
            what => what,
        };
        let raw = model.settings().loss();
        let is_calibrated = model.calibration().is_some();
        Ok(Self {
            what,
            loss: if is_calibrated { Loss::Logistic } else { raw },
            raw,
            classes: model.classes(),
            is_binary: model.is_binary(),
            is_calibrated,
        })
    }

    /// Text of a line.
    pub(super) fn value(&self, model: &Model, margins: &[f64]) -> Value<'_> {
        match (self.what, margins) {
            (PredictionArg::Margin, [margin]) => Value::Number(*margin),
            (PredictionArg::Margin, margins) => Value::Numbers(margins.to_vec()),
            (PredictionArg::Class, [margin]) => {
                let positive = calibrated(model, *margin) > 0.0;
                Value::Class(&self.classes[usize::from(positive)])
            }
            (PredictionArg::Class, margins) => Value::Class(&self.classes[best(margins)]),
            (_, [margin]) => Value::Number(self.loss.predict(calibrated(model, *margin))),
            (_, margins) => Value::Numbers(self.shares(margins)),
        }
    }

    /// The prediction without the calibration.
    pub(super) fn raw(&self, margin: f64) -> f64 {
        self.raw.predict(margin)
    }

    /// Whether the prediction of a row is a class.
    pub(super) fn is_class(&self) -> bool {
        self.what == PredictionArg::Class || self.is_multiclass()
    }

    pub(super) fn is_multiclass(&self) -> bool {
        !self.is_binary && !self.classes.is_empty()
    }

    /// Values of the columns of classes.
    pub(super) fn per_class(&self) -> &'static str {
        match self.what != PredictionArg::Margin && self.raw.has_probabilities() {
            true => "probability",
            false => "margin",
        }
    }

    /// The cells of the columns per class.
    pub(super) fn of_classes(&self, margins: &[f64]) -> Vec<f64> {
        if self.per_class() == "margin" { margins.to_vec() } else { self.shares(margins) }
    }

    fn shares(&self, margins: &[f64]) -> Vec<f64> {
        shares(self.raw, margins)
    }

    /// A label as in the data: the text of a class, or `None` for a number.
    pub(super) fn class_of(&self, label: f64) -> Option<&str> {
        let place = if self.is_binary { usize::from(label > 0.0) } else { label as usize };
        self.classes.get(place).map(String::as_str)
    }
}

fn calibrated(model: &Model, margin: f64) -> f64 {
    model.calibration().map_or(margin, |calibrator| calibrator.log_odds(margin))
}

/// Converts the margins of several classes to shares of 1.
pub(crate) fn shares(loss: Loss, margins: &[f64]) -> Vec<f64> {
    loss.probabilities(margins)
}

/// The largest margin; of equal ones the first.
pub(crate) fn best(margins: &[f64]) -> usize {
    (0..margins.len()).fold(0, |b, k| if margins[k] > margins[b] { k } else { b })
}

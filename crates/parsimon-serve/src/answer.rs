//! Margins as what a client reads: predictions, classes, probabilities.

use parsimon::settings::Loss;
use parsimon::{InputSchema, Model, Settings};
use serde::Serialize;

/// Interpretation of the margins of a model.
#[derive(Clone, Debug)]
pub struct Task {
    loss: Loss,
    loss_name: &'static str,
    kind: Kind,
    classes: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Numbers,
    Two,
    Several,
}

/// Prediction for a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Prediction<'a> {
    /// A number: of two classes the probability of the second where the loss gives one, else the margin.
    Number(f64),
    /// A class.
    Class(&'a str),
}

impl Task {
    /// The task of a learner with these settings.
    pub fn new(settings: &Settings, schema: &InputSchema) -> Self {
        let kind = match (settings.is_multiclass(), settings.is_of_two_classes(&schema.found)) {
            (true, _) => Kind::Several,
            (_, true) => Kind::Two,
            _ => Kind::Numbers,
        };
        let classes = settings.class_labels(&schema.found).unwrap_or_default();
        Self { loss: settings.loss(), loss_name: settings.loss_name(), kind, classes }
    }

    /// Like the function above, for a model file, whose margins are log odds if it is calibrated.
    pub fn of(model: &Model) -> Self {
        let task = Self::new(model.settings(), model.schema());
        match model.calibration() {
            Some(_) => Self { loss: Loss::Logistic, ..task },
            None => task,
        }
    }

    /// Number of margins of a row.
    pub fn outputs(&self) -> usize {
        if self.kind == Kind::Several { self.classes.len().max(1) } else { 1 }
    }

    /// The labels of the classes, the negative one of two first; empty if labels are numbers.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// The word of the loss.
    pub fn loss_name(&self) -> &'static str {
        self.loss_name
    }

    /// Whether the loss gives probabilities.
    pub fn has_probabilities(&self) -> bool {
        self.loss.has_probabilities() && self.kind != Kind::Numbers
    }

    /// Returns the prediction for a row with these margins.
    pub fn prediction(&self, margins: &[f64]) -> Prediction<'_> {
        match margins {
            [margin] if self.kind != Kind::Several => {
                Prediction::Number(self.loss.predict(*margin))
            }
            margins => Prediction::Class(self.classes.get(largest(margins)).map_or("", |c| c)),
        }
    }

    /// The likelier class; `None` if labels are numbers.
    pub fn class(&self, margins: &[f64]) -> Option<&str> {
        let place = match (self.kind, margins) {
            (Kind::Numbers, _) => return None,
            (Kind::Two, margins) => usize::from(margins.first().is_some_and(|p| *p > 0.0)),
            (Kind::Several, margins) => largest(margins),
        };
        self.classes.get(place).map(String::as_str)
    }

    /// Returns the index of the largest margin.
    pub(crate) fn best(&self, margins: &[f64]) -> usize {
        largest(&margins[..self.outputs()])
    }

    /// The probability of each class, in the order of [`classes`](Task::classes).
    pub fn probabilities(&self, margins: &[f64]) -> Option<Vec<f64>> {
        if !self.has_probabilities() {
            return None;
        }
        Some(match margins {
            [margin] if self.kind == Kind::Two => {
                let p = self.loss.predict(*margin);
                vec![1.0 - p, p]
            }
            margins => self.loss.probabilities(margins),
        })
    }

    /// Appends the prediction as fields of a JSON object.
    pub fn write(&self, margins: &[f64], out: &mut Vec<u8>) {
        out.extend_from_slice(b"\"prediction\":");
        match self.prediction(margins) {
            Prediction::Number(x) => write_json(out, &x),
            Prediction::Class(class) => write_json(out, class),
        }
        if let (Some(class), Kind::Two) = (self.class(margins), self.kind) {
            out.extend_from_slice(b",\"class\":");
            write_json(out, class);
        }
        if let Some(shares) = self.probabilities(margins) {
            out.extend_from_slice(b",\"probabilities\":{");
            for (k, (class, share)) in self.classes.iter().zip(shares).enumerate() {
                if k > 0 {
                    out.push(b',');
                }
                write_json(out, class);
                out.push(b':');
                write_json(out, &share);
            }
            out.push(b'}');
        }
    }
}

/// Appends a value as JSON; a number that is not finite is null.
pub(crate) fn write_json<T: Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) {
    // Writing into memory does not fail, and neither do texts and numbers.
    let _ = serde_json::to_writer(out, value);
}

/// The position of the largest margin, the first of equals.
fn largest(margins: &[f64]) -> usize {
    (0..margins.len()).fold(0, |best, k| if margins[k] > margins[best] { k } else { best })
}

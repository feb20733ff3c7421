//! Warnings of a training run in words, with what to try.

use parsimon::eval::Measure;
use parsimon::eval::number::{significant, thousands};
use parsimon::train::{Evidence, Reason, Warning};
use parsimon::{Settings, Spec};

/// What the program knows of the command, to say which of its flags to change.
pub(crate) struct Advisor {
    /// How to leave the choice to the program; empty if it has chosen.
    choice: &'static str,
    has_normalize: bool,
    /// The rate, if it can be set and is.
    rate: Option<f64>,
    measure: Measure,
}

impl Advisor {
    pub(crate) fn new(settings: &Settings, names_algorithm: bool) -> Self {
        let usual = Spec::recommended().resolve().ok();
        let drops = names_algorithm && usual.as_ref().is_some_and(Settings::is_normalized);
        let is_auto = settings.algorithm().name == "auto";
        let choice = match (is_auto, drops) {
            (true, _) => "",
            (_, true) => "drop -a to let parsimon choose",
            _ => "-a auto to let parsimon choose",
        };
        let has_normalize = !settings.is_normalized() && !settings.is_kernel();
        let rate = settings.to_json().get("rate").and_then(serde_json::Value::as_f64);
        let measure = super::progressive_measure(settings);
        Self { choice, has_normalize, rate, measure }
    }

    /// The lines to print.
    pub(crate) fn words(&self, warning: &Warning) -> String {
        match warning {
            Warning::WorseThanConstant { behind, reason } => format!(
                "warning: after {} rows the {} is {}; a constant prediction has {}\n{}",
                thousands(behind.rows),
                if self.measure.is_mse() { self.measure.name } else { "loss" },
                significant(self.measure.factor * behind.loss, 6),
                significant(self.measure.factor * behind.constant, 6),
                self.remedy(reason)
            ),
            Warning::Diverged { row, reason } => {
                format!("the weights diverged at row {}\n{}", thousands(*row), self.remedy(reason))
            }
            Warning::Leak { feature, rows, evidence } => {
                let how = match evidence {
                    Evidence::Errors(errors) => format!(
                        "separates the two classes with {} errors in {} rows",
                        thousands(*errors as u64),
                        thousands(*rows)
                    ),
                    Evidence::Correlation(r) => format!(
                        "has a correlation of {r:.4} with the label in {} rows",
                        thousands(*rows)
                    ),
                    _ => "predicts the label".to_owned(),
                };
                format!(
                    "warning: possible leak: {feature:?} alone {how}; leave it out with --ignore if its value is known only after the label"
                )
            }
            _ => String::new(),
        }
    }

    fn remedy(&self, reason: &Reason) -> String {
        let likely = match reason {
            Reason::Magnitude { feature, times } => format!(
                "the values of {feature:?} are {} times larger than those of other features",
                thousands(*times as u64)
            ),
            Reason::LabelScale { typical } => format!(
                "the labels are as large as {}, and predictions begin at 0",
                significant(*typical, 3)
            ),
            Reason::Rate => match self.rate {
                Some(rate) => format!("the rate {rate} is too large for this data"),
                None => "the steps are too large for this data".to_owned(),
            },
            _ => "nothing in the rows predicts the label".to_owned(),
        };
        // Two digits, without zeros at the end.
        let tenth = |rate: f64| significant(rate / 10.0, 2).parse().unwrap_or(rate);
        let smaller = self.rate.map(|rate| format!("--rate {}", tenth(rate)));
        let mut ways: Vec<String> = Vec::new();
        if matches!(reason, Reason::Labels | Reason::Rate) && self.choice.is_empty() {
            ways.push("another order of the rows (--shuffle) if they are sorted".to_owned());
        }
        if *reason == Reason::Labels {
            ways.push("check that the label and the columns are the right ones".to_owned());
            ways.push("--categories COLUMNS if numbers are codes".to_owned());
        }
        ways.extend(self.has_normalize.then(|| "--normalize".to_owned()));
        ways.extend(smaller.filter(|_| *reason == Reason::Rate));
        ways.extend((!self.choice.is_empty()).then(|| self.choice.to_owned()));
        format!("  likely reason: {likely}\n  try: {}", ways.join(", or "))
    }
}

//! Estimate of the loss on new rows.

use parsimon_eval::Evaluation;

use super::{Outcome, Pass, Trainer};

/// The loss of predictions for rows that were not learned before: an estimate of the loss on new rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The loss.
    pub loss: f64,
    /// The loss of a constant on the same rows, where it is known.
    pub constant: Option<f64>,
    /// The rows.
    pub rows: Judged,
}

/// The rows of an [`Estimate`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judged {
    /// All rows, each before it was learned.
    AllRows,
    /// The rows of the first of several passes, each before it was learned.
    FirstPass,
    /// Rows that were held out while settings and the number of passes were chosen.
    Chosen,
    /// The rows that were held out, after the last pass or, with early stopping, the best one.
    Holdout {
        /// The pass.
        pass: u32,
    },
}

impl Estimate {
    /// Estimates the loss after a run.
    pub fn of(trainer: &Trainer, outcome: &Outcome) -> Self {
        let holdout = |pass: &Pass| pass.holdout.as_ref().and_then(Evaluation::mean_loss);
        let held = outcome.kept_pass().and_then(|pass| Some((pass.pass, holdout(pass)?)));
        let first = outcome.passes.first().filter(|_| outcome.passes.len() > 1);
        // The mean loss of several classes is not an error rate.
        let held = held.filter(|_| first.is_some() && !trainer.settings().is_multiclass());
        match (held, first) {
            (Some((pass, loss)), _) => {
                Self { loss, constant: None, rows: Judged::Holdout { pass } }
            }
            (None, Some(first)) => Self {
                loss: first.progressive.unwrap_or(0.0),
                constant: first.constant,
                rows: Judged::FirstPass,
            },
            (None, None) => Self {
                loss: trainer.progressive().average().unwrap_or(0.0),
                constant: trainer.constant_loss(),
                rows: Judged::AllRows,
            },
        }
    }
}

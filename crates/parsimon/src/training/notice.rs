//! Notices of training.

use super::{Behind, Evidence, Hindsight};
use crate::survey::Widening;

/// A fact about a run that the caller should know. Each kind comes once.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Notice {
    /// A cell contradicts the kind of its column. The data is read again from the start, with a wider kind.
    Widened(Widening),
    /// A label is not among those of the first rows. The data is read again from the start, after all labels were inspected.
    MoreLabels {
        /// The name of the input.
        input: String,
        /// The line, or the row.
        line: u64,
        /// The label.
        label: String,
    },
    /// The learner is significantly worse than a constant prediction.
    WorseThanConstant {
        /// The losses, and after how many rows.
        behind: Behind,
        /// The likely reason.
        reason: Reason,
    },
    /// The weights diverged; the run ends.
    Diverged {
        /// The row.
        row: u64,
        /// The likely reason.
        reason: Reason,
    },
    /// One feature predicts the label almost perfectly: it may contain the label.
    Leak {
        /// The feature's name, or its id.
        feature: String,
        /// Rows looked at.
        rows: u64,
        /// Evidence that it predicts the label.
        evidence: Evidence,
    },
    /// The final model has forgotten much of what it learned first: the order of the rows misleads.
    Forgotten {
        /// The losses that show it.
        found: Hindsight,
        /// The rows of the run.
        rows: u64,
        /// Whether the rows are learned again in random order.
        is_repeated: bool,
        /// Whether the rows were shuffled.
        is_shuffled: bool,
    },
    /// Repeating the last label predicts better than the learner does.
    BehindLastLabel {
        /// The progressive loss of the learner, in the order of the rows.
        loss: f64,
        /// The loss of the last label.
        last: f64,
    },
    /// The rows are learned again in random order, in several passes: this is better on rows that were held out.
    SeveralPasses(Evidenced),
    /// The weights that an l1 penalty has kept are fitted again without it: this is better on rows that were held out.
    Refitted(Evidenced),
    /// A remark of the reader about the rows.
    Remark(String),
    /// Malformed rows were skipped.
    Skipped {
        /// The number of rows.
        rows: u64,
        /// The first errors.
        first: Vec<String>,
    },
    /// All rows have the same label.
    OneLabel,
    /// The model is no better than a constant prediction.
    NoBetterThanConstant {
        /// The loss of the model.
        loss: f64,
        /// The loss of the constant.
        constant: f64,
    },
    /// A penalty that counts once was used with many passes, which does not lead to the minimum of the batch problem.
    ManyPasses {
        /// The passes.
        passes: u64,
        /// The name of the method.
        method: &'static str,
    },
    /// Hash slots are shared by several names.
    Collisions {
        /// The number of slots.
        slots: u64,
        /// The number of names.
        names: u64,
    },
}

impl Notice {
    /// Returns the remarks of a reader, and the rows that it skipped.
    pub(crate) fn of_rows(remarks: &[String], skipped: &(u64, Vec<String>)) -> Vec<Self> {
        let mut notices: Vec<Notice> = remarks.iter().cloned().map(Notice::Remark).collect();
        let (rows, first) = skipped;
        if *rows > 0 {
            notices.push(Notice::Skipped { rows: *rows, first: first.clone() });
        }
        notices
    }
}

/// Gain of several passes over one, on rows that no setting had learned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evidenced {
    /// The number of passes.
    pub passes: u32,
    /// The rows that were held out.
    pub rows: u64,
    /// The loss on them after these passes.
    pub loss: f64,
    /// The loss after one pass.
    pub one_pass: f64,
    /// The estimate of the reported measure: the loss, or for several classes the share of errors.
    pub estimate: f64,
}

/// Reasons why a run is likely to be worse than a constant.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Reason {
    /// The values of one feature are far larger than those of the others.
    Magnitude {
        /// The feature's name, or its id.
        feature: String,
        /// Ratio of its values to those of the others.
        times: f64,
    },
    /// Labels are numbers so large that predictions, which begin at 0, have not reached them.
    LabelScale {
        /// The root mean square of the labels.
        typical: f64,
    },
    /// Steps are too large for the data.
    Rate,
    /// Nothing in the rows predicts the label.
    Labels,
}

//! What a run warns of while it goes.

use super::{Behind, Evidence};

/// Something that is probably wrong with a run.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Warning {
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
        /// How well it predicts.
        evidence: Evidence,
    },
}

/// Why a run is likely to be worse than a constant.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Reason {
    /// The values of one feature are far larger than those of the others.
    Magnitude {
        /// The feature's name, or its id.
        feature: String,
        /// How many times larger.
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

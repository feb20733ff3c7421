//! Reports during learning.

use std::fmt;

/// One line of the progress table.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// Rows learned so far.
    pub rows: u64,
    /// The sum of their importance weights.
    pub weight: f64,
    /// The average progressive loss; `None` before the first prediction.
    pub average: Option<f64>,
    /// The average loss of the constant on the same rows, where it is known.
    pub constant: Option<f64>,
    /// The average since the last line.
    pub since_last: Option<f64>,
    /// The last row's label: a number, or the position of a class.
    pub label: f64,
    /// The prediction for the last row.
    pub prediction: f64,
    /// The number of features of the last row.
    pub features: usize,
    /// The number of nonzero weights.
    pub nonzeros: usize,
}

/// The state of one setting of a [`Sweep`](crate::training::Sweep).
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    /// The position of the setting.
    pub setting: usize,
    /// The rows it has learned.
    pub rows: u64,
    /// The average progressive loss.
    pub average: Option<f64>,
    /// The average since the last report.
    pub since_last: Option<f64>,
    /// Nonzero weights now.
    pub nonzeros: usize,
    /// The reason why the setting was stopped, if it was.
    pub stopped: Option<Stopped>,
}

/// Reasons why a setting of a [`Sweep`](crate::training::Sweep) was stopped.
#[derive(Clone, Debug, PartialEq)]
pub enum Stopped {
    /// Other settings are better, or the caller stopped it.
    GivenUp {
        /// The rows it had learned.
        rows: u64,
        /// The reason.
        why: String,
    },
    /// Its weights diverged, or a row had a feature beyond its dimension.
    Failed(String),
}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stopped::GivenUp { rows, why } => write!(f, "given up after {rows} rows: {why}"),
            Stopped::Failed(why) => f.write_str(why),
        }
    }
}

//! Input and output of a method: a stream of rows, and the weights and losses it produces.

/// One row: features, label, importance weight.
#[derive(Clone, Debug, PartialEq)]
pub struct Example {
    /// Nonzero features, sorted by index, each index once and below the stream's dimension.
    pub x: Vec<(usize, f64)>,
    /// The label: -1 or 1 for classification, a number for regression, a count for Poisson, a position for classes; NaN
    /// where there is none.
    pub y: f64,
    /// The importance weight; it multiplies the loss.
    pub weight: f64,
}

impl Example {
    /// Whether the row is learned: it has a label and counts.
    pub(crate) fn is_learned(&self) -> bool {
        self.weight > 0.0 && !self.y.is_nan()
    }
}

/// Rows in the order they arrive.
#[derive(Clone, Debug, PartialEq)]
pub struct Stream {
    /// Number of slots a weight vector has; index 0 may be unused.
    pub dimension: usize,
    /// The rows.
    pub examples: Vec<Example>,
}

/// The result of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The margins `p = w.x + b`, each made before the row was learned.
    pub margins: Vec<f64>,
    /// The weights a user reads at the end, `dimension` of them.
    pub weights: Vec<f64>,
    /// The bias a user reads at the end; zero when there is none.
    pub bias: f64,
}

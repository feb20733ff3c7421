//! Execution of reading: threads, and the early end.

use crate::Stop;

/// How reading runs. Rows do not depend on it.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Number of parser threads; with 0 or 1 the calling thread parses. At most four for each core are started, and a warning of
    /// the reader says so.
    pub threads: usize,
    /// Ends reading early; `None` reads to the end.
    pub stop: Option<Stop>,
}

impl Default for Run {
    fn default() -> Self {
        Self { threads: 1, stop: None }
    }
}

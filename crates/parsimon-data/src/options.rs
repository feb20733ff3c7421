//! The four parts of how inputs are read.

use crate::{Ask, Bounds, DataError, Labels, Reading, Run};

/// How inputs are read: the four parts that a [`Reader`](crate::Reader) needs. Each part converts to options with the defaults of
/// the others.
///
/// ```
/// use parsimon_data::{Bounds, Labels, Options, Reading};
///
/// let options = Options::from(Reading { labels: Labels::Real, ..Reading::default() });
/// let small = Options { bounds: Bounds { chunk_rows: 16, ..Bounds::default() }, ..options.clone() };
/// assert_eq!(small.reading, options.reading);
/// assert_ne!(small, options);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// The reading of rows.
    pub reading: Reading,
    /// Wishes of the caller beside rows.
    pub ask: Ask,
    /// Bounds of what is read.
    pub bounds: Bounds,
    /// Threads, and the early end.
    pub run: Run,
}

impl Options {
    pub(crate) fn check(&self) -> Result<(), DataError> {
        self.reading.check()?;
        self.bounds.check()
    }

    /// The largest magnitude of a cell in a number column. A learner that keeps number columns apart standardizes them in `f64`,
    /// whatever its own precision is; products of columns are made before that.
    pub(crate) fn max_cell(&self) -> f64 {
        let is_standardized = self.reading.numbers_apart && self.reading.interactions.is_empty();
        if is_standardized { self.widest() } else { self.bounds.max_value }
    }

    /// The largest magnitude of a label, which such a learner standardizes as well.
    pub(crate) fn max_label(&self) -> f64 {
        let mut labels = &self.reading.labels;
        while let Labels::Optional(inner) = labels {
            labels = inner;
        }
        match labels {
            Labels::Any => self.widest(),
            Labels::Real if self.reading.numbers_apart => self.widest(),
            _ => self.bounds.max_value,
        }
    }

    fn widest(&self) -> f64 {
        self.bounds.max_value.max(Bounds::default().max_value)
    }
}

impl From<Reading> for Options {
    fn from(reading: Reading) -> Self {
        Self { reading, ..Self::default() }
    }
}

impl From<Ask> for Options {
    fn from(ask: Ask) -> Self {
        Self { ask, ..Self::default() }
    }
}

impl From<Bounds> for Options {
    fn from(bounds: Bounds) -> Self {
        Self { bounds, ..Self::default() }
    }
}

impl From<Run> for Options {
    fn from(run: Run) -> Self {
        Self { run, ..Self::default() }
    }
}

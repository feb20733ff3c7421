//! What can go wrong, with words that help.

use std::path::PathBuf;

use parsimon_data::DataError;

/// A setting that cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct BuildError {
    parameter: String,
    message: String,
}

impl BuildError {
    pub(crate) fn new(parameter: impl Into<String>, message: impl Into<String>) -> Self {
        Self { parameter: parameter.into(), message: message.into() }
    }

    /// The setting at fault.
    pub fn parameter(&self) -> &str {
        &self.parameter
    }
}

/// A file of ours that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{}: {message}", path.display())]
pub struct FormatError {
    path: PathBuf,
    message: String,
    source: Option<std::io::Error>,
}

impl FormatError {
    pub(crate) fn new(path: impl Into<PathBuf>, message: impl Into<String>) -> Self {
        Self { path: path.into(), message: message.into(), source: None }
    }

    /// The error of the system, where the file could not be read or written.
    pub fn io_error(&self) -> Option<&std::io::Error> {
        self.source.as_ref()
    }
}

impl From<parsimon_files::Error> for FormatError {
    fn from(error: parsimon_files::Error) -> Self {
        let (path, message) =
            (error.path().into(), format!("{}: {}", error.doing(), error.io_error()));
        Self { path, message, source: Some(error.into_io_error()) }
    }
}

/// Anything a run can fail with.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A setting is wrong.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The data is wrong.
    #[error(transparent)]
    Data(#[from] DataError),
    /// One of our files is wrong.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// The learner left the numbers.
    #[error(
        "the weights grew beyond all bounds at row {row}; lower the rate or scale the features"
    )]
    Diverged {
        /// The row whose prediction was no longer a finite number, counted from 1.
        row: u64,
    },
    /// The number of features was fixed, and there are more.
    #[error(
        "feature {feature} is one more than the {dimension} features declared by dimension; say a larger dimension"
    )]
    TooManyFeatures {
        /// The first feature without a place.
        feature: u32,
        /// How many there may be.
        dimension: u64,
    },
    /// Not one row could be learned.
    #[error("no row was learned: every row was skipped, held out or without a label")]
    NothingLearned,
    /// A request that makes no sense.
    #[error("{0}")]
    Usage(String),
}

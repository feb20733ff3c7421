//! What can go wrong: kinds for programs, messages for people.

use std::io;
use std::path::{Path, PathBuf};

use parsimon_data::DataError;
use parsimon_files::container::ContainerError;

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

/// A model, checkpoint or delta that cannot be read or written.
///
/// ```
/// use std::path::Path;
///
/// use parsimon::{FormatErrorKind, Model};
///
/// let error = Model::load(Path::new("nowhere.psm")).unwrap_err();
/// assert_eq!(error.kind(), FormatErrorKind::Io(std::io::ErrorKind::NotFound));
/// assert_eq!(error.path(), Path::new("nowhere.psm"));
/// assert_eq!(Model::from_bytes(b"hello").unwrap_err().kind(), FormatErrorKind::NotOurs);
/// ```
#[derive(Debug, thiserror::Error)]
#[error("{}: {}", path.display(), refusal.message)]
pub struct FormatError {
    path: PathBuf,
    refusal: Refusal,
}

/// The kind of a [`FormatError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FormatErrorKind {
    /// The file could not be opened, read, written or renamed.
    Io(io::ErrorKind),
    /// The bytes are not a file of parsimon.
    NotOurs,
    /// The file was not written completely, or its checksum does not match.
    Damaged,
    /// The layout is of a version this program does not read.
    Version,
    /// A file of another kind: a model instead of a checkpoint, say.
    WrongFile,
    /// The file is whole, and its contents are not understood: settings of another version, for example.
    Contents,
}

/// Why bytes are refused, before it is known which file they are from.
#[derive(Debug)]
pub(crate) struct Refusal {
    kind: FormatErrorKind,
    message: String,
    source: Option<io::Error>,
}

impl Refusal {
    pub(crate) fn new(kind: FormatErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), source: None }
    }

    /// The system refused; `doing` is what the file could not be.
    pub(crate) fn io(doing: &str, source: io::Error) -> Self {
        let message = format!("{doing}: {source}");
        Self { kind: FormatErrorKind::Io(source.kind()), message, source: Some(source) }
    }
}

impl From<String> for Refusal {
    fn from(message: String) -> Self {
        Self::new(FormatErrorKind::Contents, message)
    }
}

impl FormatError {
    pub(crate) fn new(path: impl Into<PathBuf>, refusal: impl Into<Refusal>) -> Self {
        Self { path: path.into(), refusal: refusal.into() }
    }

    /// The kind of error.
    pub fn kind(&self) -> FormatErrorKind {
        self.refusal.kind
    }

    /// The file; of bytes in memory, words for them such as `the model`.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The error of the system, where there was one.
    pub fn io_error(&self) -> Option<&io::Error> {
        self.refusal.source.as_ref()
    }
}

impl From<ContainerError> for Refusal {
    fn from(error: ContainerError) -> Self {
        let kind = match error {
            ContainerError::NotOurs => FormatErrorKind::NotOurs,
            ContainerError::CutShort | ContainerError::Damaged => FormatErrorKind::Damaged,
            ContainerError::Version(_) => FormatErrorKind::Version,
            ContainerError::Kind { .. } => FormatErrorKind::WrongFile,
            _ => FormatErrorKind::Contents,
        };
        Self::new(kind, error.to_string())
    }
}

impl From<parsimon_files::Error> for FormatError {
    fn from(error: parsimon_files::Error) -> Self {
        let (path, doing) = (error.path().to_owned(), error.doing());
        Self { path, refusal: Refusal::io(doing, error.into_io_error()) }
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
    /// More memory is needed than the budget has ([`memory`](crate::memory)).
    #[error("{0}")]
    Memory(String),
    /// Not one row could be learned.
    #[error("no row was learned: every row was skipped, held out or without a label")]
    NothingLearned,
    /// The data is not what the model is for.
    #[error("{0}")]
    Unknown(String),
    /// A request that makes no sense.
    #[error("{0}")]
    Usage(String),
}

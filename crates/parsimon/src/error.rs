//! Errors: a kind for programs and a message for people.
//!
//! [`Error`] is what training returns. It wraps the errors of its parts: [`BuildError`] of settings, [`FormatError`] of models and
//! checkpoints, [`DataError`] of data. Programs decide by kind; messages may change between versions.
//!
//! ```
//! use parsimon::error::{Error, FormatError, FormatErrorKind};
//! use parsimon::{Model, Spec};
//!
//! fn load() -> Result<Model, Error> {
//!     Ok(Model::from_bytes(b"not a model")?)
//! }
//! match load() {
//!     Err(Error::Format(error)) => {
//!         let error: FormatError = error;
//!         assert_eq!(error.kind(), FormatErrorKind::NotOurs);
//!     }
//!     other => panic!("{other:?}"),
//! }
//! assert_eq!(Spec::new("ftlr").resolve().unwrap_err().parameter(), "algorithm");
//! ```

use std::io;
use std::path::{Path, PathBuf};

use parsimon_data::{DataError, Door, Message, Remedy};
use parsimon_files::container::ContainerError;

/// A setting with a value that is not accepted, or a combination of settings that is not accepted.
///
/// ```
/// use parsimon::Spec;
///
/// let error = Spec::new("ftrl").set("rate", 0.0).resolve().unwrap_err();
/// assert_eq!(error.parameter(), "rate");
/// assert_eq!(error.to_string(), "rate must be a finite number > 0, got 0.0");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct BuildError {
    parameter: String,
    message: Message,
}

impl BuildError {
    pub(crate) fn new(parameter: impl Into<String>, message: impl Into<Message>) -> Self {
        Self { parameter: parameter.into(), message: message.into() }
    }

    /// The setting at fault.
    pub fn parameter(&self) -> &str {
        &self.parameter
    }

    /// The fault, with its remedies.
    pub fn message(&self) -> &Message {
        &self.message
    }
}

/// A model, checkpoint or delta that cannot be read or written.
///
/// ```
/// use std::path::Path;
///
/// use parsimon::Model;
/// use parsimon::error::FormatErrorKind;
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
    /// A file of another kind, such as a model where a checkpoint was expected.
    WrongFile,
    /// The file is complete, but its contents cannot be used: for example, settings of another version.
    Contents,
}

/// Reason why bytes are refused, before their file is known.
#[derive(Debug)]
pub(crate) struct Refusal {
    kind: FormatErrorKind,
    message: Message,
    source: Option<io::Error>,
}

impl Refusal {
    pub(crate) fn new(kind: FormatErrorKind, message: impl Into<Message>) -> Self {
        Self { kind, message: message.into(), source: None }
    }

    /// The system refused the operation `doing`.
    pub(crate) fn io(doing: &str, source: io::Error) -> Self {
        let mut message = Message::new(format!("{doing}: {}", parsimon_files::in_words(&source)));
        if source.kind() == io::ErrorKind::OutOfMemory {
            message = message.or(Remedy::RaiseMemory(None));
        }
        Self { kind: FormatErrorKind::Io(source.kind()), message, source: Some(source) }
    }
}

impl From<String> for Refusal {
    fn from(message: String) -> Self {
        Self::new(FormatErrorKind::Contents, message)
    }
}

impl From<Message> for Refusal {
    fn from(message: Message) -> Self {
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

    /// The path of the file. For bytes in memory, a description such as `the model`.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The error of the operating system, if there was one.
    pub fn io_error(&self) -> Option<&io::Error> {
        self.refusal.source.as_ref()
    }

    /// The fault, with its remedies.
    pub fn message(&self) -> &Message {
        &self.refusal.message
    }

    /// The error as its text shows it, with the names that a door has for settings.
    pub fn words(&self, door: &dyn Door) -> String {
        format!("{}: {}", self.path.display(), self.refusal.message.words(door))
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

/// Every error that training, prediction and merging return.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A setting is wrong.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The data is wrong.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A model, checkpoint or delta is wrong.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// The weights diverged.
    #[error("the weights diverged at row {row}; lower the rate or scale the features")]
    Diverged {
        /// The row whose prediction was no longer a finite number, counted from 1.
        row: u64,
    },
    /// A feature exceeds the dimension that the settings fixed.
    #[error("feature {feature} exceeds dimension {dimension}; pass a larger dimension")]
    TooManyFeatures {
        /// The first feature without a place.
        feature: u32,
        /// The dimension.
        dimension: u64,
    },
    /// The memory budget is exhausted ([`memory`](parsimon_files::memory)).
    #[error("{0}")]
    Memory(Message),
    /// The data has no row to learn.
    #[error("no row was learned: every row was skipped, held out or has no label")]
    NothingLearned,
    /// The model does not have the features of the data.
    #[error("{0}")]
    Unknown(Message),
    /// The arguments contradict each other.
    #[error("{0}")]
    Usage(Message),
}

impl Error {
    /// Arguments that contradict each other.
    pub(crate) fn usage(message: impl Into<Message>) -> Self {
        Self::Usage(message.into())
    }

    /// Possible reactions to the error.
    pub fn remedies(&self) -> &[Remedy] {
        match self {
            Error::Build(error) => error.message().remedies(),
            Error::Data(error) => error.message().remedies(),
            Error::Format(error) => error.message().remedies(),
            Error::Memory(message) | Error::Unknown(message) | Error::Usage(message) => {
                message.remedies()
            }
            Error::NothingLearned => &[Remedy::CheckRows],
            Error::Diverged { .. } | Error::TooManyFeatures { .. } => &[],
        }
    }

    /// The error as its text shows it, with the names that a door has for settings.
    pub fn words(&self, door: &dyn Door) -> String {
        match self {
            Error::Build(error) => error.message().words(door),
            Error::Data(error) => error.words(door),
            Error::Format(error) => error.words(door),
            Error::Memory(message) | Error::Unknown(message) | Error::Usage(message) => {
                message.words(door)
            }
            Error::NothingLearned => {
                Message::new(self.to_string()).or(Remedy::CheckRows).words(door)
            }
            Error::Diverged { .. } | Error::TooManyFeatures { .. } => self.to_string(),
        }
    }
}

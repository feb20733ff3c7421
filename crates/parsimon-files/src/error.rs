//! Why a file could not be read or written: a kind for programs, one line for people.

use std::io;
use std::path::{Path, PathBuf};

/// Why a file could not be read or written.
///
/// A program matches [`kind`](Self::kind). The message names the file and what failed; it is for people and may change.
#[derive(Debug, thiserror::Error)]
#[error("{}: {doing}: {}", path.display(), in_words(source))]
pub struct Error {
    path: PathBuf,
    doing: &'static str,
    kind: ErrorKind,
    source: io::Error,
}

/// The kind of an [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The file or its folder does not exist.
    NotFound,
    /// The file, its folder or its file system may not be written, or the file may not be read.
    Permission,
    /// A directory is where a file should be.
    Directory,
    /// A file of this name exists and must not be replaced.
    Exists,
    /// An output is the same file as an input or another output.
    SameFile,
    /// The disk or the quota is full.
    NoSpace,
    /// Any other error of the system.
    Io(io::ErrorKind),
}

impl From<io::ErrorKind> for ErrorKind {
    fn from(kind: io::ErrorKind) -> Self {
        match kind {
            io::ErrorKind::NotFound => Self::NotFound,
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => Self::Permission,
            io::ErrorKind::IsADirectory => Self::Directory,
            io::ErrorKind::AlreadyExists => Self::Exists,
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::NoSpace,
            other => Self::Io(other),
        }
    }
}

/// Operations on a file that can fail.
pub(crate) const WRITTEN: &str = "cannot be written";
pub(crate) const READ: &str = "cannot be read";

impl Error {
    pub(crate) fn new(path: &Path, doing: &'static str, source: io::Error) -> Self {
        Self { path: path.into(), doing, kind: source.kind().into(), source }
    }

    /// A refusal of ours instead of the system's.
    pub(crate) fn refused(path: &Path, kind: io::ErrorKind, why: impl Into<String>) -> Self {
        Self::new(path, WRITTEN, io::Error::new(kind, why.into()))
    }

    pub(crate) fn same_file(path: &Path, why: String) -> Self {
        let refused = Self::refused(path, io::ErrorKind::InvalidInput, why);
        Self { kind: ErrorKind::SameFile, ..refused }
    }

    /// The kind of error.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The file, as the caller named it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The failed operation, for example "cannot be written".
    pub fn doing(&self) -> &'static str {
        self.doing
    }

    /// The error of the operating system, or a refusal in its form. The message does not name the file.
    pub fn io_error(&self) -> &io::Error {
        &self.source
    }

    /// Returns the underlying error, for error types that name the file themselves.
    pub fn into_io_error(self) -> io::Error {
        self.source
    }
}

/// The message of the system without its number: "no such file or directory", not "No such file or directory (os error 2)".
pub fn in_words(error: &io::Error) -> String {
    let text = error.to_string();
    let Some(code) = error.raw_os_error() else { return text };
    let words = text.strip_suffix(&format!(" (os error {code})")).unwrap_or(&text);
    let mut letters = words.chars();
    // An abbreviation such as "RPC" keeps its capitals.
    match (letters.next(), letters.clone().next()) {
        (Some(first), Some(second)) if second.is_lowercase() => {
            first.to_lowercase().chain(letters).collect()
        }
        _ => words.to_owned(),
    }
}

/// Keeps the kind and the whole message.
impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        io::Error::new(error.source.kind(), error)
    }
}

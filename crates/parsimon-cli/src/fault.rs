//! Errors that end the program, with their exit codes.

use std::io;
use std::path::Path;
use std::process::ExitCode;

use parsimon::data::{DataError, DataErrorKind};
use parsimon::error::FormatError;
use parsimon::workspace::{Message, Remedy};
use parsimon::{BuildError, Error};
use parsimon_files::ErrorKind;

use crate::flags::Flags;
use crate::interrupt;

/// A reason to stop.
#[derive(Debug)]
pub(crate) enum Fault {
    /// Something is wrong with the data or a file: exit code 1.
    Input(String),
    /// Something is wrong with the command: exit code 2.
    Usage(String),
    /// The reader of the output has closed it: a success.
    BrokenPipe,
    /// A signal ended the work.
    Interrupted(String),
}

impl Fault {
    pub(crate) fn report(self) -> ExitCode {
        let (message, code) = match self {
            Fault::Input(message) => (message, 1),
            Fault::Usage(message) => (message, 2),
            Fault::BrokenPipe => return ExitCode::SUCCESS,
            Fault::Interrupted(message) => {
                crate::console::note(&format!("{}: {message}", interrupt::cause()));
                return ExitCode::from(interrupt::exit_code());
            }
        };
        crate::console::complain(&message);
        ExitCode::from(code)
    }

    /// A file that cannot be written or read.
    #[cfg(any(feature = "lab", feature = "serve"))]
    pub(crate) fn file(path: &Path, error: &io::Error) -> Self {
        match named(error) {
            Some(error) => Fault::Input(with_near(error.to_string(), error.io_error(), path)),
            None => {
                let message = format!("{}: {}", path.display(), parsimon_files::in_words(error));
                Fault::Input(with_near(message, error, path))
            }
        }
    }
}

/// Returns the message. For a missing file it suggests a file with a similar name.
fn with_near(message: String, error: &io::Error, path: &Path) -> String {
    match near(path).filter(|_| error.kind() == io::ErrorKind::NotFound) {
        Some(near) => format!("{message}; did you mean {near}?"),
        None => message,
    }
}

/// Returns the file in the same folder whose name differs by a typing error.
fn near(path: &Path) -> Option<String> {
    let asked = path.file_name()?.to_str()?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let entries = std::fs::read_dir(folder.unwrap_or(Path::new("."))).ok()?;
    // A folder of a million files is not worth the wait.
    let names = entries.take(10_000).filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let names: Vec<String> = names.filter(|name| !name.starts_with('.')).collect();
    let near = parsimon_data::nearest(asked, names.iter().map(String::as_str))?;
    Some(path.with_file_name(near).display().to_string())
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        match error {
            Error::Build(_) | Error::Usage(_) => Fault::Usage(error.words(&Flags)),
            Error::Data(error) => error.into(),
            Error::Format(error) => error.into(),
            Error::Diverged { .. }
            | Error::TooManyFeatures { .. }
            | Error::Memory(_)
            | Error::NothingLearned
            | Error::Unknown(_) => Fault::Input(error.words(&Flags)),
        }
    }
}

impl From<BuildError> for Fault {
    fn from(error: BuildError) -> Self {
        Fault::Usage(error.message().words(&Flags))
    }
}

impl From<DataError> for Fault {
    fn from(error: DataError) -> Self {
        match error.kind() {
            DataErrorKind::Stopped => {
                Fault::Interrupted("no row was learned, nothing was saved".into())
            }
            _ => Fault::Input(match error.io_error() {
                Some(source) => with_near(error.words(&Flags), source, Path::new(error.name())),
                None => error.words(&Flags),
            }),
        }
    }
}

impl From<FormatError> for Fault {
    fn from(error: FormatError) -> Self {
        Fault::Input(match error.io_error() {
            Some(source) => with_near(error.words(&Flags), source, error.path()),
            None => error.words(&Flags),
        })
    }
}

/// Writing to a file or a pipe.
impl From<parsimon_files::Error> for Fault {
    fn from(error: parsimon_files::Error) -> Self {
        match error.kind() {
            ErrorKind::Io(io::ErrorKind::BrokenPipe) => Fault::BrokenPipe,
            ErrorKind::Io(io::ErrorKind::OutOfMemory) => {
                let message = Message::new(error.to_string()).or(Remedy::RaiseMemory(None));
                Fault::Input(message.words(&Flags))
            }
            _ => Fault::Input(with_near(error.to_string(), error.io_error(), error.path())),
        }
    }
}

/// Writing to an [`Output`](crate::output::Output).
impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        match (error.kind(), named(&error)) {
            (io::ErrorKind::BrokenPipe, _) => Fault::BrokenPipe,
            (_, Some(error)) => Fault::Input(error.to_string()),
            (_, None) => Fault::Input(format!("cannot write: {error}")),
        }
    }
}

/// The error that names the file, where a file was written.
fn named(error: &io::Error) -> Option<&parsimon_files::Error> {
    error.get_ref()?.downcast_ref()
}

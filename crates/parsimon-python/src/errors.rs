//! Errors as Python's exceptions: the one place where a kind becomes a class.

use std::io;
use std::path::Path;

use parsimon::Error;
use parsimon::data::{DataError, DataErrorKind};
use parsimon::workspace::{Door, Setting};
use pyo3::exceptions::{PyMemoryError, PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};

/// Python: settings are keywords. Python has no keyword for the settings of a run of the program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keywords;

impl Door for Keywords {
    fn setting(&self, setting: Setting, value: Option<&str>) -> Option<String> {
        let keyword = match setting {
            Setting::LabelColumn => "label",
            Setting::WeightColumn => "weight",
            Setting::Bits
            | Setting::Categories
            | Setting::ClassWeight
            | Setting::Classes
            | Setting::Dimension
            | Setting::Format
            | Setting::Header
            | Setting::Ignore
            | Setting::Keep
            | Setting::Loss
            | Setting::Missing
            | Setting::Ngrams
            | Setting::Normalize
            | Setting::Numbers
            | Setting::Switch
            | Setting::Texts => setting.name(),
            _ => return None,
        };
        Some(match value {
            None => keyword.to_owned(),
            Some("present") => format!("{keyword}=True"),
            Some(number) if number.parse::<f64>().is_ok() => format!("{keyword}={number}"),
            Some(text) => format!("{keyword}={text:?}"),
        })
    }
}

/// An error of the library as Python knows it.
pub(crate) fn raised(error: impl Into<Error>) -> PyErr {
    let error = error.into();
    // Rows are learned without the interpreter, and errors are rare.
    Python::attach(|py| exception(py, &error)).unwrap_or_else(|failure| failure)
}

fn exception(py: Python<'_>, error: &Error) -> PyResult<PyErr> {
    let message = error.words(&Keywords);
    let (file, source) = match error {
        Error::Diverged { row } => return diverged(py, &message, *row),
        Error::Memory(_) => return Ok(PyMemoryError::new_err(message)),
        Error::Build(e) if e.parameter() == "memory" => {
            return Ok(PyMemoryError::new_err(message));
        }
        Error::Data(e) if e.kind() == DataErrorKind::Memory => {
            return Ok(PyMemoryError::new_err(message));
        }
        Error::Data(e) if e.is_bad_row() => return bad_row(py, &message, e),
        Error::Data(e) => (e.path().unwrap_or(Path::new(e.name())), e.io_error()),
        Error::Format(e) => (e.path(), e.io_error()),
        _ => return Ok(PyValueError::new_err(message)),
    };
    if source.is_some_and(|e| e.kind() == io::ErrorKind::OutOfMemory) {
        return Ok(PyMemoryError::new_err(message));
    }
    match source.and_then(errno) {
        Some(errno) => os_error(py, errno, file),
        // Bytes that could be read and make no sense, such as a compressed stream cut short.
        None => Ok(PyValueError::new_err(message)),
    }
}

/// The exception for weights that have diverged, in these words.
pub(crate) fn diverged(py: Python<'_>, message: &str, row: u64) -> PyResult<PyErr> {
    let details = PyDict::new(py);
    details.set_item("row", row)?;
    new(diverged_class(py)?, message, &details)
}

/// The system's number for an error; `None` for errors that are not from the system.
fn errno(error: &io::Error) -> Option<i32> {
    match error.kind() {
        io::ErrorKind::NotFound => Some(2),
        io::ErrorKind::PermissionDenied => Some(13),
        io::ErrorKind::AlreadyExists => Some(17),
        io::ErrorKind::NotADirectory => Some(20),
        io::ErrorKind::IsADirectory => Some(21),
        _ => error.raw_os_error(),
    }
}

/// Python chooses the subclass by the number: 2 is a `FileNotFoundError`.
fn os_error(py: Python<'_>, errno: i32, file: &Path) -> PyResult<PyErr> {
    let words = py.import("os")?.getattr("strerror")?.call1((errno,))?;
    let arguments = (errno, words, file.as_os_str());
    Ok(PyErr::from_value(py.get_type::<PyOSError>().call1(arguments)?))
}

fn bad_row(py: Python<'_>, message: &str, error: &DataError) -> PyResult<PyErr> {
    let details = PyDict::new(py);
    details.set_item("row", error.line())?;
    details.set_item("column", error.column())?;
    details.set_item("field", error.field())?;
    details.set_item("path", error.path().map(Path::as_os_str))?;
    details.set_item("token", error.token())?;
    new(bad_row_class(py)?, message, &details)
}

fn new(class: &Bound<'_, PyType>, message: &str, details: &Bound<'_, PyDict>) -> PyResult<PyErr> {
    Ok(PyErr::from_value(class.call((message,), Some(details))?))
}

fn bad_row_class(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    CLASS.import(py, "parsimon._errors", "BadRowError")
}

fn diverged_class(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    CLASS.import(py, "parsimon._errors", "DivergedError")
}

/// Rows, labels or weights handed over by Python that are refused. Rows and columns count from 0.
#[derive(Debug, Default)]
pub(crate) struct BadInput {
    message: String,
    row: Option<usize>,
    column: Option<usize>,
    field: Option<String>,
}

impl BadInput {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), ..Self::default() }
    }

    pub(crate) fn at_row(self, row: usize) -> Self {
        Self { row: Some(row), ..self }
    }

    pub(crate) fn at(self, row: usize, column: usize) -> Self {
        Self { row: Some(row), column: Some(column), ..self }
    }

    /// The feature at fault.
    pub(crate) fn in_field(self, field: String) -> Self {
        Self { field: Some(field), ..self }
    }

    /// Puts words after the message.
    pub(crate) fn and(mut self, words: &str) -> Self {
        self.message.push_str(words);
        self
    }
}

impl From<BadInput> for PyErr {
    fn from(bad: BadInput) -> Self {
        Python::attach(|py| {
            if bad.row.is_none() && bad.field.is_none() {
                return Ok(PyValueError::new_err(bad.message));
            }
            let details = PyDict::new(py);
            details.set_item("row", bad.row)?;
            details.set_item("column", bad.column)?;
            details.set_item("field", bad.field)?;
            new(bad_row_class(py)?, &bad.message, &details)
        })
        .unwrap_or_else(|failure: PyErr| failure)
    }
}

/// Gives a bad row of a list its index.
pub(crate) fn at_row(py: Python<'_>, error: PyErr, row: usize) -> PyErr {
    let placed = || {
        let value = error.value(py);
        if value.is_instance(bad_row_class(py)?)? {
            value.setattr("row", row)?;
        }
        value.setattr("args", (format!("row {row}: {}", value.str()?),))
    };
    placed().err().unwrap_or(error)
}

/// Errors while rows of Python are learned.
pub(crate) enum Trouble {
    Input(BadInput),
    Learning(Error),
    /// A bug, in its words.
    Panic(String),
}

impl From<BadInput> for Trouble {
    fn from(bad: BadInput) -> Self {
        Trouble::Input(bad)
    }
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Trouble::Learning(error)
    }
}

impl From<Trouble> for PyErr {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Input(bad) => bad.into(),
            Trouble::Learning(error) => raised(error),
            Trouble::Panic(words) => crate::guard::internal(&words),
        }
    }
}

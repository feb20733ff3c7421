//! The last line of defence: a panic becomes an exception that `except Exception` catches.
//!
//! PyO3 raises `PanicException`, which is no `Exception`. Nothing here is known to panic; what does is a bug, and the message asks for a report.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// Runs work that should not panic. What it leaves behind when it does, the caller puts in order.
pub(crate) fn guarded<T>(work: impl FnOnce() -> T) -> PyResult<T> {
    caught(work).map_err(|words| internal(&words))
}

/// The exception for a panic.
pub(crate) fn internal(words: &str) -> PyErr {
    PyRuntimeError::new_err(format!("internal error, please report it: {words}"))
}

/// Runs the call with the interpreter released, so that other Python threads can run.
pub(crate) fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    py.detach(|| guarded(work))
}

/// The words of a panic instead of the panic.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| words(&*panic))
}

fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("a panic without words").to_owned()
}

/// Panics, for the tests of the package.
#[pyfunction]
pub(crate) fn _panic(py: Python<'_>, words: &str) -> PyResult<()> {
    detached(py, || {
        assert!(words.is_empty(), "{words}");
    })
}

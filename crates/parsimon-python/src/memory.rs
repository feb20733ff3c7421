//! The memory budget.

use parsimon::memory;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Sets the budget of the process: a number of bytes, or a text such as "4GB".
#[pyfunction]
pub(crate) fn set_memory_budget(amount: &Bound<'_, PyAny>) -> PyResult<()> {
    let text = amount.str()?.to_string();
    let bytes = parsimon::workspace::parse_amount(&text).map_err(PyValueError::new_err)?;
    memory::set_budget(bytes);
    Ok(())
}

/// The budget of the process in bytes.
#[pyfunction]
pub(crate) fn memory_budget() -> u64 {
    memory::budget()
}

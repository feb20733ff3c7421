//! Contributions of workers, for engines that transport bytes: differences of states, their sums, and the resulting state.

use parsimon::merge::{Delta, merge_deltas as merge};
use parsimon::{Error, Trainer};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::raised;
use crate::guard::detached;

/// Returns the change of a learner between two checkpoints, cut into `slices` slices.
#[pyfunction]
#[pyo3(signature = (start, end, combine="damped", slices=1))]
pub(crate) fn delta<'py>(
    py: Python<'py>,
    start: &[u8],
    end: &[u8],
    combine: &str,
    slices: u32,
) -> PyResult<Vec<Bound<'py, PyBytes>>> {
    let combine = combine.parse().map_err(PyValueError::new_err)?;
    let deltas = detached(py, || {
        let (start, end) = (Trainer::from_checkpoint(start)?, Trainer::from_checkpoint(end)?);
        let deltas = Delta::between(&start, &end, combine, slices)?;
        Ok::<_, Error>(deltas.iter().map(Delta::to_bytes).collect::<Vec<_>>())
    })?;
    Ok(deltas.map_err(raised)?.iter().map(|bytes| PyBytes::new(py, bytes)).collect())
}

/// The deltas of one slice added up, in their order.
#[pyfunction]
pub(crate) fn merge_deltas<'py>(
    py: Python<'py>,
    deltas: Vec<Bound<'py, PyBytes>>,
) -> PyResult<Bound<'py, PyBytes>> {
    let deltas: Vec<&[u8]> = deltas.iter().map(PyBytesMethods::as_bytes).collect();
    let sum = detached(py, || {
        let deltas =
            deltas.iter().map(|bytes| Delta::from_bytes(bytes)).collect::<Result<_, _>>()?;
        Ok::<_, Error>(merge(deltas)?.to_bytes())
    })?;
    Ok(PyBytes::new(py, &sum.map_err(raised)?))
}

/// The state with all slices of a merge added to it. They are asked for one at a time.
#[pyfunction]
pub(crate) fn absorb<'py>(
    py: Python<'py>,
    state: &[u8],
    slices: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyBytes>> {
    let mut trainer = detached(py, || Trainer::from_checkpoint(state))?.map_err(raised)?;
    let mut failed = None;
    let read = |item: PyResult<Bound<'py, PyAny>>| -> PyResult<Delta> {
        Delta::from_bytes(item?.cast::<PyBytes>()?.as_bytes()).map_err(raised)
    };
    let deltas = slices.try_iter()?.map_while(|item| read(item).map_err(|e| failed = Some(e)).ok());
    let absorbed = trainer.absorb(deltas);
    if let Some(error) = failed {
        return Err(error);
    }
    absorbed.map_err(raised)?;
    Ok(PyBytes::new(py, &trainer.checkpoint()))
}

/// The slice of a delta and their number, how many learners and rows are in it, and how many coordinates changed.
#[pyfunction]
pub(crate) fn about_delta(delta: &[u8]) -> PyResult<(u32, u32, u64, u64, usize)> {
    let delta = Delta::from_bytes(delta).map_err(raised)?;
    let (slice, slices) = delta.slice();
    Ok((slice, slices, delta.learners(), delta.rows(), delta.coordinates()))
}

/// Refuses a state whose method cannot be merged, with the reason.
#[pyfunction]
pub(crate) fn check_mergeable(state: &[u8]) -> PyResult<()> {
    Trainer::from_checkpoint(state).and_then(|t| t.check_mergeable()).map_err(raised)
}

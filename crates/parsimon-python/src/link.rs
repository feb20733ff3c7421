//! Predictions from margins, for arrays.

use numpy::{PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn, PyUntypedArrayMethods};
use parsimon::settings::{Link, Loss};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Returns the predictions at margins under a loss: probabilities, mean counts, or the margins themselves. By softmax, the last axis of
/// several dimensions are the classes of a row.
#[pyfunction]
pub(crate) fn link<'py>(
    py: Python<'py>,
    loss: &str,
    margins: PyReadonlyArrayDyn<'py, f64>,
) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
    let link = match Loss::ALL.iter().find(|known| known.word() == loss) {
        Some(known) => known.link(),
        // Conditions on a row, which the projections have instead of a loss.
        None if ["projection", "halfspace"].contains(&loss) => Link::Identity,
        None => return Err(PyValueError::new_err(format!("there is no loss {loss:?}"))),
    };
    let predictions = PyArrayDyn::<f64>::zeros(py, margins.shape(), false);
    let mut slots = predictions.readwrite();
    if loss == Loss::Softmax.word() && margins.ndim() > 1 {
        let margins = margins.as_array();
        for (row, mut of_row) in margins.rows().into_iter().zip(slots.as_array_mut().rows_mut()) {
            let probabilities = Loss::Softmax.probabilities(&row.to_vec());
            of_row.iter_mut().zip(probabilities).for_each(|(slot, p)| *slot = p);
        }
        drop(slots);
        return Ok(predictions);
    }
    for (slot, margin) in slots.as_array_mut().iter_mut().zip(margins.as_array().iter()) {
        *slot = link.apply(*margin);
    }
    drop(slots);
    Ok(predictions)
}

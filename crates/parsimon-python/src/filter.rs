//! Adaptive filters, sample by sample.

use std::sync::{Mutex, PoisonError};

use numpy::{PyArray1, PyReadonlyArray1};
use parsimon::Spec;
use parsimon::filter::{Filter as Adaptive, Regularization};
use parsimon::workspace::StateWriter;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::PyBytes;

use crate::errors::raised;
use crate::guard::detached;

/// Samples filtered between two looks at the interpreter.
const BLOCK: usize = 4096;

/// Spec, taps, relative part of the normalizer, state.
type Pickled<'py> = (String, usize, f64, Bound<'py, PyBytes>);

/// A filter with its delay line.
#[pyclass(module = "parsimon._parsimon")]
pub(crate) struct Filter {
    inner: Mutex<Box<dyn Adaptive<f64>>>,
    spec: String,
    taps: usize,
    relative: f64,
}

#[pymethods]
impl Filter {
    /// A filter at rest.
    #[new]
    fn new(spec: String, taps: usize, relative: f64) -> PyResult<Self> {
        let settings = Spec::from_json(&spec).and_then(|s| s.for_signals().resolve());
        let filter = settings
            .and_then(|s| s.filter::<f64>(taps, Regularization { relative }))
            .map_err(raised)?;
        Ok(Self { inner: Mutex::new(filter), spec, taps, relative })
    }

    /// Filters and adapts: the residual, observed minus predicted. Samples that are no numbers are refused before the first.
    fn push<'py>(
        &self,
        py: Python<'py>,
        reference: PyReadonlyArray1<'py, f64>,
        observed: PyReadonlyArray1<'py, f64>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let (x, d) = (reference.as_slice()?, observed.as_slice()?);
        if x.len() != d.len() {
            let message = format!("x has {} samples and d {}", x.len(), d.len());
            return Err(PyValueError::new_err(message));
        }
        for (name, samples) in [("x", x), ("d", d)] {
            if let Some(t) = samples.iter().position(|v| !v.is_finite()) {
                return Err(PyValueError::new_err(format!("{name} is no number at sample {t}")));
            }
        }
        let mut filter = self.lock(py);
        let mut residual = Vec::with_capacity(x.len());
        for (x, d) in x.chunks(BLOCK).zip(d.chunks(BLOCK)) {
            let (filter, residual) = (&mut *filter, &mut residual);
            detached(py, || residual.extend_from_slice(filter.push(x, d)))?;
            py.check_signals()?;
        }
        Ok(PyArray1::from_vec(py, residual))
    }

    /// The coefficients, the newest sample's first.
    #[getter]
    fn weights<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, self.lock(py).taps())
    }

    /// Takes other coefficients.
    fn set_weights(&self, py: Python<'_>, weights: PyReadonlyArray1<'_, f64>) -> PyResult<()> {
        let weights = weights.as_slice()?;
        if weights.len() != self.taps || weights.iter().any(|w| !w.is_finite()) {
            let message = format!("{} finite weights are wanted", self.taps);
            return Err(PyValueError::new_err(message));
        }
        self.lock(py).set_taps(weights);
        Ok(())
    }

    /// Number of times that the filter diverged and restarted from zero.
    #[getter]
    fn resets(&self, py: Python<'_>) -> u64 {
        self.lock(py).resets()
    }

    /// Everything needed to continue, bit for bit.
    fn state<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let mut state = StateWriter::new();
        self.lock(py).save(&mut state);
        PyBytes::new(py, state.as_bytes())
    }

    /// Restores a state from `state`.
    fn restore(&self, py: Python<'_>, state: &[u8]) -> PyResult<()> {
        let mut input = state;
        match self.lock(py).restore(&mut input) {
            Ok(()) if input.is_empty() => Ok(()),
            Ok(()) => Err(PyValueError::new_err("the state does not belong to this filter")),
            Err(e) => {
                let message = format!("the state does not belong to this filter: {e}");
                Err(PyValueError::new_err(message))
            }
        }
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Pickled<'py>)> {
        let rebuild = slf.py().import("parsimon._filter")?.getattr("_revive_filter")?;
        let filter = slf.borrow();
        let state = filter.state(slf.py());
        Ok((rebuild, (filter.spec.clone(), filter.taps, filter.relative, state)))
    }
}

impl Filter {
    fn lock<'a>(&'a self, py: Python<'_>) -> std::sync::MutexGuard<'a, Box<dyn Adaptive<f64>>> {
        // A filter is in a valid state after every block, even if the thread panicked.
        self.inner.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }
}

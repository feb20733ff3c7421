//! Progress of a long call, reported to Python.

use std::time::{Duration, Instant};

use pyo3::prelude::*;

/// Calls a function of Python with the rows since the last call and the loss, ten times a second at most.
pub(crate) struct Tick {
    call: Option<Py<PyAny>>,
    last: Instant,
    rows: usize,
}

impl Tick {
    pub(crate) fn new(call: Option<Bound<'_, PyAny>>) -> Self {
        Self { call: call.map(Bound::unbind), last: Instant::now(), rows: 0 }
    }

    /// Counts `rows` more rows; `loss` is computed only when it is reported.
    pub(crate) fn rows(
        &mut self,
        py: Python<'_>,
        rows: usize,
        loss: impl FnOnce() -> Option<f64>,
    ) -> PyResult<()> {
        self.rows += rows;
        if self.last.elapsed() < Duration::from_millis(100) {
            return Ok(());
        }
        self.report(py, loss())
    }

    /// Reports what has not been reported yet.
    pub(crate) fn finish(&mut self, py: Python<'_>, loss: Option<f64>) -> PyResult<()> {
        self.report(py, loss)
    }

    fn report(&mut self, py: Python<'_>, loss: Option<f64>) -> PyResult<()> {
        if let Some(call) = &self.call {
            call.call1(py, (std::mem::take(&mut self.rows), loss))?;
            self.last = Instant::now();
        }
        Ok(())
    }
}

//! Progress of a long call, reported to Python.

use std::time::{Duration, Instant};

use pyo3::prelude::*;

/// Calls a function of Python with the rows since the last call and the loss, ten times a second at most.
pub(crate) struct Tick<'py> {
    call: Option<Bound<'py, PyAny>>,
    last: Instant,
    rows: usize,
}

impl<'py> Tick<'py> {
    pub(crate) fn new(call: Option<Bound<'py, PyAny>>) -> Self {
        Self { call, last: Instant::now(), rows: 0 }
    }

    /// So many rows more; `loss` is computed only when it is reported.
    pub(crate) fn rows(&mut self, rows: usize, loss: impl FnOnce() -> Option<f64>) -> PyResult<()> {
        self.rows += rows;
        if self.last.elapsed() < Duration::from_millis(100) {
            return Ok(());
        }
        self.report(loss())
    }

    /// Reports what has not been reported yet.
    pub(crate) fn finish(&mut self, loss: Option<f64>) -> PyResult<()> {
        self.report(loss)
    }

    fn report(&mut self, loss: Option<f64>) -> PyResult<()> {
        if let Some(call) = &self.call {
            call.call1((std::mem::take(&mut self.rows), loss))?;
            self.last = Instant::now();
        }
        Ok(())
    }
}

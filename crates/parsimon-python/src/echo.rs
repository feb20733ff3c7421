//! The echo canceller: samples that are played and samples that are recorded, each at their own times.

use std::sync::{Mutex, MutexGuard, PoisonError};

use numpy::{PyArray1, PyReadonlyArray1};
use parsimon_audio::{AudioError, Config, Duplex};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::guard::detached;

/// Samples for Python.
type Samples<'py> = Bound<'py, PyArray1<f32>>;

/// A canceller with its queue. The lock is taken without the interpreter, so that two callbacks may call from two threads.
#[pyclass(module = "parsimon._parsimon")]
pub(crate) struct Echo {
    inner: Mutex<Duplex>,
}

#[pymethods]
impl Echo {
    /// A canceller at rest.
    #[new]
    #[pyo3(signature = (rate, *, taps, delay, search, suppress, high_pass, drift, speakers, microphones))]
    #[expect(clippy::too_many_arguments, reason = "each is a keyword")]
    fn new(
        rate: u32,
        taps: Option<usize>,
        delay: usize,
        search: f32,
        suppress: bool,
        high_pass: bool,
        drift: bool,
        speakers: usize,
        microphones: usize,
    ) -> PyResult<Self> {
        let mut config = Config { delay, search, suppress, high_pass, drift, ..Config::at(rate) };
        if let Some(taps) = taps {
            (config.taps, config.growth) = (taps, 1);
        }
        let duplex = Duplex::with_channels(config, speakers, microphones).map_err(refused)?;
        Ok(Self { inner: Mutex::new(duplex) })
    }

    /// Takes samples that are played.
    fn play(&self, py: Python<'_>, samples: PyReadonlyArray1<'_, f32>) -> PyResult<()> {
        let samples = samples.as_slice()?;
        detached(py, || self.lock().play(samples))
    }

    /// Takes samples of the microphone; as many without the echo, and the linear output beside them.
    fn record<'py>(
        &self,
        py: Python<'py>,
        samples: PyReadonlyArray1<'py, f32>,
    ) -> PyResult<(Samples<'py>, Samples<'py>)> {
        let samples = samples.as_slice()?;
        let (clean, linear) = detached(py, || {
            let mut duplex = self.lock();
            let clean = duplex.record(samples).to_vec();
            (clean, duplex.linear().to_vec())
        })?;
        Ok((PyArray1::from_vec(py, clean), PyArray1::from_vec(py, linear)))
    }

    /// Starts over with the same settings.
    fn reset(&self, py: Python<'_>) -> PyResult<()> {
        detached(py, || self.lock().reset())?.map_err(refused)
    }

    /// Samples by which the output is late.
    #[getter]
    fn latency(&self, py: Python<'_>) -> PyResult<usize> {
        detached(py, || self.lock().latency())
    }

    /// The estimated echo path of the first microphone.
    #[getter]
    fn echo_path<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f32>>> {
        let path = detached(py, || self.lock().canceller().echo_path())?;
        Ok(PyArray1::from_vec(py, path))
    }

    /// The status, by name.
    fn status<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let status = PyDict::new(py);
        let (fields, counts, flags, warning) = detached(py, || {
            let duplex = self.lock();
            let canceller = duplex.canceller();
            let (rate, counts) = (f64::from(canceller.config().rate), canceller.status());
            (
                [
                    ("erle_db", canceller.recent_erle().map(f64::from)),
                    ("delay_ms", Some(1000.0 * canceller.delay() / rate)),
                    ("drift_ppm", Some(canceller.drift_ppm())),
                ],
                [
                    ("frames", counts.samples),
                    ("waiting", duplex.waiting() as u64),
                    ("missing", duplex.missing()),
                    ("dropped", duplex.dropped()),
                    ("not_finite", counts.not_finite),
                ],
                [("double_talk", canceller.double_talk())],
                duplex.warning().map(|warning| warning.to_string()),
            )
        })?;
        for (name, value) in fields {
            status.set_item(name, value)?;
        }
        for (name, value) in counts {
            status.set_item(name, value)?;
        }
        for (name, value) in flags {
            status.set_item(name, value)?;
        }
        status.set_item("warning", warning)?;
        Ok(status)
    }

    /// Everything needed to go on, bit for bit.
    fn state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = detached(py, || self.lock().save())?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Takes what `state` gave.
    fn restore(&self, py: Python<'_>, state: &[u8]) -> PyResult<()> {
        let restored = detached(py, || Duplex::restore(state))?.map_err(refused)?;
        detached(py, || *self.lock() = restored)
    }
}

impl Echo {
    fn lock(&self) -> MutexGuard<'_, Duplex> {
        // A canceller is in a valid state after every block, even if the thread panicked.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn refused(error: AudioError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

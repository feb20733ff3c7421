//! A trainer behind a lock, fed with arrays.

use std::path::PathBuf;
use std::sync::Mutex;

use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use parsimon::core::{Chunk, Frozen, LabelDomain};
use parsimon::data::{Names, Space};
use parsimon::{Frame, Reading, Spec, Storage, Trainer};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyBytes, PyDict, PyList};

use crate::dict::push_dict;
use crate::presentation::Presentation;
use crate::raised;
use crate::rows::{Rows, copy_row, with_rows};

/// Rows learned between two looks at the interpreter: Ctrl-C is heard here, and the model is whole.
const BLOCK: usize = 1024;

/// Indices and weights of one class, and its bias.
type Head<'py> = (f64, Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<f64>>);

/// Learns from arrays and dictionaries; everything about classes and frames is left to Python.
///
/// Labels are -1 and 1 for two classes, positions for several, numbers else.
#[pyclass(module = "parsimon._parsimon")]
pub(crate) struct Learner {
    inner: Mutex<Inner>,
}

struct Inner {
    trainer: Trainer,
    chunk: Chunk,
    names: Names,
}

/// One row, where it comes from and what it weighs.
type Showing = (usize, f64);

impl Inner {
    fn new(trainer: Trainer) -> Self {
        Self { trainer, chunk: Chunk::new(), names: Names::default() }
    }

    fn limit(&self) -> f64 {
        self.trainer.frame().precision.max_value()
    }

    /// Everything that can be wrong with labels and weights, before anything is learned.
    fn check(
        &self,
        rows: &dyn Rows,
        labels: &[f64],
        weights: Option<&[f64]>,
    ) -> Result<(), String> {
        let n = rows.len();
        if labels.len() != n || weights.is_some_and(|w| w.len() != n) {
            return Err(format!(
                "X has {n} rows, y {} and the weights {}",
                labels.len(),
                weights.map_or(n, <[f64]>::len)
            ));
        }
        rows.check(self.limit())?;
        let (settings, limit) = (self.trainer.settings(), self.limit());
        let counts =
            !settings.flag("multiclass") && settings.loss().domain() == LabelDomain::NonNegative;
        let bad = |y: &f64| !(y.abs() <= limit && (!counts || *y >= 0.0));
        if let Some(i) = labels.iter().position(bad) {
            let wanted = if counts { "a finite number >= 0" } else { "a finite number" };
            return Err(format!("y must be {wanted}, got {} at row {i}", spelled(labels[i])));
        }
        let bad = |w: &f64| !(w.is_finite() && *w >= 0.0);
        match weights.and_then(|w| Some((w, w.iter().position(bad)?))) {
            Some((w, i)) => Err(format!(
                "sample_weight must be a finite number >= 0, got {} at row {i}",
                spelled(w[i])
            )),
            None => Ok(()),
        }
    }

    fn learn(
        &mut self,
        rows: &dyn Rows,
        labels: &[f64],
        block: impl Iterator<Item = Showing>,
    ) -> PyResult<()> {
        self.chunk.clear();
        for (i, weight) in block {
            copy_row(rows, i, Some(labels[i]), weight, &mut self.chunk)
                .map_err(PyValueError::new_err)?;
        }
        self.trainer.learn(&self.chunk, &mut |_| {}).map_err(raised)
    }

    fn margins(
        &mut self,
        rows: &dyn Rows,
        block: std::ops::Range<usize>,
        margins: &mut Vec<f64>,
    ) -> Result<(), String> {
        self.chunk.clear();
        for i in block {
            copy_row(rows, i, None, 1.0, &mut self.chunk)?;
        }
        self.trainer.online().predict(&self.chunk, margins);
        Ok(())
    }

    fn settle_names(&mut self) {
        self.trainer.note_names(std::mem::take(&mut self.names));
    }
}

fn spelled(x: f64) -> String {
    if x.is_nan() { "NaN".into() } else { x.to_string() }
}

fn fail(message: String) -> PyErr {
    PyValueError::new_err(message)
}

#[pymethods]
impl Learner {
    /// A learner at the origin. `bits` is for rows with named features, hashed; without it features are ids.
    #[new]
    #[pyo3(signature = (spec, *, precision="f64", bias=true, classes=Vec::new(), bits=None))]
    fn new(
        spec: &str,
        precision: &str,
        bias: bool,
        classes: Vec<String>,
        bits: Option<u8>,
    ) -> PyResult<Self> {
        let build = |e: parsimon::BuildError| fail(e.to_string());
        let settings = Spec::from_json(spec).and_then(|s| s.resolve()).map_err(build)?;
        let precision = precision.parse().map_err(fail)?;
        if bits.is_some_and(|b| !(1..=31).contains(&b)) {
            return Err(fail("bits must be a whole number from 1 to 31".into()));
        }
        // A learner fed row by row meets few of the slots: they are not laid out before they are met.
        let storage = if bits.is_some() { Storage::Index } else { Storage::Growing };
        let reading = Reading { bits, classes, ..Reading::default() };
        let trainer =
            Trainer::new(settings, Frame { precision, bias, storage }, reading).map_err(build)?;
        Ok(Self { inner: Mutex::new(Inner::new(trainer)) })
    }

    /// Learns the rows in their order. Whatever is refused is refused before the first row is learned.
    #[pyo3(signature = (x, y, weights=None))]
    fn learn(
        &self,
        py: Python<'_>,
        x: &Bound<'_, PyAny>,
        y: PyReadonlyArray1<'_, f64>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<()> {
        let labels = y.as_slice()?;
        let weights = weights.as_ref().map(|w| w.as_slice()).transpose()?;
        with_rows(x, |rows| {
            let mut inner = lock(py, &self.inner)?;
            let inner = &mut *inner;
            py.detach(|| inner.check(rows, labels, weights)).map_err(fail)?;
            for start in (0..rows.len()).step_by(BLOCK) {
                let block = start..rows.len().min(start + BLOCK);
                let showings = block.map(|i| (i, weights.map_or(1.0, |w| w[i])));
                py.detach(|| inner.learn(rows, labels, showings))?;
                py.check_signals()?;
            }
            Ok(())
        })
    }

    /// Learns the set of rows in `passes` passes, in an order that depends on the rows and the seed only.
    ///
    /// Returns the passes completed and, when the weights grew beyond all bounds, what happened: the learner is then
    /// as it was before that pass.
    #[pyo3(signature = (x, y, weights, passes, seed))]
    fn fit(
        &self,
        py: Python<'_>,
        x: &Bound<'_, PyAny>,
        y: PyReadonlyArray1<'_, f64>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        passes: u64,
        seed: Option<u64>,
    ) -> PyResult<(u64, Option<String>)> {
        let labels = y.as_slice()?;
        let weights = weights.as_ref().map(|w| w.as_slice()).transpose()?;
        with_rows(x, |rows| {
            let mut inner = lock(py, &self.inner)?;
            let inner = &mut *inner;
            py.detach(|| inner.check(rows, labels, weights)).map_err(fail)?;
            let set = match seed {
                Some(_) => {
                    Some(py.detach(|| Presentation::new(rows, labels, weights)).map_err(fail)?)
                }
                None => None,
            };
            for pass in 0..passes {
                let before = py.detach(|| inner.trainer.checkpoint());
                let order = match (&set, seed) {
                    (Some(set), Some(seed)) => py.detach(|| set.pass(seed, pass)),
                    _ => (0..rows.len()).map(|i| (i, weights.map_or(1.0, |w| w[i]))).collect(),
                };
                for block in order.chunks(BLOCK) {
                    let learned = py.detach(|| inner.learn(rows, labels, block.iter().copied()));
                    match learned {
                        Err(e) if e.is_instance_of::<crate::DivergedError>(py) => {
                            inner.trainer = Trainer::from_checkpoint(&before).map_err(raised)?;
                            return Ok((pass, Some(e.value(py).to_string())));
                        }
                        other => other?,
                    }
                    py.check_signals()?;
                }
            }
            Ok((passes, None))
        })
    }

    /// The margins of every row, one per class.
    fn margins<'py>(
        &self,
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        with_rows(x, |rows| {
            let mut inner = lock(py, &self.inner)?;
            let inner = &mut *inner;
            let (limit, heads) = (inner.limit(), inner.trainer.online().heads());
            py.detach(|| rows.check(limit)).map_err(fail)?;
            let mut margins = Vec::with_capacity(rows.len() * heads);
            for start in (0..rows.len()).step_by(BLOCK) {
                let block = start..rows.len().min(start + BLOCK);
                py.detach(|| inner.margins(rows, block, &mut margins)).map_err(fail)?;
                py.check_signals()?;
            }
            PyArray1::from_vec(py, margins).reshape([rows.len(), heads])
        })
    }

    /// Learns one row, a dictionary.
    #[pyo3(signature = (row, label, weight=1.0))]
    fn learn_one(
        &self,
        py: Python<'_>,
        row: &Bound<'_, PyDict>,
        label: f64,
        weight: f64,
    ) -> PyResult<()> {
        let mut inner = lock(py, &self.inner)?;
        let Inner { trainer, chunk, names } = &mut *inner;
        chunk.clear();
        push_one(trainer, chunk, Some(names), row, Some(label), weight)?;
        // PERF: a row is learned in less time than it takes to hand the interpreter over.
        trainer.learn(chunk, &mut |_| {}).map_err(raised)
    }

    /// Learns several rows, as [`learn_one`] in a loop would; all are looked at before the first is learned.
    #[pyo3(signature = (rows, labels, weights=None))]
    fn learn_many(
        &self,
        py: Python<'_>,
        rows: &Bound<'_, PyList>,
        labels: PyReadonlyArray1<'_, f64>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<()> {
        let labels = labels.as_slice()?;
        let weights = weights.as_ref().map(|w| w.as_slice()).transpose()?;
        if labels.len() != rows.len() || weights.is_some_and(|w| w.len() != rows.len()) {
            return Err(fail(format!("X has {} rows and y {}", rows.len(), labels.len())));
        }
        let mut inner = lock(py, &self.inner)?;
        let Inner { trainer, chunk, names } = &mut *inner;
        chunk.clear();
        for (i, row) in rows.iter().enumerate() {
            let weight = weights.map_or(1.0, |w| w[i]);
            push_one(trainer, chunk, Some(names), row.cast::<PyDict>()?, Some(labels[i]), weight)?;
        }
        py.detach(|| trainer.learn(chunk, &mut |_| {})).map_err(raised)
    }

    /// The margins of one row, one per class.
    fn margins_one(&self, py: Python<'_>, row: &Bound<'_, PyDict>) -> PyResult<Vec<f64>> {
        let mut inner = lock(py, &self.inner)?;
        let Inner { trainer, chunk, .. } = &mut *inner;
        chunk.clear();
        push_one(trainer, chunk, None, row, None, 1.0)?;
        let mut margins = Vec::new();
        trainer.online().predict(chunk, &mut margins);
        Ok(margins)
    }

    /// Per class the bias, the ids and the weights that are not zero; `None` where there are no weights.
    fn weights<'py>(&self, py: Python<'py>) -> PyResult<Option<Vec<Head<'py>>>> {
        let inner = lock(py, &self.inner)?;
        Ok(heads(py, &inner.trainer.online().freeze()))
    }

    /// The weights that are not zero.
    #[getter]
    fn nonzeros(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(lock(py, &self.inner)?.trainer.online().nonzeros())
    }

    /// Rows learned.
    #[getter]
    fn rows(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(lock(py, &self.inner)?.trainer.progressive().rows())
    }

    /// The average loss of the predictions made before learning.
    #[getter]
    fn progressive_loss(&self, py: Python<'_>) -> PyResult<Option<f64>> {
        Ok(lock(py, &self.inner)?.trainer.progressive().average())
    }

    /// The settings after defaults, as JSON.
    #[getter]
    fn settings(&self, py: Python<'_>) -> PyResult<String> {
        let inner = lock(py, &self.inner)?;
        Ok(serde_json::Value::from(inner.trainer.settings().to_json().clone()).to_string())
    }

    /// The bits of hashed names; `None` where features are ids.
    #[getter]
    fn bits(&self, py: Python<'_>) -> PyResult<Option<u8>> {
        Ok(lock(py, &self.inner)?.trainer.reading().bits)
    }

    /// Whether there is a bias, and the precision.
    #[getter]
    fn frame(&self, py: Python<'_>) -> PyResult<(bool, String)> {
        let frame = lock(py, &self.inner)?.trainer.frame();
        Ok((frame.bias, frame.precision.to_string()))
    }

    /// The classes the learner was told, as texts.
    #[getter]
    fn classes(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        Ok(lock(py, &self.inner)?.trainer.reading().classes.clone())
    }

    /// Takes the columns' names, for the model file.
    fn name_columns(&self, py: Python<'_>, columns: Vec<String>) -> PyResult<()> {
        let mut inner = lock(py, &self.inner)?;
        for (id, name) in (1..Space::LARGEST_ID).zip(&columns) {
            inner.names.insert(id, name);
        }
        Ok(())
    }

    /// Writes a model file.
    fn save_model(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let mut inner = lock(py, &self.inner)?;
        inner.settle_names();
        inner.trainer.model().save(&path).map_err(|e| fail(e.to_string()))
    }

    /// Writes a checkpoint file.
    fn save_checkpoint(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let mut inner = lock(py, &self.inner)?;
        inner.settle_names();
        inner.trainer.save_checkpoint(&path).map_err(|e| fail(e.to_string()))
    }

    /// Reads a checkpoint file.
    #[staticmethod]
    fn resume(path: PathBuf) -> PyResult<Self> {
        let trainer = Trainer::resume(&path).map_err(raised)?;
        Ok(Self { inner: Mutex::new(Inner::new(trainer)) })
    }

    /// A checkpoint's bytes.
    fn checkpoint<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let mut inner = lock(py, &self.inner)?;
        inner.settle_names();
        Ok(PyBytes::new(py, &inner.trainer.checkpoint()))
    }

    /// A learner from a checkpoint's bytes.
    #[staticmethod]
    fn from_checkpoint(bytes: &[u8]) -> PyResult<Self> {
        let trainer = Trainer::from_checkpoint(bytes).map_err(raised)?;
        Ok(Self { inner: Mutex::new(Inner::new(trainer)) })
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        // Pickle finds functions of Python by their names, static methods of ours it does not.
        let rebuild = slf.py().import("parsimon._base")?.getattr("_revive")?;
        Ok((rebuild, (slf.borrow().checkpoint(slf.py())?,)))
    }
}

/// Per head the bias, the ids and the weights.
pub(crate) fn heads<'py>(py: Python<'py>, frozen: &Frozen) -> Option<Vec<Head<'py>>> {
    let parts = |head: &parsimon::core::Head| {
        let indices = PyArray1::from_slice(py, head.indices());
        (head.bias(), indices, PyArray1::from_slice(py, head.weights()))
    };
    frozen.dictionary().is_none().then(|| frozen.heads().iter().map(parts).collect())
}

fn push_one(
    trainer: &Trainer,
    chunk: &mut Chunk,
    names: Option<&mut Names>,
    row: &Bound<'_, PyDict>,
    label: Option<f64>,
    weight: f64,
) -> PyResult<()> {
    let limit = trainer.frame().precision.max_value();
    push_dict(chunk, names, row, trainer.reading().bits, label, weight, limit)
}

fn lock<'a>(py: Python<'_>, inner: &'a Mutex<Inner>) -> PyResult<std::sync::MutexGuard<'a, Inner>> {
    let broken = |_| {
        PyValueError::new_err("an earlier call failed in the middle of learning; load or fit again")
    };
    inner.lock_py_attached(py).map_err(broken)
}

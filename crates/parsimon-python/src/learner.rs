//! The class `Learner` of Python: a trainer behind a lock.

use std::path::PathBuf;
use std::sync::Mutex;

use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use parsimon::data::Space;
use parsimon::settings::{Link, Storage};
use parsimon::survey::{columns_in_words, schema_to_json};
use parsimon::workspace::{ColumnMoments, Frozen};
use parsimon::{InputSchema, LearnerOptions, Spec, Trainer};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::dict::NamedRows;
use crate::errors::raised;
use crate::guard::guarded;
use crate::inner::{Inner, lock, lock_to_learn};
use crate::learn_tables::Training;
use crate::notices::{Warning, warning};
use crate::rows::with_rows;
use crate::table::{Table, needed};
use crate::tick::Tick;
use crate::{learn_arrays, learn_dicts, learn_tables};

/// A learner, warnings as kinds and words, and an exception.
type Trained = (Option<Learner>, Vec<Warning>, Option<Py<PyAny>>, usize);

/// Indices and weights of one class, and its bias.
type Head<'py> = (f64, Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<f64>>);

/// Learns from arrays and dictionaries; everything about classes and frames is left to Python.
///
/// Labels are -1 and 1 for two classes, positions for several, numbers else.
#[pyclass(module = "parsimon._parsimon")]
pub(crate) struct Learner {
    inner: Mutex<Inner>,
}

impl From<Trainer> for Learner {
    fn from(trainer: Trainer) -> Self {
        Self { inner: Mutex::new(Inner::new(trainer)) }
    }
}

fn fail(message: String) -> PyErr {
    PyValueError::new_err(message)
}

/// Margins as an array with one row per row and one column per head.
fn by_row<'py>(
    py: Python<'py>,
    margins: Vec<f64>,
    inner: &Inner,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let heads = inner.trainer.online().heads();
    let rows = margins.len() / heads;
    PyArray1::from_vec(py, margins).reshape([rows, heads])
}

#[pymethods]
impl Learner {
    /// A learner at the origin. `bits` is for rows with named features, hashed; without it features are ids.
    ///
    /// `classes`, `dimension` and `rows` are what was found in the data; the spec takes precedence.
    #[new]
    #[pyo3(signature = (spec, *, precision="f64", bias=true, classes=Vec::new(), dimension=None, rows=None, bits=None))]
    fn new(
        spec: &str,
        precision: &str,
        bias: bool,
        classes: Vec<String>,
        dimension: Option<u32>,
        rows: Option<u64>,
        bits: Option<u8>,
    ) -> PyResult<Self> {
        let settings = Spec::from_json(spec).and_then(|s| s.resolve()).map_err(raised)?;
        let precision = precision.parse().map_err(fail)?;
        if bits.is_some_and(|b| !(1..=31).contains(&b)) {
            return Err(fail("bits must be a whole number from 1 to 31".into()));
        }
        // A learner fed row by row meets few of the slots: they are not laid out before they are met.
        let storage = if bits.is_some() { Storage::Index } else { Storage::Growing };
        let found = needed(std::slice::from_ref(&settings), classes, dimension, rows);
        let reading = InputSchema { bits, found, ..InputSchema::default() };
        let frame = LearnerOptions { precision, bias, storage };
        let trainer = guarded(|| Trainer::new(settings, frame, reading))?.map_err(raised)?;
        Ok(Self::from(trainer))
    }

    /// A learner at the origin, for rows like those of a table.
    #[staticmethod]
    #[pyo3(signature = (spec, table, *, precision="f64", bias=true, classes=Vec::new(), dimension=None, rows=None))]
    fn for_table(
        spec: &str,
        table: &Table,
        precision: &str,
        bias: bool,
        classes: Vec<String>,
        dimension: Option<u32>,
        rows: Option<u64>,
    ) -> PyResult<Self> {
        let precision = precision.parse().map_err(fail)?;
        let frame = LearnerOptions { precision, bias, storage: Storage::Growing };
        let settings = Spec::from_json(spec).and_then(|s| s.resolve()).map_err(raised)?;
        let found = needed(std::slice::from_ref(&settings), classes, dimension, rows);
        Ok(Self::from(table.trainer(settings, frame, found)?))
    }

    /// Learns the rows in their order. Whatever is refused is refused before the first row is learned, and a divergence leaves
    /// the learner as it was.
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
        let inner = &mut *lock_to_learn(py, &self.inner)?;
        with_rows(x, |rows| learn_arrays::learn(py, inner, rows, labels, weights))
    }

    /// Learns the set of rows in `passes` passes, in an order that depends on the rows and the seed only. Without `passes` rows that are
    /// held out decide how many passes are made, and with which settings.
    ///
    /// Returns the passes completed and, when the weights grew beyond all bounds, what happened: the learner is then
    /// as it was before that pass.
    #[pyo3(signature = (x, y, weights, passes, seed, tick=None))]
    #[expect(clippy::too_many_arguments, reason = "the boundary is crossed once, with everything")]
    fn fit(
        &self,
        py: Python<'_>,
        x: &Bound<'_, PyAny>,
        y: PyReadonlyArray1<'_, f64>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        passes: Option<u64>,
        seed: Option<u64>,
        tick: Option<Bound<'_, PyAny>>,
    ) -> PyResult<(u64, Option<String>)> {
        let labels = y.as_slice()?;
        let weights = weights.as_ref().map(|w| w.as_slice()).transpose()?;
        let (inner, mut tick) = (&mut *lock_to_learn(py, &self.inner)?, Tick::new(tick));
        let (given, passes) = ((labels, weights), (passes, seed));
        with_rows(x, |rows| learn_arrays::fit(py, inner, rows, given, passes, &mut tick))
    }

    /// Learns a table in `passes` passes, in its order. Rows in memory are checked before the first is learned; of files, those
    /// before a bad row are learned. A divergence leaves the learner as it was. Returns the rows learned.
    #[pyo3(signature = (table, passes=1, tick=None))]
    fn learn_table(
        &self,
        py: Python<'_>,
        table: &Table,
        passes: u32,
        tick: Option<Bound<'_, PyAny>>,
    ) -> PyResult<u64> {
        let inner = &mut *lock_to_learn(py, &self.inner)?;
        learn_tables::learn(py, inner, table, passes, Tick::new(tick))
    }

    /// Trains a learner on a table from the beginning, as the program does. Returns the learner, warnings, and what ended the training
    /// before its end, if something did: of files, the rows before are learned; and the passes made. Without `passes` rows that are held
    /// out decide whether there are several.
    #[staticmethod]
    #[pyo3(signature = (spec, table, *, precision="f64", bias=true, classes=None, passes=None, may_shuffle=false, tick=None))]
    #[expect(clippy::too_many_arguments, reason = "as fit")]
    fn train(
        py: Python<'_>,
        spec: &str,
        table: &Table,
        precision: &str,
        bias: bool,
        classes: Option<Vec<String>>,
        passes: Option<u32>,
        may_shuffle: bool,
        tick: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Trained> {
        let precision = precision.parse().map_err(fail)?;
        let spec = Spec::from_json(spec).map_err(raised)?;
        let training = Training { spec, precision, bias, classes, passes, may_shuffle };
        let ended = learn_tables::train(py, training, table, Tick::new(tick))?;
        let learner = ended.inner.map(|inner| Self { inner: Mutex::new(inner) });
        let error = ended.error.map(|error| error.into_value(py).into_any());
        Ok((learner, ended.warnings, error, ended.passes))
    }

    /// Returns the notices since the last call, as kinds and words. With `is_end` the rows so far are judged as all of a stream.
    #[pyo3(signature = (is_end=false))]
    fn take_warnings(&self, py: Python<'_>, is_end: bool) -> PyResult<Vec<Warning>> {
        let inner = &mut *lock(py, &self.inner)?;
        if is_end {
            inner.end_of_rows(false);
        }
        let notices = std::mem::take(&mut inner.notices);
        Ok(notices.iter().map(|notice| warning(notice, inner.trainer.settings())).collect())
    }

    /// The margins of every row of a table, one per class.
    fn margins_table<'py>(
        &self,
        py: Python<'py>,
        table: &Table,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let inner = &mut *lock(py, &self.inner)?;
        let margins = learn_tables::margins(py, inner, table)?;
        by_row(py, margins, inner)
    }

    /// The kinds of the columns of the table that is learned, as JSON; `None` where it is no table.
    #[getter]
    fn schema(&self, py: Python<'_>) -> PyResult<Option<String>> {
        Ok(lock(py, &self.inner)?.trainer.schema().table.as_ref().map(schema_to_json))
    }

    /// Returns the findings about the columns of the table as lines of text.
    #[getter]
    fn columns_in_words(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        Ok(columns_in_words(lock(py, &self.inner)?.trainer.schema(), "keep=[...]"))
    }

    /// The learning curve to the last row, as JSON.
    #[getter]
    fn curve(&self, py: Python<'_>) -> PyResult<String> {
        Ok(serde_json::json!(lock(py, &self.inner)?.trainer.curve_so_far()).to_string())
    }

    /// Names of some features, if they are known.
    fn names(&self, py: Python<'_>, ids: Vec<u32>) -> PyResult<Vec<Option<String>>> {
        let mut inner = lock(py, &self.inner)?;
        inner.settle_names();
        let names = inner.trainer.names();
        Ok(ids.iter().map(|id| names.name(*id).map(str::to_owned)).collect())
    }

    /// All names with their slots, where names are hashed.
    fn all_names(&self, py: Python<'_>) -> PyResult<Vec<(u32, String)>> {
        let mut inner = lock(py, &self.inner)?;
        inner.settle_names();
        Ok(inner.trainer.names().iter().map(|(slot, name)| (slot, name.to_owned())).collect())
    }

    /// Whether features are products of namespaces.
    #[getter]
    fn has_interactions(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(!lock(py, &self.inner)?.trainer.schema().interactions.is_empty())
    }

    /// The margins of every row, one per class.
    fn margins<'py>(
        &self,
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let inner = &mut *lock(py, &self.inner)?;
        let margins = with_rows(x, |rows| learn_arrays::margins(py, inner, rows))?;
        by_row(py, margins, inner)
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
        learn_dicts::learn_one(&mut *lock_to_learn(py, &self.inner)?, row, label, weight)
    }

    /// Learns several rows, as [`learn_one`] in a loop would; all are looked at before the first is learned.
    #[pyo3(signature = (rows, labels, weights=None))]
    fn learn_many(
        &self,
        py: Python<'_>,
        rows: &Bound<'_, PyAny>,
        labels: PyReadonlyArray1<'_, f64>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<()> {
        let labels = labels.as_slice()?;
        let weights = weights.as_ref().map(|w| w.as_slice()).transpose()?;
        let rows = NamedRows::new(rows)?;
        if labels.len() != rows.len() || weights.is_some_and(|w| w.len() != rows.len()) {
            return Err(fail(format!("X has {} rows and y {}", rows.len(), labels.len())));
        }
        let inner = &mut *lock_to_learn(py, &self.inner)?;
        learn_dicts::learn_many(py, inner, &rows, labels, weights)
    }

    /// The margins of several rows, one per class.
    fn margins_many<'py>(
        &self,
        py: Python<'py>,
        rows: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let rows = NamedRows::new(rows)?;
        let inner = &mut *lock(py, &self.inner)?;
        let margins = learn_dicts::margins_many(py, inner, &rows)?;
        by_row(py, margins, inner)
    }

    /// The margins of one row, one per class.
    fn margins_one(&self, py: Python<'_>, row: &Bound<'_, PyDict>) -> PyResult<Vec<f64>> {
        Ok(learn_dicts::margins_one(&mut *lock(py, &self.inner)?, row)?.to_vec())
    }

    /// The probabilities of one row as a dictionary from the two classes given; the loss is the logistic one.
    ///
    /// PERF: the most frequent call of a loop over rows, without an intermediate list or array.
    fn probabilities_one<'py>(
        &self,
        py: Python<'py>,
        row: &Bound<'py, PyDict>,
        first: &Bound<'py, PyAny>,
        second: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let mut inner = lock(py, &self.inner)?;
        let &[margin] = learn_dicts::margins_one(&mut inner, row)? else {
            return Err(fail("there are more than two classes".into()));
        };
        let probabilities = PyDict::new(py);
        probabilities.set_item(first, Link::Probability.apply(-margin))?;
        probabilities.set_item(second, Link::Probability.apply(margin))?;
        Ok(probabilities)
    }

    /// Per class the bias, the ids and the weights that are not zero; `None` where there are no weights.
    fn weights<'py>(&self, py: Python<'py>) -> PyResult<Option<Vec<Head<'py>>>> {
        let inner = lock(py, &self.inner)?;
        let online = inner.trainer.online();
        Ok(heads(py, &online.freeze(), online.columns()))
    }

    /// A predictor of the rows of a matrix without rounding differences: see [`exact`].
    fn exact_weights<'py>(&self, py: Python<'py>) -> PyResult<Option<Exact<'py>>> {
        let inner = lock(py, &self.inner)?;
        let online = inner.trainer.online();
        Ok(exact(py, &online.freeze(), online.columns(), online.label_range()))
    }

    /// The weights that are not zero.
    #[getter]
    fn nonzeros(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(lock(py, &self.inner)?.trainer.online().nonzeros())
    }

    /// Whether labels are counts, so that margins are logarithms of means.
    #[getter]
    fn is_of_counts(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(lock(py, &self.inner)?.counts)
    }

    /// The loss of the margins that are read.
    #[getter]
    fn loss(&self, py: Python<'_>) -> PyResult<&'static str> {
        let inner = lock(py, &self.inner)?;
        let settings = inner.trainer.settings();
        // Where accuracy decides a race, settings of two losses run.
        if settings.to_json().get("metric").is_some_and(|metric| metric == "accuracy") {
            return Ok(settings.after_race(inner.trainer.online().chosen()).loss_name());
        }
        Ok(settings.loss_name())
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
        let found = &inner.trainer.schema().found;
        Ok(serde_json::Value::from(inner.trainer.settings().completed(found)).to_string())
    }

    /// The settings after defaults, as JSON, of the method that a race has chosen so far; the same as `settings` where none is run.
    #[getter]
    fn chosen(&self, py: Python<'_>) -> PyResult<String> {
        let inner = lock(py, &self.inner)?;
        let (settings, found) = (inner.trainer.settings(), &inner.trainer.schema().found);
        let settings = settings.after_race(inner.trainer.online().chosen());
        Ok(serde_json::Value::from(settings.completed(found)).to_string())
    }

    /// The bits of hashed names; `None` where features are ids.
    #[getter]
    fn bits(&self, py: Python<'_>) -> PyResult<Option<u8>> {
        Ok(lock(py, &self.inner)?.trainer.schema().bits)
    }

    /// Whether there is a bias, and the precision.
    #[getter]
    fn frame(&self, py: Python<'_>) -> PyResult<(bool, String)> {
        let frame = lock(py, &self.inner)?.trainer.options();
        Ok((frame.bias, frame.precision.to_string()))
    }

    /// The classes given by the user, as texts.
    #[getter]
    fn classes(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        Ok(lock(py, &self.inner)?.trainer.schema().found.classes.clone())
    }

    /// Gives up what a failed call is undone with: a copy of the state, and rows. A failure then leaves the learner as it is.
    fn forgo_undo(&self, py: Python<'_>) -> PyResult<()> {
        lock(py, &self.inner)?.undo = None;
        Ok(())
    }

    /// Learns rows from now on as one of several learners that are combined this way.
    fn count_rows_for(&self, py: Python<'_>, combine: &str) -> PyResult<()> {
        let combine = combine.parse().map_err(PyValueError::new_err)?;
        lock(py, &self.inner)?.trainer.count_rows_for(combine).map_err(raised)
    }

    /// Sets the names of the columns, for the model file.
    fn name_columns(&self, py: Python<'_>, columns: Vec<String>) -> PyResult<()> {
        let mut inner = lock(py, &self.inner)?;
        for (id, name) in (1..Space::LARGEST_ID).zip(&columns) {
            inner.diary.insert(id, name);
        }
        Ok(())
    }

    /// Writes a model file.
    fn save_model(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let mut inner = lock(py, &self.inner)?;
        inner.settle_names();
        inner.trainer.model().save(&path).map_err(raised)
    }

    /// Writes a checkpoint file.
    fn save_checkpoint(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let mut inner = lock(py, &self.inner)?;
        inner.settle_names();
        inner.trainer.save_checkpoint(&path).map_err(raised)
    }

    /// Reads a checkpoint file.
    #[staticmethod]
    fn resume(path: PathBuf) -> PyResult<Self> {
        let trainer = guarded(|| Trainer::resume(&path))?.map_err(raised)?;
        Ok(Self::from(trainer))
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
        let trainer = guarded(|| Trainer::from_checkpoint(bytes))?.map_err(raised)?;
        Ok(Self::from(trainer))
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        // Pickle finds functions of Python by their names, static methods of ours it does not.
        let rebuild = slf.py().import("parsimon._base")?.getattr("_revive")?;
        Ok((rebuild, (slf.borrow().checkpoint(slf.py())?,)))
    }
}

/// Per head the bias, the ids and the weights, in the units of the data.
pub(crate) fn heads<'py>(
    py: Python<'py>,
    frozen: &Frozen,
    columns: &[ColumnMoments],
) -> Option<Vec<Head<'py>>> {
    let parts = |head: &parsimon::workspace::Head| {
        let head = head.in_units(columns);
        let indices = PyArray1::from_slice(py, head.indices());
        (head.bias(), indices, PyArray1::from_slice(py, head.weights()))
    };
    frozen.dictionary().is_none().then(|| frozen.heads().iter().map(parts).collect())
}

/// Weights of standardized cells, per number column its id, mean and deviation, how many deviations a cell counts at most, and
/// the range of margins.
pub(crate) type Exact<'py> = (Vec<Head<'py>>, Vec<(u32, f64, f64)>, f64, Option<(f64, f64)>);

/// The data that an export needs to predict exactly; `None` where there are no weights.
pub(crate) fn exact<'py>(
    py: Python<'py>,
    frozen: &Frozen,
    columns: &[ColumnMoments],
    range: Option<(f64, f64)>,
) -> Option<Exact<'py>> {
    let columns_of = |c: &ColumnMoments| (c.id, c.mean, c.deviation());
    let heads = heads(py, frozen, &[])?;
    Some((heads, columns.iter().map(columns_of).collect(), ColumnMoments::REACH, range))
}

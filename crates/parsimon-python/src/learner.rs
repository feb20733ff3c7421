//! A trainer behind a lock, fed with arrays.

use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use parsimon::core::{Chunk, ColumnMoments, Frozen, Scorer};
use parsimon::data::{Names, Space};
use parsimon::survey::{columns_in_words, schema_to_json};
use parsimon::{Error, InputSchema, LearnerOptions, Settings, Spec, Storage, Trainer, Undo};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyBytes, PyDict, PyList};

use crate::dict::{Desk, Diary, Layout};
use crate::errors::{BadInput, Trouble, at_row, raised};
use crate::guard::{caught, detached, guarded};
use crate::presentation::{BLOCK, Showing, order_of};
use crate::rows::{Cells, Rows, copy_row, score_rows, with_rows};
use crate::table::{Table, needed, warn};

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
    /// Labels must not be negative. PERF: asked for every row.
    counts: bool,
    chunk: Chunk,
    diary: Diary,
    /// None where a call that fails need not be undone.
    undo: Option<Undo>,
    layout: Layout,
    /// The weights laid out for prediction, until the next row is learned.
    scorer: Option<Scorer>,
}

impl Inner {
    fn new(trainer: Trainer) -> Self {
        let counts = trainer.settings().is_of_counts();
        Self {
            trainer,
            counts,
            chunk: Chunk::new(),
            diary: Diary::default(),
            undo: Some(Undo::default()),
            layout: Layout::default(),
            scorer: None,
        }
    }

    fn limit(&self) -> f64 {
        self.trainer.frame().precision.max_value()
    }

    // A trainer may be handed to another thread but not looked at by two: what runs without the interpreter borrows it mutably.
    fn check(
        &mut self,
        rows: &dyn Rows,
        labels: &[f64],
        weights: Option<&[f64]>,
    ) -> Result<(), BadInput> {
        check(self.trainer.settings(), self.limit(), rows, labels, weights)
    }

    fn learn(
        &mut self,
        rows: &dyn Rows,
        labels: &[f64],
        block: impl Iterator<Item = Showing>,
    ) -> Result<(), Trouble> {
        self.cells(rows).begin(rows, &mut self.chunk);
        for (i, weight) in block {
            copy_row(rows, i, Some(labels[i]), weight, &mut self.chunk)?;
        }
        learn_rows(&mut self.trainer, &mut self.undo, &self.chunk)
    }

    /// Lays the weights out if there are so many entries that it takes less time than reading each weight from its state.
    fn lay_out(&mut self, rows: &dyn Rows) {
        let enough = rows.entries() >= rows.columns();
        // NUMERICS: a learner with scales, or one that began with a model, adds up products that are rounded otherwise than those of
        // its weights; predictions must not depend on how many rows are asked for.
        let trainer = &self.trainer;
        let is_exact = !trainer.settings().is_normalized() && trainer.began_with().is_none();
        if self.scorer.is_none() && enough && is_exact && self.cells(rows) == Cells::Features {
            self.scorer = Some(self.trainer.scorer()).filter(Scorer::is_linear);
        }
    }

    fn margins(
        &mut self,
        rows: &dyn Rows,
        block: std::ops::Range<usize>,
        margins: &mut Vec<f64>,
    ) -> Result<(), BadInput> {
        if self.cells(rows) == Cells::Features
            && let Some(scorer) = &self.scorer
        {
            return score_rows(rows, block, self.limit(), scorer, margins);
        }
        rows.check_rows(block.clone(), self.limit())?;
        self.cells(rows).begin(rows, &mut self.chunk);
        for i in block {
            copy_row(rows, i, None, 1.0, &mut self.chunk)?;
        }
        self.predict(margins);
        Ok(())
    }

    fn cells(&mut self, x: &dyn Rows) -> Cells {
        let trainer = &self.trainer;
        let rows = trainer.progressive().rows();
        Cells::of(trainer.settings(), trainer.online().columns(), rows, x)
    }

    fn checkpoint(&mut self) -> Vec<u8> {
        self.trainer.checkpoint()
    }

    fn check_table(&mut self, table: &Table) -> PyResult<()> {
        table.check(&self.trainer)
    }

    fn predict(&mut self, margins: &mut Vec<f64>) {
        self.trainer.online().predict(&self.chunk, margins);
    }

    /// A call begins that brings about so many cells; a failure takes the learner back to here.
    fn begin(&mut self, cells: usize) {
        if let Some(undo) = &mut self.undo {
            undo.begin(&self.trainer, cells);
        }
    }

    /// Calls before this one cannot be told from it any more.
    fn forget(&mut self) {
        if let Some(undo) = &mut self.undo {
            undo.forget();
        }
    }

    fn end(&mut self) {
        if let Some(undo) = &mut self.undo {
            undo.end();
        }
    }

    /// Appends a row to the chunk; its names are noted if it is to be learned.
    fn push(&mut self, row: &Bound<'_, PyDict>, label: Option<f64>, weight: f64) -> PyResult<()> {
        let Inner { trainer, chunk, diary, layout, .. } = self;
        let (bits, limit) = (trainer.schema().bits, trainer.frame().precision.max_value());
        let diary = label.map(|_| diary);
        Desk { chunk, diary, layout, bits, limit }.push(row, label, weight)
    }

    /// The rows since the last call were learned, or were not.
    fn settle(&mut self, learned: PyResult<()>) -> PyResult<()> {
        if learned.is_err() {
            self.layout.clear();
        }
        self.diary.settle(learned)
    }

    fn settle_names(&mut self) {
        self.trainer.note_names(self.diary.take());
    }
}

/// Learns rows. After a failure the learner is as it was when the call began.
fn learn_rows(
    trainer: &mut Trainer,
    undo: &mut Option<Undo>,
    chunk: &Chunk,
) -> Result<(), Trouble> {
    let learned = caught(|| trainer.learn(chunk, &mut |_| {}));
    let Some(undo) = undo else { return flat(learned) };
    match learned {
        Ok(Ok(())) => undo.learned(chunk),
        _ => flat(caught(|| undo.go_back(trainer)))?,
    }
    flat(learned)
}

fn flat(learned: Result<Result<(), Error>, String>) -> Result<(), Trouble> {
    learned.map_err(Trouble::Panic)?.map_err(Trouble::Learning)
}

/// Everything that can be wrong with rows, labels and weights, before anything is learned.
pub(crate) fn check(
    settings: &Settings,
    limit: f64,
    rows: &dyn Rows,
    labels: &[f64],
    weights: Option<&[f64]>,
) -> Result<(), BadInput> {
    let n = rows.len();
    if labels.len() != n || weights.is_some_and(|w| w.len() != n) {
        let (y, w) = (labels.len(), weights.map_or(n, <[f64]>::len));
        return Err(BadInput::new(format!("X has {n} rows, y {y} and the weights {w}")));
    }
    rows.check(limit)?;
    let counts = settings.is_of_counts();
    for (i, &y) in labels.iter().enumerate() {
        let weight = weights.map_or(1.0, |w| w[i]);
        check_label(counts, limit, y, weight).map_err(|e| placed(e, i))?;
    }
    Ok(())
}

fn placed(bad: BadInput, row: usize) -> BadInput {
    bad.and(&format!(" at row {row}")).at_row(row)
}

fn check_label(counts: bool, limit: f64, y: f64, weight: f64) -> Result<(), BadInput> {
    if !(y.abs() <= limit && (!counts || y >= 0.0)) {
        let wanted = if counts { "a finite number >= 0" } else { "a finite number" };
        return Err(BadInput::new(format!("y must be {wanted}, got {}", spelled(y))));
    }
    if !(weight.is_finite() && weight >= 0.0) {
        let got = spelled(weight);
        let words = format!("sample_weight must be a finite number >= 0, got {got}");
        return Err(BadInput::new(words));
    }
    Ok(())
}

/// Tells Python how far it is, ten times a second at most.
pub(crate) struct Tick<'py> {
    call: Option<Bound<'py, PyAny>>,
    last: Instant,
    rows: usize,
}

impl<'py> Tick<'py> {
    pub(crate) fn new(call: Option<Bound<'py, PyAny>>) -> Self {
        Self { call, last: Instant::now(), rows: 0 }
    }

    /// So many rows more; `loss` is asked only when it is told.
    pub(crate) fn rows(&mut self, rows: usize, loss: impl FnOnce() -> Option<f64>) -> PyResult<()> {
        self.rows += rows;
        if self.last.elapsed() < Duration::from_millis(100) {
            return Ok(());
        }
        self.tell(loss())
    }

    /// What has not been told yet.
    pub(crate) fn finish(&mut self, loss: Option<f64>) -> PyResult<()> {
        self.tell(loss)
    }

    fn tell(&mut self, loss: Option<f64>) -> PyResult<()> {
        if let Some(call) = &self.call {
            call.call1((std::mem::take(&mut self.rows), loss))?;
            self.last = Instant::now();
        }
        Ok(())
    }
}

fn spelled(x: f64) -> String {
    if x.is_nan() { "NaN".into() } else { x.to_string() }
}

fn fail(message: String) -> PyErr {
    PyValueError::new_err(message)
}

impl From<Trainer> for Learner {
    fn from(trainer: Trainer) -> Self {
        Self { inner: Mutex::new(Inner::new(trainer)) }
    }
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
        with_rows(x, |rows| {
            let mut inner = lock_to_learn(py, &self.inner)?;
            let inner = &mut *inner;
            detached(py, || inner.check(rows, labels, weights))??;
            detached(py, || inner.begin(rows.cells()))?;
            let learned = (0..rows.len()).step_by(BLOCK).try_for_each(|start| {
                let block = start..rows.len().min(start + BLOCK);
                let showings = block.map(|i| (i, weights.map_or(1.0, |w| w[i])));
                detached(py, || inner.learn(rows, labels, showings))??;
                py.check_signals()
            });
            inner.end();
            learned
        })
    }

    /// Learns the set of rows in `passes` passes, in an order that depends on the rows and the seed only.
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
        passes: u64,
        seed: Option<u64>,
        tick: Option<Bound<'_, PyAny>>,
    ) -> PyResult<(u64, Option<String>)> {
        let labels = y.as_slice()?;
        let weights = weights.as_ref().map(|w| w.as_slice()).transpose()?;
        with_rows(x, |rows| {
            let mut inner = lock_to_learn(py, &self.inner)?;
            let (inner, mut tick) = (&mut *inner, Tick::new(tick));
            detached(py, || inner.check(rows, labels, weights))??;
            let order = order_of(py, rows, labels, weights, seed)?;
            // A pass that fails is undone here, whatever its size.
            inner.forget();
            for pass in 0..passes {
                let before = detached(py, || inner.checkpoint())?;
                for block in detached(py, || order.pass(pass))?.chunks(BLOCK) {
                    let learned =
                        detached(py, || inner.learn(rows, labels, block.iter().copied()))?;
                    match learned {
                        Err(Trouble::Learning(error @ Error::Diverged { .. })) => {
                            inner.trainer = Trainer::from_checkpoint(&before).map_err(raised)?;
                            return Ok((pass, Some(error.to_string())));
                        }
                        other => other?,
                    }
                    py.check_signals()?;
                    tick.rows(block.len(), || inner.trainer.progressive().average())?;
                }
                if pass + 1 < passes {
                    inner.trainer.decide();
                }
            }
            tick.finish(inner.trainer.progressive().average())?;
            Ok((passes, None))
        })
    }

    /// Learns a table in so many passes, in its order. Rows in memory are looked at before the first is learned; of files, those
    /// before a bad row are learned. A divergence leaves the learner as it was. Returns the rows learned.
    #[pyo3(signature = (table, passes=1, tick=None))]
    fn learn_table(
        &self,
        py: Python<'_>,
        table: &Table,
        passes: u64,
        tick: Option<Bound<'_, PyAny>>,
    ) -> PyResult<u64> {
        let mut inner = lock_to_learn(py, &self.inner)?;
        let (inner, mut tick) = (&mut *inner, Tick::new(tick));
        detached(py, || inner.check_table(table))??;
        // Rows are not kept where they are learned more than once: the learner changes between passes.
        let cells = if passes == 1 { table.cells() } else { usize::MAX };
        detached(py, || inner.begin(cells))?;
        let learned = learn_passes(py, inner, table, passes, &mut tick);
        inner.end();
        learned
    }

    /// The margins of every row of a table, one per class.
    fn margins_table<'py>(
        &self,
        py: Python<'py>,
        table: &Table,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let mut inner = lock(py, &self.inner)?;
        let inner = &mut *inner;
        let (reading, settings) = (inner.trainer.schema(), inner.trainer.settings());
        let precision = inner.trainer.frame().precision;
        let mut reader = table.reader_without_labels(reading, settings, precision)?;
        let mut margins = Vec::new();
        while detached(py, || reader.read(&mut inner.chunk))?.map_err(raised)? {
            detached(py, || inner.predict(&mut margins))?;
            py.check_signals()?;
        }
        warn(py, &reader)?;
        let heads = inner.trainer.online().heads();
        let rows = margins.len() / heads;
        PyArray1::from_vec(py, margins).reshape([rows, heads])
    }

    /// The kinds of the columns of the table that is learned, as JSON; `None` where it is no table.
    #[getter]
    fn schema(&self, py: Python<'_>) -> PyResult<Option<String>> {
        Ok(lock(py, &self.inner)?.trainer.schema().table.as_ref().map(schema_to_json))
    }

    /// What was found of the columns of the table, in lines of words.
    #[getter]
    fn columns_in_words(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        Ok(columns_in_words(lock(py, &self.inner)?.trainer.schema(), "keep=[...]"))
    }

    /// The learning curve to the last row, as JSON.
    #[getter]
    fn curve(&self, py: Python<'_>) -> PyResult<String> {
        Ok(serde_json::json!(lock(py, &self.inner)?.trainer.curve_so_far()).to_string())
    }

    /// The names of some features, where they are known.
    fn names(&self, py: Python<'_>, ids: Vec<u32>) -> PyResult<Vec<Option<String>>> {
        let mut inner = lock(py, &self.inner)?;
        inner.settle_names();
        let names = inner.trainer.names();
        Ok(ids.iter().map(|id| names.name(*id).map(str::to_owned)).collect())
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
            let heads = inner.trainer.online().heads();
            detached(py, || rows.check_form())??;
            detached(py, || inner.lay_out(rows))?;
            let mut margins = Vec::with_capacity(rows.len() * heads);
            for start in (0..rows.len()).step_by(BLOCK) {
                let block = start..rows.len().min(start + BLOCK);
                detached(py, || inner.margins(rows, block, &mut margins))??;
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
        let mut inner = lock_to_learn(py, &self.inner)?;
        let inner = &mut *inner;
        check_label(inner.counts, inner.limit(), label, weight)?;
        inner.chunk.clear();
        let pushed = inner.push(row, Some(label), weight);
        // PERF: a row is learned in less time than it takes to hand the interpreter over.
        let learned = pushed.and_then(|()| {
            let cells = inner.chunk.nonzeros();
            inner.begin(cells);
            let learned = learn_rows(&mut inner.trainer, &mut inner.undo, &inner.chunk);
            inner.end();
            Ok(learned?)
        });
        inner.settle(learned)
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
        let mut inner = lock_to_learn(py, &self.inner)?;
        let inner = &mut *inner;
        inner.chunk.clear();
        let pushed = rows.iter().enumerate().try_for_each(|(i, row)| {
            let (row, weight) = (row.cast::<PyDict>()?, weights.map_or(1.0, |w| w[i]));
            let checked = check_label(inner.counts, inner.limit(), labels[i], weight);
            checked.map_err(|e| placed(e, i))?;
            inner.push(row, Some(labels[i]), weight).map_err(|e| at_row(py, e, i))
        });
        if pushed.is_err() {
            return inner.settle(pushed);
        }
        let cells = inner.chunk.nonzeros();
        detached(py, || inner.begin(cells))?;
        let (mut block, mut interrupted) = (Chunk::new(), Ok(()));
        for start in (0..inner.chunk.len()).step_by(BLOCK) {
            let Inner { trainer, chunk, undo, .. } = &mut *inner;
            let learned = detached(py, || {
                block.clear();
                (start..chunk.len().min(start + BLOCK)).for_each(|i| block.copy_row(chunk, i));
                learn_rows(trainer, undo, &block)
            })?;
            if let Err(trouble) = learned {
                return inner.settle(Err(trouble.into()));
            }
            interrupted = py.check_signals();
            if interrupted.is_err() {
                break;
            }
        }
        inner.end();
        // The rows before an interrupt are learned.
        inner.settle(Ok(()))?;
        interrupted
    }

    /// The margins of several rows, one per class.
    fn margins_many<'py>(
        &self,
        py: Python<'py>,
        rows: &Bound<'py, PyList>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let mut inner = lock(py, &self.inner)?;
        let inner = &mut *inner;
        inner.chunk.clear();
        for (i, row) in rows.iter().enumerate() {
            let row = row.cast::<PyDict>()?;
            inner.push(row, None, 1.0).map_err(|e| at_row(py, e, i))?;
        }
        let mut margins = Vec::new();
        detached(py, || inner.predict(&mut margins))?;
        PyArray1::from_vec(py, margins).reshape([rows.len(), inner.trainer.online().heads()])
    }

    /// The margins of one row, one per class.
    fn margins_one(&self, py: Python<'_>, row: &Bound<'_, PyDict>) -> PyResult<Vec<f64>> {
        let mut inner = lock(py, &self.inner)?;
        inner.chunk.clear();
        inner.push(row, None, 1.0)?;
        let mut margins = Vec::new();
        inner.predict(&mut margins);
        Ok(margins)
    }

    /// Per class the bias, the ids and the weights that are not zero; `None` where there are no weights.
    fn weights<'py>(&self, py: Python<'py>) -> PyResult<Option<Vec<Head<'py>>>> {
        let inner = lock(py, &self.inner)?;
        let online = inner.trainer.online();
        Ok(heads(py, &online.freeze(), online.columns()))
    }

    /// The weights that are not zero.
    #[getter]
    fn nonzeros(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(lock(py, &self.inner)?.trainer.online().nonzeros())
    }

    /// Whether labels are counts, whose logarithms the margins are.
    #[getter]
    fn is_of_counts(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(lock(py, &self.inner)?.counts)
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
        let frame = lock(py, &self.inner)?.trainer.frame();
        Ok((frame.bias, frame.precision.to_string()))
    }

    /// The classes the learner was told, as texts.
    #[getter]
    fn classes(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        Ok(lock(py, &self.inner)?.trainer.schema().found.classes.clone())
    }

    /// Gives up what a failed call is undone with: a copy of the state, and rows. A failure then leaves the learner as it is.
    fn forgo_undo(&self, py: Python<'_>) -> PyResult<()> {
        lock(py, &self.inner)?.undo = None;
        Ok(())
    }

    /// Takes the columns' names, for the model file.
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

/// The passes of [`Learner::learn_table`].
fn learn_passes(
    py: Python<'_>,
    inner: &mut Inner,
    table: &Table,
    passes: u64,
    tick: &mut Tick<'_>,
) -> PyResult<u64> {
    for input in table.inputs() {
        inner.trainer.note_input(&input);
    }
    let (mut rows, mut names) = (0, Names::default());
    for pass in 0..passes {
        let mut reader = table.reader(&inner.trainer)?;
        let learned = loop {
            let Inner { trainer, chunk, undo, .. } = &mut *inner;
            match detached(py, || reader.read(chunk))? {
                Ok(true) => {}
                Ok(false) => break Ok(()),
                Err(e) => break Err(raised(e)),
            }
            // A learner that was taken back has no names of these rows.
            detached(py, || learn_rows(trainer, undo, chunk))??;
            rows += chunk.len() as u64;
            let told = || trainer.progressive().average();
            if let Err(e) = py.check_signals().and_then(|()| tick.rows(chunk.len(), told)) {
                break Err(e);
            }
        };
        // PERF: the names of the first pass are moved, and the next passes have the same.
        match names.is_empty() {
            true => names = reader.into_names(),
            false => names.extend(&reader.into_names()),
        }
        if learned.is_err() || pass + 1 == passes {
            // What was learned has its names, however the reading ended.
            inner.trainer.note_names(std::mem::take(&mut names));
        } else {
            inner.trainer.decide();
        }
        learned?;
    }
    tick.finish(inner.trainer.progressive().average())?;
    Ok(rows)
}

/// Per head the bias, the ids and the weights, in the units of the data.
pub(crate) fn heads<'py>(
    py: Python<'py>,
    frozen: &Frozen,
    columns: &[ColumnMoments],
) -> Option<Vec<Head<'py>>> {
    let parts = |head: &parsimon::core::Head| {
        let head = head.in_units(columns);
        let indices = PyArray1::from_slice(py, head.indices());
        (head.bias(), indices, PyArray1::from_slice(py, head.weights()))
    };
    frozen.dictionary().is_none().then(|| frozen.heads().iter().map(parts).collect())
}

/// The learner, to change it: weights that were laid out are out of date.
fn lock_to_learn<'a>(
    py: Python<'_>,
    inner: &'a Mutex<Inner>,
) -> PyResult<std::sync::MutexGuard<'a, Inner>> {
    let mut inner = lock(py, inner)?;
    inner.scorer = None;
    Ok(inner)
}

fn lock<'a>(py: Python<'_>, inner: &'a Mutex<Inner>) -> PyResult<std::sync::MutexGuard<'a, Inner>> {
    let broken = |_| {
        PyValueError::new_err("an earlier call failed in the middle of learning; load or fit again")
    };
    inner.lock_py_attached(py).map_err(broken)
}

//! Models that predict, loaded from files.

use std::path::PathBuf;

use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use parsimon::error::FormatErrorKind;
use parsimon::predict::Scorer;
use parsimon::rows::Chunk;
use parsimon::survey::schema_to_json;
use parsimon::workspace::Frozen;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::dict::{Layout, NamedRows, RowTarget};
use crate::errors::{BadInput, at_row, raised};
use crate::guard::{detached, guarded};
use crate::learner::{Exact, Learner, exact, heads};
use crate::rows::{Cells, copy_row, number_columns, score_rows, with_rows};
use crate::table::warn;

const BLOCK: usize = 1024;

/// Predicts and cannot learn.
#[pyclass(module = "parsimon._parsimon", frozen)]
pub(crate) struct Model {
    model: parsimon::Model,
    scorer: Scorer,
}

/// Reads a checkpoint, which learns on, or a model, which predicts: whichever the file is.
#[pyfunction]
pub(crate) fn load(py: Python<'_>, path: PathBuf) -> PyResult<Py<PyAny>> {
    match guarded(|| parsimon::Trainer::resume(&path))? {
        Err(parsimon::Error::Format(e)) if e.kind() == FormatErrorKind::WrongFile => {
            Ok(Py::new(py, Model::load(path)?)?.into_any())
        }
        read => Ok(Py::new(py, Learner::from(read.map_err(raised)?))?.into_any()),
    }
}

impl Model {
    /// The receiver of rows by name.
    fn target<'a>(&self, chunk: &'a mut Chunk, layout: &'a mut Layout) -> RowTarget<'a> {
        let (bits, limit) = (self.model.schema().bits, self.model.precision().max_value());
        RowTarget { chunk, diary: None, layout, bits, limit }
    }
}

#[pymethods]
impl Model {
    /// Reads a model file.
    #[staticmethod]
    fn load(path: PathBuf) -> PyResult<Self> {
        let model = guarded(|| parsimon::Model::load(&path))?.map_err(raised)?;
        Ok(Self { scorer: model.scorer(), model })
    }

    /// Loads a model from the bytes of its file.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        let model = guarded(|| parsimon::Model::from_bytes(bytes))?.map_err(raised)?;
        Ok(Self { scorer: model.scorer(), model })
    }

    /// The bytes of the file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.model.to_bytes())
    }

    /// Writes the file again.
    fn save(&self, path: PathBuf) -> PyResult<()> {
        self.model.save(&path).map_err(raised)
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let rebuild = slf.py().import("parsimon._base")?.getattr("_revive_model")?;
        Ok((rebuild, (PyBytes::new(slf.py(), &slf.get().model.to_bytes()),)))
    }

    /// The margins of every row, one per class.
    fn margins<'py>(
        &self,
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let limit = self.model.precision().max_value();
        with_rows(x, |rows| {
            detached(py, || rows.check_form())??;
            let model = &self.model;
            let learned = model.provenance().rows;
            let cells = Cells::of(model.settings(), model.columns(), learned, rows);
            let (mut margins, mut cells_of_rows) = (Vec::new(), Vec::new());
            let numbers = (cells == Cells::Columns)
                .then(|| self.scorer.for_numbers(&number_columns(rows)))
                .flatten();
            for start in (0..rows.len()).step_by(BLOCK) {
                let block = start..rows.len().min(start + BLOCK);
                let scored = detached(py, || {
                    if cells == Cells::Features && self.scorer.is_linear() {
                        return score_rows(rows, block, limit, &self.scorer, &mut margins);
                    }
                    rows.check_rows(block.clone(), limit)?;
                    if let Some(numbers) = &numbers {
                        cells_of_rows.clear();
                        rows.copy_cells(block, &mut cells_of_rows);
                        numbers.margins(&cells_of_rows, &mut margins);
                        return Ok(());
                    }
                    let mut chunk = Chunk::new();
                    cells.begin(rows, &mut chunk);
                    for i in block {
                        copy_row(rows, i, None, 1.0, &mut chunk)?;
                    }
                    self.scorer.margins(&chunk, &mut margins);
                    Ok::<_, BadInput>(())
                })?;
                scored?;
                py.check_signals()?;
            }
            PyArray1::from_vec(py, margins).reshape([rows.len(), self.model.outputs()])
        })
    }

    /// The margins of one row, one per class.
    fn margins_one(&self, row: &Bound<'_, PyDict>) -> PyResult<Vec<f64>> {
        let mut chunk = Chunk::new();
        self.target(&mut chunk, &mut Layout::default()).push(row, None, 1.0)?;
        let mut margins = Vec::new();
        guarded(|| self.scorer.margins(&chunk, &mut margins))?;
        Ok(margins)
    }

    /// The margins of several rows, one per class.
    fn margins_many<'py>(
        &self,
        py: Python<'py>,
        rows: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let rows = NamedRows::new(rows)?;
        let (mut chunk, mut layout) = (Chunk::new(), Layout::default());
        for i in 0..rows.len() {
            let pushed = rows.push(i, &mut self.target(&mut chunk, &mut layout), None, 1.0);
            pushed.map_err(|e| at_row(py, e, i))?;
        }
        let mut margins = Vec::new();
        detached(py, || self.scorer.margins(&chunk, &mut margins))?;
        PyArray1::from_vec(py, margins).reshape([rows.len(), self.model.outputs()])
    }

    /// The margins of every row of a table, one per class.
    fn margins_table<'py>(
        &self,
        py: Python<'py>,
        table: &crate::table::Table,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let model = &self.model;
        let mut reader =
            table.reader_without_labels(model.schema(), model.settings(), model.precision())?;
        let (mut chunk, mut margins) = (Chunk::new(), Vec::new());
        while detached(py, || reader.read(&mut chunk))?.map_err(raised)? {
            detached(py, || self.scorer.margins(&chunk, &mut margins))?;
            py.check_signals()?;
        }
        warn(py, &reader)?;
        let rows = margins.len() / model.outputs();
        PyArray1::from_vec(py, margins).reshape([rows, model.outputs()])
    }

    /// Calibrated log odds in the place of margins; `None` where the model has no calibration.
    fn log_odds<'py>(
        &self,
        py: Python<'py>,
        margins: PyReadonlyArray1<'py, f64>,
    ) -> Option<Bound<'py, PyArray1<f64>>> {
        self.model.calibration()?;
        let mut margins = margins.as_array().to_vec();
        self.model.calibrate(&mut margins);
        Some(PyArray1::from_vec(py, margins))
    }

    /// Method of calibration; `None` if probabilities are not calibrated.
    #[getter]
    fn calibration(&self) -> Option<String> {
        self.model.calibration().map(|calibrator| calibrator.method().to_string())
    }

    /// The kinds of the columns of the table that was learned, as JSON; `None` where it was no table.
    #[getter]
    fn schema(&self) -> Option<String> {
        self.model.schema().table.as_ref().map(schema_to_json)
    }

    /// The names of some features, as the user calls them; `None` where they are not known.
    fn names(&self, ids: Vec<u32>) -> Vec<Option<String>> {
        let known = |id: &u32| {
            let name = self.model.name(*id).into_owned();
            (name != id.to_string() && name != format!("#{id}")).then_some(name)
        };
        ids.iter().map(known).collect()
    }

    /// All names with their slots, where names are hashed.
    fn all_names(&self) -> Vec<(u32, String)> {
        self.model.names().map(|(slot, name)| (slot, name.to_owned())).collect()
    }

    /// Whether features are products of namespaces.
    #[getter]
    fn has_interactions(&self) -> bool {
        !self.model.schema().interactions.is_empty()
    }

    /// Per class the bias, the ids and the weights that are not zero; `None` where there are no weights.
    #[expect(clippy::type_complexity, reason = "the shape Python sees")]
    fn weights<'py>(
        &self,
        py: Python<'py>,
    ) -> Option<Vec<(f64, Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<f64>>)>> {
        match self.model.dictionary() {
            Some(_) => None,
            None => heads(py, &Frozen::Linear(self.model.heads().to_vec()), self.model.columns()),
        }
    }

    /// A predictor of the rows of a matrix without rounding differences: see [`exact`].
    fn exact_weights<'py>(&self, py: Python<'py>) -> Option<Exact<'py>> {
        if self.model.dictionary().is_some() {
            return None;
        }
        let heads = Frozen::Linear(self.model.heads().to_vec());
        exact(py, &heads, self.model.columns(), self.model.range())
    }

    /// The weights that are not zero.
    #[getter]
    fn nonzeros(&self) -> usize {
        self.model.nonzeros()
    }

    /// Whether labels are counts, so that margins are logarithms of means.
    #[getter]
    fn is_of_counts(&self) -> bool {
        self.model.settings().is_of_counts()
    }

    /// The loss of the margins.
    #[getter]
    fn loss(&self) -> &'static str {
        self.model.settings().loss_name()
    }

    /// Rows learned.
    #[getter]
    fn rows(&self) -> u64 {
        self.model.provenance().rows
    }

    /// The progressive loss.
    #[getter]
    fn progressive_loss(&self) -> Option<f64> {
        self.model.provenance().progressive_loss
    }

    /// The settings, as JSON.
    #[getter]
    fn settings(&self) -> String {
        let found = &self.model.schema().found;
        serde_json::Value::from(self.model.settings().completed(found)).to_string()
    }

    /// The bits of hashed names; `None` where features are ids.
    #[getter]
    fn bits(&self) -> Option<u8> {
        self.model.schema().bits
    }

    /// Whether there is a bias, and the precision.
    #[getter]
    fn frame(&self) -> (bool, String) {
        (self.model.provenance().bias, self.model.precision().to_string())
    }

    /// The two classes or all of them, as texts; empty where labels are numbers.
    #[getter]
    fn classes(&self) -> Vec<String> {
        self.model.classes()
    }
}

//! Many settings learned in one pass.

use std::ffi::CString;
use std::sync::Mutex;

use numpy::{PyArray1, PyReadonlyArray1};
use parsimon::rows::Chunk;
use parsimon::settings::Storage;
use parsimon::tune::{EarlyStopping, Grid};
use parsimon::workspace::Frozen;
use parsimon::{InputSchema, LearnerOptions, Spec};
use pyo3::exceptions::{PyUserWarning, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use serde_json::{Value, json};

use crate::checks::check;
use crate::errors::{BadInput, raised};
use crate::guard::detached;
use crate::learner::heads;
use crate::row_order::{BLOCK, order_of};
use crate::rows::{Cells, copy_row, with_rows};
use crate::table::needed;
use crate::tick::Tick;

fn fail(message: impl ToString) -> PyErr {
    PyValueError::new_err(message.to_string())
}

/// The specs at every point of sweeps such as `l1=1e-4..1:5`, as JSON.
#[pyfunction]
pub(crate) fn expand(spec: &str, sweeps: Vec<String>) -> PyResult<Vec<String>> {
    let spec = Spec::from_json(spec).map_err(raised)?;
    let specs = Grid::parse(sweeps).and_then(|grid| grid.expand(&spec)).map_err(raised)?;
    let text = |spec: &Spec| {
        let fields = spec.fields().map(|(name, value)| (name.to_owned(), value.clone()));
        Value::Object(fields.collect()).to_string()
    };
    Ok(specs.iter().map(text).collect())
}

/// Learns many settings together and keeps each one's score.
#[pyclass(module = "parsimon._parsimon")]
pub(crate) struct Sweep {
    inner: Mutex<parsimon::tune::Sweep>,
    limit: f64,
}

/// Bias, ids and weights of a head.
type Head<'py> = (f64, Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<f64>>);

#[pymethods]
impl Sweep {
    #[new]
    #[pyo3(signature = (specs, *, precision="f64", bias=true, classes=Vec::new(), dimension=None, rows=None, threads=1, give_up=false))]
    #[expect(clippy::too_many_arguments, reason = "as Learner::fit")]
    fn new(
        py: Python<'_>,
        specs: Vec<String>,
        precision: &str,
        bias: bool,
        classes: Vec<String>,
        dimension: Option<u32>,
        rows: Option<u64>,
        threads: usize,
        give_up: bool,
    ) -> PyResult<Self> {
        let settings = specs.iter().map(|spec| Spec::from_json(spec).and_then(|s| s.resolve()));
        let settings = settings.collect::<Result<Vec<_>, _>>().map_err(raised)?;
        let precision: parsimon::settings::Precision = precision.parse().map_err(fail)?;
        let frame = LearnerOptions { precision, bias, storage: Storage::Growing };
        let found = needed(&settings, classes, dimension, rows);
        let reading = InputSchema { found, ..InputSchema::default() };
        let mut sweep = parsimon::tune::Sweep::new(settings, frame, reading).map_err(raised)?;
        if let Some(notice) = sweep.use_threads(threads) {
            // Behind the functions of `_tune.py`.
            PyErr::warn(py, &py.get_type::<PyUserWarning>(), &CString::new(notice)?, 4)?;
        }
        if give_up {
            sweep.give_up_when(EarlyStopping::default());
        }
        Ok(Self { inner: Mutex::new(sweep), limit: precision.max_value() })
    }

    /// Learns the rows with every setting, in the order `fit` takes them.
    #[pyo3(signature = (x, y, weights, passes, seed, tick=None))]
    #[expect(clippy::too_many_arguments, reason = "as Learner::fit")]
    fn learn(
        &self,
        py: Python<'_>,
        x: &Bound<'_, PyAny>,
        y: PyReadonlyArray1<'_, f64>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        passes: u64,
        seed: Option<u64>,
        tick: Option<Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let labels = y.as_slice()?;
        let weights = weights.as_ref().map(|w| w.as_slice()).transpose()?;
        with_rows(x, |rows| {
            let mut sweep = self.lock(py)?;
            let (sweep, mut tick, mut chunk) = (&mut *sweep, Tick::new(tick), Chunk::new());
            // Settings of one sweep share what labels may be.
            let settings = sweep.settings(0).clone();
            let is_normalized = (0..sweep.len()).any(|k| sweep.settings(k).is_normalized());
            let cells =
                if is_normalized && rows.is_dense() { Cells::Columns } else { Cells::Features };
            detached(py, || check(&settings, self.limit, rows, labels, weights))??;
            let order = order_of(py, rows, labels, weights, seed)?;
            for pass in 0..passes {
                for block in detached(py, || order.pass(pass))?.chunks(BLOCK) {
                    detached(py, || {
                        cells.begin(rows, &mut chunk);
                        for &(i, weight) in block {
                            copy_row(rows, i, Some(labels[i]), weight, &mut chunk)?;
                        }
                        sweep.learn(&chunk, &mut |_| {});
                        Ok::<_, BadInput>(())
                    })??;
                    py.check_signals()?;
                    tick.rows(py, block.len(), || None)?;
                }
            }
            tick.finish(py, None)?;
            Ok(())
        })
    }

    /// Returns the standing of every setting, with its learning curve, as JSON.
    fn standings(&self, py: Python<'_>) -> PyResult<String> {
        let sweep = self.lock(py)?;
        let standings = sweep.standings().into_iter().zip(sweep.curves_so_far());
        let standings = standings.map(|(s, curve)| {
            json!({
                "settings": sweep.settings(s.setting).completed(&sweep.schema().found),
                "rows": s.rows,
                "loss": s.average,
                "nonzeros": s.nonzeros,
                "stopped": s.stopped.map(|why| why.to_string()),
                "curve": curve,
            })
        });
        Ok(Value::from(standings.collect::<Vec<_>>()).to_string())
    }

    /// The best of the settings that still learn.
    fn best(&self, py: Python<'_>) -> PyResult<Option<usize>> {
        Ok(self.lock(py)?.best())
    }

    /// The weights of a setting; `None` if it has stopped or has no weights.
    fn weights<'py>(&self, py: Python<'py>, setting: usize) -> PyResult<Option<Vec<Head<'py>>>> {
        let sweep = self.lock(py)?;
        if setting >= sweep.len() {
            return Err(fail(format!("there are {} settings", sweep.len())));
        }
        let model = sweep.model(setting).filter(|model| model.dictionary().is_none());
        Ok(model
            .and_then(|model| heads(py, &Frozen::Linear(model.heads().to_vec()), model.columns())))
    }
}

impl Sweep {
    fn lock<'a>(
        &'a self,
        py: Python<'_>,
    ) -> PyResult<std::sync::MutexGuard<'a, parsimon::tune::Sweep>> {
        self.inner.lock_py_attached(py).map_err(|_| fail("an earlier call failed; begin again"))
    }
}

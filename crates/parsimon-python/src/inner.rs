//! A trainer with what the calls of Python need beside it.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard};

use parsimon::predict::Scorer;
use parsimon::rows::Chunk;
use parsimon::serve::Undo;
use parsimon::{Error, Trainer};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::PyDict;

use crate::checks::check;
use crate::dict::{Desk, Diary, Layout};
use crate::errors::{BadInput, Trouble};
use crate::guard::caught;
use crate::presentation::Showing;
use crate::rows::{Cells, Rows, copy_row, score_rows};
use crate::table::Table;

/// Everything that a learner of Python holds, behind its lock.
pub(crate) struct Inner {
    pub(crate) trainer: Trainer,
    /// Labels must not be negative. PERF: asked for every row.
    pub(crate) counts: bool,
    pub(crate) chunk: Chunk,
    pub(crate) diary: Diary,
    /// None where a call that fails need not be undone.
    pub(crate) undo: Option<Undo>,
    pub(crate) layout: Layout,
    /// The weights laid out for prediction, until the next row is learned.
    pub(crate) scorer: Option<Scorer>,
    /// Of one row, reused.
    pub(crate) margins: Vec<f64>,
}

impl Inner {
    pub(crate) fn new(trainer: Trainer) -> Self {
        let counts = trainer.settings().is_of_counts();
        Self {
            trainer,
            counts,
            chunk: Chunk::new(),
            diary: Diary::default(),
            undo: Some(Undo::default()),
            layout: Layout::default(),
            scorer: None,
            margins: Vec::new(),
        }
    }

    pub(crate) fn limit(&self) -> f64 {
        self.trainer.frame().precision.max_value()
    }

    // A trainer may be handed to another thread but not looked at by two: what runs without the interpreter borrows it mutably.
    pub(crate) fn check(
        &mut self,
        rows: &dyn Rows,
        labels: &[f64],
        weights: Option<&[f64]>,
    ) -> Result<(), BadInput> {
        check(self.trainer.settings(), self.limit(), rows, labels, weights)
    }

    pub(crate) fn learn(
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
    pub(crate) fn lay_out(&mut self, rows: &dyn Rows) {
        let enough = rows.entries() >= rows.columns();
        // NUMERICS: a learner with scales, or one that began with a model, adds up products that are rounded otherwise than those of
        // its weights; predictions must not depend on how many rows are asked for.
        let trainer = &self.trainer;
        let is_exact = !trainer.settings().is_normalized() && trainer.began_with().is_none();
        if self.scorer.is_none() && enough && is_exact && self.cells(rows) == Cells::Features {
            self.scorer = Some(self.trainer.scorer()).filter(Scorer::is_linear);
        }
    }

    pub(crate) fn margins(
        &mut self,
        rows: &dyn Rows,
        block: Range<usize>,
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

    pub(crate) fn cells(&mut self, x: &dyn Rows) -> Cells {
        let trainer = &self.trainer;
        let rows = trainer.progressive().rows();
        Cells::of(trainer.settings(), trainer.online().columns(), rows, x)
    }

    pub(crate) fn checkpoint(&mut self) -> Vec<u8> {
        self.trainer.checkpoint()
    }

    pub(crate) fn check_table(&mut self, table: &Table) -> PyResult<()> {
        table.check(&self.trainer)
    }

    pub(crate) fn predict(&mut self, margins: &mut Vec<f64>) {
        self.trainer.online().predict(&self.chunk, margins);
    }

    /// A call begins that brings about so many cells; a failure takes the learner back to here.
    pub(crate) fn begin(&mut self, cells: usize) {
        if let Some(undo) = &mut self.undo {
            undo.begin(&self.trainer, cells);
        }
    }

    /// Calls before this one cannot be told from it any more.
    pub(crate) fn forget(&mut self) {
        if let Some(undo) = &mut self.undo {
            undo.forget();
        }
    }

    /// Takes the learner back to where it was when the call began.
    pub(crate) fn go_back(&mut self) -> Result<(), Trouble> {
        let Self { trainer, undo, .. } = self;
        match undo {
            Some(undo) => flat(caught(|| undo.go_back(trainer))),
            None => Ok(()),
        }
    }

    pub(crate) fn end(&mut self) {
        if let Some(undo) = &mut self.undo {
            undo.end();
        }
    }

    /// Appends a row to the chunk; its names are noted if it is to be learned.
    pub(crate) fn push(
        &mut self,
        row: &Bound<'_, PyDict>,
        label: Option<f64>,
        weight: f64,
    ) -> PyResult<()> {
        let Inner { trainer, chunk, diary, layout, .. } = self;
        let (bits, limit) = (trainer.schema().bits, trainer.frame().precision.max_value());
        let diary = label.map(|_| diary);
        Desk { chunk, diary, layout, bits, limit }.push(row, label, weight)
    }

    /// The rows since the last call were learned, or were not.
    pub(crate) fn settle(&mut self, learned: PyResult<()>) -> PyResult<()> {
        if learned.is_err() {
            self.layout.clear();
        }
        self.diary.settle(learned)
    }

    pub(crate) fn settle_names(&mut self) {
        self.trainer.note_names(self.diary.take());
    }
}

/// Learns rows. After a failure the learner is as it was when the call began.
pub(crate) fn learn_rows(
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

/// The learner, to change it: weights that were laid out are out of date.
pub(crate) fn lock_to_learn<'a>(
    py: Python<'_>,
    inner: &'a Mutex<Inner>,
) -> PyResult<MutexGuard<'a, Inner>> {
    let mut inner = lock(py, inner)?;
    inner.scorer = None;
    Ok(inner)
}

pub(crate) fn lock<'a>(py: Python<'_>, inner: &'a Mutex<Inner>) -> PyResult<MutexGuard<'a, Inner>> {
    let broken = |_| {
        PyValueError::new_err("an earlier call failed in the middle of learning; load or fit again")
    };
    inner.lock_py_attached(py).map_err(broken)
}

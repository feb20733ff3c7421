//! A trainer with the state that calls from Python need.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard};

use parsimon::data::Names;
use parsimon::job::{Notice, Noticing};
use parsimon::rows::Chunk;
use parsimon::serve::Undo;
use parsimon::workspace::NumberColumn;
use parsimon::{Error, Trainer};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::PyDict;

use crate::checks::check;
use crate::dict::{Layout, RowTarget, SeenNames};
use crate::errors::{BadInput, Trouble};
use crate::guard::caught;
use crate::notices::by_column;
use crate::row_order::Showing;
use crate::rows::{ArrayScorer, Cells, Rows, copy_row};
use crate::table::Table;

/// Everything that a learner of Python holds, behind its lock.
pub(crate) struct Inner {
    pub(crate) trainer: Trainer,
    /// Labels must not be negative. PERF: asked for every row.
    pub(crate) counts: bool,
    pub(crate) chunk: Chunk,
    pub(crate) diary: SeenNames,
    /// `None` if a failed call need not be undone.
    pub(crate) undo: Option<Undo>,
    pub(crate) layout: Layout,
    /// The weights laid out for prediction, until the next row is learned.
    pub(crate) scorer: Option<ArrayScorer>,
    /// Of one row, reused.
    pub(crate) margins: Vec<f64>,
    /// Watches the rows that are learned, from the first call on.
    pub(crate) noticing: Option<Noticing>,
    /// Notices that Python has not fetched yet.
    pub(crate) notices: Vec<Notice>,
}

impl Inner {
    pub(crate) fn new(trainer: Trainer) -> Self {
        let counts = trainer.settings().is_of_counts();
        Self {
            trainer,
            counts,
            chunk: Chunk::new(),
            diary: SeenNames::default(),
            undo: Some(Undo::default()),
            layout: Layout::default(),
            scorer: None,
            margins: Vec::new(),
            noticing: None,
            notices: Vec::new(),
        }
    }

    pub(crate) fn limit(&self) -> f64 {
        self.trainer.options().precision.max_value()
    }

    // A trainer may be sent to another thread but not shared: code without the interpreter lock borrows it mutably.
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
        let Self { trainer, undo, chunk, noticing, notices, .. } = self;
        let noticing = noticing.get_or_insert_with(|| Noticing::new(trainer.settings()));
        let (mut trouble, mut found) = (None, Vec::new());
        let names = Names::default();
        let learned =
            noticing.learn(trainer, chunk, &names, &mut found, |trainer| {
                match learn_rows(trainer, undo, chunk) {
                    Err(Trouble::Learning(error)) => Err(error),
                    Err(other) => {
                        trouble = Some(other);
                        Ok(())
                    }
                    Ok(()) => Ok(()),
                }
            });
        found.iter_mut().for_each(by_column);
        notices.append(&mut found);
        match trouble {
            Some(trouble) => Err(trouble),
            None => learned.map_err(Trouble::Learning),
        }
    }

    /// Judges the rows so far: those of an array, or of a stream that has ended; `come_again` if the next rows are the same.
    pub(crate) fn end_of_rows(&mut self, come_again: bool) {
        let Self { trainer, noticing, notices, .. } = self;
        if let Some(noticing) = noticing {
            let mut found = Vec::new();
            noticing.end(trainer, &Names::default(), &mut found);
            if trainer.schema().bits.is_none() {
                found.iter_mut().for_each(by_column);
            }
            notices.append(&mut found);
            if come_again {
                noticing.end_search();
            }
        }
    }

    /// Lays the weights out until the next row is learned.
    pub(crate) fn lay_out(&mut self, rows: &dyn Rows) {
        let cells = self.cells(rows);
        let trainer = &self.trainer;
        // NUMERICS: predictions must not depend on how many rows are predicted at once, so the weights that a saved model has are
        // used however few the rows are. A learner that reads its weights exactly need not copy them for a few rows.
        let is_exact = !trainer.settings().is_normalized();
        let pays = !is_exact || rows.entries() >= rows.columns();
        let is_laid_out = self.scorer.as_ref().is_some_and(|scorer| scorer.fits(rows));
        if !is_laid_out && pays && trainer.began_with().is_none() {
            self.scorer = ArrayScorer::new(self.trainer.scorer(), cells, rows);
        }
    }

    pub(crate) fn margins(
        &mut self,
        rows: &dyn Rows,
        block: Range<usize>,
        margins: &mut Vec<f64>,
    ) -> Result<(), BadInput> {
        if let Some(scorer) = &self.scorer {
            return scorer.margins(rows, block, self.limit(), margins);
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

    /// Begins a call that brings about `cells` cells; a failure restores the learner to this point.
    pub(crate) fn begin(&mut self, cells: usize) {
        if let Some(undo) = &mut self.undo {
            undo.begin(&self.trainer, cells);
        }
    }

    /// Forgets the marks of earlier calls.
    pub(crate) fn forget(&mut self) {
        if let Some(undo) = &mut self.undo {
            undo.forget();
        }
    }

    /// Restores the learner to its state at the beginning of the call.
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
        self.target(label.is_some()).push(row, label, weight)
    }

    /// Lays the chunk out for rows by id. Those of a learner that standardizes the columns of arrays are cells of these columns, as
    /// the rows of a sparse matrix are.
    pub(crate) fn begin_rows(&mut self) {
        let Self { trainer, chunk, .. } = self;
        chunk.clear();
        if trainer.schema().bits.is_none() && trainer.schema().table.is_none() {
            let columns = trainer.online().columns().iter();
            let columns = columns.map(|c| NumberColumn { key: c.key, id: c.id });
            chunk.set_columns(&columns.collect::<Vec<_>>());
        }
    }

    /// The receiver of rows; the names of rows that are to be learned are noted.
    pub(crate) fn target(&mut self, learns: bool) -> RowTarget<'_> {
        let Inner { trainer, chunk, diary, layout, .. } = self;
        let (bits, limit) = (trainer.schema().bits, trainer.options().precision.max_value());
        RowTarget { chunk, diary: learns.then_some(diary), layout, bits, limit }
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

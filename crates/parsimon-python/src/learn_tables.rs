//! Tables that the readers read, learned and predicted.

use parsimon::data::Names;
use pyo3::prelude::*;

use crate::errors::raised;
use crate::guard::detached;
use crate::inner::{Inner, learn_rows};
use crate::table::{Table, warn};
use crate::tick::Tick;

/// Learns a table in so many passes; the rows learned.
pub(crate) fn learn(
    py: Python<'_>,
    inner: &mut Inner,
    table: &Table,
    passes: u64,
    tick: &mut Tick<'_>,
) -> PyResult<u64> {
    let is_undone = table.is_in_memory() && inner.undo.is_some();
    if !is_undone {
        detached(py, || inner.check_table(table))??;
    }
    // Rows are not kept where they are learned more than once: the learner changes between passes.
    let cells = if passes == 1 { table.cells() } else { usize::MAX };
    detached(py, || inner.begin(cells))?;
    let learned = learn_passes(py, inner, table, passes, tick, is_undone);
    inner.end();
    learned
}

fn learn_passes(
    py: Python<'_>,
    inner: &mut Inner,
    table: &Table,
    passes: u64,
    tick: &mut Tick<'_>,
    is_undone: bool,
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
                // PERF: a bad row takes the learner back, instead of a pass over all rows before the first is learned.
                Err(e) if is_undone => {
                    detached(py, || inner.go_back())??;
                    return Err(raised(e));
                }
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

/// The margins of every row of a table, one per head.
pub(crate) fn margins(py: Python<'_>, inner: &mut Inner, table: &Table) -> PyResult<Vec<f64>> {
    let (reading, settings) = (inner.trainer.schema(), inner.trainer.settings());
    let precision = inner.trainer.frame().precision;
    let mut reader = table.reader_without_labels(reading, settings, precision)?;
    let mut margins = Vec::new();
    while detached(py, || reader.read(&mut inner.chunk))?.map_err(raised)? {
        detached(py, || inner.predict(&mut margins))?;
        py.check_signals()?;
    }
    warn(py, &reader)?;
    Ok(margins)
}

//! Rows as dictionaries, learned and predicted.

use parsimon::rows::Chunk;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::checks::{check_label, placed};
use crate::dict::NamedRows;
use crate::errors::at_row;
use crate::guard::detached;
use crate::inner::{Inner, learn_rows};
use crate::row_order::BLOCK;

/// Learns one row.
pub(crate) fn learn_one(
    inner: &mut Inner,
    row: &Bound<'_, PyDict>,
    label: f64,
    weight: f64,
) -> PyResult<()> {
    check_label(inner.counts, inner.limit(), label, weight)?;
    inner.begin_rows();
    let pushed = inner.push(row, Some(label), weight);
    // PERF: a row is learned in less time than it takes to hand the interpreter over.
    let learned = pushed.and_then(|()| {
        let cells = cells_of(&inner.chunk);
        inner.begin(cells);
        let learned = learn_rows(&mut inner.trainer, &mut inner.undo, &inner.chunk);
        inner.end();
        Ok(learned?)
    });
    inner.settle(learned)
}

/// Learns several rows; all are looked at before the first is learned.
pub(crate) fn learn_many(
    py: Python<'_>,
    inner: &mut Inner,
    rows: &NamedRows<'_>,
    labels: &[f64],
    weights: Option<&[f64]>,
) -> PyResult<()> {
    inner.begin_rows();
    let pushed = (0..rows.len()).try_for_each(|i| {
        let weight = weights.map_or(1.0, |w| w[i]);
        let checked = check_label(inner.counts, inner.limit(), labels[i], weight);
        checked.map_err(|e| placed(e, i))?;
        let pushed = rows.push(i, &mut inner.target(true), Some(labels[i]), weight);
        pushed.map_err(|e| at_row(py, e, i))
    });
    if pushed.is_err() {
        return inner.settle(pushed);
    }
    let cells = cells_of(&inner.chunk);
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

/// The margins of several rows, one per head.
pub(crate) fn margins_many(
    py: Python<'_>,
    inner: &mut Inner,
    rows: &NamedRows<'_>,
) -> PyResult<Vec<f64>> {
    inner.begin_rows();
    for i in 0..rows.len() {
        let pushed = rows.push(i, &mut inner.target(false), None, 1.0);
        pushed.map_err(|e| at_row(py, e, i))?;
    }
    let mut margins = Vec::new();
    detached(py, || inner.predict(&mut margins))?;
    Ok(margins)
}

/// The margins of one row, one per head, valid until the next call.
pub(crate) fn margins_one<'a>(
    inner: &'a mut Inner,
    row: &Bound<'_, PyDict>,
) -> PyResult<&'a [f64]> {
    inner.begin_rows();
    inner.push(row, None, 1.0)?;
    let mut margins = std::mem::take(&mut inner.margins);
    margins.clear();
    inner.predict(&mut margins);
    inner.margins = margins;
    Ok(&inner.margins)
}

/// The number of features and cells of columns in a chunk.
fn cells_of(chunk: &Chunk) -> usize {
    chunk.nonzeros() + chunk.len() * chunk.columns().len()
}

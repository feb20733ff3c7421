//! Arrays learned and predicted, block by block: Ctrl-C is heard between two blocks.

use parsimon::job::Notice;
use parsimon::{Error, Trainer};
use pyo3::prelude::*;

use crate::errors::{Trouble, raised};
use crate::guard::detached;
use crate::inner::Inner;
use crate::notices::warning;
use crate::row_order::{BLOCK, order_of};
use crate::rows::Rows;
use crate::tick::Tick;

/// Learns the rows in their order.
pub(crate) fn learn(
    py: Python<'_>,
    inner: &mut Inner,
    rows: &dyn Rows,
    labels: &[f64],
    weights: Option<&[f64]>,
) -> PyResult<()> {
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
}

/// Learns the set of rows in `passes` passes. Returns the passes completed and, after a divergence, what happened.
pub(crate) fn fit(
    py: Python<'_>,
    inner: &mut Inner,
    rows: &dyn Rows,
    (labels, weights): (&[f64], Option<&[f64]>),
    (passes, seed): (u64, Option<u64>),
    tick: &mut Tick,
) -> PyResult<(u64, Option<String>)> {
    detached(py, || inner.check(rows, labels, weights))??;
    let order = order_of(py, rows, labels, weights, seed)?;
    // A failed pass of any size is undone here.
    inner.forget();
    for pass in 0..passes {
        let before = detached(py, || inner.checkpoint())?;
        for block in detached(py, || order.pass(pass))?.chunks(BLOCK) {
            let learned = detached(py, || inner.learn(rows, labels, block.iter().copied()))?;
            match learned {
                Err(Trouble::Learning(error @ Error::Diverged { .. })) => {
                    inner.trainer = Trainer::from_checkpoint(&before).map_err(raised)?;
                    return Ok((pass, Some(diverged(inner, &error))));
                }
                other => other?,
            }
            py.check_signals()?;
            tick.rows(py, block.len(), || inner.trainer.progressive().average())?;
        }
        if pass == 0 {
            detached(py, || inner.end_of_rows(passes > 1))?;
        }
        if pass + 1 < passes {
            inner.trainer.decide();
        }
    }
    tick.finish(py, inner.trainer.progressive().average())?;
    Ok((passes, None))
}

/// The message of a divergence: the notice, which has the reason.
fn diverged(inner: &mut Inner, error: &Error) -> String {
    let is_reason = |notice: &Notice| matches!(notice, Notice::Diverged { .. });
    let place = inner.notices.iter().position(is_reason);
    let notice = place.map(|place| inner.notices.remove(place));
    notice.map_or(error.to_string(), |notice| warning(&notice, inner.trainer.settings()).1)
}

/// The margins of every row, one per head.
pub(crate) fn margins(py: Python<'_>, inner: &mut Inner, rows: &dyn Rows) -> PyResult<Vec<f64>> {
    let heads = inner.trainer.online().heads();
    detached(py, || rows.check_form())??;
    detached(py, || inner.lay_out(rows))?;
    let mut margins = Vec::with_capacity(rows.len() * heads);
    for start in (0..rows.len()).step_by(BLOCK) {
        let block = start..rows.len().min(start + BLOCK);
        detached(py, || inner.margins(rows, block, &mut margins))??;
        py.check_signals()?;
    }
    Ok(margins)
}

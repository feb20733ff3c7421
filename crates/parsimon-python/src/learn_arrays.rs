//! Arrays learned and predicted, block by block: Ctrl-C is heard between two blocks.

use std::ops::Range;

use parsimon::job::{Notice, Repetition, decide_passes, may_repeat};
use parsimon::rows::Chunk;
use parsimon::{Error, Trainer};
use pyo3::prelude::*;

use crate::errors::{Trouble, raised};
use crate::guard::detached;
use crate::inner::Inner;
use crate::notices::warning;
use crate::row_order::{BLOCK, Order, order_of};
use crate::rows::{Rows, copy_row};
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

/// The passes of `fit` where none are asked for, and where rows that are held out decide nothing.
const USUAL_PASSES: u64 = 10;

/// Passes that have been made, and the message of a divergence that ended them.
type Made = (u64, Option<String>);

/// Learns the set of rows in `passes` passes, or in as many as predict rows best that are held out. Returns the passes completed and,
/// after a divergence, what happened.
pub(crate) fn fit(
    py: Python<'_>,
    inner: &mut Inner,
    rows: &dyn Rows,
    (labels, weights): (&[f64], Option<&[f64]>),
    (passes, seed): (Option<u64>, Option<u64>),
    tick: &mut Tick,
) -> PyResult<Made> {
    detached(py, || inner.check(rows, labels, weights))??;
    let order = order_of(py, rows, labels, weights, seed)?;
    let given = (rows, labels, &order);
    // A failed pass of any size is undone here.
    inner.forget();
    let made = match passes {
        Some(passes) => make_passes(py, inner, given, 0..passes, tick)?,
        None if inner.trainer.progressive().rows() > 0 => {
            make_passes(py, inner, given, 0..USUAL_PASSES, tick)?
        }
        None => fit_as_it_pays(py, inner, given, seed.unwrap_or_default(), tick)?,
    };
    tick.finish(py, inner.trainer.progressive().average())?;
    Ok(made)
}

/// Rows, their labels and their order.
type Given<'a> = (&'a dyn Rows, &'a [f64], &'a Order);

/// Makes one pass, and then what rows that are held out show to be better: several passes from the beginning, with settings of their own.
fn fit_as_it_pays(
    py: Python<'_>,
    inner: &mut Inner,
    given: Given<'_>,
    seed: u64,
    tick: &mut Tick,
) -> PyResult<Made> {
    let first = make_passes(py, inner, given, 0..1, tick)?;
    if first.1.is_some() {
        return Ok(first);
    }
    let (rows, labels, order) = given;
    let found = detached(py, || -> Result<Repetition, Trouble> {
        let showings = order.pass(0);
        let entries = rows.entries() / rows.len().max(1) * showings.len();
        if let Some(known) = may_repeat(&inner.trainer, showings.len() as u64, entries as u64) {
            return Ok(known);
        }
        let mut all = Chunk::new();
        inner.cells(rows).begin(rows, &mut all);
        for (i, weight) in showings {
            copy_row(rows, i, Some(labels[i]), weight, &mut all)?;
        }
        decide_passes(&inner.trainer, &all, seed).map_err(Trouble::Learning)
    })??;
    match found {
        Repetition::Once => Ok(first),
        Repetition::Undecided => {
            detached(py, || inner.end_of_rows(true))?;
            inner.trainer.decide();
            make_passes(py, inner, given, 1..USUAL_PASSES, tick)
        }
        Repetition::Several(choice) => {
            let (options, schema) = (inner.trainer.options(), inner.trainer.schema().clone());
            let trainer = Trainer::new(choice.settings, options, schema);
            inner.trainer = trainer.map_err(raised)?;
            // The new learner notices what holds for it.
            inner.noticing = None;
            inner.notices.clear();
            make_passes(py, inner, given, 0..u64::from(choice.evidence.passes), tick)
        }
    }
}

/// Learns the set of rows in passes, and goes back to the pass before after a divergence.
fn make_passes(
    py: Python<'_>,
    inner: &mut Inner,
    (rows, labels, order): Given<'_>,
    passes: Range<u64>,
    tick: &mut Tick,
) -> PyResult<Made> {
    for pass in passes.clone() {
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
            detached(py, || inner.end_of_rows(passes.end > 1))?;
        }
        if pass + 1 < passes.end {
            inner.trainer.decide();
        }
    }
    Ok((passes.end, None))
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

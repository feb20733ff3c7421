//! Rows whose order misleads: sorted by label or by another column, or different at their end.

use parsimon_files::memory;

use super::{Job, Trained};
use crate::training::{Events, Notice, Outcome};

/// Returns the window in which the rows are to be learned again in random order: where the order of the rows has misled the
/// learner, and nothing shows that the order matters. Reports that the learner has forgotten, in any case.
pub(super) fn again(job: &Job<'_>, trained: &Trained, events: &mut dyn Events) -> Option<usize> {
    let Trained { trainer, outcome, plan, .. } = trained;
    let found = outcome.hindsight.filter(|_| !outcome.is_stopped)?;
    // A checkpoint, a half-life and a limit are for streams.
    let is_stream =
        plan.checkpoint.is_some() || plan.limit.is_some() || trainer.settings().has_half_life();
    let is_settled = plan.shuffle.is_some() || plan.regret || plan.passes > 1;
    let is_repeated = job.may_shuffle
        && !is_stream
        && !is_settled
        && job.is_repeatable
        && job.source.read_once().is_none()
        && fits(outcome);
    let (rows, is_shuffled) = (outcome.rows, plan.shuffle.is_some());
    events.notice(&Notice::Forgotten { found, rows, is_repeated, is_shuffled });
    is_repeated.then_some(usize::try_from(rows).unwrap_or(usize::MAX))
}

/// Whether all rows can be kept in memory, with room to spare: they are copied once, and vectors double.
fn fits(outcome: &Outcome) -> bool {
    let bytes = outcome.features.saturating_mul(16).saturating_add(outcome.rows.saturating_mul(96));
    bytes.saturating_mul(3) < memory::left() / 2
}

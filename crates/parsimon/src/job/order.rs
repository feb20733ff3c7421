//! Rows whose order misleads: sorted by label or by another column, or different at their end.

use parsimon_files::memory;

use super::ahead::{self, Verdict};
use super::{Job, Trained};
use crate::error::Error;
use crate::settings::Settings;
use crate::training::{Events, Notice, Outcome};

/// The model that is made instead of one that has forgotten rows.
pub(super) enum Instead {
    /// That of the rows in random order, in a window of this length.
    Random(usize),
    /// A constant prediction, by its settings.
    Constant(Settings),
    /// None: the order of the rows is kept.
    Nothing,
}

/// Returns what is to be learned instead where the order of the rows has misled the learner, and nothing shows that the order
/// matters. Reports that the learner has forgotten, in any case.
pub(super) fn instead(
    job: &Job<'_>,
    trained: &Trained,
    events: &mut dyn Events,
) -> Result<Option<Instead>, Error> {
    let Trained { trainer, outcome, .. } = trained;
    let Some(found) = outcome.hindsight.filter(|_| !outcome.is_stopped) else { return Ok(None) };
    let is_repeated = may_repeat(job, trained);
    let verdict = if is_repeated { ahead::judge(job, trained)? } else { Verdict::Random };
    if let Verdict::InOrder(ahead) | Verdict::Constant(ahead) = verdict {
        let is_constant = matches!(verdict, Verdict::Constant(_));
        events.notice(&Notice::LaterRows { ahead, is_constant });
        let constant = trainer.settings().constant_of_race().filter(|_| is_constant);
        return Ok(Some(constant.map_or(Instead::Nothing, Instead::Constant)));
    }
    let (rows, is_shuffled) = (outcome.rows, trained.plan.shuffle.is_some());
    events.notice(&Notice::Forgotten { found, rows, is_repeated, is_shuffled });
    let window = usize::try_from(rows).unwrap_or(usize::MAX);
    Ok(is_repeated.then_some(Instead::Random(window)))
}

/// Whether the rows may be learned again in another order.
fn may_repeat(job: &Job<'_>, trained: &Trained) -> bool {
    let Trained { trainer, outcome, plan, .. } = trained;
    // A checkpoint, a half-life and a limit are for streams.
    let is_stream =
        plan.checkpoint.is_some() || plan.limit.is_some() || trainer.settings().has_half_life();
    let is_settled = plan.shuffle.is_some() || plan.regret || plan.passes > 1;
    job.may_shuffle
        && !is_stream
        && !is_settled
        && job.is_repeatable
        && job.source.read_once().is_none()
        && fits(outcome)
}

/// Whether all rows can be kept in memory, with room to spare: they are copied once, and vectors double.
fn fits(outcome: &Outcome) -> bool {
    let bytes = outcome.features.saturating_mul(16).saturating_add(outcome.rows.saturating_mul(96));
    bytes.saturating_mul(3) < memory::left() / 2
}

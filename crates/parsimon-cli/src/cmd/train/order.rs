//! Files whose order misleads: sorted by label or by another column, or different at their end.

use parsimon::eval::number::{significant, thousands};
use parsimon::train::{Hindsight, Outcome};
use parsimon::{Plan, Trainer};
use parsimon_files::memory;

use super::is_repeatable;
use crate::args::TrainArgs;
use crate::console::note;
use crate::fault::Fault;

/// How the rows are learned again, in random order, where the file's own order has misled the learner and nothing says that it
/// matters. Prints that, or what to do.
pub(super) fn again(
    args: &TrainArgs,
    plan: &Plan,
    trainer: &Trainer,
    outcome: &Outcome,
) -> Result<Option<usize>, Fault> {
    let Some(found) = outcome.hindsight.filter(|_| !outcome.is_stopped) else { return Ok(None) };
    // A checkpoint, a half-life and a limit are for streams, and a method that is named learns as its paper has it.
    let is_stream = args.resume.is_some()
        || args.from.is_some()
        || args.checkpoint.is_some()
        || args.limit.is_some()
        || trainer.settings().has_half_life();
    let is_settled = plan.shuffle.is_some() || args.no_shuffle || plan.regret || plan.passes > 1;
    let may_shuffle = !is_stream
        && !is_settled
        && !args.spec.names_algorithm()?
        && is_repeatable(args, &plan.inputs)
        && fits(outcome);
    let rows = outcome.rows;
    if !args.quiet || !may_shuffle {
        note(&words(&found, trainer, may_shuffle, plan.shuffle.is_some(), rows));
    }
    Ok(may_shuffle.then_some(usize::try_from(rows).unwrap_or(usize::MAX)))
}

/// Whether all rows can be kept in memory, with room to spare: they are copied once, and vectors double.
fn fits(outcome: &Outcome) -> bool {
    let bytes = outcome.features.saturating_mul(16).saturating_add(outcome.rows.saturating_mul(96));
    bytes.saturating_mul(3) < memory::left() / 2
}

fn words(
    found: &Hindsight,
    trainer: &Trainer,
    is_repeated: bool,
    is_shuffled: bool,
    rows: u64,
) -> String {
    let measure = crate::cmd::progressive_measure(trainer.settings());
    let number = |x: f64| significant(measure.factor * x, 4);
    let fact = format!(
        "the final model has forgotten what it learned first: {} {} on {} rows of the whole file, {} when each row came, a constant prediction {}",
        measure.name,
        number(found.loss),
        thousands(found.rows),
        number(found.progressive),
        number(found.constant)
    );
    match (is_repeated, is_shuffled) {
        (true, _) => format!(
            "\n{fact}\nthe order of the rows misleads, so they are learned again in random order, as with --shuffle {rows}; --no-shuffle keeps the order"
        ),
        (false, false) => format!(
            "warning: {fact}\n  try: --shuffle {rows} if the order of the rows has no meaning"
        ),
        (false, true) => {
            format!("warning: {fact}\n  try: --shuffle {rows}, a smaller --rate, or --passes 2")
        }
    }
}

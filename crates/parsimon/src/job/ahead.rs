//! Later rows predicted from the rows before them: the order in which a series is learned, if its columns predict it at all.
//!
//! Where the order of the rows has misled the learner, random order is right if new rows are like those of the whole file. The new
//! rows of a series are like its end, and may be like none before. So the rows before a cut are learned in both orders, and the
//! rows behind it are predicted. Two cuts cannot choose between two orders whose losses are close
//! ([record](../../../../record/order.md)); they show where random order, or any order, is worse than a constant.

use parsimon_core::{Chunk, LabelDomain, Loss};
use parsimon_eval::Mean;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

use super::passes::{fresh, picked, read};
use super::{Job, Trained};
use crate::error::Error;
use crate::training::{Ahead, Constant, Trainer, cost};

/// The last rows of the data that take part, at most.
const MOST_ROWS: usize = 50_000;
/// Fewer rows decide nothing.
const LEAST_ROWS: usize = 400;
/// The rows before the cuts, in eighths of all rows.
const CUTS: [usize; 2] = [4, 6];
/// A model must be worse than the constant by this share at every cut.
const MARGIN: f64 = 0.01;
/// Labels that rise, or fall, in this share of the steps are sorted.
const SORTED: f64 = 0.98;

/// Which model of the rows before the cuts is not worse than a constant behind them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Verdict {
    /// Nothing speaks against random order.
    Random,
    /// The rows in their order, and not in random order.
    InOrder(Ahead),
    /// No model.
    Constant(Ahead),
}

/// Decides by the rows behind two cuts of a series. Rows that are no series can be learned in random order.
pub(super) fn judge(job: &Job<'_>, trained: &Trained) -> Result<Verdict, Error> {
    let (settings, seed) = (trained.trainer.settings(), trained.plan.seed);
    let all = last_rows(read(job, trained)?);
    let Some(found) = trained.outcome.hindsight else { return Ok(Verdict::Random) };
    let is_number = !settings.is_multiclass() && settings.loss().domain() == LabelDomain::Real;
    if all.len() < LEAST_ROWS || !is_number || !is_series(&all, settings.loss(), found.progressive)
    {
        return Ok(Verdict::Random);
    }
    let mut in_order = fresh(&trained.trainer, settings)?;
    let mut constant = Constant::new(settings, &trained.trainer.schema().found);
    let (mut sums, mut start, mut is_kept) = ([0.0; 3], 0, true);
    for cut in CUTS.map(|eighths| all.len() * eighths / 8) {
        let (next, later) = (part(&all, start..cut), part(&all, cut..all.len()));
        let mut rows: Vec<usize> = (0..cut).collect();
        rows.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(seed));
        let mut random = fresh(&trained.trainer, settings)?;
        let is_lost = random.learn(&picked(&all, &rows), &mut |_| {}).is_err()
            || in_order.learn(&next, &mut |_| {}).is_err();
        for i in 0..next.len() {
            if let Some(y) = next.label(i) {
                constant.learn(y, next.weight(i));
            }
        }
        let margins = constant.margins().repeat(later.len());
        let losses = [
            mean_loss(&margins_of(&random, &later), &later, settings.loss()),
            mean_loss(&margins_of(&in_order, &later), &later, settings.loss()),
            mean_loss(&margins, &later, settings.loss()),
        ];
        let limit = losses[2] + MARGIN * losses[2].abs();
        if is_lost || losses[0] <= limit || !limit.is_finite() {
            return Ok(Verdict::Random);
        }
        is_kept &= losses[1] <= limit;
        sums.iter_mut().zip(losses).for_each(|(sum, loss)| *sum += loss / CUTS.len() as f64);
        start = cut;
    }
    let [random, in_order, constant] = sums;
    let ahead =
        Ahead { rows: (all.len() - all.len() * CUTS[0] / 8) as u64, random, in_order, constant };
    Ok(if is_kept { Verdict::InOrder(ahead) } else { Verdict::Constant(ahead) })
}

/// Whether each label is nearer to the label before it than to its prediction, and labels are not sorted.
fn is_series(all: &Chunk, loss: Loss, progressive: f64) -> bool {
    let labels: Vec<f64> = (0..all.len()).filter_map(|i| all.label(i)).collect();
    let steps = labels.windows(2).len().max(1) as f64;
    let share = |of: fn(&[f64]) -> bool| labels.windows(2).filter(|w| of(w)).count() as f64 / steps;
    let is_sorted = share(|w| w[1] >= w[0]) > SORTED || share(|w| w[1] <= w[0]) > SORTED;
    let repeated = labels.windows(2).map(|w| loss.value(w[0], w[1])).sum::<f64>() / steps;
    !is_sorted && repeated < progressive
}

fn last_rows(all: Chunk) -> Chunk {
    match all.len() > MOST_ROWS {
        true => part(&all, all.len() - MOST_ROWS..all.len()),
        false => all,
    }
}

fn part(all: &Chunk, rows: std::ops::Range<usize>) -> Chunk {
    picked(all, &rows.collect::<Vec<_>>())
}

fn margins_of(trainer: &Trainer, rows: &Chunk) -> Vec<f64> {
    let mut margins = Vec::new();
    trainer.online().predict(rows, &mut margins);
    margins
}

fn mean_loss(margins: &[f64], rows: &Chunk, loss: Loss) -> f64 {
    let mut mean = Mean::default();
    for (i, margin) in margins.iter().enumerate() {
        if let Some(y) = rows.label(i) {
            mean.record(cost(loss, &[*margin], y), rows.weight(i));
        }
    }
    mean.value().unwrap_or(f64::INFINITY)
}

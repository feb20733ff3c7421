//! Learners that count each of their rows as one of every learner.
//!
//! In directions in which all learners make the same correction, a learner that counts its rows `k` times has gone as far as `k`
//! learners in one sequence; where corrections are rare, `k` times the gradient of one row, averaged over `k` learners, is that
//! gradient. The mean of the learners is right for both, without a distinction of the directions.

use parsimon_core::Loss;
use parsimon_core::merge::{DualStep, MergeRead, Parts, Tally};

use super::damping::exponent_of;
use super::{Combine, Delta, mergeable};
use crate::error::Error;
use crate::training::Trainer;

/// The copies of a row together may change the slope of its loss by so much of itself, on average. Beyond, the weights follow the noise of
/// single rows. By trial: with 0.2 small rates learn too slowly, with 0.5 large ones are too noisy (`record/cluster.md`).
const MOST_CHANGE: f64 = 0.3;

/// Copies of a row before anything has been learned and the change is known: with a thousand, the first steps are too long.
const MOST_UNKNOWN: f64 = 100.0;

/// Returns the way to combine learners at this state, and the number of times that they count a row.
pub(super) fn effective(state: &Trainer, combine: Combine) -> Result<(Combine, u32), Error> {
    let online = mergeable(state)?;
    Ok(match combine {
        Combine::Damped | Combine::Scaled(_) if !online.damps() => (Combine::Shares, 1),
        Combine::Scaled(learners) => match copies(state, &*online, learners) {
            0 | 1 => (Combine::Damped, 1),
            copies => (combine, copies),
        },
        combine => (combine, 1),
    })
}

/// The number of learners, unless the copies of one row would remove too much of its slope.
fn copies(state: &Trainer, online: &dyn MergeRead, learners: u32) -> u32 {
    // The slopes of the other losses have no bound, or do not shrink as a row is learned.
    if state.settings().loss() != Loss::Logistic {
        return 1;
    }
    let heads = 0..state.online().heads();
    let change = heads.map(|head| change_of_slope(online, head)).fold(0.0, f64::max);
    let most = if change > 0.0 { MOST_CHANGE / change } else { MOST_UNKNOWN };
    f64::from(learners).min(most) as u32
}

/// Returns the share of its slope that a row removes by being learned once, on average over the rows so far: its squares of gradients, whose
/// mean is the curvature, times how far they move the weights.
fn change_of_slope(online: &dyn MergeRead, head: usize) -> f64 {
    let tally = online.tally(head);
    let rows = tally.ids.iter().zip(tally.parts.chunks_exact(online.shares().len()));
    let moved = rows.map(|(&id, parts)| {
        let parts = Parts::from_slice(parts);
        parts.memory * online.lever(id, &parts)
    });
    moved.sum::<f64>() / (online.rounds(head).max(1) as f64)
}

/// Remaining damping if learners count rows less often than there are learners.
pub(super) struct Residue {
    /// Learners for every copy.
    times: f64,
    squares: f64,
    common: f64,
}

impl Residue {
    /// Factors of each head, from all slices of a merge.
    pub(super) fn of(state: &Trainer, slices: &[Delta]) -> Result<Vec<Self>, Error> {
        let Some(first) = slices.first() else { return Ok(Vec::new()) };
        let Combine::Scaled(_) = first.combine else { return Ok(Vec::new()) };
        let (_, copies) = effective(state, first.combine)?;
        let times = (first.counts.learners as f64 / f64::from(copies)).max(1.0);
        let online = mergeable(state)?;
        let of_head = |head: usize| {
            let mut residue = Self { times, squares: 0.0, common: 0.0 };
            if times <= 1.0 {
                return residue;
            }
            // The sums run in order of ids, so that the number of slices does not change them.
            let mut added: Vec<(u32, f64)> = Vec::new();
            for delta in slices {
                let Tally { ids, parts } = &delta.tallies[head];
                let steps = parts.chunks_exact(delta.width).map(DualStep::from_slice);
                added.extend(ids.iter().zip(steps).map(|(&j, step)| (j, step.memory)));
            }
            added.sort_unstable_by_key(|&(id, _)| id);
            residue.squares = added.iter().map(|&(_, squares)| squares).fold(0.0, f64::max);
            let start = online.tally(head);
            residue.common = added
                .iter()
                .map(|&(id, squares)| {
                    residue.share(squares)
                        * overlap(&*online, id, &start_of(&*online, &start, id), squares)
                })
                .sum();
            residue
        };
        Ok((0..state.online().heads()).map(of_head).collect())
    }

    fn share(&self, squares: f64) -> f64 {
        if self.squares > 0.0 { squares / self.squares } else { 0.0 }
    }

    /// The factor of each step: `times` groups of learners have each made `1 - e^-(a / times)` of a correction, of which one sequence
    /// makes `1 - e^-a`.
    pub(super) fn damping(
        &self,
        online: &dyn MergeRead,
        head: usize,
        ids: &[u32],
        steps: &[DualStep],
    ) -> Vec<f64> {
        if self.times <= 1.0 {
            return vec![1.0; ids.len()];
        }
        let start = online.tally(head);
        let rows = ids.iter().zip(steps);
        rows.map(|(&id, step)| {
            let own = overlap(online, id, &start_of(online, &start, id), step.memory);
            let a = exponent_of(own, self.share(step.memory), self.common);
            let made = -(-a / self.times).exp_m1() * self.times;
            if made > 0.0 { -(-a).exp_m1() / made } else { 1.0 }
        })
        .collect()
    }
}

fn start_of(online: &dyn MergeRead, start: &Tally, id: u32) -> Parts {
    let width = online.shares().len();
    let place = start.ids.binary_search(&id).ok();
    place.map_or(Parts::default(), |k| Parts::from_slice(&start.parts[k * width..(k + 1) * width]))
}

fn overlap(online: &dyn MergeRead, id: u32, start: &Parts, squares: f64) -> f64 {
    let end = Parts { memory: start.memory + squares, ..*start };
    online.overlap(id, start, &end)
}

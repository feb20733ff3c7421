//! Addition of the changes of other learners to a state.

use parsimon_core::merge::{DualStep, Step};

use super::scaling::{Residue, effective};
use super::{Combine, Delta, fingerprint, mergeable, mergeable_mut};
use crate::error::Error;
use crate::training::Trainer;

/// 2^53, beyond which counts are no longer exact.
const MOST_ROUNDS: f64 = 9_007_199_254_740_992.0;

impl Trainer {
    /// Returns an error with the reason if learners with these settings cannot be merged.
    pub fn check_mergeable(&self) -> Result<(), Error> {
        mergeable(self).map(|_| ())
    }

    /// Learns rows from now on as one of several learners, as [`Combine`] requires it.
    ///
    /// [`Combine::Scaled`] counts a row as one of every learner; the others count it once. The state does not remember this: call it
    /// on the trainer that learns, before it learns.
    pub fn count_rows_for(&mut self, combine: Combine) -> Result<(), Error> {
        let (_, copies) = effective(self, combine)?;
        mergeable_mut(self)?.set_copies(copies);
        Ok(())
    }

    /// Adds deltas that started from this state: every slice once, in any order.
    ///
    /// If a slice does not fit, nothing is changed. After [`Error::Diverged`], because a sum is not finite, the trainer must not be
    /// used any more.
    pub fn absorb(&mut self, slices: impl IntoIterator<Item = Delta>) -> Result<(), Error> {
        mergeable(self)?;
        let slices: Vec<Delta> = slices.into_iter().collect();
        self.check_slices(&slices)?;
        for delta in &slices {
            self.reserve(delta.coming())?;
        }
        let Some(first) = slices.first() else { return self.check_finite() };
        let is_nothing = first.counts.is_nothing();
        let residues = Residue::of(self, &slices)?;
        self.begin(first)?;
        slices.into_iter().try_for_each(|delta| self.add(delta, &residues))?;
        if !is_nothing {
            let heads = self.online().heads();
            let mut online = mergeable_mut(self)?;
            (0..heads).for_each(|head| online.settle(head));
        }
        self.check_finite()
    }

    /// Whether these are all slices of one merge, and begin at this state.
    fn check_slices(&self, slices: &[Delta]) -> Result<(), Error> {
        let Some(first) = slices.first() else { return Ok(()) };
        let refused = |words: String| Err(Error::usage(words));
        let base = fingerprint(self);
        let mut waiting = vec![true; first.slices as usize];
        for delta in slices {
            if delta.base != base {
                return refused("a delta began at another state than this one".into());
            }
            delta.check_fit(self)?;
            delta.check_rounds(self)?;
            if delta.counts != first.counts || delta.slices != first.slices {
                return refused("the slices are not of one merge".into());
            }
            if !std::mem::take(&mut waiting[delta.slice as usize]) {
                return refused(format!("slice {} came twice", delta.slice));
            }
        }
        match waiting.iter().position(|&w| w) {
            Some(missing) => {
                let all = waiting.len();
                refused(format!("slice {missing} of {all} is missing: hand in all of them"))
            }
            None => Ok(()),
        }
    }

    fn begin(&mut self, delta: &Delta) -> Result<(), Error> {
        let counts = &delta.counts;
        // Without rows the state stays as it is, to the bit.
        if counts.is_nothing() {
            return Ok(());
        }
        let before: Vec<u64> = {
            let online = mergeable(self)?;
            (0..counts.rounds.len()).map(|head| online.rounds(head)).collect()
        };
        self.learned_mut().1.absorb(counts.rows, counts.loss, counts.weight);
        let mut online = mergeable_mut(self)?;
        for (head, (before, &rounds)) in before.into_iter().zip(&counts.rounds).enumerate() {
            online.advance(head, before + delta.rounds_of(rounds).round() as u64);
        }
        // Moments come first, because coordinates are added under the penalty that follows from them.
        if let Some(moments) = &counts.moments {
            online.take_moments(moments);
        }
        Ok(())
    }

    fn add(&mut self, delta: Delta, residues: &[Residue]) -> Result<(), Error> {
        let factors = delta.factors(mergeable(self)?.shares());
        self.forget_consumed();
        for input in &delta.inputs {
            self.note_input(input);
        }
        if !delta.scales.features.is_empty() || !delta.scales.columns.is_empty() {
            mergeable_mut(self)?.take_moments(&delta.scales);
        }
        for (head, mut tally) in delta.tallies.into_iter().enumerate() {
            let now = mergeable(self)?.rounds(head);
            let from = || now - delta.counts.rounds[head].round() as u64;
            let steps = tally.parts.chunks_exact(delta.width);
            match delta.combine {
                Combine::Damped => {
                    let steps: Vec<Step> = steps.map(Step::from_slice).collect();
                    mergeable_mut(self)?.take_steps(head, from(), &tally.ids, &steps);
                }
                Combine::Scaled(_) => {
                    let steps: Vec<DualStep> = steps.map(DualStep::from_slice).collect();
                    let damping =
                        residues[head].damping(&*mergeable(self)?, head, &tally.ids, &steps);
                    let mut online = mergeable_mut(self)?;
                    online.take_dual_steps(head, from(), &tally.ids, &steps, &damping);
                }
                Combine::Shares | Combine::Mean => {
                    for parts in tally.parts.chunks_exact_mut(delta.width) {
                        parts.iter_mut().zip(&factors).for_each(|(part, factor)| *part /= factor);
                    }
                    mergeable_mut(self)?.add(head, &tally);
                }
            }
        }
        let (_, _, names) = self.learned_mut();
        for (slot, name) in &delta.names {
            names.insert(*slot, name);
        }
        Ok(())
    }
}

impl Delta {
    /// The rounds that a head's share of the rows stands for.
    fn rounds_of(&self, rounds: f64) -> f64 {
        match self.combine {
            Combine::Mean => rounds / self.counts.weight,
            _ => rounds,
        }
    }

    /// Refuses rounds that no stream can reach: counts continue from them.
    fn check_rounds(&self, state: &Trainer) -> Result<(), Error> {
        let counts = &self.counts;
        let is_sound = |rounds: &f64| (0.0..=MOST_ROUNDS).contains(&self.rounds_of(*rounds));
        let rows = counts.rows.saturating_add(state.progressive().rows());
        match counts.is_nothing()
            || (counts.rounds.iter().all(is_sound) && rows as f64 <= MOST_ROUNDS)
        {
            true => Ok(()),
            false => Err(Error::Usage("a delta has more rounds than any stream".into())),
        }
    }
}

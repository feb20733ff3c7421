//! The change of a learner since the state it started from.

use std::collections::BTreeSet;

use parsimon_core::merge::{Parts, Tally};
use parsimon_core::workspace::MomentsDelta;

use super::damping::Usual;
use super::moments::{is_plausible, keeps_moments};
use super::scaling::effective;
use super::tallies::difference;
use super::{Combine, Counts, Delta, MOST_SLICES, fingerprint, mergeable, slice_of, width};
use crate::error::Error;
use crate::training::Trainer;

impl Delta {
    /// The change from `start` to `end`, as a number of slices.
    pub fn between(
        start: &Trainer,
        end: &Trainer,
        combine: Combine,
        slices: u32,
    ) -> Result<Vec<Delta>, Error> {
        if slices == 0 || slices > MOST_SLICES {
            let message = format!("slices must be from 1 to {MOST_SLICES}, got {slices}");
            return Err(Error::usage(message));
        }
        check_descent(start, end)?;
        let (a, b) = (mergeable(start)?, mergeable(end)?);
        let (combine, copies) = effective(start, combine)?;
        let (before, after) = (start.progressive(), end.progressive());
        let weight = after.weight() - before.weight();
        let heads = end.online().heads();
        let rounds = (0..heads).map(|head| (b.rounds(head) - a.rounds(head)) as f64);
        let counts = Counts {
            learners: 1,
            rows: after.rows() - before.rows(),
            weight,
            loss: after.total() - before.total(),
            rounds: match combine {
                Combine::Mean => rounds.map(|r| r * weight).collect(),
                _ => rounds.map(|r| r / f64::from(copies)).collect(),
            },
            moments: None,
        };
        let mut empty = Delta {
            base: fingerprint(start),
            combine,
            slice: 0,
            slices,
            width: width(&*a, combine),
            counts,
            tallies: vec![Tally::default(); heads],
            scales: MomentsDelta::default(),
            names: BTreeSet::new(),
            inputs: Vec::new(),
        };
        let scales = empty.take_moments(start, end)?;
        let mut deltas: Vec<Delta> =
            (0..slices).map(|slice| Delta { slice, ..empty.clone() }).collect();
        for (id, sample) in scales.features {
            deltas[slice_of(id, slices) as usize].scales.features.push((id, sample));
        }
        deltas[0].scales.columns = scales.columns;
        let factors = empty.factors(a.shares());
        let curvature = empty.counts.curvature(end);
        for head in 0..heads {
            let rounds = [a.rounds(head), b.rounds(head)];
            let (from, to) = (a.tally(head), b.tally(head));
            let usual = Usual::of(&*a, curvature, &from, &to);
            let push_step =
                |numbers: &mut Vec<f64>, id: u32, from: &Parts, to: &Parts| match combine {
                    Combine::Scaled(_) => {
                        let step = a.dual_step(id, from, to).to_array();
                        numbers.extend(step.map(|d| d / f64::from(copies)));
                    }
                    Combine::Damped => {
                        // The later state knows how much of the penalty is in force at the end of the step.
                        let exponent = usual.exponent(&*a, id, from, to);
                        numbers.extend(b.step(id, rounds, from, to, exponent).to_array());
                    }
                    Combine::Shares | Combine::Mean => {
                        let ends = from.to_array().into_iter().zip(to.to_array());
                        numbers.extend(
                            ends.zip(&factors).map(|((from, to), factor)| (to - from) * factor),
                        );
                    }
                };
            difference(&from, &to, a.shares().len(), |id, from, to| {
                let tally = &mut deltas[slice_of(id, slices) as usize].tallies[head];
                tally.ids.push(id);
                push_step(&mut tally.parts, id, from, to);
            });
        }
        deltas[0].note(start, end);
        Ok(deltas)
    }

    /// Takes what `end` has added to the moments of `start` into the counts, if the learners keep any; gives the features
    /// and the columns.
    fn take_moments(&mut self, start: &Trainer, end: &Trainer) -> Result<MomentsDelta, Error> {
        if !keeps_moments(start) {
            return Ok(MomentsDelta::default());
        }
        let added = mergeable(end)?.moments().since(&mergeable(start)?.moments());
        if !is_plausible(&added) {
            return Err(Error::Usage(
                "the scales of the features cannot have come from those of the start".into(),
            ));
        }
        let MomentsDelta { weight, energy, target, features, columns } = added;
        let none = MomentsDelta::default();
        self.counts.moments = Some(MomentsDelta { weight, energy, target, ..none.clone() });
        Ok(MomentsDelta { features, columns, ..none })
    }

    fn note(&mut self, start: &Trainer, end: &Trainer) {
        let known = start.names();
        for (slot, _) in end.names().iter() {
            for name in end.names().all(slot) {
                if !known.all(slot).any(|n| n == name) {
                    self.names.insert((slot, name.to_owned()));
                }
            }
        }
        let new = end.inputs().iter().filter(|input| !start.inputs().contains(input));
        self.inputs = new.cloned().collect();
    }
}

/// Refuses two states if the second cannot be a continuation of the first.
fn check_descent(start: &Trainer, end: &Trainer) -> Result<(), Error> {
    // A value that was found in the data equals the same value among the settings.
    let settings = |trainer: &Trainer| trainer.settings().completed(&trainer.schema().found);
    let same = settings(start) == settings(end)
        && start.options().precision == end.options().precision
        && start.options().bias == end.options().bias
        && start.schema().bits == end.schema().bits
        && start.schema().found.classes == end.schema().found.classes;
    if !same {
        return Err(Error::Usage("the checkpoints were trained with different settings".into()));
    }
    let (a, b) = (mergeable(start)?, mergeable(end)?);
    let backwards = (0..start.online().heads()).any(|head| b.rounds(head) < a.rounds(head));
    if backwards || end.progressive().rows() < start.progressive().rows() {
        return Err(Error::usage(format!(
            "a state of {} rows cannot have come from one of {} rows",
            end.progressive().rows(),
            start.progressive().rows()
        )));
    }
    Ok(())
}

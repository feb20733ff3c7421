//! Learning in several places at once: everybody starts from one state, learns rows of their own and hands in what changed.
//!
//! A [`Delta`] is what a learner added to the state it started from. Deltas of one start add up ([`merge_deltas`]), and
//! [`Trainer::absorb`] adds the sum to that state. How numbers are shared is the method's own affair
//! ([`parsimon_core::merge`]): `ftrl`, `rda`, `adagrad-rda`, `pda` and their kin keep sums of gradients, which add up, and
//! the threshold is applied once, after the merge; the others keep weights, which are averaged by what the rows weigh.
//!
//! ```
//! use parsimon::core::{Chunk, Repeats};
//! use parsimon::{Combine, Delta, LearnerOptions, InputSchema, Spec, Trainer, merge_deltas};
//!
//! let settings = Spec::new("ftrl").set("l1", 0.1).resolve()?;
//! let mut state = Trainer::new(settings, LearnerOptions::default(), InputSchema::default())?;
//! let mut deltas = Vec::new();
//! for worker in 0..2 {
//!     let mut learner = Trainer::from_checkpoint(&state.checkpoint())?;
//!     let mut chunk = Chunk::new();
//!     for i in 0..50 {
//!         chunk.push_feature(1 + (i + worker) % 2, 1.0);
//!         let label = if (i + worker) % 2 == 0 { 1.0 } else { -1.0 };
//!         chunk.finish_row(Some(label), 1.0, Repeats::Refuse).unwrap();
//!     }
//!     learner.learn(&chunk, &mut |_| {})?;
//!     deltas.extend(Delta::between(&state, &learner, Combine::Shares, 1)?);
//! }
//! state.absorb([merge_deltas(deltas)?])?;
//! assert_eq!(state.progressive().rows(), 100);
//! assert_eq!(state.model().nonzeros(), 2);
//! # Ok::<(), parsimon::Error>(())
//! ```
//!
//! **Slices.** A delta is handed in by key: slice `i` of `n` has the features whose block of 4096 ids falls to it. Slices are
//! merged apart from each other, anywhere, and absorbed one after the other: nobody holds a state per worker.
//!
//! **What a merge is not.** It is not the sequential pass: every worker learned from the weights of the start. How far that
//! goes is measured in `docs/cluster.md`.

mod bytes;

use std::collections::BTreeSet;

use parsimon_core::merge::{MOST_PARTS, Mergeable, Parts, Share, Step, Tally};
use parsimon_files::checksum;

use crate::algorithm::setting::ClassWeight;
use crate::{Error, Trainer};

/// How the numbers of several learners become one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Combine {
    /// As [`Shares`](Combine::Shares), but damped where several learners make the same correction, so that few merges are
    /// enough. Methods without squares of gradients are combined as they share.
    #[default]
    Damped,
    /// As the method shares them: sums of gradients add up, weights are averaged.
    Shares,
    /// Everything is averaged, the rounds too: the state of one typical learner.
    Mean,
}

impl Combine {
    /// Its name everywhere.
    pub fn name(self) -> &'static str {
        match self {
            Combine::Damped => "damped",
            Combine::Shares => "sum",
            Combine::Mean => "mean",
        }
    }
}

impl std::str::FromStr for Combine {
    type Err = String;
    fn from_str(name: &str) -> Result<Self, String> {
        let all = [Combine::Damped, Combine::Shares, Combine::Mean];
        let unknown = || format!("combine must be damped, sum or mean, got {name}");
        all.into_iter().find(|c| c.name() == name).ok_or_else(unknown)
    }
}

/// Ids that are neighbours stay together: a slice is made of blocks of so many.
const BLOCK_BITS: u32 = 12;

/// More slices than this are a mistake.
const MOST_SLICES: u32 = 1 << 16;

/// What learners added to the state they started from: one slice of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Delta {
    /// A fingerprint of the state.
    base: u64,
    combine: Combine,
    slice: u32,
    slices: u32,
    /// How many numbers a coordinate has.
    width: usize,
    counts: Counts,
    /// One per head.
    tallies: Vec<Tally>,
    /// Names and inputs met since, in the first slice only.
    names: BTreeSet<(u32, String)>,
    inputs: Vec<String>,
}

/// What is counted once per learner, and stands in every slice.
#[derive(Clone, Debug, Default, PartialEq)]
struct Counts {
    learners: u64,
    rows: u64,
    weight: f64,
    loss: f64,
    /// Per head; times the weight where they are to be averaged.
    rounds: Vec<f64>,
}

impl Counts {
    fn add(&mut self, other: &Counts) {
        self.learners += other.learners;
        self.rows += other.rows;
        self.weight += other.weight;
        self.loss += other.loss;
        self.rounds.iter_mut().zip(&other.rounds).for_each(|(a, b)| *a += b);
    }

    fn is_nothing(&self) -> bool {
        self.rows == 0 && self.weight == 0.0 && self.rounds.iter().all(|&r| r == 0.0)
    }
}

fn slice_of(id: u32, slices: u32) -> u32 {
    (id >> BLOCK_BITS) % slices
}

/// Says why a method's learners cannot be made into one.
fn refused(trainer: &Trainer, why: &str) -> Error {
    let name = trainer.settings().algorithm().name;
    Error::Usage(format!(
        "{name} with these settings cannot be merged: {why}; ftrl, rda and adagrad-rda can be, and fobos by averaging"
    ))
}

fn mergeable(trainer: &Trainer) -> Result<&dyn Mergeable, Error> {
    if trainer.settings().is_normalized() {
        return Err(refused(
            trainer,
            "normalize keeps scales of the features, which are not merged",
        ));
    }
    if trainer.settings().class_weight() == Some(&ClassWeight::Balanced) {
        let why = "balanced class weights count the rows of each class in order; pass fixed ones";
        return Err(refused(trainer, why));
    }
    trainer.online().mergeable().map_err(|why| refused(trainer, why))
}

fn fingerprint(trainer: &Trainer) -> u64 {
    let mut state = Vec::new();
    trainer.online().save(&mut state);
    checksum(&state)
}

impl Trainer {
    /// Refuses methods whose learners cannot be made into one, with the reason.
    pub fn check_mergeable(&self) -> Result<(), Error> {
        mergeable(self).map(|_| ())
    }

    /// Adds what others have learned from this very state: every slice once, in any order.
    ///
    /// Nothing is changed if the first slice does not fit; a later one that does not leaves the trainer unusable.
    pub fn absorb(&mut self, slices: impl IntoIterator<Item = Delta>) -> Result<(), Error> {
        mergeable(self)?;
        let (base, mut counts, mut waiting) = (fingerprint(self), None, Vec::new());
        for delta in slices {
            if delta.base != base {
                return Err(Error::Usage("a delta began at another state than this one".into()));
            }
            delta.check_fit(self)?;
            if counts.is_none() {
                waiting = vec![true; delta.slices as usize];
                self.begin(&delta);
            }
            let counts = counts.get_or_insert_with(|| delta.counts.clone());
            if *counts != delta.counts || waiting.len() != delta.slices as usize {
                return Err(Error::Usage("the slices are not of one merge".into()));
            }
            if !std::mem::take(&mut waiting[delta.slice as usize]) {
                return Err(Error::Usage(format!("slice {} came twice", delta.slice)));
            }
            self.add(delta);
        }
        match waiting.iter().position(|&w| w) {
            Some(missing) => {
                let all = waiting.len();
                Err(Error::Usage(format!(
                    "slice {missing} of {all} is missing: hand in all of them"
                )))
            }
            None => {
                let heads = self.online().heads();
                if counts.is_some_and(|counts| !counts.is_nothing()) {
                    let online = self.learned_mut().0.mergeable_mut();
                    let online = online.expect("it was asked at the beginning");
                    (0..heads).for_each(|head| online.settle(head));
                }
                Ok(())
            }
        }
    }

    fn begin(&mut self, delta: &Delta) {
        let counts = &delta.counts;
        // No row, no change: not even of what a state without a change could be written as.
        if counts.is_nothing() {
            return;
        }
        let (online, progressive, _) = self.learned_mut();
        progressive.absorb(counts.rows, counts.loss, counts.weight);
        let online = online.mergeable_mut().expect("it was asked at the beginning");
        for (head, &rounds) in counts.rounds.iter().enumerate() {
            let rounds = match delta.combine {
                Combine::Mean => rounds / counts.weight,
                _ => rounds,
            };
            online.advance(head, online.rounds(head) + rounds.round() as u64);
        }
    }

    fn add(&mut self, delta: Delta) {
        let scales = delta.scales(mergeable(self).map_or(&[][..], Mergeable::shares));
        for input in &delta.inputs {
            self.note_input(input);
        }
        let (online, _, names) = self.learned_mut();
        let online = online.mergeable_mut().expect("it was asked at the beginning");
        for (head, mut tally) in delta.tallies.into_iter().enumerate() {
            if delta.combine == Combine::Damped {
                let from = online.rounds(head) - delta.counts.rounds[head].round() as u64;
                online.take_steps(head, from, &tally.ids, &tally.parts);
                continue;
            }
            for parts in tally.parts.chunks_exact_mut(delta.width) {
                parts.iter_mut().zip(&scales).for_each(|(part, scale)| *part /= scale);
            }
            online.add(head, &tally);
        }
        for (slot, name) in &delta.names {
            names.insert(*slot, name);
        }
    }
}

impl Delta {
    /// What `end` has learned since `start`, in so many slices.
    pub fn between(
        start: &Trainer,
        end: &Trainer,
        combine: Combine,
        slices: u32,
    ) -> Result<Vec<Delta>, Error> {
        if slices == 0 || slices > MOST_SLICES {
            let message = format!("slices must be from 1 to {MOST_SLICES}, got {slices}");
            return Err(Error::Usage(message));
        }
        check_descent(start, end)?;
        let (a, b) = (mergeable(start)?, mergeable(end)?);
        let combine = match combine {
            Combine::Damped if !a.damps() => Combine::Shares,
            combine => combine,
        };
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
                _ => rounds.collect(),
            },
        };
        let empty = Delta {
            base: fingerprint(start),
            combine,
            slice: 0,
            slices,
            width: width(a, combine),
            counts,
            tallies: vec![Tally::default(); heads],
            names: BTreeSet::new(),
            inputs: Vec::new(),
        };
        let mut deltas: Vec<Delta> =
            (0..slices).map(|slice| Delta { slice, ..empty.clone() }).collect();
        let scales = empty.scales(a.shares());
        for head in 0..heads {
            let rounds = [a.rounds(head), b.rounds(head)];
            let (from, to) = (a.tally(head), b.tally(head));
            let usual = Usual::of(a, &from, &to);
            let step = |id: u32, from: &Parts, to: &Parts| -> Step {
                if combine == Combine::Damped {
                    return a.step(id, rounds, from, to, usual.exponent(a, id, from, to));
                }
                let mut step = Step::default();
                scales
                    .iter()
                    .enumerate()
                    .for_each(|(k, scale)| step[k] = (to[k] - from[k]) * scale);
                step
            };
            difference(&from, &to, a.shares().len(), |id, from, to| {
                let tally = &mut deltas[slice_of(id, slices) as usize].tallies[head];
                tally.ids.push(id);
                tally.parts.extend_from_slice(&step(id, from, to)[..empty.width]);
            });
        }
        deltas[0].note(start, end);
        Ok(deltas)
    }

    /// What a number is multiplied by before it is added up, and divided by at the end.
    fn scales(&self, shares: &[Share]) -> Vec<f64> {
        let scale = |share: &Share| match (self.combine, share) {
            (Combine::Shares, Share::Sum) => 1.0,
            _ if self.counts.weight == 0.0 => 1.0,
            _ => self.counts.weight,
        };
        shares.iter().map(scale).collect()
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

    /// The same delta taken for one of this state, although it began at an earlier one: its gradients are stale, and whoever
    /// calls this knows it.
    #[must_use]
    pub fn taken_for(self, state: &Trainer) -> Self {
        Self { base: fingerprint(state), ..self }
    }

    /// Which slice of how many.
    pub fn slice(&self) -> (u32, u32) {
        (self.slice, self.slices)
    }

    /// How many learners are in it.
    pub fn learners(&self) -> u64 {
        self.counts.learners
    }

    /// Rows learned.
    pub fn rows(&self) -> u64 {
        self.counts.rows
    }

    /// Coordinates that changed.
    pub fn coordinates(&self) -> usize {
        self.tallies.iter().map(|tally| tally.ids.len()).sum()
    }

    /// Adds another delta of the same slice.
    pub fn add(&mut self, other: &Delta) -> Result<(), Error> {
        let key = |d: &Delta| (d.base, d.combine, d.slice, d.slices, d.width, d.tallies.len());
        if key(self) != key(other) {
            let message = if self.base == other.base {
                "the deltas are not of one slice and one way to combine"
            } else {
                "the deltas began at different states"
            };
            return Err(Error::Usage(message.into()));
        }
        self.counts.add(&other.counts);
        for (tally, more) in self.tallies.iter_mut().zip(&other.tallies) {
            *tally = sum(tally, more, self.width);
        }
        self.names.extend(other.names.iter().cloned());
        for input in &other.inputs {
            if !self.inputs.contains(input) {
                self.inputs.push(input.clone());
            }
        }
        Ok(())
    }

    fn check_fit(&self, trainer: &Trainer) -> Result<(), Error> {
        let online = mergeable(trainer)?;
        let heads = trainer.online().heads();
        let has_bias = trainer.frame().bias;
        let bias = self.tallies.iter().any(|t| t.ids.last() == Some(&Tally::BIAS));
        if self.width != width(online, self.combine)
            || self.tallies.len() != heads
            || self.counts.rounds.len() != heads
            || (bias && !has_bias)
        {
            return Err(Error::Usage("a delta does not belong to this method".into()));
        }
        Ok(())
    }
}

/// The deltas of one slice added up: neighbours first, then their sums, and so on. The order of the deltas fixes the bits.
pub fn merge_deltas(mut deltas: Vec<Delta>) -> Result<Delta, Error> {
    while deltas.len() > 1 {
        let mut sums = Vec::with_capacity(deltas.len().div_ceil(2));
        let mut rest = deltas.into_iter();
        while let Some(mut delta) = rest.next() {
            if let Some(next) = rest.next() {
                delta.add(&next)?;
            }
            sums.push(delta);
        }
        deltas = sums;
    }
    deltas.pop().ok_or_else(|| Error::Usage("there is no delta to merge".into()))
}

/// Features that are in most rows are not independent of each other, and correct more in common than their shares say. By trial: with 1
/// sixteen learners of a click log still disturb each other, with 4 they learn too slowly (`record/2026-11-15-cluster.md`).
const TOGETHER: f64 = 2.0;

/// How often a learner's rows made a correction that is due to everybody: features that are in many rows are corrected together.
struct Usual {
    /// The squares of the slopes in all, by the coordinate that has most of them: the bias, if there is one.
    squares: f64,
    /// What frequent features corrected in common, as an exponent.
    common: f64,
}

impl Usual {
    fn of(online: &dyn Mergeable, start: &Tally, end: &Tally) -> Self {
        let (mut usual, width) = (Self { squares: 0.0, common: 0.0 }, online.shares().len());
        if online.damps() {
            let largest = |_: u32, from: &Parts, to: &Parts| {
                usual.squares = usual.squares.max(to[1] - from[1]);
            };
            difference(start, end, width, largest);
            let mut common = 0.0;
            difference(start, end, width, |id, from, to| {
                common += usual.share(from, to) * online.overlap(id, from, to);
            });
            usual.common = common;
        }
        usual
    }

    /// The share of the rows that have a feature, each counted by the square of its slope.
    fn share(&self, from: &Parts, to: &Parts) -> f64 {
        if self.squares > 0.0 { (to[1] - from[1]) / self.squares } else { 0.0 }
    }

    /// What the coordinate corrected by itself and in common with others.
    fn exponent(&self, online: &dyn Mergeable, id: u32, from: &Parts, to: &Parts) -> f64 {
        online.overlap(id, from, to) + TOGETHER * self.share(from, to) * self.common
    }
}

/// How many numbers a delta has for each coordinate.
fn width(online: &dyn Mergeable, combine: Combine) -> usize {
    if combine == Combine::Damped { Step::default().len() } else { online.shares().len() }
}

/// Refuses two states of which one cannot have come from the other.
fn check_descent(start: &Trainer, end: &Trainer) -> Result<(), Error> {
    // Older files have what was found among the settings.
    let settings = |trainer: &Trainer| trainer.settings().completed(&trainer.schema().found);
    let same = settings(start) == settings(end)
        && start.frame().precision == end.frame().precision
        && start.frame().bias == end.frame().bias
        && start.schema().bits == end.schema().bits
        && start.schema().found.classes == end.schema().found.classes;
    if !same {
        return Err(Error::Usage(
            "the state and the one it is to have come from have different settings".into(),
        ));
    }
    let (a, b) = (mergeable(start)?, mergeable(end)?);
    let backwards = (0..start.online().heads()).any(|head| b.rounds(head) < a.rounds(head));
    if backwards || end.progressive().rows() < start.progressive().rows() {
        return Err(Error::Usage(format!(
            "a state of {} rows cannot have come from one of {} rows",
            end.progressive().rows(),
            start.progressive().rows()
        )));
    }
    Ok(())
}

/// Calls `emit` for every coordinate that changed, in order of ids, with what it was and what it is.
fn difference(start: &Tally, end: &Tally, width: usize, mut emit: impl FnMut(u32, &Parts, &Parts)) {
    let whole = |parts: Option<&[f64]>| {
        let mut all = [0.0; MOST_PARTS];
        all.iter_mut().zip(parts.unwrap_or_default()).for_each(|(a, p)| *a = *p);
        all
    };
    join(start, end, width, |id, from, to| {
        let (from, to) = (whole(from), whole(to));
        if from != to {
            emit(id, &from, &to);
        }
    });
}

fn sum(a: &Tally, b: &Tally, width: usize) -> Tally {
    let mut all = Tally::default();
    join(a, b, width, |id, a, b| {
        all.ids.push(id);
        match (a, b) {
            (Some(a), Some(b)) => all.parts.extend(a.iter().zip(b).map(|(a, b)| a + b)),
            (a, b) => all.parts.extend_from_slice(a.or(b).unwrap_or_default()),
        }
    });
    all
}

/// Walks over two tallies at once, in order of ids.
fn join(
    a: &Tally,
    b: &Tally,
    width: usize,
    mut each: impl FnMut(u32, Option<&[f64]>, Option<&[f64]>),
) {
    let (mut i, mut k) = (0, 0);
    while i < a.ids.len() || k < b.ids.len() {
        let (left, right) = (a.ids.get(i).copied(), b.ids.get(k).copied());
        let id = match (left, right) {
            (Some(x), Some(y)) => x.min(y),
            (x, y) => x.or(y).unwrap_or_default(),
        };
        let left = (left == Some(id)).then(|| &a.parts[i * width..(i + 1) * width]);
        let right = (right == Some(id)).then(|| &b.parts[k * width..(k + 1) * width]);
        i += usize::from(left.is_some());
        k += usize::from(right.is_some());
        each(id, left, right);
    }
}

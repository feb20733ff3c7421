//! Training in several processes: all learners start from one state, learn different rows and return what changed.
//!
//! A [`Delta`] is what a learner added to the state it started from. Deltas of one start add up ([`merge_deltas`]), and
//! [`Trainer::absorb`] adds the sum to that state. How numbers are shared depends on the method
//! ([`parsimon_core::merge`]): `ftrl`, `rda`, `adagrad-rda`, `pda` and their kin keep sums of gradients, which add up, and
//! the threshold is applied once, after the merge; the others keep weights, which are averaged by the importance of the rows.
//!
//! ```
//! use parsimon::rows::{Chunk, Repeats};
//! use parsimon::{InputSchema, LearnerOptions, Spec, Trainer};
//! use parsimon::merge::{Combine, Delta, merge_deltas};
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
//! merged apart from each other, anywhere, and absorbed one after the other: no process holds a state per worker.
//!
//! **Limits.** A merge is not the sequential pass: every worker learned from the weights of the start. The difference
//! is measured in `docs/cluster.md`.

mod absorb;
mod between;
mod bytes;
mod damping;
mod moments;
mod scaling;
mod tallies;

use std::collections::BTreeSet;

use parsimon_core::StateWriter;
use parsimon_core::merge::{DualStep, MergeRead, MergeWrite, Share, Step, Tally};
use parsimon_core::workspace::{Coming, FAR, MomentsDelta};
use parsimon_files::checksum;

use self::moments::keeps_moments;
use self::tallies::sum;
use crate::algorithm::setting::ClassWeight;
use crate::error::Error;
use crate::training::Trainer;

/// Ways to combine the states of several learners.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Combine {
    /// As [`Shares`](Combine::Shares), but damped where several learners make the same correction, so that few merges are
    /// enough. Methods without squares of gradients are combined as they share.
    #[default]
    Damped,
    /// As the method shares them: sums of gradients add up, weights are averaged.
    Shares,
    /// All numbers are averaged, including the number of rounds.
    Mean,
    /// Every learner counts each of its rows as one row of each learner ([`Trainer::count_rows_for`]), and their changes
    /// are averaged. A learner then goes as far as all of them together would have gone in one sequence, in directions that they have in
    /// common and in others. For the logistic loss; the others are combined as [`Damped`](Combine::Damped).
    Scaled(
        /// The number of learners.
        u32,
    ),
}

impl Combine {
    /// The name in flags and in Python.
    pub fn name(self) -> String {
        match self {
            Combine::Damped => "damped".into(),
            Combine::Shares => "sum".into(),
            Combine::Mean => "mean".into(),
            Combine::Scaled(learners) => format!("scaled:{learners}"),
        }
    }
}

impl std::str::FromStr for Combine {
    type Err = String;
    fn from_str(name: &str) -> Result<Self, String> {
        let all = [Combine::Damped, Combine::Shares, Combine::Mean];
        let unknown =
            || format!("combine must be damped, sum, mean or scaled:N for N learners, got {name}");
        let scaled = name.strip_prefix("scaled:").and_then(|learners| learners.parse().ok());
        let scaled = scaled.filter(|learners| *learners > 0).map(Combine::Scaled);
        all.into_iter().find(|c| c.name() == name).or(scaled).ok_or_else(unknown)
    }
}

/// Neighboring ids stay together: a slice consists of blocks of two to this power.
const BLOCK_BITS: u32 = 12;

/// More slices than this are a mistake.
const MOST_SLICES: u32 = 1 << 16;

/// One slice of the changes that learners made to the state they started from.
#[derive(Clone, Debug, PartialEq)]
pub struct Delta {
    /// A fingerprint of the state.
    base: u64,
    combine: Combine,
    slice: u32,
    slices: u32,
    /// Count of numbers per coordinate.
    width: usize,
    counts: Counts,
    /// One per head.
    tallies: Vec<Tally>,
    /// For normalized learners: the scales of the features in the slice, in the first slice the number columns, and nothing
    /// else.
    scales: MomentsDelta,
    /// Names and inputs met since, in the first slice only.
    names: BTreeSet<(u32, String)>,
    inputs: Vec<String>,
}

/// Counts of a whole learner, repeated in every slice.
#[derive(Clone, Debug, Default, PartialEq)]
struct Counts {
    learners: u64,
    rows: u64,
    weight: f64,
    loss: f64,
    /// Rounds of each head, times the weight where rounds are averaged.
    rounds: Vec<f64>,
    /// For normalized learners: the sums over all rows, without features and columns.
    moments: Option<MomentsDelta>,
}

impl Counts {
    fn add(&mut self, other: &Counts) {
        self.learners += other.learners;
        self.rows += other.rows;
        self.weight += other.weight;
        self.loss += other.loss;
        self.rounds.iter_mut().zip(&other.rounds).for_each(|(a, b)| *a += b);
        if let (Some(own), Some(more)) = (&mut self.moments, &other.moments) {
            own.add(more);
        }
    }

    fn is_nothing(&self) -> bool {
        self.rows == 0 && self.weight == 0.0 && self.rounds.iter().all(|&r| r == 0.0)
    }
}

fn slice_of(id: u32, slices: u32) -> u32 {
    (id >> BLOCK_BITS) % slices
}

/// Returns the reason why learners of a method cannot be merged.
fn refused(trainer: &Trainer, why: &str) -> Error {
    refused_of(trainer.settings().algorithm().name, why)
}

fn refused_of(name: &str, why: &str) -> Error {
    Error::usage(format!(
        "{name} with these settings cannot be merged: {why}; ftrl, rda and adagrad-rda can be, and fobos by averaging"
    ))
}

fn mergeable(trainer: &Trainer) -> Result<Box<dyn MergeRead + '_>, Error> {
    if trainer.settings().class_weight() == Some(&ClassWeight::Balanced) {
        let why = "balanced class weights count the rows of each class in order; pass fixed ones";
        return Err(refused(trainer, why));
    }
    trainer.online().mergeable().map_err(|why| refused(trainer, why))
}

/// The coordinates of a trainer that can be merged, to be changed.
fn mergeable_mut(trainer: &mut Trainer) -> Result<Box<dyn MergeWrite + '_>, Error> {
    mergeable(trainer)?;
    let name = trainer.settings().algorithm().name;
    trainer.learned_mut().0.mergeable_mut().map_err(|why| refused_of(name, why))
}

fn fingerprint(trainer: &Trainer) -> u64 {
    let mut state = StateWriter::new();
    trainer.online().save(&mut state);
    checksum(state.as_bytes())
}

impl Delta {
    /// Factor by which a number is multiplied before the sum and divided after it.
    fn factors(&self, shares: &[Share]) -> Vec<f64> {
        let factor = |share: &Share| match (self.combine, share) {
            (Combine::Shares, Share::Sum) => 1.0,
            _ if self.counts.weight == 0.0 => 1.0,
            _ => self.counts.weight,
        };
        shares.iter().map(factor).collect()
    }

    /// Declares that the delta applies to `state`, although it started from an earlier state. Its gradients are stale, which the
    /// caller accepts.
    #[must_use]
    pub fn taken_for(self, state: &Trainer) -> Self {
        Self { base: fingerprint(state), ..self }
    }

    /// The index of the slice, and the number of slices.
    pub fn slice(&self) -> (u32, u32) {
        (self.slice, self.slices)
    }

    /// The number of learners whose deltas were added.
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

    /// The parts of a state that a slice can change.
    fn coming(&self) -> Coming {
        let mut coming = Coming::default();
        let scaled = self.scales.features.iter().map(|(j, _)| j);
        let ids = self.tallies.iter().flat_map(|tally| &tally.ids).chain(scaled);
        for &j in ids.filter(|j| **j != Tally::BIAS) {
            let end = u64::from(j) + 1;
            coming.features += 1;
            coming.end = coming.end.max(end);
            match j < FAR {
                true => coming.near_end = coming.near_end.max(end),
                false => coming.far += 1,
            }
        }
        coming
    }

    /// Adds another delta of the same slice.
    pub fn add(&mut self, other: &Delta) -> Result<(), Error> {
        let kept = |d: &Delta| d.counts.moments.is_some();
        let key =
            |d: &Delta| (d.base, d.combine, d.slice, d.slices, d.width, d.tallies.len(), kept(d));
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
        self.scales.add(&other.scales);
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
        let has_bias = trainer.options().bias;
        let bias = self.tallies.iter().any(|t| t.ids.last() == Some(&Tally::BIAS));
        if self.width != width(&*online, self.combine)
            || self.tallies.len() != heads
            || self.counts.rounds.len() != heads
            || (bias && !has_bias)
            || self.counts.moments.is_some() != keeps_moments(trainer)
        {
            return Err(Error::Usage("a delta does not belong to this method".into()));
        }
        Ok(())
    }
}

/// Adds the deltas of one slice: pairs of neighbours first, then their sums, and so on. The same order of deltas gives the same
/// bits.
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

/// Returns the count of numbers that a delta has for each coordinate.
fn width(online: &dyn MergeRead, combine: Combine) -> usize {
    match combine {
        Combine::Damped => Step::WIDTH,
        Combine::Scaled(_) => DualStep::WIDTH,
        _ => online.shares().len(),
    }
}

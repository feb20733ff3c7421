//! How several learners share the numbers of a coordinate: for a rule ([`Merging`]), and for a learner ([`Mergeable`]). The merging
//! itself is in [`merge`](crate::merge).

use crate::Table;
use crate::moments::{Moments, MomentsDelta};

/// How learners share one number of a coordinate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    /// What they added since the beginning is added.
    Sum,
    /// It is averaged, by what their rows weigh.
    Mean,
}

/// The most numbers a coordinate comes to.
pub const MOST_PARTS: usize = 3;

/// A coordinate's numbers; those beyond a rule's own are zero.
pub type Parts = [f64; MOST_PARTS];

/// A rule whose state is a few numbers per coordinate and a count of rounds.
///
/// The laws: `parts(clock(t), coordinate(t, p)) == p`, and the weight read is the same before and after.
pub trait Merging<C, K> {
    /// What each number is.
    fn shares(&self) -> &'static [Share];
    /// Rounds so far.
    fn rounds(&self, now: &K) -> u64;
    /// The coordinate's numbers, with everything it missed made up for.
    fn parts(&self, now: &K, c: &C) -> Parts;
    /// The coordinate that has these numbers after round `t`.
    fn coordinate(&self, t: u64, parts: &Parts) -> C;
    /// Whether steps can be damped where several learners make the same correction.
    fn damps(&self) -> bool {
        false
    }
    /// How much of a correction the coordinate alone would have made, as an exponent.
    fn overlap(&self, _start: &Parts, _end: &Parts) -> f64 {
        0.0
    }
    /// The step between two rounds, in which corrections were made as often as `exponent` says.
    ///
    /// `now` is the clock at the end of the step, which knows how much of the penalty is in force.
    fn step(&self, _now: &K, _rounds: [u64; 2], start: &Parts, end: &Parts, exponent: f64) -> Step {
        [end[0] - start[0], end[1] - start[1], 0.0, exponent, -(-exponent).exp_m1()]
    }
    /// The coordinate's numbers after the steps of all learners together, when the clock is `now`.
    fn stepped(&self, _now: &K, _rounds: [u64; 2], start: &Parts, sum: &Step) -> Parts {
        [start[0] + sum[0], start[1] + sum[1], start[2]]
    }
    /// How far a gradient of 1 moves the weight; 0 where the weight is zero.
    fn lever(&self, _now: &K, _parts: &Parts) -> f64 {
        0.0
    }
    /// A learner's step on the dual. `now` is the clock at the start of the step.
    fn dual_step(&self, _now: &K, start: &Parts, end: &Parts) -> DualStep {
        [end[0] - start[0], end[1] - start[1]]
    }
    /// The coordinate's numbers after the sum of such steps, from a round on, of which `damping` times the step of the dual is taken.
    fn dual_stepped(
        &self,
        _now: &K,
        _from: u64,
        start: &Parts,
        sum: &DualStep,
        damping: f64,
    ) -> Parts {
        [start[0] + damping * sum[0], start[1] + sum[1], start[2]]
    }
    /// The clock after round `t`, of coordinates that have missed nothing.
    fn clock(&self, t: u64, table: &Table<C>) -> K;
}

/// A learner's step on one coordinate, as numbers that add up over learners: the change of its weight, of what its metric remembers and of its
/// subgradient; how often a correction that is due to the coordinate was made (its exponent `a`), and the share of it that was
/// (`1 - e^-a`).
pub type Step = [f64; 5];

/// A learner's step on one coordinate, as numbers that add up over learners: of the dual, at the weight of the start, and of what its
/// metric remembers.
pub type DualStep = [f64; 2];

/// Some coordinates in order of their ids, with their numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    /// The ids, ascending; the bias is [`Tally::BIAS`].
    pub ids: Vec<u32>,
    /// As many numbers for each id as there are shares.
    pub parts: Vec<f64>,
}

impl Tally {
    /// The id of the bias, larger than any feature's.
    pub const BIAS: u32 = u32::MAX;
}

/// A learner that can be merged, head by head.
pub trait Mergeable {
    /// What each number of a coordinate is.
    fn shares(&self) -> &'static [Share];
    /// Rounds one head has learned.
    fn rounds(&self, head: usize) -> u64;
    /// The coordinates of one head.
    fn tally(&self, head: usize) -> Tally;
    /// Sets the rounds, and makes up for everything that coordinates have missed.
    fn advance(&mut self, head: usize, rounds: u64);
    /// Adds to coordinates. Every number must have a place: the bias is skipped for heads without one.
    fn add(&mut self, head: usize, tally: &Tally);
    /// Whether steps can be damped where several learners make the same correction.
    fn damps(&self) -> bool;
    /// How much of a correction the coordinate alone would have made, as an exponent.
    fn overlap(&self, id: u32, start: &Parts, end: &Parts) -> f64;
    /// A learner's step on the coordinate of that id, between two rounds. Asked of the learner at the end of the step.
    fn step(&self, id: u32, rounds: [u64; 2], start: &Parts, end: &Parts, exponent: f64) -> Step;
    /// Takes the steps of all learners, from a round to the present one.
    fn take_steps(&mut self, head: usize, from: u64, ids: &[u32], steps: &[f64]);
    /// Learns every row as if it came so many times in a row: the dual moves `copies` times as far, and the metric and the penalty
    /// grow as for so many rows. Not a part of the state.
    fn set_copies(&mut self, copies: u32);
    /// How far a gradient of 1 moves the weight of that id; 0 where the weight is zero.
    fn lever(&self, id: u32, parts: &Parts) -> f64;
    /// A learner's step on the dual. Asked of the learner at the start of the step.
    fn dual_step(&self, id: u32, start: &Parts, end: &Parts) -> DualStep;
    /// Takes the steps of all learners on the dual, from a round to the present one, each damped by a factor.
    fn take_dual_steps(
        &mut self,
        head: usize,
        from: u64,
        ids: &[u32],
        steps: &[f64],
        damping: &[f64],
    );
    /// Ends a merge: what depends on all coordinates together is made anew.
    fn settle(&mut self, head: usize);
    /// The running moments kept beside the coordinates; none unless rows or labels are brought to a common scale.
    fn moments(&self) -> Moments {
        Moments::default()
    }
    /// Adds what all learners have seen since the start. Comes after [`advance`](Mergeable::advance) and before coordinates are
    /// added or steps are taken, which are read under the penalty that follows from the moments.
    fn take_moments(&mut self, _added: &MomentsDelta) {}
}

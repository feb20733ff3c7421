//! How several learners share the numbers of a coordinate: for a rule ([`Merging`]), and for a learner ([`MergeRead`], [`MergeWrite`]). The
//! merging itself is in [`merge`](crate::merge).

use crate::Table;
use crate::moments::{Moments, MomentsDelta};

/// Why a learner whose state is no table of coordinates cannot be merged.
pub(crate) const NO_COORDINATES: &str = "what it keeps is not a few numbers for each feature";

/// Ways in which learners share one number of a coordinate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    /// The changes since the start are added.
    Sum,
    /// It is averaged, by what their rows weigh.
    Mean,
}

/// Declares a struct of numbers that converts to an array, in the order of its fields.
macro_rules! numbers {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq)]
        pub struct $name {
            $($(#[$field_doc])* pub $field: f64,)+
        }

        impl $name {
            /// Count of the numbers.
            pub const WIDTH: usize = [$(stringify!($field)),+].len();

            /// The numbers in the order of the fields.
            pub fn to_array(self) -> [f64; Self::WIDTH] {
                [$(self.$field),+]
            }

            /// The numbers in the order of the fields; those that are missing are zero.
            pub fn from_slice(numbers: &[f64]) -> Self {
                let mut numbers = numbers.iter().copied();
                $(let $field = numbers.next().unwrap_or(0.0);)+
                Self { $($field),+ }
            }
        }
    };
}

numbers! {
    /// A coordinate's numbers; those that a rule does not have are zero.
    Parts {
        /// The weight, or the sum of gradients where a method keeps the dual.
        value,
        /// State of the metric, for example the sum of squared gradients, or the mean of weights or of gradients.
        memory,
        /// Further moving averages: of squared gradients or of squared steps.
        second,
    }
}

numbers! {
    /// A learner's step on one coordinate, as numbers that add up over learners.
    Step {
        /// The change of the weight.
        weight,
        /// The change of the state of the metric.
        memory,
        /// The change of the subgradient of the penalty.
        subgradient,
        /// Number of times that a correction of the coordinate was made, `a`.
        exponent,
        /// The share of the correction that was made, `1 - e^-a`.
        made,
    }
}

numbers! {
    /// A learner's step on the dual of one coordinate, as numbers that add up over learners.
    DualStep {
        /// The change of the dual, at the weight of the start.
        dual,
        /// The change of the state of the metric.
        memory,
    }
}

/// A rule whose state is a few numbers per coordinate and a count of rounds.
///
/// The laws: `parts(clock(t), coordinate(t, p)) == p`, and the weight read is the same before and after.
pub trait Merging<C, K> {
    /// Roles of the numbers, in the order of [`Parts`].
    fn shares(&self) -> &'static [Share];
    /// Rounds so far.
    fn rounds(&self, now: &K) -> u64;
    /// The numbers of the coordinate of feature `j`, caught up.
    fn parts(&self, now: &K, j: u32, c: &C) -> Parts;
    /// The coordinate of feature `j` that has these numbers after round `t`.
    fn coordinate(&self, t: u64, j: u32, parts: &Parts) -> C;
    /// Whether steps can be damped where several learners make the same correction.
    fn damps(&self) -> bool {
        false
    }
    /// Share of a correction that the coordinate alone would have made, as an exponent.
    fn overlap(&self, _start: &Parts, _end: &Parts) -> f64 {
        0.0
    }
    /// The step between two rounds; `exponent` is the number of corrections in it.
    ///
    /// `now` is the clock at the end of the step, which knows how much of the penalty is in force.
    fn step(
        &self,
        _now: &K,
        _j: u32,
        _rounds: [u64; 2],
        start: &Parts,
        end: &Parts,
        exponent: f64,
    ) -> Step {
        Step {
            weight: end.value - start.value,
            memory: end.memory - start.memory,
            subgradient: 0.0,
            exponent,
            made: -(-exponent).exp_m1(),
        }
    }
    /// The coordinate's numbers after the steps of all learners together, when the clock is `now`.
    fn stepped(&self, _now: &K, _j: u32, _rounds: [u64; 2], start: &Parts, sum: &Step) -> Parts {
        Parts {
            value: start.value + sum.weight,
            memory: start.memory + sum.memory,
            second: start.second,
        }
    }
    /// Change of the weight by a gradient of 1; 0 where the weight is zero.
    fn lever(&self, _now: &K, _j: u32, _parts: &Parts) -> f64 {
        0.0
    }
    /// A learner's step on the dual. `now` is the clock at the start of the step.
    fn dual_step(&self, _now: &K, _j: u32, start: &Parts, end: &Parts) -> DualStep {
        DualStep { dual: end.value - start.value, memory: end.memory - start.memory }
    }
    /// The coordinate's numbers after the sum of such steps since a round; the step of the dual is multiplied by `damping`.
    fn dual_stepped(
        &self,
        _now: &K,
        _j: u32,
        _from: u64,
        start: &Parts,
        sum: &DualStep,
        damping: f64,
    ) -> Parts {
        Parts {
            value: start.value + damping * sum.dual,
            memory: start.memory + sum.memory,
            second: start.second,
        }
    }
    /// The clock after round `t`, of coordinates that have missed nothing.
    fn clock(&self, t: u64, table: &Table<C>) -> K;
}

/// Some coordinates in order of their ids, with their numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    /// The ids, ascending; the bias is [`Tally::BIAS`].
    pub ids: Vec<u32>,
    /// One number for each id and share.
    pub parts: Vec<f64>,
}

impl Tally {
    /// The id of the bias, larger than any feature's.
    pub const BIAS: u32 = u32::MAX;
}

/// Reads the coordinates of a learner that can be merged, head by head.
pub trait MergeRead {
    /// Role of each number of a coordinate.
    fn shares(&self) -> &'static [Share];
    /// Rounds one head has learned.
    fn rounds(&self, head: usize) -> u64;
    /// The coordinates of one head.
    fn tally(&self, head: usize) -> Tally;
    /// Whether steps can be damped where several learners make the same correction.
    fn damps(&self) -> bool;
    /// Share of a correction that the coordinate alone would have made, as an exponent.
    fn overlap(&self, id: u32, start: &Parts, end: &Parts) -> f64;
    /// A learner's step on the coordinate of that id, between two rounds. Asked of the learner at the end of the step.
    fn step(&self, id: u32, rounds: [u64; 2], start: &Parts, end: &Parts, exponent: f64) -> Step;
    /// Change of the weight of that id by a gradient of 1; 0 where the weight is zero.
    fn lever(&self, id: u32, parts: &Parts) -> f64;
    /// A learner's step on the dual. Asked of the learner at the start of the step.
    fn dual_step(&self, id: u32, start: &Parts, end: &Parts) -> DualStep;
    /// The running moments kept beside the coordinates; empty unless rows or labels are brought to a common scale.
    fn moments(&self) -> Moments;
}

/// Changes the coordinates of a learner that can be merged, head by head.
pub trait MergeWrite {
    /// Sets the rounds and catches up all coordinates.
    fn advance(&mut self, head: usize, rounds: u64);
    /// Adds to coordinates. Every number must have a place: the bias is skipped for heads without one.
    fn add(&mut self, head: usize, tally: &Tally);
    /// Takes the steps of all learners, from a round to the present one.
    fn take_steps(&mut self, head: usize, from: u64, ids: &[u32], steps: &[Step]);
    /// Learns every row as if it came `copies` times: the dual moves `copies` times as far, and the metric and the penalty
    /// grow as for `copies` rows. Not a part of the state.
    fn set_copies(&mut self, copies: u32);
    /// Takes the steps of all learners on the dual, from a round to the present one, each damped by a factor.
    fn take_dual_steps(
        &mut self,
        head: usize,
        from: u64,
        ids: &[u32],
        steps: &[DualStep],
        damping: &[f64],
    );
    /// Reads weights under `scale` times the penalty, as [`Online::scale_penalty`](crate::Online::scale_penalty).
    fn scale_penalty(&mut self, scale: f64);
    /// Ends a merge: recomputes the state that depends on all coordinates.
    fn settle(&mut self, head: usize);
    /// Adds what all learners have seen since the start. Comes after [`advance`](MergeWrite::advance) and before coordinates are
    /// added or steps are taken, which are read under the penalty that follows from the moments.
    fn take_moments(&mut self, added: &MomentsDelta);
}

//! Update rules: how a coordinate is read, and how it absorbs a gradient.
//!
//! | file | what is kept | algorithms |
//! | --- | --- | --- |
//! | [`leader`] | the dual: sums of gradients, penalties whole | RDA, AdaGrad-RDA, FTRL-Proximal, generalized RDA |
//! | [`fading`] | the dual, where old rows fade | FTRL-Proximal with a half-life |
//! | [`mirror`] | the weight, missed proximal steps in closed form | SGD, FOBOS, COMID, AdaGrad-FOBOS |
//! | [`proximal`] | the weight, or the dual once it is zero | FTPRL with a schedule |
//! | [`anchored`] | `q w`, missed penalties in closed form | AOGD |
//! | [`truncated`] | the weight, truncations in closed form | truncation, truncated gradient |
//! | [`blockwise`] | the weight, penalties paid at block ends | Algorithms 1 and 2 of the lazy thesis |
//! | [`lazy_sparse`] | the weight, penalties paid when touched | Algorithm 3 of the lazy thesis, as printed |
//! | [`averaged`] | the iterate and its mean | ASGD |
//! | [`subgradient`] | the weight, missed rounds replayed | subgradient descent with l1 |
//! | [`adam`], [`adadelta`] | moving averages | Adam, AdaDelta |
//! | [`nag`] | the weight, its squared gradients, the largest value of its feature | normalized adaptive gradients |
//! | [`gaussian`] | the weight and the inverse of its variance | AROW, soft confidence-weighted |
//! | [`grouped`] | one scale per group of weights | l2-norm and group penalties, the l2 ball |
//! | [`spherical`] | the dual and its norm | dual averaging in the l2 ball, follow the leader |
//! | [`dense`] | every weight, every round | linf, the l1 ball, the simplex |

pub mod adadelta;
pub mod adam;
pub mod anchored;
pub mod averaged;
pub mod blockwise;
pub mod dense;
pub mod fading;
pub mod gaussian;
pub mod grouped;
pub mod lazy_sparse;
pub mod leader;
pub mod mirror;
pub mod nag;
pub mod proximal;
pub mod spherical;
pub mod subgradient;
pub mod truncated;

use crate::penalty::Candidate;
use crate::share::Merging;
use crate::{Float, State, Table};

/// One update rule. Everything asked per coordinate is O(1) unless the rule's page says otherwise.
///
/// Round `t` runs: weights are read with [`played`](Rule::played) and the margin is formed,
/// [`tick`](Rule::tick) begins the round, every coordinate with a gradient
/// [`absorb`](Rule::absorb)s it, [`close`](Rule::close) ends it.
pub trait Rule<F: Float>: Clone + Send + Sync + 'static {
    /// State of a coordinate; the default means "never seen".
    type Coord: State + Copy + Send + Sync;
    /// State that all coordinates share.
    type Clock: State + Send + Sync;

    /// Begins a round.
    fn tick(&self, now: &mut Self::Clock);
    /// Begins the round of a row that counts as `copies` equal rows, one after the other.
    fn tick_by(&self, now: &mut Self::Clock, copies: u32) {
        (0..copies).for_each(|_| self.tick(now));
    }
    /// The weight the algorithm plays: the margin and the gradient are taken there.
    fn played(&self, now: &Self::Clock, j: u32, c: &Self::Coord) -> F;
    /// The weight a user reads, which is the weight played unless the method reports another point.
    #[inline(always)]
    fn weight(&self, now: &Self::Clock, j: u32, c: &Self::Coord) -> F {
        self.played(now, j, c)
    }
    /// Absorbs the gradient `g` into a coordinate that was played at `w`.
    ///
    /// `at` is the explicit gradient at the point played, which is what a metric looks at; it equals
    /// `g` except in implicit updates.
    fn absorb(&self, now: &mut Self::Clock, j: u32, c: &mut Self::Coord, w: F, g: F, at: F);
    /// The weight played, and a number that spares [`absorb_kept`](Rule::absorb_kept) in the same round some work.
    ///
    /// PERF: a square root of FTRL, for example. Measured in `record/python.md`.
    #[inline(always)]
    fn played_kept(&self, now: &Self::Clock, j: u32, c: &Self::Coord) -> (F, F) {
        (self.played(now, j, c), F::ZERO)
    }
    /// As [`absorb`](Rule::absorb), of a gradient `g` with the explicit gradient `at`. `w` and `kept` come from
    /// [`played_kept`](Rule::played_kept) before the round began.
    #[inline(always)]
    fn absorb_kept(
        &self,
        now: &mut Self::Clock,
        j: u32,
        c: &mut Self::Coord,
        (w, _kept): (F, F),
        (g, at): (F, F),
    ) {
        self.absorb(now, j, c, w, g, at);
    }
    /// Charges `scale` times the penalty from here on, where the penalty is in force once
    /// ([`Accrual::Once`](leader::Accrual::Once)). Other rules take their penalties as they are.
    #[inline(always)]
    fn scale_penalty(&self, _now: &mut Self::Clock, _scale: f64) {}
    /// Factor of the importance of a row in the current round: more than 1 where older rows fade.
    #[inline(always)]
    fn importance(&self, _now: &Self::Clock) -> f64 {
        1.0
    }
    /// The variance of a weight, under the rules that keep one.
    #[inline(always)]
    fn variance(&self, _c: &Self::Coord) -> F {
        F::ONE
    }
    /// Ends a round. Rules whose constraint binds all weights together do that work here.
    #[inline(always)]
    fn close(&self, _now: &mut Self::Clock, _table: &mut Table<Self::Coord>) {}
    /// Whether a coordinate from a file is possible at this clock: its last visit is not in a later round.
    fn belongs(&self, _now: &Self::Clock, _c: &Self::Coord) -> bool {
        true
    }
    /// The number of features, for rules that give a weight to features that were never seen.
    fn dimension(&self) -> Option<u32> {
        None
    }
    /// The way in which learners under this rule are merged, or the reason why they cannot be.
    fn merging(&self) -> Result<&dyn Merging<Self::Coord, Self::Clock>, &'static str> {
        Err("its rounds bind all weights together, so that no coordinate can be merged alone")
    }
}

/// A rule that can take the loss itself instead of its tangent.
pub trait Implicit<F: Float>: Rule<F> {
    /// The coordinate's problem in the round that has begun.
    fn candidate(&self, now: &Self::Clock, j: u32, c: &Self::Coord, w: F, at: F) -> Candidate;
}

//! Adaptive online gradient descent (AOGD): quadratics centered at the origin, past penalties linearized.
//!
//! The optimality condition of round `t` says that gradients plus the penalties' subgradients so far are
//! `-y` with `y = q_{1:t} x_{t+1}`, so that the next round reads `y <- soft(y - g, l1)`, `x = y/q`: whatever the
//! metric, a coordinate without gradient loses `l1` of `y` per round.

use super::{Candidate, Implicit, Rule};
use crate::metric::Metric;
use crate::{Float, State, soft, state::state};

/// AOGD (McMahan 2011, Theorem 7).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Anchored<M> {
    /// The strength, charged on every round at the weight then played.
    pub l1: f64,
    /// The quadratics.
    pub metric: M,
}

/// `q x` after the round `seen`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AnchoredCoord<F, Memory> {
    y: F,
    memory: Memory,
    seen: u64,
}

state!(AnchoredCoord<F: Float, Memory: State> { y, memory, seen });

/// The round and its metric.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AnchoredClock {
    t: u64,
    pace: f64,
}

state!(AnchoredClock { t, pace });

impl<M> Anchored<M> {
    /// `y` after `t` rounds.
    fn y<F: Float, Memory>(&self, t: u64, c: &AnchoredCoord<F, Memory>) -> F {
        soft(c.y, F::from_f64(self.l1 * (t - c.seen) as f64))
    }
}

impl<F: Float, M: Metric<F>> Rule<F> for Anchored<M> {
    type Coord = AnchoredCoord<F, M::Memory>;
    type Clock = AnchoredClock;

    fn tick(&self, now: &mut AnchoredClock) {
        now.t += 1;
        now.pace = self.metric.pace(now.t);
    }
    #[inline(always)]
    fn played(&self, now: &AnchoredClock, _j: u32, c: &Self::Coord) -> F {
        let q = self.metric.q(F::from_f64(now.pace), &c.memory);
        if q > F::ZERO { self.y(now.t, c) / q } else { F::ZERO }
    }
    #[inline(always)]
    fn absorb(&self, now: &mut AnchoredClock, _j: u32, c: &mut Self::Coord, _w: F, g: F, at: F) {
        c.y = soft(self.y(now.t - 1, c) - g, F::from_f64(self.l1));
        self.metric.absorb(&mut c.memory, at);
        c.seen = now.t;
    }
}

impl<F: Float, M: Metric<F>> Implicit<F> for Anchored<M> {
    fn candidate(&self, now: &AnchoredClock, c: &Self::Coord, _w: F, at: F) -> Candidate {
        let mut memory = c.memory;
        self.metric.absorb(&mut memory, at);
        let q = self.metric.q(F::from_f64(now.pace), &memory);
        Candidate { z: -self.y(now.t - 1, c).to_f64(), q: q.to_f64(), l1: self.l1 }
    }
}

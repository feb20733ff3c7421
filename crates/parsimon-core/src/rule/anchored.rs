//! Adaptive online gradient descent (AOGD): quadratics centered at the origin, past penalties linearized.
//!
//! The optimality condition of round `t` says that gradients plus the penalties' subgradients so far are
//! `-y` with `y = q_{1:t} x_{t+1}`, so that the next round reads `y <- soft(y - g, l1)`, `x = y/q`: whatever the
//! metric, a coordinate without gradient loses `l1` of `y` per round.
//!
//! Where the penalty has bounds, `y` is clamped to `q` times the bounds when a gradient is absorbed. In missed rounds no clamping is
//! needed: `q` never falls and `|y|` never rises, so `y/q` moves towards zero, which is inside.

use super::{Implicit, Rule};
use crate::metric::Metric;
use crate::penalty::{Candidate, Elastic, Flat};
use crate::share::{Merging, Parts, Share};
use crate::{Float, State, Table, soft, state::state};

/// AOGD (McMahan 2011, Theorem 7).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Anchored<P, M> {
    /// The penalty, charged on every round at the weight then played.
    pub penalty: P,
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

impl<P: Flat, M> Anchored<P, M> {
    /// `y` after `t` rounds.
    fn y<F: Float, Memory>(&self, t: u64, c: &AnchoredCoord<F, Memory>) -> F {
        soft(c.y, F::from_f64(self.penalty.l1() * (t - c.seen) as f64))
    }

    /// The `y` nearest to this one whose weight is allowed.
    #[inline(always)]
    fn allowed<F: Float>(&self, pace: f64, y: F, memory: &M::Memory) -> F
    where
        P: Elastic<F>,
        M: Metric<F>,
    {
        let Some(bounds) = self.penalty.bounds() else { return y };
        let q = self.metric.q(F::from_f64(pace), memory);
        let w = if q > F::ZERO { y / q } else { F::ZERO };
        let nearest = bounds.clamp(w);
        if nearest == w { y } else { nearest * q }
    }
}

impl<F: Float, P: Elastic<F> + Flat, M: Metric<F>> Rule<F> for Anchored<P, M> {
    type Coord = AnchoredCoord<F, M::Memory>;
    type Clock = AnchoredClock;

    fn belongs(&self, now: &AnchoredClock, c: &AnchoredCoord<F, M::Memory>) -> bool {
        c.seen <= now.t
    }
    fn tick(&self, now: &mut AnchoredClock) {
        now.t += 1;
        now.pace = self.metric.pace(now.t);
    }
    fn merging(&self) -> Result<&dyn Merging<Self::Coord, Self::Clock>, &'static str> {
        Ok(self)
    }
    #[inline(always)]
    fn played(&self, now: &AnchoredClock, _j: u32, c: &Self::Coord) -> F {
        let q = self.metric.q(F::from_f64(now.pace), &c.memory);
        let w = if q > F::ZERO { self.y(now.t, c) / q } else { F::ZERO };
        self.penalty.project(w)
    }
    #[inline(always)]
    fn absorb(&self, now: &mut AnchoredClock, _j: u32, c: &mut Self::Coord, _w: F, g: F, at: F) {
        let y = soft(self.y(now.t - 1, c) - g, F::from_f64(self.penalty.l1()));
        self.metric.absorb(&mut c.memory, at);
        c.y = self.allowed(now.pace, y, &c.memory);
        c.seen = now.t;
    }
}

impl<F: Float, P: Elastic<F> + Flat, M: Metric<F>> Implicit<F> for Anchored<P, M> {
    fn candidate(&self, now: &AnchoredClock, _j: u32, c: &Self::Coord, _w: F, at: F) -> Candidate {
        let mut memory = c.memory;
        self.metric.absorb(&mut memory, at);
        let q = self.metric.q(F::from_f64(now.pace), &memory);
        self.penalty.candidate(-self.y(now.t - 1, c).to_f64(), q.to_f64(), 1.0)
    }
}

/// The weight `y/q` is averaged and made `y` again under the common metric; the squares of the gradients add up.
impl<F: Float, P: Elastic<F> + Flat, M: Metric<F>>
    Merging<AnchoredCoord<F, M::Memory>, AnchoredClock> for Anchored<P, M>
{
    fn shares(&self) -> &'static [Share] {
        let memory = usize::from(size_of::<M::Memory>() > 0);
        &[Share::Mean, Share::Sum][..=memory]
    }
    fn rounds(&self, now: &AnchoredClock) -> u64 {
        now.t
    }
    fn parts(&self, now: &AnchoredClock, j: u32, c: &AnchoredCoord<F, M::Memory>) -> Parts {
        Parts {
            value: self.played(now, j, c).to_f64(),
            memory: self.metric.sum(&c.memory),
            second: 0.0,
        }
    }
    fn coordinate(&self, t: u64, _j: u32, parts: &Parts) -> AnchoredCoord<F, M::Memory> {
        let memory = self.metric.memory(parts.memory.max(0.0));
        let q = self.metric.q(F::from_f64(self.metric.pace(t)), &memory);
        AnchoredCoord { y: self.penalty.project(F::from_f64(parts.value)) * q, memory, seen: t }
    }
    fn clock(&self, t: u64, _table: &Table<AnchoredCoord<F, M::Memory>>) -> AnchoredClock {
        AnchoredClock { t, pace: if t > 0 { self.metric.pace(t) } else { 0.0 } }
    }
}

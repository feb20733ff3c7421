//! Penalties paid at the end of blocks of `period` rounds: Algorithms 1 and 2 of the lazy thesis.
//!
//! The round's loss plus penalty is split in two: `g` enters at once, `h` waits for the end of the block.
//!
//! * `PenaltySplit::Loss` (Algorithm 1): `g` is the loss alone; all shrinking waits.
//! * `PenaltySplit::Active` (Algorithm 2 with the thesis' second choice): `g` also has the penalty of the coordinates that
//!   have a gradient; the others' waits.
//!
//! The deferred part is the sum of steps since the block began, minus the part that the coordinate has paid already; as blocks only
//! shrink untouched weights, this part is one soft threshold.

use super::Rule;
use crate::{Float, Schedule, soft, state::state};

/// The part of the penalty that a coordinate with a gradient pays at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PenaltySplit {
    /// None of it.
    Loss,
    /// Its own.
    Active,
}

/// Algorithm 1 or 2 with `l1 |w|`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Blockwise {
    /// `eta_t`
    pub schedule: Schedule,
    /// `K`
    pub period: u64,
    /// The strength.
    pub l1: f64,
    /// The part that is paid at once.
    pub split: PenaltySplit,
}

/// A weight, and how much of the penalty's total it has paid.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Payer<F> {
    w: F,
    paid: F,
}

state!(Payer<F: Float> { w, paid });

/// The round, its step, and the penalty charged up to now and up to the last block's end.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BlockClock {
    t: u64,
    eta: f64,
    total: f64,
    settled: f64,
}

state!(BlockClock { t, eta, total, settled });

/// Debt of a coordinate from the blocks that have ended.
fn due<F: Float>(now: &BlockClock, c: &Payer<F>) -> F {
    // A coordinate first seen in this block owes nothing of the blocks before, and shows `paid` 0 with weight 0:
    // charging it is harmless.
    (F::from_f64(now.settled) - c.paid).max(F::ZERO)
}

impl<F: Float> Rule<F> for Blockwise {
    type Coord = Payer<F>;
    type Clock = BlockClock;

    fn tick(&self, now: &mut BlockClock) {
        now.t += 1;
        now.eta = self.schedule.at(now.t);
        now.total += self.l1 * now.eta;
    }
    fn merging(
        &self,
    ) -> Result<&dyn crate::share::Merging<Self::Coord, Self::Clock>, &'static str> {
        Err("its penalty is due at the ends of blocks of rounds, which no two learners share")
    }
    fn played(&self, now: &BlockClock, _j: u32, c: &Payer<F>) -> F {
        soft(c.w, due(now, c))
    }
    fn absorb(&self, now: &mut BlockClock, _j: u32, c: &mut Payer<F>, w: F, g: F, _at: F) {
        c.paid = c.paid.max(F::from_f64(now.settled));
        let v = w - F::from_f64(now.eta) * g;
        c.w = match self.split {
            PenaltySplit::Loss => v,
            PenaltySplit::Active => {
                let own = F::from_f64(self.l1 * now.eta);
                c.paid += own;
                soft(v, own)
            }
        };
    }
    fn close(&self, now: &mut BlockClock, _table: &mut crate::Table<Payer<F>>) {
        if now.t.is_multiple_of(self.period) {
            now.settled = now.total;
        }
    }
}

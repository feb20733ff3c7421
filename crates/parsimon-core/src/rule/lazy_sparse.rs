//! Algorithm 3 of the lazy thesis, as printed there: for the reproduction, not for use.
//!
//! Margin and gradient are taken at weights that have not been caught up; a touched coordinate then pays the
//! round's shrinkage and all of its debt at once; every `period` rounds every coordinate pays. That is not eager FOBOS: a
//! coordinate at zero goes on running up debt, so that a feature first seen late is shrunk by the whole past. Use
//! `fobos`, which catches up before it reads, instead.

use super::Rule;
use crate::{Float, Schedule, soft, state::state};

/// Lazy evaluation in the thesis' order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LazySparse {
    /// `eta_t`
    pub schedule: Schedule,
    /// `K`, or never.
    pub period: Option<u64>,
    /// The strength.
    pub l1: f64,
}

/// A weight, and how much of the penalty's total it has paid.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Debtor<F> {
    w: F,
    paid: F,
}

state!(Debtor<F: Float> { w, paid });

/// The round, its step, and the penalty charged up to now and up to the last sweep.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LazySparseClock {
    t: u64,
    eta: f64,
    total: f64,
    swept: f64,
}

state!(LazySparseClock { t, eta, total, swept });

impl<F: Float> Rule<F> for LazySparse {
    type Coord = Debtor<F>;
    type Clock = LazySparseClock;

    fn tick(&self, now: &mut LazySparseClock) {
        now.t += 1;
        now.eta = self.schedule.at(now.t);
        now.total += self.l1 * now.eta;
    }
    /// Stale except for the sweeps.
    fn merging(
        &self,
    ) -> Result<&dyn crate::share::Merging<Self::Coord, Self::Clock>, &'static str> {
        Err("its penalty is due at the ends of blocks of rounds, which no two learners share")
    }
    fn played(&self, now: &LazySparseClock, _j: u32, c: &Debtor<F>) -> F {
        soft(c.w, (F::from_f64(now.swept) - c.paid).max(F::ZERO))
    }
    /// Caught up.
    fn weight(&self, now: &LazySparseClock, _j: u32, c: &Debtor<F>) -> F {
        soft(c.w, F::from_f64(now.total) - c.paid)
    }
    fn absorb(&self, now: &mut LazySparseClock, _j: u32, c: &mut Debtor<F>, w: F, g: F, _at: F) {
        let paid = c.paid.max(F::from_f64(now.swept));
        c.w = soft(w - F::from_f64(now.eta) * g, F::from_f64(now.total) - paid);
        c.paid = F::from_f64(now.total);
    }
    fn close(&self, now: &mut LazySparseClock, _table: &mut crate::Table<Debtor<F>>) {
        if self.period.is_some_and(|period| now.t.is_multiple_of(period)) {
            now.swept = now.total;
        }
    }
}

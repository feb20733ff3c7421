//! Algorithm 3 of the lazy thesis, as printed.

use parsimon_core::Float;
use parsimon_core::rule::lazy_sparse::LazySparse as Rule;

use super::groups::{AnyLoss, Steps};
use super::objective::Objective;
use super::recipe::{Card, Composer, Recipe};
use super::setting::{NaturalOrNone, NonNegative, settings};
use crate::found::Found;

settings! {
    /// Algorithm 3 of the lazy thesis (2014): a weight is penalized when its feature occurs.
    pub struct LazySparse {
        ..steps: Steps;
        l1: NonNegative = 0.0, "strength of the l1 penalty |w|";
        period: NaturalOrNone = "none", "K: apply the penalty to all weights every K rounds";
    }
}

impl Recipe for LazySparse {
    const CARD: Card = Card {
        name: "lazy-sparse",
        paper: "lazy thesis 2014, Algorithm 3 as printed",
        losses: "tangent at stale weights",
        penalties: "l1, paid when touched",
        center: "iterate, schedule",
        cost: "O(nnz)",
    };
    const FALLS_WITH_ENERGY: bool = true;
    const GRID: &'static [&'static str] = &["l1=1e-7..1e-4:4", "rate=0.05..5:4"];
    const L1: f64 = 1e-4;
    type Losses = AnyLoss;

    fn needs_rows(&self) -> bool {
        self.steps.needs_rows()
    }
    fn objective(&self) -> Option<Objective> {
        Some(Objective::penalized(self.l1, 0.0))
    }
    fn compose<F: Float, C: Composer<F>>(&self, found: &Found, composer: C) -> C::Output {
        let (schedule, period) = (self.steps.schedule(found), self.period);
        let rule = |l1| Rule { schedule, period, l1 };
        composer.rule(rule(self.l1), rule(0.0))
    }
}

//! FOBOS that pays a feature's own penalty at once and the rest at the ends of blocks.

use parsimon_core::Float;
use parsimon_core::rule::blockwise::{Blockwise, PenaltySplit};

use super::groups::{AnyLoss, Steps};
use super::objective::Objective;
use super::recipe::{Card, Composer, Recipe};
use super::setting::{Natural, NonNegative, settings};
use crate::found::Found;

settings! {
    /// Algorithm 2 of the lazy thesis (2014).
    pub struct LazySplitting {
        ..steps: Steps;
        l1: NonNegative = 0.0, "strength of the l1 penalty |w|";
        period: Natural = 1.0, "number of rounds from one shrinking of the weights to the next (k, K)";
    }
}

impl Recipe for LazySplitting {
    const CARD: Card = Card {
        name: "lazy-splitting",
        paper: "lazy thesis 2014, Algorithm 2",
        losses: "tangent",
        penalties: "l1: own part at once, the rest at block ends",
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
        let rule = |l1| Blockwise { schedule, period, l1, split: PenaltySplit::Active };
        composer.rule(rule(self.l1), rule(0.0))
    }
}

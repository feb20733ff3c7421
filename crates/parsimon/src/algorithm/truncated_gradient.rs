//! l1 shrinkage of weights below a threshold every few rounds.

use parsimon_core::Float;
use parsimon_core::rule::truncated::TruncatedGradient as Rule;

use super::groups::{AnyLoss, Steps};
use super::objective::Objective;
use super::recipe::{Card, Composer, Recipe};
use super::setting::{Natural, NonNegative, Threshold, settings};
use crate::found::Found;

settings! {
    /// Truncated gradient (Langford, Li and Zhang 2009): every k-th round weights below theta shrink.
    pub struct TruncatedGradient {
        ..steps: Steps;
        l1: NonNegative = 0.0, "strength of the l1 penalty |w|";
        period: Natural = 1.0, "number of rounds from one shrinking of the weights to the next (k, K)";
        theta: Threshold = "inf", "larger weights are not shrunk";
    }
}

impl Recipe for TruncatedGradient {
    const CARD: Card = Card {
        name: "truncated-gradient",
        paper: "Langford, Li and Zhang 2009",
        losses: "tangent",
        penalties: "l1 below theta, every k-th round",
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
        let (schedule, period, theta) = (self.steps.schedule(found), self.period, self.theta);
        let rule = |l1| Rule { schedule, period, theta, l1 };
        composer.rule(rule(self.l1), rule(0.0))
    }
}

//! Gradient steps on loss plus l1 penalty.

use parsimon_core::Float;
use parsimon_core::rule::subgradient::Subgradient;

use super::groups::{AnyLoss, Steps};
use super::objective::Objective;
use super::recipe::{Card, Composer, Recipe};
use super::setting::{NonNegative, settings};
use crate::found::Found;

settings! {
    /// Subgradient steps of the l1 penalty (Langford, Li and Zhang 2009, section 3).
    pub struct SubgradientL1 {
        ..steps: Steps;
        l1: NonNegative = 0.0, "strength of the l1 penalty |w|";
    }
}

impl Recipe for SubgradientL1 {
    const CARD: Card = Card {
        name: "subgradient-l1",
        paper: "Langford, Li and Zhang 2009, section 3",
        losses: "tangent",
        penalties: "l1, its subgradient",
        center: "iterate, schedule",
        cost: "O(nnz) at a constant rate, else rounds missed are replayed",
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
        let schedule = self.steps.schedule(found);
        let rule = |l1| Subgradient { schedule, l1 };
        composer.rule(rule(self.l1), rule(0.0))
    }
}

//! Small weights cut to zero every few rounds.

use parsimon_core::Float;
use parsimon_core::rule::truncated::Truncation as Rule;

use super::groups::{AnyLoss, Steps};
use super::recipe::{Card, Composer, Recipe};
use super::setting::{Natural, NonNegative, settings};
use crate::found::Found;

settings! {
    /// Weights up to theta are set to zero every k-th round (Langford, Li and Zhang 2009).
    pub struct Truncation {
        ..steps: Steps;
        period: Natural = 1.0, "number of rounds from one shrinking of the weights to the next (k, K)";
        theta: NonNegative = 0.01, "weights up to this size are set to zero";
    }
}

impl Recipe for Truncation {
    const CARD: Card = Card {
        name: "truncation",
        paper: "Langford, Li and Zhang 2009",
        losses: "tangent",
        penalties: "cut below theta, every k-th round",
        center: "iterate, schedule",
        cost: "O(nnz)",
    };
    const FALLS_WITH_ENERGY: bool = true;
    type Losses = AnyLoss;

    fn needs_rows(&self) -> bool {
        self.steps.needs_rows()
    }
    fn compose<F: Float, C: Composer<F>>(&self, found: &Found, composer: C) -> C::Output {
        let schedule = self.steps.schedule(found);
        let rule = |theta| Rule { schedule, period: self.period, theta };
        // A weight of magnitude 0 is cut to 0: no truncation at all.
        composer.rule(rule(self.theta), rule(0.0))
    }
}

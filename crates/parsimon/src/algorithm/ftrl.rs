//! FTRL-Proximal as deployed for ads.

use parsimon_core::rule::leader::{Accrual, Iterate};
use parsimon_core::{Float, Lane};

use super::groups::AnyLoss;
use super::objective::{Charge, Objective};
use super::recipe::{Card, Composer, Recipe};
use super::setting::{NonNegative, Positive, settings};
use crate::survey::Found;

settings! {
    /// FTRL-Proximal (McMahan et al. 2013): AdaGrad steps per coordinate, the penalty in force once.
    pub struct Ftrl {
        rate: Positive = 0.1, "alpha";
        l1: NonNegative = 0.0, "strength of |w|";
        l2: NonNegative = 0.0, "strength of w^2/2";
        beta: NonNegative = 1.0, "beta";
    }
}

impl Recipe for Ftrl {
    const CARD: Card = Card {
        name: "ftrl",
        paper: "McMahan et al. 2013 (FTRL-Proximal as deployed)",
        losses: "tangent",
        penalties: "once",
        center: "iterate, AdaGrad",
        cost: "O(nnz)",
    };
    // l1 is added once; methods that add it per row want much smaller values.
    const GRID: &'static [&'static str] = &["l1=0.1..10:4", "rate=0.03..1:4"];
    type Losses = AnyLoss;

    fn objective(&self) -> Option<Objective> {
        Some(Objective { charge: Charge::Once, ..Objective::penalized(self.l1, self.l2) })
    }
    fn compose<F: Float, C: Composer<F>>(&self, _: &Found, composer: C) -> C::Output {
        let lane = Lane { l1: self.l1, l2: self.l2, rate: self.rate, delta: self.beta };
        composer.adagrad_leader(lane, Accrual::Once, Iterate)
    }
}

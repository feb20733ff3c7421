//! FTRL-Proximal as deployed for ads.

use parsimon_core::Float;
use parsimon_core::metric::AdaGrad;
use parsimon_core::rule::leader::{Accrual, Iterate};

use super::groups::AnyLoss;
use super::objective::{Charge, Objective};
use super::penalized::Penalized;
use super::recipe::{Card, Composer, Recipe};
use super::setting::{NonNegative, Positive, settings};
use crate::BuildError;
use crate::found::Found;

settings! {
    /// FTRL-Proximal (McMahan et al. 2013): AdaGrad steps per coordinate, the penalty in force once.
    pub struct Ftrl {
        rate: Positive = 0.1, "alpha";
        ..penalized: Penalized;
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
    const ALIASES: &'static [(&'static str, &'static str)] = &[("alpha", "rate")];
    const L1: f64 = 1.0;
    type Losses = AnyLoss;

    fn check(&self, _: &AnyLoss) -> Result<(), BuildError> {
        self.penalized.check()
    }
    fn objective(&self) -> Option<Objective> {
        Some(Objective { charge: Charge::Once, ..self.penalized.objective() })
    }
    fn compose<F: Float, C: Composer<F>>(&self, _: &Found, composer: C) -> C::Output {
        let metric = AdaGrad { rate: self.rate, delta: self.beta };
        self.penalized.adagrad_leader(metric, Accrual::Once, Iterate, composer)
    }
}

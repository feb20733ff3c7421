//! AdaGrad in its two forms: dual averaging and composite mirror descent.

use parsimon_core::Float;
use parsimon_core::metric::AdaGrad;
use parsimon_core::rule::leader::{Accrual, Origin};

use super::groups::AnyLoss;
use super::objective::Objective;
use super::penalized::Penalized;
use super::recipe::{Card, Composer, Recipe};
use super::setting::{NonNegative, Positive, family, settings};
use crate::error::BuildError;
use crate::found::Found;

settings! {
    /// Steps by the root of the sum of squared gradients (Duchi, Hazan and Singer 2011).
    pub struct AdaGradSteps {
        rate: Positive = 0.1, "learning rate (eta, or eta_0 of a schedule)";
        ..penalized: Penalized;
        delta: NonNegative = 1e-5, "added to the root of the sum of g^2";
    }
}

family! {
    AdaGradSteps:
    /// AdaGrad as dual averaging.
    AdaGradRda,
    /// AdaGrad as composite mirror descent.
    AdaGradFobos,
}

impl AdaGradSteps {
    fn metric(&self) -> AdaGrad {
        AdaGrad { rate: self.rate, delta: self.delta }
    }
}

impl Recipe for AdaGradRda {
    const CARD: Card = Card {
        name: "adagrad-rda",
        paper: "Duchi, Hazan and Singer 2011",
        losses: "tangent",
        penalties: "every round",
        center: "origin, AdaGrad",
        cost: "O(nnz)",
    };
    const GRID: &'static [&'static str] = &["l1=1e-6..1e-3:4", "rate=0.03..1:4"];
    const L1: f64 = 1e-4;
    type Losses = AnyLoss;

    fn check(&self, _: &AnyLoss) -> Result<(), BuildError> {
        self.0.penalized.check()
    }
    fn objective(&self) -> Option<Objective> {
        Some(self.0.penalized.objective())
    }
    fn compose<F: Float, C: Composer<F>>(&self, found: &Found, composer: C) -> C::Output {
        let Self(s) = self;
        s.penalized.adagrad_leader(s.metric(), Accrual::EveryRound, Origin, found, composer)
    }
}

impl Recipe for AdaGradFobos {
    const CARD: Card = Card {
        name: "adagrad-fobos",
        paper: "Duchi, Hazan and Singer 2011",
        losses: "tangent",
        penalties: "linearized",
        center: "iterate, AdaGrad",
        cost: "O(nnz)",
    };
    const GRID: &'static [&'static str] = AdaGradRda::GRID;
    const L1: f64 = 1e-4;
    type Losses = AnyLoss;

    fn check(&self, _: &AnyLoss) -> Result<(), BuildError> {
        self.0.penalized.check()
    }
    fn objective(&self) -> Option<Objective> {
        Some(self.0.penalized.objective())
    }
    fn compose<F: Float, C: Composer<F>>(&self, found: &Found, composer: C) -> C::Output {
        self.0.penalized.chosen(found).adaptive(self.0.metric(), composer)
    }
}

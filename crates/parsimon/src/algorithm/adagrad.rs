//! AdaGrad in its two forms: dual averaging and composite mirror descent.

use parsimon_core::metric::AdaGrad;
use parsimon_core::penalty::{ElasticNet, L1};
use parsimon_core::rule::leader::{Accrual, Origin};
use parsimon_core::rule::mirror::Adaptive;
use parsimon_core::{Float, Lane};

use super::groups::AnyLoss;
use super::objective::Objective;
use super::recipe::{Card, Composer, Recipe};
use super::setting::{NonNegative, Positive, family, settings};
use crate::survey::Found;

settings! {
    /// Steps by the root of the sum of squared gradients (Duchi, Hazan and Singer 2011).
    pub struct AdaGradSteps {
        rate: Positive = 0.1, "eta, eta_0";
        l1: NonNegative = 0.0, "strength of |w|";
        l2: NonNegative = 0.0, "strength of w^2/2";
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
    type Losses = AnyLoss;

    fn objective(&self) -> Option<Objective> {
        Some(Objective::penalized(self.0.l1, self.0.l2))
    }
    fn compose<F: Float, C: Composer<F>>(&self, _: &Found, composer: C) -> C::Output {
        let AdaGradSteps { rate, l1, l2, delta } = self.0;
        composer.adagrad_leader(Lane { l1, l2, rate, delta }, Accrual::EveryRound, Origin)
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
    type Losses = AnyLoss;

    fn objective(&self) -> Option<Objective> {
        Some(Objective::penalized(self.0.l1, self.0.l2))
    }
    fn compose<F: Float, C: Composer<F>>(&self, _: &Found, composer: C) -> C::Output {
        let AdaGradSteps { rate, l1, l2, delta } = self.0;
        let metric = AdaGrad { rate, delta };
        if l2 == 0.0 {
            let rule = |l1| Adaptive { penalty: L1 { l1 }, metric };
            composer.rule(rule(l1), rule(0.0))
        } else {
            let rule = |l1, l2| Adaptive { penalty: ElasticNet { l1, l2 }, metric };
            composer.rule(rule(l1, l2), rule(0.0, 0.0))
        }
    }
}

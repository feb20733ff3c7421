//! Dual averaging with powers of the round for threshold and stabilizer.

use parsimon_core::Float;
use parsimon_core::metric::{Global, Pace};
use parsimon_core::penalty::ElasticNet;
use parsimon_core::rule::leader::{Accrual, Leader, Origin};

use super::groups::AnyLoss;
use super::objective::Objective;
use super::recipe::{Card, Composer, Recipe};
use super::setting::{NonNegative, Number, Positive, settings};
use crate::found::Found;

settings! {
    /// Generalized RDA (Ushio 2018, eq. 3.1).
    pub struct GeneralizedRda {
        rate: Positive = 0.5, "learning rate (eta = 1/gamma)";
        l1: NonNegative = 0.0, "strength of the l1 penalty |w|";
        a: Number = 0.5, "exponent of the threshold";
        b: Number = 0.5, "exponent of the stabilizer";
    }
}

impl Recipe for GeneralizedRda {
    const CARD: Card = Card {
        name: "generalized-rda",
        paper: "Ushio 2018, eq. 3.1",
        losses: "tangent",
        penalties: "t^(a+b) times",
        center: "origin, t^b",
        cost: "O(nnz)",
    };
    const FALLS_WITH_ENERGY: bool = true;
    const GRID: &'static [&'static str] = &["l1=1e-6..1e-3:4", "rate=0.1..10:4"];
    const L1: f64 = 1e-4;
    type Losses = AnyLoss;

    fn objective(&self) -> Option<Objective> {
        Some(Objective::penalized(self.l1, 0.0))
    }
    fn compose<F: Float, C: Composer<F>>(&self, _: &Found, composer: C) -> C::Output {
        let (rate, a, b) = (self.rate, self.a, self.b);
        let metric = Global(Pace::Power { rate, b });
        let rule = |l1| Leader {
            penalty: ElasticNet { l1, l2: 0.0 },
            accrual: Accrual::Power(a + b),
            center: Origin,
            metric,
        };
        composer.rule(rule(self.l1), rule(0.0))
    }
}

//! Adaline: least mean squares of two classes as numbers.

use parsimon_core::penalty::L1;
use parsimon_core::rule::mirror::{HalfStep, Scheduled};
use parsimon_core::{Float, Schedule};

use super::groups::AdalineLoss;
use super::recipe::{Card, Composer, Recipe};
use super::setting::{Positive, settings};
use crate::found::Found;

settings! {
    /// Adaline (Widrow and Hoff 1960).
    pub struct Adaline {
        rate: Positive = 0.01, "learning rate (eta), constant";
    }
}

impl Recipe for Adaline {
    const CARD: Card = Card {
        name: "adaline",
        paper: "Widrow and Hoff 1960",
        losses: "tangent, classes as numbers",
        penalties: "none",
        center: "iterate, constant",
        cost: "O(nnz)",
    };
    type Losses = AdalineLoss;

    fn compose<F: Float, C: Composer<F>>(&self, _: &Found, composer: C) -> C::Output {
        let (penalty, schedule) = (L1 { l1: 0.0 }, Schedule::Constant { rate: self.rate });
        let rule = Scheduled { penalty, schedule, half_step: HalfStep::Same };
        composer.rule(rule, rule)
    }
}

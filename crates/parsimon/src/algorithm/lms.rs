//! Least mean squares.

use parsimon_core::filter::lms::Lms as Method;
use parsimon_core::penalty::L1;
use parsimon_core::rule::mirror::{HalfStep, Scheduled};
use parsimon_core::{Float, Schedule};

use super::groups::SquaredLoss;
use super::recipe::{Card, Composer, FilterComposer, Recipe};
use super::setting::{Positive, settings};
use crate::found::Found;

settings! {
    /// LMS (Widrow and Hoff 1960).
    pub struct Lms {
        rate: Positive = 0.01, "learning rate (eta), constant";
    }
}

impl Recipe for Lms {
    const CARD: Card = Card {
        name: "lms",
        paper: "Widrow and Hoff 1960",
        losses: "tangent",
        penalties: "none",
        center: "iterate, constant",
        cost: "O(nnz)",
    };
    type Losses = SquaredLoss;

    fn compose<F: Float, C: Composer<F>>(&self, _: &Found, composer: C) -> C::Output {
        let (penalty, schedule) = (L1 { l1: 0.0 }, Schedule::Constant { rate: self.rate });
        let rule = Scheduled { penalty, schedule, half_step: HalfStep::Same };
        composer.rule(rule, rule)
    }
    fn filter<F: Float, C: FilterComposer<F>>(&self, composer: C) -> Option<C::Output> {
        Some(composer.method(|len, _, _| Method::<F>::new(len, self.rate)))
    }
}

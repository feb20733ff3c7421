//! Adam.

use parsimon_core::Float;
use parsimon_core::rule::adam::Adam as Rule;

use super::groups::AnyLoss;
use super::recipe::{Card, Composer, Recipe};
use super::setting::{Decay, Positive, settings};
use crate::found::Found;

settings! {
    /// Adam (Kingma and Ba 2015).
    pub struct Adam {
        rate: Positive = 0.001, "learning rate (eta)";
        beta1: Decay = 0.9, "decay of the first moment";
        beta2: Decay = 0.999, "decay of the second moment";
        epsilon: Positive = 1e-8, "added to the root";
    }
}

impl Recipe for Adam {
    const CARD: Card = Card {
        name: "adam",
        paper: "Kingma and Ba 2015",
        losses: "tangent",
        penalties: "none",
        center: "moving averages",
        cost: "O(nnz); the moves of missed rounds are added up to within 1e-13",
    };
    type Losses = AnyLoss;

    fn compose<F: Float, C: Composer<F>>(&self, _: &Found, composer: C) -> C::Output {
        let Self { rate, beta1, beta2, epsilon } = *self;
        let rule = Rule::new(rate, beta1, beta2, epsilon);
        composer.rule(rule, rule)
    }
}

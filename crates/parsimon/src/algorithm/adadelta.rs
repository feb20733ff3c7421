//! AdaDelta.

use parsimon_core::Float;
use parsimon_core::rule::adadelta::AdaDelta as Rule;

use super::groups::AnyLoss;
use super::recipe::{Card, Composer, Recipe};
use super::setting::{Decay, Positive, settings};
use crate::found::Found;

settings! {
    /// AdaDelta (Zeiler 2012).
    pub struct AdaDelta {
        rate: Positive = 1.0, "a factor on the step, 1 in the paper";
        rho: Decay = 0.95, "decay of both averages";
        epsilon: Positive = 1e-6, "added under both roots";
    }
}

impl Recipe for AdaDelta {
    const CARD: Card = Card {
        name: "adadelta",
        paper: "Zeiler 2012",
        losses: "tangent",
        penalties: "none",
        center: "moving averages",
        cost: "O(nnz)",
    };
    type Losses = AnyLoss;

    fn compose<F: Float, C: Composer<F>>(&self, _: &Found, composer: C) -> C::Output {
        let Self { rate, rho, epsilon } = *self;
        let rule = Rule { rate, rho, epsilon };
        composer.rule(rule, rule)
    }
}

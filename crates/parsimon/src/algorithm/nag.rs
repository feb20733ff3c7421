//! Normalized adaptive gradient steps, the default update of Vowpal Wabbit.

use parsimon_core::Float;
use parsimon_core::rule::nag::Nag as Rule;

use super::groups::AnyLoss;
use super::recipe::{Card, Composer, Recipe};
use super::setting::{NonNegative, Positive, Share, settings};
use crate::found::Found;

settings! {
    /// Normalized adaptive gradient steps that respect importance (Ross, Mineiro and Langford 2013; Karampatziakis and Langford 2011).
    pub struct Nag {
        rate: Positive = 0.5, "factor of every step";
        exponent: Share = 0.5, "power of the sum of squared gradients by which steps shrink";
        start: NonNegative = 0.0, "sum of importances and of squared gradients before the first row";
    }
}

impl Recipe for Nag {
    const CARD: Card = Card {
        name: "nag",
        paper: "Ross, Mineiro and Langford 2013; steps of Karampatziakis and Langford 2011",
        losses: "flow",
        penalties: "none",
        center: "iterate, normalized adaptive rates",
        cost: "O(nnz)",
    };
    const GRID: &'static [&'static str] = &["rate=0.05..5:5"];
    const ALIASES: &'static [(&'static str, &'static str)] =
        &[("power_t", "exponent"), ("initial_t", "start")];
    type Losses = AnyLoss;

    fn compose<F: Float, C: Composer<F>>(&self, _: &Found, composer: C) -> C::Output {
        let Self { rate, exponent, start } = *self;
        let rule = Rule {
            rate,
            power: exponent,
            start,
            adaptive: true,
            normalized: true,
            invariant: true,
        };
        composer.normalizing(rule, rule)
    }
}

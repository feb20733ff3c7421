//! Normalized least mean squares.

use parsimon_core::Float;
use parsimon_core::filter::projection::{Form, Shrinking};

use super::groups::ProjectionLoss;
use super::projections::Projections;
use super::recipe::{Card, Composer, FilterComposer, Recipe};
use super::setting::{NonNegative, Step, settings};
use crate::found::Found;

settings! {
    /// NLMS (Nagumo and Noda 1967): a step towards what one row allows.
    pub struct Nlms {
        rate: Step = 0.1, "step size (eta); identify and cancel use 0.5 if not set";
        delta: NonNegative = 1e-5, "added to the normalizer";
    }
}

impl Nlms {
    fn projections(&self) -> Projections {
        let (rate, delta, form) = (self.rate, self.delta, Form::Primal);
        let shrinking = Shrinking::default();
        Projections { rate, l1: 0.0, delta, metric: None, order: 1, form, shrinking }
    }
}

impl Recipe for Nlms {
    const CARD: Card = Card {
        name: "nlms",
        paper: "Nagumo and Noda 1967",
        losses: "projection",
        penalties: "none",
        center: "iterate, constant",
        cost: "O(nnz)",
    };
    const SIGNAL_RATE: Option<f64> = Some(0.5);
    type Losses = ProjectionLoss;

    fn compose<F: Float, C: Composer<F>>(&self, _: &Found, composer: C) -> C::Output {
        self.projections().step_by_step(composer)
    }
    fn filter<F: Float, C: FilterComposer<F>>(&self, composer: C) -> Option<C::Output> {
        Some(self.projections().behind_a_line(composer))
    }
}

//! Affine projections: a step towards the weights that the last rows allow together.

use parsimon_core::Float;
use parsimon_core::filter::projection::{Form, Shrinking};

use super::groups::{Features, ProjectionLoss};
use super::projections::{Projections, check_order};
use super::recipe::{Card, Composer, FilterComposer, Recipe};
use super::setting::{NonNegative, Order, Step, settings};
use crate::error::BuildError;
use crate::found::Found;

settings! {
    /// APA (Ozeki and Umeda 1984).
    pub struct Apa {
        rate: Step = 0.1, "step size (eta); identify and cancel use 0.5 if not set";
        delta: NonNegative = 1e-5, "added to the normalizer";
        order: Order = 1.0, "number of last rows to project on at once (r)";
        ..features: Features;
    }
}

impl Apa {
    fn projections(&self) -> Projections {
        let (rate, delta, order) = (self.rate, self.delta, self.order);
        let shrinking = Shrinking::default();
        Projections { rate, l1: 0.0, delta, metric: None, order, form: Form::Primal, shrinking }
    }
}

impl Recipe for Apa {
    const CARD: Card = Card {
        name: "apa",
        paper: "Ozeki and Umeda 1984",
        losses: "projection on the last r rows",
        penalties: "none",
        center: "iterate, constant",
        cost: "O(nnz) for r = 1, else O(r features + r^3)",
    };
    const SIGNAL_RATE: Option<f64> = Some(0.5);
    type Losses = ProjectionLoss;

    fn check(&self, loss: &ProjectionLoss) -> Result<(), BuildError> {
        check_order(self.order, loss)
    }
    fn dimension(&self) -> Option<u32> {
        self.features.dimension
    }
    fn needs_dimension(&self) -> Option<&'static str> {
        (!self.projections().is_sparse()).then_some(Self::CARD.name)
    }
    fn compose<F: Float, C: Composer<F>>(&self, found: &Found, composer: C) -> C::Output {
        let projections = self.projections();
        match projections.is_sparse() {
            true => projections.step_by_step(composer),
            false => projections.over_rows(found, composer),
        }
    }
    fn filter<F: Float, C: FilterComposer<F>>(&self, composer: C) -> Option<C::Output> {
        Some(self.projections().behind_a_line(composer))
    }
}

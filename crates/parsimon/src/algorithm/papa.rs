//! Affine projections in a metric of the weights.

use parsimon_core::Float;
use parsimon_core::filter::projection::{Form, Shrinking};

use super::groups::{Features, ProjectionLoss};
use super::projections::{Projections, check_order};
use super::recipe::{Card, Composer, FilterComposer, Recipe};
use super::setting::{NonNegative, Order, Positive, Step, Unit, settings};
use crate::error::BuildError;
use crate::found::Found;

settings! {
    /// PAPA (Ushio 2018, eq. 3.5; Gansler et al. 2000): large weights take large steps.
    pub struct Papa {
        rate: Step = 0.1, "step size (eta); identify and cancel use 0.5 if not set";
        delta: NonNegative = 1e-5, "added to the normalizer";
        alpha: Unit = 0.5, "share of the identity in the metric";
        epsilon: Positive = 1e-5, "keeps the metric finite at zero weights";
        order: Order = 1.0, "number of last rows to project on at once (r)";
        ..features: Features;
    }
}

impl Papa {
    fn projections(&self) -> Projections {
        let (rate, delta, order) = (self.rate, self.delta, self.order);
        let metric = Some((self.alpha, self.epsilon));
        let shrinking = Shrinking::default();
        Projections { rate, l1: 0.0, delta, metric, order, form: Form::Primal, shrinking }
    }
}

impl Recipe for Papa {
    const CARD: Card = Card {
        name: "papa",
        paper: "Ushio 2018, eq. 3.5; Gansler et al. 2000",
        losses: "projection on the last r rows",
        penalties: "none",
        center: "iterate, metric of the weights",
        cost: "O(r^2 features)",
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
        self.projections().over_rows(found, composer)
    }
    fn filter<F: Float, C: FilterComposer<F>>(&self, composer: C) -> Option<C::Output> {
        Some(self.projections().behind_a_line(composer))
    }
}

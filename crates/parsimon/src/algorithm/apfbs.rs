//! Adaptive proximal forward-backward splitting: a projection step, then a proximal step.

use parsimon_core::Float;
use parsimon_core::filter::projection::{Form, Shrinking};

use super::groups::{Features, ProjectionLoss};
use super::objective::Objective;
use super::projections::{Projections, check_order};
use super::recipe::{Card, Composer, FilterComposer, Recipe};
use super::setting::{NonNegative, Order, Positive, Step, Unit, settings};
use crate::error::BuildError;
use crate::found::Found;

settings! {
    /// APFBS (Murakami et al. 2010; Ushio 2018, section 3.6.1 and eq. A.19).
    pub struct Apfbs {
        rate: Step = 0.1, "step size (eta); identify and cancel use 0.5 if not set";
        l1: NonNegative = 0.0, "strength of the l1 penalty |w|";
        delta: NonNegative = 1e-5, "added to the normalizer";
        alpha: Option<Unit>, "share of the identity in the metric; the metric is the identity if not set";
        epsilon: Positive = 1e-5, "keeps the metric finite at zero weights";
        order: Order = 1.0, "number of last rows to project on at once (r)";
        ..features: Features;
    }
}

impl Apfbs {
    fn projections(&self) -> Projections {
        let Self { rate, l1, delta, order, .. } = *self;
        let metric = self.alpha.map(|alpha| (alpha, self.epsilon));
        let shrinking = Shrinking::default();
        Projections { rate, l1, delta, metric, order, form: Form::Primal, shrinking }
    }
}

impl Recipe for Apfbs {
    const CARD: Card = Card {
        name: "apfbs",
        paper: "Murakami et al. 2010; Ushio 2018, section 3.6.1 and eq. A.19",
        losses: "projection on the last r rows",
        penalties: "linearized, weighted by the metric",
        center: "iterate, identity or metric of the weights",
        cost: "O(nnz) with the identity and r = 1, else O(r^2 features)",
    };
    const SIGNAL_RATE: Option<f64> = Some(0.5);
    const L1: f64 = 1e-3;
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
    fn objective(&self) -> Option<Objective> {
        Some(Objective::penalized(self.l1, 0.0))
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

//! Projection-based dual averaging.

use parsimon_core::Float;
use parsimon_core::filter::projection::Form;
use parsimon_core::metric::{Global, Pace};
use parsimon_core::penalty::ElasticNet;
use parsimon_core::rule::leader::{Accrual, Leader, Origin};

use super::groups::{Features, ProjectionLoss};
use super::objective::Objective;
use super::projections::{Projections, check_order};
use super::recipe::{Card, Composer, FilterComposer, Recipe};
use super::setting::{NonNegative, Order, Positive, Step, Unit, settings};
use crate::error::BuildError;
use crate::found::Found;

settings! {
    /// PDA (Ushio 2018, eq. 3.4): projection steps are summed, and the penalty is applied once.
    pub struct Pda {
        rate: Step = 0.1, "step size (eta); identify and cancel use 0.5 if not set";
        l1: NonNegative = 0.0, "strength of the l1 penalty |w|";
        delta: NonNegative = 1e-5, "added to the normalizer";
        alpha: Option<Unit>, "share of the identity in the metric; the metric is the identity if not set";
        epsilon: Positive = 1e-5, "keeps the metric finite at zero weights";
        order: Order = 1.0, "number of last rows to project on at once (r)";
        ..features: Features;
    }
}

impl Pda {
    fn projections(&self) -> Projections {
        let Self { rate, l1, delta, order, .. } = *self;
        let metric = self.alpha.map(|alpha| (alpha, self.epsilon));
        Projections { rate, l1, delta, metric, order, form: Form::Dual }
    }
}

impl Recipe for Pda {
    const CARD: Card = Card {
        name: "pda",
        paper: "Ushio 2018, eq. 3.4",
        losses: "projection on the last r rows",
        penalties: "once, weighted by the metric",
        center: "origin, identity or metric of the weights",
        cost: "O(nnz) with the identity and r = 1, else O(r^2 features)",
    };
    const SIGNAL_RATE: Option<f64> = Some(0.5);
    const L1: f64 = 0.1;
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
        if !projections.is_sparse() {
            return projections.over_rows(found, composer);
        }
        let rule = |l1| Leader {
            penalty: ElasticNet { l1, l2: 0.0 },
            accrual: Accrual::Once,
            center: Origin,
            metric: Global(Pace::Constant { q: 1.0 / self.rate }),
        };
        composer.projecting(rule(self.l1), rule(0.0), self.delta)
    }
    fn filter<F: Float, C: FilterComposer<F>>(&self, composer: C) -> Option<C::Output> {
        Some(self.projections().behind_a_line(composer))
    }
}

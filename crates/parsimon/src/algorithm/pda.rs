//! Projection-based dual averaging.

use parsimon_core::Float;
use parsimon_core::filter::projection::{Form, L1Weights, Shrinking};
use parsimon_core::metric::{Global, Pace};
use parsimon_core::penalty::ElasticNet;
use parsimon_core::rule::leader::{Accrual, Leader, Origin};

use super::groups::{Features, ProjectionLoss};
use super::objective::Objective;
use super::projections::{Projections, check_order};
use super::recipe::{Card, Composer, FilterComposer, Recipe};
use super::setting::{Flag, NonNegative, Order, Positive, Step, Unit, choice, settings};
use crate::error::BuildError;
use crate::found::Found;

choice! {
    /// The weights of the l1 penalty, by the metric.
    pub enum L1MetricName {
        /// None.
        None = "none",
        /// `q`
        Metric = "metric",
        /// `q^2`
        Squared = "squared",
    }
}

settings! {
    /// PDA (Ushio 2018, eq. 3.4): projection steps are summed, and the penalty is applied once.
    pub struct Pda {
        rate: Step = 0.1, "step size (eta); identify and cancel use 0.5 if not set";
        l1: NonNegative = 0.0, "strength of the l1 penalty |w|";
        delta: NonNegative = 1e-5, "added to the normalizer";
        alpha: Option<Unit>, "share of the identity in the metric; the metric is the identity if not set";
        epsilon: Positive = 1e-5, "keeps the metric finite at zero weights";
        l1_metric: L1MetricName = "squared", "weights of the l1 penalty: the square of the metric (squared, eq. 3.6), the metric, or none";
        growing_l1: Flag = false, "charge l1 in every round (eq. 3.3) instead of once (eq. 3.4)";
        order: Order = 1.0, "number of last rows to project on at once (r)";
        ..features: Features;
    }
}

impl Pda {
    fn projections(&self) -> Projections {
        let Self { rate, l1, delta, order, .. } = *self;
        let metric = self.alpha.map(|alpha| (alpha, self.epsilon));
        let weights = match self.l1_metric {
            L1MetricName::None => L1Weights::Plain,
            L1MetricName::Metric => L1Weights::Metric,
            L1MetricName::Squared => L1Weights::SquaredMetric,
        };
        let shrinking = Shrinking { weights, grows: self.growing_l1 };
        Projections { rate, l1, delta, metric, order, form: Form::Dual, shrinking }
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
            accrual: if self.growing_l1 { Accrual::EveryRound } else { Accrual::Once },
            center: Origin,
            metric: Global(Pace::Constant { q: 1.0 / self.rate }),
        };
        composer.projecting(rule(self.l1), rule(0.0), self.delta)
    }
    fn filter<F: Float, C: FilterComposer<F>>(&self, composer: C) -> Option<C::Output> {
        Some(self.projections().behind_a_line(composer))
    }
}

//! The four corners of McMahan's unified view (2011): past penalties kept or linearized, centered at the iterate or at
//! the origin.

use parsimon_core::metric::{AdaGrad, Global, Pace};
use parsimon_core::penalty::{ElasticNet, L1};
use parsimon_core::rule::anchored::Anchored;
use parsimon_core::rule::leader::{Accrual, Center, Iterate, Leader, Origin};
use parsimon_core::rule::mirror::{Adaptive, HalfStep, Scheduled};
use parsimon_core::rule::proximal::Proximal;
use parsimon_core::{Float, Lane, Schedule};

use super::groups::AnyLoss;
use super::objective::Objective;
use super::recipe::{Card, Composer, Recipe, leader};
use super::setting::{Flag, NonNegative, Positive, choice, family, settings};
use crate::error::BuildError;
use crate::found::Found;

choice! {
    /// The weight of the quadratics.
    pub enum MetricName {
        /// `sqrt(t) / rate`
        Sqrt = "sqrt",
        /// `(beta + sqrt(sum g^2)) / rate`
        AdaGrad = "adagrad",
    }
}

settings! {
    /// The settings of the unified view.
    pub struct Unified {
        rate: Positive = 0.1, "learning rate (eta = 1/gamma)";
        l1: NonNegative = 0.0, "strength of the l1 penalty |w|";
        metric: MetricName = "adagrad", "h = sqrt(t)/rate or (beta + sqrt(sum g^2))/rate";
        beta: NonNegative = 1.0, "added to the root of the sum of g^2";
        implicit: Flag = false, "use the loss instead of its tangent (implicit updates)";
    }
}

family! {
    Unified:
    /// Past penalties linearized, centered at the iterate.
    Comid,
    /// Past penalties kept, centered at the iterate.
    Ftprl,
    /// Past penalties linearized, centered at the origin.
    Aogd,
    /// Past penalties kept, centered at the origin.
    UnifiedRda,
}

const GRID: &[&str] = &["l1=1e-6..1e-3:4", "rate=0.03..1:4"];

impl Unified {
    fn adagrad(&self) -> AdaGrad {
        AdaGrad { rate: self.rate, delta: self.beta }
    }

    fn sqrt(&self) -> Global {
        Global(Pace::Sqrt { rate: self.rate })
    }

    /// Past penalties kept, with AdaGrad's metric.
    fn adagrad_leader<F: Float, C: Composer<F>>(
        &self,
        center: impl Center<AdaGrad>,
        composer: C,
    ) -> C::Output {
        let lane = Lane { l1: self.l1, l2: 0.0, rate: self.rate, delta: self.beta };
        let accrual = Accrual::EveryRound;
        match self.implicit {
            true => {
                composer.exact(leader(lane, accrual, center), leader(lane.free(), accrual, center))
            }
            false => composer.adagrad_leader(lane, accrual, center),
        }
    }

    fn objective(&self) -> Objective {
        Objective::penalized(self.l1, 0.0)
    }
}

impl Recipe for Comid {
    const CARD: Card = Card {
        name: "comid",
        paper: "Duchi et al. 2010; McMahan 2011, table row",
        losses: "tangent or exact",
        penalties: "linearized",
        center: "iterate",
        cost: "O(nnz)",
    };
    const GRID: &'static [&'static str] = GRID;
    const L1: f64 = 1e-4;
    type Losses = AnyLoss;

    fn check(&self, loss: &AnyLoss) -> Result<(), BuildError> {
        loss.check_exact(self.0.implicit)
    }
    fn objective(&self) -> Option<Objective> {
        Some(self.0.objective())
    }
    fn compose<F: Float, C: Composer<F>>(&self, _: &Found, composer: C) -> C::Output {
        let Self(s) = self;
        match s.metric {
            MetricName::Sqrt => {
                let (schedule, half_step) = (Schedule::Sqrt { rate: s.rate }, HalfStep::Same);
                let rule = |l1| Scheduled { penalty: L1 { l1 }, schedule, half_step };
                composer.rule_or_exact(rule(s.l1), rule(0.0), s.implicit)
            }
            MetricName::AdaGrad => {
                let rule = |l1| Adaptive { penalty: L1 { l1 }, metric: s.adagrad() };
                composer.rule_or_exact(rule(s.l1), rule(0.0), s.implicit)
            }
        }
    }
}

impl Recipe for Ftprl {
    const CARD: Card = Card {
        name: "ftprl",
        paper: "McMahan and Streeter 2010; McMahan 2011, table row",
        losses: "tangent or exact",
        penalties: "every round",
        center: "iterate",
        cost: "O(nnz)",
    };
    const GRID: &'static [&'static str] = GRID;
    const L1: f64 = 1e-4;
    type Losses = AnyLoss;

    fn check(&self, loss: &AnyLoss) -> Result<(), BuildError> {
        loss.check_exact(self.0.implicit)
    }
    fn objective(&self) -> Option<Objective> {
        Some(self.0.objective())
    }
    fn compose<F: Float, C: Composer<F>>(&self, _: &Found, composer: C) -> C::Output {
        let Self(s) = self;
        match s.metric {
            MetricName::Sqrt => {
                let rule = |l1| Proximal { rate: s.rate, penalty: L1 { l1 } };
                composer.rule_or_exact(rule(s.l1), rule(0.0), s.implicit)
            }
            MetricName::AdaGrad => s.adagrad_leader(Iterate, composer),
        }
    }
}

impl Recipe for Aogd {
    const CARD: Card = Card {
        name: "aogd",
        paper: "Bartlett et al. 2007; McMahan 2011, table row",
        losses: "tangent or exact",
        penalties: "linearized",
        center: "origin",
        cost: "O(nnz)",
    };
    const GRID: &'static [&'static str] = GRID;
    const L1: f64 = 1e-4;
    type Losses = AnyLoss;

    fn check(&self, loss: &AnyLoss) -> Result<(), BuildError> {
        loss.check_exact(self.0.implicit)
    }
    fn objective(&self) -> Option<Objective> {
        Some(self.0.objective())
    }
    fn compose<F: Float, C: Composer<F>>(&self, _: &Found, composer: C) -> C::Output {
        let Self(s) = self;
        match s.metric {
            MetricName::Sqrt => {
                let rule = |l1| Anchored { penalty: L1 { l1 }, metric: s.sqrt() };
                composer.rule_or_exact(rule(s.l1), rule(0.0), s.implicit)
            }
            MetricName::AdaGrad => {
                let rule = |l1| Anchored { penalty: L1 { l1 }, metric: s.adagrad() };
                composer.rule_or_exact(rule(s.l1), rule(0.0), s.implicit)
            }
        }
    }
}

impl Recipe for UnifiedRda {
    const CARD: Card = Card {
        name: "unified-rda",
        paper: "Xiao 2010; McMahan 2011, table row",
        losses: "tangent or exact",
        penalties: "every round",
        center: "origin",
        cost: "O(nnz)",
    };
    const GRID: &'static [&'static str] = GRID;
    const L1: f64 = 1e-4;
    type Losses = AnyLoss;

    fn check(&self, loss: &AnyLoss) -> Result<(), BuildError> {
        loss.check_exact(self.0.implicit)
    }
    fn objective(&self) -> Option<Objective> {
        Some(self.0.objective())
    }
    fn compose<F: Float, C: Composer<F>>(&self, _: &Found, composer: C) -> C::Output {
        let Self(s) = self;
        match s.metric {
            MetricName::Sqrt => {
                let rule = |l1| Leader {
                    penalty: ElasticNet { l1, l2: 0.0 },
                    accrual: Accrual::EveryRound,
                    center: Origin,
                    metric: s.sqrt(),
                };
                composer.rule_or_exact(rule(s.l1), rule(0.0), s.implicit)
            }
            MetricName::AdaGrad => s.adagrad_leader(Origin, composer),
        }
    }
}

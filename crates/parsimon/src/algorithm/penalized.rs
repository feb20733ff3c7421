//! The penalty as a group of settings: type, strength and bounds of the weights.
//!
//! A penalty of `parsimon-core` becomes available to every algorithm with these settings by its variant in [`PenaltyName`]
//! and its line in `Chosen::new`; one of a new type also by a variant of `Chosen`.

use parsimon_core::metric::Metric;
use parsimon_core::penalty::{
    Bounded, Bounds, ElasticNet, Factors, L1, PerFeature, Weighted, nonnegative,
};
use parsimon_core::rule::fading::Fading;
use parsimon_core::rule::leader::{Accrual, Center, Leader};
use parsimon_core::rule::mirror::{Adaptive, HalfStep, Scheduled};
use parsimon_core::{Float, HalfLife, Lane, Schedule, metric::AdaGrad};

use super::objective::{FeasibleSet, Objective};
use super::recipe::Composer;
use super::setting::{FeatureFactors, NonNegative, NonPositive, choice, settings};
use crate::error::BuildError;
use crate::found::Found;

choice! {
    /// The penalties that act on one weight at a time.
    pub enum PenaltyName {
        /// `l1 |w| + l2/2 w^2`
        Elastic = "elastic",
        /// The elastic net, with weights >= 0.
        Nonnegative = "nonnegative",
        /// The elastic net, with weights between `lower` and `upper`.
        Box = "box",
    }
}

settings! {
    /// A penalty on each weight. The bias is not penalized.
    pub struct Penalized {
        l1: NonNegative = 0.0, "strength of the l1 penalty |w|";
        l2: NonNegative = 0.0, "strength of the l2 penalty w^2/2";
        penalty: PenaltyName = "elastic", "penalty of each weight; nonnegative and box also bound the weight";
        ..interval: Interval;
        penalty_factor: Option<FeatureFactors>, "factor on the penalty of single features, by name, such as age=0,city=Rome=2; 0 is no penalty, 1 if not set";
    }
}

impl Penalized {
    /// An l1 penalty of that strength, and nothing else.
    pub fn l1(l1: f64) -> Self {
        Self { l1, ..Self::default() }
    }
}

settings! {
    /// The bounds of a weight.
    pub struct Interval {
        lower: Option<NonPositive>, "smallest weight allowed, at most 0 (penalty box only)";
        upper: Option<NonNegative>, "largest weight allowed, at least 0 (penalty box only)";
    }
}

impl Interval {
    /// Refuses bounds without a box and a box without bounds.
    pub(super) fn check(&self, is_box: bool) -> Result<(), BuildError> {
        let given = [("lower", self.lower.is_some()), ("upper", self.upper.is_some())];
        match given.into_iter().find(|(_, is_given)| *is_given) {
            Some((name, _)) if !is_box => {
                let message =
                    format!("{name} is a setting of the penalty box; pass penalty box, too");
                Err(BuildError::new(name, message))
            }
            None if is_box => {
                let message = "the penalty box needs lower, upper or both";
                Err(BuildError::new("lower", message))
            }
            _ => Ok(()),
        }
    }

    fn ends(&self) -> (f64, f64) {
        (self.lower.unwrap_or(f64::NEG_INFINITY), self.upper.unwrap_or(f64::INFINITY))
    }

    /// Zero is inside, because the ranges of the settings contain it.
    fn bounds(&self) -> Bounds {
        let (lower, upper) = self.ends();
        Bounds::new(lower, upper).unwrap_or(Bounds::NONE)
    }
}

/// The setting of factors on the penalty.
pub(crate) const PENALTY_FACTOR: &str = "penalty_factor";

/// The factors of features whose ids are known. Names without an id are refused before a learner is built
/// ([`Settings::build`](crate::Settings::build)); for questions about the kind of learner they do not matter.
pub(super) fn factors(each: Option<&[(String, f64)]>, found: &Found) -> Factors {
    let each = each.unwrap_or_default().iter();
    let ids = each.filter_map(|(name, factor)| Some((found.feature(name)?, *factor)));
    Factors::new(ids.collect()).unwrap_or_default()
}

/// A penalty with its strengths.
#[derive(Clone, Debug)]
pub(super) enum Chosen {
    Elastic(ElasticNet),
    /// With bounds, with factors, or both.
    ///
    /// PERF: one type for all of them. Rules are compiled for every type of penalty, and bounds that are infinite and factors that are
    /// not there cost little.
    Bounded(Weighted<Bounded<ElasticNet>>),
}

/// Runs `$body` with a penalty of any type.
macro_rules! with_penalty {
    ($chosen:expr, $penalty:ident => $body:expr) => {
        match $chosen {
            Chosen::Elastic($penalty) => $body,
            Chosen::Bounded($penalty) => $body,
        }
    };
}

fn free<F: Float, P: PerFeature<F>>(_: &P) -> P {
    P::none()
}

impl Chosen {
    pub(super) fn new(
        name: PenaltyName,
        l1: f64,
        l2: f64,
        interval: &Interval,
        factors: Factors,
    ) -> Self {
        let net = ElasticNet { l1, l2 };
        let bounded = |bounds| Bounded { base: net, bounds };
        let base = match name {
            PenaltyName::Elastic if factors.is_empty() => return Self::Elastic(net),
            PenaltyName::Elastic => bounded(Bounds::NONE),
            PenaltyName::Nonnegative => nonnegative(net),
            PenaltyName::Box => bounded(interval.bounds()),
        };
        Self::Bounded(Weighted { base, factors })
    }

    /// Follow the regularized leader; the bias may have a separate metric.
    pub(super) fn leader<F: Float, M: Metric<F>, C: Composer<F>>(
        self,
        accrual: Accrual,
        center: impl Center<M>,
        [metric, bias_metric]: [M; 2],
        composer: C,
    ) -> C::Output {
        with_penalty!(self, penalty => {
            let bias = free::<F, _>(&penalty);
            let bias = Leader { penalty: bias, accrual, center, metric: bias_metric };
            composer.rule(Leader { penalty, accrual, center, metric }, bias)
        })
    }

    /// A gradient step and a proximal step, by a schedule.
    pub(super) fn scheduled<F: Float, C: Composer<F>>(
        self,
        schedule: Schedule,
        half_step: HalfStep,
        composer: C,
    ) -> C::Output {
        // Without l2 a stamp is one number.
        if let Self::Elastic(ElasticNet { l1, l2: 0.0 }) = self {
            let rule = |l1| Scheduled { penalty: L1 { l1 }, schedule, half_step };
            return composer.rule(rule(l1), rule(0.0));
        }
        match self {
            Self::Elastic(penalty) => {
                let rule = |penalty| Scheduled { penalty, schedule, half_step };
                composer.rule(rule(penalty), rule(free::<F, _>(&penalty)))
            }
            Self::Bounded(Weighted { base: penalty, factors }) if factors.is_empty() => {
                let rule = |penalty| Scheduled { penalty, schedule, half_step };
                composer.rule(rule(penalty), rule(free::<F, _>(&penalty)))
            }
            // Missed steps are caught up from one total for all factors where there is no curvature; see `check_factors`.
            Self::Bounded(Weighted { base: Bounded { base, bounds }, factors }) => {
                let base = Bounded { base: L1 { l1: base.l1 }, bounds };
                let rule = |penalty| Scheduled { penalty, schedule, half_step };
                let penalty = Weighted { base, factors };
                let bias = free::<F, _>(&penalty);
                composer.rule(rule(penalty), rule(bias))
            }
        }
    }

    /// Composes the rule with AdaGrad's steps.
    pub(super) fn adaptive<F: Float, C: Composer<F>>(
        self,
        metric: AdaGrad,
        composer: C,
    ) -> C::Output {
        if let Self::Elastic(ElasticNet { l1, l2: 0.0 }) = self {
            let rule = |l1| Adaptive { penalty: L1 { l1 }, metric };
            return composer.rule(rule(l1), rule(0.0));
        }
        with_penalty!(self, penalty => {
            let bias = Adaptive { penalty: free::<F, _>(&penalty), metric };
            composer.rule(Adaptive { penalty, metric }, bias)
        })
    }
}

impl Penalized {
    pub(super) fn check(&self) -> Result<(), BuildError> {
        self.interval.check(self.penalty == PenaltyName::Box)
    }

    pub(super) fn chosen(&self, found: &Found) -> Chosen {
        let factors = factors(self.penalty_factor.as_deref(), found);
        Chosen::new(self.penalty, self.l1, self.l2, &self.interval, factors)
    }

    pub(super) fn objective(&self) -> Objective {
        objective(self.penalty, self.l1, self.l2, &self.interval)
    }

    /// A leader with AdaGrad's metric; the elastic net can share a learner with others of its kind.
    pub(super) fn adagrad_leader<F: Float, C: Composer<F>>(
        &self,
        metric: AdaGrad,
        accrual: Accrual,
        center: impl Center<AdaGrad>,
        found: &Found,
        composer: C,
    ) -> C::Output {
        match self.chosen(found) {
            Chosen::Elastic(ElasticNet { l1, l2 }) => {
                let AdaGrad { rate, delta } = metric;
                let lane = Lane { l1, l2, rate, delta };
                composer.adagrad_leader(lane, accrual, center)
            }
            bounded @ Chosen::Bounded(_) => {
                bounded.leader(accrual, center, [metric, metric], composer)
            }
        }
    }

    /// FTRL-Proximal whose past fades.
    pub(super) fn fading_leader<F: Float, C: Composer<F>>(
        &self,
        metric: AdaGrad,
        half_life: HalfLife,
        found: &Found,
        composer: C,
    ) -> C::Output {
        match self.chosen(found) {
            Chosen::Elastic(ElasticNet { l1, l2 }) => {
                let AdaGrad { rate, delta } = metric;
                composer.fading_leader(Lane { l1, l2, rate, delta }, half_life)
            }
            Chosen::Bounded(penalty) => {
                let bias = Fading { penalty: free::<F, _>(&penalty), metric, half_life };
                composer.rule(Fading { penalty, metric, half_life }, bias)
            }
        }
    }
}

/// The best weights in hindsight obey the same bounds.
pub(super) fn objective(name: PenaltyName, l1: f64, l2: f64, interval: &Interval) -> Objective {
    let set = match name {
        PenaltyName::Elastic => FeasibleSet::Everything,
        PenaltyName::Nonnegative => FeasibleSet::Box { lower: 0.0, upper: f64::INFINITY },
        PenaltyName::Box => {
            let (lower, upper) = interval.ends();
            FeasibleSet::Box { lower, upper }
        }
    };
    Objective { set, ..Objective::penalized(l1, l2) }
}

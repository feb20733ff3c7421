//! Recipes of algorithms and the composers that read them.
//!
//! A [`Recipe`] is a set of settings with a card and a composition. It tells a [`Composer`] which rule, method or
//! kernel expansion it is; what that becomes (a learner, a filter, one of several lanes, an answer about its
//! nature) is up to the composer. So no property of an algorithm is listed twice.

use std::any::Any;
use std::fmt::Debug;

use parsimon_core::filter::{Filter, Method};
use parsimon_core::kernel::{Kernel, Tuning};
use parsimon_core::margin::MarginMethod;
use parsimon_core::metric::AdaGrad;
use parsimon_core::penalty::ElasticNet;
use parsimon_core::rule::fading::Fading;
use parsimon_core::rule::leader::{Accrual, Center, Leader};
use parsimon_core::rule::nag::Nag;
use parsimon_core::rule::{Implicit, Rule};
use parsimon_core::{Float, HalfLife, Lane, Loss, Online, Precision, Schedule};

use super::groups::Losses;
use super::lanes::{LaneComposer, LaneGroup};
use super::learner::LearnerComposer;
use super::nature::{Nature, NatureComposer, SavedComposer};
use super::objective::{Bound, Met, Objective};
use super::room::RoomComposer;
use super::setting::Configuration;
use crate::error::BuildError;
use crate::found::Found;
use crate::options::LearnerOptions;

/// The row of an algorithm in the table of algorithms.
#[derive(Clone, Copy, Debug)]
pub struct Card {
    /// The name in specs, flags and files.
    pub name: &'static str,
    /// The paper.
    pub paper: &'static str,
    /// (A) The form in which a loss enters.
    pub losses: &'static str,
    /// (B) The accumulation of the penalty.
    pub penalties: &'static str,
    /// (C) The center of the quadratic, and its metric.
    pub center: &'static str,
    /// Cost per row.
    pub cost: &'static str,
}

/// The settings of penalties. If one of them is set, the default penalty of the algorithm does not apply.
pub const PENALTIES: [&str; 4] = ["l1", "l2", "penalty", "ball"];

/// An algorithm: settings, a card, a composition.
pub trait Recipe: Configuration {
    /// Entries of the table of algorithms.
    const CARD: Card;
    /// The sweeps of `tune` when none are given; empty where no scale is usual.
    const GRID: &'static [&'static str] = &[];
    /// The grid on normalized rows, where one grid suits any data.
    const NORMALIZED_GRID: &'static [&'static str] = Self::GRID;
    /// The paper's names of its settings, beside those that mean the same for every algorithm.
    const ALIASES: &'static [(&'static str, &'static str)] = &[];
    /// The l1 in force when no penalty is set (see [`PENALTIES`]), chosen on normalized tables (record/methods.md);
    /// 0 for methods without l1.
    const L1: f64 = 0.0;
    /// The rate of a filter of signals when none is set, where it is not that of tables: the noise of a label asks for smaller
    /// steps than that of a microphone.
    const SIGNAL_RATE: Option<f64> = None;
    /// The loss of several classes if none is set, where it is not the usual one.
    const LOSS_OF_CLASSES: Option<Loss> = None;
    /// Whether its steps are gradients at a rate that suits rows near length 1: with longer rows a smaller rate is needed.
    const FALLS_WITH_ENERGY: bool = false;
    /// Whether its rows are always normalized.
    const NORMALIZES: bool = false;
    /// Settings of the loss.
    type Losses: Losses;

    /// Refuses invalid combinations of settings.
    fn check(&self, _loss: &Self::Losses) -> Result<(), BuildError> {
        Ok(())
    }
    /// The number of features, if it is declared.
    fn dimension(&self) -> Option<u32> {
        None
    }
    /// Refuses more features than fit in memory.
    fn check_size(&self, _features: u64) -> Result<(), BuildError> {
        Ok(())
    }
    /// Returns the reason why the number of features is needed, if it is.
    fn needs_dimension(&self) -> Option<&'static str> {
        None
    }
    /// Whether the number of rows must be found, for the switch of a schedule.
    fn needs_rows(&self) -> bool {
        false
    }
    /// Fading of old rows, if any: the statistics of rows and labels fade alike.
    fn half_life(&self) -> Option<HalfLife> {
        None
    }
    /// Describes its composition to a composer.
    fn compose<F: Float, C: Composer<F>>(&self, found: &Found, composer: C) -> C::Output;
    /// Describes the method that filters a signal sample by sample, if any.
    fn filter<F: Float, C: FilterComposer<F>>(&self, _composer: C) -> Option<C::Output> {
        None
    }
    /// Comparison of the regret; `None` if it is not computed.
    fn objective(&self) -> Option<Objective> {
        Some(Objective::default())
    }
    /// The bound that its analysis gives for the regret, where it does.
    fn regret_bound(&self, _met: &Met) -> Option<Bound> {
        None
    }
    /// The kernels of a model that is not linear.
    fn kernels(&self) -> Vec<Kernel> {
        Vec::new()
    }
    /// Fills in defaults that depend on other settings.
    fn complete(_values: &mut serde_json::Map<String, serde_json::Value>) {}
}

/// Takes the parts of an algorithm. `features` is the rule of the weights, `bias` that of the bias, which is not penalized.
pub trait Composer<F: Float>: Sized {
    /// Output of the composer.
    type Output;

    /// The loss.
    fn loss(&self) -> Loss;
    /// A rule that takes the tangent of the loss.
    fn rule<R: Rule<F>>(self, features: R, bias: R) -> Self::Output;
    /// A rule that takes the loss itself.
    fn exact<R: Implicit<F>>(self, features: R, bias: R) -> Self::Output;
    /// A rule that projects on what a row allows; `delta` is added to the normalizer.
    fn projecting<R: Rule<F>>(self, features: R, bias: R, delta: f64) -> Self::Output;
    /// A rule whose steps follow from the margin of a row and its variance.
    fn by_margin<R: Rule<F>>(self, features: R, bias: R, method: MarginMethod) -> Self::Output;
    /// Steps that depend on the norm of the whole row.
    fn normalizing(self, features: Nag, bias: Nag) -> Self::Output;
    /// A rule that visits all coordinates in every round.
    fn visiting_all<R: Rule<F>>(self, features: R, bias: R) -> Self::Output;
    /// A rule that visits all coordinates in every round and takes the loss itself.
    fn visiting_all_exact<R: Implicit<F>>(self, features: R, bias: R) -> Self::Output;
    /// Gradient steps in the plane of the mean row.
    fn constrained(self, schedule: Schedule) -> Self::Output;
    /// A method over dense vectors, by number of weights and number of features among them.
    fn method<M: Method<F>>(self, dimension: u32, new: impl Fn(usize, usize) -> M) -> Self::Output;
    /// A kernel expansion.
    fn kernel(self, tuning: Tuning, kernels: Vec<Kernel>) -> Self::Output;

    /// A leader with AdaGrad's metric, which can share a learner with others of its kind.
    fn adagrad_leader<C: Center<AdaGrad>>(
        self,
        lane: Lane,
        accrual: Accrual,
        center: C,
    ) -> Self::Output {
        let rule = leader(lane, accrual, center);
        self.rule(rule, leader(lane.free(), accrual, center))
    }

    /// FTRL-Proximal whose past fades, which can share a learner with others of the same half-life.
    fn fading_leader(self, lane: Lane, half_life: HalfLife) -> Self::Output {
        self.rule(fading(lane, half_life), fading(lane.free(), half_life))
    }

    /// Settings that race, each a leader with AdaGrad's metric. By default the one that leads at first, alone.
    fn race<C: Center<AdaGrad>>(self, racers: Racers, accrual: Accrual, center: C) -> Self::Output {
        racers.first(self, accrual, center)
    }

    /// A rule that takes the loss itself or its tangent.
    fn rule_or_exact<R: Implicit<F>>(self, features: R, bias: R, is_exact: bool) -> Self::Output {
        if is_exact { self.exact(features, bias) } else { self.rule(features, bias) }
    }
}

/// Settings that race.
#[derive(Clone, Debug)]
pub struct Racers {
    /// The settings, each with its loss.
    pub lanes: Vec<(Lane, Loss)>,
    /// All settings in the order in which they are wanted where not all fit, as for thousands of classes.
    pub wanted: Vec<usize>,
    /// Whether the share of errors decides between them, and not the loss.
    pub by_errors: bool,
    /// Index of the constant.
    pub constant: Option<usize>,
    /// Index of the setting that predicts at first.
    pub leader: usize,
    /// Fading of old rows in all settings, if any.
    pub half_life: Option<HalfLife>,
}

impl Racers {
    /// The setting that predicts at first, alone.
    pub(crate) fn first<F: Float, C: Composer<F>>(
        &self,
        composer: C,
        accrual: Accrual,
        center: impl Center<AdaGrad>,
    ) -> C::Output {
        let (lane, _) = self.lanes[self.leader];
        match self.half_life {
            Some(half_life) => composer.fading_leader(lane, half_life),
            None => composer.adagrad_leader(lane, accrual, center),
        }
    }
}

/// The fading leader of a lane.
fn fading(lane: Lane, half_life: HalfLife) -> Fading<ElasticNet> {
    let Lane { l1, l2, rate, delta } = lane;
    Fading { penalty: ElasticNet { l1, l2 }, metric: AdaGrad { rate, delta }, half_life }
}

/// The leader of a lane.
pub(crate) fn leader<C>(lane: Lane, accrual: Accrual, center: C) -> Leader<ElasticNet, C, AdaGrad> {
    let Lane { l1, l2, rate, delta } = lane;
    let metric = AdaGrad { rate, delta };
    Leader { penalty: ElasticNet { l1, l2 }, accrual, center, metric }
}

/// Takes a method and puts it behind a delay line.
pub trait FilterComposer<F: Float>: Sized {
    /// Output of the composer.
    type Output;
    /// The loss.
    fn loss(&self) -> Loss;
    /// A method by number of weights and number of features among them, with `relative`, the share of the usual energy that is
    /// added to its normalizer.
    fn method<M: Method<F>>(self, new: impl Fn(usize, usize, F) -> M) -> Self::Output;
}

/// A recipe behind a pointer: the interface of an algorithm for the rest of the crate.
pub(crate) trait Composed: Debug + Send + Sync {
    fn as_any(&self) -> &dyn Any;
    fn needs_dimension(&self) -> Option<&'static str>;
    fn needs_rows(&self) -> bool;
    fn dimension(&self) -> Option<u32>;
    fn half_life(&self) -> Option<HalfLife>;
    fn check_size(&self, features: u64) -> Result<(), BuildError>;
    fn learner(&self, plan: &LearnerPlan<'_>) -> Box<dyn Online>;
    fn lanes(&self, precision: Precision, loss: Loss) -> Option<LaneGroup>;
    fn nature(&self, loss: Loss) -> Nature;
    fn least_saved(&self, plan: &LearnerPlan<'_>) -> u64;
    fn room(&self, plan: &LearnerPlan<'_>) -> u64;
    fn filter_f32(&self, line: super::filter::DelayLine) -> Option<Box<dyn Filter<f32>>>;
    fn filter_f64(&self, line: super::filter::DelayLine) -> Option<Box<dyn Filter<f64>>>;
    fn objective(&self) -> Option<Objective>;
    fn regret_bound(&self, met: &Met) -> Option<Bound>;
    fn kernels(&self) -> Vec<Kernel>;
}

/// Options of a learner besides the settings of the algorithm.
#[derive(Clone, Copy)]
pub(crate) struct LearnerPlan<'a> {
    pub(crate) loss: Loss,
    /// The number of classes; one for a single set of weights.
    pub(crate) heads: Option<usize>,
    pub(crate) found: &'a Found,
    pub(crate) options: LearnerOptions,
}

impl<T: Recipe> Composed for T {
    fn as_any(&self) -> &dyn Any {
        self
    }
    fn needs_dimension(&self) -> Option<&'static str> {
        Recipe::needs_dimension(self)
    }
    fn needs_rows(&self) -> bool {
        Recipe::needs_rows(self)
    }
    fn dimension(&self) -> Option<u32> {
        Recipe::dimension(self)
    }
    fn half_life(&self) -> Option<HalfLife> {
        Recipe::half_life(self)
    }
    fn check_size(&self, features: u64) -> Result<(), BuildError> {
        Recipe::check_size(self, features)
    }
    fn learner(&self, plan: &LearnerPlan<'_>) -> Box<dyn Online> {
        match plan.options.precision {
            Precision::F32 => self.compose::<f32, _>(plan.found, LearnerComposer(plan)),
            Precision::F64 => self.compose::<f64, _>(plan.found, LearnerComposer(plan)),
        }
    }
    fn lanes(&self, precision: Precision, loss: Loss) -> Option<LaneGroup> {
        let found = Found::default();
        match precision {
            Precision::F32 => self.compose::<f32, _>(&found, LaneComposer(loss)),
            Precision::F64 => self.compose::<f64, _>(&found, LaneComposer(loss)),
        }
    }
    fn nature(&self, loss: Loss) -> Nature {
        self.compose::<f64, _>(&Found::default(), NatureComposer(loss))
    }
    fn least_saved(&self, plan: &LearnerPlan<'_>) -> u64 {
        let bytes = match plan.options.precision {
            Precision::F32 => self.compose::<f32, _>(plan.found, SavedComposer(plan.loss)),
            Precision::F64 => self.compose::<f64, _>(plan.found, SavedComposer(plan.loss)),
        };
        bytes.saturating_mul(plan.heads.unwrap_or(1) as u64)
    }
    fn room(&self, plan: &LearnerPlan<'_>) -> u64 {
        match plan.options.precision {
            Precision::F32 => self.compose::<f32, _>(plan.found, RoomComposer(plan)),
            Precision::F64 => self.compose::<f64, _>(plan.found, RoomComposer(plan)),
        }
    }
    fn filter_f32(&self, line: super::filter::DelayLine) -> Option<Box<dyn Filter<f32>>> {
        self.filter::<f32, _>(line)
    }
    fn filter_f64(&self, line: super::filter::DelayLine) -> Option<Box<dyn Filter<f64>>> {
        self.filter::<f64, _>(line)
    }
    fn objective(&self) -> Option<Objective> {
        Recipe::objective(self)
    }
    fn regret_bound(&self, met: &Met) -> Option<Bound> {
        Recipe::regret_bound(self, met)
    }
    fn kernels(&self) -> Vec<Kernel> {
        Recipe::kernels(self)
    }
}

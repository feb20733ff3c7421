//! From settings to a learner: the only place where an algorithm's name meets its type.

use std::collections::HashMap;
use std::sync::Arc;

use parsimon_core::kernel::Update;
use parsimon_core::metric::{AdaGrad, Global, Pace};
use parsimon_core::penalty::{ElasticNet, L1};
use parsimon_core::rule::adadelta::AdaDelta;
use parsimon_core::rule::adam::Adam;
use parsimon_core::rule::anchored::Anchored;
use parsimon_core::rule::averaged::Averaged;
use parsimon_core::rule::blockwise::{Blockwise, PenaltySplit};
use parsimon_core::rule::dense::{Ball, BallProjected, Clipped, Dense, HardL1, Read, Simplex};
use parsimon_core::rule::grouped::{Action, Grouped, Members};
use parsimon_core::rule::lazy_sparse::LazySparse;
use parsimon_core::rule::leader::{Accrual, Iterate, Leader, Origin};
use parsimon_core::rule::mirror::{Adaptive, HalfStep, Scheduled};
use parsimon_core::rule::proximal::Proximal;
use parsimon_core::rule::spherical::Spherical;
use parsimon_core::rule::subgradient::Subgradient;
use parsimon_core::rule::truncated::{TruncatedGradient, Truncation};
use parsimon_core::rule::{Implicit, Rule};
use parsimon_core::{
    Constrained, Float, Learner, Loss, OneVsAll, Online, Precision, Schedule, State, Table,
};

use crate::{BuildError, Settings};

mod dense;
mod kernel;
pub(crate) mod lanes;

pub use dense::Regularization;

/// What a learner needs beside its settings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LearnerOptions {
    /// The number type.
    pub precision: Precision,
    /// Whether there is a bias.
    pub bias: bool,
    /// Where coordinates live.
    pub storage: Storage,
}

/// Where coordinates live. It never changes an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// An array of so many slots, for hashed features.
    Slots(
        /// The number of slots.
        u32,
    ),
    /// An array that grows with the largest id, for ids kept as they are.
    Growing,
    /// An index: memory for the features seen, whatever their ids.
    Index,
}

impl Default for LearnerOptions {
    fn default() -> Self {
        Self { precision: Precision::F64, bias: true, storage: Storage::Growing }
    }
}

impl Settings {
    /// The loss.
    pub fn loss(&self) -> Loss {
        match self.word("loss") {
            "squared" if self.algorithm().name.ends_with("adaline") => Loss::Adaline,
            "squared" | "projection" => Loss::Squared,
            "hinge" => Loss::Hinge,
            "squared-hinge" | "halfspace" => Loss::SquaredHinge,
            "huber" => Loss::Huber { delta: self.optional("huber_delta").unwrap_or(1.0) },
            "quantile" => Loss::Quantile { tau: self.optional("quantile").unwrap_or(0.5) },
            "poisson" => Loss::Poisson,
            _ => Loss::Logistic,
        }
    }

    /// A learner at the origin.
    ///
    /// ```
    /// use parsimon::{LearnerOptions, Spec};
    ///
    /// let settings = Spec::new("rda").set("rate", 0.3).set("l1", 0.01).resolve()?;
    /// let learner = settings.build(LearnerOptions::default())?;
    /// assert_eq!(learner.nonzeros(), 0);
    /// # Ok::<(), parsimon::BuildError>(())
    /// ```
    pub fn build(&self, frame: LearnerOptions) -> Result<Box<dyn Online>, BuildError> {
        if self.flag("multiclass") && self.classes().is_none() {
            return Err(BuildError::new("classes", "multiclass needs classes, the list of labels"));
        }
        if self.wants_dimension() {
            let who = match self.word("ball") {
                "simplex-kl" => "ball simplex-kl",
                _ => self.algorithm().name,
            };
            return Err(BuildError::new(
                "dimension",
                format!("{who} needs dimension, the number of features (ids are counted from 1)"),
            ));
        }
        if self.wants_switch() {
            return Err(BuildError::new(
                "switch",
                "the two-phase schedule needs switch, the round m of the change",
            ));
        }
        self.check_memory()?;
        Ok(match frame.precision {
            Precision::F32 => Builder { settings: self, frame }.rule::<f32>(),
            Precision::F64 => Builder { settings: self, frame }.rule::<f64>(),
        })
    }

    fn schedule(&self) -> Schedule {
        let rate = self.number("rate");
        match self.word("schedule") {
            "constant" => Schedule::Constant { rate },
            "inverse" => Schedule::Inverse { rate },
            "two-phase" => Schedule::TwoPhase { rate, switch: self.number("switch") },
            _ => Schedule::Sqrt { rate },
        }
    }

    fn half_step(&self) -> HalfStep {
        if self.word("half_step") == "next" { HalfStep::Next } else { HalfStep::Same }
    }
}

struct Builder<'a> {
    settings: &'a Settings,
    frame: LearnerOptions,
}

impl Builder<'_> {
    fn rule<F: Float>(&self) -> Box<dyn Online> {
        let s = self.settings;
        let (rate, l1, l2) = (s.number("rate"), s.number("l1"), s.number("l2"));
        let schedule = s.schedule();
        match s.algorithm().name {
            "sgd" => self.sgd::<F>(Read::Iterate),
            "asgd" => self.sgd::<F>(Read::Mean),
            "subgradient-l1" => {
                let rule = |l1| Subgradient { schedule, l1 };
                self.learner::<F, _>(rule(l1), rule(0.0))
            }
            "truncation" => {
                let rule = |theta| Truncation { schedule, period: s.natural("period"), theta };
                // A weight of magnitude 0 is cut to 0: no truncation at all.
                self.learner::<F, _>(rule(s.number("theta")), rule(0.0))
            }
            "truncated-gradient" => {
                let (period, theta) = (s.natural("period"), s.number("theta"));
                let rule = |l1| TruncatedGradient { schedule, period, theta, l1 };
                self.learner::<F, _>(rule(l1), rule(0.0))
            }
            "fobos" => self.fobos::<F>(1),
            "lazy-fobos" if s.word("penalty") != "l1" => self.fobos::<F>(s.natural("period")),
            "lazy-fobos" => self.blockwise::<F>(PenaltySplit::Loss),
            "lazy-splitting" => self.blockwise::<F>(PenaltySplit::Active),
            "lazy-sparse" => {
                let period = s.get("period").and_then(serde_json::Value::as_u64);
                let rule = |l1| LazySparse { schedule, period, l1 };
                self.learner::<F, _>(rule(l1), rule(0.0))
            }
            "rda" => self.rda::<F>(),
            "generalized-rda" => {
                let (a, b) = (s.number("a"), s.number("b"));
                let metric = Global(Pace::Power { rate, b });
                let rule = |l1| Leader {
                    penalty: ElasticNet { l1, l2: 0.0 },
                    accrual: Accrual::Power(a + b),
                    center: Origin,
                    metric,
                };
                self.learner::<F, _>(rule(l1), rule(0.0))
            }
            "dual-averaging" => self.dual_averaging::<F>(),
            "adagrad-rda" => {
                let metric = AdaGrad { rate, delta: s.number("delta") };
                let rule = |l1, l2| Leader {
                    penalty: ElasticNet { l1, l2 },
                    accrual: Accrual::EveryRound,
                    center: Origin,
                    metric,
                };
                self.learner::<F, _>(rule(l1, l2), rule(0.0, 0.0))
            }
            "adagrad-fobos" => self.adaptive::<F>(s.number("delta")),
            "ftrl" => {
                let metric = AdaGrad { rate, delta: s.number("beta") };
                let rule = |l1, l2| Leader {
                    penalty: ElasticNet { l1, l2 },
                    accrual: Accrual::Once,
                    center: Iterate,
                    metric,
                };
                self.learner::<F, _>(rule(l1, l2), rule(0.0, 0.0))
            }
            "comid" | "ftprl" | "aogd" | "unified-rda" => self.unified::<F>(),
            "adam" => {
                let rule = Adam {
                    rate,
                    beta1: s.number("beta1"),
                    beta2: s.number("beta2"),
                    epsilon: s.number("epsilon"),
                };
                self.learner::<F, _>(rule, rule)
            }
            "adadelta" => {
                let rule = AdaDelta { rate, rho: s.number("rho"), epsilon: s.number("epsilon") };
                self.learner::<F, _>(rule, rule)
            }
            _ if s.is_dense() => self.over_rows::<F>(),
            "csgd" | "ncsgd" => self.constrained::<F>(schedule),
            "c-adaline" => self.constrained::<F>(Schedule::Sqrt { rate }),
            "adaline" | "lms" => {
                let (penalty, schedule) = (L1 { l1: 0.0 }, Schedule::Constant { rate });
                let rule = Scheduled { penalty, schedule, half_step: HalfStep::Same };
                self.learner::<F, _>(rule, rule)
            }
            "nlms" | "apa" | "apfbs" => {
                let schedule = Schedule::Constant { rate };
                let rule =
                    |l1| Scheduled { penalty: L1 { l1 }, schedule, half_step: HalfStep::Same };
                self.projecting::<F, _>(rule(l1), rule(0.0))
            }
            "pda" => {
                let rule = |l1| Leader {
                    penalty: ElasticNet { l1, l2: 0.0 },
                    accrual: Accrual::Once,
                    center: Origin,
                    metric: Global(Pace::Constant { q: 1.0 / rate }),
                };
                self.projecting::<F, _>(rule(l1), rule(0.0))
            }
            "ftl" => {
                let rule = Spherical::FollowTheLeader { radius: s.number("radius") };
                self.learner::<F, _>(rule, rule)
            }
            "multikernel-pda" => self.multikernel::<F>(Update::DualAveraging),
            "multikernel-apfbs" => self.multikernel::<F>(Update::ForwardBackward),
            name => unreachable!("the registry lists {name}, which nobody builds"),
        }
    }

    fn sgd<F: Float>(&self, read: Read) -> Box<dyn Online> {
        let s = self.settings;
        let (schedule, radius) = (s.schedule(), s.number("radius"));
        match (s.word("ball"), read) {
            ("none", Read::Iterate) => {
                let penalty = L1 { l1: 0.0 };
                let rule = Scheduled { penalty, schedule, half_step: HalfStep::Same };
                self.implicit::<F, _>(rule, rule)
            }
            ("none", Read::Mean) => {
                let rule = Averaged { schedule };
                self.implicit::<F, _>(rule, rule)
            }
            ("l2", Read::Iterate) if !s.flag("implicit") => {
                let action = Action::Ball { radius };
                let rule = |members| Grouped { schedule, members, action };
                self.learner::<F, _>(rule(Members::All), rule(Members::Nobody))
            }
            (ball, read) => {
                let ball = if ball == "l1" { Ball::L1(radius) } else { Ball::L2(radius) };
                let rule = |ball| BallProjected { schedule, ball, read };
                self.dense().implicit::<F, _>(rule(ball), rule(Ball::Everything))
            }
        }
    }

    fn fobos<F: Float>(&self, period: u64) -> Box<dyn Online> {
        let s = self.settings;
        let (l1, l2) = (s.number("l1"), s.number("l2"));
        let (schedule, half_step) = (s.schedule(), s.half_step());
        match s.word("penalty") {
            "elastic" if l2 == 0.0 => {
                let rule = |l1| Scheduled { penalty: L1 { l1 }, schedule, half_step };
                self.learner::<F, _>(rule(l1), rule(0.0))
            }
            "elastic" => {
                let rule =
                    |l1, l2| Scheduled { penalty: ElasticNet { l1, l2 }, schedule, half_step };
                self.learner::<F, _>(rule(l1, l2), rule(0.0, 0.0))
            }
            "linf" => {
                let rule = |l1| Clipped { schedule, l1, period, half_step };
                self.dense().learner::<F, _>(rule(l1), rule(0.0))
            }
            penalty => {
                let members = if penalty == "group" { self.groups() } else { Members::All };
                let action = Action::Shrink { l1, period, half_step };
                let rule = |members| Grouped { schedule, members, action };
                self.learner::<F, _>(rule(members), rule(Members::Nobody))
            }
        }
    }

    fn groups(&self) -> Members {
        let groups = self.settings.get("groups").and_then(|v| v.as_array());
        let mut members = HashMap::new();
        for (group, ids) in (0u32..).zip(groups.into_iter().flatten()) {
            let ids = ids.as_array().into_iter().flatten().filter_map(serde_json::Value::as_u64);
            members.extend(ids.map(|id| (id as u32, group)));
        }
        Members::Listed(Arc::new(members))
    }

    fn blockwise<F: Float>(&self, split: PenaltySplit) -> Box<dyn Online> {
        let s = self.settings;
        let (schedule, period) = (s.schedule(), s.natural("period"));
        let rule = |l1| Blockwise { schedule, period, l1, split };
        self.learner::<F, _>(rule(s.number("l1")), rule(0.0))
    }

    fn rda<F: Float>(&self) -> Box<dyn Online> {
        let s = self.settings;
        let (rate, l1, l2) = (s.number("rate"), s.number("l1"), s.number("l2"));
        let beta = match s.word("beta") {
            "zero" => Pace::Constant { q: 0.0 },
            "constant" => Pace::Constant { q: l2 },
            "log" => Pace::Log { sigma: l2 },
            _ => Pace::Sqrt { rate },
        };
        // Without a penalty the bias is not strongly convex: it takes the square-root sequence.
        let bias_beta = Pace::Sqrt { rate };
        let (accrual, metric) = match s.word("prox") {
            "psi" => (Accrual::WithItself { beta, sigma: l2 }, Pace::Constant { q: 0.0 }),
            _ => (Accrual::EveryRound, beta),
        };
        let rule = |l1, l2, metric| Leader {
            penalty: ElasticNet { l1, l2 },
            accrual,
            center: Origin,
            metric: Global(metric),
        };
        self.learner::<F, _>(rule(l1, l2, metric), rule(0.0, 0.0, bias_beta))
    }

    fn dual_averaging<F: Float>(&self) -> Box<dyn Online> {
        let s = self.settings;
        let (rate, radius) = (s.number("rate"), s.number("radius"));
        match s.word("ball") {
            "l1" => {
                let features = Dense::Features(HardL1 { rate, radius });
                self.dense().learner::<F, _>(features, Dense::Bias { rate })
            }
            "simplex-kl" => {
                let dimension = s.natural("dimension") as u32;
                let features = Dense::Features(Simplex { rate, radius, dimension });
                self.dense().learner::<F, _>(features, Dense::Bias { rate })
            }
            _ => {
                let rule = |radius| Spherical::DualAveraging { rate, radius };
                self.learner::<F, _>(rule(radius), rule(f64::INFINITY))
            }
        }
    }

    fn adaptive<F: Float>(&self, delta: f64) -> Box<dyn Online> {
        let s = self.settings;
        let (l1, l2) = (s.number("l1"), s.number("l2"));
        let metric = AdaGrad { rate: s.number("rate"), delta };
        if l2 == 0.0 {
            let rule = |l1| Adaptive { penalty: L1 { l1 }, metric };
            self.implicit::<F, _>(rule(l1), rule(0.0))
        } else {
            let rule = |l1, l2| Adaptive { penalty: ElasticNet { l1, l2 }, metric };
            self.implicit::<F, _>(rule(l1, l2), rule(0.0, 0.0))
        }
    }

    fn unified<F: Float>(&self) -> Box<dyn Online> {
        let s = self.settings;
        let (rate, l1) = (s.number("rate"), s.number("l1"));
        let adagrad = AdaGrad { rate, delta: s.number("beta") };
        let sqrt = Global(Pace::Sqrt { rate });
        let penalty = |l1| ElasticNet { l1, l2: 0.0 };
        let accrual = Accrual::EveryRound;
        match (s.algorithm().name, s.word("metric")) {
            ("comid", "sqrt") => {
                let (schedule, half_step) = (Schedule::Sqrt { rate }, HalfStep::Same);
                let rule = |l1| Scheduled { penalty: L1 { l1 }, schedule, half_step };
                self.implicit::<F, _>(rule(l1), rule(0.0))
            }
            ("comid", _) => self.adaptive::<F>(s.number("beta")),
            ("ftprl", "sqrt") => {
                let rule = |l1| Proximal { rate, penalty: L1 { l1 } };
                self.implicit::<F, _>(rule(l1), rule(0.0))
            }
            ("ftprl", _) => {
                let rule =
                    |l1| Leader { penalty: penalty(l1), accrual, center: Iterate, metric: adagrad };
                self.implicit::<F, _>(rule(l1), rule(0.0))
            }
            ("aogd", "sqrt") => {
                let rule = |l1| Anchored { penalty: L1 { l1 }, metric: sqrt };
                self.implicit::<F, _>(rule(l1), rule(0.0))
            }
            ("aogd", _) => {
                let rule = |l1| Anchored { penalty: L1 { l1 }, metric: adagrad };
                self.implicit::<F, _>(rule(l1), rule(0.0))
            }
            (_, "sqrt") => {
                let rule =
                    |l1| Leader { penalty: penalty(l1), accrual, center: Origin, metric: sqrt };
                self.implicit::<F, _>(rule(l1), rule(0.0))
            }
            _ => {
                let rule =
                    |l1| Leader { penalty: penalty(l1), accrual, center: Origin, metric: adagrad };
                self.implicit::<F, _>(rule(l1), rule(0.0))
            }
        }
    }

    /// The same builder for a rule that passes over all coordinates: they are kept in an index, in the order of
    /// first sight, so that a pass costs what was seen and adds up in one order whatever the store.
    fn dense(&self) -> Self {
        Builder {
            settings: self.settings,
            frame: LearnerOptions { storage: Storage::Index, ..self.frame },
        }
    }

    fn table<C: State + Copy>(&self) -> Table<C> {
        match self.frame.storage {
            Storage::Slots(slots) => Table::dense(slots),
            Storage::Growing => Table::growing(),
            Storage::Index => Table::index(),
        }
    }

    /// How many sets of weights there are.
    fn heads(&self) -> usize {
        match self.settings.classes() {
            Some(classes) if self.settings.flag("multiclass") => classes.len(),
            _ => 1,
        }
    }

    fn constrained<F: Float>(&self, schedule: Schedule) -> Box<dyn Online> {
        let (loss, bias) = (self.settings.loss(), self.frame.bias);
        Box::new(Constrained::<F>::new(schedule, loss, self.heads(), bias, self.table()))
    }

    fn projecting<F: Float, R: Rule<F>>(&self, rule: R, bias: R) -> Box<dyn Online> {
        let delta = self.settings.number("delta");
        self.assemble(rule, bias, |rule, bias, loss, table| {
            Learner::<F, R>::projecting(rule, bias, loss, table, delta)
        })
    }

    fn learner<F: Float, R: Rule<F>>(&self, rule: R, bias: R) -> Box<dyn Online> {
        self.assemble(rule, bias, Learner::<F, R>::new)
    }

    fn implicit<F: Float, R: Implicit<F>>(&self, rule: R, bias: R) -> Box<dyn Online> {
        if self.settings.flag("implicit") {
            self.assemble(rule, bias, Learner::<F, R>::implicit)
        } else {
            self.learner::<F, R>(rule, bias)
        }
    }

    fn assemble<F: Float, R: Rule<F>>(
        &self,
        rule: R,
        bias: R,
        new: impl Fn(R, Option<R>, Loss, Table<R::Coord>) -> Learner<F, R>,
    ) -> Box<dyn Online> {
        let loss = self.settings.loss();
        let bias = self.frame.bias.then_some(bias);
        let one = || new(rule.clone(), bias.clone(), loss, self.table());
        match self.settings.classes() {
            Some(classes) if self.settings.flag("multiclass") => {
                let learners = classes.iter().map(|_| one()).collect();
                Box::new(OneVsAll::new(learners, loss.other_label()))
            }
            _ => Box::new(one()),
        }
    }
}

//! Forward-backward splitting: a gradient step, then a proximal step.

use std::collections::HashMap;
use std::sync::Arc;

use parsimon_core::rule::dense::Clipped;
use parsimon_core::rule::grouped::{Action, Grouped, Members};
use parsimon_core::rule::mirror::HalfStep as CoreHalfStep;
use parsimon_core::{Float, Schedule};

use super::groups::{AnyLoss, HalfStep, Steps};
use super::objective::Objective;
use super::penalized::{Chosen, Interval, PENALTY_FACTOR, PenaltyName, factors, objective};
use super::recipe::{Card, Composer, Recipe};
use super::setting::{FeatureFactors, Groups, NonNegative, choice, settings};
use crate::error::BuildError;
use crate::found::Found;

choice! {
    /// The penalty of a proximal step.
    pub enum FobosPenalty {
        /// `l1 |w| + l2/2 w^2`
        Elastic = "elastic",
        /// The elastic net, with weights >= 0.
        Nonnegative = "nonnegative",
        /// The elastic net, with weights between `lower` and `upper`.
        Box = "box",
        /// The l2 norm of all weights.
        L2Norm = "l2-norm",
        /// The largest magnitude.
        Linf = "linf",
        /// The sum of the l2 norms of groups.
        Group = "group",
    }
}

settings! {
    /// FOBOS (Duchi and Singer 2009), with exact lazy updates.
    ///
    /// The adaptive lasso (Zou 2006): the weights of a first fit give every feature a factor on its penalty, so that a second fit shrinks
    /// large weights less and holds small ones at zero.
    ///
    /// ```
    /// use parsimon::algorithm::typed::{AnyLoss, Fobos, LossName, Method};
    /// use parsimon::rows::{Chunk, Repeats};
    /// use parsimon::{InputSchema, LearnerOptions, Trainer};
    ///
    /// let (mut chunk, mut state) = (Chunk::new(), 1u32);
    /// for _ in 0..2000 {
    ///     // Ten features of which the first two decide.
    ///     let x: Vec<f64> = (0..10)
    ///         .map(|_| {
    ///             state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
    ///             f64::from(state >> 8) / f64::from(1u32 << 23) - 1.0
    ///         })
    ///         .collect();
    ///     (1..).zip(&x).for_each(|(j, x)| chunk.push_feature(j, *x));
    ///     chunk.finish_row(Some(2.0 * x[0] - 1.5 * x[1]), 1.0, Repeats::Refuse).unwrap();
    /// }
    /// let fit = |penalty_factor| {
    ///     let fobos = Fobos { l1: 0.1, penalty_factor, ..Fobos::default() };
    ///     let loss = Some(AnyLoss { loss: LossName::Squared, ..AnyLoss::default() });
    ///     let method = Method { loss, ..Method::from(fobos) };
    ///     let mut trainer = Trainer::new(method, LearnerOptions::default(), InputSchema::default())?;
    ///     trainer.learn(&chunk, &mut |_| {})?;
    ///     let model = trainer.model();
    ///     Ok::<_, parsimon::Error>((1..=10).map(|j| model.heads()[0].weight(j)).collect::<Vec<_>>())
    /// };
    /// let first = fit(None)?;
    /// let factor = |w: &f64| 1.0 / w.abs().max(1e-3);
    /// let factors = (1..).zip(&first).map(|(j, w): (u32, _)| (j.to_string(), factor(w)));
    /// let second = fit(Some(factors.collect()))?;
    /// assert!(second[2..].iter().all(|w| *w == 0.0));
    /// let error = |w: &[f64]| (w[0] - 2.0).abs() + (w[1] + 1.5).abs();
    /// assert!(error(&second) < error(&first));
    /// # Ok::<(), parsimon::Error>(())
    /// ```
    pub struct Fobos {
        ..steps: Steps;
        l1: NonNegative = 0.0, "strength of the l1 penalty |w|";
        l2: NonNegative = 0.0, "strength of the l2 penalty w^2/2";
        half_step: HalfStep = "same", "eta of the proximal half: eta_t or eta_{t+1}";
        penalty: FobosPenalty = "elastic", "the penalty; the norms' strength is l1";
        groups: Option<Groups>, "the groups of the group penalty, lists of feature ids";
        ..interval: Interval;
        penalty_factor: Option<FeatureFactors>, "factor on the penalty of single features, by name, such as age=0,city=Rome=2; 0 is no penalty, 1 if not set";
    }
}

/// The norms' proximal steps, every `period` rounds.
pub(super) enum Norm {
    L2(Members),
    Linf,
}

/// Gradient steps and the proximal steps of a norm.
pub(super) fn compose_norm<F: Float, C: Composer<F>>(
    norm: Norm,
    schedule: Schedule,
    l1: f64,
    period: u64,
    half_step: CoreHalfStep,
    composer: C,
) -> C::Output {
    match norm {
        Norm::L2(members) => {
            let action = Action::Shrink { l1, period, half_step };
            let rule = |members| Grouped { schedule, members, action };
            composer.rule(rule(members), rule(Members::Nobody))
        }
        Norm::Linf => {
            let rule = |l1| Clipped { schedule, l1, period, half_step };
            composer.visiting_all(rule(l1), rule(0.0))
        }
    }
}

impl Fobos {
    /// The penalty, if it acts on one weight at a time.
    fn separable(&self) -> Option<PenaltyName> {
        match self.penalty {
            FobosPenalty::Elastic => Some(PenaltyName::Elastic),
            FobosPenalty::Nonnegative => Some(PenaltyName::Nonnegative),
            FobosPenalty::Box => Some(PenaltyName::Box),
            FobosPenalty::L2Norm | FobosPenalty::Linf | FobosPenalty::Group => None,
        }
    }

    fn members(&self) -> Members {
        let mut members = HashMap::new();
        for (group, ids) in (0u32..).zip(self.groups.iter().flatten()) {
            members.extend(ids.iter().map(|id| (*id, group)));
        }
        Members::Listed(Arc::new(members))
    }
}

impl Recipe for Fobos {
    const CARD: Card = Card {
        name: "fobos",
        paper: "Duchi and Singer 2009; caught up exactly",
        losses: "tangent",
        penalties: "linearized: elastic net, bounds, l2 norm, linf, groups",
        center: "iterate, schedule",
        cost: "O(nnz); linf O(features)",
    };
    const FALLS_WITH_ENERGY: bool = true;
    const GRID: &'static [&'static str] = &["l1=1e-7..1e-4:4", "rate=0.05..5:4"];
    const L1: f64 = 1e-4;
    type Losses = AnyLoss;

    fn check(&self, _: &AnyLoss) -> Result<(), BuildError> {
        let fail = |name: &str, message: &str| Err(BuildError::new(name, message));
        if self.penalty == FobosPenalty::Group && self.groups.is_none() {
            return fail("groups", "the group penalty needs groups, lists of feature ids");
        }
        let mut ids: Vec<u32> = self.groups.iter().flatten().flatten().copied().collect();
        let len = ids.len();
        ids.sort_unstable();
        ids.dedup();
        if ids.len() < len {
            return fail("groups", "a feature id may be in one group only");
        }
        if self.l2 > 0.0 && self.separable().is_none() {
            return fail("l2", "l2 goes with the elastic penalty; the norms' strength is l1");
        }
        if self.penalty_factor.is_some() && (self.l2 > 0.0 || self.separable().is_none()) {
            return fail(
                PENALTY_FACTOR,
                "penalty_factor goes with l1 alone here: missed steps of several factors have no common total with l2 or with a norm; \
                 use ftrl, rda, adagrad-rda or adagrad-fobos",
            );
        }
        self.interval.check(self.penalty == FobosPenalty::Box)
    }
    fn needs_rows(&self) -> bool {
        self.steps.needs_rows()
    }
    fn objective(&self) -> Option<Objective> {
        let name = self.separable()?;
        Some(objective(name, self.l1, self.l2, &self.interval))
    }
    fn compose<F: Float, C: Composer<F>>(&self, found: &Found, composer: C) -> C::Output {
        let (schedule, half_step) = (self.steps.schedule(found), self.half_step.into());
        if let Some(name) = self.separable() {
            let chosen = Chosen::new(
                name,
                self.l1,
                self.l2,
                &self.interval,
                factors(self.penalty_factor.as_deref(), found),
            );
            return chosen.scheduled(schedule, half_step, composer);
        }
        let norm = match self.penalty {
            FobosPenalty::Linf => Norm::Linf,
            FobosPenalty::Group => Norm::L2(self.members()),
            _ => Norm::L2(Members::All),
        };
        compose_norm(norm, schedule, self.l1, 1, half_step, composer)
    }
}

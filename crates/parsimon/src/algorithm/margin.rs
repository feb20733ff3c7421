//! Margin methods: passive-aggressive learning, AROW and soft confidence-weighted learning.

use parsimon_core::margin::{MarginMethod, Slack};
use parsimon_core::penalty::L1;
use parsimon_core::rule::gaussian::Gaussian;
use parsimon_core::rule::mirror::{HalfStep, Scheduled};
use parsimon_core::{Float, Schedule};

use super::groups::HingeLoss;
use super::recipe::{Card, Composer, Recipe};
use super::setting::{Positive, choice, settings};
use crate::found::Found;

choice! {
    /// Cost of a row that misses its margin.
    pub enum SlackName {
        /// Every row is met.
        None = "none",
        /// A linear cost, which bounds the step.
        Linear = "linear",
        /// A quadratic cost, which shortens the step.
        Squared = "squared",
    }
}

settings! {
    /// Form and factor of the cost of a row that misses its margin.
    pub struct Softness {
        slack: SlackName = "linear", "how a missed margin is paid: not at all (none: every row is met), linear (PA-I, SCW-I), or squared (PA-II, SCW-II)";
        aggressiveness: Positive = 1.0, "cost of a missed margin (C; not with slack none)";
    }
}

impl Softness {
    fn slack(&self) -> Slack {
        match self.slack {
            SlackName::None => Slack::None,
            SlackName::Linear => Slack::Linear(self.aggressiveness),
            SlackName::Squared => Slack::Squared(self.aggressiveness),
        }
    }
}

settings! {
    /// Passive-aggressive learning (Crammer et al. 2006).
    pub struct Pa {
        ..softness: Softness;
    }
}

settings! {
    /// AROW with a diagonal covariance (Crammer, Kulesza and Dredze 2009).
    pub struct Arow {
        r: Positive = 1.0, "variance of a row; the larger, the shorter the steps and the slower confidence grows";
    }
}

settings! {
    /// Soft confidence-weighted learning with a diagonal covariance (Wang, Zhao and Hoi 2012).
    pub struct Scw {
        phi: Positive = 1.0, "standard deviations of the margin that a row must clear: the normal quantile of the confidence (0.5244 for 70%, 1.2816 for 90%)";
        ..softness: Softness;
    }
}

/// The paper's name of the cost.
const ALIASES: &[(&str, &str)] = &[("C", "aggressiveness")];

impl Recipe for Pa {
    const CARD: Card = Card {
        name: "pa",
        paper: "Crammer et al. 2006",
        losses: "margin",
        penalties: "none",
        center: "iterate",
        cost: "O(nnz)",
    };
    const GRID: &'static [&'static str] = &["aggressiveness=0.001..1:4"];
    const ALIASES: &'static [(&'static str, &'static str)] = ALIASES;
    type Losses = HingeLoss;

    fn compose<F: Float, C: Composer<F>>(&self, _: &Found, composer: C) -> C::Output {
        // The step is the margin's, so the rate is 1.
        let (penalty, schedule) = (L1 { l1: 0.0 }, Schedule::Constant { rate: 1.0 });
        let rule = Scheduled { penalty, schedule, half_step: HalfStep::Same };
        composer.by_margin(rule, rule, MarginMethod::PassiveAggressive(self.softness.slack()))
    }
}

impl Recipe for Arow {
    const CARD: Card = Card {
        name: "arow",
        paper: "Crammer, Kulesza and Dredze 2009",
        losses: "margin",
        penalties: "none",
        center: "iterate, variances",
        cost: "O(nnz)",
    };
    const GRID: &'static [&'static str] = &["r=0.01..100:5"];
    type Losses = HingeLoss;

    fn compose<F: Float, C: Composer<F>>(&self, _: &Found, composer: C) -> C::Output {
        composer.by_margin(Gaussian, Gaussian, MarginMethod::Arow { r: self.r })
    }
}

impl Recipe for Scw {
    const CARD: Card = Card {
        name: "scw",
        paper: "Wang, Zhao and Hoi 2012",
        losses: "margin",
        penalties: "none",
        center: "iterate, variances",
        cost: "O(nnz)",
    };
    const GRID: &'static [&'static str] = &["aggressiveness=0.01..1:3", "phi=0.5..2:3"];
    const ALIASES: &'static [(&'static str, &'static str)] = ALIASES;
    type Losses = HingeLoss;

    fn compose<F: Float, C: Composer<F>>(&self, _: &Found, composer: C) -> C::Output {
        let method = MarginMethod::Confidence { phi: self.phi, slack: self.softness.slack() };
        composer.by_margin(Gaussian, Gaussian, method)
    }
}

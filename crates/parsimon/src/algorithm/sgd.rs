//! Stochastic gradient descent, and its average.

use parsimon_core::penalty::L1;
use parsimon_core::rule::averaged::Averaged;
use parsimon_core::rule::dense::{Ball, BallProjected, Read};
use parsimon_core::rule::grouped::{Action, Grouped, Members};
use parsimon_core::rule::mirror::{HalfStep, Scheduled};
use parsimon_core::{Float, Schedule};

use super::groups::{AnyLoss, Steps};
use super::objective::{FeasibleSet, Objective};
use super::recipe::{Card, Composer, Recipe};
use super::setting::{Flag, Positive, choice, family, settings};
use crate::error::BuildError;
use crate::found::Found;

choice! {
    /// The ball that weights are projected on.
    pub enum BallName {
        /// No ball.
        None = "none",
        /// The ball of the l1 norm.
        L1 = "l1",
        /// The ball of the l2 norm.
        L2 = "l2",
    }
}

settings! {
    /// Gradient steps, projected on a ball.
    pub struct GradientSteps {
        ..steps: Steps;
        ball: BallName = "none", "project on a ball after each step";
        radius: Positive = 1.0, "radius of the ball";
        implicit: Flag = false, "use the loss instead of its tangent (implicit updates)";
    }
}

family! {
    GradientSteps:
    /// Stochastic gradient descent (Zinkevich 2003).
    Sgd,
    /// SGD with averaged weights (Polyak and Juditsky 1992).
    Asgd,
}

impl GradientSteps {
    fn objective(&self) -> Objective {
        let radius = self.radius;
        Objective::within(match self.ball {
            BallName::None => FeasibleSet::Everything,
            BallName::L1 => FeasibleSet::L1Ball { radius },
            BallName::L2 => FeasibleSet::L2Ball { radius },
        })
    }

    fn in_ball<F: Float, C: Composer<F>>(
        &self,
        schedule: Schedule,
        ball: Ball,
        read: Read,
        composer: C,
    ) -> C::Output {
        let rule = |ball| BallProjected { schedule, ball, read };
        let (features, bias) = (rule(ball), rule(Ball::Everything));
        match self.implicit {
            true => composer.visiting_all_exact(features, bias),
            false => composer.visiting_all(features, bias),
        }
    }
}

impl Recipe for Sgd {
    const CARD: Card = Card {
        name: "sgd",
        paper: "Zinkevich 2003",
        losses: "tangent or exact",
        penalties: "none; l1 or l2 ball",
        center: "iterate, schedule",
        cost: "O(nnz); l1 ball O(features)",
    };
    const FALLS_WITH_ENERGY: bool = true;
    const GRID: &'static [&'static str] = &["rate=0.01..10:16"];
    type Losses = AnyLoss;

    fn check(&self, loss: &AnyLoss) -> Result<(), BuildError> {
        loss.check_exact(self.0.implicit)
    }
    fn needs_rows(&self) -> bool {
        self.0.steps.needs_rows()
    }
    fn objective(&self) -> Option<Objective> {
        Some(self.0.objective())
    }
    fn compose<F: Float, C: Composer<F>>(&self, found: &Found, composer: C) -> C::Output {
        let Self(s) = self;
        let (schedule, radius) = (s.steps.schedule(found), s.radius);
        match s.ball {
            BallName::None => {
                let penalty = L1 { l1: 0.0 };
                let rule = Scheduled { penalty, schedule, half_step: HalfStep::Same };
                composer.rule_or_exact(rule, rule, s.implicit)
            }
            BallName::L2 if !s.implicit => {
                let action = Action::Ball { radius };
                let rule = |members| Grouped { schedule, members, action };
                composer.rule(rule(Members::All), rule(Members::Nobody))
            }
            BallName::L2 => s.in_ball(schedule, Ball::L2(radius), Read::Iterate, composer),
            BallName::L1 => s.in_ball(schedule, Ball::L1(radius), Read::Iterate, composer),
        }
    }
}

impl Recipe for Asgd {
    const CARD: Card = Card {
        name: "asgd",
        paper: "Polyak and Juditsky 1992",
        losses: "tangent or exact",
        penalties: "none; l1 or l2 ball",
        center: "iterate, schedule; the mean is read",
        cost: "O(nnz); with a ball O(features)",
    };
    const FALLS_WITH_ENERGY: bool = true;
    const GRID: &'static [&'static str] = Sgd::GRID;
    type Losses = AnyLoss;

    fn check(&self, loss: &AnyLoss) -> Result<(), BuildError> {
        loss.check_exact(self.0.implicit)
    }
    fn needs_rows(&self) -> bool {
        self.0.steps.needs_rows()
    }
    fn objective(&self) -> Option<Objective> {
        Some(self.0.objective())
    }
    fn compose<F: Float, C: Composer<F>>(&self, found: &Found, composer: C) -> C::Output {
        let Self(s) = self;
        let (schedule, radius) = (s.steps.schedule(found), s.radius);
        match s.ball {
            BallName::None => {
                let rule = Averaged { schedule };
                composer.rule_or_exact(rule, rule, s.implicit)
            }
            BallName::L1 => s.in_ball(schedule, Ball::L1(radius), Read::Mean, composer),
            BallName::L2 => s.in_ball(schedule, Ball::L2(radius), Read::Mean, composer),
        }
    }
}

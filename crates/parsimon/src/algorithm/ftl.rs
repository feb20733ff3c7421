//! Follow the leader, without a stabilizer.

use parsimon_core::Float;
use parsimon_core::rule::spherical::Spherical;

use super::groups::AnyLoss;
use super::objective::{FeasibleSet, Objective};
use super::recipe::{Card, Composer, Recipe};
use super::setting::{Positive, settings};
use crate::found::Found;

settings! {
    /// Follow the leader in the l2 ball. It is for study only, because the weights are not stable.
    pub struct Ftl {
        radius: Positive = 1.0, "radius of the ball";
    }
}

impl Recipe for Ftl {
    const CARD: Card = Card {
        name: "ftl",
        paper: "follow the leader, for study",
        losses: "tangent",
        penalties: "indicator of the l2 ball",
        center: "none",
        cost: "O(nnz)",
    };
    type Losses = AnyLoss;

    fn objective(&self) -> Option<Objective> {
        Some(Objective::within(FeasibleSet::L2Ball { radius: self.radius }))
    }
    fn compose<F: Float, C: Composer<F>>(&self, _: &Found, composer: C) -> C::Output {
        let rule = Spherical::FollowTheLeader { radius: self.radius };
        composer.rule(rule, rule)
    }
}

//! Adaline in the plane of the mean row.

use parsimon_core::{Float, Schedule};

use super::groups::AdalineLoss;
use super::recipe::{Card, Composer, Recipe};
use super::setting::{Positive, settings};
use crate::found::Found;

settings! {
    /// C-Adaline (Mu et al. 2013).
    pub struct CAdaline {
        rate: Positive = 0.0625, "first learning rate (eta_0)";
    }
}

impl Recipe for CAdaline {
    const CARD: Card = Card {
        name: "c-adaline",
        paper: "Mu et al. 2013",
        losses: "tangent, classes as numbers",
        penalties: "none; the plane of the mean row, shared by the classes",
        center: "iterate, sqrt schedule",
        cost: "O(nnz)",
    };
    type Losses = AdalineLoss;

    fn compose<F: Float, C: Composer<F>>(&self, _: &Found, composer: C) -> C::Output {
        composer.constrained(Schedule::Sqrt { rate: self.rate })
    }
}

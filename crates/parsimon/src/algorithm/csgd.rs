//! Gradient steps in the plane of the mean row.

use parsimon_core::Float;

use super::groups::{ScheduleName, SquaredLoss, Steps, power, schedule};
use super::recipe::{Card, Composer, Recipe};
use super::setting::{Positive, Share, settings};
use crate::found::Found;

settings! {
    /// CSGD (Mu et al. 2013), in O(nnz) by two vectors.
    pub struct Csgd {
        rate: Positive = 0.1, "learning rate (eta, or eta_0 of a schedule)";
        schedule: ScheduleName = "two-phase", "how the learning rate decreases";
        switch: Option<Positive>, "round in which the two-phase schedule changes (m); half the rows if not set";
        power: Option<Share>, "exponent of the power schedule (alpha in eta_0/t^alpha; 0.5 if not set)";
    }
}

settings! {
    /// NCSGD (Mu et al. 2013), in O(nnz) by two vectors.
    pub struct Ncsgd {
        ..steps: Steps;
    }
}

impl Recipe for Csgd {
    const CARD: Card = Card {
        name: "csgd",
        paper: "Mu et al. 2013; in O(nnz) by two vectors",
        losses: "tangent",
        penalties: "none; the plane of the mean row",
        center: "iterate, two-phase schedule",
        cost: "O(nnz)",
    };
    type Losses = SquaredLoss;

    fn needs_rows(&self) -> bool {
        self.schedule == ScheduleName::TwoPhase && self.switch.is_none()
    }
    fn compose<F: Float, C: Composer<F>>(&self, found: &Found, composer: C) -> C::Output {
        composer.constrained(match self.schedule {
            ScheduleName::Power => power(self.rate, self.power),
            name => schedule(name, self.rate, self.switch, found),
        })
    }
}

impl Recipe for Ncsgd {
    const CARD: Card = Card {
        name: "ncsgd",
        paper: "Mu et al. 2013; in O(nnz) by two vectors",
        losses: "tangent",
        penalties: "none; the plane of the mean row",
        center: "iterate, schedule",
        cost: "O(nnz)",
    };
    const FALLS_WITH_ENERGY: bool = true;
    type Losses = SquaredLoss;

    fn needs_rows(&self) -> bool {
        self.steps.needs_rows()
    }
    fn compose<F: Float, C: Composer<F>>(&self, found: &Found, composer: C) -> C::Output {
        composer.constrained(self.steps.schedule(found))
    }
}

//! FTRL-Proximal as deployed for ads.

use parsimon_core::metric::AdaGrad;
use parsimon_core::rule::leader::{Accrual, Iterate};
use parsimon_core::{Float, HalfLife};

use super::groups::AnyLoss;
use super::objective::{Charge, Objective};
use super::penalized::Penalized;
use super::recipe::{Card, Composer, Recipe};
use super::setting::{Natural, NonNegative, Positive, settings};
use crate::error::BuildError;
use crate::found::Found;

settings! {
    /// FTRL-Proximal (McMahan et al. 2013): AdaGrad steps per coordinate, and a penalty that is applied once.
    pub struct Ftrl {
        rate: Positive = 0.1, "learning rate (alpha)";
        ..penalized: Penalized;
        beta: NonNegative = 1.0, "added to the root of the sum of g^2 (beta); larger values make the first steps smaller";
        half_life: Option<Natural>, "number of learned rows after which a row counts half, for streams that drift; all rows count alike if not set";
    }
}

impl Recipe for Ftrl {
    const CARD: Card = Card {
        name: "ftrl",
        paper: "McMahan et al. 2013 (FTRL-Proximal as deployed)",
        losses: "tangent",
        penalties: "once",
        center: "iterate, AdaGrad",
        cost: "O(nnz)",
    };
    // l1 is added once; methods that add it per row want much smaller values.
    const GRID: &'static [&'static str] = &["l1=0.1..10:4", "rate=0.03..1:4"];
    // The span of the race of `auto`.
    const NORMALIZED_GRID: &'static [&'static str] = &["l1=0.03..3:4", "rate=0.25..2:4"];
    const ALIASES: &'static [(&'static str, &'static str)] = &[("alpha", "rate")];
    const L1: f64 = 1.0;
    type Losses = AnyLoss;

    fn check(&self, _: &AnyLoss) -> Result<(), BuildError> {
        self.penalized.check()
    }
    fn objective(&self) -> Option<Objective> {
        Some(Objective { charge: Charge::Once, ..self.penalized.objective() })
    }
    fn half_life(&self) -> Option<HalfLife> {
        self.half_life.and_then(HalfLife::new)
    }
    fn compose<F: Float, C: Composer<F>>(&self, found: &Found, composer: C) -> C::Output {
        let metric = AdaGrad { rate: self.rate, delta: self.beta };
        if let Some(half_life) = Recipe::half_life(self) {
            return self.penalized.fading_leader(metric, half_life, found, composer);
        }
        self.penalized.adagrad_leader(metric, Accrual::Once, Iterate, found, composer)
    }
}

//! Dual averaging over a ball or the simplex.

use parsimon_core::Float;
use parsimon_core::rule::dense::{Dense, Exponents, HardL1, Simplex};
use parsimon_core::rule::spherical::Spherical;

use super::groups::{AnyLoss, Features};
use super::objective::{FeasibleSet, Objective};
use super::recipe::{Card, Composer, Recipe};
use super::setting::{Flag, Positive, choice, settings};
use crate::error::BuildError;
use crate::found::Found;

const LARGEST_RADIUS: f64 = 1e30;

choice! {
    /// The set of the weights.
    pub enum DualSet {
        /// The ball of the l1 norm.
        L1 = "l1",
        /// The ball of the l2 norm.
        L2 = "l2",
        /// The simplex, with the Kullback-Leibler divergence.
        SimplexKl = "simplex-kl",
    }
}

settings! {
    /// Dual averaging (Nesterov 2009).
    pub struct DualAveraging {
        rate: Positive = 0.5, "learning rate (eta = 1/gamma)";
        ball: DualSet = "l2", "the set; over the simplex the Kullback-Leibler divergence";
        radius: Positive = 1.0, "radius of the ball";
        mirror: Flag = false, "mirror descent with the entropy (ball simplex-kl only): each gradient is weighed by the step of its own round";
        sigma: Option<Positive>, "strength of the Kullback-Leibler divergence as a regularizer (ball simplex-kl only); the rate then applies to the bias alone";
        ..features: Features;
    }
}

impl Recipe for DualAveraging {
    const CARD: Card = Card {
        name: "dual-averaging",
        paper: "Nesterov 2009",
        losses: "tangent",
        penalties: "indicator of a ball or simplex",
        center: "origin, sqrt(t)",
        cost: "O(nnz) in the l2 ball, else O(features)",
    };
    type Losses = AnyLoss;

    fn check(&self, _: &AnyLoss) -> Result<(), BuildError> {
        let is_simplex = self.ball == DualSet::SimplexKl;
        let foreign = [("mirror", self.mirror), ("sigma", self.sigma.is_some())];
        if let Some((name, _)) = foreign.into_iter().find(|(_, is_set)| *is_set && !is_simplex) {
            return Err(BuildError::new(
                name,
                format!("{name} is a setting of the ball simplex-kl"),
            ));
        }
        if self.mirror && self.sigma.is_some() {
            let message = "mirror and sigma exclude each other: with sigma there are no steps";
            return Err(BuildError::new("mirror", message));
        }
        // Learning begins with the radius shared by all weights, which have to be finite in single precision, too.
        match !is_simplex || self.radius <= LARGEST_RADIUS {
            true => Ok(()),
            false => {
                let radius = self.radius;
                let message = format!(
                    "the radius of a simplex is at most {LARGEST_RADIUS:e}, got {radius:e}"
                );
                Err(BuildError::new("radius", message))
            }
        }
    }
    fn dimension(&self) -> Option<u32> {
        self.features.dimension
    }
    fn needs_dimension(&self) -> Option<&'static str> {
        (self.ball == DualSet::SimplexKl).then_some("ball simplex-kl")
    }
    fn objective(&self) -> Option<Objective> {
        let radius = self.radius;
        match self.ball {
            DualSet::L1 => Some(Objective::within(FeasibleSet::L1Ball { radius })),
            DualSet::L2 => Some(Objective::within(FeasibleSet::L2Ball { radius })),
            DualSet::SimplexKl => None,
        }
    }
    fn compose<F: Float, C: Composer<F>>(&self, found: &Found, composer: C) -> C::Output {
        let (rate, radius) = (self.rate, self.radius);
        match self.ball {
            DualSet::L1 => {
                let features = Dense::Features(HardL1 { rate, radius });
                composer.visiting_all(features, Dense::Bias { rate })
            }
            DualSet::SimplexKl => {
                let dimension = found.dimension.unwrap_or(1);
                let exponents = match (self.mirror, self.sigma) {
                    (true, _) => Exponents::Mirror,
                    (false, Some(sigma)) => Exponents::Divergence { sigma },
                    (false, None) => Exponents::Dual,
                };
                let features = Dense::Features(Simplex { rate, radius, dimension, exponents });
                composer.visiting_all(features, Dense::Bias { rate })
            }
            DualSet::L2 => {
                let rule = |radius| Spherical::DualAveraging { rate, radius };
                composer.rule(rule(radius), rule(f64::INFINITY))
            }
        }
    }
}

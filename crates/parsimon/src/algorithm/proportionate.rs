//! Proportionate NLMS and its improvement: large weights take large steps.

use parsimon_core::Float;
use parsimon_core::filter::Delta;
use parsimon_core::filter::proportionate::{Gain, Proportionate};

use super::groups::{Features, HyperplaneLoss};
use super::recipe::{Card, Composer, FilterComposer, Recipe};
use super::setting::{NonNegative, Positive, Signed, Step, Unit, settings};
use crate::found::Found;

settings! {
    /// PNLMS (Duttweiler 2000).
    pub struct Pnlms {
        rate: Step = 0.1, "step size (eta); identify and cancel use 0.5 if not set";
        delta: NonNegative = 1e-5, "added to the normalizer";
        rho: Unit = 0.01, "ratio of the smallest gain to the largest";
        delta_p: Positive = 0.01, "stands for the largest weight at first";
        ..features: Features;
    }
}

settings! {
    /// IPNLMS (Benesty and Gay 2002).
    pub struct Ipnlms {
        rate: Step = 0.1, "step size (eta); identify and cancel use 0.5 if not set";
        delta: NonNegative = 1e-5, "added to the normalizer";
        a: Signed = 0.0, "balance between NLMS (-1) and updates proportional to the weights (1)";
        epsilon: Positive = 1e-5, "keeps the gains finite at the origin";
        ..features: Features;
    }
}

impl Pnlms {
    fn method<F: Float>(&self, len: usize, features: usize, relative: F) -> Proportionate<F> {
        let delta = Delta { absolute: F::from_f64(self.delta), relative };
        let (rho, delta_p) = (F::from_f64(self.rho), F::from_f64(self.delta_p));
        Proportionate::new(len, features, self.rate, delta, Gain::Proportionate { rho, delta_p })
    }
}

impl Ipnlms {
    fn method<F: Float>(&self, len: usize, features: usize, relative: F) -> Proportionate<F> {
        let delta = Delta { absolute: F::from_f64(self.delta), relative };
        let (a, epsilon) = (F::from_f64(self.a), F::from_f64(self.epsilon));
        Proportionate::new(len, features, self.rate, delta, Gain::Improved { a, epsilon })
    }
}

impl Recipe for Pnlms {
    const CARD: Card = Card {
        name: "pnlms",
        paper: "Duttweiler 2000",
        losses: "projection",
        penalties: "none",
        center: "iterate, gains of the weights",
        cost: "O(features)",
    };
    const SIGNAL_RATE: Option<f64> = Some(0.5);
    type Losses = HyperplaneLoss;

    fn dimension(&self) -> Option<u32> {
        self.features.dimension
    }
    fn needs_dimension(&self) -> Option<&'static str> {
        Some(Self::CARD.name)
    }
    fn compose<F: Float, C: Composer<F>>(&self, found: &Found, composer: C) -> C::Output {
        let dimension = found.dimension.unwrap_or(1);
        composer.method(dimension, |len, features| self.method(len, features, F::ZERO))
    }
    fn filter<F: Float, C: FilterComposer<F>>(&self, composer: C) -> Option<C::Output> {
        Some(composer.method(|len, features, relative| self.method(len, features, relative)))
    }
}

impl Recipe for Ipnlms {
    const CARD: Card = Card {
        name: "ipnlms",
        paper: "Benesty and Gay 2002",
        losses: "projection",
        penalties: "none",
        center: "iterate, gains of the weights",
        cost: "O(features)",
    };
    const SIGNAL_RATE: Option<f64> = Some(0.5);
    type Losses = HyperplaneLoss;

    fn dimension(&self) -> Option<u32> {
        self.features.dimension
    }
    fn needs_dimension(&self) -> Option<&'static str> {
        Some(Self::CARD.name)
    }
    fn compose<F: Float, C: Composer<F>>(&self, found: &Found, composer: C) -> C::Output {
        let dimension = found.dimension.unwrap_or(1);
        composer.method(dimension, |len, features| self.method(len, features, F::ZERO))
    }
    fn filter<F: Float, C: FilterComposer<F>>(&self, composer: C) -> Option<C::Output> {
        Some(composer.method(|len, features, relative| self.method(len, features, relative)))
    }
}

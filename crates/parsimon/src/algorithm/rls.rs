//! Recursive least squares.

use parsimon_core::Float;
use parsimon_core::filter::rls::Rls as Method;
use parsimon_data::{Message, Remedy};
use parsimon_files::memory;

use super::groups::{Features, SquaredLoss};
use super::recipe::{Card, Composer, FilterComposer, Recipe};
use super::setting::{Positive, Share, settings};
use crate::error::BuildError;
use crate::found::Found;

const LEAST_DELTA: f64 = 1e-30;

settings! {
    /// Recursive least squares; 2SGD of Mu et al. 2013.
    pub struct Rls {
        delta: Positive = 0.01, "strength of the ridge penalty (P_0 = I/delta)";
        forgetting: Share = 1.0, "factor on the weight of past rows in each round (lambda)";
        ..features: Features;
    }
}

impl Recipe for Rls {
    const CARD: Card = Card {
        name: "rls",
        paper: "recursive least squares; 2SGD of Mu et al. 2013",
        losses: "exact",
        penalties: "delta w^2/2",
        center: "origin, all rows' second moments",
        cost: "O(features^2)",
    };
    type Losses = SquaredLoss;

    fn check(&self, _: &SquaredLoss) -> Result<(), BuildError> {
        // P_0 has to be finite in single precision, too.
        match self.delta >= LEAST_DELTA {
            true => Ok(()),
            false => {
                let (delta, words) = (self.delta, "1/delta is where learning begins");
                let message =
                    format!("delta must be at least {LEAST_DELTA:e}, got {delta:e}: {words}");
                Err(BuildError::new("delta", message))
            }
        }
    }
    fn dimension(&self) -> Option<u32> {
        self.features.dimension
    }
    fn needs_dimension(&self) -> Option<&'static str> {
        Some(Self::CARD.name)
    }
    fn check_size(&self, features: u64) -> Result<(), BuildError> {
        let bytes = Method::<f64>::memory(features.saturating_add(1));
        memory::check(bytes).map_err(|shortage| {
            let what = format!("the matrix over all pairs of {features} features");
            let other = "use csgd or adagrad-rda, which keep numbers for single features alone";
            let message = Message::shortage(&shortage, &what, &[Remedy::Advice(other.into())]);
            BuildError::new("dimension", message.after("rls: "))
        })
    }
    fn compose<F: Float, C: Composer<F>>(&self, found: &Found, composer: C) -> C::Output {
        let dimension = found.dimension.unwrap_or(1);
        composer.method(dimension, |len, _| Method::<F>::new(len, self.delta, self.forgetting))
    }
    fn filter<F: Float, C: FilterComposer<F>>(&self, composer: C) -> Option<C::Output> {
        Some(composer.method(|len, _, _| Method::<F>::new(len, self.delta, self.forgetting)))
    }
}

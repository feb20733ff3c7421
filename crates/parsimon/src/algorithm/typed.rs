//! The settings of each algorithm as a struct, to build a [`Trainer`](crate::Trainer) from and to read settings as
//! ([`Settings::typed`](crate::Settings::typed)).
//!
//! [`Default`] has the defaults of the algorithm. A [`Method`] adds a loss, classes and scaling to an algorithm. Values are checked when
//! the trainer is built, as those of a [`Spec`](crate::Spec) are.
//!
//! ```
//! use parsimon::algorithm::typed::{AnyLoss, Ftrl, LossName, Method, Penalized};
//! use parsimon::rows::{Chunk, Repeats};
//! use parsimon::{InputSchema, LearnerOptions, Trainer};
//!
//! let ftrl = Ftrl { penalized: Penalized::l1(0.5), half_life: Some(10_000), ..Ftrl::default() };
//! let method = Method {
//!     loss: Some(AnyLoss { loss: LossName::Squared, ..AnyLoss::default() }),
//!     ..Method::from(ftrl)
//! };
//! let mut trainer = Trainer::new(method, LearnerOptions::default(), InputSchema::default())?;
//! let mut chunk = Chunk::new();
//! for i in 0..500 {
//!     chunk.push_feature(1, f64::from(i % 5));
//!     chunk.finish_row(Some(f64::from(2 * (i % 5))), 1.0, Repeats::Refuse).unwrap();
//! }
//! trainer.learn(&chunk, &mut |_| {})?;
//! assert!(trainer.model().heads()[0].weight(1) > 1.0);
//!
//! // An algorithm alone has the loss that it has by default.
//! let wrong = Ftrl { rate: -1.0, ..Ftrl::default() };
//! let error = Trainer::new(wrong, LearnerOptions::default(), InputSchema::default()).err().unwrap();
//! assert_eq!(error.to_string(), "rate must be a finite number > 0, got -1");
//! # Ok::<(), parsimon::Error>(())
//! ```
//!
//! Settings that came from elsewhere are read with their types:
//!
//! ```
//! use parsimon::Spec;
//! use parsimon::algorithm::typed::{Ftrl, Rda};
//!
//! let settings = Spec::new("ftrl").set("l1", 0.5).resolve()?;
//! let ftrl = settings.typed::<Ftrl>().unwrap();
//! assert_eq!((ftrl.rate, ftrl.penalized.l1), (0.1, 0.5));
//! assert!(settings.typed::<Rda>().is_none());
//! # Ok::<(), parsimon::BuildError>(())
//! ```

pub use super::adadelta::AdaDelta;
pub use super::adagrad::{AdaGradFobos, AdaGradRda, AdaGradSteps};
pub use super::adaline::Adaline;
pub use super::adam::Adam;
pub use super::apa::Apa;
pub use super::apfbs::Apfbs;
pub use super::auto::Auto;
pub use super::c_adaline::CAdaline;
pub use super::csgd::{Csgd, Ncsgd};
pub use super::dual_averaging::{DualAveraging, DualSet};
pub use super::fobos::{Fobos, FobosPenalty};
pub use super::ftl::Ftl;
pub use super::ftrl::Ftrl;
pub use super::generalized_rda::GeneralizedRda;
pub use super::groups::{
    AdalineLoss, AnyLoss, Classes, Features, HalfStep, HingeLoss, HyperplaneLoss, LossName,
    ProjectionLoss, Regularized, RowSet, Scaling, ScheduleName, SquaredLoss, Steps,
};
pub use super::lazy_fobos::{BlockPenalty, LazyFobos};
pub use super::lazy_sparse::LazySparse;
pub use super::lazy_splitting::LazySplitting;
pub use super::lms::Lms;
pub use super::margin::{Arow, Pa, Scw, SlackName, Softness};
pub use super::multikernel::{Multikernel, MultikernelApfbs, MultikernelPda};
pub use super::nag::Nag;
pub use super::nlms::Nlms;
pub use super::papa::Papa;
pub use super::pda::{L1MetricName, Pda};
pub use super::penalized::{Interval, Penalized, PenaltyName};
pub use super::proportionate::{Ipnlms, Pnlms};
pub use super::rda::{Beta, Rda, Stabilizer};
pub use super::rls::Rls;
pub use super::sgd::{Asgd, BallName, GradientSteps, Sgd};
pub use super::subgradient_l1::SubgradientL1;
pub use super::truncated_gradient::TruncatedGradient;
pub use super::truncation::Truncation;
pub use super::unified::{Aogd, Comid, Ftprl, MetricName, Unified, UnifiedRda};

use super::recipe::Recipe;

/// An algorithm with its loss, its classes and the scaling of its rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Method<T: Recipe> {
    /// The algorithm.
    pub algorithm: T,
    /// The loss; that of the algorithm by default if not set.
    pub loss: Option<T::Losses>,
    /// The classes.
    pub classes: Classes,
    /// The scaling of rows and predictions.
    pub scaling: Scaling,
}

impl<T: Recipe> From<T> for Method<T> {
    fn from(algorithm: T) -> Self {
        Self { algorithm, loss: None, classes: Classes::default(), scaling: Scaling::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Map;

    use super::super::setting::Configuration;
    use crate::settings::{IntoSettings, Spec};

    fn has_the_defaults_of_its_spec<T: Recipe + Default>() {
        let name = T::CARD.name;
        let spec = Spec::new(name).resolve().unwrap();
        assert_eq!(spec.typed::<T>(), Some(&T::default()), "{name}");
        let typed = T::default().into_settings().unwrap();
        assert_eq!(typed.to_json(), spec.to_json(), "{name}");
        assert_eq!(typed.may_find_two_classes(), spec.may_find_two_classes(), "{name}");
        // Settings that were written are read back unchanged, with the loss of the spec.
        let mut loss = Map::new();
        T::Losses::read(super::super::setting::Values(spec.to_json())).unwrap().write(&mut loss);
        assert!(loss.iter().all(|(name, value)| spec.to_json()[name] == *value), "{name}");
    }

    /// Every struct of this page; the number is checked against the table of algorithms.
    macro_rules! every_algorithm {
        ($($name:ident)+) => {
            #[test]
            fn typed_defaults_are_those_of_specs() {
                $(has_the_defaults_of_its_spec::<$name>();)+
                let all = [$($name::CARD.name),+];
                let listed = super::super::ALGORITHMS.iter().map(|a| a.name);
                assert!(listed.clone().all(|name| all.contains(&name)));
                assert_eq!(listed.count(), all.len());
            }
        };
    }

    every_algorithm! {
        Auto Sgd Asgd SubgradientL1 Truncation TruncatedGradient Fobos LazyFobos LazySplitting LazySparse
        Rda GeneralizedRda DualAveraging AdaGradRda AdaGradFobos Ftrl Comid Ftprl Aogd UnifiedRda Adam
        AdaDelta Nag Pa Arow Scw Ftl Csgd Ncsgd Rls Adaline CAdaline Lms Nlms Apa Papa Pnlms Ipnlms Apfbs Pda
        MultikernelPda MultikernelApfbs
    }
}

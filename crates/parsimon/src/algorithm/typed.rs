//! The settings of each algorithm as a struct, for [`Settings::typed`](crate::Settings::typed).
//!
//! A program that sets values uses a [`Spec`](crate::Spec), where settings have names. These structs are for reading: they have
//! every setting after defaults, with its type.
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
pub use super::groups::{Features, HalfStep, Regularized, ScheduleName, Steps};
pub use super::lazy_fobos::{BlockPenalty, LazyFobos};
pub use super::lazy_sparse::LazySparse;
pub use super::lazy_splitting::LazySplitting;
pub use super::lms::Lms;
pub use super::multikernel::{Multikernel, MultikernelApfbs, MultikernelPda};
pub use super::nlms::Nlms;
pub use super::papa::Papa;
pub use super::pda::Pda;
pub use super::penalized::{Interval, Penalized, PenaltyName};
pub use super::proportionate::{Ipnlms, Pnlms};
pub use super::rda::{Beta, Rda, Stabilizer};
pub use super::rls::Rls;
pub use super::sgd::{Asgd, BallName, GradientSteps, Sgd};
pub use super::subgradient_l1::SubgradientL1;
pub use super::truncated_gradient::TruncatedGradient;
pub use super::truncation::Truncation;
pub use super::unified::{Aogd, Comid, Ftprl, MetricName, Unified, UnifiedRda};

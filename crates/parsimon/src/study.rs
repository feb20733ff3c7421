//! Studying methods: regret and its bounds, constant baselines, and systems whose weights are known.
//!
//! * [`Regret`] compares the loss that a method paid with the loss of the best fixed weights. Set
//!   [`Plan::regret`](crate::Plan::regret) to compute it in a run.
//! * [`Synthetic`] generates sparse linear systems, and [`identify_system`] measures how fast a method finds their weights.
//! * [`Constant`] predicts from the labels alone. A method that is not better has learned nothing from the features.
//!
//! The experiments of the papers are the crate `parsimon-lab`, and `parsimon reproduce` on the command line.
//!
//! ```
//! use parsimon::study::{Synthetic, identify_system};
//! use parsimon::{LearnerOptions, Spec};
//!
//! let mut system = Synthetic::parse("n=50,zeros=0.9,noise=0.01,seed=3")?.start();
//! let settings = Spec::new("pda").set("l1", 1e-4).resolve()?;
//! let found = identify_system(&settings, LearnerOptions::default(), &mut system, 2000)?;
//! assert_eq!(found.taps.len(), 50);
//! assert!(found.mismatch_db().unwrap() < -10.0);
//! # Ok::<(), parsimon::BuildError>(())
//! ```

pub use crate::algorithm::objective::{Bound, Charge, FeasibleSet, Met, Objective};
pub use crate::identify::identify_system;
pub use crate::synthetic::{Regressors, Synthetic, System};
pub use crate::training::{Constant, Regret};

//! Studying methods: regret and its bounds, and systems whose weights are known.
//!
//! * [`Regret`] compares the loss that a method paid with the loss of the best fixed weights. Set
//!   [`Plan::regret`](crate::Plan::regret) to compute it in a run.
//! * [`Synthetic`] generates sparse linear systems, and [`identify_system`] measures how fast a method finds their weights.
//!
//! The experiments of the papers are the crate `parsimon-lab`, and `parsimon reproduce` on the command line.
//!
//! ```
//! use parsimon::filter::Identified;
//! use parsimon::study::{Synthetic, identify_system};
//! use parsimon::{LearnerOptions, Spec};
//!
//! let mut system = Synthetic::parse("n=50,zeros=0.9,noise=0.01,seed=3")?.start();
//! let settings = Spec::new("pda").set("l1", 1e-4).resolve()?;
//! let found: Identified = identify_system(&settings, LearnerOptions::default(), &mut system, 2000)?;
//! assert_eq!(found.taps.len(), 50);
//! assert!(found.mismatch_db().unwrap() < -10.0);
//! # Ok::<(), parsimon::BuildError>(())
//! ```
//!
//! The regret of a run, where [`Plan::regret`](crate::Plan::regret) asks for it:
//!
//! ```
//! use parsimon::study::Regret;
//! use parsimon::train::Outcome;
//!
//! fn per_row(outcome: &Outcome) -> Option<f64> {
//!     outcome.regret.as_ref().map(|regret: &Regret| regret.average)
//! }
//! ```

pub use crate::identify::identify_system;
pub use crate::synthetic::Synthetic;
pub use crate::training::Regret;

//! Sparse online learning: every method of the literature, exact, lazy and fast.
//!
//! A [`Spec`] says what to learn with; resolved, it is [`Settings`]: complete and checked. A [`Trainer`] predicts, judges and
//! learns chunk by chunk, and can be saved and resumed at any row. What is left at the end is a [`Model`], which predicts and
//! cannot learn. [`run`] does all of it over files, with passes, holdout and reports.
//!
//! ```
//! use parsimon::data::{Input, Labels, Options};
//! use parsimon::{LearnerOptions, Plan, InputSchema, Spec, Trainer, run};
//!
//! let bytes = b"1 1:1 3:0.5\n-1 2:1\n1 1:1\n-1 2:1 3:0.1\n".repeat(20);
//! let input = Input::Bytes { name: "clicks.svm".into(), bytes };
//! let settings = Spec::new("ftrl").set("l1", 0.5).resolve()?;
//! let mut trainer = Trainer::new(settings, LearnerOptions::default(), InputSchema::default())?;
//! let plan = Plan::new(vec![input], Options { labels: Labels::binary(), ..Options::default() });
//! let outcome = run(&mut trainer, &plan, &mut ())?;
//! assert_eq!(outcome.rows, 80);
//! assert!(outcome.model.heads()[0].weight(1) > 0.0);
//! assert!(outcome.model.heads()[0].weight(2) < 0.0);
//! # Ok::<(), parsimon::Error>(())
//! ```
//!
//! The mathematics is in [`core`], the readers in [`data`], metrics and charts in [`eval`]. Every algorithm with its paper and
//! settings is a row of [`registry::ALGORITHMS`].

mod build;
mod container;
mod early_stopping;
mod error;
mod evaluation;
mod grid;
mod identify;
mod kernels;
mod merge;
mod model;
pub mod parameter;
pub mod registry;
mod regret;
mod run;
mod schema;
mod spec;
mod sweep;
mod synthetic;
mod trainer;

pub use build::{LearnerOptions, Regularization, Storage};
pub use early_stopping::EarlyStopping;
pub use error::{BuildError, Error, FormatError};
pub use evaluation::{Expect, ModelEvaluator};
pub use grid::Grid;
pub use identify::{Identified, IdentifyPoint, identify, identify_system, mismatch_db};
pub use merge::{Combine, Delta, merge_deltas};
pub use model::{Model, Provenance};
pub use regret::{Bound, Regret};
pub use run::{Observer, Outcome, Pass, Plan, run, run_with};
pub use schema::{InputSchema, find_classes};
pub use spec::{Settings, Spec, did_you_mean};
pub use sweep::{Standing, Stopped, Sweep};
pub use synthetic::{Regressors, Synthetic, System};
pub use trainer::{Progress, Trainer};

pub use parsimon_core as core;
pub use parsimon_data as data;
pub use parsimon_eval as eval;

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
//! The mathematics is in [`core`], the readers in [`data`], metrics in [`eval`]. Every algorithm with its paper and
//! settings is a file of [`algorithm`].

#![warn(clippy::print_stdout, clippy::print_stderr)]

pub mod algorithm;
mod calibration;
mod container;
mod coverage;
mod error;
mod explanation;
mod found;
mod grid;
mod identify;
mod merge;
mod model;
mod options;
mod room;
mod settings;
mod suggestion;
pub mod survey;
mod synthetic;
mod training;

pub use algorithm::objective::Bound;
pub use coverage::Coverage;
pub use error::{BuildError, Error, FormatError, FormatErrorKind};
pub use explanation::Contribution;
pub use found::Found;
pub use grid::Grid;
pub use identify::{Identified, IdentifyPoint, identify, identify_system, mismatch_db};
pub use merge::{Combine, Delta, merge_deltas};
pub use model::{Model, Provenance};
pub use options::{LearnerOptions, Storage};
pub use settings::{FilterPrecision, Regularization, Settings, Spec, alias};
pub use suggestion::did_you_mean;
pub use survey::InputSchema;
pub use synthetic::{Regressors, Synthetic, System};
pub use training::{
    Assess, Assessed, Behind, BesideConstant, Constant, ConstantLoss, Consumed, EarlyStopping,
    Evidence, Expect, LEAST_CALIBRATION_ROWS, ModelEvaluator, NegativeSampler, Observer, Outcome,
    Pass, Pauses, Plan, Prior, Progress, Reason, Regret, Segment, Segments, Standing, Stopped,
    Stretch, Sweep, Trainer, Undo, Warning, Watch, evaluate_models, run, run_with,
};

pub use parsimon_core as core;
pub use parsimon_data as data;
pub use parsimon_eval as eval;
pub use parsimon_files::memory;

//! Training: one pass or several over rows, with a progressive loss, reports and checkpoints.
//!
//! [`run`] reads the inputs of a [`Plan`] and trains a [`Trainer`] on them. It handles passes, shuffling, a holdout, early
//! stopping and checkpoints, and returns an [`Outcome`] with the model. An [`Events`] follows the run.
//!
//! A program that has its rows in memory calls [`Trainer::learn`] with one chunk after the other. Any division of the rows into
//! chunks gives the same bits. [`Trainer::save_checkpoint`] writes a checkpoint at any row, and [`Trainer::resume`] continues from it as if
//! the training had never stopped.
//!
//! The *progressive loss* of a row is the loss of the prediction that was made before the row was learned. Its average is an
//! honest estimate of the test loss, without a holdout.
//!
//! ```
//! use parsimon::data::{Input, Labels, Options, Reading};
//! use parsimon::train::{Events, Plan, Progress, Trainer, run};
//! use parsimon::{InputSchema, LearnerOptions, Spec};
//!
//! /// Collects the progressive loss of every report.
//! struct Losses(Vec<f64>);
//! impl Events for Losses {
//!     fn progress(&mut self, line: &Progress) {
//!         self.0.extend(line.average);
//!     }
//! }
//!
//! let bytes = b"1 1:1 3:0.5\n-1 2:1\n".repeat(500);
//! let input = Input::Bytes { name: "clicks.svm".into(), bytes };
//! let settings = Spec::new("ftrl").set("l1", 0.5).resolve()?;
//! let mut trainer = Trainer::new(settings, LearnerOptions::default(), InputSchema::default())?;
//! let reading = Reading { labels: Labels::binary(), ..Reading::default() };
//! let plan = Plan::new(vec![input], Options::from(reading));
//! let mut losses = Losses(Vec::new());
//! let outcome = run(&mut trainer, &plan, &mut losses)?;
//! assert_eq!(outcome.rows, 1000);
//! assert!(losses.0.last() < losses.0.first());
//!
//! let checkpoint = trainer.checkpoint();
//! let resumed = Trainer::from_checkpoint(&checkpoint)?;
//! assert_eq!(resumed.progressive().rows(), 1000);
//! # Ok::<(), parsimon::Error>(())
//! ```

pub use crate::training::{
    Events, NegativeSampler, Notice, Outcome, Plan, Progress, Stretch, Trainer, run,
};

#[doc(hidden)]
pub use crate::training::{
    Behind, Consumed, Evidence, Hindsight, LEAST_CALIBRATION_ROWS, Pass, Pauses, Reason, Watch,
    run_with,
};
#[doc(hidden)]
pub use parsimon_core::Online;

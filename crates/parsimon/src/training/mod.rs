//! Learning: one loop for one or many learners.
//!
//! * A *chunk* is what a reader hands over; a *stretch* is the part of a chunk up to the next report. [`stretch`] has the one
//!   loop over both: rows are predicted, learned and judged there and nowhere else.
//! * The *progressive loss* of a row is that of the prediction made before the row was learned.
//! * The *constant* predicts each row from the labels before it and from nothing else; a learner should beat it.
//! * A [`Trainer`] has one learner; it can be saved at any row and resumed bit for bit.
//! * A [`Sweep`] has many learners, which share learners, threads and the reading of the rows; some may stop before the end.
//! * A [`Watch`] is shown the margins of every stretch.
//! * [`run`] takes a trainer through files: passes, holdout, checkpoints.

mod assess;
mod baseline;
mod beside;
mod calibrate;
mod checkpoint;
mod class_weights;
mod constant;
mod consumed;
mod early_stopping;
mod estimate;
mod evaluation;
mod first_features;
mod first_rows;
mod from_model;
mod hindsight;
mod holdout;
mod notice;
mod noticing;
mod parallel;
mod plan;
mod predictions;
mod regret;
mod report;
mod run;
mod sampling;
mod saver;
mod segments;
mod shared;
mod stretch;
mod sweep;
mod sweep_course;
mod trainer;
mod undo;

pub use assess::{Assess, Assessed};
pub use baseline::Behind;
pub(crate) use beside::cost;
pub use beside::{BesideConstant, Prior};
pub use calibrate::LEAST_CALIBRATION_ROWS;
pub use checkpoint::check_stamp;
pub use constant::{Constant, ConstantLoss};
pub use consumed::{Consumed, Content, Known};
pub use early_stopping::EarlyStopping;
pub use estimate::{Estimate, Judged};
pub use evaluation::{Expect, ModelEvaluator, evaluate_models};
pub use first_rows::Evidence;
pub use hindsight::Hindsight;
pub(crate) use holdout::Holdout;
pub use notice::{Evidenced, Notice, Reason};
pub use noticing::Noticing;
pub use plan::{Decided, Events, Outcome, Pass, Pauses, Plan};
pub use regret::Regret;
pub use report::{Progress, Standing, Stopped};
pub(crate) use run::pass_over;
pub use run::{run, run_with};
pub use sampling::NegativeSampler;
pub use segments::{Segment, Segments};
pub use stretch::{Stretch, Watch};
pub use sweep::Sweep;
pub use trainer::Trainer;
pub use undo::Undo;

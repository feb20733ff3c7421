//! Sparse online learning: every method of the literature, exact, lazy and fast.

mod build;
mod container;
mod error;
mod judge;
mod map;
mod model;
pub mod parameter;
mod reading;
pub mod registry;
mod regret;
mod run;
mod spec;
mod trainer;

pub use build::{Frame, Storage};
pub use error::{BuildError, Error, FormatError};
pub use judge::{Expect, Judge};
pub use model::{Model, Provenance};
pub use reading::{Reading, find_classes};
pub use regret::{Bound, Regret};
pub use run::{Observer, Outcome, Pass, Plan, run, run_with};
pub use spec::{Settings, Spec, did_you_mean};
pub use trainer::{Progress, Trainer};

pub use parsimon_core as core;
pub use parsimon_data as data;
pub use parsimon_eval as eval;

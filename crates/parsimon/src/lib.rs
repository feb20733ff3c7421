//! Sparse online learning: every method of the literature, exact, lazy and fast.

mod build;
mod error;
pub mod parameter;
pub mod registry;
mod spec;

pub use build::{Frame, Storage};
pub use error::{BuildError, Error, FormatError};
pub use spec::{Settings, Spec, did_you_mean};

pub use parsimon_core as core;
pub use parsimon_data as data;
pub use parsimon_eval as eval;

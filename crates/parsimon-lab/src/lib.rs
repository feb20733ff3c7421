#![doc = include_str!("../README.md")]
//!
//! An [`Experiment`] is a file under `experiments/`: settings, the claim, and the conditions under which the claim is true. A [`Plan`] runs
//! trials of experiments in parallel and keeps them; [`report::write`] makes the page.

#![warn(clippy::print_stdout, clippy::print_stderr)]

pub mod data;
mod experiment;
pub mod kind;
pub mod map;
mod needs;
mod pace;
mod paper;
mod peers;
pub mod picture;
mod place;
pub mod report;
mod runner;
mod student;
pub mod summary;
pub mod verdict;

pub use experiment::{
    Category, Drawn, Effort, Expectation, Experiment, Kind, Method, Must, Pair, PerEffort,
    Relation, Scale, Variant, experiments,
};
pub use needs::{Source, needed};
pub use paper::{Paper, papers};
pub use report::tally;
pub use runner::{Outcome, Plan, Progress, Step, VariantOutcome};

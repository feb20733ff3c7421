//! The lab: experiments of the papers, run again, with a report that says what reproduces and what does not.
//!
//! An [`Experiment`] is a file under `experiments/`: settings, the claim, and what the claim comes down to. A [`Plan`] runs
//! trials of it in parallel and keeps them; [`report::write`] makes the page.

#![warn(clippy::print_stdout, clippy::print_stderr)]

pub mod data;
mod experiment;
pub mod kind;
mod pace;
mod paper;
mod peers;
pub mod picture;
mod place;
pub mod report;
mod runner;
pub mod summary;

pub use experiment::{
    Drawn, Effort, Expectation, Experiment, Kind, Method, Must, Pair, PerEffort, Relation, Variant,
    experiments,
};
pub use paper::{Paper, papers};
pub use report::tally;
pub use runner::{Outcome, Plan, Progress, Step, VariantOutcome};

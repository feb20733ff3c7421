#![doc = include_str!("../README.md")]
//!
//! # Modules
//!
//! | to | use |
//! | --- | --- |
//! | choose a method and its settings | [`settings`]; [`algorithm`] lists the methods |
//! | read files | [`data`]; [`survey`] finds labels, columns and dimensions first |
//! | make rows in a program | [`rows`] |
//! | do all that `parsimon train` does with a file | [`job`] |
//! | train | [`train`] |
//! | predict, explain and evaluate | [`predict`]; [`eval`] has the metrics |
//! | compare settings | [`tune`] |
//! | filter signals | [`filter`] |
//! | train on several machines | [`merge`] |
//! | learn from requests | [`serve`] |
//! | measure regret, generate systems | [`study`] |
//! | limit the memory of the process | [`memory`] |
//!
//! The types that most programs need are also in the root.
//!
//! # Cargo features
//!
//! `columnar` reads and writes Parquet and Arrow, `zstd` reads files that are compressed with zstd. Both are on by default.

#![warn(clippy::print_stdout, clippy::print_stderr)]

pub mod algorithm;
mod calibration;
mod container;
mod coverage;
pub mod data;
pub mod error;
pub mod eval;
mod explanation;
pub mod filter;
mod found;
mod grid;
mod identify;
pub mod job;
pub mod memory;
pub mod merge;
mod model;
mod options;
pub mod predict;
mod room;
pub mod rows;
pub mod serve;
pub mod settings;
pub mod study;
mod suggestion;
pub mod survey;
mod synthetic;
pub mod train;
mod training;
pub mod tune;
#[doc(hidden)]
pub mod workspace;

pub use error::{BuildError, Error};
pub use predict::Model;
pub use settings::{LearnerOptions, Settings, Spec};
pub use survey::InputSchema;
pub use train::{Plan, Trainer, run};

/// The Rust blocks of the README of the repository.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

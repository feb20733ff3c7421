#![doc = include_str!("../README.md")]
//!
//! # What is here
//!
//! - While learning: [`Progressive`] averages the loss of each row before it is learned, and a
//!   [`Schedule`] says when to report to a [`LearningCurve`].
//! - After learning: one collector per task ([`Binary`], [`Multiclass`], [`Regression`], [`Counts`])
//!   turns scored rows into metrics; [`Evaluator`] picks it by the loss, [`Evaluation`] is the result of
//!   any of them, to print or to store.
//! - [`Calibrator`] turns margins into probabilities that are right in the mean, by Platt's method or by isotonic regression.
//! - [`Mean`] is a mean over rows with its 95% interval, for one loss or for the difference of two.
//! - For people: [`Table`] and [`number`]. Charts are in the crate `parsimon-page`.
//!
//! No function reads a clock, a file
//! or a random number: the same rows give the same bytes.

#![warn(clippy::print_stdout, clippy::print_stderr)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test may fail by panicking"))]

mod binary;
mod calibration;
mod calibrator;
mod confusion;
mod counts;
mod curve;
mod evaluation;
mod evaluator;
mod isotonic;
mod mean;
mod measure;
mod multiclass;
pub mod number;
mod platt;
mod progressive;
mod ranking;
mod regression;
mod schedule;
mod sum;
mod table;

pub use binary::{AtThreshold, Binary, BinaryMetrics};
pub use calibration::{Bin, Bins, Outcome, calibration, expected_calibration_error};
pub use calibrator::{CalibrationMethod, Calibrator};
pub use confusion::Confusion;
pub use counts::{Counts, CountsMetrics};
pub use curve::{CurvePoint, LearningCurve};
pub use evaluation::Evaluation;
pub use evaluator::Evaluator;
pub use mean::Mean;
pub use measure::Measure;
pub use multiclass::{ClassMetrics, Multiclass, MulticlassMetrics};
pub use progressive::Progressive;
pub use regression::{Regression, RegressionMetrics};
pub use schedule::{Schedule, ScheduleError};
pub use sum::Sum;
pub use table::Table;

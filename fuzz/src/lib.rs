//! Damaged input for every reader and every file format, with what must hold whatever the bytes.
//!
//! A [`Target`] takes bytes and gives an [`Outcome`]; it panics where a promise is broken. `cargo test -p parsimon-fuzz` mutates
//! good seeds from fixed random numbers, `cargo xtask fuzz NAME --minutes N` chooses inputs by coverage. CONTRIBUTING.md has the
//! steps to add a target.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a panic is how a target reports a fault"
)]

mod campaign;
mod dictionary;
mod learned;
mod outcome;
mod repair;
mod rows;
mod target;
mod targets;

pub use campaign::{Campaign, Fault, Tally, keep_panics, last_panic};
pub use outcome::Outcome;
pub use target::Target;
pub use targets::{TARGETS, find};

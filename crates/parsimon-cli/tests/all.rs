//! All tests of this crate in one program: linking takes longer than most of them run. A new file needs its line here.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod bare;
mod calibrate;
mod classes;
#[cfg(feature = "serve")]
mod client;
mod compare;
mod constant;
mod course;
#[cfg(feature = "lab")]
mod data;
#[cfg(feature = "audio")]
mod disk_faults;
#[cfg(all(feature = "audio", feature = "lab", feature = "serve"))]
mod documentation;
mod evaluate;
mod faults;
mod fixture;
mod flags;
#[cfg(feature = "serve")]
mod follower;
mod from_model;
mod help;
#[cfg(unix)]
mod interrupts;
mod left_out;
#[cfg(feature = "serve")]
mod log;
mod memory;
mod merge;
mod mse;
mod multikernel;
mod order;
mod predict;
#[cfg(feature = "lab")]
mod reproduce;
mod resume;
#[cfg(feature = "serve")]
mod serve;
#[cfg(feature = "audio")]
mod signals;
mod survey;
mod tables;
mod threads;
mod train;
mod tune;
mod vowpal;
mod vw;

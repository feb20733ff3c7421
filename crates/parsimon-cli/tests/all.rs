//! All tests of this crate in one program: linking takes longer than most of them run. A new file needs its line here.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod bare;
mod calibrate;
mod classes;
mod compare;
mod constant;
mod course;
mod data;
mod disk_faults;
mod evaluate;
mod faults;
mod fixture;
mod flags;
#[cfg(unix)]
mod interrupts;
mod merge;
mod mse;
mod multikernel;
mod predict;
mod reproduce;
mod resume;
#[cfg(feature = "serve")]
mod serve;
mod signals;
mod survey;
mod tables;
mod threads;
mod train;
mod tune;
mod vowpal;

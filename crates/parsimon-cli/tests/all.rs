//! All tests of this crate in one program: linking takes longer than most of them run. A new file needs its line here.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod bare;
mod classes;
mod compare;
mod constant;
mod data;
mod faults;
mod fixture;
mod flags;
mod merge;
mod multikernel;
mod reproduce;
mod signals;
mod survey;
mod tables;
mod threads;
mod train;
mod tune;

#![doc = include_str!("../README.md")]
//!
//! Every function returns a code. No panic crosses the boundary: it becomes [`Code::Panic`], and the canceller in which it
//! happened refuses further work.

#![warn(clippy::print_stdout, clippy::print_stderr)]

pub mod abi;
mod handle;

pub use handle::{Code, Handle, Settings, Status};

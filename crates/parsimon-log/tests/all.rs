//! All tests of this crate from outside, in one program. A new file needs its line here.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod appending;
mod common;
mod copying;
mod epochs;
mod failing;
mod repairing;
mod snapshots;

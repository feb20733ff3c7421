//! The tests of the log from outside.

mod appending;
mod common;
mod epochs;
mod failing;
mod repairing;
mod snapshots;

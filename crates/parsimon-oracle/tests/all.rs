//! All tests of this crate in one program: linking takes longer than most of them run. A new file needs its line here.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod bounds_by_hand;
mod bounds_laws;
mod by_hand;
mod kernels;
mod laws;
mod measure;
mod projections;
mod race;
mod regret;
mod theorems;

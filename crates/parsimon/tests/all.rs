//! All tests of this crate in one program: linking takes longer than most of them run. A new file needs its line here.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod bases;
mod changing_files;
mod class_weights;
mod columns;
mod common;
mod examples;
mod fading;
mod filters;
mod forged_files;
mod from_model;
mod half_lives;
mod invariances;
mod jobs;
mod losses;
mod merge;
mod merge_normalized;
mod multikernel;
mod nasty;
mod normalized;
mod normalized_input;
mod normalized_laws;
mod peers;
mod penalty_factor;
mod projections;
mod race;
mod race_twin;
mod softmax;
mod specs;
mod stored_files;
mod survey;
mod sweeps;
mod theorems;
mod twins;
mod undo;

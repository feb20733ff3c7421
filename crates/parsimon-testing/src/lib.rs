//! What the tests of several crates share. It depends on nothing, so that the tests of every crate can use it.
//!
//! The generators have fixed sequences: expected values of many tests depend on them.

pub mod allocation;
pub mod browser;
mod lcg;
pub mod markdown;
mod mutator;
mod split_mix;

pub use lcg::{Lcg32, Lcg64};
pub use mutator::Mutator;
pub use split_mix::SplitMix64;

//! Shared code of the tests of several crates. It has no dependencies, so that the tests of every crate can use it.
//!
//! The generators have fixed sequences: expected values of many tests depend on them.

pub mod allocation;
pub mod browser;
pub mod doors;
mod lcg;
pub mod markdown;
mod mutator;
mod proxy;
mod split_mix;

pub use lcg::{Lcg32, Lcg64};
pub use mutator::Mutator;
pub use proxy::Proxy;
pub use split_mix::SplitMix64;

//! The proof that the log keeps its promises: crashes at every step of scripts, failures, damage, and the same with every step of
//! [`crate::step::Step`] left out in turn, which must not go unnoticed.

mod crashes;
mod damage;
mod driver;
mod failures;
mod mutations;
mod script;

//! The mathematics of sparse online learning. No I/O, no clock, no randomness, no dependencies.

mod chunk;
mod loss;
mod row;

pub use chunk::{Chunk, Repeats, RowError};
pub use loss::{LabelDomain, Loss};
pub use row::Row;

//! For the other crates of this repository: estimates of memory, hints to the processor, and the inside of learners that share
//! coordinates. Not part of the interface that versions promise to keep; the crate `parsimon` does not export it.
//!
//! ```
//! use parsimon_core::workspace::Coming;
//! use parsimon_core::{Chunk, Repeats};
//!
//! let mut chunk = Chunk::new();
//! chunk.push_feature(5, 1.0);
//! chunk.finish_row(Some(1.0), 1.0, Repeats::Refuse).unwrap();
//! let Coming { rows, features, end, .. } = chunk.coming(0..1);
//! assert_eq!((rows, features, end), (1, 1, 6));
//! ```

pub use crate::class_lanes::{Blocks, ClassLanes, ClassLearner};
pub use crate::huge::with_capacity as with_large_pages;
pub use crate::lanes::LaneLearner;
pub use crate::moments::MomentsDelta;
pub use crate::normalized::Stat;
pub use crate::prefetch::prefetch;
pub use crate::room::{Coming, FAR, restore_within};
pub use crate::softmax::arg_max;

//! Rows in memory, for programs that do not read files.
//!
//! A [`Chunk`] holds rows of sparse features. Features are pushed one by one, and [`Chunk::finish_row`] closes the row with its
//! label and its importance weight. It sorts the features and returns a [`RowError`] if a value is not finite.
//!
//! Feature ids are counted from 1, as in svmlight files. Binary labels are -1 and 1. A label of several classes is the position
//! of the class, counted from 0. A row with the label `None` is predicted and not learned.
//!
//! ```
//! use parsimon::rows::{Chunk, Repeats, Row, RowError};
//!
//! let mut chunk = Chunk::new();
//! chunk.push_feature(7, 0.5);
//! chunk.push_feature(2, 1.0);
//! chunk.finish_row(Some(1.0), 1.0, Repeats::Refuse)?;
//! let row: Row = chunk.row(0);
//! assert_eq!(row.indices(), [2, 7]);
//! assert_eq!(chunk.label(0), Some(1.0));
//!
//! chunk.push_feature(3, f64::NAN);
//! assert!(chunk.finish_row(None, 1.0, Repeats::Refuse).is_err());
//! assert_eq!(chunk.len(), 1);
//! # Ok::<(), RowError>(())
//! ```

#[doc(inline)]
pub use parsimon_core::{Chunk, Repeats, Row, RowError};

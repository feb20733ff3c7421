//! Comparing settings: many of them trained in one pass over the rows.
//!
//! A [`Grid`] expands sweeps such as `l1=1e-4..1:5` into specs, or draws specs at random. A [`Sweep`] trains all of them on the
//! same chunks and keeps the progressive loss of each. With [`EarlyStopping`] it stops settings that are clearly worse than the
//! best one.
//!
//! ```
//! use parsimon::rows::{Chunk, Repeats};
//! use parsimon::tune::{Grid, Sweep};
//! use parsimon::{InputSchema, LearnerOptions, Spec};
//!
//! let specs = Grid::parse(["rate=0.05..1:3", "l1=0,1"])?.expand(&Spec::new("ftrl"))?;
//! let settings = specs.iter().map(Spec::resolve).collect::<Result<_, _>>()?;
//! let mut sweep = Sweep::new(settings, LearnerOptions::default(), InputSchema::default())?;
//! let mut chunk = Chunk::new();
//! for i in 0..300 {
//!     chunk.push_feature(1 + i % 2, 1.0);
//!     chunk.finish_row(Some(if i % 2 == 0 { 1.0 } else { -1.0 }), 1.0, Repeats::Refuse).unwrap();
//! }
//! sweep.learn(&chunk, &mut |_| {});
//! let best = sweep.best().unwrap();
//! assert_eq!(specs[best].get("rate").and_then(|rate| rate.as_f64()), Some(1.0));
//! assert!(sweep.model(best).is_some());
//! # Ok::<(), parsimon::BuildError>(())
//! ```

pub use crate::grid::Grid;
pub use crate::training::{EarlyStopping, Sweep};

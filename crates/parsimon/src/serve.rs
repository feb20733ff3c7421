//! Learning from requests: text parsed in memory, and a learner that survives bad rows.
//!
//! A [`RowParser`] parses the text of a request in the calling thread, with the rows and errors of a
//! [`Reader`](crate::data::Reader). [`Trainer::scorer`](crate::Trainer::scorer) gives weights that other threads predict with
//! while the trainer continues learning. An [`Undo`] restores the trainer if the rows of a request made its weights diverge.
//!
//! The service with HTTP, a durable log and alarms is the crate `parsimon-serve`, and `parsimon serve` on the command line.
//!
//! ```
//! use parsimon::data::{Format, Options};
//! use parsimon::serve::{RowParser, Undo};
//! use parsimon::{InputSchema, LearnerOptions, Spec, Trainer};
//!
//! let settings = Spec::new("ftrl").resolve()?;
//! let mut trainer = Trainer::new(settings, LearnerOptions::default(), InputSchema::default())?;
//! let mut parser = RowParser::new("request", Format::Vw, &Options::default())?;
//! let mut undo = Undo::default();
//! let mut chunks = Vec::new();
//!
//! for request in [&b"1 |user anna |item tea\n"[..], b"-1 |user bert |item tea\n"] {
//!     parser.parse(request, &mut chunks)?;
//!     for chunk in &chunks {
//!         undo.begin(&trainer, chunk.nonzeros());
//!         match trainer.learn(chunk, &mut |_| {}) {
//!             Ok(()) => undo.learned(chunk),
//!             Err(_) => undo.go_back(&mut trainer)?,
//!         }
//!         undo.end();
//!     }
//! }
//! assert_eq!(trainer.progressive().rows(), 2);
//!
//! let error = parser.parse(b"1 |user a:x\n", &mut chunks).unwrap_err();
//! assert!(error.to_string().starts_with("request:1"));
//! # Ok::<(), parsimon::Error>(())
//! ```

pub use crate::training::Undo;
#[doc(inline)]
pub use parsimon_data::RowParser;

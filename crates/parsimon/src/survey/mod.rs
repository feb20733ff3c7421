//! Inspecting data before training: its labels, columns, number of features and number of rows.
//!
//! [`open`] inspects the data as far as the settings need it, and returns a reader with the schema that was found. The inspection
//! is one pass at most; if the settings need nothing, no pass is made. [`open_guessing`] also guesses the loss from the labels.
//!
//! ```
//! use parsimon::data::{Input, Options};
//! use parsimon::{Spec, survey};
//!
//! let bytes = b"ham 1:1\nspam 3:1\n".to_vec();
//! let inputs = [Input::Bytes { name: "mail.svm".into(), bytes }];
//! let settings = Spec::new("ftrl").resolve()?;
//! let opened = survey::open(&[settings], &inputs[..], &Options::default())?;
//! assert_eq!(opened.schema.found.classes, ["ham", "spam"]);
//! # Ok::<(), parsimon::Error>(())
//! ```

mod classes;
mod guess;
mod kinds;
mod needs;
mod opened;
mod scan;
mod schema;
mod source;
mod stored;
mod words;

pub use crate::found::Found;
pub use opened::survey;
pub use schema::InputSchema;

pub(crate) use kinds::widened;
pub(crate) use opened::open_with;

#[doc(hidden)]
pub use guess::{Guess, Guessed, open_guessing};
#[doc(hidden)]
pub use kinds::{Widening, with_kinds};
#[doc(hidden)]
pub use needs::{LabelNeed, Needs};
#[doc(hidden)]
pub use opened::{Opened, open, table};
#[doc(hidden)]
pub use scan::{Scan, SeenLabels, scan};
#[doc(hidden)]
pub use source::Source;
#[doc(hidden)]
pub use stored::{schema_from_json, schema_to_json};
#[doc(hidden)]
pub use words::columns_in_words;

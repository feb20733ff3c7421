//! What the data holds, found out before the first row is learned: the labels, the number of features, the number of rows.
//!
//! [`open`] is what every front end calls: it looks at the data as far as the settings need it, and hands back the
//! data open for learning. A look is one pass, whatever is looked for; where nothing is needed there is none.
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
pub use guess::{Guess, Guessed, open_guessing};
pub use kinds::{widened, with_kinds};
pub use needs::{LabelNeed, Needs};
pub use opened::{Opened, open, survey, table};
pub use scan::{Scan, SeenLabels, scan};
pub use schema::InputSchema;
pub use source::Source;
pub use stored::{schema_from_json, schema_to_json};
pub use words::{columns_in_words, listed};

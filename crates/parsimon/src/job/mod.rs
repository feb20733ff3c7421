//! A training job: everything that `parsimon train` does with rows, for every door to the library.
//!
//! A [`Job`] says what is to be done: the rows, the settings (or `auto`, with the loss left to the labels), how rows are read,
//! passes and outputs. [`Job::run`] inspects the data, guesses what was left open, learns, starts again where a column turns out to
//! have a wider kind, learns again in random order where the order of the rows misleads, and returns the learner with its model.
//! [`Job::sweep`] does this for many settings in one pass. Guesses and findings are values: an [`Events`] receives each
//! [`Notice`], and [`Advice`] puts it into words and names the [`Way`]s to react, which each door writes in its own way.
//!
//! ```
//! use parsimon::Spec;
//! use parsimon::data::{Input, Kinds, Labels, Options, Reading};
//! use parsimon::job::{Events, Job, Notice, Trained};
//!
//! /// Collects notices.
//! struct Notices(Vec<Notice>);
//! impl Events for Notices {
//!     fn notice(&mut self, notice: &Notice) {
//!         self.0.push(notice.clone());
//!     }
//! }
//!
//! // `price` is a number in the first 10,000 rows, and a code after them.
//! let mut csv = String::from("price,bought\n");
//! (0..12_000).for_each(|i| csv += &format!("{}.5,{}\n", i % 7, if i % 7 > 3 { "yes" } else { "no" }));
//! csv += "b7,no\n";
//! let inputs = vec![Input::Bytes { name: "shop.csv".into(), bytes: csv.into_bytes() }];
//! let reading = Reading { labels: Labels::Any, kinds: Kinds::Found, ..Reading::default() };
//! let options = Options::from(reading);
//! let mut notices = Notices(Vec::new());
//! let trained: Trained = Job::new(&inputs, Spec::recommended(), options).run(&mut notices)?;
//! assert_eq!(trained.outcome.rows, 12_001);
//! let Notice::Widened(widening) = &notices.0[0] else { panic!("{:?}", notices.0) };
//! assert_eq!((widening.line, widening.column.as_str()), (Some(12_002), "price"));
//! # Ok::<(), parsimon::Error>(())
//! ```

mod advice;
mod attempt;
mod curves;
mod notice;
mod order;
mod passes;
mod plan;
mod refit;
mod screen;
mod sweep;

pub use crate::training::{Events, Notice};
pub use advice::Advice;
pub use plan::{Job, Trained};

#[doc(hidden)]
pub use crate::survey::Widening;
#[doc(hidden)]
pub use crate::training::{
    Decided, Estimate, Evidence, Evidenced, Hindsight, Judged, Noticing, Reason,
};
#[doc(hidden)]
pub use advice::Way;
#[doc(hidden)]
pub use attempt::{Ended, until_it_fits};
#[doc(hidden)]
pub use curves::shaped;
#[doc(hidden)]
pub use notice::measure_of;
#[doc(hidden)]
pub use passes::{Choice, Repetition, decide as decide_passes, may_repeat};
#[doc(hidden)]
pub use plan::{Failed, InOrder, PassChoice, RefitChoice};
#[doc(hidden)]
pub use sweep::Swept;

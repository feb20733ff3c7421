//! Predicting with a model, explaining a prediction, and evaluating predictions.
//!
//! A [`Model`] holds the nonzero weights with the settings, the schema of its inputs and the names of its features. It predicts
//! and cannot learn. Its [`Scorer`] lays the weights out for fast prediction and appends one *margin* for each row, or one for
//! each class. [`Loss::predict`](crate::settings::Loss::predict) turns a margin into a prediction: for the logistic loss, the
//! probability of the positive class.
//!
//! * [`Model::contributions`] lists what each feature of a row adds to its margin.
//! * [`Model::assess`] evaluates a model on labeled files: metrics, the comparison with a constant prediction, and segments.
//! * [`Coverage`] counts how many features of some data have a weight in the model.
//!
//! ```
//! use parsimon::predict::{Contribution, Model, Scorer};
//! use parsimon::rows::{Chunk, Repeats};
//! use parsimon::{InputSchema, LearnerOptions, Spec, Trainer};
//!
//! let settings = Spec::new("ftrl").set("l1", 0.1).resolve()?;
//! let mut trainer = Trainer::new(settings, LearnerOptions::default(), InputSchema::default())?;
//! let mut chunk = Chunk::new();
//! for i in 0..200 {
//!     chunk.push_feature(1 + i % 2, 1.0);
//!     chunk.finish_row(Some(if i % 2 == 0 { 1.0 } else { -1.0 }), 1.0, Repeats::Refuse).unwrap();
//! }
//! trainer.learn(&chunk, &mut |_| {})?;
//!
//! // The bytes of a model file; `save` and `load` take a path.
//! let model = Model::from_bytes(&trainer.model().to_bytes())?;
//! let scorer: Scorer = model.scorer();
//! let mut margins = Vec::new();
//! scorer.margins(&chunk, &mut margins);
//! let probability = model.settings().loss().predict(margins[0]);
//! assert!(probability > 0.6);
//!
//! let mut parts: Vec<Contribution> = Vec::new();
//! model.contributions(&chunk, 0, 0, &mut parts);
//! assert_eq!((parts.len(), parts[0].feature), (1, 1));
//! # Ok::<(), parsimon::Error>(())
//! ```

pub use crate::coverage::Coverage;
pub use crate::explanation::Contribution;
pub use crate::model::Model;
pub use crate::training::{Assess, Assessed};
#[doc(inline)]
pub use parsimon_core::Scorer;

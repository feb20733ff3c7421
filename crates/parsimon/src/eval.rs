//! Metrics of evaluations.
//!
//! [`Model::assess`](crate::Model::assess) and the outcome of a run return an [`Evaluation`]. Its metrics depend on the task:
//! [`BinaryMetrics`], [`MulticlassMetrics`] or [`RegressionMetrics`].
//!
//! ```
//! use parsimon::eval::{BinaryMetrics, Evaluation, MulticlassMetrics, RegressionMetrics};
//!
//! /// Returns the one number by which this program compares models.
//! fn score(evaluation: &Evaluation) -> Option<f64> {
//!     match evaluation {
//!         Evaluation::Binary(BinaryMetrics { auc, .. }) => *auc,
//!         Evaluation::Multiclass(MulticlassMetrics { accuracy, .. }) => *accuracy,
//!         Evaluation::Regression(RegressionMetrics { r2, .. }) => *r2,
//!         _ => None,
//!     }
//! }
//! ```

#[doc(inline)]
pub use parsimon_eval::{BinaryMetrics, Evaluation, MulticlassMetrics, RegressionMetrics};

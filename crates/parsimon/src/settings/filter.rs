//! Settings as a filter.

use parsimon_core::Float;
use parsimon_core::filter::Filter;

use super::Settings;
use crate::algorithm::filter::DelayLine;
use crate::algorithm::filters;
use crate::algorithm::recipe::Composed;
use crate::error::BuildError;

/// More taps than this are refused: a minute of audio at 48 kHz.
const MOST_TAPS: usize = 3_000_000;

/// Regularization of a filter, in addition to the setting `delta`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Regularization {
    /// Added to the normalizer, as a share of the average energy of a regressor. Use 0.01 for speech: its energy varies over five
    /// decades, so that no absolute number suits both loud and quiet passages.
    pub relative: f64,
}

/// The precisions a filter can be built in.
pub trait FilterPrecision: Float {
    #[doc(hidden)]
    #[expect(private_interfaces, reason = "only this crate builds filters")]
    fn build(recipe: &dyn Composed, line: DelayLine) -> Option<Box<dyn Filter<Self>>>;
}

impl FilterPrecision for f32 {
    #[expect(private_interfaces, reason = "only this crate builds filters")]
    fn build(recipe: &dyn Composed, line: DelayLine) -> Option<Box<dyn Filter<f32>>> {
        recipe.filter_f32(line)
    }
}

impl FilterPrecision for f64 {
    #[expect(private_interfaces, reason = "only this crate builds filters")]
    fn build(recipe: &dyn Composed, line: DelayLine) -> Option<Box<dyn Filter<f64>>> {
        recipe.filter_f64(line)
    }
}

impl Settings {
    /// Builds a filter with a number of taps, all zero.
    ///
    /// ```
    /// use parsimon::filter::{Filter, Regularization};
    /// use parsimon::Spec;
    ///
    /// let settings = Spec::new("ipnlms").set("rate", 0.5).resolve()?;
    /// let mut filter = settings.filter::<f32>(64, Regularization { relative: 0.01 })?;
    /// let residual = filter.push(&[0.1, -0.2, 0.3], &[0.0, 0.05, -0.1]);
    /// assert_eq!(residual.len(), 3);
    /// # Ok::<(), parsimon::BuildError>(())
    /// ```
    pub fn filter<F: FilterPrecision>(
        &self,
        taps: usize,
        regularization: Regularization,
    ) -> Result<Box<dyn Filter<F>>, BuildError> {
        if self.algorithm().is_filter() && (taps == 0 || taps > MOST_TAPS) {
            let message = format!("taps must be from 1 to {MOST_TAPS}, got {taps}");
            return Err(BuildError::new("taps", message));
        }
        self.recipe().check_size(taps as u64)?;
        let line = DelayLine { taps, relative: regularization.relative, loss: self.loss() };
        F::build(self.recipe(), line).ok_or_else(|| {
            let message = format!(
                "{} does not filter signals; {} do",
                self.algorithm().name,
                filters().collect::<Vec<_>>().join(", ")
            );
            BuildError::new("algorithm", message)
        })
    }
}

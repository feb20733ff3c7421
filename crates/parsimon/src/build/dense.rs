//! The dense methods: the same method over the rows of a table, or behind a delay line as a filter.

use parsimon_core::filter::lms::Lms;
use parsimon_core::filter::metric::MagnitudeMetric;
use parsimon_core::filter::projection::{Form, Projection, ProjectionSettings, SolutionSet};
use parsimon_core::filter::proportionate::{Gain, Proportionate};
use parsimon_core::filter::rls::Rls;
use parsimon_core::filter::{Delta, Filter, Method, OverRows, Tapped};
use parsimon_core::{Float, Online};

use super::Builder;
use crate::registry::FILTERS;
use crate::{BuildError, Settings};

/// The matrix of RLS, half of which is kept, may take this many bytes: some 32,000 features.
const MOST_MEMORY: u64 = 1 << 32;

/// More taps than this are a mistake: a minute of audio at 48 kHz.
const MOST_TAPS: usize = 3_000_000;

/// What is added to a filter's normalizer beside the setting `delta`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Regularization {
    /// A share of the usual energy of a regressor. Speech wants it: its energy varies over five decades, and no
    /// absolute number suits both its loud and its low stretches.
    pub relative: f64,
}

impl Settings {
    /// A filter with so many taps, at rest.
    ///
    /// ```
    /// use parsimon::core::filter::Filter;
    /// use parsimon::{Regularization, Spec};
    ///
    /// let settings = Spec::new("ipnlms").set("rate", 0.5).resolve()?;
    /// let mut filter = settings.filter::<f32>(64, Regularization { relative: 0.01 })?;
    /// let residual = filter.push(&[0.1, -0.2, 0.3], &[0.0, 0.05, -0.1]);
    /// assert_eq!(residual.len(), 3);
    /// # Ok::<(), parsimon::BuildError>(())
    /// ```
    pub fn filter<F: Float>(
        &self,
        taps: usize,
        regularization: Regularization,
    ) -> Result<Box<dyn Filter<F>>, BuildError> {
        if !self.algorithm().is_filter() {
            return Err(BuildError::new(
                "algorithm",
                format!(
                    "{} does not filter signals; {} do",
                    self.algorithm().name,
                    FILTERS.join(", ")
                ),
            ));
        }
        if taps == 0 || taps > MOST_TAPS {
            let message = format!("taps must be from 1 to {MOST_TAPS}, got {taps}");
            return Err(BuildError::new("taps", message));
        }
        self.check_matrix(taps as u64)?;
        Ok(self.dense::<F, _>(taps, taps, regularization.relative, BehindALine))
    }

    /// Refuses what would not fit, before it is tried.
    pub(super) fn check_memory(&self) -> Result<(), BuildError> {
        if self.is_dense() { self.check_matrix(self.natural("dimension")) } else { Ok(()) }
    }

    fn check_matrix(&self, dimension: u64) -> Result<(), BuildError> {
        let bytes = Rls::<f64>::memory(dimension.saturating_add(1));
        if self.algorithm().name != "rls" || bytes <= MOST_MEMORY {
            return Ok(());
        }
        let gib = bytes as f64 / f64::from(1 << 30);
        Err(BuildError::new(
            "dimension",
            format!(
                "rls keeps a matrix over all pairs of features: {dimension} of them need {gib:.1} GiB, and 4 GiB \
                 is the most; csgd and adagrad-rda need memory for the features alone"
            ),
        ))
    }

    /// The method of these settings, handed to whoever feeds it: `len` weights, the first `features` of them under
    /// the metric.
    fn dense<F: Float, A: Feed<F>>(
        &self,
        len: usize,
        features: usize,
        relative: f64,
        feed: A,
    ) -> A::Output {
        let number = |name| F::from_f64(self.number(name));
        let delta = Delta { absolute: number("delta"), relative: F::from_f64(relative) };
        let rate = self.number("rate");
        match self.algorithm().name {
            "lms" => feed.feed(|| Lms::<F>::new(len, rate)),
            "rls" => {
                let (delta, forgetting) = (self.number("delta"), self.number("forgetting"));
                feed.feed(|| Rls::<F>::new(len, delta, forgetting))
            }
            "pnlms" => {
                let gain = Gain::Proportionate { rho: number("rho"), delta_p: number("delta_p") };
                feed.feed(|| Proportionate::new(len, features, rate, delta, gain))
            }
            "ipnlms" => {
                let gain = Gain::Improved { a: number("a"), epsilon: number("epsilon") };
                feed.feed(|| Proportionate::new(len, features, rate, delta, gain))
            }
            name => {
                let alpha = self.optional("alpha").map(F::from_f64);
                let epsilon = number("epsilon");
                let settings = ProjectionSettings {
                    rate: number("rate"),
                    l1: number("l1"),
                    delta,
                    metric: alpha.map(|alpha| MagnitudeMetric { alpha, epsilon }),
                    order: self.natural("order") as usize,
                    set: match self.word("loss") {
                        "halfspace" => SolutionSet::HalfSpace,
                        _ => SolutionSet::Hyperplane,
                    },
                    form: if name == "pda" { Form::Dual } else { Form::Primal },
                };
                feed.feed(|| Projection::new(len, features, settings))
            }
        }
    }
}

impl Builder<'_> {
    pub(super) fn over_rows<F: Float>(&self) -> Box<dyn Online> {
        let features = self.settings.natural("dimension") as usize;
        let len = features + usize::from(self.frame.bias);
        self.settings.dense::<F, _>(len, features, 0.0, self)
    }
}

/// Whoever brings a method its regressors.
trait Feed<F: Float> {
    type Output;
    fn feed<M: Method<F>>(self, method: impl Fn() -> M) -> Self::Output;
}

/// A signal, sample by sample.
struct BehindALine;

impl<F: Float> Feed<F> for BehindALine {
    type Output = Box<dyn Filter<F>>;
    fn feed<M: Method<F>>(self, method: impl Fn() -> M) -> Self::Output {
        Box::new(Tapped::new(method()))
    }
}

/// The rows of a table, one method per class.
impl<F: Float> Feed<F> for &Builder<'_> {
    type Output = Box<dyn Online>;
    fn feed<M: Method<F>>(self, method: impl Fn() -> M) -> Self::Output {
        let methods = (0..self.heads()).map(|_| method()).collect();
        let other = self.settings.loss().other_label();
        let features = self.settings.natural("dimension") as usize;
        Box::new(OverRows::new(methods, other, features, self.frame.bias, self.table()))
    }
}

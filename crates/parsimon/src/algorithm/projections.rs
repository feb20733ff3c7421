//! Shared code of the projection methods (nlms, apa, papa, apfbs, pda), which are one method with several settings.

use parsimon_core::filter::Delta;
use parsimon_core::filter::metric::MagnitudeMetric;
use parsimon_core::filter::projection::{
    Form, Projection, ProjectionSettings, Shrinking, SolutionSet,
};
use parsimon_core::penalty::L1;
use parsimon_core::rule::mirror::{HalfStep, Scheduled};
use parsimon_core::{Float, Loss, Schedule};

use super::groups::{ProjectionLoss, RowSet};
use super::recipe::{Composer, FilterComposer};
use crate::error::BuildError;
use crate::found::Found;

/// Any of the five projection methods.
#[derive(Clone, Copy, Debug)]
pub(super) struct Projections {
    pub(super) rate: f64,
    pub(super) l1: f64,
    pub(super) delta: f64,
    /// The share of the identity in the metric and the constant that keeps it finite; `None` for the identity.
    pub(super) metric: Option<(f64, f64)>,
    /// Number of rows of one projection.
    pub(super) order: usize,
    pub(super) form: Form,
    pub(super) shrinking: Shrinking,
}

impl Projections {
    /// Whether a step touches a row's own features alone.
    pub(super) fn is_sparse(&self) -> bool {
        self.metric.is_none() && self.order == 1
    }

    fn method<F: Float>(
        &self,
        loss: Loss,
        len: usize,
        features: usize,
        relative: F,
    ) -> Projection<F> {
        let f = F::from_f64;
        let metric = |(alpha, epsilon)| MagnitudeMetric { alpha: f(alpha), epsilon: f(epsilon) };
        let settings = ProjectionSettings {
            rate: f(self.rate),
            l1: f(self.l1),
            delta: Delta { absolute: f(self.delta), relative },
            metric: self.metric.map(metric),
            order: self.order,
            set: match loss {
                Loss::SquaredHinge => SolutionSet::HalfSpace,
                _ => SolutionSet::Hyperplane,
            },
            form: self.form,
            shrinking: self.shrinking,
        };
        Projection::new(len, features, settings)
    }

    /// The method over rows that look at every weight.
    pub(super) fn over_rows<F: Float, C: Composer<F>>(
        &self,
        found: &Found,
        composer: C,
    ) -> C::Output {
        let (dimension, loss) = (found.dimension.unwrap_or(1), composer.loss());
        composer.method(dimension, |len, features| self.method(loss, len, features, F::ZERO))
    }

    /// Composes the O(nnz) form, for the identity and one row at a time.
    pub(super) fn step_by_step<F: Float, C: Composer<F>>(&self, composer: C) -> C::Output {
        let schedule = Schedule::Constant { rate: self.rate };
        let rule = |l1| Scheduled { penalty: L1 { l1 }, schedule, half_step: HalfStep::Same };
        composer.projecting(rule(self.l1), rule(0.0), self.delta)
    }

    pub(super) fn behind_a_line<F: Float, C: FilterComposer<F>>(&self, composer: C) -> C::Output {
        let loss = composer.loss();
        composer.method(|len, features, relative| self.method(loss, len, features, relative))
    }
}

/// Half-spaces are projected on one by one.
pub(super) fn check_order(order: usize, loss: &ProjectionLoss) -> Result<(), BuildError> {
    match loss.loss == RowSet::Halfspace && order > 1 {
        true => Err(BuildError::new(
            "order",
            "half-spaces are projected on one by one: order must be 1",
        )),
        false => Ok(()),
    }
}

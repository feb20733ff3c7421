//! Damping of corrections that several learners have made in common.

use parsimon_core::Loss;
use parsimon_core::merge::{MergeRead, Parts, Tally};

use super::Counts;
use super::tallies::difference;
use crate::training::Trainer;

/// Limit above which every learner makes a correction completely, for any exponent.
const MOST_CURVATURE: f64 = 1e6;

/// Features that are in most rows are not independent of each other, and correct more in common than their shares say. By trial: with 1
/// sixteen learners of a click log still disturb each other, with 4 they learn too slowly (`record/cluster.md`).
const TOGETHER: f64 = 2.0;

/// Number of times that a learner's rows made a correction that all learners make: frequent features are corrected together.
pub(super) struct Usual {
    /// Sum of the squared slopes, estimated by the coordinate with the largest sum: the bias, if any.
    squares: f64,
    /// Common correction of frequent features, as an exponent.
    common: f64,
    /// See [`Counts::curvature`].
    curvature: f64,
}

impl Usual {
    pub(super) fn of(online: &dyn MergeRead, curvature: f64, start: &Tally, end: &Tally) -> Self {
        let mut usual = Self { squares: 0.0, common: 0.0, curvature };
        let width = online.shares().len();
        if online.damps() {
            let largest = |_: u32, from: &Parts, to: &Parts| {
                usual.squares = usual.squares.max(to.memory - from.memory);
            };
            difference(start, end, width, largest);
            let mut common = 0.0;
            difference(start, end, width, |id, from, to| {
                common += usual.share(from, to) * usual.overlap(online, id, from, to);
            });
            usual.common = common;
        }
        usual
    }

    /// The share of the rows that have a feature, each counted by the square of its slope.
    fn share(&self, from: &Parts, to: &Parts) -> f64 {
        if self.squares > 0.0 { (to.memory - from.memory) / self.squares } else { 0.0 }
    }

    /// Share of a correction that the coordinate alone would have made, as an exponent.
    fn overlap(&self, online: &dyn MergeRead, id: u32, from: &Parts, to: &Parts) -> f64 {
        self.curvature * online.overlap(id, from, to)
    }

    /// Correction of the coordinate alone and in common with others.
    pub(super) fn exponent(
        &self,
        online: &dyn MergeRead,
        id: u32,
        from: &Parts,
        to: &Parts,
    ) -> f64 {
        let own = self.overlap(online, id, from, to);
        exponent_of(own, self.share(from, to), self.common)
    }
}

/// Correction of a coordinate alone and in common with others.
pub(super) fn exponent_of(own: f64, share: f64, common: f64) -> f64 {
    own + TOGETHER * share * common
}

impl Counts {
    /// Ratio of the curvature of the loss to the mean square of its slopes, which the damping uses instead.
    ///
    /// They are the same for the logistic loss. The squared loss has curvature 1, and slopes that shrink as it is learned.
    pub(super) fn curvature(&self, end: &Trainer) -> f64 {
        if end.settings().loss() != Loss::Squared || end.settings().is_multiclass() {
            return 1.0;
        }
        // The loss is in the units of the label, the slopes in those of the learner.
        let unit = self.moments.as_ref().map_or(1.0, |m| m.target.deviation());
        let slopes = 2.0 * self.loss / self.weight / (unit * unit);
        if slopes > 0.0 { (1.0 / slopes).clamp(1.0, MOST_CURVATURE) } else { 1.0 }
    }
}

//! Running moments beside the weights, and their validity for some rows.

use parsimon_core::workspace::MomentsDelta;

use crate::training::Trainer;

/// Whether running moments are kept beside the weights.
pub(super) fn keeps_moments(trainer: &Trainer) -> bool {
    trainer.settings().is_normalized()
}

/// Whether some rows can have these moments: all finite, except for the range of no labels.
pub(super) fn is_plausible(moments: &MomentsDelta) -> bool {
    let MomentsDelta { weight, energy, target, features, columns } = moments;
    let range = (target.low, target.high);
    let is_range = range == (f64::INFINITY, f64::NEG_INFINITY)
        || (target.low.is_finite() && target.high.is_finite() && target.low <= target.high);
    let is_sum = |x: &f64| x.is_finite() && *x >= 0.0;
    is_range
        && target.mean.is_finite()
        && [*weight, *energy, target.weight, target.squares].iter().all(is_sum)
        && features.iter().all(|(_, [n, squares, replacing])| {
            // The sign of the second marks a sample of one row.
            [*n, squares.abs(), *replacing].iter().all(is_sum)
        })
        && columns.iter().all(|column| column.is_sound() && column.weight > 0.0)
}

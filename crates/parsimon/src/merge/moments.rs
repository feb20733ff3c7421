//! Running moments beside the weights, and whether some rows can have them.

use parsimon_core::MomentsDelta;

use crate::Trainer;

/// Whether running moments are kept beside the weights.
pub(super) fn keeps_moments(trainer: &Trainer) -> bool {
    trainer.settings().is_normalized()
}

/// Sums and labels that some rows can have: finite but for the range of no labels.
pub(super) fn is_plausible(moments: &MomentsDelta) -> bool {
    let MomentsDelta { weight, energy, target, .. } = moments;
    let range = (target.low, target.high);
    let is_range = range == (f64::INFINITY, f64::NEG_INFINITY)
        || (target.low.is_finite() && target.high.is_finite() && target.low <= target.high);
    let sums = [*weight, *energy, target.weight, target.squares];
    is_range && target.mean.is_finite() && sums.iter().all(|x| x.is_finite() && *x >= 0.0)
}

/// A feature's sample that some rows can have.
pub(super) fn is_sample(sample: &[f64; 3]) -> bool {
    sample.iter().all(|x| x.is_finite() && *x >= 0.0)
}

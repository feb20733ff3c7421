//! Levels as exponential averages.

use crate::config::Config;

/// Returns the factor by which an average over `seconds` decays in one block.
pub(crate) fn decay(config: &Config, seconds: f32) -> f32 {
    (-(config.block() as f32) / config.rate as f32 / seconds).exp()
}

pub(crate) fn energy(samples: &[f32]) -> f32 {
    samples.iter().map(|v| v * v).sum()
}

pub(crate) fn peak(samples: &[f32]) -> f32 {
    samples.iter().fold(0.0, |m, v| m.max(v.abs()))
}

//! Proposition 2.1 of the lazy thesis: `K` steps of the penalty one by one, against one step with the sum of the step sizes.
//!
//! Each step is the minimum of `|z - y|²/2 + eta r(z)`. The proposition is for norms; for their squares it is false, and both are here.

use std::collections::BTreeMap;

use parsimon_core::rule::dense::threshold;
use parsimon_core::soft;
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Deserialize;

use super::hindsight::dot;
use super::{Run, Trial};

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ProximalSettings {
    n: usize,
    /// The numbers of steps that are put together.
    steps: Vec<usize>,
    /// The first step; the `j`-th is this over the root of `j`.
    rate: f64,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Penalty {
    L1,
    L2Norm,
    Linf,
    /// Half the squared length.
    L2Squared,
    /// The l1 norm and half the squared length.
    Elastic,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ProximalMethod {
    penalty: Penalty,
}

pub(super) fn trial(run: &Run<'_>) -> Result<Trial, String> {
    let settings: ProximalSettings = run.settings()?;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(run.seed);
    let scale: f64 = random.random_range(0.5..2.0);
    let start: Vec<f64> = (0..settings.n)
        .map(|_| scale * Distribution::<f64>::sample(&StandardNormal, &mut random))
        .collect();
    let mut trial = Trial::default();
    for method in run.experiment.methods_of(run.variant) {
        let ProximalMethod { penalty } =
            method.spec.clone().try_into().map_err(|e| format!("{}: {e}", method.name))?;
        let apart = |&steps: &usize| {
            let sizes = (1..=steps).map(|j| settings.rate / (j as f64).sqrt());
            (steps as f64, apart(penalty, &start, &sizes.collect::<Vec<_>>()))
        };
        let curve = settings.steps.iter().map(apart).collect();
        let measures = BTreeMap::from([("difference".to_owned(), curve)]);
        trial.curves.insert(method.name.clone(), measures);
    }
    Ok(trial)
}

/// The largest difference of a coordinate, relative to the largest coordinate at the start.
pub(super) fn apart(penalty: Penalty, start: &[f64], sizes: &[f64]) -> f64 {
    let mut one_by_one = start.to_vec();
    sizes.iter().for_each(|eta| penalty.step(&mut one_by_one, *eta));
    let mut at_once = start.to_vec();
    penalty.step(&mut at_once, sizes.iter().sum());
    let largest = start.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    let worst = one_by_one.iter().zip(&at_once).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
    worst / largest
}

impl Penalty {
    fn step(self, y: &mut [f64], eta: f64) {
        match self {
            Penalty::L1 => y.iter_mut().for_each(|y| *y = soft(*y, eta)),
            Penalty::L2Norm => {
                let length = dot(y, y).sqrt();
                let keep = if length > eta { 1.0 - eta / length } else { 0.0 };
                y.iter_mut().for_each(|y| *y *= keep);
            }
            // The point minus its projection on the l1 ball: everything above a level is cut.
            Penalty::Linf => {
                let mut magnitudes: Vec<f64> = y.iter().map(|y| y.abs()).collect();
                let level = threshold(&mut magnitudes, eta);
                y.iter_mut().for_each(|y| *y = y.clamp(-level, level));
            }
            Penalty::L2Squared => y.iter_mut().for_each(|y| *y /= 1.0 + eta),
            Penalty::Elastic => y.iter_mut().for_each(|y| *y = soft(*y, eta) / (1.0 + eta)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn norms_can_be_put_together_and_squares_cannot() {
        let (start, sizes) = ([2.0, -1.0, 0.3, 0.0], [0.1, 0.07, 0.05]);
        for penalty in [Penalty::L1, Penalty::L2Norm, Penalty::Linf] {
            assert!(apart(penalty, &start, &sizes) < 1e-12, "{penalty:?}");
            assert!(apart(penalty, &start, &[3.0, 4.0]) < 1e-12, "{penalty:?}: all of it gone");
        }
        for penalty in [Penalty::L2Squared, Penalty::Elastic] {
            assert!(apart(penalty, &start, &sizes) > 1e-4, "{penalty:?}");
        }
    }
}

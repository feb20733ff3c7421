//! Growth of the regret with the rounds: `R_T = sum_t [f_t(w_t) + l1 |w_t|_1] - min_w sum_t [f_t(w) + l1 |w|_1]`.
//!
//! The rival is computed for every `T`, by a batch solver that proves its distance from the minimum. The measure is the slope of `log R_T` over `log T`,
//! by least squares: a regret of `O(sqrt T)` has a slope of a half at most, once `T` is large.

use std::collections::BTreeMap;

use parsimon::rows::{Chunk, Repeats};
use parsimon::survey::Found;
use parsimon::{LearnerOptions, Settings};
use rand::seq::index::sample;
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Deserialize;

use super::hindsight::{Charge, DenseRows, Sum, dot};
use super::{Curve, Run, Trial, spec};
use crate::experiment::PerEffort;

/// The stream, as the file says it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct GrowthSettings {
    rounds: PerEffort,
    /// The first round at which the regret is taken; then each time they have doubled.
    first: usize,
    n: usize,
    /// Nonzeros of a row.
    nonzeros: usize,
    /// Number of features on which the labels depend.
    relevant: usize,
    /// The strength of the penalty, of every method and of the rival.
    l1: f64,
}

pub(super) fn trial(run: &Run<'_>) -> Result<Trial, String> {
    let stream: GrowthSettings = run.settings()?;
    let rounds = stream.rounds.at(run.effort) as usize;
    let rows = stream.draw(rounds, run.seed);
    let mut rivals: Vec<(usize, f64)> = Vec::new();
    let mut trial = Trial::default();
    for method in run.experiment.methods_of(run.variant) {
        let fail = |e: parsimon::BuildError| format!("{}: {e}", method.name);
        let settings = spec(method).set("l1", stream.l1).resolve().map_err(fail)?;
        if rivals.is_empty() {
            rivals = stream.rivals(&rows, &settings);
        }
        let paid = stream.play(&rows, &settings).map_err(fail)?;
        trial.curves.insert(method.name.clone(), curves(&paid, &rivals));
    }
    Ok(trial)
}

impl GrowthSettings {
    /// Sparse rows of normal values; labels by the logistic model of a sparse truth.
    fn draw(&self, rounds: usize, seed: u64) -> DenseRows {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let normal = |random: &mut Xoshiro256PlusPlus| -> f64 { StandardNormal.sample(random) };
        let mut truth = vec![0.0; self.n];
        truth.iter_mut().take(self.relevant).for_each(|w| *w = 2.0 * normal(&mut random));
        let mut rows = DenseRows { n: self.n, ..DenseRows::default() };
        for _ in 0..rounds {
            let mut x = vec![0.0; self.n];
            for j in sample(&mut random, self.n, self.nonzeros.min(self.n)) {
                x[j] = normal(&mut random);
            }
            let chance = 1.0 / (1.0 + (-dot(&x, &truth)).exp());
            rows.y.push(if random.random::<f64>() < chance { 1.0 } else { -1.0 });
            rows.x.extend(x);
        }
        rows
    }

    /// Rounds at which the regret is taken.
    fn marks(&self, rounds: usize) -> Vec<usize> {
        let doubled = std::iter::successors(Some(self.first.max(1)), |t| Some(2 * t));
        doubled.take_while(|t| *t <= rounds).collect()
    }

    /// Loss of the best fixed point of the first rounds, at every mark: the smallest loss that the proof allows.
    fn rivals(&self, rows: &DenseRows, like: &Settings) -> Vec<(usize, f64)> {
        let charge = Charge::ElasticNet { l1: self.l1, l2: 0.0 };
        let mut start = vec![0.0; self.n];
        let mut least = |rounds: usize| {
            let best = Sum { rows, rounds, loss: like.loss(), charge }.minimize(&start);
            start.clone_from(&best.w);
            (rounds, best.value - best.gap.max(0.0))
        };
        self.marks(rows.y.len()).into_iter().map(&mut least).collect()
    }

    /// Losses and penalties of the points played, summed up to every round.
    fn play(
        &self,
        rows: &DenseRows,
        settings: &Settings,
    ) -> Result<Vec<f64>, parsimon::BuildError> {
        let mut online = settings.build(
            LearnerOptions { bias: false, ..LearnerOptions::default() },
            &Found::default(),
        )?;
        let (mut chunk, mut margins) = (Chunk::new(), Vec::new());
        let (mut sum, mut norm) = (0.0, 0.0);
        let mut paid = Vec::new();
        for (i, &y) in rows.y.iter().enumerate() {
            chunk.clear();
            let nonzeros = (1..).zip(rows.row(i)).filter(|(_, v)| **v != 0.0);
            nonzeros.for_each(|(j, &v)| chunk.push_feature(j, v));
            if chunk.finish_row(Some(y), 1.0, Repeats::Refuse).is_err() {
                unreachable!("generated rows are finite");
            }
            margins.clear();
            online.learn(&chunk, &mut margins);
            sum += settings.loss().value(margins[0], y) + self.l1 * norm;
            paid.push(sum);
            norm = online.freeze().heads()[0].weights().iter().map(|w| w.abs()).sum();
        }
        Ok(paid)
    }
}

fn curves(paid: &[f64], rivals: &[(usize, f64)]) -> BTreeMap<String, Curve> {
    let regret: Curve = rivals.iter().map(|&(t, least)| (t as f64, paid[t - 1] - least)).collect();
    let per_root = regret.iter().map(|&(t, r)| (t, r / t.sqrt())).collect();
    let slope = (2..=regret.len()).map(|k| (regret[k - 1].0, slope(&regret[..k]))).collect();
    BTreeMap::from([
        ("regret".to_owned(), regret),
        ("per_root".to_owned(), per_root),
        ("slope".to_owned(), slope),
    ])
}

/// The slope of the line through the logarithms, by least squares. A regret that is not positive counts as a tiny positive one.
pub(super) fn slope(points: &[(f64, f64)]) -> f64 {
    let logs: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.max(1e-12).ln())).collect();
    let n = logs.len() as f64;
    let (x, y) = logs.iter().fold((0.0, 0.0), |(x, y), p| (x + p.0 / n, y + p.1 / n));
    let (mut xy, mut xx) = (0.0, 0.0);
    for p in &logs {
        xy += (p.0 - x) * (p.1 - y);
        xx += (p.0 - x) * (p.0 - x);
    }
    xy / xx
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_power_has_its_exponent_as_slope() {
        let points: Vec<(f64, f64)> =
            (4..12).map(|k| 2f64.powi(k)).map(|t| (t, 3.0 * t.powf(0.4))).collect();
        assert!((slope(&points) - 0.4).abs() < 1e-12);
        assert!(slope(&[(1.0, 1.0), (2.0, -1.0)]) < 0.0);
    }
}

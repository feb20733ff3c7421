//! The theorems on CSGD, step by step: equation (9) of the paper on least squares with a bias coordinate, and a check of every inequality in every round.
//!
//! Rows are `[1, uniform in [0, 1]]`, targets a normal truth with noise. `w*` of the inequalities between two steps is the best point of all rows; that of
//! sums over the first `T` rounds is the best point of these. A round violates an inequality if the excess is larger than rounding. The library's `csgd` is
//! compared with this equation by its twin; the loop here needs the point before its projection, which a learner does not show.

use std::collections::BTreeMap;

use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Deserialize;

use super::hindsight::{DenseRows, dot};
use super::least_squares::solve;
use super::{Curve, Run, Trial};
use crate::experiment::PerEffort;

/// Relative rounding that is no violation.
const SLACK: f64 = 1e-9;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ConstrainedSettings {
    rounds: PerEffort,
    /// Features beside the bias.
    n: usize,
    /// The variance of the noise.
    noise: f64,
}

/// Step of a method, as in the file.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Steps {
    /// Whether points are projected on the plane of the mean row.
    #[serde(default)]
    constrained: bool,
    /// `rate/sqrt(t)`, unless another is given.
    #[serde(default)]
    rate: f64,
    /// `1/(h t)`, of Theorem 4.1.
    #[serde(default)]
    h: Option<f64>,
    /// `1/sqrt(T)` for a separate run for each mark, of Corollary 3.4.
    #[serde(default)]
    fixed: bool,
    /// Whether rows have the bias coordinate that Theorem 2.1 needs.
    #[serde(default = "yes")]
    bias: bool,
    /// The standard deviation of the truth.
    #[serde(default = "one")]
    truth: f64,
}

fn one() -> f64 {
    1.0
}

fn yes() -> bool {
    true
}

impl Steps {
    fn at(&self, t: usize, horizon: usize) -> f64 {
        match (self.h, self.fixed) {
            (Some(h), _) => 1.0 / (h * t as f64),
            (None, true) => 1.0 / (horizon as f64).sqrt(),
            (None, false) => self.rate / (t as f64).sqrt(),
        }
    }
}

pub(super) fn trial(run: &Run<'_>) -> Result<Trial, String> {
    let settings: ConstrainedSettings = run.settings()?;
    let rounds = settings.rounds.at(run.effort) as usize;
    let mut trial = Trial::default();
    for method in run.experiment.methods_of(run.variant) {
        let steps: Steps =
            method.spec.clone().try_into().map_err(|e| format!("{}: {e}", method.name))?;
        let rows = settings.draw(rounds, steps, run.seed);
        let all = best(&rows, rounds);
        let mut curves: BTreeMap<String, Curve> = BTreeMap::new();
        match steps.fixed {
            true => {
                for mark in marks(rounds) {
                    let played = play(&rows, steps, &all, &[mark]);
                    played
                        .into_iter()
                        .for_each(|(name, c)| curves.entry(name).or_default().extend(c));
                }
            }
            false => curves = play(&rows, steps, &all, &marks(rounds)),
        }
        trial.curves.insert(method.name.clone(), curves);
    }
    Ok(trial)
}

fn marks(rounds: usize) -> Vec<usize> {
    let powers = std::iter::successors(Some(64), |t| Some(2 * t));
    powers.take_while(|t| *t < rounds).chain([rounds]).collect()
}

impl ConstrainedSettings {
    fn draw(&self, rounds: usize, steps: Steps, seed: u64) -> DenseRows {
        let bias = steps.bias;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let normal = |random: &mut Xoshiro256PlusPlus| -> f64 { StandardNormal.sample(random) };
        let n = self.n + usize::from(bias);
        let truth: Vec<f64> = (0..=self.n).map(|_| steps.truth * normal(&mut random)).collect();
        let mut rows = DenseRows { n, ..DenseRows::default() };
        for _ in 0..rounds {
            let mut x: Vec<f64> = (0..self.n).map(|_| random.random()).collect();
            x.insert(0, 1.0);
            rows.y.push(dot(&x, &truth) + self.noise.sqrt() * normal(&mut random));
            rows.x.extend(&x[usize::from(!bias)..]);
        }
        rows
    }
}

/// The best point of the first rounds.
fn best(rows: &DenseRows, rounds: usize) -> Vec<f64> {
    let n = rows.n;
    let (mut square, mut right) = (vec![vec![0.0; n]; n], vec![0.0; n]);
    for i in 0..rounds {
        let x = rows.row(i);
        for a in 0..n {
            right[a] += x[a] * rows.y[i];
            (0..n).for_each(|b| square[a][b] += x[a] * x[b]);
        }
    }
    solve(&square, &right)
}

fn loss(x: &[f64], y: f64, w: &[f64]) -> f64 {
    0.5 * (y - dot(x, w)).powi(2)
}

fn distance2(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

/// Counts and sums so far.
#[derive(Default)]
struct Sums {
    paid: f64,
    eta: Vec<f64>,
    losses: Vec<f64>,
    eta2: f64,
    /// The largest squared gradient.
    g2: f64,
    /// The sum of `|ḡ|²/|x̄|²`, `G_2` of Theorem 3.3.
    g2_mean: f64,
    step: f64,
    step_projected: f64,
    distance: f64,
    distance_mended: f64,
    low: f64,
    falls: f64,
    tangent: f64,
    least_epsilon: f64,
}

/// Plays the method and checks every inequality.
fn play(rows: &DenseRows, steps: Steps, all: &[f64], marks: &[usize]) -> BTreeMap<String, Curve> {
    let n = rows.n;
    let horizon = marks.last().copied().unwrap_or(0);
    let (mut w, mut mean, mut mean_y) = (vec![0.0; n], vec![0.0; n], 0.0);
    let (whole_x, whole_y) = whole_mean(rows);
    let norm = dot(all, all).sqrt();
    let mut sums = Sums { least_epsilon: f64::INFINITY, ..Sums::default() };
    let mut curves: BTreeMap<String, Curve> = BTreeMap::new();
    for i in 0..horizon {
        let (t, x, y) = (i + 1, rows.row(i), rows.y[i]);
        let eta = steps.at(t, horizon);
        let slope = dot(x, &w) - y;
        let g2 = slope * slope * dot(x, x);
        let paid = loss(x, y, &w);
        sums.paid += paid;
        sums.eta.push(eta);
        sums.losses.push(paid);
        sums.eta2 += eta * eta;
        sums.g2 = sums.g2.max(g2);
        mean.iter_mut().zip(x).for_each(|(m, x)| *m += (x - *m) / t as f64);
        mean_y += (y - mean_y) / t as f64;
        let before: Vec<f64> = w.iter().zip(x).map(|(w, x)| w - eta * slope * x).collect();
        let size2 = dot(&mean, &mean);
        let off = |v: &[f64]| (mean_y - dot(&mean, v)) / size2;
        let on = |v: &[f64]| -> Vec<f64> {
            let by = off(v);
            v.iter().zip(&mean).map(|(v, m)| v + by * m).collect()
        };
        let after = if steps.constrained { on(&before) } else { before.clone() };
        let moved2 = distance2(&after, &before);
        sums.g2_mean += moved2;
        // Theorems 3.1 and 3.2; without a projection nothing is moved, and 3.2 is 3.1.
        let is_beyond = |star: &[f64]| {
            let left = distance2(&after, star) - distance2(&w, star);
            let right = eta * eta * g2 - 2.0 * eta * (paid - loss(x, y, star)) - moved2;
            left > right + SLACK * (1.0 + distance2(&w, star) + distance2(&after, star))
        };
        sums.step += f64::from(u8::from(is_beyond(all)));
        sums.step_projected += f64::from(u8::from(is_beyond(&on(all))));
        // Proposition 2.2: as printed, and with the distance to the plane divided by the length of the mean row.
        let parts = norm * distance2(&mean, &whole_x).sqrt() + (mean_y - whole_y).abs();
        sums.least_epsilon = sums.least_epsilon.min(parts / norm);
        let away = distance2(&on(all), all).sqrt();
        sums.distance += f64::from(u8::from(away > sums.least_epsilon + SLACK));
        sums.distance_mended += f64::from(u8::from(away > parts / size2.sqrt() + SLACK));
        // Lemma 4.2 and the assumption of Theorem 4.1.
        let tangent = (moved2 / distance2(&after, all).max(1e-300)).sqrt();
        sums.falls += f64::from(u8::from(t > 1 && tangent < sums.tangent));
        sums.low += f64::from(u8::from(tangent * tangent / eta < steps.h.unwrap_or(0.0)));
        sums.tangent = tangent;
        w = after;
        if marks.contains(&t) {
            sums.write(rows, steps, t, &mut curves);
        }
    }
    curves
}

fn whole_mean(rows: &DenseRows) -> (Vec<f64>, f64) {
    let count = rows.y.len() as f64;
    let mut mean = vec![0.0; rows.n];
    for i in 0..rows.y.len() {
        mean.iter_mut().zip(rows.row(i)).for_each(|(m, x)| *m += x / count);
    }
    (mean, rows.y.iter().sum::<f64>() / count)
}

impl Sums {
    fn write(
        &self,
        rows: &DenseRows,
        steps: Steps,
        t: usize,
        curves: &mut BTreeMap<String, Curve>,
    ) {
        let star = best(rows, t);
        let lost: Vec<f64> = (0..t).map(|i| loss(rows.row(i), rows.y[i], &star)).collect();
        let regret = self.paid - lost.iter().sum::<f64>();
        let weighted: f64 = (0..t).map(|i| 2.0 * self.eta[i] * (self.losses[i] - lost[i])).sum();
        let (d2, rounds) = (dot(&star, &star), t as f64);
        let loss_bound = d2 - self.g2_mean + self.g2 * self.eta2;
        let first =
            DenseRows { n: rows.n, x: rows.x[..t * rows.n].to_vec(), y: rows.y[..t].to_vec() };
        let (mean, mean_y) = whole_mean(&first);
        let mut push = |name: &str, value: f64| {
            curves.entry(name.to_owned()).or_default().push((rounds, value));
        };
        push("off_line", (dot(&star, &mean) - mean_y).abs());
        push("beyond_step", self.step);
        push("beyond_step_projected", self.step_projected);
        push("beyond_distance", self.distance);
        push("beyond_distance_mended", self.distance_mended);
        push("weighted", weighted);
        push("loss_bound", loss_bound);
        push("beyond_loss", f64::from(u8::from(weighted > loss_bound + SLACK * weighted.abs())));
        let per_round = regret / rounds;
        let fixed_bound = (d2 - self.g2_mean + self.g2) / (2.0 * rounds.sqrt());
        push("average", per_round);
        push("fixed_bound", fixed_bound);
        push("beyond_fixed", f64::from(u8::from(per_round > fixed_bound + SLACK)));
        push("regret", regret);
        let bound = steps.h.map_or(0.0, |h| self.g2 / (2.0 * h) * (1.0 + rounds.ln()));
        push("regret_bound", bound);
        push("beyond_regret", f64::from(u8::from(regret > bound + SLACK * regret.abs())));
        push("per_log", regret / (1.0 + rounds.ln()));
        push("low", 100.0 * self.low / rounds);
        push("falls", 100.0 * self.falls / rounds);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The plane of the mean row holds the best point with a bias coordinate, and the step inequality of SGD is convexity.
    #[test]
    fn what_is_proved_is_never_crossed_and_what_is_not_can_be() {
        let settings = ConstrainedSettings {
            rounds: PerEffort { quick: 500, standard: 500, full: 500 },
            n: 5,
            noise: 0.2,
        };
        let plain =
            Steps { constrained: false, rate: 0.1, h: None, fixed: false, bias: true, truth: 1.0 };
        let end = |steps: Steps, name: &str| {
            let rows = settings.draw(500, steps, 3);
            play(&rows, steps, &best(&rows, 500), &[500])[name][0].1
        };
        assert!(end(plain, "off_line") < 1e-10);
        assert!(end(Steps { bias: false, ..plain }, "off_line") > 1e-6);
        assert_eq!(end(plain, "beyond_step"), 0.0);
        let constrained = Steps { constrained: true, ..plain };
        assert_eq!(end(constrained, "beyond_step_projected"), 0.0);
        assert_eq!(end(constrained, "beyond_distance_mended"), 0.0);
        let long = Steps { truth: 50.0, ..constrained };
        assert!(end(long, "beyond_distance") > 0.0, "as printed, a long truth is too far");
        assert_eq!(end(long, "beyond_distance_mended"), 0.0);
        assert!(end(constrained, "falls") > 0.0, "the tangent falls in some round");
    }
}

//! Least squares on generated rows, drawn with replacement: the empirical loss, or its excess over the minimum.
//!
//! Each method with a rate gets the best power of two of a range, judged by its excess at the end of this very trial, as the CSGD
//! paper chooses its rates from the spectrum of the problem.

use std::collections::BTreeMap;

use parsimon::rows::{Chunk, Repeats};
use parsimon::survey::Found;
use parsimon::train::Online;
use parsimon::{LearnerOptions, Spec};
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Deserialize;

use super::clock::{self, Clock, SECONDS};
use super::{Curve, Rates, Run, Trial, spec};
use crate::experiment::{Method, PerEffort};

/// Result of a method within the time of the fastest method.
const IN_TIME: &str = "in_time";

/// The problem, as the file says it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LeastSquaresSettings {
    rows: PerEffort,
    dimension: PerEffort,
    /// The variance of the noise.
    noise: f64,
    samples: PerEffort,
    rates: Rates,
    measure: Measure,
    /// Whether rows begin with the coordinate 1.
    #[serde(default)]
    bias: bool,
}

/// Measures by their names in results.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
enum Measure {
    /// The empirical loss over its minimum; the minimum costs the cube of the dimension.
    Excess,
    /// The empirical loss.
    Loss,
}

/// Rows with features uniform in [0, 1] and a normal truth.
struct Problem {
    x: Vec<Vec<f64>>,
    y: Vec<f64>,
    /// Points at which the excess is measured.
    minimum: Option<Minimum>,
}

/// `X^T X / n` and the best weights: the excess is `(w - best)^T H (w - best) / 2`.
struct Minimum {
    hessian: Vec<Vec<f64>>,
    best: Vec<f64>,
}

pub(super) fn trial(run: &Run<'_>) -> Result<Trial, String> {
    let Run { experiment, variant, effort, seed, .. } = *run;
    let rows: LeastSquaresSettings = run.settings()?;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let at = |number: PerEffort| number.at(effort) as usize;
    let (count, dimension) = (at(rows.rows), at(rows.dimension));
    let mut problem = Problem::draw(count, dimension, rows.noise, rows.bias, &mut random);
    let name = match rows.measure {
        Measure::Excess => "excess",
        Measure::Loss => "loss",
    };
    if rows.measure == Measure::Excess {
        problem.minimum = Some(problem.minimize());
    }
    let order: Vec<usize> =
        (0..at(rows.samples)).map(|_| random.random_range(0..at(rows.rows))).collect();
    let (mut trial, mut all) = (Trial::default(), Vec::new());
    for method in experiment.methods_of(variant) {
        let (chosen, played) = best_of(method, &problem, &order, rows.rates)?;
        trial.chosen.insert(method.name.clone(), chosen);
        let measures = BTreeMap::from([(name.to_owned(), played.curve.clone())]);
        trial.curves.insert(method.name.clone(), measures);
        all.push((&method.name, played));
    }
    if clock::is_asked(run) {
        let quickest = all.iter().map(|(_, p)| p.time()).fold(f64::INFINITY, f64::min);
        for (method, played) in all {
            let measures = trial.curves.entry(method.clone()).or_default();
            measures.insert(IN_TIME.to_owned(), vec![played.within(quickest)]);
            measures.insert(SECONDS.to_owned(), played.seconds);
        }
    }
    Ok(trial)
}

/// Result of one run of a method.
struct Played {
    curve: Curve,
    seconds: Curve,
}

impl Played {
    fn end(&self) -> f64 {
        self.curve.last().map_or(f64::INFINITY, |p| p.1)
    }

    fn time(&self) -> f64 {
        self.seconds.last().map_or(f64::INFINITY, |p| p.1)
    }

    /// The last point seen by then, or the first point; it is stored under the last round, which every trial has.
    fn within(&self, seconds: f64) -> (f64, f64) {
        let seen = self.seconds.iter().take_while(|p| p.1 <= seconds).count();
        let value = self.curve.get(seen.saturating_sub(1)).map_or(f64::INFINITY, |p| p.1);
        (self.curve.last().map_or(0.0, |p| p.0), value)
    }
}

/// The curve of the best rate, and that rate.
fn best_of(
    method: &Method,
    problem: &Problem,
    order: &[usize],
    rates: Rates,
) -> Result<(String, Played), String> {
    let spec = spec(method);
    let has_rate =
        spec.resolve().map_err(|e| format!("{}: {e}", method.name))?.algorithm().has("rate");
    if !has_rate {
        let played = problem.play(&[spec], order)?.pop();
        return Ok(("no rate".into(), played.ok_or("nothing was played")?));
    }
    let powers: Vec<i32> = rates.powers().collect();
    let at = |power: &i32| spec.clone().set("rate", f64::from(*power).exp2());
    let specs: Vec<Spec> = powers.iter().map(at).collect();
    let mut best: Option<(i32, Played)> = None;
    for (power, played) in powers.into_iter().zip(problem.play(&specs, order)?) {
        let is_better = best.as_ref().is_none_or(|(_, known)| played.end() < known.end());
        if is_better && played.end().is_finite() {
            best = Some((power, played));
        }
    }
    let (power, played) = best.ok_or_else(|| format!("{}: no rate converges", method.name))?;
    Ok((format!("rate 2^{power}"), played))
}

impl Problem {
    fn draw(
        count: usize,
        dimension: usize,
        noise: f64,
        bias: bool,
        random: &mut Xoshiro256PlusPlus,
    ) -> Self {
        let normal = |random: &mut Xoshiro256PlusPlus| -> f64 { StandardNormal.sample(random) };
        let truth: Vec<f64> = (0..dimension + usize::from(bias)).map(|_| normal(random)).collect();
        let (mut x, mut y) = (Vec::new(), Vec::new());
        for _ in 0..count {
            let features = (0..dimension).map(|_| random.random());
            let row: Vec<f64> = bias.then_some(1.0).into_iter().chain(features).collect();
            let clean: f64 = row.iter().zip(&truth).map(|(x, w)| x * w).sum();
            y.push(clean + noise.sqrt() * normal(random));
            x.push(row);
        }
        Self { x, y, minimum: None }
    }

    fn dimension(&self) -> usize {
        self.x.first().map_or(0, Vec::len)
    }

    fn minimize(&self) -> Minimum {
        let (d, n) = (self.dimension(), self.x.len() as f64);
        let mut hessian = vec![vec![0.0; d]; d];
        let mut right = vec![0.0; d];
        for (row, y) in self.x.iter().zip(&self.y) {
            for i in 0..d {
                right[i] += row[i] * y / n;
                for j in 0..=i {
                    hessian[i][j] += row[i] * row[j] / n;
                }
            }
        }
        for i in 0..d {
            let (above, below) = hessian.split_at_mut(i);
            above.iter_mut().zip(&below[0]).for_each(|(row, h)| row[i] = *h);
        }
        let best = solve(&hessian, &right);
        Minimum { hessian, best }
    }

    /// The measure and the time so far at some fifty rounds, evenly on a logarithmic axis, of learners that meet the same rows.
    fn play(&self, specs: &[Spec], order: &[usize]) -> Result<Vec<Played>, String> {
        let found = Found {
            dimension: Some(self.dimension() as u32),
            rows: Some(order.len() as u64),
            ..Found::default()
        };
        let frame = LearnerOptions { bias: false, ..LearnerOptions::default() };
        let built = specs.iter().map(|spec| spec.resolve()?.build(frame, &found));
        let mut learners: Vec<Box<dyn Online>> =
            built.collect::<Result<_, _>>().map_err(|e| e.to_string())?;
        let mut clocks = vec![Clock::default(); learners.len()];
        let played = || Played { curve: Curve::new(), seconds: Curve::new() };
        let mut all: Vec<Played> = learners.iter().map(|_| played()).collect();
        let (mut chunk, mut margins) = (Chunk::new(), Vec::new());
        let mut start = 0;
        for end in looks(order.len()) {
            chunk.clear();
            order[start..end].iter().for_each(|&row| self.push(row, &mut chunk));
            for (online, clock) in learners.iter_mut().zip(&mut clocks) {
                margins.clear();
                clock.count(|| online.learn(&chunk, &mut margins));
            }
            let weights: Vec<Vec<f64>> = learners.iter().map(|o| self.weights(&**o)).collect();
            let measured = self.measure(&weights);
            for ((played, value), clock) in all.iter_mut().zip(measured).zip(&clocks) {
                played.curve.push((end as f64, value));
                played.seconds.push((end as f64, clock.seconds()));
            }
            start = end;
        }
        Ok(all)
    }

    fn push(&self, row: usize, chunk: &mut Chunk) {
        (1..).zip(&self.x[row]).for_each(|(j, &v)| chunk.push_feature(j, v));
        if chunk.finish_row(Some(self.y[row]), 1.0, Repeats::Refuse).is_err() {
            unreachable!("generated rows are finite");
        }
    }

    fn weights(&self, online: &dyn Online) -> Vec<f64> {
        let frozen = online.freeze();
        let head = &frozen.heads()[0];
        (1..=self.dimension() as u32).map(|j| head.weight(j)).collect()
    }

    /// The measure at several points.
    fn measure(&self, weights: &[Vec<f64>]) -> Vec<f64> {
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        match &self.minimum {
            Some(Minimum { hessian, best }) => {
                let at = |w: &Vec<f64>| {
                    let off: Vec<f64> = w.iter().zip(best).map(|(w, best)| w - best).collect();
                    0.5 * hessian.iter().zip(&off).map(|(row, v)| dot(row, &off) * v).sum::<f64>()
                };
                weights.iter().map(at).collect()
            }
            None => weights.chunks(SIDE_BY_SIDE).flat_map(|some| self.losses(some)).collect(),
        }
    }

    /// The empirical loss at a few points.
    ///
    /// PERF: the loss of 5,000 rows of 5,000 features is computed fifty times for each of fifteen rates; the rows are read once for all points of a
    /// block, whose weights lie side by side.
    fn losses(&self, weights: &[Vec<f64>]) -> Vec<f64> {
        let mut block = vec![[0.0; SIDE_BY_SIDE]; self.dimension()];
        for (k, w) in weights.iter().enumerate() {
            block.iter_mut().zip(w).for_each(|(block, w)| block[k] = *w);
        }
        let mut sums = [0.0; SIDE_BY_SIDE];
        for (x, y) in self.x.iter().zip(&self.y) {
            let mut margins = [0.0; SIDE_BY_SIDE];
            for (x, w) in x.iter().zip(&block) {
                margins.iter_mut().zip(w).for_each(|(margin, w)| *margin += x * w);
            }
            sums.iter_mut().zip(&margins).for_each(|(sum, margin)| *sum += (margin - y).powi(2));
        }
        let rows = self.x.len().max(1) as f64;
        sums[..weights.len()].iter().map(|sum| 0.5 * sum / rows).collect()
    }
}

/// Points whose losses are computed together.
const SIDE_BY_SIDE: usize = 8;

/// Rounds of measurements: from 10 on a seventh more each time, and the last.
fn looks(rounds: usize) -> Vec<usize> {
    let next = std::iter::successors(Some(10.0f64), |t| Some(1.15 * t));
    let before = next.map(|t| t.ceil() as usize).take_while(|t| *t < rounds);
    before.chain((rounds > 0).then_some(rounds)).collect()
}

/// A symmetric positive definite system by elimination; only generated problems come here.
pub(super) fn solve(matrix: &[Vec<f64>], right: &[f64]) -> Vec<f64> {
    let n = right.len();
    let mut a: Vec<Vec<f64>> =
        matrix.iter().zip(right).map(|(row, r)| [&row[..], &[*r]].concat()).collect();
    for k in 0..n {
        for i in k + 1..n {
            let factor = a[i][k] / a[k][k];
            let (above, below) = a.split_at_mut(i);
            below[0][k..].iter_mut().zip(&above[k][k..]).for_each(|(x, p)| *x -= factor * p);
        }
    }
    let mut w = vec![0.0; n];
    for i in (0..n).rev() {
        let known: f64 = (i + 1..n).map(|j| a[i][j] * w[j]).sum();
        w[i] = (a[i][n] - known) / a[i][i];
    }
    w
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_are_spread_and_end_at_the_end() {
        assert_eq!(looks(20), [10, 12, 14, 16, 18, 20]);
        assert_eq!((looks(5), looks(0)), (vec![5], vec![]));
    }

    #[test]
    fn what_was_reached_in_time() {
        let played = Played {
            curve: vec![(10.0, 3.0), (20.0, 2.0), (30.0, 1.0)],
            seconds: vec![(10.0, 0.1), (20.0, 0.2), (30.0, 0.3)],
        };
        assert_eq!(played.within(0.25), (30.0, 2.0));
        assert_eq!(played.within(0.05), (30.0, 3.0));
        assert_eq!(played.within(1.0), (30.0, 1.0));
    }

    #[test]
    fn the_minimum_has_no_gradient() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(2);
        let problem = Problem::draw(60, 5, 0.2, false, &mut random);
        let Minimum { best, .. } = problem.minimize();
        for j in 0..5 {
            let residual = |(x, y): (&Vec<f64>, &f64)| {
                x[j] * (x.iter().zip(&best).map(|(x, w)| x * w).sum::<f64>() - y)
            };
            let slope: f64 = problem.x.iter().zip(&problem.y).map(residual).sum();
            assert!(slope.abs() < 1e-9, "{slope}");
        }
    }

    /// Several points at once have the losses that each has alone, from the definition.
    #[test]
    fn losses_side_by_side_are_those_alone() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(4);
        let problem = Problem::draw(40, 6, 0.2, true, &mut random);
        assert!(problem.x.iter().all(|x| x.len() == 7 && x[0] == 1.0));
        let points: Vec<Vec<f64>> =
            (0..11).map(|_| (0..7).map(|_| random.random()).collect()).collect();
        let together = problem.measure(&points);
        for (w, found) in points.iter().zip(&together) {
            let square = |(x, y): (&Vec<f64>, &f64)| {
                (x.iter().zip(w).map(|(x, w)| x * w).sum::<f64>() - y).powi(2)
            };
            let mean = problem.x.iter().zip(&problem.y).map(square).sum::<f64>() / 40.0;
            assert!((found - 0.5 * mean).abs() < 1e-12 * mean, "{found} {mean}");
        }
        assert_eq!(together.len(), 11);
    }
}

//! Batch methods beside online ones: how close full gradients come to the certified minimum, and how many weights are exactly zero.
//!
//! Batch gradient descent (Algorithm 1 of the slides) on logistic loss with half the squared length, and batch proximal gradient ((2) of the lazy thesis) on
//! logistic loss with l1, both with the step that the largest second derivative allows. The minimum is found by the solver of hindsight, with a
//! certificate.

use std::collections::BTreeMap;

use parsimon::LearnerOptions;
use parsimon::rows::{Chunk, Repeats};
use parsimon::settings::Loss;
use parsimon::survey::Found;
use parsimon_core::soft;
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Deserialize;

use super::hindsight::{Charge, DenseRows, Sum, dot};
use super::{Curve, Run, Trial, spec};
use crate::experiment::PerEffort;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct BatchSettings {
    rows: PerEffort,
    n: usize,
    /// The share of zeros in the truth.
    zeros: f64,
    /// The penalty per row.
    strength: f64,
    /// Steps of the batch methods.
    steps: usize,
}

/// Which full step.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "kebab-case")]
enum Full {
    Gradient,
    Proximal,
}

pub(super) fn trial(run: &Run<'_>) -> Result<Trial, String> {
    let settings: BatchSettings = run.settings()?;
    let rows = settings.draw(settings.rows.at(run.effort) as usize, run.seed);
    let mut trial = Trial::default();
    for method in run.experiment.methods_of(run.variant) {
        let measures = match method.spec.get("batch") {
            Some(full) => {
                let full: Full =
                    full.clone().try_into().map_err(|e| format!("{}: {e}", method.name))?;
                settings.descend(full, &rows)
            }
            None => settings.online(method, &rows)?,
        };
        trial.curves.insert(method.name.clone(), measures);
    }
    Ok(trial)
}

impl BatchSettings {
    fn draw(&self, count: usize, seed: u64) -> DenseRows {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let normal = |random: &mut Xoshiro256PlusPlus| -> f64 { StandardNormal.sample(random) };
        let dense = ((1.0 - self.zeros) * self.n as f64).round() as usize;
        let truth: Vec<f64> =
            (0..self.n).map(|j| if j < dense { 2.0 * normal(&mut random) } else { 0.0 }).collect();
        let mut rows = DenseRows { n: self.n, ..DenseRows::default() };
        for _ in 0..count {
            let x: Vec<f64> = (0..self.n).map(|_| normal(&mut random)).collect();
            let chance = 1.0 / (1.0 + (-dot(&x, &truth)).exp());
            rows.y.push(if random.random::<f64>() < chance { 1.0 } else { -1.0 });
            rows.x.extend(x);
        }
        rows
    }

    fn charge(&self, full: Full) -> Charge {
        match full {
            Full::Gradient => Charge::ElasticNet { l1: 0.0, l2: self.strength },
            Full::Proximal => Charge::ElasticNet { l1: self.strength, l2: 0.0 },
        }
    }

    /// Full steps, and their distance from the certified minimum per row.
    fn descend(&self, full: Full, rows: &DenseRows) -> BTreeMap<String, Curve> {
        let (charge, count) = (self.charge(full), rows.y.len());
        let sum = Sum { rows, rounds: count, loss: Loss::Logistic, charge };
        let least = sum.minimize(&vec![0.0; self.n]);
        let eta = 1.0
            / (0.25 * largest(rows)
                + if full == Full::Gradient { count as f64 * self.strength } else { 0.0 });
        let (mut w, mut gaps) = (vec![0.0; self.n], Curve::new());
        for step in 1..=self.steps {
            let mut g = vec![0.0; self.n];
            for i in 0..count {
                let slope = Loss::Logistic.slope(rows.margin(i, &w), rows.y[i]);
                g.iter_mut().zip(rows.row(i)).for_each(|(g, x)| *g += slope * x);
            }
            for (w, g) in w.iter_mut().zip(&g) {
                *w = match full {
                    Full::Gradient => *w - eta * (g + count as f64 * self.strength * *w),
                    Full::Proximal => soft(*w - eta * g, eta * count as f64 * self.strength),
                };
            }
            if step.is_power_of_two() || step == self.steps {
                gaps.push((step as f64, (sum.value(&w) - least.value) / count as f64));
            }
        }
        let end = |value| vec![(self.steps as f64, value)];
        BTreeMap::from([
            ("gap".to_owned(), gaps),
            ("certificate".to_owned(), end(least.gap / count as f64)),
            ("zeros".to_owned(), end(share_of_zeros(&w))),
        ])
    }

    /// One pass of a learner of the library.
    fn online(
        &self,
        method: &crate::experiment::Method,
        rows: &DenseRows,
    ) -> Result<BTreeMap<String, Curve>, String> {
        let fail = |e: parsimon::BuildError| format!("{}: {e}", method.name);
        let settings = spec(method).set("l1", self.strength).resolve().map_err(fail)?;
        let frame = LearnerOptions { bias: false, ..LearnerOptions::default() };
        let mut online = settings.build(frame, &Found::default()).map_err(fail)?;
        let (mut chunk, mut margins) = (Chunk::new(), Vec::new());
        for (i, &y) in rows.y.iter().enumerate() {
            (1..).zip(rows.row(i)).for_each(|(j, &v)| chunk.push_feature(j, v));
            if chunk.finish_row(Some(y), 1.0, Repeats::Refuse).is_err() {
                unreachable!("generated rows are finite");
            }
        }
        online.learn(&chunk, &mut margins);
        let frozen = online.freeze();
        let w: Vec<f64> = (1..=self.n as u32).map(|j| frozen.heads()[0].weight(j)).collect();
        let zeros = vec![(rows.y.len() as f64, share_of_zeros(&w))];
        Ok(BTreeMap::from([("zeros".to_owned(), zeros)]))
    }
}

/// The largest eigenvalue of `X^T X` by power iteration, plus one percent for its error.
fn largest(rows: &DenseRows) -> f64 {
    let mut v = vec![1.0; rows.n];
    let mut size = 0.0;
    for _ in 0..200 {
        let mut next = vec![0.0; rows.n];
        for i in 0..rows.y.len() {
            let p = rows.margin(i, &v);
            next.iter_mut().zip(rows.row(i)).for_each(|(n, x)| *n += p * x);
        }
        size = dot(&next, &next).sqrt() / dot(&v, &v).sqrt();
        let norm = dot(&next, &next).sqrt();
        v = next.into_iter().map(|x| x / norm).collect();
    }
    1.01 * size
}

fn share_of_zeros(w: &[f64]) -> f64 {
    100.0 * w.iter().filter(|w| **w == 0.0).count() as f64 / w.len() as f64
}

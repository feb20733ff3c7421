//! A row of weight `h`, learned at once, as `h` copies, and in many small steps, which is what a weight means.
//!
//! Before it, the method has learned some rows of weight 1. The curves run over `h`; they are means over a number of rows, each met by a fresh learner.

use std::collections::BTreeMap;

use parsimon::rows::{Chunk, Repeats};
use parsimon::survey::Found;
use parsimon::train::Online;
use parsimon::{LearnerOptions, Settings};
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Deserialize;

use super::{Curve, Run, Trial, spec};

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Importance {
    n: usize,
    /// Rows learned before.
    before: usize,
    /// Rows whose weight is varied.
    rows: usize,
    /// The weights, whole numbers.
    weights: Vec<u32>,
    /// Number of steps into which a weight of 1 is divided for the limit.
    steps: u32,
    /// Numbers instead of classes.
    numbers: bool,
}

pub(super) fn trial(run: &Run<'_>) -> Result<Trial, String> {
    let importance: Importance = run.settings()?;
    let rows = importance.draw(run.seed);
    let mut trial = Trial::default();
    for method in run.experiment.methods_of(run.variant) {
        let fail = |e: parsimon::BuildError| format!("{}: {e}", method.name);
        let settings = spec(method).resolve().map_err(fail)?;
        trial.curves.insert(method.name.clone(), importance.play(&settings, &rows).map_err(fail)?);
    }
    Ok(trial)
}

/// A row and its label.
type LabeledRow = (Vec<f64>, f64);

impl Importance {
    fn draw(&self, seed: u64) -> Vec<LabeledRow> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let normal = |random: &mut Xoshiro256PlusPlus| -> f64 { StandardNormal.sample(random) };
        let truth: Vec<f64> = (0..self.n).map(|_| normal(&mut random)).collect();
        let row = |_| {
            let x: Vec<f64> = (0..self.n).map(|_| normal(&mut random)).collect();
            let norm = x.iter().map(|x| x * x).sum::<f64>().sqrt();
            let x: Vec<f64> = x.into_iter().map(|x| x / norm).collect();
            let p: f64 = x.iter().zip(&truth).map(|(x, w)| x * w).sum();
            let y = match self.numbers {
                true => p + 0.3 * normal(&mut random),
                false if random.random::<f64>() < 1.0 / (1.0 + (-2.0 * p).exp()) => 1.0,
                false => -1.0,
            };
            (x, y)
        };
        (0..self.before + self.rows).map(row).collect()
    }

    fn play(
        &self,
        settings: &Settings,
        rows: &[LabeledRow],
    ) -> Result<BTreeMap<String, Curve>, parsimon::BuildError> {
        let (before, tried) = rows.split_at(self.before);
        let loss = settings.loss();
        let mut curves: BTreeMap<String, Curve> = BTreeMap::new();
        for &h in &self.weights {
            let mut sums: BTreeMap<&str, f64> = BTreeMap::new();
            for row in tried {
                let learned = |times: u32, weight: f64| {
                    let mut online = settings.build(
                        LearnerOptions { bias: false, ..LearnerOptions::default() },
                        &Found::default(),
                    )?;
                    before.iter().for_each(|row| learn(&mut *online, row, 1.0));
                    (0..times).for_each(|_| learn(&mut *online, row, weight));
                    Ok(online)
                };
                let after = |times, weight| Ok(predict(&*learned(times, weight)?, row));
                let y = row.1;
                let (p, copies) = (after(0, 1.0)?, after(h, 1.0)?);
                let online = learned(1, f64::from(h))?;
                let once = predict(&*online, row);
                let lost = |row: &LabeledRow| loss.value(predict(&*online, row), row.1);
                let others = before.iter().map(lost).sum::<f64>() / before.len().max(1) as f64;
                let limit = after(h * self.steps, 1.0 / f64::from(self.steps))?;
                let beyond = match self.numbers {
                    // Distance past the label, as a share of the way.
                    true => ((once - y) / (y - p)).max(0.0),
                    // Distance past the limit of many small steps.
                    false => ((once - limit) * y).max(0.0),
                };
                for (measure, value) in [
                    ("weight", f64::from(h)),
                    ("before", loss.value(p, y)),
                    ("once", loss.value(once, y)),
                    ("copies", loss.value(copies, y)),
                    ("limit", loss.value(limit, y)),
                    ("others", others),
                    ("off", (once - limit).abs()),
                    ("beyond", beyond),
                ] {
                    *sums.entry(measure).or_default() += value / tried.len() as f64;
                }
            }
            for (measure, mean) in sums {
                curves.entry(measure.to_owned()).or_default().push((f64::from(h), mean));
            }
        }
        Ok(curves)
    }
}

fn chunk_of((x, y): &LabeledRow, weight: f64) -> Chunk {
    let mut chunk = Chunk::new();
    (1..).zip(x).for_each(|(j, &v)| chunk.push_feature(j, v));
    if chunk.finish_row(Some(*y), weight, Repeats::Refuse).is_err() {
        unreachable!("generated rows are finite");
    }
    chunk
}

fn learn(online: &mut dyn Online, row: &LabeledRow, weight: f64) {
    online.learn(&chunk_of(row, weight), &mut Vec::new());
}

fn predict(online: &dyn Online, row: &LabeledRow) -> f64 {
    let mut margins = Vec::new();
    online.predict(&chunk_of(row, 1.0), &mut margins);
    margins[0]
}

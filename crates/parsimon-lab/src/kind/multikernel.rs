//! The function of Yukawa and Ishii, `exp(-20 (x - 0.1)^2) - 2 exp(-20 (x - 0.8)^2)`, learned by multikernel filters.

use std::collections::BTreeMap;

use parsimon::LearnerOptions;
use parsimon::rows::{Chunk, Repeats};
use parsimon::survey::Found;
use parsimon::workspace::Dictionary;
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Deserialize;

use super::{Curve, Run, Trial, spec};
use crate::experiment::PerEffort;

/// Places at which the function found is compared with the function.
const PLACES: usize = 101;
const POINTS: usize = 25;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct MultikernelSettings {
    samples: PerEffort,
    /// The variance of the noise.
    noise: f64,
}

pub(super) fn trial(run: &Run<'_>) -> Result<Trial, String> {
    let rows: MultikernelSettings = run.settings()?;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(run.seed);
    let learn = draw(rows.samples.at(run.effort) as usize, rows.noise, &mut random);
    let places = places();
    let mut trial = Trial::default();
    for method in run.experiment.methods_of(run.variant) {
        // A.34: variances a 10^b, a from 1 to 10, b from -4 to 1.
        let variances: Vec<f64> =
            (-4..=1).flat_map(|b| (1..=10).map(move |a| f64::from(a) * 10f64.powi(b))).collect();
        let settings = spec(method).set("variances", variances).resolve();
        let online = settings
            .and_then(|settings| settings.build(LearnerOptions::default(), &Found::default()));
        let mut online = online.map_err(|e| format!("{}: {e}", method.name))?;
        let (mut mse, mut dictionary, mut margins) = (Curve::new(), Curve::new(), Vec::new());
        let mut estimate = Curve::new();
        let every = learn.len().div_ceil(POINTS).max(1);
        for start in (0..learn.len()).step_by(every) {
            let end = learn.len().min(start + every);
            online.learn_rows(&learn, start..end, &mut margins);
            margins.clear();
            online.predict(&places, &mut margins);
            estimate = (0..).map(place).zip(margins.iter().copied()).collect();
            let off = |(x, p): &(f64, f64)| (p - function(*x)).powi(2);
            let error = estimate.iter().map(off).sum::<f64>() / PLACES as f64;
            margins.clear();
            // The noise of a future row, which no method can predict.
            mse.push((end as f64, error + rows.noise));
            let size = online.freeze().dictionary().map_or(0, Dictionary::len);
            dictionary.push((end as f64, size as f64));
        }
        let truth = estimate.iter().map(|&(x, _)| (x, function(x))).collect();
        let measures = [
            ("mse".to_owned(), mse),
            ("dictionary".to_owned(), dictionary),
            ("estimate".to_owned(), estimate),
            ("truth".to_owned(), truth),
        ];
        trial.curves.insert(method.name.clone(), BTreeMap::from(measures));
    }
    Ok(trial)
}

/// A.35
fn function(x: f64) -> f64 {
    let bump = |at: f64| (-20.0 * (x - at) * (x - at)).exp();
    bump(0.1) - 2.0 * bump(0.8)
}

fn place(i: usize) -> f64 {
    i as f64 / (PLACES - 1) as f64
}

/// Equal steps from 0 to 1.
fn places() -> Chunk {
    let mut chunk = Chunk::new();
    for i in 0..PLACES {
        chunk.push_feature(1, place(i));
        if chunk.finish_row(None, 1.0, Repeats::Refuse).is_err() {
            unreachable!("places are finite");
        }
    }
    chunk
}

fn draw(count: usize, noise: f64, random: &mut Xoshiro256PlusPlus) -> Chunk {
    let mut chunk = Chunk::new();
    for _ in 0..count {
        let x: f64 = random.random();
        let rough: f64 = StandardNormal.sample(random);
        chunk.push_feature(1, x);
        let y = function(x) + noise.sqrt() * rough;
        if chunk.finish_row(Some(y), 1.0, Repeats::Refuse).is_err() {
            unreachable!("generated rows are finite");
        }
    }
    chunk
}

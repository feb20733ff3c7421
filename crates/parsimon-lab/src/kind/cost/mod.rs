//! Cost of an update: multiplications, counted by a number type in the code of the library and in a twin of the thesis's steps; and CPU time, which is shown.
//!
//! The counts over all numbers of features and orders are fitted by a polynomial in `n` and `r`, by least squares; no constant is typed in. A division
//! counts as a multiplication. Times are this machine's.

mod count;
mod counted;
mod twin;

use std::collections::BTreeMap;

use parsimon::LearnerOptions;
use parsimon::rows::{Chunk, Repeats};
use parsimon::survey::Found;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Deserialize;

use super::clock::Clock;
use super::growth::slope;
use super::{Curve, Run, Trial, spec};
use crate::experiment::Method;
use count::{Counts, How};

/// Rows that are learned repeatedly.
const ROWS: usize = 32;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CostSettings {
    /// Numbers of features at which time is taken.
    sizes: Vec<usize>,
    /// Features learned for every size: larger sizes learn fewer rows.
    work: usize,
    /// Numbers of features at which products are counted.
    features: Vec<usize>,
    /// Orders `r` at which products are counted.
    orders: Vec<usize>,
}

pub(super) fn trial(run: &Run<'_>) -> Result<Trial, String> {
    let settings: CostSettings = run.settings()?;
    let mut trial = Trial::default();
    for method in run.experiment.methods_of(run.variant) {
        let mut measures = match How::of(method)? {
            Some(how) => Counts::of(how, &settings.features, &settings.orders, run.seed).measures(),
            None => BTreeMap::new(),
        };
        if method.spec.contains_key("algorithm") {
            let times = times(method, &settings, run.seed)?;
            let exponent = vec![(times.last().map_or(0.0, |p| p.0), slope(&times))];
            measures.insert("microseconds".to_owned(), times);
            measures.insert("exponent".to_owned(), exponent);
        }
        trial.curves.insert(method.name.clone(), measures);
    }
    Ok(trial)
}

/// Microseconds per row, by the number of features.
fn times(method: &Method, settings: &CostSettings, seed: u64) -> Result<Curve, String> {
    let fail = |e: parsimon::BuildError| format!("{}: {e}", method.name);
    let mut times = Curve::new();
    for &n in &settings.sizes {
        let rows = rows(n, seed);
        let found = Found { dimension: Some(n as u32), ..Found::default() };
        let frame = LearnerOptions { bias: false, ..LearnerOptions::default() };
        let built = spec(method).resolve().and_then(|settings| settings.build(frame, &found));
        let mut online = built.map_err(fail)?;
        let mut margins = Vec::new();
        // The first rows find memory for the weights.
        online.learn(&rows, &mut margins);
        let passes = (settings.work / (n * ROWS)).max(1);
        let mut clock = Clock::default();
        for _ in 0..passes {
            margins.clear();
            clock.count(|| online.learn(&rows, &mut margins));
        }
        times.push((n as f64, 1e6 * clock.seconds() / (passes * ROWS) as f64));
    }
    Ok(times)
}

fn rows(n: usize, seed: u64) -> Chunk {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut chunk = Chunk::new();
    for _ in 0..ROWS {
        (1..=n as u32).for_each(|j| chunk.push_feature(j, random.random_range(-1.0..1.0)));
        let target: f64 = random.random_range(-1.0..1.0);
        if chunk.finish_row(Some(target), 1.0, Repeats::Refuse).is_err() {
            unreachable!("generated rows are finite");
        }
    }
    chunk
}

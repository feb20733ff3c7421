//! Two methods on the same random sparse rows: the largest difference of a weight so far.

use std::collections::BTreeMap;

use parsimon::core::{Chunk, Online, Repeats};
use parsimon::{Frame, Spec};
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{Curve, Run, Trial, spec_of};
use crate::experiment::Pair;

const FEATURES: u32 = 100;
const PER_ROW: usize = 5;
const ROUNDS: usize = 2000;
const POINTS: usize = 50;

pub(super) fn trial(run: &Run<'_>) -> Result<Trial, String> {
    let rows = rows(run.seed);
    let mut trial = Trial::default();
    for pair in &run.experiment.pairs {
        let curve = difference(pair, &rows).map_err(|e| format!("{}: {e}", pair.name))?;
        let measures = BTreeMap::from([("difference".to_owned(), curve)]);
        trial.curves.insert(pair.name.clone(), measures);
    }
    Ok(trial)
}

/// Labels that mostly follow a sparse truth.
fn rows(seed: u64) -> Chunk {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let normal = |random: &mut Xoshiro256PlusPlus| -> f64 { StandardNormal.sample(random) };
    let truth: Vec<f64> =
        (0..FEATURES).map(|j| if j % 4 == 0 { normal(&mut random) } else { 0.0 }).collect();
    let mut chunk = Chunk::new();
    for _ in 0..ROUNDS {
        let mut margin = 0.5 * normal(&mut random);
        for _ in 0..PER_ROW {
            // Frequent features and rare ones.
            let j = (f64::from(FEATURES).powf(random.random::<f64>()) as u32).min(FEATURES - 1);
            let value = normal(&mut random);
            margin += truth[j as usize] * value;
            chunk.push_feature(j + 1, value);
        }
        let label = if margin > 0.0 { 1.0 } else { -1.0 };
        if chunk.finish_row(Some(label), 1.0, Repeats::Add).is_err() {
            unreachable!("generated rows are finite");
        }
    }
    chunk
}

fn difference(pair: &Pair, rows: &Chunk) -> Result<Curve, parsimon::BuildError> {
    let build = |spec: Spec| {
        let spec = match &pair.loss {
            Some(loss) => spec.set("loss", loss.as_str()),
            None => spec,
        };
        spec.resolve()?.build(Frame::default())
    };
    let (mut a, mut b) = (build(spec_of(&pair.a))?, build(spec_of(&pair.b))?);
    let (mut worst, mut curve, mut margins) = (0.0f64, Curve::new(), Vec::new());
    for i in 0..rows.len() {
        margins.clear();
        a.learn_rows(rows, i..i + 1, &mut margins);
        b.learn_rows(rows, i..i + 1, &mut margins);
        for (a, b) in weights(&*a).into_iter().zip(weights(&*b)) {
            worst = worst.max((a - b).abs());
        }
        if (i + 1) % (ROUNDS / POINTS) == 0 {
            curve.push(((i + 1) as f64, worst));
        }
    }
    Ok(curve)
}

fn weights(online: &dyn Online) -> Vec<f64> {
    let frozen = online.freeze();
    let head = &frozen.heads()[0];
    (1..=FEATURES).map(|j| head.weight(j)).chain([head.bias()]).collect()
}

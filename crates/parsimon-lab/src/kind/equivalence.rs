//! Two methods on the same random sparse rows, under every loss of the pair: the largest difference of a weight so far.

use std::collections::BTreeMap;

use parsimon::rows::{Chunk, Repeats};
use parsimon::survey::Found;
use parsimon::train::Online;
use parsimon::{LearnerOptions, Spec};
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
        let losses: Vec<Option<&str>> = match pair.losses.is_empty() {
            true => vec![None],
            false => pair.losses.iter().map(|loss| Some(loss.as_str())).collect(),
        };
        let (mut difference, mut size) = (Curve::new(), Curve::new());
        for loss in losses {
            let apart = apart(pair, loss, &rows).map_err(|e| format!("{}: {e}", pair.name))?;
            larger(&mut difference, apart.0);
            larger(&mut size, apart.1);
        }
        let measures = [("difference".to_owned(), difference), ("largest".to_owned(), size)];
        trial.curves.insert(pair.name.clone(), BTreeMap::from(measures));
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

/// The larger of two curves, point by point.
fn larger(curve: &mut Curve, other: Curve) {
    if curve.is_empty() {
        *curve = other;
    } else {
        curve.iter_mut().zip(other).for_each(|(a, b)| a.1 = a.1.max(b.1));
    }
}

/// The largest difference of a weight after any round, and the largest weight.
pub(super) fn apart_at_the_end(
    pair: &Pair,
    loss: Option<&str>,
    rows: &Chunk,
) -> Result<(f64, f64), parsimon::BuildError> {
    let (difference, size) = apart(pair, loss, rows)?;
    let end = |curve: &Curve| curve.last().map_or(0.0, |p| p.1);
    Ok((end(&difference), end(&size)))
}

/// Distance of a margin from the kink of the hinge loss that is rounding. Every slope between -1 and 0 is a subgradient there, so that
/// an equivalence says nothing about two runs from such a round on.
const KINK: f64 = 1e-9;

/// The largest difference so far and, to compare it with, the largest weight. Runs are compared up to the first margin at the kink.
fn apart(
    pair: &Pair,
    loss: Option<&str>,
    rows: &Chunk,
) -> Result<(Curve, Curve), parsimon::BuildError> {
    let options = LearnerOptions { bias: pair.bias, ..LearnerOptions::default() };
    let settings = |spec: Spec| loss.map_or(spec.clone(), |loss| spec.set("loss", loss)).resolve();
    let (of_a, of_b) = (settings(spec_of(&pair.a))?, settings(spec_of(&pair.b))?);
    let has_kink = of_a.loss_name() == "hinge";
    let found = Found::default();
    let (mut a, mut b) = (of_a.build(options, &found)?, of_b.build(options, &found)?);
    let (mut worst, mut most, mut margins) = (0.0f64, 0.0f64, Vec::new());
    let (mut difference, mut size) = (Curve::new(), Curve::new());
    for i in 0..rows.len() {
        margins.clear();
        a.learn_rows(rows, i..i + 1, &mut margins);
        b.learn_rows(rows, i..i + 1, &mut margins);
        let is_at_kink = |p: &f64| (1.0 - rows.label(i).unwrap_or(0.0) * p).abs() < KINK;
        if has_kink && margins.iter().any(is_at_kink) {
            break;
        }
        for (a, b) in weights(&*a).into_iter().zip(weights(&*b)) {
            worst = worst.max((a - b).abs());
            most = most.max(a.abs());
        }
        if (i + 1) % (ROUNDS / POINTS) == 0 {
            difference.push(((i + 1) as f64, worst));
            size.push(((i + 1) as f64, most));
        }
    }
    let end = rows.len() as f64;
    if difference.last().is_none_or(|last| last.0 < end) {
        difference.push((end, worst));
        size.push((end, most));
    }
    Ok((difference, size))
}

fn weights(online: &dyn Online) -> Vec<f64> {
    let frozen = online.freeze();
    let head = &frozen.heads()[0];
    (1..=FEATURES).map(|j| head.weight(j)).chain([head.bias()]).collect()
}

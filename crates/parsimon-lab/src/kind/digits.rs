//! MNIST, one against all: the error on rows that were not learned, and the zeros, while learning.

use std::collections::BTreeMap;

use parsimon::Frame;
use parsimon::core::{Chunk, Online, Precision};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Deserialize;

use super::{Curve, Run, Trial, spec};
use crate::data::mnist;
use crate::experiment::PerEffort;

const CLASSES: [&str; 10] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];
const PIXELS: usize = 28 * 28;

/// The rows, as the file says it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Digits {
    /// How many rows to learn.
    rows: PerEffort,
    /// The share of the training images to judge by.
    #[serde(default)]
    validation: f64,
    /// Judge by the official test images instead, and draw the rows to learn with replacement.
    #[serde(default)]
    official: bool,
    #[serde(default)]
    bias: bool,
}

pub(super) fn trial(run: &Run<'_>) -> Result<Trial, String> {
    let digits: Digits = run.settings()?;
    let (train, test) = mnist::load(run.data).map_err(|e| e.to_string())?;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(run.seed);
    let count = digits.rows.at(run.effort) as usize;
    let (learn, judge) = match digits.official {
        true => {
            let all = places(&train);
            (draw(&train, (0..count).map(|_| all[random.random_range(0..all.len())])), whole(&test))
        }
        false => {
            let mut order = places(&train);
            order.shuffle(&mut random);
            let held = (digits.validation * order.len() as f64) as usize;
            let (held, rest) = order.split_at(held);
            (draw(&train, rest.iter().copied().take(count)), draw(&train, held.iter().copied()))
        }
    };
    let mut trial = Trial::default();
    for method in run.experiment.methods_of(run.variant) {
        let spec = spec(method).set("multiclass", true).set("classes", CLASSES.to_vec());
        let frame = Frame { precision: Precision::F32, bias: digits.bias, ..Frame::default() };
        let online = spec.resolve().and_then(|settings| settings.build(frame));
        let mut online = online.map_err(|e| format!("{}: {e}", method.name))?;
        trial.curves.insert(method.name.clone(), curves(&mut *online, &learn, &judge));
    }
    Ok(trial)
}

/// Chunk and row of every image.
fn places(chunks: &[Chunk]) -> Vec<(usize, usize)> {
    let rows = |(k, chunk): (usize, &Chunk)| (0..chunk.len()).map(move |i| (k, i));
    chunks.iter().enumerate().flat_map(rows).collect()
}

fn draw(from: &[Chunk], places: impl Iterator<Item = (usize, usize)>) -> Chunk {
    let mut chunk = Chunk::new();
    places.for_each(|(k, i)| chunk.copy_row(&from[k], i));
    chunk
}

fn whole(chunks: &[Chunk]) -> Chunk {
    draw(chunks, places(chunks).into_iter())
}

/// Measured when the rows have doubled, and at the end.
fn curves(online: &mut dyn Online, learn: &Chunk, judge: &Chunk) -> BTreeMap<String, Curve> {
    let (mut error, mut zeros, mut margins) = (Curve::new(), Curve::new(), Vec::new());
    let (mut start, mut next) = (0, 256);
    while start < learn.len() {
        let end = learn.len().min(next);
        margins.clear();
        online.learn_rows(learn, start..end, &mut margins);
        margins.clear();
        online.predict(judge, &mut margins);
        let wrong = margins.chunks(CLASSES.len()).enumerate().filter(|(i, margins)| {
            let best = margins.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
            best.map(|(k, _)| k as f64) != judge.label(*i)
        });
        error.push((end as f64, 100.0 * wrong.count() as f64 / judge.len().max(1) as f64));
        let all = PIXELS * CLASSES.len();
        zeros.push((end as f64, 100.0 * (all - online.nonzeros().min(all)) as f64 / all as f64));
        (start, next) = (end, 2 * next);
    }
    BTreeMap::from([("error".to_owned(), error), ("zeros".to_owned(), zeros)])
}

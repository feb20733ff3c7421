//! MNIST, one against all: the error on rows that were not learned, and the zeros, while learning.

use std::collections::BTreeMap;

use parsimon::LearnerOptions;
use parsimon::rows::Chunk;
use parsimon::settings::Precision;
use parsimon::survey::Found;
use parsimon::train::Online;
use parsimon::workspace::{Frozen, Head};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Deserialize;

use super::clock::{self, Clock, SECONDS};
use super::embedding::embed;
use super::{Curve, Run, Trial, spec};
use crate::data::mnist;
use crate::experiment::PerEffort;
use crate::picture::{Dot, Picture};

const CLASSES: [&str; 10] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];
const SIDE: usize = 28;
const PIXELS: usize = SIDE * SIDE;
/// Rows that are drawn and learned together.
const AT_ONCE: usize = 1024;

/// The rows, as the file says it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Digits {
    /// Number of rows to learn.
    rows: PerEffort,
    /// The share of the training images to judge by.
    #[serde(default)]
    validation: f64,
    /// Judge by the official test images instead, and draw the rows to learn with replacement.
    #[serde(default)]
    official: bool,
    #[serde(default)]
    bias: bool,
    /// The methods whose weights are shown as images.
    #[serde(default)]
    weights_of: Vec<String>,
    /// The rows judged, shown in the plane.
    #[serde(default)]
    plane: Option<Plane>,
}

/// Some of the rows judged in the plane, with what a method takes them for.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Plane {
    /// Count.
    rows: PerEffort,
    /// Number of learned rows at the picture; a power of two times 256.
    after: usize,
    /// The methods.
    of: Vec<String>,
}

pub(super) fn trial(run: &Run<'_>) -> Result<Trial, String> {
    let digits: Digits = run.settings()?;
    let (train, test) = mnist::load(run.data).map_err(|e| e.to_string())?;
    let (learn, judge) = digits.rows(run, &train, &test);
    let mut trial = Trial::default();
    let mut planes = Vec::new();
    for method in run.experiment.methods_of(run.variant) {
        let spec = spec(method).set("multiclass", true).set("classes", CLASSES.to_vec());
        let frame = LearnerOptions {
            precision: Precision::F32,
            bias: digits.bias,
            ..LearnerOptions::default()
        };
        let online = spec.resolve().and_then(|settings| settings.build(frame, &Found::default()));
        let mut online = online.map_err(|e| format!("{}: {e}", method.name))?;
        let mut seen = Seen { is_timed: clock::is_asked(run), ..Seen::default() };
        seen.play(&mut *online, &learn, &judge, digits.plane.as_ref().map(|p| p.after));
        trial.curves.insert(method.name.clone(), seen.curves());
        if run.is_first && digits.weights_of.contains(&method.name) {
            trial.pictures.push(weights(&method.name, &*online, learn.len()));
        }
        planes.push((&method.name, seen.taken_for));
    }
    if let Some(plane) = digits.plane.filter(|_| run.is_first) {
        planes.retain(|(name, _)| plane.of.contains(name));
        trial.pictures.extend(plane.draw(run, &judge, &planes)?);
    }
    Ok(trial)
}

impl Digits {
    /// The positions of the rows to learn, in order, and the rows to judge. A million rows are drawn when they are learned: as a chunk they would be gigabytes.
    fn rows<'a>(&self, run: &Run<'_>, train: &'a [Chunk], test: &[Chunk]) -> (Drawn<'a>, Chunk) {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(run.seed);
        let count = self.rows.at(run.effort) as usize;
        let mut order = places(train);
        if self.official {
            let drawn = (0..count).map(|_| order[random.random_range(0..order.len())]).collect();
            return (Drawn { from: train, places: drawn }, draw(test, places(test).into_iter()));
        }
        order.shuffle(&mut random);
        let held = (self.validation * order.len() as f64) as usize;
        let (held, rest) = order.split_at(held);
        let places = rest.iter().copied().take(count).collect();
        (Drawn { from: train, places }, draw(train, held.iter().copied()))
    }
}

/// Rows that are learned in an order, drawn from chunks.
struct Drawn<'a> {
    from: &'a [Chunk],
    places: Vec<(usize, usize)>,
}

impl Drawn<'_> {
    fn len(&self) -> usize {
        self.places.len()
    }
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

/// Observations of a method while it learned.
#[derive(Default)]
struct Seen {
    is_timed: bool,
    error: Curve,
    zeros: Curve,
    seconds: Curve,
    /// Judged rows that are misclassified and will not be at the end.
    passing: Curve,
    /// The class each judged row was given, at the round of the picture.
    taken_for: Vec<usize>,
}

impl Seen {
    /// Measured when the rows have doubled, and at the end.
    fn play(
        &mut self,
        online: &mut dyn Online,
        learn: &Drawn<'_>,
        judge: &Chunk,
        keep: Option<usize>,
    ) {
        let (mut clock, mut margins) = (Clock::default(), Vec::new());
        let (mut start, mut next) = (0, 256);
        let mut wrongs: Vec<(f64, Vec<bool>)> = Vec::new();
        while start < learn.len() {
            let end = learn.len().min(next);
            for places in learn.places[start..end].chunks(AT_ONCE) {
                let rows = draw(learn.from, places.iter().copied());
                margins.clear();
                clock.count(|| online.learn(&rows, &mut margins));
            }
            let classes = classes(&online.freeze(), judge);
            let wrong = |i| Some(classes[i] as f64) != judge.label(i);
            let wrong: Vec<bool> = (0..judge.len()).map(wrong).collect();
            let t = end as f64;
            let count = wrong.iter().filter(|w| **w).count();
            self.error.push((t, 100.0 * count as f64 / judge.len().max(1) as f64));
            wrongs.push((t, wrong));
            let all = PIXELS * CLASSES.len();
            self.zeros.push((t, 100.0 * (all - online.nonzeros().min(all)) as f64 / all as f64));
            self.seconds.push((t, clock.seconds()));
            if keep == Some(end) {
                self.taken_for = classes;
            }
            (start, next) = (end, 2 * next);
        }
        let Some((_, last)) = wrongs.last() else { return };
        let passing = |(t, wrong): &(f64, Vec<bool>)| {
            (*t, wrong.iter().zip(last).filter(|(now, end)| **now && !**end).count() as f64)
        };
        self.passing = wrongs.iter().map(passing).collect();
    }

    fn curves(&mut self) -> BTreeMap<String, Curve> {
        let named = |name: &str, curve: &mut Curve| (name.to_owned(), std::mem::take(curve));
        let mut curves = BTreeMap::from([
            named("error", &mut self.error),
            named("zeros", &mut self.zeros),
            named("passing", &mut self.passing),
        ]);
        if self.is_timed {
            curves.extend([named(SECONDS, &mut self.seconds)]);
        }
        curves
    }
}

/// The class of the largest margin, for every row.
///
/// PERF: weights are read once. A learner that catches up when it is read would do so for every pixel of every row.
fn classes(frozen: &Frozen, judge: &Chunk) -> Vec<usize> {
    let mut weights = vec![[0.0; CLASSES.len()]; PIXELS + 1];
    for (k, head) in frozen.heads().iter().enumerate().take(CLASSES.len()) {
        weights[0][k] = head.bias();
        head.iter().filter(|(j, _)| (1..=PIXELS).contains(&(*j as usize))).for_each(|(j, w)| {
            weights[j as usize][k] = w;
        });
    }
    let class = |i| {
        let (row, mut margins) = (judge.row(i), weights[0]);
        for (&j, v) in row.indices().iter().zip(row.values()) {
            margins.iter_mut().zip(&weights[j as usize]).for_each(|(m, w)| *m += v * w);
        }
        let best = margins.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
        best.map_or(0, |(k, _)| k)
    };
    (0..judge.len()).map(class).collect()
}

/// The weights of each digit, as an image.
fn weights(method: &str, online: &dyn Online, rows: usize) -> Picture {
    let frozen = online.freeze();
    let image = |(class, head): (&&str, &Head)| {
        let pixels = (1..=PIXELS as u32).map(|j| head.weight(j) as f32);
        ((*class).to_owned(), pixels.collect())
    };
    Picture::Images {
        title: format!("The weights of {method}"),
        subtitle: format!(
            "of the first trial, after {rows} rows; a weight of exactly zero is blank"
        ),
        width: SIDE,
        images: CLASSES.iter().zip(frozen.heads()).map(image).collect(),
    }
}

impl Plane {
    /// The first judged rows in the plane, once for every method.
    fn draw(
        &self,
        run: &Run<'_>,
        judge: &Chunk,
        methods: &[(&String, Vec<usize>)],
    ) -> Result<Vec<Picture>, String> {
        let count = judge.len().min(self.rows.at(run.effort) as usize);
        let some = draw(std::slice::from_ref(judge), (0..count).map(|i| (0, i)));
        let points = embed(&some, PIXELS)?;
        let picture = |(method, taken_for): &(&String, Vec<usize>)| {
            let dot = |((i, &(x, y)), &taken_for): ((usize, &(f32, f32)), &usize)| {
                let class = some.label(i).unwrap_or(0.0) as u8;
                Dot { x, y, class, wrong: usize::from(class) != taken_for }
            };
            let dots: Vec<Dot> = points.iter().enumerate().zip(taken_for).map(dot).collect();
            let wrong = dots.iter().filter(|d| d.wrong).count();
            let after = self.after;
            Picture::Scatter {
                title: format!(
                    "Test digits in the plane (two principal components), judged by {method}"
                ),
                subtitle: format!(
                    "the first {count} test digits, after {after} rows of the first trial; circled: the {wrong} misclassified"
                ),
                dots,
            }
        };
        // A run that ends before the round has nothing to show.
        Ok(methods.iter().filter(|(_, taken_for)| !taken_for.is_empty()).map(picture).collect())
    }
}

#[cfg(test)]
mod tests {
    use parsimon::Spec;
    use parsimon::rows::Repeats;

    use super::*;

    /// Weights read once give the classes that the learner itself would.
    #[test]
    fn rows_are_judged_as_the_learner_judges_them() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut rows = Chunk::new();
        for i in 0..200 {
            for j in (1..=PIXELS as u32).filter(|j| j % 10 != i % 7) {
                rows.push_feature(j, random.random_range(0.1..1.0));
            }
            rows.finish_row(Some(f64::from(i % 10)), 1.0, Repeats::Refuse).unwrap();
        }
        let spec = Spec::new("adam").set("multiclass", true).set("classes", CLASSES.to_vec());
        for bias in [false, true] {
            let frame = LearnerOptions { bias, ..LearnerOptions::default() };
            let mut online = spec.resolve().unwrap().build(frame, &Found::default()).unwrap();
            online.learn(&rows, &mut Vec::new());
            let mut margins = Vec::new();
            online.predict(&rows, &mut margins);
            let classes = classes(&online.freeze(), &rows);
            for (margins, class) in margins.chunks(CLASSES.len()).zip(classes) {
                assert!(margins.iter().all(|m| *m <= margins[class] + 1e-9));
            }
        }
    }
}

//! System identification: from a reference and what was observed to the impulse response between them.

use parsimon_core::filter::Filter;
use parsimon_core::{Chunk, Float, Online, Repeats};
use serde::Serialize;

use crate::error::BuildError;
use crate::found::Found;
use crate::options::LearnerOptions;
use crate::settings::{FilterPrecision, Regularization, Settings};
use crate::synthetic::System;

/// One point of the learning curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct IdentifyPoint {
    /// Samples learned.
    pub samples: u64,
    /// The mean square of the residual since the last point.
    pub residual: f64,
    /// The mean square of what was observed since the last point.
    pub observed: f64,
    /// `|w - truth|^2 / |truth|^2` in dB, where the truth is known.
    pub mismatch_db: Option<f64>,
    /// The share of coefficients that are exactly zero.
    pub zeros: f64,
}

/// The result of an identification.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Identified {
    /// The estimated impulse response: the first coefficient belongs to the newest sample.
    pub taps: Vec<f64>,
    /// The learning curve.
    pub curve: Vec<IdentifyPoint>,
    /// How often the weights diverged and the filter was reset.
    pub resets: u64,
}

impl Identified {
    /// The mismatch at the end, in dB.
    pub fn mismatch_db(&self) -> Option<f64> {
        self.curve.last().and_then(|point| point.mismatch_db)
    }
}

/// `|estimate - truth|^2 / |truth|^2` in dB; `None` for a truth of zeros. The shorter of the two is padded with zeros.
///
/// ```
/// let db = parsimon::filter::mismatch_db(&[1.0, 0.0, 0.0], &[0.9]).unwrap();
/// assert!((db + 20.0).abs() < 1e-9);
/// ```
pub fn mismatch_db(truth: &[f64], estimate: &[f64]) -> Option<f64> {
    let len = truth.len().max(estimate.len());
    let at = |w: &[f64], i: usize| w.get(i).copied().unwrap_or(0.0);
    let square = |x: f64| x * x;
    let off: f64 = (0..len).map(|i| square(at(truth, i) - at(estimate, i))).sum();
    let whole: f64 = truth.iter().map(|w| w * w).sum();
    // An estimate that is exact to the last bit is better than any number of decibels; 400 is beyond every f64.
    (whole > 0.0).then(|| (10.0 * (off / whole).log10()).max(-400.0))
}

/// Estimates the impulse response from `reference` to `observed`. If one signal is longer, its end is ignored.
///
/// ```
/// use parsimon::Spec;
/// use parsimon::filter::{Regularization, identify};
///
/// let settings = Spec::new("nlms").resolve()?;
/// let reference: Vec<f64> = (0..4000u32).map(|t| f64::from(t * t % 251) / 125.0 - 1.0).collect();
/// let observed: Vec<f64> = (0..4000).map(|t| if t < 3 { 0.0 } else { 0.5 * reference[t - 3] }).collect();
/// let truth = [0.0, 0.0, 0.0, 0.5];
/// let found = identify(&settings, 8, Regularization { relative: 0.01 }, &reference, &observed, Some(&truth))?;
/// assert!(found.mismatch_db().unwrap() < -40.0);
/// # Ok::<(), parsimon::BuildError>(())
/// ```
pub fn identify<F: FilterPrecision>(
    settings: &Settings,
    taps: usize,
    regularization: Regularization,
    reference: &[F],
    observed: &[F],
    truth: Option<&[f64]>,
) -> Result<Identified, BuildError> {
    let mut filter = settings.filter::<F>(taps, regularization)?;
    let samples = reference.len().min(observed.len());
    let mut curve = Curve::new(samples as u64, truth);
    let mut start = 0;
    while start < samples {
        let end = samples.min(curve.next() as usize);
        let observed = &observed[start..end];
        let residual = filter.push(&reference[start..end], observed);
        for (e, y) in residual.iter().zip(observed) {
            curve.record(e.to_f64(), y.to_f64());
        }
        curve.point(end as u64, &taps_of(&*filter));
        start = end;
    }
    let taps = taps_of(&*filter);
    Ok(Identified { taps, curve: curve.points, resets: filter.resets() })
}

fn taps_of<F: Float>(filter: &dyn Filter<F>) -> Vec<f64> {
    filter.taps().iter().map(|w| w.to_f64()).collect()
}

/// Estimates the coefficients of a synthetic system in a number of rounds. Any algorithm that predicts numbers can be used, filter
/// or not. No bias is learned.
pub fn identify_system(
    settings: &Settings,
    frame: LearnerOptions,
    system: &mut System,
    rounds: u64,
) -> Result<Identified, BuildError> {
    let n = system.truth().len();
    if settings.is_kernel() {
        return Err(BuildError::new(
            "algorithm",
            "a multikernel filter has a dictionary and no coefficients to be compared with a system's",
        ));
    }
    let found = Found { dimension: Some(n as u32), rows: Some(rounds), ..Found::default() };
    let mut online = settings.build(LearnerOptions { bias: false, ..frame }, &found)?;
    let truth = system.truth().to_vec();
    let mut curve = Curve::new(rounds, Some(&truth));
    let (mut chunk, mut margins, mut x) = (Chunk::new(), Vec::new(), vec![0.0; n]);
    let mut round = 0;
    while round < rounds {
        let end = rounds.min(curve.next()).min(round + MOST_ROWS);
        chunk.clear();
        for _ in round..end {
            let y = system.next_row(&mut x);
            (1..).zip(&x).for_each(|(j, &x)| chunk.push_feature(j, x));
            if chunk.finish_row(Some(y), 1.0, Repeats::Refuse).is_err() {
                unreachable!("generated rows are finite");
            }
        }
        margins.clear();
        online.learn(&chunk, &mut margins);
        for (i, p) in margins.iter().enumerate() {
            let y = chunk.label(i).unwrap_or(0.0);
            curve.record(y - p, y);
        }
        round = end;
        if round == rounds || round == curve.next() {
            curve.point(round, &weights_of(&*online, n));
        }
    }
    Ok(Identified { taps: weights_of(&*online, n), curve: curve.points, resets: 0 })
}

/// Rows of a generated chunk.
const MOST_ROWS: u64 = 64;

fn weights_of(online: &dyn Online, n: usize) -> Vec<f64> {
    let frozen = online.freeze();
    let head = &frozen.heads()[0];
    (1..=n as u32).map(|j| head.weight(j)).collect()
}

/// The curve while it is made: some two hundred points, evenly over the run.
struct Curve<'a> {
    points: Vec<IdentifyPoint>,
    every: u64,
    truth: Option<&'a [f64]>,
    residual: f64,
    observed: f64,
    count: u64,
}

const POINTS: u64 = 200;

impl<'a> Curve<'a> {
    fn new(samples: u64, truth: Option<&'a [f64]>) -> Self {
        let every = samples.div_ceil(POINTS).max(1);
        Self { points: Vec::new(), every, truth, residual: 0.0, observed: 0.0, count: 0 }
    }

    /// The sample of the next point.
    fn next(&self) -> u64 {
        (self.points.len() as u64 + 1) * self.every
    }

    fn record(&mut self, residual: f64, observed: f64) {
        self.residual += residual * residual;
        self.observed += observed * observed;
        self.count += 1;
    }

    fn point(&mut self, samples: u64, taps: &[f64]) {
        let count = self.count.max(1) as f64;
        self.points.push(IdentifyPoint {
            samples,
            residual: self.residual / count,
            observed: self.observed / count,
            mismatch_db: self.truth.and_then(|truth| mismatch_db(truth, taps)),
            zeros: taps.iter().filter(|w| **w == 0.0).count() as f64 / taps.len().max(1) as f64,
        });
        (self.residual, self.observed, self.count) = (0.0, 0.0, 0);
    }
}

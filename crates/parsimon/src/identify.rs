//! System identification: the impulse response between a reference and an observed signal.

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
    /// The mean square of the observed signal since the last point.
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
    /// Number of times that the weights diverged and the filter was reset.
    pub resets: u64,
    /// The size below which coefficients were set to zero, where that was chosen.
    pub threshold: Option<f64>,
    /// The mean square of the prediction error over the last third with coefficients below the threshold left out.
    pub sparse_error: Option<f64>,
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

/// Result of an identification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Zeros {
    /// The coefficients are those of the filter.
    Filter,
    /// Coefficients below a threshold are set to zero. The threshold is chosen by the prediction error over the last third: the
    /// coefficients of a filter scatter around zero where the response is zero, and predict better without them.
    Race,
}

/// The race between thresholds. For each of them the rows of the last third are predicted, before they are learned, by the
/// coefficients that are not below it. All predictions of a row cost little more than one: coefficients between two thresholds share a sum.
struct Race {
    /// The first sample of the race.
    from: u64,
    /// Ascending; the first is 0.
    thresholds: Vec<f64>,
    /// Sums of squared errors.
    errors: Vec<f64>,
    count: u64,
    /// The coefficients, and for each the number of thresholds that it reaches, minus one.
    taps: Vec<f64>,
    classes: Vec<u8>,
    sums: Vec<f64>,
}

/// Number of thresholds of the race, and how far the least is below the largest coefficient.
const THRESHOLDS: usize = 128;
const LEAST_THRESHOLD: f64 = 1e-4;

impl Race {
    fn new(zeros: Zeros, samples: u64) -> Option<Self> {
        (zeros == Zeros::Race).then(|| Self {
            from: samples - samples / 3,
            thresholds: Vec::new(),
            errors: vec![0.0; THRESHOLDS],
            count: 0,
            taps: Vec::new(),
            classes: Vec::new(),
            sums: vec![0.0; THRESHOLDS],
        })
    }

    /// Takes the coefficients that predict the next rows.
    fn look(&mut self, taps: Vec<f64>) {
        if self.thresholds.is_empty() {
            let largest = taps.iter().fold(0.0f64, |most, w| most.max(w.abs()));
            let step = LEAST_THRESHOLD.recip().powf(1.0 / (THRESHOLDS - 2) as f64);
            let least = LEAST_THRESHOLD * largest;
            let rest = (0..THRESHOLDS - 1).map(|k| least * step.powi(k as i32));
            self.thresholds = std::iter::once(0.0).chain(rest).collect();
        }
        let class = |w: &f64| self.thresholds.partition_point(|t| *t <= w.abs()).max(1) as u8 - 1;
        self.classes = taps.iter().map(class).collect();
        self.taps = taps;
    }

    /// Predicts a row: `x` are the inputs, in the order of the coefficients.
    fn observe<'x>(&mut self, x: impl Iterator<Item = &'x f64>, y: f64) {
        self.sums.fill(0.0);
        for ((x, w), class) in x.zip(&self.taps).zip(&self.classes) {
            self.sums[usize::from(*class)] += x * w;
        }
        let mut prediction = 0.0;
        for (sum, error) in self.sums.iter().zip(&mut self.errors).rev() {
            prediction += sum;
            *error += (y - prediction) * (y - prediction);
        }
        self.count += 1;
    }

    /// Sets coefficients below the best threshold to zero.
    fn finish(&self, found: &mut Identified, truth: Option<&[f64]>) {
        // Among equal errors the larger threshold is preferred.
        let order =
            |a: &usize, b: &usize| self.errors[*a].total_cmp(&self.errors[*b]).then(b.cmp(a));
        let best = (0..self.thresholds.len()).min_by(order);
        let Some(best) = best.filter(|k| self.count > 0 && self.errors[*k].is_finite()) else {
            return;
        };
        let threshold = self.thresholds[best];
        found.taps.iter_mut().filter(|w| w.abs() < threshold).for_each(|w| *w = 0.0);
        found.threshold = Some(threshold);
        found.sparse_error = Some(self.errors[best] / self.count as f64);
        if let Some(point) = found.curve.last_mut() {
            point.zeros = share_of_zeros(&found.taps);
            point.mismatch_db = truth.and_then(|truth| mismatch_db(truth, &found.taps));
        }
    }
}

fn share_of_zeros(taps: &[f64]) -> f64 {
    taps.iter().filter(|w| **w == 0.0).count() as f64 / taps.len().max(1) as f64
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
    identify_with(settings, taps, regularization, reference, observed, truth, Zeros::Filter)
}

/// [`identify`] with a choice of its result.
pub fn identify_with<F: FilterPrecision>(
    settings: &Settings,
    taps: usize,
    regularization: Regularization,
    reference: &[F],
    observed: &[F],
    truth: Option<&[f64]>,
    zeros: Zeros,
) -> Result<Identified, BuildError> {
    let mut filter = settings.filter::<F>(taps, regularization)?;
    let samples = reference.len().min(observed.len());
    let mut curve = Curve::new(samples as u64, truth);
    let mut race = Race::new(zeros, samples as u64);
    let wide: Vec<f64> = match race {
        Some(_) => reference[..samples].iter().map(|x| x.to_f64()).collect(),
        None => Vec::new(),
    };
    let mut start = 0;
    while start < samples {
        let end = samples.min(curve.next() as usize);
        if let Some(race) = race.as_mut().filter(|race| start as u64 >= race.from) {
            race.look(taps_of(&*filter));
            for (t, y) in (start..end).zip(&observed[start..end]) {
                race.observe(wide[..=t].iter().rev(), y.to_f64());
            }
        }
        let observed = &observed[start..end];
        let residual = filter.push(&reference[start..end], observed);
        for (e, y) in residual.iter().zip(observed) {
            curve.record(e.to_f64(), y.to_f64());
        }
        curve.point(end as u64, &taps_of(&*filter));
        start = end;
    }
    let taps = taps_of(&*filter);
    let mut found = Identified {
        taps,
        curve: curve.points,
        resets: filter.resets(),
        threshold: None,
        sparse_error: None,
    };
    race.iter().for_each(|race| race.finish(&mut found, truth));
    Ok(found)
}

/// A filter that takes whole blocks.
pub trait BlockFilter {
    /// Samples of a block.
    fn block(&self) -> usize;
    /// Writes `observed` minus its prediction to `residual`, and learns.
    fn run(&mut self, reference: &[f32], observed: &[f32], residual: &mut [f32]);
    /// The coefficients, the first for the newest sample.
    fn taps(&self) -> Vec<f64>;
}

/// [`identify`] by a filter that takes whole blocks. Samples behind the last whole block are not used.
pub fn identify_in_blocks(
    filter: &mut dyn BlockFilter,
    reference: &[f64],
    observed: &[f64],
    truth: Option<&[f64]>,
) -> Identified {
    let block = filter.block();
    let samples = reference.len().min(observed.len()) / block * block;
    let mut curve = Curve::new(samples as u64, truth);
    let narrow = |signal: &[f64]| signal.iter().map(|&v| v as f32).collect::<Vec<f32>>();
    let mut residual = vec![0.0f32; block];
    for start in (0..samples).step_by(block) {
        let (x, d) = (&reference[start..start + block], &observed[start..start + block]);
        filter.run(&narrow(x), &narrow(d), &mut residual);
        for (e, y) in residual.iter().zip(d) {
            curve.record(f64::from(*e), *y);
        }
        let end = (start + block) as u64;
        if end >= curve.next() || end == samples as u64 {
            curve.point(end, &filter.taps());
        }
    }
    Identified {
        taps: filter.taps(),
        curve: curve.points,
        resets: 0,
        threshold: None,
        sparse_error: None,
    }
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
    identify_system_with(settings, frame, system, rounds, Zeros::Filter)
}

/// [`identify_system`] with a choice of its result.
pub fn identify_system_with(
    settings: &Settings,
    frame: LearnerOptions,
    system: &mut System,
    rounds: u64,
    zeros: Zeros,
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
    let mut race = Race::new(zeros, rounds);
    let (mut chunk, mut margins, mut x) = (Chunk::new(), Vec::new(), vec![0.0; n]);
    let mut round = 0;
    while round < rounds {
        let end = rounds.min(curve.next()).min(round + MOST_ROWS);
        chunk.clear();
        let mut racing = race.as_mut().filter(|race| round >= race.from);
        if let Some(race) = &mut racing {
            race.look(weights_of(&*online, n));
        }
        for _ in round..end {
            let y = system.next_row(&mut x);
            if let Some(race) = &mut racing {
                race.observe(x.iter(), y);
            }
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
    let mut found = Identified {
        taps: weights_of(&*online, n),
        curve: curve.points,
        resets: 0,
        threshold: None,
        sparse_error: None,
    };
    race.iter().for_each(|race| race.finish(&mut found, Some(&truth)));
    Ok(found)
}

/// Rows of a generated chunk.
const MOST_ROWS: u64 = 64;

fn weights_of(online: &dyn Online, n: usize) -> Vec<f64> {
    let frozen = online.freeze();
    let head = &frozen.heads()[0];
    (1..=n as u32).map(|j| head.weight(j)).collect()
}

/// The curve during the run: about two hundred points, evenly spaced.
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
            zeros: share_of_zeros(taps),
        });
        (self.residual, self.observed, self.count) = (0.0, 0.0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Spec;
    use crate::study::Synthetic;

    #[test]
    fn the_race_finds_the_zeros_and_costs_no_accuracy() -> Result<(), BuildError> {
        let settings = Spec::new("nlms").set("rate", 0.5).resolve()?;
        for regressors in ["vectors", "signal"] {
            for (zeros, seed) in [(0.9, 1), (0.9, 2), (0.5, 3), (0.0, 4)] {
                let text =
                    format!("n=200,zeros={zeros},samples=6000,seed={seed},regressors={regressors}");
                let mut ends = Vec::new();
                for end in [Zeros::Filter, Zeros::Race] {
                    let mut system = Synthetic::parse(&text)?.start();
                    let frame = LearnerOptions { bias: false, ..LearnerOptions::default() };
                    ends.push(identify_system_with(&settings, frame, &mut system, 6000, end)?);
                }
                let [dense, sparse] = &ends[..] else { unreachable!("two ends") };
                let (before, after) = (dense.mismatch_db(), sparse.mismatch_db());
                assert!(after <= before.map(|db| db + 0.2), "{text}: {before:?} and {after:?} dB");
                let found = share_of_zeros(&sparse.taps);
                assert!(found >= 0.93 * zeros && found <= zeros + 0.06, "{text}: {found} zeros");
                assert_eq!(share_of_zeros(&dense.taps), 0.0);
                assert_eq!(sparse.curve.last().map(|p| p.zeros), Some(found));
            }
        }
        Ok(())
    }

    #[test]
    fn a_signal_is_raced_as_its_rows_are() -> Result<(), BuildError> {
        // The same system by its delay line and by rows: the same coefficients survive.
        let settings = Spec::new("nlms").set("rate", 0.5).resolve()?;
        let synthetic = Synthetic::parse("n=100,zeros=0.8,samples=4000,regressors=signal")?;
        let mut system = synthetic.start();
        let truth = system.truth().to_vec();
        let (mut x, mut reference, mut observed) = (vec![0.0; 100], Vec::new(), Vec::new());
        for _ in 0..4000 {
            observed.push(system.next_row(&mut x));
            reference.push(x[0]);
        }
        let none = Regularization { relative: 0.0 };
        let over =
            identify_with(&settings, 100, none, &reference, &observed, Some(&truth), Zeros::Race)?;
        let zeros = over.taps.iter().filter(|w| **w == 0.0).count();
        assert!((75..=84).contains(&zeros), "{zeros} zeros");
        assert!(over.mismatch_db() < Some(-45.0), "{:?} dB", over.mismatch_db());
        Ok(())
    }
}

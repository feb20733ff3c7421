//! Speech through an echo path of ITU-T G.168, the path found again by every method from the same samples.
//!
//! Measured every thousand samples: system mismatch, zeros, and the echo return loss enhancement of those samples, the power of what was observed over
//! the power of the residual of the prediction made beforehand.

use std::collections::BTreeMap;

use parsimon::filter::{Regularization, mismatch_db};
use parsimon::rows::{Chunk, Repeats};
use parsimon::survey::Found;
use parsimon::{LearnerOptions, Settings};
use parsimon_audio::wav;
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Deserialize;

use super::{Curve, Run, Trial, spec};
use crate::data::{self, g168};
use crate::experiment::PerEffort;
use crate::picture::Picture;

/// Least amplitude at which the filter learns.
const FLOOR: f64 = 1e-4;
const PEAK: f64 = 0.5;
/// The noise's power over the echo's: 20 dB.
const NOISE: f64 = 0.01;
const EVERY: usize = 1000;
/// Samples in a second.
const RATE: f64 = 8000.0;
/// Pieces of the speech in its picture.
const PIECES: usize = 400;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Echo {
    taps: usize,
    samples: PerEffort,
}

/// Input, output and the system between them.
struct Scene {
    reference: Vec<f64>,
    observed: Vec<f64>,
    path: Vec<f64>,
}

pub(super) fn trial(run: &Run<'_>) -> Result<Trial, String> {
    let echo: Echo = run.settings()?;
    let scene = Scene::draw(run, &echo)?;
    let mut trial = Trial::default();
    for method in run.experiment.methods_of(run.variant) {
        let fail = |e: parsimon::BuildError| format!("{}: {e}", method.name);
        let settings = spec(method).resolve().map_err(fail)?;
        let curves = match settings.algorithm().is_filter() {
            true => scene.filter(&settings),
            false => scene.learn(&settings),
        };
        trial.curves.insert(method.name.clone(), curves.map_err(fail)?);
    }
    if run.is_first {
        trial.pictures = scene.pictures();
    }
    Ok(trial)
}

impl Scene {
    fn draw(run: &Run<'_>, echo: &Echo) -> Result<Self, String> {
        let file = |name: &str| {
            let set = data::find(name).ok_or_else(|| format!("there is no set {name:?}"))?;
            let files = set.locate(run.data).map_err(|e| e.to_string())?;
            files.into_iter().next().ok_or_else(|| format!("{name} has no file"))
        };
        let speech = wav::read(&file("speech-asterisk")?, None).map_err(|e| e.to_string())?.samples;
        let paths = g168::paths(&file("g168")?).map_err(|e| e.to_string())?;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(run.seed);
        let count = (echo.samples.at(run.effort) as usize).min(speech.len());
        let start = random.random_range(0..=speech.len() - count);
        let piece = &speech[start..start + count];
        let peak = piece.iter().fold(1e-9f32, |m, x| m.max(x.abs()));
        let reference: Vec<f64> = piece.iter().map(|x| f64::from(x / peak) * PEAK).collect();

        let (_, mut path) = paths[random.random_range(0..paths.len())].clone();
        let norm = path.iter().map(|h| h * h).sum::<f64>().sqrt();
        path.iter_mut().for_each(|h| *h /= norm);
        path.resize(echo.taps, 0.0);
        let clean: Vec<f64> = (0..count)
            .map(|t| {
                path.iter().take(t + 1).zip(reference[..=t].iter().rev()).map(|(h, x)| h * x).sum()
            })
            .collect();
        let power = clean.iter().map(|y: &f64| y * y).sum::<f64>() / count.max(1) as f64;
        let noise = |random: &mut Xoshiro256PlusPlus| -> f64 { StandardNormal.sample(random) };
        let observed =
            clean.iter().map(|y| y + (NOISE * power).sqrt() * noise(&mut random)).collect();
        Ok(Self { reference, observed, path })
    }

    /// Figure 4.5: the speech, as the largest sample of each piece, and the path.
    fn pictures(&self) -> Vec<Picture> {
        let piece = self.reference.len().div_ceil(PIECES).max(1);
        let loudest = |(k, piece_of): (usize, &[f64])| {
            let peak = piece_of.iter().fold(0.0f64, |m, x| m.max(x.abs()));
            (((k + 1) * piece) as f64 / RATE, peak)
        };
        let speech = self.reference.chunks(piece).enumerate().map(loudest).collect();
        let taps = self.path.iter().enumerate().map(|(k, h)| (k as f64, *h)).collect();
        let picture = |title: &str, across: &str, up: &str, line: Curve| Picture::Lines {
            title: title.into(),
            subtitle: String::new(),
            across: across.into(),
            up: up.into(),
            lines: vec![(title.to_lowercase(), line)],
        };
        vec![
            picture("Speech", "seconds", "largest amplitude", speech),
            picture("Echo path", "tap", "impulse response", taps),
        ]
    }

    fn filter(&self, settings: &Settings) -> Result<BTreeMap<String, Curve>, parsimon::BuildError> {
        let mut filter =
            settings.filter::<f64>(self.path.len(), Regularization { relative: 0.0 })?;
        let mut look = EchoMeasures::new(&self.path);
        for (t, (x, y)) in self.reference.iter().zip(&self.observed).enumerate() {
            filter.set_adapting(x.abs() >= FLOOR);
            look.hear(*y, filter.push(&[*x], &[*y])[0]);
            if (t + 1) % EVERY == 0 {
                look.at(t + 1, filter.taps());
            }
        }
        Ok(look.curves)
    }

    fn learn(&self, settings: &Settings) -> Result<BTreeMap<String, Curve>, parsimon::BuildError> {
        let mut online = settings.build(
            LearnerOptions { bias: false, ..LearnerOptions::default() },
            &Found::default(),
        )?;
        let mut look = EchoMeasures::new(&self.path);
        let (mut chunk, mut margins) = (Chunk::new(), Vec::new());
        for t in 0..self.reference.len() {
            chunk.clear();
            let window = self.reference[..=t].iter().rev().take(self.path.len());
            (1..).zip(window).for_each(|(j, &x)| chunk.push_feature(j, x));
            if chunk.finish_row(Some(self.observed[t]), 1.0, Repeats::Refuse).is_err() {
                unreachable!("samples are finite");
            }
            margins.clear();
            if self.reference[t].abs() >= FLOOR {
                online.learn(&chunk, &mut margins);
            } else {
                online.predict(&chunk, &mut margins);
            }
            look.hear(self.observed[t], self.observed[t] - margins[0]);
            if (t + 1) % EVERY == 0 {
                let frozen = online.freeze();
                let head = &frozen.heads()[0];
                let taps: Vec<f64> = (1..=self.path.len() as u32).map(|j| head.weight(j)).collect();
                look.at(t + 1, &taps);
            }
        }
        Ok(look.curves)
    }
}

/// Measures while a path is identified.
struct EchoMeasures<'a> {
    path: &'a [f64],
    curves: BTreeMap<String, Curve>,
    /// Observed and residual energy since the last measurement.
    observed: f64,
    left: f64,
}

impl<'a> EchoMeasures<'a> {
    fn new(path: &'a [f64]) -> Self {
        Self { path, curves: BTreeMap::new(), observed: 0.0, left: 0.0 }
    }

    fn hear(&mut self, observed: f64, left: f64) {
        self.observed += observed * observed;
        self.left += left * left;
    }

    fn at(&mut self, samples: usize, taps: &[f64]) {
        let zeros = taps.iter().filter(|w| **w == 0.0).count() as f64 / taps.len().max(1) as f64;
        let mut push = |name: &str, value: f64| {
            self.curves.entry(name.to_owned()).or_default().push((samples as f64, value));
        };
        push("mismatch", mismatch_db(self.path, taps).unwrap_or(0.0));
        push("zeros", 100.0 * zeros);
        push("erle", 10.0 * (self.observed.max(1e-12) / self.left.max(1e-12)).log10());
        (self.observed, self.left) = (0.0, 0.0);
    }
}

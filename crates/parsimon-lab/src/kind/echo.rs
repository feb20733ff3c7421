//! Speech through an echo path of ITU-T G.168, the path found again by every method from the same samples.

use std::collections::BTreeMap;

use parsimon::core::{Chunk, Repeats};
use parsimon::{Frame, Regularization, Settings, mismatch_db};
use parsimon_audio::wav;
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Deserialize;

use super::{Curve, Run, Trial, spec};
use crate::data::{self, g168};
use crate::experiment::PerEffort;

/// Below this amplitude nothing is learned.
const FLOOR: f64 = 1e-4;
const PEAK: f64 = 0.5;
/// The noise's power over the echo's: 20 dB.
const NOISE: f64 = 0.01;
const EVERY: usize = 1000;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Echo {
    taps: usize,
    samples: PerEffort,
}

/// What goes in, what comes out, and what lies between.
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

    fn filter(&self, settings: &Settings) -> Result<BTreeMap<String, Curve>, parsimon::BuildError> {
        let mut filter =
            settings.filter::<f64>(self.path.len(), Regularization { relative: 0.0 })?;
        let mut look = Look::new(&self.path);
        for (t, (x, y)) in self.reference.iter().zip(&self.observed).enumerate() {
            filter.set_adapting(x.abs() >= FLOOR);
            filter.push(&[*x], &[*y]);
            if (t + 1) % EVERY == 0 {
                look.at(t + 1, filter.taps());
            }
        }
        Ok(look.curves)
    }

    fn learn(&self, settings: &Settings) -> Result<BTreeMap<String, Curve>, parsimon::BuildError> {
        let mut online = settings.build(Frame { bias: false, ..Frame::default() })?;
        let mut look = Look::new(&self.path);
        let (mut chunk, mut margins) = (Chunk::new(), Vec::new());
        for t in 0..self.reference.len() {
            if self.reference[t].abs() >= FLOOR {
                chunk.clear();
                let window = self.reference[..=t].iter().rev().take(self.path.len());
                (1..).zip(window).for_each(|(j, &x)| chunk.push_feature(j, x));
                if chunk.finish_row(Some(self.observed[t]), 1.0, Repeats::Refuse).is_err() {
                    unreachable!("samples are finite");
                }
                margins.clear();
                online.learn(&chunk, &mut margins);
            }
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

/// Mismatch and zeros while a path is found.
struct Look<'a> {
    path: &'a [f64],
    curves: BTreeMap<String, Curve>,
}

impl<'a> Look<'a> {
    fn new(path: &'a [f64]) -> Self {
        Self { path, curves: BTreeMap::new() }
    }

    fn at(&mut self, samples: usize, taps: &[f64]) {
        let zeros = taps.iter().filter(|w| **w == 0.0).count() as f64 / taps.len().max(1) as f64;
        let mut push = |name: &str, value: f64| {
            self.curves.entry(name.to_owned()).or_default().push((samples as f64, value));
        };
        push("mismatch", mismatch_db(self.path, taps).unwrap_or(0.0));
        push("zeros", 100.0 * zeros);
    }
}

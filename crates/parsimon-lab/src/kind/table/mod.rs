//! Passes over the rows of a real set: loss and penalty so far, and the nonzeros during the passes.
//!
//! With `iterate`, the measures of the lazy thesis: those of the iterate `x^t` of its Algorithms 1 and 3 in every round, without a bias; what a user would
//! read, the weights caught up, is beside them.

mod iterate;

use std::collections::BTreeMap;

use parsimon::rows::Chunk;
use parsimon::settings::Loss;
use parsimon::survey::Found;
use parsimon::train::Online;
use parsimon::{LearnerOptions, Settings};
use serde::Deserialize;

use iterate::{Algorithm, Iterate};

use super::clock::{self, Clock, SECONDS};
use super::{Curve, Run, Trial, spec};
use crate::data::rows::shuffled;
use crate::data::stand_in::rows_or_stand_in;
use crate::experiment::{Method, PerEffort};

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TableSettings {
    /// The set's name.
    set: String,
    passes: PerEffort,
    /// Number of measurements in a pass.
    points: usize,
    /// A measurement is kept if the rounds have grown by this share since the last one that was kept.
    #[serde(default)]
    thin: f64,
    /// Learn the set's rows to judge by, instead of those to learn.
    #[serde(default)]
    other_half: bool,
    /// Whether objective and nonzeros are those of the thesis's iterate, in every round.
    #[serde(default)]
    iterate: bool,
    /// Whether the objective contains the penalty.
    #[serde(default = "yes")]
    penalty: bool,
}

fn yes() -> bool {
    true
}

pub(super) fn trial(run: &Run<'_>) -> Result<Trial, String> {
    let table: TableSettings = run.settings()?;
    let (whole, stand_in) = rows_or_stand_in(&table.set, run.data).map_err(|e| e.to_string())?;
    let rows = match (table.other_half, &whole.test) {
        (false, _) => &whole.train,
        (true, Some(test)) => test,
        (true, None) => return Err(format!("{} has no rows to judge by", table.set)),
    };
    let rows = shuffled(rows, run.seed);
    let mut trial = Trial { stand_in, ..Trial::default() };
    for method in run.experiment.methods_of(run.variant) {
        let fail = |e: parsimon::BuildError| format!("{}: {e}", method.name);
        let settings = settings(method, rows.len()).map_err(fail)?;
        let frame = LearnerOptions { bias: !table.iterate, ..LearnerOptions::default() };
        let mut online = settings.build(frame, &Found::default()).map_err(fail)?;
        let passes = table.passes.at(run.effort);
        let l1 = settings.objective().filter(|_| table.penalty).map_or(0.0, |o| o.l1);
        let look = TableMeasures {
            loss: settings.loss(),
            l1,
            features: whole.features as usize,
            points: table.points,
            thin: table.thin,
            is_timed: clock::is_asked(run),
        };
        let mut curves = look.play(&mut *online, &rows, passes);
        if table.iterate {
            if let Some(iterate) =
                iterate_of(method, &settings, whole.features as usize, rows.len())
            {
                let renamed = |(name, curve): (String, Curve)| match name.as_str() {
                    SECONDS => (name, curve),
                    _ => (format!("{CAUGHT_UP}{name}"), curve),
                };
                curves = curves.into_iter().map(renamed).collect();
                curves.extend(look.follow(iterate, &rows, passes));
            } else {
                // Where every prediction catches up, the iterate is the weight that is read.
                let same = ["objective", "nonzeros", "mean_nonzeros"];
                let copies = same.map(|name| (format!("{CAUGHT_UP}{name}"), curves[name].clone()));
                curves.extend(copies);
            }
        }
        trial.curves.insert(method.name.clone(), curves);
    }
    Ok(trial)
}

const CAUGHT_UP: &str = "caught_up_";

/// The thesis's iterate, for its Algorithms 1 and 3.
fn iterate_of(
    method: &Method,
    settings: &Settings,
    features: usize,
    rows: usize,
) -> Option<Iterate> {
    let algorithm = match method.spec.get("algorithm").and_then(toml::Value::as_str) {
        Some("lazy-fobos") => Algorithm::Blockwise,
        Some("lazy-sparse") => Algorithm::Sparse,
        _ => return None,
    };
    let number = |name: &str| method.spec.get(name).and_then(toml::Value::as_float);
    let period = method.spec.get("period").and_then(toml::Value::as_integer).unwrap_or(0);
    let period = if period == 0 { rows as u64 } else { period as u64 };
    Some(Iterate::new(algorithm, settings.loss(), number("rate")?, number("l1")?, period, features))
}

/// A period of 0 stands for one pass.
fn settings(method: &Method, rows: usize) -> Result<Settings, parsimon::BuildError> {
    let spec = spec(method);
    let whole_pass = spec.get("period").and_then(serde_json::Value::as_u64) == Some(0);
    if whole_pass { spec.set("period", rows.max(1)).resolve() } else { spec.resolve() }
}

/// Measures and their frequency.
struct TableMeasures {
    loss: Loss,
    l1: f64,
    features: usize,
    points: usize,
    thin: f64,
    is_timed: bool,
}

impl TableMeasures {
    /// The thesis's measures: of `x^t`, in every round.
    fn follow(&self, mut iterate: Iterate, rows: &Chunk, passes: u64) -> BTreeMap<String, Curve> {
        let every = rows.len().div_ceil(self.points.max(1)).max(1);
        let (mut objective, mut nonzeros, mut mean) = (Curve::new(), Curve::new(), Curve::new());
        let (mut round, mut sum, mut share, mut next) = (0usize, 0.0, 0.0, 0.0);
        let last = passes as usize * rows.len();
        for _ in 0..passes {
            for i in 0..rows.len() {
                let (row, y) = (rows.row(i), rows.label(i).unwrap_or(1.0));
                sum += self.loss.value(iterate.margin(&row), y) + self.l1 * iterate.norm();
                let now = 100.0 * iterate.nonzeros() as f64 / self.features.max(1) as f64;
                share += now;
                round += 1;
                iterate.learn(&row, y);
                let t = round as f64;
                let is_look = (i + 1) % every == 0 || i + 1 == rows.len();
                if !is_look || (t < next && round < last) {
                    continue;
                }
                next = t * (1.0 + self.thin);
                objective.push((t, sum / t));
                nonzeros.push((t, now));
                mean.push((t, share / t));
            }
        }
        BTreeMap::from([
            ("objective".to_owned(), objective),
            ("nonzeros".to_owned(), nonzeros),
            ("mean_nonzeros".to_owned(), mean),
        ])
    }

    fn play(&self, online: &mut dyn Online, rows: &Chunk, passes: u64) -> BTreeMap<String, Curve> {
        let every = rows.len().div_ceil(self.points.max(1)).max(1);
        let (mut objective, mut nonzeros, mut mean) = (Curve::new(), Curve::new(), Curve::new());
        let (mut seconds, mut clock) = (Curve::new(), Clock::default());
        let (mut round, mut sum, mut share, mut margins) = (0, 0.0, 0.0, Vec::new());
        let (mut next, last) = (0.0, passes as usize * rows.len());
        for _ in 0..passes {
            for start in (0..rows.len()).step_by(every) {
                let end = rows.len().min(start + every);
                margins.clear();
                clock.count(|| online.learn_rows(rows, start..end, &mut margins));
                let losses = (start..end).zip(&margins);
                let lost: f64 =
                    losses.map(|(i, p)| self.loss.value(*p, rows.label(i).unwrap_or(1.0))).sum();
                // The penalty of the rounds since the last look, at the weights of this one.
                let frozen = online.freeze();
                let head = &frozen.heads()[0];
                let norm: f64 = head.weights().iter().map(|w| w.abs()).sum();
                sum += lost + self.l1 * norm * (end - start) as f64;
                round += end - start;
                let now = 100.0 * head.indices().len() as f64 / self.features.max(1) as f64;
                share += now * (end - start) as f64;
                let t = round as f64;
                if t < next && round < last {
                    continue;
                }
                next = t * (1.0 + self.thin);
                objective.push((t, sum / t));
                nonzeros.push((t, now));
                mean.push((t, share / t));
                seconds.push((t, clock.seconds()));
            }
        }
        let mut curves = BTreeMap::from([
            ("objective".to_owned(), objective),
            ("nonzeros".to_owned(), nonzeros),
            ("mean_nonzeros".to_owned(), mean),
        ]);
        if self.is_timed {
            curves.insert(SECONDS.to_owned(), seconds);
        }
        curves
    }
}

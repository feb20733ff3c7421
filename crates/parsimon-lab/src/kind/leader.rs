//! Follow the leader on rows that turn against it: linear losses of alternating sign, on which its point jumps from one end of the ball to the other.
//!
//! The regret is against the best point of the method's ball. With hinge loss and a radius below 1 every loss is linear at the points played.

use std::collections::BTreeMap;

use parsimon::LearnerOptions;
use parsimon::rows::{Chunk, Repeats};
use parsimon::survey::Found;
use serde::Deserialize;

use super::{Curve, Run, Trial, spec};
use crate::experiment::PerEffort;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LeaderSettings {
    rounds: PerEffort,
    /// Radius of the ball, below 1.
    radius: f64,
}

pub(super) fn trial(run: &Run<'_>) -> Result<Trial, String> {
    let settings: LeaderSettings = run.settings()?;
    let rounds = settings.rounds.at(run.effort) as usize;
    // The first row is half as long, so that the sum of the gradients changes its sign in every round; each trial draws the first sign.
    let first = 0.3 + 0.04 * (run.number % 10) as f64;
    let mut trial = Trial::default();
    for method in run.experiment.methods_of(run.variant) {
        let fail = |e: parsimon::BuildError| format!("{}: {e}", method.name);
        let built = spec(method).resolve().map_err(fail)?;
        let frame = LearnerOptions { bias: false, ..LearnerOptions::default() };
        let found = Found { dimension: Some(2), ..Found::default() };
        let mut online = built.build(frame, &found).map_err(fail)?;
        let (mut paid, mut sum, mut margins) = (0.0, 0.0, Vec::new());
        let (mut regret, mut average) = (Curve::new(), Curve::new());
        for t in 1..=rounds {
            let (x, y) = match t {
                1 => (first, 1.0),
                _ => (1.0, if t % 2 == 0 { -1.0 } else { 1.0 }),
            };
            let mut chunk = Chunk::new();
            // The simplex has no negative weights: the second feature is the first with the other sign.
            chunk.push_feature(1, x);
            chunk.push_feature(2, -x);
            if chunk.finish_row(Some(y), 1.0, Repeats::Refuse).is_err() {
                unreachable!("generated rows are finite");
            }
            margins.clear();
            online.learn(&chunk, &mut margins);
            paid -= y * margins[0];
            sum += y * x;
            if t.is_power_of_two() || t == rounds {
                let is_simplex =
                    method.spec.get("ball").and_then(toml::Value::as_str) == Some("simplex-kl");
                // The best point is an end: of the ball, both features share the radius.
                let best = if is_simplex { settings.radius } else { settings.radius * 2f64.sqrt() };
                let value = paid + best * f64::abs(sum);
                regret.push((t as f64, value));
                average.push((t as f64, value / t as f64));
            }
        }
        let measures = [("regret".to_owned(), regret), ("average".to_owned(), average)];
        trial.curves.insert(method.name.clone(), BTreeMap::from(measures));
    }
    Ok(trial)
}

//! A synthetic sparse system, identified row by row by every method from the same rows.

use std::collections::BTreeMap;

use parsimon::LearnerOptions;
use parsimon::study::Synthetic;
use parsimon::study::identify_system;
use serde::Deserialize;

use super::{Curve, Run, Trial, spec};
use crate::experiment::PerEffort;

/// The system, as in the file; missing settings have the defaults of the library.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SystemSettings {
    n: usize,
    /// The share of zeros in the truth.
    zeros: f64,
    amplitude: Option<f64>,
    noise: Option<f64>,
    /// Largest magnitude of the inputs, which are uniform.
    input: Option<f64>,
    samples: PerEffort,
}

pub(super) fn trial(run: &Run<'_>) -> Result<Trial, String> {
    let Run { experiment, variant, effort, seed, .. } = *run;
    let system: SystemSettings = run.settings()?;
    let standard = Synthetic::default();
    let synthetic = Synthetic {
        seed,
        n: system.n,
        zeros: system.zeros,
        amplitude: system.amplitude.unwrap_or(standard.amplitude),
        noise: system.noise.unwrap_or(standard.noise),
        input: system.input.unwrap_or(standard.input),
        ..standard
    };
    let rounds = system.samples.at(effort);
    let mut trial = Trial::default();
    for method in experiment.methods_of(variant) {
        let fail = |e: parsimon::BuildError| format!("{}: {e}", method.name);
        let settings = spec(method).resolve().map_err(fail)?;
        let mut system = synthetic.start();
        let found = identify_system(&settings, LearnerOptions::default(), &mut system, rounds)
            .map_err(fail)?;
        let points = |value: &dyn Fn(&parsimon::workspace::IdentifyPoint) -> f64| -> Curve {
            found.curve.iter().map(|p| (p.samples as f64, value(p))).collect()
        };
        let measures = BTreeMap::from([
            ("mismatch".to_owned(), points(&|p| p.mismatch_db.unwrap_or(0.0))),
            ("zeros".to_owned(), points(&|p| 100.0 * p.zeros)),
        ]);
        trial.curves.insert(method.name.clone(), measures);
    }
    Ok(trial)
}

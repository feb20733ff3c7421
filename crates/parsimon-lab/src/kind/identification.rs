//! A synthetic sparse system, identified row by row by every method from the same rows.

use std::collections::BTreeMap;

use parsimon::{Frame, Synthetic, identify_system};

use super::{Curve, Run, Trial, spec};

pub(super) fn trial(run: &Run<'_>) -> Result<Trial, String> {
    let Run { experiment, variant, effort, seed, .. } = *run;
    let mut synthetic = Synthetic { seed, ..Synthetic::default() };
    for (name, value) in experiment.system.iter().chain(&variant.system) {
        let number = value.as_float().or(value.as_integer().map(|n| n as f64));
        let number = number.ok_or_else(|| format!("system.{name} must be a number"))?;
        match name.as_str() {
            "n" => synthetic.n = number as usize,
            "zeros" => synthetic.zeros = number,
            "amplitude" => synthetic.amplitude = number,
            "noise" => synthetic.noise = number,
            "input" => synthetic.input = number,
            _ => return Err(format!("a system has no {name:?}")),
        }
    }
    let rounds = variant.samples.map_or(synthetic.samples, |samples| samples.at(effort));
    let mut trial = Trial::default();
    for method in experiment.methods_of(variant) {
        let fail = |e: parsimon::BuildError| format!("{}: {e}", method.name);
        let settings = spec(method).resolve().map_err(fail)?;
        let mut system = synthetic.start();
        let found =
            identify_system(&settings, Frame::default(), &mut system, rounds).map_err(fail)?;
        let points = |value: &dyn Fn(&parsimon::IdentifyPoint) -> f64| -> Curve {
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

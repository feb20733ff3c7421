//! A run: one method with one value of each swept setting.

use parsimon::Spec;
use parsimon::algorithm::find;
use parsimon::settings::alias::{Meaning, meaning};
use parsimon::tune::Grid;
use serde_json::Value;

use crate::fault::Fault;

/// All of them learn at the same time: each has its weights in memory.
pub(crate) const MOST_RUNS: usize = 512;

/// One method with one value of each swept setting.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    /// The method as the user named it, without the swept settings.
    pub(crate) family: String,
    /// The method with the swept setting, in the form that `-m` reads.
    pub(crate) name: String,
    /// The swept settings and their values in this run.
    pub(crate) swept: Vec<(String, Value)>,
    pub(crate) spec: Spec,
}

impl Run {
    /// The run of a spec, with the settings that name its method and the names of the swept settings.
    pub(crate) fn new(
        algorithm: &str,
        fixed: &[(String, String)],
        swept: &[&str],
        spec: Spec,
    ) -> Self {
        let value = |name: &&str| Some(((*name).to_owned(), spec.get(name)?.clone()));
        let swept: Vec<(String, Value)> = swept.iter().filter_map(value).collect();
        let texts = swept.iter().map(|(k, v)| (k.clone(), plain(v)));
        let all: Vec<(String, String)> = fixed.iter().cloned().chain(texts).collect();
        Self { family: name(algorithm, fixed), name: name(algorithm, &all), swept, spec }
    }
}

/// A method as `-m` reads it.
pub(crate) fn name(algorithm: &str, pairs: &[(String, String)]) -> String {
    let pairs: Vec<String> = pairs.iter().map(|(k, v)| format!("{k}={v}")).collect();
    let colon = if pairs.is_empty() { "" } else { ":" };
    format!("{algorithm}{colon}{}", pairs.join(","))
}

/// Writes a value as it is typed within a method: lists with semicolons.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(";"),
        other => other.to_string(),
    }
}

/// The sweeps, each of a setting that some of the algorithms has.
pub(crate) fn grid(sweeps: &[String], algorithms: &[&str]) -> Result<Grid, Fault> {
    let has = |name: &str| {
        algorithms.iter().any(|a| find(a).is_some_and(|algorithm| algorithm.has(name)))
    };
    let texts = sweeps.iter().map(|text| match text.split_once('=') {
        Some((name, values)) => match meaning(name, algorithms) {
            Meaning { setting, is_inverse: false } => format!("{setting}={values}"),
            Meaning { is_inverse: true, .. } => text.clone(),
        },
        None => text.clone(),
    });
    let grid = Grid::parse(texts.collect::<Vec<_>>())
        .map_err(|e| Fault::Usage(format!("--sweep: {e}")))?;
    if let Some(name) = grid.names().find(|name| !has(name)) {
        let which = match algorithms {
            [one] => format!("{one} has no setting {name}"),
            _ => format!("none of the methods has a setting {name}"),
        };
        return Err(Fault::Usage(format!("--sweep: {which}")));
    }
    Ok(grid)
}

//! The table of algorithms, from which the Python classes are made.

use parsimon::Spec;
use parsimon::algorithm::ALGORITHMS;
use parsimon::settings::alias::meaning;
use parsimon::workspace::{DefaultValue, SettingKind as Kind};
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::errors::raised;

/// Every algorithm with its settings, as JSON.
#[pyfunction]
pub(crate) fn registry() -> String {
    let rows = ALGORITHMS.iter().map(|a| {
        let settings = a.parameters().map(|p| {
            let words = match p.kind {
                Kind::Choice(words) | Kind::Words(words) => json!(words),
                _ => Value::Null,
            };
            json!({
                "name": p.name,
                "default": p.default.map(DefaultValue::value),
                "must_be": p.kind.expectation(),
                "words": words,
                "about": p.about,
            })
        });
        json!({
            "name": a.name,
            "paper": a.paper,
            "losses": a.losses,
            "penalties": a.penalties,
            "center": a.center,
            "cost": a.cost,
            "settings": settings.collect::<Vec<_>>(),
        })
    });
    Value::from(rows.collect::<Vec<_>>()).to_string()
}

/// A spec checked and completed, as JSON, with two questions answered: whether the number of features and the number of
/// rows still have to be found.
#[pyfunction]
pub(crate) fn resolve(spec: &str) -> PyResult<(String, bool, bool)> {
    let settings = Spec::from_json(spec).and_then(|s| s.resolve());
    let settings = settings.map_err(raised)?;
    let text = Value::from(settings.to_json().clone()).to_string();
    Ok((text, settings.needs_dimension(), settings.needs_rows()))
}

/// Returns the setting of a name in papers for an algorithm: `lambda` is l1. Other names are returned
/// unchanged, and so does `gamma`, because its value would have to change as well.
#[pyfunction]
pub(crate) fn setting_name(algorithm: &str, name: &str) -> String {
    let meaning = meaning(name, &[algorithm]);
    if meaning.is_inverse { name.to_owned() } else { meaning.setting }
}

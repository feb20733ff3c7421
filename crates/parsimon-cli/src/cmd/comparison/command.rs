//! The command that trains a run again, alone.

use parsimon::workspace::PENALTIES;
use parsimon::{Settings, Spec};
use serde_json::Value;

use super::{Run, Task};
use crate::args::{PrecisionArg, StoreArg};
use crate::provenance::quoted;

/// `parsimon train ...`, to be pasted into a shell.
pub(crate) fn command(task: &Task<'_>, run: &Run) -> String {
    let mut words = vec!["parsimon".to_owned(), "train".to_owned()];
    words.extend(task.data.words());
    words.extend(settings(&run.spec));
    if task.learner.precision == Some(PrecisionArg::F64) {
        words.extend(["--precision".to_owned(), "f64".to_owned()]);
    }
    if task.learner.no_bias {
        words.push("--no-bias".to_owned());
    }
    if task.learner.store == StoreArg::Index {
        words.extend(["--store".to_owned(), "index".to_owned()]);
    }
    if let Some(share) = task.sample_negatives {
        words.extend(["--sample-negatives".to_owned(), share.to_string()]);
    }
    for test in task.test {
        words.extend(["--test".to_owned(), test.display().to_string()]);
    }
    words.extend(["-o".to_owned(), "model.psm".to_owned()]);
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// The algorithm, and the flags of settings that differ from their defaults.
fn settings(spec: &Spec) -> Vec<String> {
    let Some(algorithm) = spec.get("algorithm").and_then(Value::as_str) else { return Vec::new() };
    let usual = Spec::new(algorithm).resolve().ok();
    let usual = |name: &str| usual.as_ref().and_then(|s: &Settings| s.to_json().get(name)).cloned();
    let mut words = vec!["-a".to_owned(), algorithm.to_owned()];
    for (name, value) in spec.fields().filter(|(name, _)| *name != "algorithm") {
        // A penalty that is set changes the defaults of the others, so it is always written.
        let same = !PENALTIES.contains(&name)
            && usual(name).is_some_and(|u| u == *value || is_same(&u, value));
        match (format!("--{}", name.replace('_', "-")), value) {
            _ if same => {}
            (flag, Value::Bool(true)) => words.push(flag),
            (flag, Value::Bool(false)) => words.push(format!("{flag}=false")),
            (flag, value) => words.extend([flag, typed(value)]),
        }
    }
    words
}

/// 1 and 1.0 are one number.
fn is_same(a: &Value, b: &Value) -> bool {
    a.as_f64().is_some_and(|a| Some(a) == b.as_f64())
}

/// A value as a flag reads it: lists with commas, groups parted by semicolons.
fn typed(value: &Value) -> String {
    let joined = |items: &[Value], by| items.iter().map(typed).collect::<Vec<_>>().join(by);
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) if items.iter().any(Value::is_array) => joined(items, ";"),
        Value::Array(items) => joined(items, ","),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_unusual_is_said() {
        let spec = Spec::new("ftrl").set("l1", 0.5).set("rate", 0.1).set("beta", 1.0);
        assert_eq!(settings(&spec), ["-a", "ftrl", "--l1", "0.5"]);
        let spec = Spec::new("sgd").set("implicit", true).set("loss", "squared");
        assert_eq!(settings(&spec), ["-a", "sgd", "--implicit", "--loss", "squared"]);
        let groups = serde_json::json!([[1, 2], [3]]);
        assert_eq!(typed(&groups), "1,2;3");
    }
}

//! Schemas and specs.

use std::sync::Arc;

use parsimon::data::{Format, Kinds, Labels, Options, Reading, Space};
use parsimon::settings::Precision;
use parsimon::survey::{schema_from_json, schema_to_json};
use parsimon::{InputSchema, LearnerOptions, Spec, Trainer};

use super::text;
use crate::{Outcome, learned, rows};

pub(crate) fn schema_seeds() -> Vec<Vec<u8>> {
    let seeds = [
        r#"{
  "label": "click",
  "columns": [
    {"name": "click", "kind": "number"},
    {"name": "hour", "kind": "number"},
    {"name": "site", "kind": "category"},
    {"name": "words", "kind": "text"},
    {"name": "when", "kind": "time"},
    {"name": "flag", "kind": "boolean"}
  ]
}"#,
        r#"{"label": "click", "weight": "hour", "missing": ["?", "none"], "ngrams": 2, "columns": [
{"name": "click", "kind": "number"}, {"name": "hour", "kind": "number"}, {"name": "site", "kind": "identifier"}, {"name": "words", "kind": "text"}, {"name": "when", "kind": "empty"}, {"name": "flag", "kind": "constant"}]}"#,
    ];
    seeds.iter().map(|text| text.as_bytes().to_vec()).collect()
}

pub(crate) fn schema(bytes: &[u8]) -> Outcome {
    let Ok(text) = std::str::from_utf8(bytes) else { return Outcome::Unrecognized };
    if serde_json::from_str::<serde_json::Value>(text).is_err() {
        assert!(schema_from_json(text).is_err());
        return Outcome::Unrecognized;
    }
    let Ok(schema) = schema_from_json(text) else { return Outcome::Refused };
    let written = schema_to_json(&schema);
    assert_eq!(schema_from_json(&written).as_ref(), Ok(&schema), "written and read differently");
    let options = Options::from(Reading {
        format: Some(Format::Csv),
        labels: Labels::Any,
        space: Some(Space::Hashed { bits: 8 }),
        kinds: Kinds::Known(Arc::new(schema)),
        numbers_apart: true,
        ..Reading::default()
    });
    rows::read(&text::csv_seeds()[2], &options, |_| {}).check();
    Outcome::Accepted
}

pub(crate) fn spec_seeds() -> Vec<Vec<u8>> {
    let json = [
        r#"{"algorithm": "ftrl", "rate": 0.3, "l1": 0.4, "l2": 0.1, "beta": 1, "half_life": 40}"#,
        r#"{"algorithm": "fobos", "rate": 0.4, "l1": 0.02, "penalty": "group", "groups": [[1, 2, 3], [4, 5], [6]]}"#,
        r#"{"algorithm": "rls", "delta": 0.5, "forgetting": 0.97, "dimension": 24, "loss": "squared"}"#,
        r#"{"algorithm": "multikernel-pda", "kernel": "gaussian", "variances": [1, 0.25]}"#,
        r#"{"algorithm": "sgd", "schedule": "two-phase", "switch": 50, "class_weight": {"-1": 1, "1": 10}, "normalize": true}"#,
        r#"{"algorithm": "apa", "order": 3, "rate": 0.5, "dimension": 12, "loss": "projection", "weights": "recent"}"#,
    ];
    let toml = [
        "algorithm = \"adam\"\nrate = 0.05\nbeta1 = 0.9\nepsilon = 1e-8\n",
        "algorithm = \"rda\"\nrate = 0.5\nl1 = 0.01\nbeta = \"sqrt\"\npenalty = \"box\"\nlower = -1\nupper = inf\n",
    ];
    let all = json.iter().chain(&toml).map(|text| text.as_bytes().to_vec());
    // What a newer version renames is no seed any more; the test of seeds would name it.
    all.filter(|bytes| spec(bytes) == Outcome::Accepted).collect()
}

pub(crate) fn spec(bytes: &[u8]) -> Outcome {
    let Ok(text) = std::str::from_utf8(bytes) else { return Outcome::Unrecognized };
    let read = match text.trim_start().starts_with('{') {
        true => Spec::from_json(text),
        false => Spec::from_toml(text),
    };
    let Ok(read) = read else { return Outcome::Unrecognized };
    let Ok(settings) = read.resolve() else { return Outcome::Refused };
    let again = Spec::from_json(&serde_json::to_string(settings.to_json()).unwrap()).unwrap();
    let again = again.resolve().unwrap_or_else(|e| panic!("resolved, written and refused: {e}"));
    assert_eq!(again.to_json(), settings.to_json(), "resolved and written differently");
    // Learners of a stated size are for the tests of memory.
    let is_large = |name: &str| {
        settings.to_json().get(name).and_then(serde_json::Value::as_f64).is_some_and(|n| n > 1000.0)
    };
    if ["dimension", "order", "dictionary", "size", "budget"].into_iter().any(is_large) {
        return Outcome::Accepted;
    }
    for precision in [Precision::F32, Precision::F64] {
        let frame = LearnerOptions { precision, ..LearnerOptions::default() };
        let Ok(mut trainer) = Trainer::new(settings.clone(), frame, InputSchema::default()) else {
            return Outcome::Refused;
        };
        if learned::learn(&mut trainer, &learned::rows(12)).is_ok() && learned::is_finite(&trainer)
        {
            learned::check_model(&trainer.model());
        }
    }
    Outcome::Accepted
}

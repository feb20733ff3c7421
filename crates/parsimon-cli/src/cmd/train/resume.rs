//! `train --resume`: a learner that continues, and the flags that contradict it.

use std::path::Path;

use parsimon::data::{Input, Options, Reader, Stop};
use parsimon::{Spec, Trainer};
use serde_json::{Value, json};

use super::Start;
use crate::args::{Contradiction, TrainArgs};
use crate::fault::Fault;

/// The learner of a checkpoint, and the data open before it.
pub(super) fn resumed(
    args: &TrainArgs,
    path: &Path,
    inputs: &[Input],
    stop: &Stop,
) -> Result<Start, Fault> {
    let trainer = Trainer::resume(path)?;
    let refused = |contradiction: Contradiction| contradiction.of(path);
    settings(args, &trainer)?.map_or(Ok(()), |c| Err(refused(c)))?;
    frame(args, &trainer).map_or(Ok(()), |c| Err(refused(c)))?;
    args.data.contradiction(trainer.schema())?.map_or(Ok(()), |c| Err(refused(c)))?;
    let precision = trainer.frame().precision;
    let given = args.data.options(precision)?;
    let options = Options {
        number_columns: Vec::new(),
        word_columns: Vec::new(),
        kept_columns: Vec::new(),
        missing: Vec::new(),
        ngrams: None,
        stop: Some(stop.clone()),
        mark_skipped: args.predictions.is_some(),
        ..trainer.schema().options(trainer.settings(), precision, &given)
    };
    let starts = match args.skip {
        Some(_) => Vec::new(),
        None => trainer.starts(inputs)?,
    };
    let reader = Reader::open(inputs, &options)?;
    // By number or as the last column it may be the same; the reader knows.
    if let (Some(given), Some(stored)) = (&given.label_column, &trainer.schema().label_column)
        && reader.label_column().unwrap_or(given) != stored
    {
        return Err(refused(Contradiction::new(
            "--label-column",
            given,
            format!("label column {stored}"),
        )));
    }
    Ok(Start { trainer, options, reader, starts })
}

/// A setting that differs from the stored one.
fn settings(args: &TrainArgs, trainer: &Trainer) -> Result<Option<Contradiction>, Fault> {
    let found = &trainer.schema().found;
    let mut stored = trainer.settings().completed(found);
    // The usual two classes have no names in files.
    if found.classes.is_empty() && trainer.settings().is_of_two_classes(found) {
        stored.insert("classes".into(), json!(["-1", "1"]));
    }
    let stored = stored;
    let algorithm = trainer.settings().algorithm().name;
    let given = args.spec.given_to(algorithm)?;
    for (name, value) in given.fields() {
        let flag = format!("--{}", name.replace('_', "-"));
        let before = match stored.get(name) {
            None | Some(Value::Null | Value::Bool(false)) => format!("no {flag}"),
            Some(before) => format!("{flag} {}", plain(before)),
        };
        if name == "algorithm" {
            if value.as_str() != Some(algorithm) {
                let flag = "--algorithm";
                return Ok(Some(Contradiction::new(flag, plain(value), algorithm)));
            }
            continue;
        }
        // As the method reads it: a name may have several spellings.
        let spec = Spec::from_json(&Value::Object(stored.clone()).to_string())?;
        let read = spec.set(name, value.clone()).resolve()?.to_json().get(name).cloned();
        let same = match (&read, stored.get(name)) {
            (Some(Value::Bool(false)) | None, None | Some(Value::Null)) => true,
            (Some(read), Some(stored)) => read == stored || is_same(read, stored),
            _ => false,
        };
        if !same {
            let given = if *value == Value::Bool(true) { String::new() } else { plain(value) };
            return Ok(Some(Contradiction::new(&flag, given, before)));
        }
    }
    Ok(None)
}

/// Precision and bias.
fn frame(args: &TrainArgs, trainer: &Trainer) -> Option<Contradiction> {
    let frame = trainer.frame();
    if let Some(precision) = args.frame.precision
        && parsimon::core::Precision::from(precision) != frame.precision
    {
        let given = parsimon::core::Precision::from(precision);
        let stored = format!("--precision {}", frame.precision);
        return Some(Contradiction::new("--precision", given, stored));
    }
    (args.frame.no_bias && frame.bias).then(|| Contradiction::new("--no-bias", "", "a bias"))
}

/// 1 and 1.0 are one number.
fn is_same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a == b || is_same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            let same =
                |(k, v): (&String, &Value)| b.get(k).is_some_and(|w| v == w || is_same(v, w));
            a.len() == b.len() && a.iter().all(same)
        }
        _ => a.as_f64().is_some_and(|a| Some(a) == b.as_f64()),
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}

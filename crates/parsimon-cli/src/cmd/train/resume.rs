//! `train --resume` and `--from`: a learner that continues or begins with a model, and the flags that contradict it.

use std::io::ErrorKind;
use std::path::Path;

use parsimon::data::{Input, Options, Reader, Reading};
use parsimon::error::FormatErrorKind;
use parsimon::settings::Precision;
use parsimon::survey::Found;
use parsimon::workspace::number::thousands;
use parsimon::workspace::{Curves, Known, Pairs, Stop};
use parsimon::{Error, Model, Settings, Spec, Trainer};
use serde_json::{Value, json};

use super::Start;
use crate::args::{Contradiction, TrainArgs};
use crate::console::note;
use crate::fault::Fault;
use crate::flags::Flags;

/// The learner of a checkpoint, and the data open before it.
pub(super) fn resumed(
    args: &TrainArgs,
    path: &Path,
    inputs: &[Input],
    stop: &Stop,
) -> Result<Start, Fault> {
    let trainer = Trainer::resume(path).map_err(|error| match &error {
        Error::Format(format)
            if matches!(format.kind(), FormatErrorKind::Io(ErrorKind::NotFound)) =>
        {
            Fault::Input(format!(
                "{}; on the first day there is none: --resume-if-present {} begins without it",
                error.words(&Flags),
                path.display()
            ))
        }
        Error::Format(format) if format.kind() == FormatErrorKind::WrongFile => Fault::Input(
            format!("{}; --from {} begins with a model", error.words(&Flags), path.display()),
        ),
        _ => error.into(),
    })?;
    let refused = |contradiction: Contradiction| contradiction.of(path);
    let algorithm = trainer.settings().algorithm().name;
    let given = args.spec.given_to(algorithm)?;
    settings(&given, trainer.settings(), &trainer.schema().found, |_| true)?
        .map_or(Ok(()), |c| Err(refused(c)))?;
    let (precision, bias) = (trainer.options().precision, trainer.options().bias);
    contradicting_learner(args, precision, bias).map_or(Ok(()), |c| Err(refused(c)))?;
    if let Some(given) = args.sample_negatives
        && Some(given) != trainer.sample_negatives()
    {
        let stored = match trainer.sample_negatives() {
            Some(share) => format!("--sample-negatives {share}"),
            None => "all negative rows".into(),
        };
        return Err(refused(Contradiction::new("--sample-negatives", given, stored)));
    }
    let starts = match args.allow_repeat || args.skip.is_some() {
        true => Vec::new(),
        false => known(&trainer, inputs)?,
    };
    let (options, reader) = open(args, &trainer, inputs, stop, refused)?;
    Ok(Start { trainer, options, reader, starts })
}

/// The rows of each input that were learned before, under any name.
fn known(trainer: &Trainer, inputs: &[Input]) -> Result<Vec<u64>, Fault> {
    let known = trainer.known(inputs)?;
    for (input, Known { rows, path }) in inputs.iter().zip(&known) {
        if let Some(path) = path {
            note(&format!(
                "{} has the content of {path}, of which {} rows were learned; --allow-repeat learns them again",
                input.name(),
                thousands(*rows)
            ));
        }
    }
    Ok(known.into_iter().map(|known| known.rows).collect())
}

/// A learner that begins with a model, and the data open before it.
pub(super) fn from_model(
    args: &TrainArgs,
    path: &Path,
    inputs: &[Input],
    stop: &Stop,
) -> Result<Start, Fault> {
    let model = Model::load(path).map_err(|error| match error.kind() {
        FormatErrorKind::WrongFile => Fault::Input(format!(
            "{}; --resume {} continues a checkpoint, --from begins with a model",
            error.words(&Flags),
            path.display()
        )),
        _ => error.into(),
    })?;
    let refused = |contradiction: Contradiction| contradiction.of_model(path);
    // The race normalizes features. A model of features as they are begins with the method it was trained by.
    let spec = match args.spec.names_algorithm()? || model.settings().is_normalized() {
        true => args.spec.spec()?,
        false => args.spec.over(model.settings().to_spec())?,
    };
    let found = &model.schema().found;
    settings(&spec, model.settings(), found, Model::decides)?
        .map_or(Ok(()), |c| Err(refused(c)))?;
    contradicting_learner(args, model.precision(), model.provenance().bias)
        .map_or(Ok(()), |c| Err(refused(c)))?;
    let is_loss_given = spec.get("loss").is_some();
    let name = path.display().to_string();
    let settings = model.spec_to_begin(spec).resolve().map_err(|error| {
        match error.parameter() == "loss" && !is_loss_given {
            true => Fault::Usage(format!(
                "the model {name} was trained with --loss {}, which this method does not have; choose another one, such as -a ftrl",
                model.settings().loss_name()
            )),
            false => error.into(),
        }
    })?;
    let storage = super::model_options(&args.learner, model.schema()).storage;
    let trainer = Trainer::from_model(settings, storage, &model, &name)?;
    let (options, reader) = open(args, &trainer, inputs, stop, refused)?;
    if !args.quiet {
        note(&format!(
            "from {name}: {} nonzero weights; approximate, because a model has no sums of gradients and no scales of features: \
             the change of its weights is learned, beginning with zero{}",
            thousands(model.nonzeros() as u64),
            match model.calibration() {
                Some(_) => "; its calibration is left out",
                None => "",
            }
        ));
    }
    Ok(Start { trainer, options, reader, starts: Vec::new() })
}

/// The data as a learner has read its rows; flags that contradict it are refused.
fn open(
    args: &TrainArgs,
    trainer: &Trainer,
    inputs: &[Input],
    stop: &Stop,
    refused: impl Fn(Contradiction) -> Fault,
) -> Result<(Options, Reader), Fault> {
    let (schema, precision) = (trainer.schema(), trainer.options().precision);
    args.data.contradiction(schema)?.map_or(Ok(()), |c| Err(refused(c)))?;
    let given = args.data.options(precision)?;
    let mut options = schema.options(trainer.settings(), precision, &given);
    options.reading = Reading {
        numbers: Vec::new(),
        texts: Vec::new(),
        keep: Vec::new(),
        missing: Vec::new(),
        ngrams: None,
        curves: Curves::ByMethod,
        pairs: Pairs::ByMethod,
        ..options.reading
    };
    options.run.stop = Some(stop.clone());
    options.ask.mark_skipped = args.predictions.is_some();
    let reader = Reader::open(inputs, &options)?;
    // By number or as the last column it may be the same; the reader knows.
    if let (Some(given), Some(stored)) = (&given.reading.label_column, &schema.label_column)
        && reader.label_column().unwrap_or(given) != stored
    {
        let stored = format!("label column {stored}");
        return Err(refused(Contradiction::new("--label-column", given, stored)));
    }
    Ok((options, reader))
}

/// A relevant setting that differs from the stored one.
fn settings(
    given: &Spec,
    learned: &Settings,
    found: &Found,
    matters: impl Fn(&str) -> bool,
) -> Result<Option<Contradiction>, Fault> {
    let mut stored = learned.completed(found);
    // Two classes that were found are not among the settings.
    if let Some(classes) = learned.class_labels(found) {
        stored.insert("classes".into(), json!(classes));
    }
    let stored = stored;
    let algorithm = learned.algorithm().name;
    for (name, value) in given.fields().filter(|(name, _)| matters(name)) {
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
fn contradicting_learner(
    args: &TrainArgs,
    precision: Precision,
    bias: bool,
) -> Option<Contradiction> {
    let given = args.learner.precision.map(Precision::from);
    if let Some(given) = given.filter(|given| *given != precision) {
        let stored = format!("--precision {precision}");
        return Some(Contradiction::new("--precision", given, stored));
    }
    (args.learner.no_bias && bias).then(|| Contradiction::new("--no-bias", "", "a bias"))
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

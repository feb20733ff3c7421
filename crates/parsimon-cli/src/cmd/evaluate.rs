//! `parsimon evaluate`

use std::io::Write;

use parsimon::eval::Evaluation;
use parsimon::predict::{Assess, Assessed};
use parsimon::workspace::{BesideConstant, Prior, Segment, Segments};
use parsimon::workspace::{Mean, Measure, Table};
use parsimon::workspace::{number::maybe, number::thousands};
use parsimon::{Error, Model};
use parsimon_page::chart;
use serde_json::Value;

use super::predict::loaded;
use super::{columns, unknown};
use crate::args::{BY_MODEL, EvaluateArgs};
use crate::console::{ReadingBar, note};
use crate::fault::Fault;
use crate::flags::in_flags;
use crate::output::{Files, Output, write_text};

pub(crate) fn run(args: &EvaluateArgs) -> Result<(), Fault> {
    args.data.refuse_reading(BY_MODEL)?;
    let mut files = Files::default();
    files.read_path("MODEL", &args.model);
    files.read("DATA", &args.data.inputs());
    files.write("--json", args.json.as_deref())?;
    files.draw("--plot", args.plot.as_deref())?;
    let model = loaded(&args.model, &args.data.inputs())?;
    check(args, &model)?;
    let options = args.data.options(model.precision())?;
    let inputs = args.data.inputs();
    let how = Assess {
        skip: args.rows.skip,
        limit: args.rows.limit,
        by: args.by.clone(),
        threshold: args.threshold,
        raw: args.rows.raw,
        allow_unknown: args.rows.allow_unknown,
    };
    let bar = ReadingBar::new(args.rows.quiet);
    let assessed = model.assess(&inputs, &options, &how, &mut |position| bar.show(position));
    drop(bar);
    let assessed = assessed.map_err(|error| match error {
        Error::Unknown(why) => unknown::refusal(why.fact()),
        error => error.into(),
    })?;
    if !args.rows.quiet {
        warn(&assessed);
    }
    let measure = parsimon::job::measure_of(model.settings());
    match &args.json {
        Some(path) => {
            let report = json(&assessed);
            let mut text = serde_json::to_string_pretty(&report).unwrap_or_default();
            text.push('\n');
            write_text(path, &text)?;
        }
        None => {
            let mut out = Output::open(None)?;
            write!(out, "{}", text(&assessed, measure))?;
            out.finish()?;
        }
    }
    if let Some(path) = &args.plot {
        let Evaluation::Binary(metrics) = &assessed.evaluation else {
            return Err(Fault::Usage("the reliability diagram is for two classes".into()));
        };
        let figure = chart::reliability_of(format!("{}", args.model.display()), metrics);
        write_text(path, &figure.to_svg())?;
        note(&format!("plot {}", path.display()));
    }
    Ok(())
}

/// The metrics as JSON.
fn json(assessed: &Assessed) -> Value {
    let mut report = serde_json::to_value(&assessed.evaluation).unwrap_or_default();
    report["beside_constant"] = serde_json::to_value(&assessed.beside).unwrap_or_default();
    if let Some(segments) = &assessed.segments {
        report["segments"] = serde_json::to_value(segments).unwrap_or_default();
    }
    report
}

/// The metrics for people.
pub(crate) fn text(assessed: &Assessed, measure: Measure) -> String {
    let Assessed { evaluation, beside, segments, .. } = assessed;
    let mut text = format!("{evaluation}\n{}{}\n", table(beside, measure), origin(beside));
    if let Some(segments) = segments {
        text.push_str(&format!("\n{}", segment_table(segments, beside, measure)));
    }
    text
}

fn check(args: &EvaluateArgs, model: &Model) -> Result<(), Fault> {
    let Some(threshold) = args.threshold else { return Ok(()) };
    if !model.is_binary() {
        return Err(Fault::Usage("--threshold is for two classes".into()));
    }
    let has_probabilities = match args.rows.raw {
        true => model.settings().loss().has_probabilities(),
        false => model.has_probabilities(),
    };
    if has_probabilities && !(threshold > 0.0 && threshold < 1.0) || !threshold.is_finite() {
        return Err(Fault::Usage(format!(
            "--threshold is a probability between 0 and 1, got {threshold}"
        )));
    }
    Ok(())
}

/// Prints notes on the rows.
pub(crate) fn warn(assessed: &Assessed) {
    assessed.coverage.warnings().iter().for_each(|warning| note(warning));
    assessed.guesses.iter().for_each(|guess| note(&in_flags(guess)));
    columns::warn(&assessed.warnings);
    if assessed.skipped > 0 {
        note(&format!("skipped {} bad rows", thousands(assessed.skipped)));
    }
}

/// The loss of the model and of the constant, and their difference, with intervals.
fn table(beside: &BesideConstant, measure: Measure) -> Table {
    let shown = |x: f64| maybe(Some(measure.factor * x), 4);
    let interval = |mean: &Mean| match mean.interval() {
        Some((low, high)) => format!("{} to {}", shown(low), shown(high)),
        None => "-".to_owned(),
    };
    let name = if measure.is_mse() { measure.name } else { beside.measure };
    let mut table = Table::new(["", name, "95% interval"]).right([1, 2]);
    let means = [
        ("model", &beside.model),
        ("constant", &beside.constant),
        ("difference", &beside.difference),
    ];
    for (name, mean) in means {
        let value = mean.value().map(|x| measure.factor * x);
        table.row([name.to_owned(), maybe(value, 4), interval(mean)]);
    }
    table
}

/// The origin of the constant, and whether the model is better.
fn origin(beside: &BesideConstant) -> String {
    let from = match beside.constant_from {
        Prior::TrainingLabels => "the labels the model was trained on",
        Prior::EvaluatedLabels => {
            "the labels of the rows before each row, because the model does not have those of its training"
        }
    };
    let is_better = beside.difference.interval().is_some_and(|(_, high)| high < 0.0);
    let verdict = match (is_better, beside.difference.value()) {
        (true, _) => "",
        (false, Some(difference)) if difference >= 0.0 => {
            "\nwarning: the model is no better than the constant"
        }
        _ => "\nthe difference may be chance: the interval contains 0",
    };
    format!("the constant is from {from}{verdict}")
}

/// The segments, the worst first, and the rest in one line.
fn segment_table(segments: &Segments, beside: &BesideConstant, measure: Measure) -> Table {
    let name = if measure.is_mse() { measure.name } else { beside.measure };
    let header = [&segments.column, "rows", name, "constant", "label rate", "calibration ratio"];
    let mut table = Table::new(header).right(1..6);
    let mut add = |value: String, segment: &Segment| {
        let loss = |x: Option<f64>| maybe(x.map(|x| measure.factor * x), 4);
        table.row([
            value,
            thousands(segment.rows),
            loss(segment.loss),
            loss(segment.constant_loss),
            maybe(segment.label_rate, 4),
            maybe(segment.calibration_ratio, 4),
        ]);
    };
    for segment in &segments.worst {
        add(segment.value.clone().unwrap_or_else(|| "(missing)".to_owned()), segment);
    }
    if let Some(rest) = &segments.rest {
        let values = if rest.values == 1 { "value" } else { "values" };
        add(format!("({} other {values})", thousands(rest.values)), rest);
    }
    table
}

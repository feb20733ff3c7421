//! `parsimon evaluate`

use std::io::Write;

use parsimon::eval::number::maybe;
use parsimon::eval::{Evaluation, Mean, Table};
use parsimon::{BesideConstant, Model, Prior};
use parsimon_page::chart;

use super::columns;
use crate::args::{BY_MODEL, EvaluateArgs};
use crate::console::note;
use crate::fault::Fault;
use crate::output::{Files, Output, write_text};

pub(crate) fn run(args: &EvaluateArgs) -> Result<(), Fault> {
    args.data.refuse_reading(BY_MODEL)?;
    let mut files = Files::default();
    files.read_path("MODEL", &args.model);
    files.read("DATA", &args.data.inputs());
    files.write("--json", args.json.as_deref())?;
    files.write("--plot", args.plot.as_deref())?;
    let model = Model::load(&args.model)?;
    let options = args.data.options(model.precision())?;
    let inputs = args.data.inputs();
    let (evaluation, beside, warnings) = model.evaluate_beside_constant(&inputs, &options)?;
    columns::warn(&warnings);
    match &args.json {
        Some(path) => {
            let mut report = serde_json::to_value(&evaluation).unwrap_or_default();
            report["beside_constant"] = serde_json::to_value(&beside).unwrap_or_default();
            let mut text = serde_json::to_string_pretty(&report).unwrap_or_default();
            text.push('\n');
            write_text(path, &text)?;
        }
        None => {
            let mut out = Output::open(None)?;
            writeln!(out, "{evaluation}")?;
            writeln!(out, "{}{}", table(&beside), origin(&beside))?;
            out.finish()?;
        }
    }
    if let Some(path) = &args.plot {
        let Evaluation::Binary(metrics) = &evaluation else {
            return Err(Fault::Usage("the reliability diagram is for two classes".into()));
        };
        let figure = chart::reliability(format!("{}", args.model.display()), &metrics.calibration);
        write_text(path, &figure.to_svg())?;
        note(&format!("plot {}", path.display()));
    }
    Ok(())
}

/// The loss of the model and of the constant, and their difference, with intervals.
fn table(beside: &BesideConstant) -> Table {
    let interval = |mean: &Mean| match mean.interval() {
        Some((low, high)) => format!("{} to {}", maybe(Some(low), 4), maybe(Some(high), 4)),
        None => "-".to_owned(),
    };
    let mut table = Table::new(["", beside.measure, "95% interval"]).right([1, 2]);
    let means = [
        ("model", &beside.model),
        ("constant", &beside.constant),
        ("difference", &beside.difference),
    ];
    for (name, mean) in means {
        table.row([name.to_owned(), maybe(mean.value(), 4), interval(mean)]);
    }
    table
}

/// Where the constant is from, and whether the model beats it.
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

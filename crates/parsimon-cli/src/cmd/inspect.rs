//! `parsimon inspect`

use std::io::Write;

use parsimon::error::FormatErrorKind;
use parsimon::job::measure_of;
use parsimon::rows::Row;
use parsimon::workspace::{Dictionary, Head};
use parsimon::workspace::{Measure, Table};
use parsimon::workspace::{number::significant, number::thousands};
use parsimon::{Model, Trainer};
use parsimon_data::listed;
use serde_json::{Map, Value, json};

use crate::args::{InspectArgs, WeightsFormat};
use crate::fault::Fault;
use crate::output::{Files, Output};

/// Number of features of a dictionary's row in the summary.
const SHOWN: usize = 8;

pub(crate) fn run(args: &InspectArgs) -> Result<(), Fault> {
    let model = match Model::load(&args.model) {
        Err(error) if error.kind() == FormatErrorKind::WrongFile => {
            return checkpoint(args, &Trainer::resume(&args.model)?);
        }
        model => model?,
    };
    if let Some(path) = &args.html {
        let mut files = Files::default();
        files.read_path("MODEL", &args.model);
        files.write("--html", Some(path))?;
        let name = args.model.file_name().unwrap_or(args.model.as_os_str()).to_string_lossy();
        let mut out = Output::open(Some(path))?;
        out.write_all(super::inspect_page::page(&model, &name).as_bytes())?;
        out.finish()?;
    }
    let mut out = Output::open(None)?;
    match args.weights {
        Some(WeightsFormat::Json) => {
            serde_json::to_writer(&mut out, &weights_json(&model)).map_err(std::io::Error::from)?;
            writeln!(out)?;
        }
        Some(WeightsFormat::Tsv) => weights_tsv(&mut out, &model)?,
        None if args.json => {
            let header = serde_json::to_string_pretty(&header(&model)).unwrap_or_default();
            writeln!(out, "{header}")?;
        }
        None => summary(&mut out, &model, args.top)?,
    }
    out.finish()
}

/// Prints the state of a checkpoint; its weights are those of the model that it makes.
fn checkpoint(args: &InspectArgs, trainer: &Trainer) -> Result<(), Fault> {
    let model = trainer.model();
    let mut out = Output::open(None)?;
    match args.weights {
        Some(WeightsFormat::Json) => {
            serde_json::to_writer(&mut out, &weights_json(&model)).map_err(std::io::Error::from)?;
            writeln!(out)?;
        }
        Some(WeightsFormat::Tsv) => weights_tsv(&mut out, &model)?,
        None if args.json => {
            let header = serde_json::to_string_pretty(&state(trainer, &model)).unwrap_or_default();
            writeln!(out, "{header}")?;
        }
        None => state_in_words(&mut out, trainer, &model)?,
    }
    out.finish()
}

fn state(trainer: &Trainer, model: &Model) -> Value {
    let mut state = header(model);
    state["checkpoint"] = json!({
        "settings": trainer.settings().completed(&trainer.schema().found),
        "rows": trainer.progressive().rows(),
        "progressive_loss": trainer.progressive().average(),
        "constant_loss": trainer.constant_loss(),
        "files": trainer.consumed(),
        "race": trainer.online().chosen().map(|_| model.settings().to_json()),
        "began_with": trainer.began_with(),
        "sample_negatives": trainer.sample_negatives(),
    });
    state
}

fn state_in_words(out: &mut Output, trainer: &Trainer, model: &Model) -> std::io::Result<()> {
    let settings = trainer.settings();
    let shown = settings.completed(&trainer.schema().found);
    let shown: Vec<String> = shown
        .iter()
        .filter(|(name, value)| {
            *name != "algorithm" && !value.is_null() && **value != Value::Bool(false)
        })
        .map(|(name, value)| format!("{name} {}", value.to_string().trim_matches('"')))
        .collect();
    writeln!(out, "checkpoint of {}: {}", settings.algorithm().name, shown.join(", "))?;
    let measure = measure_of(settings);
    let progressive = trainer.progressive();
    let loss = |x: Option<f64>| x.map_or("-".to_owned(), |x| significant(measure.factor * x, 6));
    let name = match settings.is_multiclass() {
        true => "error rate",
        false if measure.is_mse() => measure.name,
        false => "loss",
    };
    writeln!(
        out,
        "{} rows, progressive {name} {} (a constant prediction {}), {} nonzero weights",
        thousands(progressive.rows()),
        loss(progressive.average()),
        loss(trainer.constant_loss()),
        thousands(model.nonzeros() as u64)
    )?;
    if trainer.online().chosen().is_some() {
        let chosen = model.settings().to_json();
        writeln!(
            out,
            "race: rate {} and l1 {} lead",
            chosen.get("rate").map_or("-".into(), Value::to_string),
            chosen.get("l1").map_or("-".into(), Value::to_string)
        )?;
    }
    for file in trainer.consumed() {
        writeln!(out, "learned {} rows of {}", thousands(file.rows), file.path)?;
    }
    Ok(())
}

fn header(model: &Model) -> Value {
    let mut header = json!({
        "settings": model.settings().completed(&model.schema().found),
        "precision": model.precision().to_string(),
        "reading": model.schema(),
        "provenance": model.provenance(),
        "classes": model.classes(),
        "nonzeros": model.nonzeros(),
    });
    if let Some(dictionary) = model.dictionary() {
        header["kernels"] = kernels(dictionary).into();
    }
    header
}

fn kernels(dictionary: &Dictionary) -> Vec<String> {
    dictionary.kernels().iter().map(ToString::to_string).collect()
}

/// The features of a dictionary's row, as an object.
fn features_json(model: &Model, row: Row<'_>) -> Value {
    row.iter().map(|(j, v)| (model.name(j).into_owned(), v.into())).collect::<Map<_, _>>().into()
}

/// Formats the features of a dictionary's row as one field of a line.
fn features_text(model: &Model, row: Row<'_>) -> String {
    let features = row.iter().map(|(j, v)| format!("{}:{v}", model.name(j)));
    features.collect::<Vec<_>>().join(" ")
}

/// The first of them, rounded, for people.
fn features_shown(model: &Model, row: Row<'_>) -> String {
    let first =
        row.iter().take(SHOWN).map(|(j, v)| format!("{}:{}", model.name(j), significant(v, 6)));
    let shown = first.collect::<Vec<_>>().join(" ");
    if row.len() > SHOWN { format!("{shown} ...") } else { shown }
}

fn dictionary_json(model: &Model, dictionary: &Dictionary) -> Value {
    let center = |j| {
        json!({
            "features": features_json(model, dictionary.center(j)),
            "coefficients": dictionary.coefficients(j),
        })
    };
    let centers: Vec<Value> = (0..dictionary.len()).map(center).collect();
    json!({"kernels": kernels(dictionary), "centers": centers})
}

fn dictionary_tsv(out: &mut Output, model: &Model, dictionary: &Dictionary) -> std::io::Result<()> {
    writeln!(out, "center\t{}", kernels(dictionary).join("\t"))?;
    for j in 0..dictionary.len() {
        let coefficients = dictionary.coefficients(j).iter().map(ToString::to_string);
        let features = features_text(model, dictionary.center(j));
        writeln!(out, "{features}\t{}", coefficients.collect::<Vec<_>>().join("\t"))?;
    }
    Ok(())
}

fn weights_json(model: &Model) -> Value {
    let one = |head: &Head| {
        let weights: Map<String, Value> =
            head.iter().map(|(j, w)| (model.name(j).into_owned(), w.into())).collect();
        match columns_json(model, head) {
            None => json!({"bias": head.bias(), "weights": weights}),
            Some(columns) => json!({"bias": head.bias(), "weights": weights, "columns": columns}),
        }
    };
    let heads = model.heads_in_units();
    match (model.dictionary(), model.is_multiclass()) {
        (Some(dictionary), _) => dictionary_json(model, dictionary),
        (None, false) => one(&heads[0]),
        (None, true) => {
            let heads = model.classes().into_iter().zip(&heads);
            Value::Object(heads.map(|(class, head)| (class, one(head))).collect())
        }
    }
}

/// The range that the cells of number columns are clipped to, for those with a weight.
fn columns_json(model: &Model, head: &Head) -> Option<Value> {
    let used = model.columns().iter().filter(|column| head.weight(column.id) != 0.0);
    let range = |column: &parsimon::workspace::ColumnMoments| {
        let (low, high) = column.range();
        (model.name(column.id).into_owned(), json!({"low": low, "high": high}))
    };
    let columns: Map<String, Value> = used.map(range).collect();
    (!model.columns().is_empty()).then_some(columns.into())
}

/// The range of a number column's cells as two more cells of a line.
fn range_tsv(model: &Model, j: u32) -> String {
    if model.columns().is_empty() {
        return String::new();
    }
    let column = model.columns().iter().find(|column| column.id == j);
    column.map_or_else(|| "\t\t".to_owned(), |c| format!("\t{}\t{}", c.range().0, c.range().1))
}

fn weights_tsv(out: &mut Output, model: &Model) -> std::io::Result<()> {
    if let Some(dictionary) = model.dictionary() {
        return dictionary_tsv(out, model, dictionary);
    }
    let classes = model.classes();
    let ranges = if model.columns().is_empty() { "" } else { "\tlow\thigh" };
    writeln!(out, "{}feature\tweight{ranges}", if model.is_multiclass() { "class\t" } else { "" })?;
    let empty = if ranges.is_empty() { "" } else { "\t\t" };
    for (k, head) in model.heads_in_units().iter().enumerate() {
        let class = match model.is_multiclass() {
            true => format!("{}\t", classes[k]),
            false => String::new(),
        };
        writeln!(out, "{class}(bias)\t{}{empty}", head.bias())?;
        for (j, w) in head.iter() {
            writeln!(out, "{class}{}\t{w}{}", model.name(j), range_tsv(model, j))?;
        }
    }
    Ok(())
}

fn summary(out: &mut Output, model: &Model, top: usize) -> std::io::Result<()> {
    let provenance = model.provenance();
    let mut table = Table::new(["model", ""]);
    let mut row = |name: &str, value: String| table.row([name.to_owned(), value]);
    row("algorithm", model.settings().algorithm().name.to_owned());
    row("paper", model.settings().algorithm().paper.to_owned());
    for (name, value) in &model.settings().completed(&model.schema().found) {
        if !["algorithm", "classes", "groups"].contains(&name.as_str()) {
            row(name, value.to_string().trim_matches('"').to_owned());
        }
    }
    row("precision", model.precision().to_string());
    row("features", model.schema().space().to_string());
    if !model.classes().is_empty() {
        row("classes", listed(model.classes().iter(), 20));
    }
    row("rows learned", thousands(provenance.rows));
    row("from", provenance.inputs.join(", "));
    if let Some(loss) = provenance.progressive_loss {
        let measure = Measure::of(model.settings().loss());
        match measure.is_mse() && !model.is_multiclass() {
            true => row("progressive MSE", significant(measure.factor * loss, 6)),
            false => row("progressive loss", significant(loss, 6)),
        }
    }
    if provenance.names_met > 0 {
        let (names, slots) = (thousands(provenance.names_met), thousands(provenance.collisions));
        row("names", format!("{names}, {slots} slots with more than one"));
    }
    if let Some(calibrator) = model.calibration() {
        row("calibration", calibrator.method().to_string());
    }
    match model.dictionary() {
        None => row("nonzero weights", thousands(model.nonzeros() as u64)),
        Some(dictionary) => {
            row("kernels", kernels(dictionary).join(", "));
            row("dictionary", format!("{} rows", thousands(dictionary.len() as u64)));
        }
    }
    row("made by", format!("parsimon {}", provenance.version));
    writeln!(out, "{table}")?;
    if let Some(dictionary) = model.dictionary() {
        writeln!(out, "\n{}", largest_centers(model, dictionary, top))?;
    }
    if !model.columns().is_empty() {
        writeln!(
            out,
            "\nNumber columns are centered, scaled and clipped to 4 standard deviations; their weights are per unit of the data."
        )?;
    }
    let classes = model.classes();
    for (k, head) in model.heads_in_units().iter().enumerate() {
        let of = if model.is_multiclass() { format!(" of {}", classes[k]) } else { String::new() };
        let mut weights: Vec<(u32, f64)> = head.iter().collect();
        let larger =
            |a: &(u32, f64), b: &(u32, f64)| b.1.abs().total_cmp(&a.1.abs()).then(a.0.cmp(&b.0));
        // PERF: a few of perhaps millions are shown; only these are put in order.
        if top < weights.len() {
            weights.select_nth_unstable_by(top, larger);
            weights.truncate(top);
        }
        weights.sort_unstable_by(larger);
        let mut table = Table::new([format!("largest weights{of}"), "weight".into()]).right([1]);
        table.row(["(bias)".to_owned(), significant(head.bias(), 6)]);
        for (j, w) in weights {
            table.row([model.name(j).into_owned(), significant(w, 6)]);
        }
        writeln!(out, "\n{table}")?;
    }
    Ok(())
}

/// The rows whose coefficients have the largest norm, each with the kernel that counts most in it.
fn largest_centers(model: &Model, dictionary: &Dictionary, top: usize) -> Table {
    let mut order: Vec<usize> = (0..dictionary.len()).collect();
    order.sort_by(|&a, &b| dictionary.norm(b).total_cmp(&dictionary.norm(a)).then(a.cmp(&b)));
    let mut table = Table::new(["largest rows", "norm", "largest coefficient", "of"]).right([1, 2]);
    for j in order.into_iter().take(top) {
        let coefficients = dictionary.coefficients(j).iter().zip(dictionary.kernels());
        let largest = coefficients.max_by(|a, b| a.0.abs().total_cmp(&b.0.abs()));
        table.row([
            features_shown(model, dictionary.center(j)),
            significant(dictionary.norm(j), 6),
            largest.map_or_else(String::new, |(h, _)| significant(*h, 6)),
            largest.map_or_else(String::new, |(_, kernel)| kernel.to_string()),
        ]);
    }
    table
}

//! `parsimon algorithms`

use std::io::Write;

use parsimon::algorithm::{ALGORITHMS, Algorithm, Parameter, find};
use parsimon::workspace::Table;
use parsimon::workspace::{DefaultValue, SettingKind as Kind, filters};
use serde_json::{Map, Value, json};

use crate::args::{AlgorithmsArgs, default_of, unknown_algorithm};
use crate::fault::Fault;
use crate::output::Output;
use crate::wrap::wrapped;

pub(crate) fn run(args: &AlgorithmsArgs) -> Result<(), Fault> {
    let chosen: Vec<&Algorithm> = match &args.name {
        None => ALGORITHMS.iter().collect(),
        Some(name) => vec![find(name).ok_or_else(|| unknown_algorithm(name))?],
    };
    #[cfg(feature = "lab")]
    let chosen = match &args.paper {
        Some(paper) => of_paper(paper)?,
        None => chosen,
    };
    let mut out = Output::open(None)?;
    if args.json {
        let rows: Vec<Value> = chosen.iter().map(|a| to_json(a)).collect();
        writeln!(out, "{}", serde_json::to_string_pretty(&rows).unwrap_or_default())?;
    } else if args.schema {
        writeln!(out, "{}", serde_json::to_string_pretty(&schema(&chosen)).unwrap_or_default())?;
    } else if args.markdown {
        write!(out, "{}", table(&chosen).to_markdown())?;
    } else if args.name.is_some() {
        writeln!(out, "{}", in_full(chosen[0]))?;
    } else {
        let mut list = Table::new(["algorithm", "from"]);
        for a in &chosen {
            list.row([a.name, a.paper]);
        }
        let filters = filters().collect::<Vec<_>>().join(", ");
        writeln!(out, "{list}")?;
        writeln!(
            out,
            "auto is the default of `parsimon train` and suits most data.\n`parsimon algorithms NAME` shows the settings of an algorithm with their defaults."
        )?;
        writeln!(out, "On signals `parsimon identify` and `parsimon cancel` accept")?;
        writeln!(out, "{filters};")?;
        writeln!(
            out,
            "on vectors (--synthetic) identify also accepts every algorithm with a loss for"
        )?;
        writeln!(
            out,
            "numbers, such as rda, adagrad-rda and csgd, with a rate for the length of the vectors;"
        )?;
        writeln!(out, "the default of cancel is kalman, a filter in the frequency domain.")?;
    }
    out.finish()
}

/// The algorithms that statements of a paper are about.
#[cfg(feature = "lab")]
fn of_paper(paper: &str) -> Result<Vec<&'static Algorithm>, Fault> {
    let entries: Vec<_> =
        parsimon_lab::map::entries().into_iter().filter(|e| e.paper == paper).collect();
    if entries.is_empty() {
        return Err(Fault::Usage(format!(
            "there is no paper {paper:?}; there are csgd, pda-thesis, lazy-thesis, slides and rda-notes"
        )));
    }
    let is_asked = |a: &&Algorithm| entries.iter().any(|e| e.methods.iter().any(|m| m == a.name));
    Ok(ALGORITHMS.iter().filter(is_asked).collect())
}

fn own_settings(algorithm: &Algorithm) -> String {
    algorithm.own_parameters().iter().map(|p| p.name).collect::<Vec<_>>().join(", ")
}

fn table(chosen: &[&Algorithm]) -> Table {
    let mut table = Table::new([
        "algorithm",
        "paper",
        "(A) loss",
        "(B) penalty",
        "(C) center, metric",
        "cost per example",
        "settings beside the loss",
    ]);
    for a in chosen {
        table.row([a.name, a.paper, a.losses, a.penalties, a.center, a.cost, &own_settings(a)]);
    }
    table
}

fn in_full(a: &Algorithm) -> String {
    let mut text = format!(
        "{}\n  from         {}\n  (A) loss     {}\n  (B) penalty  {}\n  (C) center   {}\n  cost         {}\n\nAn update minimizes (A) + (B) + (C), the distance to a center. The cost is per row.\n\nSettings, as flags of train or keys of a spec file:\n",
        a.name, a.paper, a.losses, a.penalties, a.center, a.cost
    );
    for p in a.parameters() {
        text.push_str(&setting(p));
    }
    text.push_str(&format!("\nExample: parsimon train DATA -a {} -o model.psm", a.name));
    text
}

/// The lines of a setting: its flag, help, values and default.
fn setting(p: &Parameter) -> String {
    let default = default_of(p).map_or_else(String::new, |value| format!(" [default: {value}]"));
    let expectation = match p.kind {
        Kind::Flag => String::new(),
        _ => format!("; {}", p.kind.expectation()),
    };
    let lines = wrapped(&format!("{}{expectation}{default}", p.about), 100 - 26);
    let flag = format!("--{}", p.name.replace('_', "-"));
    let first = format!("  {flag:<22}  {}\n", lines[0]);
    lines[1..].iter().fold(first, |text, line| format!("{text}{:26}{line}\n", ""))
}

/// The JSON Schema of a spec of one of these algorithms.
fn schema(chosen: &[&Algorithm]) -> Value {
    let of = |a: &&Algorithm| {
        let mut properties = Map::new();
        properties.insert("algorithm".into(), json!({"const": a.name, "description": a.paper}));
        for p in a.parameters() {
            let mut about = p.kind.json_schema();
            about["description"] = p.about.into();
            if let Some(default) = p.default {
                about["default"] = default.value();
            }
            properties.insert(p.name.into(), about);
        }
        json!({
            "type": "object",
            "properties": properties,
            "required": ["algorithm"],
            "additionalProperties": false,
        })
    };
    let mut schema = match chosen {
        [one] => of(one),
        many => json!({"oneOf": many.iter().map(of).collect::<Vec<_>>()}),
    };
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
    schema
}

fn to_json(a: &Algorithm) -> Value {
    let parameters = a.parameters().map(|p| {
        json!({
            "name": p.name,
            "is": p.kind.expectation(),
            "default": p.default.map(DefaultValue::value),
            "about": p.about,
        })
    });
    json!({
        "name": a.name,
        "paper": a.paper,
        "a": a.losses,
        "b": a.penalties,
        "c": a.center,
        "cost": a.cost,
        "parameters": parameters.collect::<Vec<_>>(),
    })
}

//! `parsimon algorithms`

use std::io::Write;

use parsimon::algorithm::setting::{Default as DefaultValue, Parameter};
use parsimon::algorithm::{ALGORITHMS, Algorithm, filters, find};
use parsimon::eval::Table;
use serde_json::{Map, Value, json};

use crate::args::AlgorithmsArgs;
use crate::fault::Fault;
use crate::output::Output;

pub(crate) fn run(args: &AlgorithmsArgs) -> Result<(), Fault> {
    let chosen: Vec<&Algorithm> = match &args.name {
        None => ALGORITHMS.iter().collect(),
        Some(name) => vec![find(name).ok_or_else(|| {
            let near = parsimon::did_you_mean(name, ALGORITHMS.iter().map(|a| a.name));
            Fault::Usage(format!("there is no algorithm {name:?}{near}"))
        })?],
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
        writeln!(out, "{}", table(&chosen))?;
        writeln!(out, "\n`parsimon algorithms NAME` shows one with its settings.")?;
        writeln!(
            out,
            "`parsimon identify` and `parsimon cancel` take {}; cancel's own is kalman, a frequency-domain filter.",
            filters().collect::<Vec<_>>().join(", ")
        )?;
    }
    out.finish()
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

fn default_of(parameter: &Parameter) -> String {
    let value = parameter.default.map(|d| d.value().to_string());
    value.map_or_else(String::new, |v| v.trim_matches('"').to_owned())
}

fn in_full(a: &Algorithm) -> String {
    let mut settings = Table::new(["setting", "default", "is", ""]);
    for p in a.parameters() {
        settings.row([p.name.to_owned(), default_of(p), p.kind.expectation(), p.about.to_owned()]);
    }
    format!(
        "{}\n  paper        {}\n  (A) loss     {}\n  (B) penalty  {}\n  (C) center   {}\n  cost         {}\n\n{settings}",
        a.name, a.paper, a.losses, a.penalties, a.center, a.cost
    )
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

//! `parsimon data`

use std::io::Write;

use parsimon::workspace::Table;
use parsimon_lab::data::{Clients, Depth, Got, Set, State, find, get, sets};
use parsimon_lab::{Source, experiments, needed};
use serde_json::{Value, json};

use crate::args::{GetArgs, ListArgs, SetsArgs, SetsCommand};
use crate::console;
use crate::fault::Fault;
use crate::output::Output;

pub(crate) fn run(args: &SetsArgs) -> Result<(), Fault> {
    match &args.command {
        SetsCommand::List(args) => list(args),
        SetsCommand::Get(args) => fetch(args),
    }
}

fn list(args: &ListArgs) -> Result<(), Fault> {
    let depth = if args.verify { Depth::Checksum } else { Depth::Size };
    let state = |set: &Set| args.data.as_ref().map(|dir| set.state(dir, depth));
    let rows: Vec<(&Set, Option<State>)> = sets().iter().map(|set| (set, state(set))).collect();
    let mut out = Output::open(None)?;
    if args.json {
        let rows: Vec<Value> = rows.iter().map(|(set, state)| to_json(set, *state)).collect();
        writeln!(out, "{}", serde_json::to_string_pretty(&rows).unwrap_or_default())?;
    } else if args.markdown {
        write!(out, "{}", table(&rows).to_markdown())?;
    } else {
        write!(out, "{}", table(&rows))?;
    }
    out.finish()
}

fn table(rows: &[(&Set, Option<State>)]) -> Table {
    let states = rows.iter().any(|(_, state)| state.is_some());
    let columns = ["name", "what", "size", "license", "get"].into_iter();
    let mut table = Table::new(columns.chain(states.then_some("state"))).right([2]);
    for (set, state) in rows {
        let package = set.package.as_ref().map_or_else(|| "a copy".to_owned(), ToString::to_string);
        let cells =
            [set.name.clone(), set.what.clone(), size(set.size()), set.license.clone(), package];
        table.row(cells.into_iter().chain(state.map(|s| s.to_string())));
    }
    table
}

fn to_json(set: &Set, state: Option<State>) -> Value {
    let mut value = json!(set);
    value["size"] = json!(set.size());
    if let Some(state) = state {
        value["state"] = json!(state.name());
    }
    value
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

/// Name of the group of all sets of the experiments.
const LAB: &str = "lab";

/// The sets of the experiments that packages carry. The others are listed, with what the experiments do without them.
fn for_the_lab(args: &GetArgs) -> Result<Vec<&'static Set>, Fault> {
    let mut sets = Vec::new();
    for (set, source) in needed(&experiments().map_err(Fault::Input)?) {
        let is_there = set.state(&args.out, Depth::Size) == State::Present;
        let name = &set.name;
        match source {
            Source::Package => sets.push(set),
            _ if is_there => console::note(&format!("{name}: a copy is there")),
            Source::StandIn => console::note(&format!(
                "{name}: no package has it; `parsimon reproduce` generates rows with its counts and says so"
            )),
            Source::Copy => console::note(&format!(
                "{name}: no package has it; runs that read it are left out unless a copy is put there (`parsimon data list --json` has the paths)"
            )),
        }
    }
    Ok(sets)
}

fn fetch(args: &GetArgs) -> Result<(), Fault> {
    let known = |name: &String| {
        find(name).ok_or_else(|| {
            let near =
                parsimon_data::did_you_mean(name, sets().iter().map(|set| set.name.as_str()));
            Fault::Usage(format!(
                "there is no data set {name:?}{near} (`parsimon data list` has them all)"
            ))
        })
    };
    let names = args.names.iter().filter(|name| *name != LAB);
    let mut chosen = names.map(known).collect::<Result<Vec<_>, _>>()?;
    if args.names.iter().any(|name| name == LAB) {
        chosen.extend(for_the_lab(args)?);
    }
    let mut out = Output::open(None)?;
    let mut failed = None;
    for set in chosen {
        if let Some(package) = &set.package {
            console::note(&format!("{}: {package}", set.name));
        }
        match get(set, &args.out, &Clients::default()) {
            Ok(Got::Already) => {
                let dir = args.out.display();
                writeln!(out, "{} is in {dir} already, every checksum right", set.name)?;
            }
            Ok(Got::Files(files)) => {
                for file in files {
                    writeln!(out, "{}", file.display())?;
                }
            }
            // The other sets are still downloaded.
            Err(error) => {
                if let Some(earlier) = failed.replace(error.to_string()) {
                    console::complain(&earlier);
                }
            }
        }
        out.flush()?;
    }
    out.finish()?;
    failed.map_or(Ok(()), |error| Err(Fault::Input(error)))
}

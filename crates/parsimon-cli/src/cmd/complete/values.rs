//! Values of flags and of positional arguments.

use clap::{Arg, Command};
use parsimon::algorithm::{ALGORITHMS, Parameter, find};
use parsimon::data::Format;
use parsimon::workspace::{SettingKind as Kind, all_parameters, filters};

use super::{Candidate, Cursor, columns, commands, summary};

/// Names without a description.
fn plain<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<Candidate> {
    names.into_iter().map(|name| (name.to_owned(), String::new())).collect()
}

/// Possible values of a flag; empty for a file or a number.
pub(super) fn of_flag(place: &Cursor<'_>, arg: &Arg, current: &str) -> Vec<Candidate> {
    match arg.get_id().as_str() {
        "algorithm" => algorithms(place.command.get_name()),
        "label_column" | "weight_column" | "id" | "by" => columns::one(&place.positionals),
        "ignore_columns" | "text_columns" | "numbers" | "texts" | "keep" | "keep_columns"
        | "interactions" => columns::list(&place.positionals, current),
        "methods" => method(current),
        "sweeps" => match place.algorithm {
            Some(algorithm) => algorithm.parameters().map(key).collect(),
            None => all_parameters().into_iter().map(|(parameter, _)| key(parameter)).collect(),
        },
        "format" if arg.get_possible_values().is_empty() => {
            plain(Format::ALL.iter().map(|(_, name)| *name))
        }
        id => match setting(place, id) {
            Some(parameter) => plain(words(parameter).iter().copied()),
            None => possible(arg),
        },
    }
}

/// The values that the parser lists.
fn possible(arg: &Arg) -> Vec<Candidate> {
    let values = arg.get_possible_values();
    let about = |help: Option<&clap::builder::StyledStr>| {
        help.map(|text| summary(&text.to_string())).unwrap_or_default()
    };
    values.iter().map(|value| (value.get_name().to_owned(), about(value.get_help()))).collect()
}

/// Possible positional words; empty for a file.
pub(super) fn of_positional(place: &Cursor<'_>, root: &Command) -> Vec<Candidate> {
    let first = place.command.get_positionals().next();
    match place.command.get_name() {
        "algorithms" => algorithms("algorithms"),
        "man" => commands(root),
        #[cfg(feature = "lab")]
        "reproduce" => experiments(),
        #[cfg(feature = "lab")]
        "get" => plain(parsimon_lab::data::sets().iter().map(|set| set.name.as_str())),
        _ => first.map(possible).unwrap_or_default(),
    }
}

#[cfg(feature = "lab")]
fn experiments() -> Vec<Candidate> {
    let all = parsimon_lab::experiments().unwrap_or_default();
    let mut found: Vec<Candidate> = all.iter().map(|e| (e.id.clone(), summary(&e.claim))).collect();
    let mut papers: Vec<&str> = all.iter().map(parsimon_lab::Experiment::paper).collect();
    papers.dedup();
    found.extend(plain(papers));
    found
}

/// The algorithms that a command accepts.
fn algorithms(command: &str) -> Vec<Candidate> {
    let filters: Vec<&str> = filters().collect();
    let is_signal = matches!(command, "identify" | "cancel");
    let fitting = ALGORITHMS.iter().filter(|a| !is_signal || filters.contains(&a.name));
    let mut found: Vec<Candidate> =
        fitting.map(|a| (a.name.to_owned(), a.paper.to_owned())).collect();
    if command == "cancel" {
        found.insert(0, ("kalman".into(), "the default".into()));
    }
    found
}

/// Suggestions for the name of a setting.
fn key(parameter: &Parameter) -> Candidate {
    (format!("{}=", parameter.name), summary(parameter.about))
}

/// The setting that a flag is for, as the algorithm has it.
fn setting(place: &Cursor<'_>, id: &str) -> Option<&'static Parameter> {
    let own = place.algorithm.and_then(|algorithm| algorithm.parameter(id));
    own.or_else(|| all_parameters().into_iter().map(|(p, _)| p).find(|p| p.name == id))
}

/// The words that a setting may be.
fn words(parameter: &Parameter) -> &'static [&'static str] {
    match parameter.kind {
        Kind::Choice(words) | Kind::Words(words) => words,
        Kind::ClassWeights => &["balanced"],
        _ => &[],
    }
}

/// A method of `compare`: `name`, then `name:key=value,key=value`.
fn method(current: &str) -> Vec<Candidate> {
    let Some((name, settings)) = current.split_once(':') else { return algorithms("compare") };
    let Some(algorithm) = find(name) else { return Vec::new() };
    let last = settings.rsplit(',').next().unwrap_or_default();
    let before = &current[..current.len() - last.len()];
    let found = match last.split_once('=') {
        None => algorithm.parameters().map(key).collect(),
        Some((key, _)) => {
            let words = algorithm.parameter(key).map(words).unwrap_or_default();
            words.iter().map(|word| (format!("{key}={word}"), String::new())).collect::<Vec<_>>()
        }
    };
    found.into_iter().map(|(word, about)| (format!("{before}{word}"), about)).collect()
}

//! One-line messages for wrong flags, with a pointer to the help.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, Error};

use super::vw::Typed;
use crate::fault::Fault;
use crate::features;

/// Names that other programs give our commands.
const COMMANDS: &[(&str, &str)] = &[
    ("fit", "train"),
    ("learn", "train"),
    ("infer", "predict"),
    ("score", "predict"),
    ("test", "evaluate"),
    ("eval", "evaluate"),
    ("validate", "evaluate"),
    ("info", "inspect"),
    ("show", "inspect"),
    ("dump", "inspect"),
    ("weights", "inspect"),
    ("search", "tune"),
    ("sweep", "tune"),
    ("grid", "tune"),
    ("bench", "compare"),
    ("methods", "algorithms"),
    ("list", "algorithms"),
    ("daemon", "serve"),
    ("server", "serve"),
    ("cache", "convert"),
    ("demo", "quickstart"),
    ("datasets", "data"),
    ("version", "--version"),
];

/// The refusal of words that the parser does not accept.
pub(super) fn explain(root: &Command, words: &[OsString], error: &Error) -> Fault {
    let (command, path) = innermost(root, words);
    let message = match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let typed = text(error, ContextKind::InvalidSubcommand).unwrap_or_default();
            if let Some(feature) = features::needed_by(&typed) {
                let lacks = format!("has no command {typed}");
                return Fault::Usage(features::left_out(&lacks, feature));
            }
            unknown_command(command, &typed)
        }
        ErrorKind::UnknownArgument => {
            let typed = text(error, ContextKind::InvalidArg).unwrap_or_default();
            unknown_flag(root, command, &path, &typed)
        }
        ErrorKind::InvalidValue => invalid_value(error),
        ErrorKind::MissingRequiredArgument => {
            let missing = texts(error, ContextKind::InvalidArg);
            let way = match missing.iter().any(|name| name.starts_with("<DATA>")) {
                true => "; - is standard input",
                false => "",
            };
            format!("{} must be given{way}", missing.join(" and "))
        }
        // The first line has the names and the reason.
        _ => {
            let text = error.to_string();
            text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned()
        }
    };
    Fault::Usage(format!("{message}\nRun `{path} -h` for help."))
}

/// Returns the command that the words select, and its full name.
fn innermost<'c>(root: &'c Command, words: &[OsString]) -> (&'c Command, String) {
    let (mut command, mut path) = (root, root.get_name().to_owned());
    for word in words.iter().skip(1).filter_map(|word| word.to_str()) {
        match command.find_subcommand(word) {
            Some(inner) => (command, path) = (inner, format!("{path} {word}")),
            None if command.has_subcommands() => {}
            None => break,
        }
    }
    (command, path)
}

fn texts(error: &Error, kind: ContextKind) -> Vec<String> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => vec![text.clone()],
        Some(ContextValue::Strings(texts)) => texts.clone(),
        _ => Vec::new(),
    }
}

fn text(error: &Error, kind: ContextKind) -> Option<String> {
    texts(error, kind).into_iter().next()
}

fn unknown_command(command: &Command, typed: &str) -> String {
    let names: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
    let other = COMMANDS.iter().find(|(other, _)| *other == typed).map(|(_, ours)| *ours);
    let other = other.filter(|ours| names.contains(ours) || ours.starts_with('-'));
    let near = other.or_else(|| parsimon_data::nearest(typed, names.iter().copied()));
    match near {
        Some(near) => format!("there is no command '{typed}'; did you mean '{near}'?"),
        None => format!("there is no command '{typed}'; the commands are {}", names.join(", ")),
    }
}

/// The long names of a flag that people see.
fn longs(arg: &Arg) -> impl Iterator<Item = &str> {
    let aliases = arg.get_visible_aliases().unwrap_or_default();
    arg.get_long().into_iter().chain(aliases)
}

fn unknown_flag(root: &Command, command: &Command, path: &str, typed: &str) -> String {
    let message = format!("unexpected argument '{typed}' found");
    let Some(flag) = Typed::new(typed).filter(|flag| !flag.is_short) else {
        let way = match command.get_name() {
            _ if typed.starts_with('-') => "",
            "cancel" => {
                "; pass the files as --reference FAR.wav --microphone NEAR.wav -o CLEAN.wav, or one file of two channels as --stereo CALL.wav"
            }
            "identify" => "; pass the files as --reference INPUT --observed OUTPUT",
            "serve" => "; pass a model as --model NAME=FILE",
            _ => "",
        };
        return format!("{message}{way}");
    };
    let own = command.get_arguments().flat_map(longs);
    if let Some(near) = parsimon_data::nearest(&flag.name, own) {
        return format!("{message}; did you mean '--{near}'?");
    }
    // A flag of other programs without a different spelling.
    let has = |other: &&Command| flag.find(other).is_some();
    let others: Vec<&str> = root.get_subcommands().filter(has).map(Command::get_name).collect();
    match others[..] {
        [] => message,
        _ => format!("{message}: it is an option of {}, not of {path}", others.join(", ")),
    }
}

fn invalid_value(error: &Error) -> String {
    let arg = text(error, ContextKind::InvalidArg).unwrap_or_default();
    let typed = text(error, ContextKind::InvalidValue).unwrap_or_default();
    let values = texts(error, ContextKind::ValidValue);
    if typed.is_empty() {
        return format!("a value is missing after '{arg}'{}", one_of(": ", &values));
    }
    // Words of three letters, such as csv and tsv, are too similar to suggest one for the other.
    let near = parsimon_data::nearest(&typed, values.iter().map(String::as_str));
    let near = near.filter(|_| typed.len() > 3);
    let near = near.map_or_else(String::new, |near| format!("; did you mean '{near}'?"));
    format!("invalid value '{typed}' for '{arg}'{}{near}", one_of(": it must be ", &values))
}

fn one_of(before: &str, values: &[String]) -> String {
    match values {
        [] => String::new(),
        [one] => format!("{before}{one}"),
        [first @ .., last] => format!("{before}{} or {last}", first.join(", ")),
    }
}

//! Text of `-h` and `--help`.
//!
//! `-h` lists the flags that most people need and fits on a screen; `--help` lists all but the settings of algorithms. Of those it
//! has the settings of the algorithm that `-a` names, or of the command's default.

use std::ffi::OsString;

use clap::{Arg, ArgAction, Command, CommandFactory};
use parsimon::Spec;
use parsimon::algorithm::{ALGORITHMS, Algorithm, Parameter, find};
use parsimon::workspace::{SettingKind as Kind, all_parameters};

use super::Cli;
use super::spec::value_name;
use crate::fault::Fault;

/// Length of the help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Detail {
    /// `-h`
    Short,
    /// `--help`
    Full,
}

/// The flags that `-h` lists of commands that have many, by their ids. Commands that are not here list all.
const COMMON: &[(&str, &[&str])] = &[
    (
        "train",
        &[
            "inputs",
            "output",
            "label_column",
            "ignore_columns",
            "text_columns",
            "texts",
            "bits",
            "algorithm",
            "loss",
            "l1",
            "class_weight",
            "passes",
            "holdout",
            "test",
            "resume",
            "quiet",
            "json",
            "plot",
        ],
    ),
    (
        "compare",
        &[
            "inputs",
            "format",
            "label_column",
            "ignore_columns",
            "text_columns",
            "texts",
            "bits",
            "methods",
            "sweeps",
            "loss",
            "multiclass",
            "test",
            "html",
            "json",
            "plot",
            "quiet",
        ],
    ),
    (
        "tune",
        &[
            "inputs",
            "output",
            "format",
            "label_column",
            "ignore_columns",
            "text_columns",
            "texts",
            "bits",
            "algorithm",
            "sweeps",
            "random",
            "loss",
            "multiclass",
            "test",
            "html",
            "json",
            "plot",
            "quiet",
        ],
    ),
    (
        "serve",
        &[
            "models",
            "config",
            "demo",
            "data",
            "listen",
            "tokens",
            "vw_port",
            "snapshot_every",
            "label_window",
            "label_column",
            "algorithm",
            "loss",
            "shadows",
            "quiet",
        ],
    ),
    (
        "predict",
        &[
            "model",
            "inputs",
            "format",
            "output",
            "output_format",
            "shown",
            "id",
            "keep_columns",
            "explain",
            "allow_unknown",
            "limit",
            "quiet",
        ],
    ),
    (
        "evaluate",
        &[
            "model",
            "inputs",
            "format",
            "label_column",
            "by",
            "threshold",
            "json",
            "plot",
            "allow_unknown",
            "limit",
            "quiet",
        ],
    ),
    (
        "identify",
        &[
            "reference",
            "observed",
            "synthetic",
            "taps",
            "truth",
            "algorithm",
            "rate",
            "output",
            "json",
            "plot",
            "curve",
            "quiet",
        ],
    ),
    (
        "cancel",
        &[
            "reference",
            "microphone",
            "stereo",
            "output",
            "suppress",
            "page",
            "raw",
            "sample_rate",
            "taps",
            "delay",
            "max_delay",
            "algorithm",
            "echo_path",
            "json",
            "plot",
            "quiet",
        ],
    ),
    ("calibrate", &["model", "inputs", "format", "label_column", "method", "output", "quiet"]),
    (
        "schema",
        &["inputs", "output", "format", "label_column", "ignore_columns", "text_columns", "texts"],
    ),
    (
        "convert",
        &[
            "inputs",
            "output",
            "format",
            "label_column",
            "ignore_columns",
            "text_columns",
            "texts",
            "bits",
            "skip_bad",
        ],
    ),
];

/// Flags for reading that the model decides; commands that predict refuse them, and their help leaves them out.
pub(crate) const DECIDED_BY_MODEL: &[&str] = &[
    "no_hash",
    "bits",
    "no_names",
    "quadratic",
    "interactions",
    "schema",
    "ngrams",
    "curves",
    "pairs",
    "kinds",
    "ignore_columns",
    "text_columns",
    "numbers",
    "texts",
    "keep",
    "missing",
];

/// Flags for reading that change nothing of a schema.
const NOT_OF_A_SCHEMA: &[&str] =
    &["no_hash", "bits", "no_names", "quadratic", "interactions", "schema", "kinds"];

/// The place of the last option.
const LAST: usize = 10_000;

/// Settings that `compare` passes to every algorithm.
const TASK: &[&str] = &["loss", "multiclass", "classes", "huber_delta", "quantile"];

/// Settings of labels and columns, which signals do not have.
const NOT_OF_SIGNALS: &[&str] =
    &["multiclass", "classes", "class_weight", "normalize", "no_clip_predictions"];

/// The algorithm of a command without `-a`.
fn default_algorithm(command: &str) -> Option<&'static Algorithm> {
    match command {
        "train" | "serve" => find("auto"),
        "tune" => find("ftrl"),
        "identify" => find("ipnlms"),
        _ => None,
    }
}

/// The command with the help of this detail.
pub(crate) fn command(detail: Detail, algorithm: Option<&'static Algorithm>) -> Command {
    let mut root = Cli::command();
    root.build();
    root.mut_subcommands(|inner| shortened(inner, detail, algorithm))
}

fn shortened(command: Command, detail: Detail, chosen: Option<&'static Algorithm>) -> Command {
    let name = command.get_name().to_owned();
    let common = COMMON.iter().find(|(command, _)| *command == name).map(|(_, ids)| *ids);
    let by_model = matches!(&*name, "predict" | "evaluate" | "calibrate");
    let has_settings = command.get_arguments().any(|arg| arg.get_id() == "spec");
    let is_of_signals = matches!(&*name, "identify" | "cancel");
    let settings = all_parameters();
    let algorithm = chosen.or_else(|| default_algorithm(&name));
    let command = command.mut_args(|arg| {
        let id = arg.get_id().as_str().to_owned();
        let is_idle = match &*name {
            "predict" | "evaluate" | "calibrate" => DECIDED_BY_MODEL.contains(&&*id),
            "schema" => NOT_OF_A_SCHEMA.contains(&&*id),
            _ => false,
        };
        if id == "version" || is_idle {
            return arg.hide(true);
        }
        let arg = match &*id {
            "label_column" if by_model => {
                arg.help("Column of the label [default: the label column of the model]")
            }
            "weight_column" if by_model => arg
                .help("Column of the importance weight [default: the weight column of the model]"),
            "memory" => arg.display_order(LAST - 1),
            "help" => arg.display_order(LAST),
            _ => arg,
        };
        let is_common =
            detail == Detail::Full || id == "help" || common.is_none_or(|ids| ids.contains(&&*id));
        let is_setting = has_settings && settings.iter().any(|(p, _)| p.name == id);
        if !is_setting {
            let is_hidden =
                arg.is_hide_set() || !is_common || (id == "memory" && detail == Detail::Short);
            return arg.hide(is_hidden);
        }
        match algorithm.and_then(|a| Some((a, a.parameter(&id)?))) {
            Some(_) if is_of_signals && NOT_OF_SIGNALS.contains(&&*id) => arg.hide(true),
            Some((algorithm, parameter)) => {
                setting(arg, &name, algorithm, parameter, chosen.is_some())
                    .hide(chosen.is_none() && !is_common)
            }
            // The task of all algorithms that are compared.
            None if name == "compare" && is_common && TASK.contains(&&*id) => {
                match settings.iter().find(|(p, _)| p.name == id) {
                    Some((parameter, _)) => as_typed(arg, parameter),
                    None => arg,
                }
            }
            None => arg.hide(true),
        }
    });
    let more = match (has_settings, common.is_some() && detail == Detail::Short) {
        (true, true) => format!(
            "Every option: parsimon {name} --help. The settings of an algorithm: parsimon {name} -a NAME -h."
        ),
        (false, true) => format!("Every option: parsimon {name} --help."),
        (true, false) => {
            format!("The settings of another algorithm: parsimon {name} -a NAME --help.")
        }
        (false, false) => return command.mut_subcommands(|inner| shortened(inner, detail, None)),
    };
    command.after_help(if name == "cancel" { format!("{LIVE}\n{more}") } else { more })
}

/// A command in which `cancel` runs between a sound card and a call.
const LIVE: &str = "Live, from a sound card that records the loudspeaker on the left and the microphone on the right:
  arecord -q -t raw -f S16_LE -r 16000 -c 2 | parsimon cancel --raw S16_LE --sample-rate 16000 --suppress | aplay -q -t raw -f S16_LE -r 16000 -c 1";

/// The flag of a setting, with its help for this algorithm.
fn setting(
    arg: Arg,
    command: &str,
    algorithm: &Algorithm,
    parameter: &Parameter,
    is_chosen: bool,
) -> Arg {
    let mut help = about(parameter);
    if let Some(default) = default_in(command, algorithm, parameter) {
        help.push_str(&format!(" [{default}]"));
    }
    let default = if is_chosen { "" } else { ", the default algorithm" };
    as_typed(arg, parameter)
        .help(help)
        .help_heading(format!("Settings of {}{default}", algorithm.name))
}

/// Behavior of a command without the setting.
fn default_in(command: &str, algorithm: &Algorithm, parameter: &Parameter) -> Option<String> {
    let takes = |loss: &str| parameter.check(&loss.into()).is_ok();
    let is_open = parameter.name == "loss" && takes("logistic") && takes("squared");
    match (command, parameter.name) {
        ("train", "loss") if is_open => Some("default: chosen from the labels".to_owned()),
        ("serve", "loss") if is_open => Some("required for a new model".to_owned()),
        ("identify" | "cancel", _) if parameter.default.is_some() => {
            let value = value_for_signals(algorithm, parameter)?;
            Some(format!("default: {value}"))
        }
        _ => default_of(parameter).map(|default| format!("default: {default}")),
    }
}

/// Returns the value that a run over signals uses without the setting; `None` for switches, which are off.
fn value_for_signals(algorithm: &Algorithm, parameter: &Parameter) -> Option<String> {
    let settings = super::spec::for_numbers(Spec::new(algorithm.name)).ok()?;
    let value = settings.to_json().get(parameter.name)?.clone();
    match parameter.kind {
        Kind::Flag => None,
        _ => Some(value.to_string().trim_matches('"').to_owned()),
    }
}

/// The flag as it is typed for this algorithm: `--normalize` instead of `--normalize[=<normalize>]`, and `--beta <X>` where
/// another algorithm has words.
fn as_typed(arg: Arg, parameter: &Parameter) -> Arg {
    match parameter.kind {
        Kind::Flag => Arg::new(parameter.name)
            .long(parameter.name.replace('_', "-"))
            .action(ArgAction::SetTrue)
            // The command is built already, and would not complete the flag.
            .num_args(0)
            .help(about(parameter))
            .help_heading(arg.get_help_heading().unwrap_or_default().to_owned()),
        kind => arg.value_name(value_name(kind)),
    }
}

/// Returns the description of a setting with its possible words.
fn about(parameter: &Parameter) -> String {
    match parameter.kind {
        Kind::Choice(words) => format!("{}: {}", parameter.about, words.join(", ")),
        _ => parameter.about.to_owned(),
    }
}

/// Returns the default of a setting as a user types it; `None` for switches, which are off.
pub(crate) fn default_of(parameter: &Parameter) -> Option<String> {
    let value = parameter.default?.value();
    match parameter.kind {
        Kind::Flag => None,
        _ => Some(value.to_string().trim_matches('"').to_owned()),
    }
}

/// The help that the words ask for: prints it and ends the program.
pub(super) fn show(words: Vec<OsString>) -> Result<Cli, Fault> {
    let is_full = words.iter().any(|word| word == "--help");
    let detail = if is_full { Detail::Full } else { Detail::Short };
    let algorithm = match named_algorithm(&words) {
        // The filters in blocks, which are no algorithms of the table.
        None | Some("kalman" | "fdnlms") => None,
        Some(name) => Some(find(name).ok_or_else(|| unknown_algorithm(name))?),
    };
    match command(detail, algorithm).try_get_matches_from(words) {
        Err(help) => help.exit(),
        Ok(_) => Err(Fault::Usage("no help for these words; run parsimon --help".into())),
    }
}

/// Returns the error for an unknown algorithm.
pub(crate) fn unknown_algorithm(name: &str) -> Fault {
    let near = parsimon_data::did_you_mean(name, ALGORITHMS.iter().map(|a| a.name));
    let end = if near.is_empty() { ";" } else { "" };
    Fault::Usage(format!(
        "there is no algorithm {name:?}{near}{end} `parsimon algorithms` lists them"
    ))
}

/// Returns the value of `-a`, at any position.
pub(crate) fn named_algorithm(words: &[OsString]) -> Option<&str> {
    let mut words = words.iter().filter_map(|word| word.to_str());
    while let Some(word) = words.next() {
        match word {
            "--" => return None,
            "-a" | "--algorithm" => return words.next(),
            _ => {}
        }
        if let Some(name) = word.strip_prefix("--algorithm=") {
            return Some(name);
        }
        if let Some(name) = word.strip_prefix("-a").filter(|_| !word.starts_with("--")) {
            return Some(name.trim_start_matches('='));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The help of a command as it is printed, without colors.
    fn text(words: &str) -> String {
        let words: Vec<OsString> = words.split(' ').map(OsString::from).collect();
        let full = words.iter().any(|w| w == "--help");
        let algorithm = named_algorithm(&words).and_then(find);
        let detail = if full { Detail::Full } else { Detail::Short };
        command(detail, algorithm).try_get_matches_from(words).unwrap_err().to_string()
    }

    #[test]
    fn every_common_flag_exists() {
        let root = command(Detail::Full, None);
        for (name, ids) in COMMON {
            let Some(command) = root.find_subcommand(name) else { continue };
            for id in *ids {
                assert!(command.get_arguments().any(|a| a.get_id() == id), "{name} {id}");
            }
        }
    }

    #[test]
    fn help_with_an_algorithm_has_its_settings_with_defaults() {
        for words in ["train -a ftrl --help", "tune --help -a ftrl", "serve -h --algorithm=ftrl"] {
            let help = text(&format!("parsimon {words}"));
            assert!(help.contains("--beta") && help.contains("Settings of ftrl"), "{help}");
            assert!(help.contains("[default: 0.1]") && !help.contains("--theta"), "{help}");
        }
        let help = text("parsimon identify --help");
        assert!(help.contains("Settings of ipnlms, the default algorithm"), "{help}");
    }

    #[test]
    fn the_help_of_signals_has_the_values_that_run() {
        let printed = |help: &str, flag: &str| {
            let at = help.find(&format!("--{flag} "))?;
            let rest = &help[at + 2..];
            let end = rest.find("\n      --").unwrap_or(rest.len());
            let (_, default) = rest[..end].split_once("[default: ")?;
            Some(default.split(']').next()?.to_owned())
        };
        for algorithm in ALGORITHMS.iter().filter(|a| a.is_filter()) {
            let help = text(&format!("parsimon identify -a {} --help", algorithm.name));
            let settings = super::super::spec::for_numbers(Spec::new(algorithm.name)).unwrap();
            let mut compared = 0;
            for parameter in algorithm.parameters() {
                let flag = parameter.name.replace('_', "-");
                let Some(default) = printed(&help, &flag) else { continue };
                let runs = settings.to_json()[parameter.name].to_string();
                assert_eq!(default, runs.trim_matches('"'), "{} --{flag}", algorithm.name);
                compared += 1;
            }
            assert!(compared > 0, "{help}");
        }
        let pda = text("parsimon identify -a pda --help");
        assert_eq!(printed(&pda, "l1").as_deref(), Some("0"), "{pda}");
    }

    #[test]
    fn commands_that_predict_list_what_they_take() {
        for name in ["predict", "evaluate", "calibrate"] {
            for detail in ["-h", "--help"] {
                let help = text(&format!("parsimon {name} {detail}"));
                for flag in
                    ["--bits", "--no-hash", "--ngrams", "--schema", "--categories", "--missing"]
                {
                    assert!(!help.contains(flag), "{name} {detail} {flag}\n{help}");
                }
            }
        }
    }
}

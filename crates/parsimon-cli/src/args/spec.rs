//! Flags for the settings of algorithms, made from the table of algorithms.

use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches};
use parsimon::algorithm::{ALGORITHMS, Parameter, find};
use parsimon::data::Input;
use parsimon::settings::{LabelDomain, alias};
use parsimon::workspace::{SettingKind as Kind, all_parameters, scalar};
use parsimon::{Settings, Spec};
use serde_json::Value;

use super::number;
use crate::fault::Fault;

/// The settings given by flags, and the file they overwrite.
#[derive(Clone, Debug, Default)]
pub(crate) struct SpecArgs {
    file: Option<PathBuf>,
    flags: Vec<(String, String)>,
}

/// Every setting of every algorithm, once.
fn parameters() -> impl Iterator<Item = &'static Parameter> {
    all_parameters().into_iter().map(|(parameter, _)| parameter)
}

/// The forms of a setting under each algorithm, with all of its possible words.
fn help(parameter: &Parameter, under_each: &[&'static Parameter]) -> String {
    let (mut abouts, mut words): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
    for other in under_each {
        // The first description of the step is enough.
        if !abouts.contains(&other.about) && (abouts.is_empty() || parameter.name != "rate") {
            abouts.push(other.about);
        }
        if let Kind::Choice(choices) = other.kind {
            let new = choices.iter().filter(|word| !words.contains(word));
            words.extend(new.copied().collect::<Vec<_>>());
        }
    }
    match words.is_empty() {
        true => abouts.join("; or "),
        false => format!("{}: {}", abouts[0], words.join(", ")),
    }
}

impl Args for SpecArgs {
    fn augment_args(command: Command) -> Command {
        let heading = "Algorithm";
        let mut command = command
            .arg(
                Arg::new("algorithm")
                    .short('a')
                    .long("algorithm")
                    .value_name("NAME")
                    .help_heading(heading)
                    .help("Algorithm; `parsimon algorithms` lists them"),
            )
            .arg(
                Arg::new("spec")
                    .long("spec")
                    .value_name("FILE")
                    .value_parser(clap::value_parser!(PathBuf))
                    .help_heading(heading)
                    .help("Read settings from a JSON or TOML file; flags override them"),
            )
            .arg(Arg::new("gamma").long("gamma").hide(true));
        for (parameter, under_each) in all_parameters() {
            let flag = parameter.name.replace('_', "-");
            let aliases = alias::synonyms(parameter.name).iter().map(|name| name.replace('_', "-"));
            let mut arg = Arg::new(parameter.name)
                .long(flag)
                .aliases(aliases)
                .help(help(parameter, &under_each))
                .allow_hyphen_values(true)
                .help_heading(heading);
            arg = match parameter.kind {
                Kind::Flag => {
                    arg.num_args(0..=1).require_equals(true).default_missing_value("true")
                }
                kind => arg.value_name(value_name(kind)),
            };
            command = command.arg(arg.action(ArgAction::Set));
        }
        command
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for SpecArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut args = Self::default();
        args.update_from_arg_matches(matches)?;
        Ok(args)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.file = matches.get_one::<PathBuf>("spec").cloned();
        let names = ["algorithm", "gamma"].into_iter();
        for name in names.chain(parameters().map(|p| p.name)) {
            if let Some(text) = matches.get_one::<String>(name) {
                self.flags.push((name.into(), text.clone()));
            }
        }
        Ok(())
    }
}

impl SpecArgs {
    /// The settings given by flags.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.flags.iter().map(|(name, _)| name.as_str())
    }

    /// Whether the file or a flag names an algorithm.
    pub(crate) fn names_algorithm(&self) -> Result<bool, Fault> {
        Ok(self.given()?.get("algorithm").is_some())
    }

    /// The spec file, which no output may overwrite.
    pub(crate) fn inputs(&self) -> Vec<Input> {
        self.file.iter().cloned().map(Input::Path).collect()
    }

    /// The spec for a task whose default is another algorithm.
    pub(crate) fn spec_or(&self, algorithm: &str) -> Result<Spec, Fault> {
        self.over(Spec::new(algorithm))
    }

    /// The spec: the house's default unless an algorithm is named, the file over it, the flags over both.
    pub(crate) fn spec(&self) -> Result<Spec, Fault> {
        let spec = self.over(Spec::recommended())?;
        let is_named = self.layers(None)?.get("algorithm").is_some();
        // `alpha` is a penalty in scikit-learn and the step in FTRL's paper; `gamma` is a penalty in XGBoost and one over the step in RDA's paper.
        let ambiguous = self.names().find(|name| ["alpha", "gamma"].contains(name));
        if let Some(name) = ambiguous.filter(|_| !is_named) {
            return Err(Fault::Usage(format!(
                "--{name} means different things in different programs; set the step with --rate, the penalty with --l1"
            )));
        }
        let hint = spec.fields().find_map(|(name, _)| methods_with(name));
        match hint.filter(|_| !is_named) {
            Some(hint) => Err(Fault::Usage(hint)),
            None => Ok(spec),
        }
    }

    /// The spec over another default: the file over it, the flags over both.
    pub(crate) fn over(&self, usual: Spec) -> Result<Spec, Fault> {
        let spec = self.layers(usual.get("algorithm").and_then(Value::as_str))?;
        match spec.get("algorithm") {
            Some(_) => Ok(spec),
            None => Ok(usual.overwrite(spec)),
        }
    }

    /// Returns the given settings for this algorithm unless another one is named.
    pub(crate) fn given_to(&self, algorithm: &str) -> Result<Spec, Fault> {
        self.layers(Some(algorithm))
    }

    /// Returns only the given settings.
    pub(crate) fn given(&self) -> Result<Spec, Fault> {
        self.layers(None)
    }

    /// Returns the settings of the file, overridden by the flags, under the names that the algorithm reads.
    fn layers(&self, usual: Option<&str>) -> Result<Spec, Fault> {
        let file = match &self.file {
            None => Spec::default(),
            Some(path) => read_spec(path)?,
        };
        let mut flags = Spec::default();
        for (name, text) in &self.flags {
            flags = set(flags, name, text);
        }
        let named = flags.get("algorithm").or(file.get("algorithm")).and_then(Value::as_str);
        let algorithm = named.or(usual).map(str::to_owned);
        let file = own_names(file, algorithm.as_deref())?;
        Ok(file.overwrite(own_names(flags, algorithm.as_deref())?))
    }
}

/// Treatment of a setting that the default method does not have and others have.
fn methods_with(name: &str) -> Option<String> {
    let usual = Spec::recommended().get("algorithm")?.as_str().and_then(find)?;
    let others: Vec<&str> = ALGORITHMS.iter().filter(|a| a.has(name)).map(|a| a.name).collect();
    let is_foreign = name != "algorithm" && !usual.has(name);
    let first = others.iter().find(|other| **other == "ftrl").or(others.first())?;
    let flag = name.replace('_', "-");
    is_foreign.then(|| {
        let some = others.iter().take(4).copied().collect::<Vec<_>>().join(", ");
        let more = if others.len() > 4 { ", ..." } else { "" };
        format!(
            "--{flag} is a setting of {some}{more}; choose one, for example -a {first} --{flag} ..."
        )
    })
}

fn read_spec(path: &std::path::Path) -> Result<Spec, Fault> {
    let text = parsimon_files::read_text(path)?;
    let is_toml = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("toml"));
    let spec = if is_toml { Spec::from_toml(&text) } else { Spec::from_json(&text) };
    spec.map_err(|e| Fault::Usage(format!("{}: {e}", path.display())))
}

/// One setting from its text.
fn set(spec: Spec, name: &str, text: &str) -> Spec {
    let name = name.replace('-', "_");
    let kind = parameters().find(|p| p.name == alias::synonym(&name)).map(|p| p.kind);
    let value = match kind {
        Some(Kind::Texts) => text.split(',').map(str::trim).collect::<Vec<_>>().into(),
        Some(Kind::Groups) => {
            let ids = |group: &str| group.split(',').map(|id| scalar(id.trim())).collect::<Value>();
            text.split(';').map(ids).collect::<Value>()
        }
        // A method of `compare` is cut at its commas: there lists are written with semicolons.
        Some(Kind::Words(_)) if !text.contains([',', ';']) => scalar(text),
        Some(Kind::ClassWeights | Kind::Factors) if text.contains('=') => class_weights(text),
        Some(Kind::Natural | Kind::Order | Kind::NaturalOrNone) => natural(text),
        Some(Kind::Naturals) => text.split([',', ';']).map(|item| natural(item.trim())).collect(),
        Some(Kind::Words(_) | Kind::Positives) => {
            text.split([',', ';']).map(|item| scalar(item.trim())).collect()
        }
        _ => scalar(text),
    };
    spec.set(&name, value)
}

/// `no=1,yes=10`, or with semicolons. A label, or the name of a feature, may have an equals sign in it: the last one counts.
fn class_weights(text: &str) -> Value {
    let pair = |item: &str| {
        let (label, weight) = item.rsplit_once('=').unwrap_or((item, ""));
        (label.trim().to_owned(), scalar(weight.trim()))
    };
    Value::Object(text.split([',', ';']).map(pair).collect())
}

/// Parses a whole number in any of its forms. The settings judge other texts.
fn natural(text: &str) -> Value {
    number::whole::<u64>(text).map_or_else(|_| scalar(text), Value::from)
}

fn own_names(spec: Spec, algorithm: Option<&str>) -> Result<Spec, Fault> {
    Ok(alias::translated(&spec, algorithm)?.unwrap_or(spec))
}

/// A method written as `name:key=value,key=value`.
pub(crate) fn method(text: &str) -> Result<Spec, Fault> {
    let (name, settings) = text.split_once(':').unwrap_or((text, ""));
    let mut spec = Spec::new(name);
    for setting in settings.split(',').filter(|s| !s.is_empty()) {
        let Some((key, value)) = setting.split_once('=') else {
            return Err(Fault::Usage(format!("a method reads name:key=value,..., got {text:?}")));
        };
        spec = set(spec, key.trim(), value.trim());
    }
    own_names(spec, Some(name))
}

/// Placeholder of a value in the help of a setting.
pub(super) fn value_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Texts | Kind::Words(_) => "A,B,...",
        Kind::Positives | Kind::Naturals => "X,Y,...",
        Kind::Groups => "1,2;3,4",
        Kind::ClassWeights => "WEIGHTS",
        Kind::Factors => "PAIRS",
        Kind::Choice(_) => "WORD",
        _ => "X",
    }
}

/// Returns the settings, by default with the squared loss; losses for classes do not apply to signals.
pub(crate) fn for_numbers(spec: Spec) -> Result<Settings, Fault> {
    let spec = spec.for_signals();
    let settings = spec.resolve()?;
    let is_free = spec.get("loss").is_none() && settings.loss().domain() != LabelDomain::Real;
    let with_squared = is_free.then(|| spec.set("loss", "squared").resolve());
    let name = settings.algorithm().name;
    let settings = match with_squared {
        // A method without a squared loss, and Adaline, whose squared loss takes classes.
        Some(Err(_)) => return Err(for_classes(name)),
        Some(Ok(squared)) if squared.loss().domain() != LabelDomain::Real => {
            return Err(for_classes(name));
        }
        Some(Ok(squared)) => squared,
        None => settings,
    };
    match settings.loss().domain() {
        LabelDomain::Real => Ok(settings),
        _ => Err(Fault::Usage(format!(
            "{name} with the loss {} is for classes; a system has numbers as output, so choose a loss such as squared",
            settings.loss_name()
        ))),
    }
}

/// Returns the error for a method that learns only classes.
fn for_classes(name: &str) -> Fault {
    Fault::Usage(format!(
        "{name} learns classes, and a system has numbers as output; choose another method, such as nlms, ipnlms or rda"
    ))
}

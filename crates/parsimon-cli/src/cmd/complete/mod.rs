//! `parsimon complete`: what may stand at the cursor, for the scripts of `parsimon completions`.
//!
//! A line for each candidate, with its description after a tab. Nothing means that the shell should offer files.

mod columns;
mod values;

use std::io::Write;

use clap::{Arg, Command};
use parsimon::algorithm::{Algorithm, find};

use crate::args::{self, CompleteArgs, Detail, Typed, wants_value};
use crate::fault::Fault;
use crate::output::Output;

pub(crate) fn run(args: &CompleteArgs) -> Result<(), Fault> {
    let algorithm = args::named_algorithm(&args.words).and_then(find);
    let root = args::command(Detail::Full, algorithm);
    let words: Vec<String> =
        args.words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let mut out = Output::open(None)?;
    for (name, about) in candidates(&root, algorithm, &words) {
        writeln!(out, "{name}\t{about}")?;
    }
    out.finish()
}

/// A possible word at the cursor, and its description.
type Candidate = (String, String);

/// Position of the cursor.
struct Cursor<'a> {
    command: &'a Command,
    /// The algorithm that `-a` names.
    algorithm: Option<&'static Algorithm>,
    /// The words before the cursor that are neither flags nor their values.
    positionals: Vec<&'a str>,
}

/// Returns the possible replacements of the last word.
fn candidates(
    root: &Command,
    algorithm: Option<&'static Algorithm>,
    words: &[String],
) -> Vec<Candidate> {
    let (current, before) =
        words.split_last().map_or(("", &[][..]), |(last, rest)| (&**last, rest));
    let mut place = Cursor { command: root, algorithm, positionals: Vec::new() };
    let mut pending: Option<&Arg> = None;
    for word in before {
        if pending.take().is_some() {
            continue;
        }
        match Typed::new(word) {
            Some(flag) => {
                let arg = flag.find(place.command).filter(|arg| wants_value(arg));
                pending = arg.filter(|_| flag.value.is_none());
            }
            None => match place.command.find_subcommand(word) {
                Some(inner) => place.command = inner,
                None => place.positionals.push(word),
            },
        }
    }
    let found = match (pending, current.split_once('=')) {
        (Some(arg), _) => values::of_flag(&place, arg, current),
        (None, Some((name, value))) if name.starts_with("--") => {
            let arg = Typed::new(name).and_then(|flag| flag.find(place.command));
            let found = arg.map(|arg| values::of_flag(&place, arg, value)).unwrap_or_default();
            found.into_iter().map(|(value, about)| (format!("{name}={value}"), about)).collect()
        }
        _ if current.starts_with('-') => flags(place.command),
        _ if place.command.has_subcommands() => commands(place.command),
        _ => values::of_positional(&place, root),
    };
    found.into_iter().filter(|(name, _)| name.starts_with(current)).collect()
}

fn flags(command: &Command) -> Vec<Candidate> {
    let shown = command.get_arguments().filter(|arg| !arg.is_hide_set());
    let flag = |arg: &Arg| {
        let about = arg.get_help().map(ToString::to_string).unwrap_or_default();
        arg.get_long().map(|long| (format!("--{long}"), summary(&about)))
    };
    shown.filter_map(flag).collect()
}

fn commands(command: &Command) -> Vec<Candidate> {
    let shown = command.get_subcommands().filter(|inner| !inner.is_hide_set());
    let about = |inner: &Command| inner.get_about().map(ToString::to_string).unwrap_or_default();
    shown.map(|inner| (inner.get_name().to_owned(), summary(&about(inner)))).collect()
}

/// The beginning of a description: one line.
fn summary(about: &str) -> String {
    let end = about.find([';', '\n', '[']).unwrap_or(about.len());
    let line = about[..end].split(". ").next().unwrap_or_default();
    line.trim_end_matches([':', ' ']).to_owned()
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;

    /// The candidates at the end of a line.
    fn complete(line: &str) -> Vec<String> {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let os: Vec<OsString> = words.iter().map(OsString::from).collect();
        let algorithm = args::named_algorithm(&os).and_then(find);
        let root = args::command(Detail::Full, algorithm);
        candidates(&root, algorithm, &words).into_iter().map(|(name, _)| name).collect()
    }

    #[test]
    fn commands_flags_and_names() {
        assert_eq!(complete("tr"), ["train"]);
        assert_eq!(complete("train d.csv -a ftr"), ["ftrl"]);
        assert_eq!(complete("train --algorithm=ftr"), ["--algorithm=ftrl"]);
        assert_eq!(complete("algorithms pa"), ["pa", "papa"]);
        assert_eq!(complete("train --label-c"), ["--label-column"]);
        assert_eq!(complete("train --precision "), ["f32", "f64"]);
        assert_eq!(complete("train --format par"), ["parquet"]);
        assert_eq!(complete("identify -a ft"), [""; 0]);
        assert_eq!(complete("train d"), [""; 0]);
        assert_eq!(complete("train -o "), [""; 0]);
        assert_eq!(complete("completions ba"), ["bash"]);
    }

    #[test]
    fn settings_of_the_algorithm_alone() {
        let flags = complete("train -a truncation --");
        assert!(flags.contains(&"--theta".into()) && !flags.contains(&"--beta".into()));
        assert!(complete("train -a ftrl --").contains(&"--beta".into()));
        assert_eq!(complete("train --loss hu"), ["huber"]);
        assert_eq!(complete("compare d.csv -m ftr"), ["ftrl"]);
        assert_eq!(
            complete("compare d.csv -m ftrl:l"),
            ["ftrl:loss=", "ftrl:l1=", "ftrl:l2=", "ftrl:lower="]
        );
        assert_eq!(complete("compare d.csv -m ftrl:l1=1,loss=hin"), ["ftrl:l1=1,loss=hinge"]);
        assert_eq!(complete("tune d.csv --sweep rat"), ["rate="]);
    }

    #[test]
    fn columns_of_the_file_at_hand() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("d.csv");
        let rows = "1,web,0\n2,ios,1\n".repeat(20);
        std::fs::write(
            &file,
            format!(
                "site,my device,device,click\n{}",
                rows.replace("web", "x,web").replace("ios", "y,ios")
            ),
        )
        .unwrap();
        let file = file.display().to_string();
        assert_eq!(complete(&format!("train {file} --label-column c")), ["click"]);
        assert_eq!(complete(&format!("train --bits 3 {file} --ignore site,d")), ["site,device"]);
        assert_eq!(
            complete(&format!("train {file} --ignore=site,")),
            ["--ignore=site,device", "--ignore=site,click"]
        );
        assert_eq!(complete(&format!("evaluate m.psm {file} --by si")), ["site"]);
        assert_eq!(complete("train no.csv --label-column c"), [""; 0]);
    }
}

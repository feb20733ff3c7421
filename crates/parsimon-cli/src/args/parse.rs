//! The words of the command line become flags.

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{Command, CommandFactory, FromArgMatches};

use super::{Cli, Command as Subcommand, VwArgs, help, mistake, vw};
use crate::fault::Fault;

/// Reads the command line. Prints help and ends the program if the words ask for help.
pub(crate) fn parse() -> Result<Cli, Fault> {
    let mut root = Cli::command();
    root.build();
    let words = help_as_flag(&root, std::env::args_os().collect());
    if words.get(1).is_some_and(|word| word == "vw") {
        return vw_words(words);
    }
    let words = vw::translate(&root, words).map_err(Fault::Usage)?;
    let matched = root.try_get_matches_from_mut(words.clone());
    let error = match matched.and_then(|mut matches| Cli::from_arg_matches_mut(&mut matches)) {
        Ok(cli) => return Ok(cli),
        Err(error) => error,
    };
    match error.kind() {
        ErrorKind::DisplayHelp => help::show(words),
        ErrorKind::DisplayVersion | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            error.exit()
        }
        _ => Err(mistake::explain(&root, &words, &error)),
    }
}

/// Leaves the flags of Vowpal Wabbit as they are: several have the letters of flags of ours.
fn vw_words(words: Vec<OsString>) -> Result<Cli, Fault> {
    let words = words.into_iter().skip(2).map(OsString::into_string);
    let words: Result<Vec<_>, _> = words.collect();
    let words =
        words.map_err(|word| Fault::Usage(format!("{} is not UTF-8", word.to_string_lossy())))?;
    Ok(Cli { command: Subcommand::Vw(VwArgs { words }), memory: None, help: None })
}

/// `parsimon help train` is `parsimon train --help`, and `parsimon log help replay` is `parsimon log replay --help`.
fn help_as_flag(root: &Command, mut words: Vec<OsString>) -> Vec<OsString> {
    let mut command = root;
    for at in 1..words.len() {
        if words[at] == "help" && command.has_subcommands() {
            words.remove(at);
            words.push("--help".into());
            break;
        }
        match words[at].to_str().and_then(|word| command.find_subcommand(word)) {
            Some(inner) => command = inner,
            None => break,
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_may_be_a_command() {
        let mut root = Cli::command();
        root.build();
        for (typed, meant) in [
            ("parsimon help", "parsimon --help"),
            ("parsimon help train", "parsimon train --help"),
            ("parsimon train help", "parsimon train help"),
            ("parsimon help train -a ftrl", "parsimon train -a ftrl --help"),
            ("parsimon x help", "parsimon x help"),
        ] {
            let words = typed.split(' ').map(OsString::from).collect();
            let words = help_as_flag(&root, words);
            let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
            assert_eq!(words.join(" "), meant);
        }
    }
}

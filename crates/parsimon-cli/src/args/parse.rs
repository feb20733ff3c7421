//! The words of the command line become flags.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser};

use super::{Cli, vw};
use crate::fault::Fault;
use crate::features;

/// Reads the command line. Prints help or what is wrong with the flags, and ends the program, where that is asked or due.
pub(crate) fn parse() -> Result<Cli, Fault> {
    let mut root = Cli::command();
    root.build();
    let words = vw::translate(&root, std::env::args_os()).map_err(Fault::Usage)?;
    Cli::try_parse_from(words).map_err(|mut error| {
        if error.kind() == ErrorKind::UnknownArgument {
            keep_good_suggestion(&mut error);
        }
        if let Some(ContextValue::String(command)) = error.get(ContextKind::InvalidSubcommand)
            && let Some(feature) = features::needed_by(command)
        {
            return Fault::Usage(features::left_out(&format!("has no command {command}"), feature));
        }
        error.exit()
    })
}

/// Leaves the suggestion of a flag only where it is a slip of the finger away.
fn keep_good_suggestion(error: &mut clap::Error) {
    // "to pass '--x' as a value, use '-- --x'" has never been the answer.
    error.remove(ContextKind::Suggested);
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.trim_start_matches('-').to_owned()),
        _ => None,
    };
    if let (Some(typed), Some(suggested)) =
        (text(ContextKind::InvalidArg), text(ContextKind::SuggestedArg))
    {
        let typed = typed.split('=').next().unwrap_or_default().replace('_', "-");
        let allowed = if typed.len() < 5 { 1 } else { 2 };
        if slips(typed.as_bytes(), suggested.as_bytes()) > allowed {
            error.remove(ContextKind::SuggestedArg);
            // It is written around the suggestion.
            error.remove(ContextKind::Usage);
        }
    }
}

/// Letters added, left out, replaced or swapped with their neighbour to make one word the other.
fn slips(a: &[u8], b: &[u8]) -> usize {
    let mut rows = vec![(0..=b.len()).collect::<Vec<usize>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_counted() {
        for (a, b, count) in [
            ("rate", "rate", 0),
            ("raet", "rate", 1),
            ("rte", "rate", 1),
            ("ratee", "rate", 1),
            ("rats", "rate", 1),
            ("threds", "threads", 1),
            ("", "abc", 3),
            ("oaa", "o", 2),
        ] {
            assert_eq!(slips(a.as_bytes(), b.as_bytes()), count, "{a} {b}");
        }
    }
}

//! Columns of the table that the command reads.

use std::path::Path;

use parsimon::data::{Input, Kinds, Labels, Options, Reading};
use parsimon::survey::table;

use super::Candidate;

/// The columns of the first of these files that is a table, with their kinds.
pub(super) fn one(files: &[&str]) -> Vec<Candidate> {
    let mut tables = files.iter().filter(|file| Path::new(file).is_file()).filter_map(|file| {
        // A table without a clear label still has columns.
        let labels = Labels::Optional(Box::new(Labels::Any));
        let options = Options::from(Reading { labels, kinds: Kinds::Found, ..Reading::default() });
        table(&[Input::Path(file.into())][..], &options).ok().flatten()
    });
    let Some(table) = tables.next() else { return Vec::new() };
    let columns = table.columns.iter().filter(|column| is_plain(&column.name));
    columns.map(|column| (column.name.clone(), column.kind.to_string())).collect()
}

/// The columns that may follow in a list, behind those that it has.
pub(super) fn list(files: &[&str], current: &str) -> Vec<Candidate> {
    let (before, _) = current.rsplit_once(',').unwrap_or(("", current));
    let given: Vec<&str> = before.split(',').collect();
    let prefix = if before.is_empty() { String::new() } else { format!("{before},") };
    let free = one(files).into_iter().filter(|(name, _)| !given.contains(&name.as_str()));
    free.map(|(name, kind)| (format!("{prefix}{name}"), kind)).collect()
}

/// Whether a shell takes the name as one word without quotes.
fn is_plain(name: &str) -> bool {
    let is_odd =
        |c: char| c.is_control() || c.is_whitespace() || "\"'`$\\;&|<>()[]{}*?#~!,".contains(c);
    !name.is_empty() && !name.contains(is_odd)
}

//! What was found of a table's columns, in a few lines.

use parsimon_data::{Kind, TableSchema};

use super::InputSchema;

/// Names that a note lists at most.
const MOST: usize = 8;

/// A line about the kinds and the label, and a line for each kind of column that is left out; none where the data is no table. `keep` is
/// what a user writes to have such columns read.
pub fn columns_in_words(schema: &InputSchema, keep: &str) -> Vec<String> {
    let Some(table) = &schema.table else { return Vec::new() };
    let classes = match &schema.found.classes[..] {
        [] => String::new(),
        classes => format!(" ({})", listed(classes.iter().map(String::as_str), 3)),
    };
    let mut parts = counts(table);
    parts.extend(table.label.iter().map(|label| format!("label {label}{classes}")));
    parts.extend(table.weight.iter().map(|weight| format!("weight {weight}")));
    parts.extend(table.ngrams.iter().map(|n| format!("runs of up to {n} words")));
    let columns = table.columns.len();
    let mut lines = vec![format!(
        "{columns} column{}: {}",
        if columns == 1 { "" } else { "s" },
        parts.join(", ")
    )];
    for (kind, why) in [
        (Kind::Identifier, "a different value in every row"),
        (Kind::Constant, "the same value in every row"),
        (Kind::Index, "the index of a pandas frame"),
        (Kind::Empty, "no value"),
    ] {
        let names: Vec<_> = features(table).filter(|(_, k)| *k == kind).map(|(n, _)| n).collect();
        if !names.is_empty() {
            let way = match kind {
                Kind::Empty => String::new(),
                _ => format!("; {keep} reads them"),
            };
            lines.push(format!("not read: {} ({why}{way})", listed(names.into_iter(), MOST)));
        }
    }
    lines
}

/// The columns beside label and weight.
fn features(table: &TableSchema) -> impl Iterator<Item = (&str, Kind)> {
    let is_feature =
        |name: &String| Some(name) != table.label.as_ref() && Some(name) != table.weight.as_ref();
    let columns = table.columns.iter().filter(move |column| is_feature(&column.name));
    columns.map(|column| (column.name.as_str(), column.kind))
}

/// How many columns there are of each kind.
fn counts(table: &TableSchema) -> Vec<String> {
    let plural = |kind: Kind| match kind {
        Kind::Category => "categories".to_owned(),
        Kind::Index => "indexes".to_owned(),
        Kind::Empty | Kind::Ignored => kind.to_string(),
        _ => format!("{kind}s"),
    };
    let count = |kind: Kind| features(table).filter(|(_, k)| *k == kind).count();
    let counts = Kind::ALL.iter().map(|(kind, _)| (*kind, count(*kind))).filter(|(_, n)| *n > 0);
    counts
        .map(|(kind, n)| if n == 1 { format!("1 {kind}") } else { format!("{n} {}", plural(kind)) })
        .collect()
}

/// The first of some names, and whether there are more.
pub fn listed<'a>(names: impl ExactSizeIterator<Item = &'a str>, most: usize) -> String {
    let more = if names.len() > most { ", ..." } else { "" };
    format!("{}{more}", names.take(most).collect::<Vec<_>>().join(", "))
}

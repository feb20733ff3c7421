//! Short description of a table's columns.

use parsimon_data::{Kind, TableSchema, listed};
use parsimon_eval::number::thousands;

use super::InputSchema;

/// Names that a note lists at most.
const MOST: usize = 8;

/// Describes the columns: a line about kinds and the label, and a line for each kind of column that is not used. Empty if the data
/// is not a table. `keep` is the text that explains how to use such columns.
pub fn columns_in_words(schema: &InputSchema, keep: &str) -> Vec<String> {
    let Some(table) = &schema.table else { return Vec::new() };
    let classes = match &schema.found.classes[..] {
        [] => String::new(),
        classes => format!(" ({})", listed(classes.iter(), 3)),
    };
    let mut parts = counts(table);
    parts.extend(
        table.label.iter().map(|label| format!("label {}{classes}", listed([label].iter(), 1))),
    );
    parts
        .extend(table.weight.iter().map(|weight| format!("weight {}", listed([weight].iter(), 1))));
    parts.extend(table.ngrams.iter().map(|n| format!("runs of up to {n} words")));
    let columns = table.columns.len();
    let mut lines = vec![format!(
        "{} column{}: {}",
        thousands(columns as u64),
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

/// Number of columns of each kind.
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
        .map(|(kind, n)| {
            if n == 1 {
                format!("1 {kind}")
            } else {
                format!("{} {}", thousands(n as u64), plural(kind))
            }
        })
        .collect()
}

//! What was found of a table's columns, printed.

use parsimon::InputSchema;
use parsimon::data::{DataError, Format, Kind, Options, Reader, TableSchema};
use parsimon::survey::{Opened, columns_in_words, widening_in_words};
use parsimon_data::{is_label_name, listed};

use crate::args::DataArgs;
use crate::console::note;
use crate::provenance::quoted;

/// Names of columns that a line lists at most.
const MOST_NAMES: usize = 10;

/// Prints what was found in the data that is open, and what of it was guessed.
pub(crate) fn announce(opened: &Opened, args: &DataArgs) {
    opened.widened.iter().for_each(|sentence| note(sentence));
    found(&opened.schema, &opened.reader, args).iter().for_each(|line| note(line));
}

/// What was found of the columns, line by line.
pub(crate) fn lines(schema: &InputSchema) -> Vec<String> {
    columns_in_words(schema, "--keep COLUMNS")
}

/// The same with the names of the columns, and with the guesses.
fn found(schema: &InputSchema, reader: &Reader, args: &DataArgs) -> Vec<String> {
    let mut lines = reader.guesses().to_vec();
    lines.extend(columns_found(schema, reader, args));
    lines
}

fn columns_found(schema: &InputSchema, reader: &Reader, args: &DataArgs) -> Vec<String> {
    let mut lines = lines(schema);
    let is_given = args.schema.is_some() || reader.format() == Format::Cache;
    let Some(table) = schema.table.as_ref().filter(|_| !is_given) else {
        let label = reader.label_column().filter(|_| args.label_column.is_none() && !is_given);
        lines.extend(
            label.map(|label| {
                format!("label: column {label}; --label-column COLUMN chooses another")
            }),
        );
        return lines;
    };
    let names = [
        (Kind::Number, "numbers"),
        (Kind::Category, "categories"),
        (Kind::Text, "texts"),
        (Kind::Time, "times"),
        (Kind::Boolean, "booleans"),
    ];
    let names = names.into_iter().filter_map(|(kind, plural)| named(table, kind, plural));
    lines.splice(1..1, names.collect::<Vec<_>>());
    lines.extend(odd_texts(table));
    lines.extend(forms(table));
    let guess = table.label.as_ref().filter(|name| !is_label_name(name));
    if let Some(label) = guess.filter(|_| args.label_column.is_none()) {
        let is_first = table.columns.first().is_some_and(|column| column.name == *label);
        lines.push(format!(
            "label: guessed to be {}, the {} column, because it has two values; --label-column COLUMN chooses another",
            listed([label].iter(), 1),
            if is_first { "first" } else { "last" }
        ));
    }
    if let Some(weight) = table.weight.as_ref().filter(|_| args.weight_column.is_none()) {
        let weight = listed([weight].iter(), 1);
        lines.push(format!(
            "importance weight: column {weight}, because of its name; --ignore {weight} leaves it out"
        ));
    }
    lines
}

/// The texts among numbers that are missing, a line for each.
fn odd_texts(table: &TableSchema) -> Vec<String> {
    let mut lines = Vec::new();
    for column in &table.columns {
        let name = listed([&column.name].iter(), 1);
        lines.extend(column.missing.iter().map(|odd| {
            let line = odd.line.map_or_else(String::new, |line| format!(" (first in line {line})"));
            format!(
                "missing: {:?} in the number column {name}{line}; --categories {} reads the column as categories",
                odd.text,
                quoted(&name)
            )
        }));
    }
    lines
}

/// How numbers and dates are written, where it is not the usual way.
fn forms(table: &TableSchema) -> Vec<String> {
    let mut forms: Vec<(Kind, &str, Vec<&String>)> = Vec::new();
    for column in table.columns.iter().filter(|column| Some(&column.name) != table.label.as_ref()) {
        let Some(form) = column.form.as_deref() else { continue };
        match forms.iter_mut().find(|(kind, known, _)| (*kind, *known) == (column.kind, form)) {
            Some((.., names)) => names.push(&column.name),
            None => forms.push((column.kind, form, vec![&column.name])),
        }
    }
    let words = |(kind, form, names): (Kind, &str, Vec<&String>)| {
        let what = if kind == Kind::Time { "times" } else { "numbers" };
        let names = listed(names.iter(), MOST_NAMES);
        format!(
            "{what} written like {form}: {names}; change \"form\" in a file of `parsimon schema` and pass it with --schema if that is wrong"
        )
    };
    forms.into_iter().map(words).collect()
}

/// The features of a kind by name.
fn named(table: &TableSchema, kind: Kind, plural: &str) -> Option<String> {
    let roles = [&table.label, &table.weight];
    let is_feature = |name: &String| !roles.iter().any(|role| role.as_ref() == Some(name));
    let columns = table.columns.iter().filter(|column| column.kind == kind);
    let names: Vec<_> =
        columns.map(|column| &column.name).filter(|name| is_feature(name)).collect();
    (!names.is_empty()).then(|| format!("  {plural}: {}", listed(names.iter(), MOST_NAMES)))
}

/// Prints why the data is read again, with which kind of the column.
pub(crate) fn widened(error: &DataError, options: &Options) {
    note(&format!("{}\n", widening_in_words(error, options)));
}

/// Reads with the kinds of other options.
pub(crate) fn take_kinds(options: &mut Options, other: Options) {
    options.kinds = other.kinds;
    options.label_column = other.label_column;
    options.weight_column = other.weight_column;
}

/// Prints what a person should know of the rows that were read.
pub(crate) fn warn(warnings: &[String]) {
    warnings.iter().for_each(|warning| note(&format!("warning: {warning}")));
}

/// Lines about bad rows that were skipped, with the first reasons; none if there were none.
pub(crate) fn skipped(reader: &Reader, consequence: &str) -> Vec<String> {
    let rows = reader.skipped_rows();
    if rows == 0 {
        return Vec::new();
    }
    let count = parsimon::eval::number::thousands(rows);
    let plural = if rows == 1 { "" } else { "s" };
    let mut lines = vec![format!("skipped {count} bad row{plural}{consequence}:")];
    lines.extend(reader.skipped().iter().map(|error| format!("  {error}")));
    lines
}

//! Printed description of a table's columns.

use parsimon::InputSchema;
use parsimon::data::{Format, Reader, TableSchema};
use parsimon::survey::{Opened, columns_in_words};
use parsimon::workspace::Kind;
use parsimon_data::{ColumnKind, LabelGuess, TypeNote, listed, may_be_weight};

use crate::args::DataArgs;
use crate::console::note;
use crate::flags::in_flags;
use crate::provenance::quoted;

/// Names of columns that a line lists at most.
const MOST_NAMES: usize = 10;

/// Prints the findings in the open data, and the guesses among them.
pub(crate) fn announce(opened: &Opened, args: &DataArgs) {
    guesses(opened, args).iter().for_each(|line| note(line));
}

/// Notes about the columns of the open data, and which of them are guesses, line by line.
pub(crate) fn guesses(opened: &Opened, args: &DataArgs) -> Vec<String> {
    found(&opened.schema, &opened.reader, args)
}

/// The kinds that were found of the columns, line by line.
pub(crate) fn lines(schema: &InputSchema) -> Vec<String> {
    columns_in_words(schema, "--keep COLUMNS")
}

/// Returns the lines with the columns' names and the guesses.
fn found(schema: &InputSchema, reader: &Reader, args: &DataArgs) -> Vec<String> {
    let mut lines: Vec<String> = reader.guesses().iter().map(in_flags).collect();
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
    lines.extend(typed(table));
    if let (Some(label), Some(guess)) = (&table.label, table.notes.label_guess()) {
        lines.push(guessed(label, guess));
    }
    if let Some(weight) = table.weight.as_ref().filter(|_| args.weight_column.is_none()) {
        let weight = listed([weight].iter(), 1);
        lines.push(format!(
            "importance weight: guessed to be {weight}, because of its name; --weight-column none reads it as a feature"
        ));
    }
    let may_be = table.columns.iter().find(|column| {
        may_be_weight(&column.name)
            && column.kind == Kind::Number
            && table.label.as_ref() != Some(&column.name)
    });
    if let (Some(column), None, None) = (may_be, &table.weight, &args.weight_column) {
        let name = listed([&column.name].iter(), 1);
        lines.push(format!(
            "{name} is a feature; --weight-column {} makes it the importance weight of rows",
            quoted(&name)
        ));
    }
    lines
}

/// The guess of the label, with its reason and the next plausible columns.
fn guessed(label: &str, guess: &LabelGuess) -> String {
    let because = guess.reason.words();
    let next = match &guess.runners_up[..] {
        [] => String::new(),
        next => format!(" (next: {})", listed(next.iter(), 2)),
    };
    let label = listed([label].iter(), 1);
    format!("label: guessed to be {label}, {because}{next}; --label-column COLUMN chooses another")
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

/// The form of numbers and dates, if it is not the plain one.
fn forms(table: &TableSchema) -> Vec<String> {
    let mut forms: Vec<(Kind, &str, Vec<&String>)> = Vec::new();
    // Labels that are classes have no form.
    let is_read = |column: &&ColumnKind| {
        column.kind == Kind::Number || Some(&column.name) != table.label.as_ref()
    };
    for column in table.columns.iter().filter(is_read) {
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

/// The columns whose type said more than their cells, a line for each type.
fn typed(table: &TableSchema) -> Vec<String> {
    let named = |of: fn(&TypeNote) -> Option<&String>| -> Vec<&String> {
        let is_role = |name: &String| [&table.label, &table.weight].contains(&&Some(name.clone()));
        table.notes.iter().filter_map(of).filter(|name| !is_role(name)).collect()
    };
    let digits = named(|note| matches!(note, TypeNote::Digits(_)).then(|| note.column()));
    let single = named(|note| matches!(note, TypeNote::Single(_)).then(|| note.column()));
    let lists = named(|note| matches!(note, TypeNote::List(_)).then(|| note.column()));
    let codes = named(|note| matches!(note, TypeNote::Code(_)).then(|| note.column()));
    let listed = |names: &[&String]| listed(names.iter(), MOST_NAMES);
    let mut lines = Vec::new();
    if let [first, ..] = digits[..] {
        lines.push(format!(
            "categories, because their digits are texts: {}; --numbers {} reads a column as numbers",
            listed(&digits),
            quoted(first)
        ));
    }
    if let [first, ..] = codes[..] {
        lines.push(format!(
            "categories, because whole numbers that repeat are codes in columns of such names: {}; --numbers {} reads a column as numbers",
            listed(&codes),
            quoted(first)
        ));
    }
    if !single.is_empty() {
        lines.push(format!(
            "floats of 32 bits, read with the values they have (0.1 is 0.10000000149011612): {}",
            listed(&single)
        ));
    }
    if !lists.is_empty() {
        lines.push(format!("lists, each item of which is a category: {}", listed(&lists)));
    }
    lines
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

/// Prints notes on the rows that were read.
pub(crate) fn warn(warnings: &[String]) {
    warnings.iter().for_each(|warning| note(&format!("warning: {warning}")));
}

/// Lines about skipped bad rows, with the first reasons; empty without bad rows.
pub(crate) fn skipped(reader: &Reader, consequence: &str) -> Vec<String> {
    let rows = reader.skipped_rows();
    if rows == 0 {
        return Vec::new();
    }
    let count = parsimon::workspace::number::thousands(rows);
    let plural = if rows == 1 { "" } else { "s" };
    let mut lines = vec![format!("skipped {count} bad row{plural}{consequence}:")];
    lines.extend(reader.skipped().iter().map(|error| format!("  {}", error.fact())));
    lines
}

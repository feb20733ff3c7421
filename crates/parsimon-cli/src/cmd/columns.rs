//! What was found of a table's columns, printed.

use parsimon::InputSchema;
use parsimon::data::{DataError, Kinds, Options, Reader};
use parsimon::survey::columns_in_words;
pub(crate) use parsimon::survey::listed;

use crate::console::note;

/// What was found, line by line.
pub(crate) fn lines(schema: &InputSchema) -> Vec<String> {
    columns_in_words(schema, "--keep COLUMNS")
}

/// Prints why the data is read again, with which kind of the column.
pub(crate) fn widened(error: &DataError, options: &Options) {
    let (name, line) = (error.name(), error.line().unwrap_or_default());
    let (column, token) = (error.field().unwrap_or_default(), error.token().unwrap_or_default());
    let kind = match &options.kinds {
        Kinds::Known(table) => table.column(column).map(|column| column.kind.to_string()),
        Kinds::ByCell | Kinds::Found => None,
    };
    note(&format!(
        "{name}:{line}, column {column:?}: {token:?} does not fit the first rows; starting again with {column} as a {}\n",
        kind.unwrap_or_default()
    ));
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

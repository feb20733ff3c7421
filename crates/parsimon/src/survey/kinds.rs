//! The kinds of a table's columns, found once and kept.

use std::sync::Arc;

use parsimon_data::{DataError, DataErrorKind, Kinds, Labels, Options, Reader, Space};

use super::Source;

/// Options that read a table with the kinds of its columns, found from its first rows. For data that can be read only once, the
/// options are returned unchanged and the reader finds the kinds itself.
pub fn with_kinds<S: Source + ?Sized>(source: &S, options: &Options) -> Result<Options, DataError> {
    // Without hashing all cells are numbers.
    if options.space == Some(Space::Ids) && options.kinds == Kinds::Found {
        return Ok(Options { kinds: Kinds::ByCell, ..options.clone() });
    }
    if options.kinds != Kinds::Found || source.read_once().is_some() {
        return Ok(options.clone());
    }
    let labels = match &options.labels {
        optional @ Labels::Optional(_) => optional.clone(),
        _ => Labels::Any,
    };
    let look = Options { labels, threads: 1, keep_names: false, ..options.clone() };
    let reader = source.open(&look)?;
    Ok(of(&reader, options))
}

/// Options that read with the kinds that a reader has found.
pub(super) fn of(reader: &Reader, options: &Options) -> Options {
    let mut options = options.clone();
    if options.kinds == Kinds::Found {
        options.kinds = Kinds::ByCell;
    }
    if let Some(table) = reader.table() {
        options.kinds = Kinds::Known(table.clone());
        options.label_column = table.label.clone().or(options.label_column);
        options.weight_column = table.weight.clone().or(options.weight_column);
    }
    options
}

/// Options for reading the data again, if the error is a cell that contradicts the kind of its column: the column gets a
/// wider kind.
pub fn widened(options: &Options, error: &DataError) -> Option<Options> {
    let Kinds::Known(table) = &options.kinds else { return None };
    // A column that the user declares to be numbers stays one.
    let is_declared =
        options.number_columns.iter().any(|name| Some(name.as_str()) == error.field());
    if error.kind() != DataErrorKind::Kind || is_declared {
        return None;
    }
    let wider = table.widened(error.field()?, error.token()?)?;
    Some(Options { kinds: Kinds::Known(Arc::new(wider)), ..options.clone() })
}

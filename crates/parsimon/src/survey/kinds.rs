//! The kinds of a table's columns, found once and kept.

use std::fmt;
use std::sync::Arc;

use parsimon_data::{
    Ask, Curves, DataError, DataErrorKind, Kind, Kinds, Labels, Options, Pairs, Reader, Reading,
    Run, Sample, Space,
};

use super::Source;

/// Options that read a table with the kinds of its columns, found from its first rows. For data that can be read only once, the
/// options are returned unchanged and the reader finds the kinds itself.
pub fn with_kinds<S: Source + ?Sized>(source: &S, options: &Options) -> Result<Options, DataError> {
    // Without hashing all cells are numbers.
    if options.reading.space == Some(Space::Ids) && options.reading.kinds == Kinds::Found {
        return Ok(Options {
            reading: Reading { kinds: Kinds::ByCell, ..options.reading.clone() },
            ..options.clone()
        });
    }
    if let Some(once) = source.read_once() {
        return match is_named(&options.reading) && options.reading.kinds == Kinds::Found {
            true => Err(DataError::usage(format!(
                "{once} can be read once, and knots are chosen from the first rows before they are learned; give a file, or a schema that has the knots"
            ))),
            false => Ok(options.clone()),
        };
    }
    if options.reading.kinds != Kinds::Found {
        return with_curves(source, options.clone());
    }
    let look = Options {
        reading: Reading { labels: any(&options.reading.labels), ..options.reading.clone() },
        run: Run { threads: 1, ..options.run.clone() },
        ask: Ask { keep_names: false, ..options.ask.clone() },
        ..options.clone()
    };
    let reader = source.open(&look)?;
    with_curves(source, of(&reader, options))
}

/// Labels of which every text is one; a label that may be missing stays so.
fn any(labels: &Labels) -> Labels {
    match labels {
        optional @ Labels::Optional(_) => optional.clone(),
        _ => Labels::Any,
    }
}

/// Options with the kinds of columns, where curves or pairs are named.
pub(super) fn with_curves_named<S: Source + ?Sized>(
    source: &S,
    options: &Options,
) -> Result<Options, DataError> {
    match is_named(&options.reading) {
        true => with_kinds(source, options),
        false => Ok(options.clone()),
    }
}

/// Whether curves or pairs are named.
fn is_named(reading: &Reading) -> bool {
    matches!(reading.curves, Curves::Of { .. }) || matches!(reading.pairs, Pairs::Of(_))
}

/// Gives the table the curves and pairs that are named.
fn with_curves<S: Source + ?Sized>(source: &S, mut options: Options) -> Result<Options, DataError> {
    let Reading { curves, pairs, kinds, .. } = &options.reading;
    let is_named = is_named(&options.reading);
    let Kinds::Known(table) = kinds else {
        return match is_named {
            true => {
                Err(DataError::usage("curves and pairs are for tables whose columns have kinds"))
            }
            false => Ok(options),
        };
    };
    if !is_named || table.has_curves() {
        return Ok(options);
    }
    // The labels of rows decide nothing here, and what they are may not be known yet.
    let labels = any(&options.reading.labels);
    let look =
        Options { reading: Reading { labels, ..options.reading.clone() }, ..options.clone() };
    let sample = Sample::read(table, &look, false, &|options| source.open(options))?;
    let shaped = table
        .shaped(curves, pairs, &|column| sample.numbers(column).to_vec())
        .map_err(DataError::usage)?;
    options.reading.kinds = Kinds::Known(Arc::new(shaped));
    Ok(options)
}

/// Options that read with the kinds that a reader has found.
pub(super) fn of(reader: &Reader, options: &Options) -> Options {
    let mut options = options.clone();
    if options.reading.kinds == Kinds::Found {
        options.reading.kinds = Kinds::ByCell;
    }
    if let Some(table) = reader.table() {
        options.reading.kinds = Kinds::Known(table.clone());
        options.reading.label_column = table.label.clone().or(options.reading.label_column);
        options.reading.weight_column = table.weight.clone().or(options.reading.weight_column);
    }
    options
}

/// Options for reading the data again, if the error is a cell that contradicts the kind of its column: the column gets a
/// wider kind.
pub(crate) fn widened(options: &Options, error: &DataError) -> Option<(Options, Widening)> {
    let Kinds::Known(table) = &options.reading.kinds else { return None };
    // A column that the user declares to be numbers stays a number column.
    let is_declared =
        options.reading.numbers.iter().any(|name| Some(name.as_str()) == error.field());
    if error.kind() != DataErrorKind::Kind || is_declared {
        return None;
    }
    let (column, cell) = (error.field()?, error.token()?);
    let wider = table.widened(column, cell)?;
    let widening = Widening {
        input: error.name().to_owned(),
        line: error.line(),
        column: column.to_owned(),
        cell: cell.to_owned(),
        kind: wider.column(column).map(|column| column.kind)?,
    };
    let mut options = options.clone();
    options.reading.kinds = Kinds::Known(Arc::new(wider));
    Some((options, widening))
}

/// A column whose kind became wider, because of a cell that contradicts what the first rows show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Widening {
    /// The name of the input.
    pub input: String,
    /// The line of the cell, or its row.
    pub line: Option<u64>,
    /// The column.
    pub column: String,
    /// The cell.
    pub cell: String,
    /// The kind that the column has now.
    pub kind: Kind,
}

impl fmt::Display for Widening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { input, line, column, cell, kind } = self;
        write!(
            f,
            "{input}:{}, column {column:?}: {cell:?} does not fit the first rows; starting again with {column} as a {kind}",
            line.unwrap_or_default()
        )
    }
}

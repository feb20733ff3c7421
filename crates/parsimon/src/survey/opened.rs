//! Inspected data with a reader at its first row.

use std::sync::Arc;

use parsimon_core::Chunk;
use parsimon_data::{
    Ask, Bounds, DataErrorKind, Labels, Message, Options, Reader, Reading, Remedy, Run, Setting,
    TableSchema,
};

use super::{Found, InputSchema, LabelNeed, Needs, SeenLabels, Source, classes, kinds, scan};
use crate::error::Error;
use crate::settings::Settings;

/// Number of rows that decide the kinds of columns.
const JUDGED_ROWS: u64 = 10_000;

/// Data that was inspected, and is open for learning.
pub struct Opened {
    /// The reading of rows, with the findings of the survey.
    pub schema: InputSchema,
    /// The options of the reader.
    pub options: Options,
    /// The rows, from the first.
    pub reader: Reader,
}

/// Inspects the data as far as the settings need it, and opens it. The labels are of the kind that the first settings expect.
///
/// A cell that contradicts the kind of its column is an error; a [`Job`](crate::job::Job) reads the data again with a wider kind.
pub fn open<S: Source + ?Sized>(
    settings: &[Settings],
    source: &S,
    options: &Options,
) -> Result<Opened, Error> {
    let options = kinds::with_kinds(source, options)?;
    reopen(settings, survey(settings, source, &options)?, source, &options)
}

/// Opens the data for classes that are known; it is inspected as far as the settings need it otherwise.
pub(crate) fn open_with<S: Source + ?Sized>(
    settings: &Settings,
    classes: Vec<String>,
    source: &S,
    options: &Options,
) -> Result<Opened, Error> {
    let options = kinds::with_kinds(source, options)?;
    let needs = Needs { labels: LabelNeed::Nothing, ..Needs::of(settings) };
    if let Some(once) = source.read_once() {
        check_once(&once, needs)?;
    }
    let found = match needs.is_nothing() {
        true => Found { classes, ..Found::default() },
        false => {
            let seen = scan(source, &options, needs)?;
            Found { classes, dimension: seen.dimension, rows: seen.rows, ..Found::default() }
        }
    };
    reopen(std::slice::from_ref(settings), found, source, &options)
}

/// The kinds of the columns of a table; `None` if the data is not a table or has no kinds.
pub fn table<S: Source + ?Sized>(
    source: &S,
    options: &Options,
) -> Result<Option<Arc<TableSchema>>, Error> {
    let options = Options {
        run: Run { threads: 1, ..options.run.clone() },
        ask: Ask { keep_names: false, ..options.ask.clone() },
        bounds: Bounds { skip_bad: u64::MAX, ..options.bounds.clone() },
        ..options.clone()
    };
    let options = kinds::with_curves_named(source, &options)?;
    let mut reader = source.open(&options)?;
    let table = reader.table().cloned();
    // A read error among the rows that decide the kinds must not leave a schema that was made from the rows before it.
    let (mut chunk, mut rows) = (Chunk::new(), 0);
    while table.is_some() && rows + reader.skipped_rows() < JUDGED_ROWS {
        match reader.read(&mut chunk) {
            Ok(true) => rows += chunk.len() as u64,
            Err(error) if matches!(error.kind(), DataErrorKind::Io(_) | DataErrorKind::Stopped) => {
                return Err(error.into());
            }
            Ok(false) | Err(_) => break,
        }
    }
    Ok(table)
}

/// Opens data that was looked at.
pub(super) fn reopen<S: Source + ?Sized>(
    settings: &[Settings],
    found: Found,
    source: &S,
    options: &Options,
) -> Result<Opened, Error> {
    let mut schema = InputSchema { found, ..InputSchema::default() };
    let mut options = options.clone();
    options.ask.needs_namespaces = true;
    options.ask.needs_label = true;
    options.reading.numbers_apart = settings.iter().any(Settings::is_normalized);
    if let Some(first) = settings.first() {
        options.reading.labels = schema.labels(first);
    }
    // Standard input can be opened only once.
    let reader = source.open(&options)?;
    options.reading.space = Some(reader.space());
    options = kinds::of(&reader, &options);
    options.reading.label_column =
        reader.label_column().map(str::to_owned).or(options.reading.label_column);
    schema = InputSchema::new(&options, reader.space(), schema.found);
    Ok(Opened { schema, options, reader })
}

/// Inspects the data as far as the settings need it, in one pass.
pub fn survey<S: Source + ?Sized>(
    settings: &[Settings],
    source: &S,
    options: &Options,
) -> Result<Found, Error> {
    let Some(first) = settings.first() else { return Ok(Found::default()) };
    let declared = classes::declared(first)?;
    let mut needs = Needs::of_all(settings);
    if let Some(once) = source.read_once() {
        needs.labels = check_once(&once, needs)?;
    }
    if needs.is_nothing() {
        return Ok(Found { classes: declared.unwrap_or_default(), ..Found::default() });
    }
    let seen = scan(source, options, needs)?;
    let classes = match (declared, seen.labels) {
        (Some(declared), _) => declared,
        (None, Some(labels)) => classes_of(first, labels, source, options)?,
        (None, None) => Vec::new(),
    };
    // Methods that learn numbers need the usual classes by name: without names, labels are numbers to them.
    let is_usual = classes.is_empty() && first.is_binary();
    let classes = match is_usual && settings.iter().any(Settings::may_find_two_classes) {
        true => vec!["-1".into(), "1".into()],
        false => classes,
    };
    Ok(Found { classes, dimension: seen.dimension, rows: seen.rows, slot_bits: None })
}

/// The classes among the labels that were seen.
pub(super) fn classes_of<S: Source + ?Sized>(
    settings: &Settings,
    labels: SeenLabels,
    source: &S,
    options: &Options,
) -> Result<Vec<String>, Error> {
    classes::of_labels(settings, labels)
        .map_err(|refusal| bad_row(source, options).unwrap_or(refusal))
}

/// The first row that cannot be read. Odd labels are mostly those of a file in another format, and a look at the labels passes
/// over the features, where that shows.
fn bad_row<S: Source + ?Sized>(source: &S, options: &Options) -> Option<Error> {
    let options = Options {
        reading: Reading { labels: Labels::Any, ..options.reading.clone() },
        ask: Ask { keep_names: false, ..options.ask.clone() },
        ..options.clone()
    };
    let mut reader = source.open(&options).ok()?;
    let mut chunk = Chunk::new();
    loop {
        match reader.read(&mut chunk) {
            Ok(true) => {}
            Ok(false) => return None,
            Err(error) => return Some(error.into()),
        }
    }
}

/// Refuses to scan an input that can be read only once. Two classes whose labels were not looked at are taken for the usual ones.
fn check_once(once: &str, needs: Needs) -> Result<LabelNeed, Error> {
    if needs.labels == LabelNeed::All {
        let fact = format!("{once} cannot be scanned for its labels");
        return Err(Error::usage(Message::new(fact).or(Remedy::NameClasses)));
    }
    if needs.dimension || needs.rows {
        let setting = if needs.dimension { Setting::Dimension } else { Setting::Switch };
        let message = Message::new(format!("{once} cannot be scanned"));
        return Err(Error::usage(message.or(Remedy::Pass(setting, None))));
    }
    Ok(LabelNeed::Nothing)
}

//! The columns of a JSON table and their kinds, from its first rows.

use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;
use serde_json::Value;
use serde_json::value::RawValue;

use super::row::{self, Cell, FEATURES, Object};
use crate::columns::check_names;
use crate::delimited::{asked, check_interactions};
use crate::error::shown;
use crate::kinds::{
    Asked, Candidate, Declared, Judge, Kind, Missing, ROWS, TypeNote, choose, select, typed_verdict,
};
use crate::remedy::Message;
use crate::role_names::{BESIDE_FEATURES, VW_LABEL, label_field, weight_field};
use crate::suggestion::did_you_mean;
use crate::{Options, TableSchema};

/// With more columns than this, and few of them in each row, the rows are bags of features.
const MOST_DENSE: usize = 64;
/// The share of cells of a table that have a value, at least: one in so many.
const LEAST_FILLED: usize = 8;

/// Forms of the first rows.
pub(crate) enum Found {
    /// Rows of a table.
    Table(TableSchema),
    /// Vowpal Wabbit's JSON, or rows of ids and values: each field is understood by itself.
    Fields,
    /// Rows with few of many fields each.
    Bags,
}

/// Finds the kinds of columns. `is_whole` if these rows are all.
pub(crate) fn found(head: &[u8], is_whole: bool, options: &Options) -> Result<Found, Message> {
    let mut rows = Vec::new();
    for (line, number) in head.split(|b| *b == b'\n').zip(1..) {
        if rows.len() == ROWS {
            break;
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        // The last line may be cut; what is wrong with others is said when they are read.
        let Ok(row) = row::read(line) else { continue };
        if row.get(VW_LABEL).is_some() || row.get("_tag").is_some() || has_ids(&row) {
            return Ok(Found::Fields);
        }
        rows.push((number, row));
    }
    if let [(_, row)] = &rows[..]
        && is_whole
    {
        check_wrapped(row)?;
    }
    let mut seen = Seen::new(options);
    rows.iter().for_each(|(_, row)| seen.look(row));
    rows.iter().for_each(|(line, row)| seen.judge(*line, row));
    let columns = seen.names().len();
    if columns > MOST_DENSE && seen.filled * LEAST_FILLED < columns * seen.rows {
        return Ok(Found::Bags);
    }
    seen.schema(is_whole, options).map(Found::Table)
}

/// Whether the first rows that are here are bags of features, with few of many fields each.
pub(crate) fn are_bags(head: &[u8], options: &Options) -> bool {
    matches!(found(head, false, options), Ok(Found::Bags))
}

/// Refuses a single row that holds the rows of a table, by row or by column.
fn check_wrapped(row: &Object<'_>) -> Result<(), String> {
    let items = |name: &str| {
        let value = row.get(name).filter(|value| row::is_array(value))?;
        serde_json::from_str::<Vec<&RawValue>>(value.get()).ok()
    };
    for name in row.names() {
        let items = items(name).filter(|items| items.len() > 1);
        if let Some(items) = items.filter(|items| items.iter().all(|item| row::is_object(item))) {
            return Err(format!(
                "is one row, whose field {} holds {} objects; write each on a line: jq -c '.[{}][]' FILE > rows.jsonl",
                shown(name.as_bytes()),
                items.len(),
                Value::from(name)
            ));
        }
    }
    let by_index = |name: &str| {
        let inner = row.get(name).filter(|value| row::is_object(value));
        inner.and_then(|value| row::read(value.get().as_bytes()).ok()).is_some_and(|column| {
            let names: Vec<&str> = column.names().collect();
            names.len() > 1 && names.iter().enumerate().all(|(i, name)| *name == i.to_string())
        })
    };
    if row.names().count() > 1 && row.names().all(by_index) {
        return Err(
            "is one row, whose fields hold the columns of a table; in pandas write the rows with df.to_json(FILE, orient=\"records\", lines=True)"
                .to_owned(),
        );
    }
    Ok(())
}

/// Whether the features of a row are the fields of an object.
fn has_features(row: &Object<'_>) -> bool {
    row.get(FEATURES).is_some_and(row::is_object)
}

/// Whether the features of a row are lists of ids and values, or a list.
fn has_ids(row: &Object<'_>) -> bool {
    let Some(features) = row.get(FEATURES).filter(|value| row::is_object(value)) else {
        return false;
    };
    let Ok(inner) = row::read(features.get().as_bytes()) else { return false };
    let is_list = |name: &str| inner.get(name).is_some_and(row::is_array);
    is_list("indices") && is_list("values")
}

/// Types of the cells of a column.
#[derive(Default)]
struct Types {
    texts: usize,
    truths: usize,
    integers: usize,
    reals: usize,
    lists: usize,
    /// Whether an item of a list is a fraction, or anything but a number.
    has_fractions: bool,
    has_words: bool,
}

impl Types {
    fn take(&mut self, cell: &Cell<'_>) {
        match cell {
            Cell::Null => {}
            Cell::Truth(_) => self.truths += 1,
            Cell::Text(_) => self.texts += 1,
            Cell::Number(digits) if is_real(digits) => self.reals += 1,
            Cell::Number(_) => self.integers += 1,
            Cell::List(items) => {
                self.lists += 1;
                for item in items {
                    match item {
                        Cell::Null => {}
                        Cell::Number(digits) => self.has_fractions |= is_real(digits),
                        _ => self.has_words = true,
                    }
                }
            }
        }
    }

    /// Whether cells are lists of measured numbers, each place a column.
    fn are_vectors(&self) -> bool {
        self.has_fractions && !self.has_words && self.scalars() == 0
    }

    fn scalars(&self) -> usize {
        self.texts + self.truths + self.integers + self.reals
    }

    fn declared(&self) -> Declared {
        match (self.texts, self.truths, self.integers, self.reals) {
            (1.., 0, 0, 0) => Declared::Texts,
            (0, 0, _, 1..) => Declared::Reals,
            (0, 0, 1.., 0) => Declared::Integers,
            _ => Declared::Mixed,
        }
    }
}

fn is_real(digits: &str) -> bool {
    digits.contains(['.', 'e', 'E'])
}

/// A column as it was seen.
#[derive(Default)]
struct Column {
    types: Types,
    judge: Judge,
    cells: usize,
}

/// The columns of the first rows.
struct Seen<'o> {
    rows: usize,
    /// Cells that have a value.
    filled: usize,
    /// Whether rows have an object of features.
    has_features: bool,
    /// Names in the order of the table: a new one stands behind the one before it in its row.
    order: Vec<String>,
    columns: FxHashMap<String, Column>,
    missing: Missing,
    asked: Asked<'o>,
}

impl<'o> Seen<'o> {
    fn new(options: &'o Options) -> Self {
        Self {
            rows: 0,
            filled: 0,
            has_features: false,
            order: Vec::new(),
            columns: FxHashMap::default(),
            missing: Missing::beside_usual(&options.reading.missing),
            asked: asked(options),
        }
    }

    /// Visits the cells of a row; what is wrong with it is said when it is read.
    fn visit<'a>(&self, row: &Object<'a>, visit: &mut dyn FnMut(&str, Cell<'a>)) {
        let names = || row.names();
        // Beside an object of features, a weight is no feature.
        let weight = weight_field(names()).or(has_features(row).then_some(BESIDE_FEATURES));
        let usual = [label_field(names()), weight];
        let given = [self.asked.label, self.asked.weight];
        let is_role = |name: &str| [usual, given].concat().contains(&Some(name));
        let _ = row.visit(&mut String::new(), &is_role, &mut |name, cell| {
            visit(name, cell);
            Ok(())
        });
    }

    /// Looks at the names and types of a row's cells.
    fn look(&mut self, row: &Object<'_>) {
        let mut cells = Vec::new();
        self.visit(row, &mut |name, cell| cells.push((name.to_owned(), cell)));
        self.rows += 1;
        self.has_features |= has_features(row);
        let mut before: Option<String> = None;
        for (name, cell) in cells {
            self.filled += usize::from(!cell.is_missing());
            match self.columns.entry(name.clone()) {
                Entry::Occupied(known) => known.into_mut().types.take(&cell),
                Entry::Vacant(new) => {
                    new.insert(Column::default()).types.take(&cell);
                    let place = before
                        .as_ref()
                        .and_then(|before| self.order.iter().position(|other| other == before));
                    self.order.insert(place.map_or(0, |place| place + 1), name.clone());
                }
            }
            before = Some(name);
        }
    }

    /// Looks at the values of a row's cells.
    fn judge(&mut self, line: usize, row: &Object<'_>) {
        let mut cells = Vec::new();
        self.visit(row, &mut |name, cell| cells.push((name.to_owned(), cell)));
        for (name, cell) in cells {
            let Some(column) = self.columns.get_mut(&name) else { continue };
            match cell {
                Cell::List(items) if column.types.are_vectors() => {
                    self.filled += items.len();
                    for (i, item) in items.iter().enumerate() {
                        let name = format!("{name}.{i}");
                        let column = self.columns.entry(name).or_default();
                        column.types.take(item);
                        column.take(item, line, &self.missing);
                    }
                }
                Cell::List(items) => {
                    for item in &items {
                        column.take(item, line, &self.missing);
                    }
                }
                cell => column.take(&cell, line, &self.missing),
            }
        }
    }

    /// The names of the columns, in order.
    fn names(&self) -> Vec<String> {
        let mut names = Vec::new();
        for name in &self.order {
            if self.columns[name].types.are_vectors() {
                let places = (0..).map(|i| format!("{name}.{i}"));
                names.extend(places.take_while(|place| self.columns.contains_key(place)));
            } else {
                names.push(name.clone());
            }
        }
        names
    }

    fn schema(mut self, is_whole: bool, options: &Options) -> Result<TableSchema, Message> {
        let names = self.names();
        check_names(&names)?;
        let (mut verdicts, mut notes) = (Vec::new(), Vec::new());
        for name in &names {
            let column = self.columns.entry(name.clone()).or_default();
            if column.cells < self.rows {
                column.judge.take_missing();
            }
            let are_lists = column.types.lists > 0;
            let declared = match are_lists {
                true if column.judge.values() == 0 => Declared::Kind(Kind::Empty),
                true => Declared::Kind(Kind::Category),
                false => column.types.declared(),
            };
            let (mut verdict, are_digits) = typed_verdict(&column.judge, name, declared, is_whole);
            if are_lists {
                verdict.kind = verdict.kept;
                notes.push(TypeNote::List(name.clone()));
            } else if are_digits {
                notes.push(TypeNote::Digits(name.clone()));
            }
            verdicts.push((verdict, column.judge.has_two_classes()));
        }
        check_interactions(&names, options)?;
        let mut asked = asked(options);
        // A field to be ignored may be one that only later rows have. A name that is nearly a column is a slip.
        let is_there = |name: &&String| {
            is_whole
                || select(&names, name).is_ok()
                || !did_you_mean(name, names.iter().map(String::as_str)).is_empty()
        };
        let ignored: Vec<String> = asked.ignored.iter().filter(is_there).cloned().collect();
        asked.ignored = &ignored;
        let is_beside = |name: &String| name == BESIDE_FEATURES;
        if self.has_features && asked.weight.is_none() && names.iter().any(is_beside) {
            asked.weight = Some(BESIDE_FEATURES);
        }
        let candidate = Candidate { names: &names, has_header: true, verdicts };
        let mut schema = choose(&candidate, &asked)?;
        schema.notes.take(notes);
        Ok(schema)
    }
}

impl Column {
    fn take(&mut self, cell: &Cell<'_>, line: usize, missing: &Missing) {
        self.cells += 1;
        let text = match cell {
            Cell::Null | Cell::List(_) => return self.judge.take_missing(),
            Cell::Truth(true) => "true",
            Cell::Truth(false) => "false",
            Cell::Text(text) => text.trim_ascii(),
            // A number of JSON is no code, though its exponent may have no sign.
            Cell::Number(digits) => match digits.split_once(['e', 'E']) {
                Some((front, exponent)) if !exponent.starts_with(['+', '-']) => {
                    let signed = format!("{front}e+{exponent}");
                    return self.judge.take_value_at(signed.as_bytes(), line);
                }
                _ => digits,
            },
        };
        match missing.has(text.as_bytes()) {
            true => self.judge.take_missing(),
            false => self.judge.take_value_at(text.as_bytes(), line),
        }
    }
}

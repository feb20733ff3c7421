//! JSON rows read by the kinds of columns, as the rows of a CSV file are.

use std::borrow::Cow;

use super::row::{self, Cell};
use crate::builder::{Builder, NamedColumns};
use crate::columns::{Columns, Role};
use crate::delimited::{Scratch, push_kind, unfit};
use crate::error::{Bad, shown};
use crate::kinds::select;
use crate::label::Found;
use crate::remedy::Message;
use crate::{DataErrorKind, Options, TableSchema, number};

/// The columns of a schema, with the columns that options name beside them.
pub(crate) fn columns_of(
    schema: &TableSchema,
    options: &Options,
    carried: &[String],
) -> Result<Columns, Message> {
    let mut names: Vec<String> = schema.columns.iter().map(|column| column.name.clone()).collect();
    let is_pattern = |name: &str| name.contains(['*', '?']) || name == "all";
    let carried_names = carried.iter().filter(|name| !is_pattern(name));
    let roles =
        [&options.reading.label_column, &options.reading.weight_column].into_iter().flatten();
    // A field to be left out may be one that only later rows have.
    let ignored = options.reading.ignore.iter().filter(|name| !is_pattern(name));
    let ignored = ignored.filter(|name| select(&names, name).is_err()).cloned().collect::<Vec<_>>();
    for name in roles.chain(carried_names).chain(&ignored) {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    let mut columns = Columns::by_kind(&names, options, schema)?.carry(carried)?;
    columns.unknown.clear();
    Ok(columns)
}

/// Parses one row. `name` is a buffer.
pub(super) fn parse_row(
    builder: &mut Builder,
    line: &[u8],
    columns: &NamedColumns,
    name: &mut String,
    scratch: &mut Scratch,
) -> Result<(), Bad> {
    let row = row::read(line)?;
    let id = builder.spec.options.ask.id.clone();
    let mut cells: Vec<Cell<'_>> = vec![Cell::Null; columns.columns.columns.len()];
    let mut tag = Cow::Borrowed("");
    let is_beside = |field: &str| {
        is_tag(field) || id.as_deref() == Some(field) || columns.is_beside_features(field)
    };
    row.visit(name, &is_beside, &mut |field, cell| {
        if id.as_deref() == Some(field) {
            tag = row_id(field, &cell)?;
            return Ok(());
        }
        match (columns.place(field), cell) {
            (Some(place), cell) => place_cell(&mut cells, place, cell, field),
            (None, Cell::List(items)) => {
                for (i, item) in items.into_iter().enumerate() {
                    let field = format!("{field}.{i}");
                    match columns.place(&field) {
                        Some(place) => place_cell(&mut cells, place, item, &field)?,
                        None => builder.note_unknown(&field),
                    }
                }
                Ok(())
            }
            (None, Cell::Text(text)) if is_tag(field) => {
                if id.is_none() {
                    tag = text;
                }
                Ok(())
            }
            (None, Cell::Null) => Ok(()),
            (None, _) => {
                builder.note_unknown(field);
                Ok(())
            }
        }
    })?;
    let (mut label, mut weight) = (None, 1.0);
    for (column, cell) in columns.columns.columns.iter().zip(&cells) {
        let named = |bad: Bad| bad.in_field(&column.name);
        if let Some(k) = column.carried {
            carry(builder, k, cell);
        }
        match column.role {
            Role::Label => label = read_label(builder, cell).map_err(named)?,
            Role::Weight => weight = importance(builder, cell).map_err(named)?,
            Role::Ignored => {}
            role => push(builder, &column.name, role, cell, scratch).map_err(named)?,
        }
    }
    if !columns.columns.has_label {
        builder.no_label(0)?;
    }
    builder.finish_adding(label, weight, tag.as_bytes())
}

/// Fields that tag a row, unless they are columns.
fn is_tag(field: &str) -> bool {
    field == "_tag" || field == "tag"
}

/// Returns what identifies a row, as for rows without columns.
fn row_id<'a>(field: &str, cell: &Cell<'a>) -> Result<Cow<'a, str>, Bad> {
    let is_whole = |digits: &str| {
        digits != "-0" && (digits.parse::<u64>().is_ok() || digits.parse::<i64>().is_ok())
    };
    match cell {
        Cell::Text(text) if !text.is_empty() => Ok(text.clone()),
        Cell::Number(digits) if is_whole(digits) => Ok(Cow::Borrowed(digits)),
        other => Err(odd(field, other, "a text that is not empty, or a whole number")),
    }
}

/// Puts a cell at the place of its column. Two fields may spell one column, such as `{"a.b": 1, "a": {"b": 2}}`.
fn place_cell<'a>(
    cells: &mut [Cell<'a>],
    place: usize,
    cell: Cell<'a>,
    field: &str,
) -> Result<(), Bad> {
    if cells[place] != Cell::Null {
        let words = format!("the name {} appears twice", shown(field.as_bytes()));
        return Err(Bad::new(DataErrorKind::Malformed, 0, words).in_field(field));
    }
    cells[place] = cell;
    Ok(())
}

/// A cell that travels with its row, as text.
fn carry(builder: &mut Builder, k: u32, cell: &Cell<'_>) {
    match cell {
        Cell::Null => {}
        Cell::Text(text) => builder.carry(k, text.as_bytes()),
        Cell::Number(digits) => builder.carry(k, digits.as_bytes()),
        Cell::Truth(truth) => builder.carry(k, word(*truth)),
        list @ Cell::List(_) => builder.carry(k, spelled(list).as_bytes()),
    }
}

fn word(truth: bool) -> &'static [u8] {
    if truth { b"true" } else { b"false" }
}

fn read_label(builder: &mut Builder, cell: &Cell<'_>) -> Result<Option<f64>, Bad> {
    let text = match cell {
        Cell::Null => return builder.no_label(0),
        Cell::Truth(truth) => return builder.truth_label(*truth, 0),
        Cell::Text(text) => text.trim_ascii().as_bytes(),
        // A number of JSON has no form; the digits of a long integer are kept.
        Cell::Number(digits) => match number::whole(digits.as_bytes()) {
            Some(value) if is_fraction(digits) && !builder.spec.missing.has_number(value) => {
                return builder.label(Found::Number(value), 0);
            }
            _ => digits.as_bytes(),
        },
        other @ Cell::List(_) => {
            return Err(odd("label", other, "a number, a text or a truth value").in_label());
        }
    };
    match builder.spec.missing.has_label(text) {
        true => builder.no_label(0),
        false => builder.label(Found::Text(text), 0),
    }
}

fn importance(builder: &Builder, cell: &Cell<'_>) -> Result<f64, Bad> {
    match cell {
        Cell::Null => Ok(1.0),
        Cell::Text(text) if text.trim_ascii().is_empty() => Ok(1.0),
        Cell::Text(text) => builder.importance(text.trim_ascii().as_bytes(), 0),
        Cell::Number(digits) => builder.importance(digits.as_bytes(), 0),
        other => Err(odd("weight", other, "a number")),
    }
}

/// Adds the features of a cell.
fn push(
    builder: &mut Builder,
    column: &str,
    role: Role,
    cell: &Cell<'_>,
    scratch: &mut Scratch,
) -> Result<(), Bad> {
    match (cell, role) {
        (Cell::Null, _) => Ok(()),
        (Cell::Truth(truth), Role::Number { .. }) => {
            push_kind(builder, column, role, Found::Number(f64::from(*truth)), 0, scratch)
        }
        (Cell::Truth(truth), _) => {
            push_kind(builder, column, role, Found::Text(word(*truth)), 0, scratch)
        }
        (Cell::Text(text), _) => {
            push_kind(builder, column, role, Found::Text(text.as_bytes()), 0, scratch)
        }
        (Cell::Number(digits), _) => {
            let found = match (number::whole(digits.as_bytes()), role) {
                (Some(value), Role::Number { .. }) => Found::Number(value),
                (Some(value), Role::Category) if is_whole(digits, value) => {
                    let text = (value as i64).to_string();
                    return push_kind(
                        builder,
                        column,
                        role,
                        Found::Text(text.as_bytes()),
                        0,
                        scratch,
                    );
                }
                _ => Found::Text(digits.as_bytes()),
            };
            push_kind(builder, column, role, found, 0, scratch)
        }
        (Cell::List(_), Role::Number { .. } | Role::Time { .. }) => {
            unfit(builder, column, spelled(cell).as_bytes(), 0, "is a list")
        }
        (Cell::List(items), _) => {
            items.iter().try_for_each(|item| push(builder, column, role, item, scratch))
        }
    }
}

fn is_fraction(digits: &str) -> bool {
    digits.contains(['.', 'e', 'E'])
}

/// Whether a number with a point or an exponent is a whole one: as a category `3.0` is `3`, as it is in Parquet and Arrow.
fn is_whole(digits: &str, value: f64) -> bool {
    is_fraction(digits) && value.fract() == 0.0 && value.abs() < 1e15
}

/// A cell as JSON, for messages.
fn spelled(cell: &Cell<'_>) -> String {
    match cell {
        Cell::Null => "null".to_owned(),
        Cell::Truth(truth) => truth.to_string(),
        Cell::Number(digits) => (*digits).to_owned(),
        Cell::Text(text) => serde_json::Value::from(text.as_ref()).to_string(),
        Cell::List(items) => {
            let items: Vec<String> = items.iter().map(spelled).collect();
            format!("[{}]", items.join(","))
        }
    }
}

#[cold]
fn odd(key: &str, cell: &Cell<'_>, expected: &str) -> Bad {
    let token = spelled(cell);
    let (shown_key, value) = (shown(key.as_bytes()), shown(token.as_bytes()));
    let words = format!("{shown_key} is {value} instead of {expected}");
    Bad::new(DataErrorKind::Malformed, 0, words).found(token.as_bytes()).in_field(key)
}

//! The schema of a table in a cache.

use super::{put_varint, take, take_u64, take_varint};
use crate::kinds::{OddText, Points, TypeNotes};
use crate::{ColumnKind, Kind, TableSchema};

/// The number columns of a table, in order: their cells stand apart from the features of a row.
pub(super) fn numbers(schema: &TableSchema) -> Vec<String> {
    let roles = [&schema.label, &schema.weight];
    let is_number = |column: &&ColumnKind| {
        matches!(column.kind, Kind::Number | Kind::Time)
            && !roles.iter().any(|role| role.as_ref() == Some(&column.name))
    };
    schema.columns.iter().filter(is_number).map(|column| column.name.clone()).collect()
}

/// Appends a text.
pub(super) fn put_text(out: &mut Vec<u8>, text: &str) {
    put_varint(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

/// Takes a text off the front.
pub(super) fn take_text(bytes: &mut &[u8]) -> Option<String> {
    let len = usize::try_from(take_varint(bytes)?).ok()?;
    Some(String::from_utf8_lossy(take(bytes, len)?).into_owned())
}

/// Appends a list of texts.
fn put_list(out: &mut Vec<u8>, texts: &[String]) {
    put_varint(out, texts.len() as u64);
    texts.iter().for_each(|text| put_text(out, text));
}

fn take_list(bytes: &mut &[u8]) -> Option<Vec<String>> {
    (0..take_varint(bytes)?).map(|_| take_text(bytes)).collect()
}

/// Appends a schema. What may be absent is a list of one text or none.
pub(super) fn put(out: &mut Vec<u8>, schema: &TableSchema) {
    let TableSchema { columns, label, weight, missing, ngrams, pairs, notes: _ } = schema;
    put_list(out, label.as_slice());
    put_list(out, weight.as_slice());
    put_varint(out, u64::from(missing.is_some()));
    put_list(out, missing.as_deref().unwrap_or_default());
    put_varint(out, ngrams.map_or(0, u64::from));
    put_varint(out, columns.len() as u64);
    for ColumnKind { name, kind, form, missing, .. } in columns {
        put_text(out, name);
        put_text(out, &kind.to_string());
        put_list(out, form.as_slice());
        let texts: Vec<_> = missing.iter().map(|odd| odd.text.clone()).collect();
        put_list(out, &texts);
    }
    // Most tables have no curves, and their caches have nothing behind the columns.
    if schema.has_curves() {
        for column in columns {
            put_points(out, &column.knots);
            put_points(out, &column.cuts);
        }
        put_varint(out, pairs.len() as u64);
        pairs.iter().for_each(|pair| put_list(out, pair));
    }
}

fn put_points(out: &mut Vec<u8>, points: &Points) {
    put_varint(out, points.values().len() as u64);
    points.values().iter().for_each(|point| out.extend_from_slice(&point.to_bits().to_le_bytes()));
}

fn take_points(bytes: &mut &[u8]) -> Option<Points> {
    let values = (0..take_varint(bytes)?).map(|_| take_u64(bytes).map(f64::from_bits));
    Points::new(values.collect::<Option<_>>()?).ok()
}

/// Takes a schema off the front.
pub(super) fn take_schema(bytes: &mut &[u8]) -> Option<TableSchema> {
    let label = take_list(bytes)?.pop();
    let weight = take_list(bytes)?.pop();
    let has_missing = take_varint(bytes)? == 1;
    let missing = Some(take_list(bytes)?).filter(|_| has_missing);
    let ngrams = u8::try_from(take_varint(bytes)?).ok().filter(|n| *n > 0);
    let column = |bytes: &mut &[u8]| {
        let (name, kind) = (take_text(bytes)?, take_text(bytes)?.parse().ok()?);
        let form = take_list(bytes)?.pop();
        let texts = take_list(bytes)?.into_iter();
        let missing = texts.map(|text| OddText { text, line: None }).collect();
        let (knots, cuts) = (Points::default(), Points::default());
        Some(ColumnKind { name, kind, form, missing, knots, cuts })
    };
    let mut columns =
        (0..take_varint(bytes)?).map(|_| column(bytes)).collect::<Option<Vec<_>>>()?;
    let mut pairs = Vec::new();
    if !bytes.is_empty() {
        for column in &mut columns {
            (column.knots, column.cuts) = (take_points(bytes)?, take_points(bytes)?);
        }
        for _ in 0..take_varint(bytes)? {
            pairs.push(<[String; 2]>::try_from(take_list(bytes)?).ok()?);
        }
    }
    let notes = TypeNotes::default();
    let schema = TableSchema { columns, label, weight, missing, ngrams, pairs, notes };
    schema.check().ok().map(|()| schema)
}

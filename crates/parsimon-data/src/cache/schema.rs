//! The schema of a table in a cache.

use super::{put_varint, take, take_varint};
use crate::kinds::OddText;
use crate::{ColumnKind, Kind, TableSchema};

/// Whether a number column has texts of its own that are missing, which version 4 keeps.
pub(super) fn has_odd_texts(schema: &TableSchema) -> bool {
    schema.columns.iter().any(|column| !column.missing.is_empty())
}

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
    let TableSchema { columns, label, weight, missing, ngrams } = schema;
    put_list(out, label.as_slice());
    put_list(out, weight.as_slice());
    put_varint(out, u64::from(missing.is_some()));
    put_list(out, missing.as_deref().unwrap_or_default());
    put_varint(out, ngrams.map_or(0, u64::from));
    put_varint(out, columns.len() as u64);
    for ColumnKind { name, kind, form, .. } in columns {
        put_text(out, name);
        put_text(out, &kind.to_string());
        put_list(out, form.as_slice());
    }
    if has_odd_texts(schema) {
        for ColumnKind { missing, .. } in columns {
            let texts: Vec<_> = missing.iter().map(|odd| odd.text.clone()).collect();
            put_list(out, &texts);
        }
    }
}

/// Takes a schema off the front, of a version with the odd texts of columns or without.
pub(super) fn take_schema(bytes: &mut &[u8], has_odd_texts: bool) -> Option<TableSchema> {
    let label = take_list(bytes)?.pop();
    let weight = take_list(bytes)?.pop();
    let has_missing = take_varint(bytes)? == 1;
    let missing = Some(take_list(bytes)?).filter(|_| has_missing);
    let ngrams = u8::try_from(take_varint(bytes)?).ok().filter(|n| *n > 0);
    let column = |bytes: &mut &[u8]| {
        let (name, kind) = (take_text(bytes)?, take_text(bytes)?.parse().ok()?);
        Some(ColumnKind { name, kind, form: take_list(bytes)?.pop(), missing: Vec::new() })
    };
    let mut columns =
        (0..take_varint(bytes)?).map(|_| column(bytes)).collect::<Option<Vec<_>>>()?;
    if has_odd_texts {
        for column in &mut columns {
            let texts = take_list(bytes)?.into_iter();
            column.missing = texts.map(|text| OddText { text, line: None }).collect();
        }
    }
    let schema = TableSchema { columns, label, weight, missing, ngrams };
    schema.check().ok().map(|()| schema)
}

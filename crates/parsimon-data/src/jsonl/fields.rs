//! Fields that options name, and the first rows may not have.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::error::shown;
use crate::role_names::{NO_COLUMN, label_field};
use crate::suggestion::did_you_mean;
use crate::{Labels, Options};

/// Fields that are listed at most.
const MOST_FIELDS: usize = 50;

/// Whether options name fields that must be there.
pub(crate) fn names_fields(options: &Options) -> bool {
    let is_named =
        options.reading.label_column.is_some() || options.reading.weight_column.is_some();
    let lists = !options.reading.ignore.is_empty() || !options.reading.interactions.is_empty();
    !matches!(options.reading.labels, Labels::Optional(_)) && (is_named || lists)
}

/// The fields of the first rows, in order, if none of these has a label under one of the usual names; `None` if one has, and where a
/// label is named or not needed.
pub(crate) fn without_label(head: &[u8], options: &Options) -> Option<Vec<String>> {
    let is_asked = options.ask.needs_label && options.reading.label_column.is_none();
    if !is_asked || matches!(options.reading.labels, Labels::Optional(_)) {
        return None;
    }
    let mut fields: Vec<String> = Vec::new();
    for line in head.split(|b| *b == b'\n').filter(|line| !line.trim_ascii().is_empty()) {
        let Ok(row) = serde_json::from_slice::<Map<String, Value>>(line) else { continue };
        if label_field(row.keys().map(String::as_str)).is_some() {
            return None;
        }
        for (key, _) in row {
            if fields.len() < MOST_FIELDS && !fields.contains(&key) {
                fields.push(key);
            }
        }
    }
    (!fields.is_empty()).then_some(fields)
}

/// A field or namespace that no row of the first ones has.
pub(crate) struct Absent {
    /// Kind and name.
    pub(crate) name: String,
    /// Option that names it; may be empty.
    pub(crate) role: &'static str,
    /// A question after a name that is nearly the same; empty if there is none.
    pub(crate) near: String,
    /// The text of a row that has it.
    pub(crate) text: String,
}

/// Fields and namespaces that do not occur in the first rows.
pub(crate) fn absent_fields(head: &[u8], options: &Options) -> Vec<Absent> {
    let (mut fields, mut namespaces) = (BTreeSet::new(), BTreeSet::new());
    for line in head.split(|b| *b == b'\n').filter(|line| !line.trim_ascii().is_empty()) {
        // The last line may be cut; what is wrong with others is said when they are read.
        let Ok(row) = serde_json::from_slice::<Map<String, Value>>(line) else { continue };
        for (key, value) in row {
            match value {
                Value::Object(inner) if key == "features" => {
                    fields.extend(inner.into_iter().map(|(k, _)| k));
                }
                Value::Object(_) | Value::Array(_) => {
                    namespaces.insert(key.clone());
                }
                _ => {}
            }
            fields.insert(key);
        }
    }
    if fields.is_empty() {
        return Vec::new();
    }
    let named =
        [&options.reading.label_column, &options.reading.weight_column].into_iter().flatten();
    let named = named.chain(&options.reading.ignore);
    let named = named.filter(|name| *name != NO_COLUMN && !fields.contains(*name));
    let mut absent: Vec<Absent> = named
        .map(|name| Absent {
            name: format!("field {}", shown(name.as_bytes())),
            role: "",
            near: did_you_mean(name, fields.iter().map(String::as_str)),
            text: Value::from(name.as_str()).to_string(),
        })
        .collect();
    for selector in options.reading.interactions.iter().flatten() {
        let is_letter = selector.chars().count() == 1;
        let is_there = |name: &String| match is_letter {
            true => name.starts_with(selector.as_str()),
            false => name == selector,
        };
        if !selector.is_empty() && selector != " " && !namespaces.iter().any(is_there) {
            let quoted = Value::from(selector.as_str()).to_string();
            absent.push(Absent {
                name: format!("namespace {}", shown(selector.as_bytes())),
                role: " (in an interaction)",
                near: did_you_mean(selector, namespaces.iter().map(String::as_str)),
                // A letter covers all names that begin with it.
                text: if is_letter { format!("\"{selector}") } else { quoted },
            });
        }
    }
    absent
}

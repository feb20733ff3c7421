//! Fields that options name, and the first rows may not have.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::error::shown;
use crate::suggestion::did_you_mean;
use crate::{Labels, Options};

/// Whether options name fields that must be there.
pub(crate) fn names_fields(options: &Options) -> bool {
    let is_named = options.label_column.is_some() || options.weight_column.is_some();
    let lists = !options.ignored_columns.is_empty() || !options.interactions.is_empty();
    !matches!(options.labels, Labels::Optional(_)) && (is_named || lists)
}

/// Refuses fields and namespaces that no row of the first ones has.
pub(crate) fn check_fields(head: &[u8], options: &Options) -> Result<(), String> {
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
        return Ok(());
    }
    let named = [&options.label_column, &options.weight_column].into_iter().flatten();
    for name in named.chain(&options.ignored_columns) {
        if !fields.contains(name) {
            let near = did_you_mean(name, fields.iter().map(String::as_str));
            return Err(format!("has no field {}{near} in its first rows", shown(name.as_bytes())));
        }
    }
    for selector in options.interactions.iter().flatten() {
        let is_there = |name: &String| match selector.chars().count() {
            1 => name.starts_with(selector.as_str()),
            _ => name == selector,
        };
        if !selector.is_empty() && selector != " " && !namespaces.iter().any(is_there) {
            let near = did_you_mean(selector, namespaces.iter().map(String::as_str));
            return Err(format!(
                "has no namespace {}{near} in its first rows (in an interaction)",
                shown(selector.as_bytes())
            ));
        }
    }
    Ok(())
}

//! Metadata that pandas stores beside the columns of a frame.

use crate::arrow::datatypes::Schema;
use serde_json::Value;

/// The names that pandas gives to an index without one.
const UNNAMED_INDEX: &str = "__index_level_";

/// Metadata of a pandas frame in a schema.
#[derive(Debug, Default)]
pub(super) struct Frame {
    index: Vec<String>,
    categories: Vec<String>,
}

impl Frame {
    /// Reads the key `pandas`, if it exists. Invalid entries are ignored: types contain nearly everything.
    pub(super) fn new(schema: &Schema) -> Self {
        let about = schema.metadata().get("pandas");
        let Some(about) = about.and_then(|text| serde_json::from_str::<Value>(text).ok()) else {
            return Self::default();
        };
        let texts = |key: &str| about[key].as_array().cloned().unwrap_or_default();
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let categories = texts("columns").into_iter().filter_map(|column| {
            let is_category = column["pandas_type"] == "categorical";
            is_category.then(|| text(&column["field_name"]).or_else(|| text(&column["name"])))?
        });
        Self {
            // An index that only counts rows is no column, and is described by an object.
            index: texts("index_columns").iter().filter_map(text).collect(),
            categories: categories.collect(),
        }
    }

    /// Whether a column is the index.
    pub(super) fn is_index(&self, name: &str) -> bool {
        name.starts_with(UNNAMED_INDEX) || self.index.iter().any(|index| index == name)
    }

    /// Whether a column is a category. Parquet forgets that of numbers.
    pub(super) fn is_category(&self, name: &str) -> bool {
        self.categories.iter().any(|category| category == name)
    }
}

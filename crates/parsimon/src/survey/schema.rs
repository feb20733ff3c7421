//! How rows are to be read, as a model remembers it: prediction must read as training did.

use std::sync::Arc;

use parsimon_core::{LabelDomain, Precision};
use parsimon_data::{Kinds, Labels, Options, Space, TableSchema};
use serde::{Deserialize, Serialize};

use super::Found;
use crate::{Settings, Storage};

/// The part of the reading that belongs to the model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct InputSchema {
    /// The logarithm of the number of slots when features are hashed; `None` when ids are kept.
    pub bits: Option<u8>,
    /// What was found in the data that was learned. Files have it beside the fields of the schema.
    #[serde(flatten)]
    pub found: Found,
    /// Products of namespaces.
    pub interactions: Vec<Vec<String>>,
    /// The label's column.
    pub label_column: Option<String>,
    /// The importance weight's column.
    pub weight_column: Option<String>,
    /// Columns that are not features.
    pub ignored_columns: Vec<String>,
    /// Columns whose numbers are categories.
    pub text_columns: Vec<String>,
    /// The kinds of a table's columns; `None` where cells are understood one by one.
    #[serde(with = "super::stored", skip_serializing_if = "Option::is_none")]
    pub table: Option<TableSchema>,
}

impl InputSchema {
    /// What the options say, with the space the reader found.
    pub fn new(options: &Options, space: Space, found: Found) -> Self {
        Self {
            bits: match space {
                Space::Ids => None,
                Space::Hashed { bits } => Some(bits),
            },
            found,
            interactions: options.interactions.clone(),
            label_column: options.label_column.clone(),
            weight_column: options.weight_column.clone(),
            ignored_columns: options.ignored_columns.clone(),
            text_columns: options.text_columns.clone(),
            table: match &options.kinds {
                Kinds::Known(table) => Some(TableSchema::clone(table)),
                Kinds::ByCell | Kinds::Found => None,
            },
        }
    }

    /// The feature space.
    pub fn space(&self) -> Space {
        self.bits.map_or(Space::Ids, |bits| Space::Hashed { bits })
    }

    /// The store that suits the space.
    pub fn storage(&self) -> Storage {
        self.bits.map_or(Storage::Growing, |bits| Storage::Slots(1 << bits))
    }

    /// The labels a learner with these settings expects.
    pub fn labels(&self, settings: &Settings) -> Labels {
        match (settings.is_multiclass(), settings.loss().domain(), &self.found.classes[..]) {
            (true, _, classes) => Labels::Classes(classes.to_vec()),
            (_, LabelDomain::NonNegative, _) => Labels::NonNegative,
            // Two classes are learned as -1 and 1, by losses of numbers, too.
            (_, LabelDomain::Binary | LabelDomain::Real, [negative, positive]) => {
                Labels::Binary { negative: negative.clone(), positive: positive.clone() }
            }
            (_, LabelDomain::Real, _) => Labels::Real,
            (_, LabelDomain::Binary, _) => Labels::binary(),
        }
    }

    /// Options that read as the model was trained; the rest is taken from `options`.
    pub fn options(&self, settings: &Settings, precision: Precision, options: &Options) -> Options {
        Options {
            space: Some(self.space()),
            labels: self.labels(settings),
            interactions: self.interactions.clone(),
            label_column: options.label_column.clone().or_else(|| self.label_column.clone()),
            weight_column: options.weight_column.clone().or_else(|| self.weight_column.clone()),
            ignored_columns: self.ignored_columns.clone(),
            text_columns: self.text_columns.clone(),
            kinds: match &self.table {
                Some(table) => Kinds::Known(Arc::new(table.clone())),
                None => Kinds::ByCell,
            },
            numbers_apart: settings.is_normalized(),
            max_value: precision.max_value(),
            ..options.clone()
        }
    }
}

//! How rows are to be read, as a model remembers it: prediction must read as training did.

use std::sync::Arc;

use parsimon_core::{LabelDomain, Precision};
use parsimon_data::{Kinds, Labels, Options, Space, TableSchema};
use serde::{Deserialize, Serialize};

use super::Found;
use crate::options::Storage;
use crate::settings::Settings;

/// How rows are read: what a model must know to read rows for prediction as they were read for training.
///
/// ```
/// use parsimon::data::{Input, Options};
/// use parsimon::{Spec, survey};
///
/// let bytes = b"bought,city\nyes,Rome\nno,Oslo\n".to_vec();
/// let inputs = [Input::Bytes { name: "shop.csv".into(), bytes }];
/// let settings = Spec::new("ftrl").resolve()?;
/// let opened = survey::open(&[settings], &inputs[..], &Options::default())?;
/// assert_eq!(opened.schema.found.classes, ["no", "yes"]);
/// assert!(opened.schema.bits.is_some(), "features of tables are hashed");
/// # Ok::<(), parsimon::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct InputSchema {
    /// The number of hash bits: features are hashed into 2^bits slots. `None` if ids are kept.
    pub bits: Option<u8>,
    /// What was found in the training data.
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
    /// Columns that are categories even if their cells are numbers.
    pub text_columns: Vec<String>,
    /// The kinds of a table's columns; `None` where cells are understood one by one.
    #[serde(with = "super::stored", skip_serializing_if = "Option::is_none")]
    pub table: Option<TableSchema>,
}

impl InputSchema {
    /// The schema of some options, with the feature space of the reader.
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

    /// The storage that suits the feature space.
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

    /// Options that read rows as in training. Everything that the schema does not decide is taken from `options`.
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

//! The reading of rows stored in a model: prediction must read rows as training did.

use std::sync::Arc;

use parsimon_core::{LabelDomain, Precision};
use parsimon_data::{
    Bounds, Kind, Kinds, Labels, Options, Reading, Space, TableSchema, did_you_mean,
};
use serde::{Deserialize, Serialize};

use super::Found;
use crate::error::BuildError;
use crate::options::Storage;
use crate::settings::Settings;

/// The reading of rows that a model stores, so that prediction reads rows as training did.
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
    /// Findings in the training data.
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
            interactions: options.reading.interactions.clone(),
            label_column: options.reading.label_column.clone(),
            weight_column: options.reading.weight_column.clone(),
            ignored_columns: options.reading.ignore.clone(),
            text_columns: options.reading.categories.clone(),
            table: match &options.reading.kinds {
                Kinds::Known(table) => Some(TableSchema::clone(table)),
                Kinds::ByCell | Kinds::Found => None,
            },
        }
    }

    /// Refuses factors of columns that the table does not have, or that are no single feature. A misspelled name would have no effect.
    pub(crate) fn check_factors(&self, settings: &Settings) -> Result<(), BuildError> {
        let Some(table) = &self.table else { return Ok(()) };
        let refused = |message| Err(BuildError::new("penalty_factor", message));
        for name in settings.penalty_factors() {
            match table.column(name).map(|column| column.kind) {
                Some(Kind::Number) => {}
                Some(kind) => {
                    return refused(format!(
                        "penalty_factor names the column {name:?}, whose kind is {kind}, which is not one feature: name its features, such as {name}=value"
                    ));
                }
                // Values of columns, words of texts, and products are names with a sign in them.
                None if name.contains(['=', '^', '*', '~', '<', '>']) => {}
                None => {
                    let columns = table.columns.iter().map(|column| column.name.as_str());
                    let near = did_you_mean(name, columns);
                    return refused(format!(
                        "penalty_factor names {name:?}, and the table has no such column{near}"
                    ));
                }
            }
        }
        Ok(())
    }

    /// The facts found in the data, with the feature space, in which names of features are looked up.
    pub(crate) fn found_in_space(&self) -> Found {
        Found { slot_bits: self.bits, ..self.found.clone() }
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
            reading: Reading {
                space: Some(self.space()),
                labels: self.labels(settings),
                interactions: self.interactions.clone(),
                label_column: options
                    .reading
                    .label_column
                    .clone()
                    .or_else(|| self.label_column.clone()),
                weight_column: options
                    .reading
                    .weight_column
                    .clone()
                    .or_else(|| self.weight_column.clone()),
                ignore: self.ignored_columns.clone(),
                categories: self.text_columns.clone(),
                kinds: match &self.table {
                    Some(table) => Kinds::Known(Arc::new(table.clone())),
                    None => Kinds::ByCell,
                },
                numbers_apart: settings.is_normalized(),
                ..options.reading.clone()
            },
            bounds: Bounds { max_value: precision.max_value(), ..options.bounds.clone() },
            ..options.clone()
        }
    }
}

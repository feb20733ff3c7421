//! Coverage: the part of the data that a model knows.
//!
//! A model holds nonzero weights, so a feature that was learned and then set to zero by the penalty cannot be distinguished from one that
//! was never met. So the counts are those of features with a weight, and of rows without any such feature: these
//! get the prediction of the bias alone. Data in which no feature has a weight is not what the model is for. Hashed features meet
//! a weight by chance as often as slots have one, so where fewer than one slot in a hundred has a weight, data that meets no
//! more than chance would is not known either. For tables the columns are compared instead.

use std::collections::HashSet;

use parsimon_core::Chunk;
use parsimon_data::{Format, Kind, Reader, did_you_mean, listed};
use parsimon_eval::number::{percent, thousands};

use crate::model::Model;

/// The rows that are counted; the first of a longer stream decide.
const ROWS: u64 = 10_000;
/// The distinct features that are compared with chance.
const DISTINCT: usize = 4096;
/// Fewer distinct features prove nothing about chance.
const LEAST_DISTINCT: usize = 100;
/// Share of slots with a weight above which a known feature cannot be distinguished from a collision.
const MOST_SHARE: f64 = 0.01;
/// A share of rows without a weight that is worth a warning.
const MANY: f64 = 0.1;
/// Names that a message lists at most.
const LISTED: usize = 5;

/// Counts which features of the first 10,000 rows have a weight in a model, and which columns of the data the model has.
#[derive(Clone, Debug)]
pub struct Coverage {
    /// The features with a weight, in order.
    used: Vec<u32>,
    /// Names of some of them.
    examples: Vec<String>,
    /// The share of slots with a weight; `None` if features are ids.
    share: Option<f64>,
    distinct: HashSet<u32>,
    hits: usize,
    rows: u64,
    empty_rows: u64,
    unknown_rows: u64,
    features: u64,
    weighted: u64,
    /// The columns that the model was trained on, and those of them that the data lacks.
    expected: usize,
    missing: Vec<String>,
    /// The columns of the data that the model does not know.
    extra: Vec<String>,
    /// Whether the reader itself warns of columns: see [`Reader::warnings`].
    is_reported: bool,
}

impl Coverage {
    /// Compares the columns. [`take`](Coverage::take) counts rows.
    pub fn new(model: &Model, reader: &Reader) -> Self {
        let used = model.distinct_used();
        let bits = model.schema().bits;
        let share = bits.map(|bits| used.len() as f64 / 2f64.powi(bits.into()));
        let examples = match model.has_names() || bits.is_none() {
            true => used.iter().take(LISTED).map(|&j| model.name(j).into_owned()).collect(),
            false => Vec::new(),
        };
        let (mut expected, mut missing, mut extra) = (0, Vec::new(), Vec::new());
        if let (Some(table), Some(names)) = (&model.schema().table, reader.column_names()) {
            let is_role = |name: &String| {
                [&table.label, &table.weight, &model.schema().label_column]
                    .into_iter()
                    .any(|role| role.as_ref() == Some(name))
            };
            let is_read = |kind: Kind| {
                use Kind::{Boolean, Category, Number, Text, Time};
                matches!(kind, Number | Category | Boolean | Text | Time)
            };
            let columns = table.columns.iter();
            let wanted: Vec<_> = columns.filter(|c| is_read(c.kind) && !is_role(&c.name)).collect();
            expected = wanted.len();
            let lacks = wanted.iter().filter(|column| !names.contains(&column.name));
            missing = lacks.map(|column| column.name.clone()).collect();
            let is_known = |name: &String| table.column(name).is_some() || is_role(name);
            extra = names.iter().filter(|name| !is_known(name)).cloned().collect();
        }
        Self {
            used,
            examples,
            share,
            distinct: HashSet::new(),
            hits: 0,
            rows: 0,
            empty_rows: 0,
            unknown_rows: 0,
            features: 0,
            weighted: 0,
            expected,
            missing,
            extra,
            is_reported: matches!(reader.format(), Format::Csv | Format::Tsv),
        }
    }

    /// Counts the rows of a chunk. Returns true once 10,000 rows were counted; later rows are ignored.
    pub fn take(&mut self, chunk: &Chunk) -> bool {
        let before = self.rows;
        for i in 0..chunk.len() {
            if self.rows == ROWS {
                break;
            }
            self.rows += 1;
            let cells = chunk.columns().iter().zip(chunk.numbers(i));
            let cells = cells.filter(|(_, x)| !x.is_nan()).map(|(column, _)| column.id);
            let (features, weighted) = (self.features, self.weighted);
            for feature in chunk.row(i).indices().iter().copied().chain(cells) {
                let is_weighted = self.used.binary_search(&feature).is_ok();
                self.features += 1;
                self.weighted += u64::from(is_weighted);
                if self.distinct.len() < DISTINCT && self.distinct.insert(feature) {
                    self.hits += usize::from(is_weighted);
                }
            }
            self.empty_rows += u64::from(self.features == features);
            self.unknown_rows += u64::from(self.features > features && self.weighted == weighted);
        }
        before < ROWS && self.rows == ROWS
    }

    /// The reason why the model cannot predict this data; `None` if it can. The caller adds what to do about it.
    pub fn refusal(&self) -> Option<String> {
        if self.lacks_half() {
            return Some(format!("the data lacks {}", self.missing_words()));
        }
        // A table with the model's columns fits the model, even if all cells are new.
        if self.used.is_empty() || self.features == 0 || self.expected > 0 {
            return None;
        }
        let such_as = match &self.examples[..] {
            [] => String::new(),
            names => format!("; the model has features such as {}", listed(names.iter(), LISTED)),
        };
        if self.weighted == 0 {
            return Some(format!(
                "the model has no weight for any of the {} features of {} rows{such_as}",
                thousands(self.features),
                thousands(self.rows)
            ));
        }
        let (distinct, share) = (self.distinct.len() as f64, self.share?);
        let chance = distinct * share + 3.0 * (distinct * share).sqrt();
        let is_chance = share < MOST_SHARE
            && self.distinct.len() >= LEAST_DISTINCT
            && self.hits as f64 <= chance;
        is_chance.then(|| {
            format!(
                "the model has weights for {} of {} hashed features, no more than by chance{such_as}",
                thousands(self.hits as u64),
                thousands(self.distinct.len() as u64)
            )
        })
    }

    /// Whether the data lacks half of the columns of the model, which is known before the first row.
    pub fn lacks_half(&self) -> bool {
        !self.missing.is_empty() && 2 * self.missing.len() >= self.expected
    }

    /// Warnings about features and columns that the model does not have.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if !self.missing.is_empty() && !self.is_reported {
            warnings.push(format!("warning: the data lacks {}", self.missing_words()));
        }
        if !self.extra.is_empty() && !self.is_reported {
            warnings.push(format!(
                "{} column{} of the data {} not in the model and {} ignored: {}",
                self.extra.len(),
                if self.extra.len() == 1 { "" } else { "s" },
                if self.extra.len() == 1 { "is" } else { "are" },
                if self.extra.len() == 1 { "is" } else { "are" },
                listed(self.extra.iter(), LISTED)
            ));
        }
        let unknown = self.unknown_rows as f64 / (self.rows.max(1)) as f64;
        if unknown >= MANY && !self.used.is_empty() {
            let first = if self.rows == ROWS { "the first " } else { "" };
            warnings.push(format!(
                "warning: in {} of {first}{} rows ({}) no feature has a weight: the prediction is that of the bias; {} of all features have no weight",
                thousands(self.unknown_rows),
                thousands(self.rows),
                percent(unknown),
                percent(1.0 - self.weighted as f64 / self.features.max(1) as f64)
            ));
        }
        warnings
    }

    fn missing_words(&self) -> String {
        let named: Vec<String> = self
            .missing
            .iter()
            .take(LISTED)
            .map(|name| {
                let near = did_you_mean(name, self.extra.iter().map(String::as_str));
                match near.is_empty() {
                    true => format!("{name:?}"),
                    false => format!("{name:?} ({})", near.trim_start_matches([',', ' '])),
                }
            })
            .collect();
        let more = if self.missing.len() > LISTED { ", ..." } else { "" };
        format!(
            "{} of the {} columns that the model was trained on ({}): {}{more}",
            self.missing.len(),
            self.expected,
            percent(self.missing.len() as f64 / self.expected.max(1) as f64),
            named.join(", ")
        )
    }
}

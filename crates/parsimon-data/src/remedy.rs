//! Remedies: what a user can do about an error or a wrong guess, as values.

use std::fmt;

use parsimon_files::memory::Shortage;

use crate::listing::listed;

/// Columns that are listed for a choice.
const MOST_COLUMNS: usize = 100;

/// A setting that a remedy names. Each [`Door`] has its own name for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Setting {
    /// The method.
    Algorithm,
    /// The number of hash bits.
    Bits,
    /// Columns that are returned with each row.
    Carried,
    /// Columns that are categories.
    Categories,
    /// Weights of classes.
    ClassWeight,
    /// The classes.
    Classes,
    /// The number of features.
    Dimension,
    /// The format of the data.
    Format,
    /// The model that a learner begins with.
    From,
    /// Whether a table has a header.
    Header,
    /// The share of rows that are held out.
    Holdout,
    /// Columns that are not read.
    Ignore,
    /// Columns that are read though they would be left out.
    Keep,
    /// Detection of the kinds of columns.
    Kinds,
    /// The label's column.
    LabelColumn,
    /// The number of rows that are read.
    Limit,
    /// The loss.
    Loss,
    /// The memory budget.
    Memory,
    /// Cells without a value.
    Missing,
    /// More than two classes.
    Multiclass,
    /// Runs of words.
    Ngrams,
    /// Features without hashing.
    NoHash,
    /// Names of features are not kept.
    NoNames,
    /// Standardized features.
    Normalize,
    /// Columns that are numbers.
    Numbers,
    /// Predictions made while learning.
    Predictions,
    /// The regret.
    Regret,
    /// The share of negative rows that are learned.
    SampleNegatives,
    /// The separator of cells.
    Separator,
    /// The number of rows that are shuffled at a time.
    Shuffle,
    /// The rows that are skipped.
    Skip,
    /// The number of bad rows that are skipped.
    SkipBad,
    /// Storage of the weights.
    Store,
    /// The round at which a schedule switches.
    Switch,
    /// Columns whose words are features.
    Texts,
    /// The importance weight's column.
    WeightColumn,
}

impl Setting {
    /// The name of the setting in programs and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Setting::Algorithm => "algorithm",
            Setting::Bits => "bits",
            Setting::Carried => "carried",
            Setting::Categories => "categories",
            Setting::ClassWeight => "class_weight",
            Setting::Classes => "classes",
            Setting::Dimension => "dimension",
            Setting::Format => "format",
            Setting::From => "from",
            Setting::Header => "header",
            Setting::Holdout => "holdout",
            Setting::Ignore => "ignore",
            Setting::Keep => "keep",
            Setting::Kinds => "kinds",
            Setting::LabelColumn => "label_column",
            Setting::Limit => "limit",
            Setting::Loss => "loss",
            Setting::Memory => "memory",
            Setting::Missing => "missing",
            Setting::Multiclass => "multiclass",
            Setting::Ngrams => "ngrams",
            Setting::NoHash => "no_hash",
            Setting::NoNames => "no_names",
            Setting::Normalize => "normalize",
            Setting::Numbers => "numbers",
            Setting::Predictions => "predictions",
            Setting::Regret => "regret",
            Setting::SampleNegatives => "sample_negatives",
            Setting::Separator => "separator",
            Setting::Shuffle => "shuffle",
            Setting::Skip => "skip",
            Setting::SkipBad => "skip_bad",
            Setting::Store => "store",
            Setting::Switch => "switch",
            Setting::Texts => "texts",
            Setting::WeightColumn => "weight_column",
        }
    }
}

/// A way in which users reach the library: a program with flags, a language with keywords, a service with fields.
pub trait Door {
    /// Writes a setting, with its value if there is one. `None` if the door does not have the setting.
    fn setting(&self, setting: Setting, value: Option<&str>) -> Option<String>;
}

/// The names of settings in this library, for messages that no door renders.
#[derive(Clone, Copy, Debug)]
struct Library;

impl Door for Library {
    fn setting(&self, setting: Setting, value: Option<&str>) -> Option<String> {
        let name = setting.name();
        Some(value.map_or_else(|| name.to_owned(), |value| format!("{name} {value}")))
    }
}

/// An action of the user that resolves an error or a wrong guess.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remedy {
    /// Name the label's column; these are the columns.
    NameLabel {
        /// The columns of the table; empty if the message lists them.
        columns: Vec<String>,
    },
    /// Name the field of the label; these are the fields of the first rows.
    NameLabelField {
        /// The fields.
        fields: Vec<String>,
    },
    /// Name the columns of text.
    NameTexts,
    /// Name the format.
    NameFormat,
    /// Declare the classes.
    NameClasses,
    /// Make the column a category.
    Categories(String),
    /// Make the column a category if its numbers are codes.
    Codes(String),
    /// Leave the column out.
    Ignore(String),
    /// Leave a setting out.
    LeaveOut(Setting),
    /// Use a smaller value of a setting.
    Smaller(Setting),
    /// Pass a setting, with a value if there is one.
    Pass(Setting, Option<String>),
    /// Pass a setting with a value if the labels are numbers.
    ForNumbers(Setting, String),
    /// Treat the cells as missing.
    TreatAsMissing,
    /// Let the kinds of columns be found.
    FindKinds,
    /// Remove the row or skip it.
    SkipBad,
    /// Use fewer hash bits.
    FewerBits,
    /// Hash the features into `2^n` slots.
    Hash(u8),
    /// Do not keep the names of features.
    NoNames,
    /// Raise the memory budget, to at least this amount if it is known.
    RaiseMemory(Option<String>),
    /// Choose another separator of cells.
    AnotherSeparator,
    /// Read the first line as names.
    HeaderPresent,
    /// Check the settings that decide which rows are learned.
    CheckRows,
    /// Learn the whole of a file that changed, or pass over its first rows.
    SkipRows,
    /// Advice that names no setting.
    Advice(String),
}

/// A remedy, with the first of the columns to choose from.
fn with_columns(way: String, columns: &[String]) -> String {
    if columns.is_empty() {
        return way;
    }
    format!("{way}. The columns are {}", listed(columns.iter(), MOST_COLUMNS))
}

impl Remedy {
    /// The words of the remedy for a door. `None` if the door does not have the setting.
    pub fn words(&self, door: &dyn Door) -> Option<String> {
        let set = |setting| door.setting(setting, None);
        let with = |setting, value: &str| door.setting(setting, Some(value));
        Some(match self {
            Remedy::NameLabel { columns } => {
                let way = format!("name it with {}", with(Setting::LabelColumn, "NAME")?);
                with_columns(way, columns)
            }
            Remedy::NameLabelField { fields } => format!(
                "name its field with {}. The fields are {}",
                with(Setting::LabelColumn, "NAME")?,
                listed(fields.iter(), MOST_COLUMNS)
            ),
            Remedy::NameTexts => {
                format!("name the text columns with {}", with(Setting::Texts, "COLUMNS")?)
            }
            Remedy::NameFormat => {
                format!("pass {} svmlight, vw, csv, tsv or json", set(Setting::Format)?)
            }
            Remedy::NameClasses => format!("declare the classes with {}", set(Setting::Classes)?),
            Remedy::Categories(column) => {
                format!("make the column a category with {}", with(Setting::Categories, column)?)
            }
            Remedy::Codes(column) => format!(
                "if column {column:?} holds codes, make it a category with {}",
                with(Setting::Categories, column)?
            ),
            Remedy::Ignore(column) => {
                format!("leave it out with {}", with(Setting::Ignore, column)?)
            }
            Remedy::LeaveOut(setting) => format!("leave out {}", set(*setting)?),
            Remedy::Smaller(setting) => format!("use a smaller {}", set(*setting)?),
            Remedy::Pass(setting, value) => {
                format!("pass {}", door.setting(*setting, value.as_deref())?)
            }
            Remedy::ForNumbers(setting, value) => {
                format!("pass {} if the labels are numbers", with(*setting, value)?)
            }
            Remedy::TreatAsMissing => {
                format!("treat the cells as missing with {}", set(Setting::Missing)?)
            }
            Remedy::FindKinds => {
                let cell = with(Setting::Kinds, "cell")?;
                format!("leave out {cell} and {}", set(Setting::NoHash)?)
            }
            Remedy::SkipBad => match set(Setting::SkipBad) {
                Some(skip) => format!("remove the row, or skip it with {skip}"),
                None => "remove the row".to_owned(),
            },
            Remedy::FewerBits => format!("use fewer {}", set(Setting::Bits)?),
            Remedy::Hash(bits) => {
                format!("hash the features with {}", with(Setting::Bits, &bits.to_string())?)
            }
            Remedy::NoNames => format!("leave the names out with {}", set(Setting::NoNames)?),
            Remedy::RaiseMemory(enough) => format!(
                "raise the budget with {}",
                door.setting(Setting::Memory, enough.as_deref())?
            ),
            Remedy::AnotherSeparator => {
                format!("{} chooses another", with(Setting::Separator, "CHAR")?)
            }
            Remedy::HeaderPresent => {
                format!("{} reads it as names", with(Setting::Header, "present")?)
            }
            Remedy::CheckRows => format!(
                "check {}, {} and {}",
                set(Setting::LabelColumn)?,
                set(Setting::Skip)?,
                set(Setting::Limit)?
            ),
            Remedy::SkipRows => format!(
                "pass {} to learn the whole file, or {} to pass over its first N rows",
                with(Setting::Skip, "0")?,
                with(Setting::Skip, "N")?
            ),
            Remedy::Advice(words) => words.clone(),
        })
    }

    /// The setting that the remedy changes, with its value where that is known.
    pub fn setting(&self) -> Option<(Setting, Option<&str>)> {
        Some(match self {
            Remedy::NameLabel { .. } | Remedy::NameLabelField { .. } => {
                (Setting::LabelColumn, None)
            }
            Remedy::NameTexts => (Setting::Texts, None),
            Remedy::NameFormat => (Setting::Format, None),
            Remedy::NameClasses => (Setting::Classes, None),
            Remedy::Categories(column) | Remedy::Codes(column) => {
                (Setting::Categories, Some(column))
            }
            Remedy::Ignore(column) => (Setting::Ignore, Some(column)),
            Remedy::LeaveOut(setting) | Remedy::Smaller(setting) => (*setting, None),
            Remedy::Pass(setting, value) => (*setting, value.as_deref()),
            Remedy::ForNumbers(setting, value) => (*setting, Some(value)),
            Remedy::TreatAsMissing => (Setting::Missing, None),
            Remedy::FindKinds => (Setting::Kinds, None),
            Remedy::SkipBad => (Setting::SkipBad, None),
            Remedy::FewerBits | Remedy::Hash(_) => (Setting::Bits, None),
            Remedy::NoNames => (Setting::NoNames, None),
            Remedy::RaiseMemory(enough) => (Setting::Memory, enough.as_deref()),
            Remedy::AnotherSeparator => (Setting::Separator, None),
            Remedy::HeaderPresent => (Setting::Header, Some("present")),
            Remedy::CheckRows => (Setting::LabelColumn, None),
            Remedy::SkipRows => (Setting::Skip, None),
            Remedy::Advice(_) => return None,
        })
    }

    /// The columns among which the remedy chooses.
    pub fn columns(&self) -> &[String] {
        match self {
            Remedy::NameLabel { columns } => columns,
            Remedy::NameLabelField { fields } => fields,
            _ => &[],
        }
    }
}

/// A fault with its remedies.
///
/// ```
/// use parsimon_data::{Door, Message, Remedy, Setting};
///
/// struct Flags;
///
/// impl Door for Flags {
///     fn setting(&self, setting: Setting, value: Option<&str>) -> Option<String> {
///         Some(format!("/{} {}", setting.name(), value.unwrap_or_default()))
///     }
/// }
///
/// let message = Message::new("\"A1\" is not a number").or(Remedy::Categories("site".into()));
/// assert_eq!(
///     message.words(&Flags),
///     "\"A1\" is not a number; make the column a category with /categories site"
/// );
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message {
    fact: String,
    remedies: Vec<Remedy>,
}

impl Message {
    /// A message about what happened.
    pub fn new(fact: impl Into<String>) -> Self {
        Self { fact: fact.into(), remedies: Vec::new() }
    }

    /// A message about a shortage of memory: what needs it, how much, and how much would do.
    pub fn shortage(shortage: &Shortage, what: &str, remedies: &[Remedy]) -> Self {
        let mut remedies = remedies.to_vec();
        let mut fact = format!("{what} needs {shortage}");
        match shortage.enough() {
            Some(enough) => remedies.push(Remedy::RaiseMemory(Some(enough))),
            None if remedies.is_empty() => fact.push_str(", and no machine has as much"),
            None => {}
        }
        Self { fact, remedies }
    }

    /// Adds a remedy that is an alternative to the others.
    #[must_use]
    pub fn or(mut self, remedy: Remedy) -> Self {
        self.remedies.push(remedy);
        self
    }

    /// The fault.
    pub fn fact(&self) -> &str {
        &self.fact
    }

    /// The remedies.
    pub fn remedies(&self) -> &[Remedy] {
        &self.remedies
    }

    /// Puts words behind what happened.
    pub(crate) fn push_str(&mut self, words: &str) {
        self.fact.push_str(words);
    }

    /// Puts words before what happened.
    #[must_use]
    pub fn after(mut self, words: &str) -> Self {
        self.fact.insert_str(0, words);
        self
    }

    /// The message with the names that a door has for settings. Remedies that the door does not have are left out.
    pub fn words(&self, door: &dyn Door) -> String {
        let words: Vec<String> = self.remedies.iter().filter_map(|r| r.words(door)).collect();
        match &words[..] {
            [] => self.fact.clone(),
            words => format!("{}; {}", self.fact, words.join(", or ")),
        }
    }
}

impl From<String> for Message {
    fn from(fact: String) -> Self {
        Self::new(fact)
    }
}

impl From<&str> for Message {
    fn from(fact: &str) -> Self {
        Self::new(fact)
    }
}

/// With the names that settings have in this library.
impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words(&Library))
    }
}

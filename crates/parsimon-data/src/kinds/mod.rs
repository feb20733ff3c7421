//! The kinds of a table's columns, and their detection from the cells.

mod cell;
mod choice;
mod declared;
mod judge;
mod missing;
mod notes;
mod number_form;
mod odd;
mod points;
mod select;
mod time;
mod wish;

use std::fmt;
use std::str::FromStr;

use crate::remedy::{Message, Remedy};

pub(crate) use choice::{Asked, Candidate, choose};
pub(crate) use declared::{Declared, typed_verdict};
pub(crate) use judge::{Judge, Verdict};
pub(crate) use missing::Missing;
pub use missing::is_missing_word;
pub use notes::{LabelGuess, LabelReason, TypeNote, TypeNotes};
pub(crate) use number_form::NumberForm;
pub use number_form::is_written_number;
pub use odd::OddText;
pub use points::Points;
pub(crate) use select::{find, fits, nearest, select};
pub(crate) use time::{Moment, TimeForm};
pub use wish::{Curves, Pairs};

/// Number of rows that are examined.
pub(crate) const ROWS: usize = 10_000;

/// The most pairs of columns.
const MOST_PAIRS: usize = 10_000;

/// The longest run of words that may be a feature.
pub(crate) const MOST_NGRAMS: u8 = 8;

/// The kind of the cells of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// Numbers.
    Number,
    /// Names and codes: a cell is the feature `column=text`.
    Category,
    /// Sentences: each word is the feature `column^word`, and so is each run of words up to [`TableSchema::ngrams`].
    Text,
    /// Dates and times: hour, day of the week and of the month, week, month, two harmonics of the year, and years since 2000.
    Time,
    /// Two words such as yes and no, in any case; a cell is the feature `column=word` in lower case.
    Boolean,
    /// A different value in every row; not read.
    Identifier,
    /// One value in every row; not read.
    Constant,
    /// Missing in every row; not read.
    Empty,
    /// The index of a pandas frame; not read.
    Index,
    /// Not read because the user excluded it.
    Ignored,
}

impl Kind {
    /// Every kind with its name.
    pub const ALL: [(Kind, &'static str); 10] = [
        (Kind::Number, "number"),
        (Kind::Category, "category"),
        (Kind::Text, "text"),
        (Kind::Time, "time"),
        (Kind::Boolean, "boolean"),
        (Kind::Identifier, "identifier"),
        (Kind::Constant, "constant"),
        (Kind::Empty, "empty"),
        (Kind::Index, "index"),
        (Kind::Ignored, "ignored"),
    ];

    /// Whether cells of this kind become features.
    pub fn is_read(self) -> bool {
        matches!(self, Kind::Number | Kind::Category | Kind::Text | Kind::Time | Kind::Boolean)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::ALL.iter().find(|(kind, _)| kind == self).map_or("", |(_, name)| name))
    }
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL.iter().find(|(_, name)| *name == text).map(|(kind, _)| *kind).ok_or_else(|| {
            let names: Vec<_> = Self::ALL.iter().map(|(_, name)| *name).collect();
            format!("unknown kind {text:?}: the kinds are {}", names.join(", "))
        })
    }
}

/// One column of a [`TableSchema`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnKind {
    /// The column's name.
    pub name: String,
    /// Kind of its cells.
    pub kind: Kind,
    /// Form of numbers or dates, if it is not the plain one: an example such as `1.234,5`
    /// or `31/12/2000`.
    pub form: Option<String>,
    /// Texts among its numbers that are missing, beside those of [`TableSchema::missing`].
    pub missing: Vec<OddText>,
    /// The knots of the curve of a number column; empty for a line.
    pub knots: Points,
    /// The bounds between the bins of a number column that is in a pair.
    pub cuts: Points,
}

/// The kinds of a table's columns, and which of them is the label.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableSchema {
    /// The columns in the order of the table they were found in.
    pub columns: Vec<ColumnKind>,
    /// The label's column.
    pub label: Option<String>,
    /// The importance weight's column.
    pub weight: Option<String>,
    /// The cells that have no value, beside empty ones; `None` for the usual list (NA, N/A, null, None, nan, ? and
    /// their like).
    pub missing: Option<Vec<String>>,
    /// Longest run of words that is a feature of text columns; `None` for single words only.
    pub ngrams: Option<u8>,
    /// Pairs of columns whose values together are features: numbers by the bins of [`ColumnKind::cuts`], categories as they are.
    pub pairs: Vec<[String; 2]>,
    /// Information from the types of columns that the cells do not have.
    pub notes: TypeNotes,
}

impl TableSchema {
    /// The column of a name.
    pub fn column(&self, name: &str) -> Option<&ColumnKind> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// The places of the columns that a name, a number, a range, a pattern or `all` stands for.
    pub fn select(&self, asked: &str) -> Result<Vec<usize>, String> {
        let names: Vec<String> = self.columns.iter().map(|column| column.name.clone()).collect();
        select(&names, asked)
    }

    /// Checks what a person may have edited.
    pub fn check(&self) -> Result<(), Message> {
        for column in &self.columns {
            if let Some(form) = &column.form {
                let is_known = match column.kind {
                    Kind::Number => NumberForm::parse(form).is_some(),
                    Kind::Time => TimeForm::parse(form).is_some(),
                    _ => false,
                };
                if !is_known {
                    let (name, kind) = (&column.name, column.kind);
                    return Err(Message::new(format!(
                        "column {name:?} of kind {kind} has the unknown form {form:?}"
                    )));
                }
            }
            if !column.missing.is_empty() && column.kind != Kind::Number {
                let (name, kind) = (&column.name, column.kind);
                return Err(Message::new(format!(
                    "column {name:?} of kind {kind} has texts that are missing, which are for columns of numbers"
                )));
            }
        }
        self.check_curves()?;
        if let Some(n) = self.ngrams {
            check_ngrams(n)?;
            if !self.has_texts() {
                return Err(no_texts(n));
            }
        }
        let names = [&self.label, &self.weight];
        match names.into_iter().flatten().find(|name| self.column(name).is_none()) {
            Some(name) => Err(format!("the schema has no column {name:?}").into()),
            None => Ok(()),
        }
    }

    /// Checks knots, cuts and pairs.
    fn check_curves(&self) -> Result<(), Message> {
        for column in &self.columns {
            let has_points = !column.knots.is_empty() || !column.cuts.is_empty();
            let (name, kind) = (&column.name, column.kind);
            if has_points && kind != Kind::Number {
                return Err(Message::new(format!(
                    "column {name:?} of kind {kind} has knots or cuts, which are for columns of numbers"
                )));
            }
            if column.knots.values().len() == 1 {
                return Err(Message::new(format!(
                    "column {name:?} has one knot; a curve has two or more"
                )));
            }
        }
        if self.pairs.len() > MOST_PAIRS {
            let found = self.pairs.len();
            return Err(Message::new(format!("{found} pairs are more than {MOST_PAIRS}")));
        }
        let mut seen = rustc_hash::FxHashSet::default();
        for pair in &self.pairs {
            let [a, b] = pair;
            for name in pair {
                let why = match self.column(name).map(|column| column.kind) {
                    None => "is no column".to_owned(),
                    Some(_) if self.label.as_ref() == Some(name) => "is the label".to_owned(),
                    Some(Kind::Number | Kind::Category | Kind::Boolean) => continue,
                    Some(kind) => format!("is of kind {kind}, not a number or a category"),
                };
                return Err(Message::new(format!("the pair {a}:{b} names {name:?}, which {why}")));
            }
            if a == b || !seen.insert([a.min(b), a.max(b)]) {
                return Err(Message::new(format!(
                    "the pair {a}:{b} has one column, or is there twice"
                )));
            }
        }
        Ok(())
    }

    /// Whether a column has a curve, or columns are paired.
    pub fn has_curves(&self) -> bool {
        !self.pairs.is_empty() || self.columns.iter().any(|column| !column.knots.is_empty())
    }

    /// The schema without curves and pairs.
    #[must_use]
    pub fn without_curves(&self) -> Self {
        let mut plain = self.clone();
        plain.pairs.clear();
        for column in &mut plain.columns {
            (column.knots, column.cuts) = (Points::default(), Points::default());
        }
        plain
    }

    /// Whether a column is a text.
    pub(crate) fn has_texts(&self) -> bool {
        self.columns.iter().any(|c| c.kind == Kind::Text && Some(&c.name) != self.label.as_ref())
    }

    /// The schema for a table in which a cell contradicts the kind of a column: a number column that has a text
    /// is a category, an empty one is what the cell is. `None` if the column has no wider kind.
    #[must_use]
    pub fn widened(&self, column: &str, token: &str) -> Option<Self> {
        let mut wider = self.clone();
        let found = wider.columns.iter_mut().find(|c| c.name == column)?;
        found.kind = match found.kind {
            Kind::Empty if crate::number::whole(token.as_bytes()).is_some() => Kind::Number,
            Kind::Number | Kind::Time | Kind::Empty => Kind::Category,
            _ => return None,
        };
        found.form = None;
        found.missing.clear();
        (found.knots, found.cuts) = (Points::default(), Points::default());
        Some(wider)
    }
}

/// Refuses runs of no words or very many.
pub(crate) fn check_ngrams(n: u8) -> Result<(), String> {
    match (1..=MOST_NGRAMS).contains(&n) {
        true => Ok(()),
        false => Err(format!("ngrams must be 1 to {MOST_NGRAMS}, got {n}")),
    }
}

/// Words about runs of words where there are no texts.
fn no_texts(n: u8) -> Message {
    let fact = format!("has no column of text, and runs of {n} words are for texts");
    Message::new(fact).or(Remedy::NameTexts)
}

/// Ways to interpret the cells of tables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Kinds {
    /// Each cell on its own: a number is a number, anything else is a category.
    #[default]
    ByCell,
    /// By column: the first rows decide the kinds, and which column is the label.
    Found,
    /// By column, of kinds known before.
    Known(std::sync::Arc<TableSchema>),
}

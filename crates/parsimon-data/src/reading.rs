//! The reading of rows, as a model remembers it.

use crate::kinds::check_ngrams;
use crate::remedy::{Message, Remedy, Setting};
use crate::{Curves, DataError, Format, Kinds, Labels, Pairs, Space};

/// Whether the first record of a CSV or TSV file names its columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Header {
    /// It does when it holds the asked-for label column by name, or no number and no empty cell.
    #[default]
    Guess,
    /// It does.
    Present,
    /// It is data; columns are called `c1`, `c2`, ...
    Absent,
}

/// The reading of the rows of an input: format, feature space, and the role of each column.
///
/// ```
/// use parsimon_core::Chunk;
/// use parsimon_data::{Input, Labels, Reader, Reading};
///
/// // Two numeric columns, a text column, and a label of two texts.
/// let bytes = b"age,city,bought\n30,Paris,yes\n40,Lyon,no\n".to_vec();
/// let reading = Reading {
///     labels: Labels::Binary { negative: "no".into(), positive: "yes".into() },
///     label_column: Some("bought".into()),
///     ..Reading::default()
/// };
/// let input = Input::Bytes { name: "people.csv".into(), bytes };
/// let mut reader = Reader::open(&[input], &reading.into()).unwrap();
/// let mut chunk = Chunk::new();
/// while reader.read(&mut chunk).unwrap() {}
/// let names: Vec<_> = reader.names().iter().map(|(_, name)| name.to_owned()).collect();
/// assert_eq!(names.len(), 3);
/// assert!(names.contains(&"age".to_owned()) && names.contains(&"city=Lyon".to_owned()));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// The format; `None` recognizes it by the name of the input, else by its first bytes.
    pub format: Option<Format>,
    /// The feature space; `None` takes the space of the format ([`Format::default_space`]). List columns of
    /// Parquet and Arrow are ids by default, and a cache is as it was recorded.
    pub space: Option<Space>,
    /// The labels that are accepted.
    pub labels: Labels,
    /// Pairs and triples of namespaces whose features are multiplied: see [interactions](crate#interactions).
    pub interactions: Vec<Vec<String>>,
    /// The label's column by name, or by 1-based number in files without a header. `None`: see [`label_name`](crate::label_name).
    pub label_column: Option<String>,
    /// The importance weight's column; `None` recognizes it by name.
    pub weight_column: Option<String>,
    /// Columns that are not features.
    pub ignore: Vec<String>,
    /// Columns whose numbers are categories: `hour=14`, not `hour` with value 14.
    pub categories: Vec<String>,
    /// Columns that are numbers, whatever their cells are.
    pub numbers: Vec<String>,
    /// Columns whose words are features.
    pub texts: Vec<String>,
    /// Columns to be read that would be left out as identifiers or constants.
    pub keep: Vec<String>,
    /// How the cells of CSV, TSV, Parquet and Arrow tables are interpreted. Under [`Kinds::Found`] the columns named here
    /// are names, numbers, ranges (`15-40`, `c15..c40`), patterns (`C*`) or `all`.
    pub kinds: Kinds,
    /// Words for a cell without a value, beside the usual ones: see [`TableSchema::missing`](crate::TableSchema::missing).
    pub missing: Vec<String>,
    /// The longest run of words that is a feature of a text column: see [`TableSchema::ngrams`](crate::TableSchema::ngrams).
    pub ngrams: Option<u8>,
    /// The number columns that have a curve. A [`Job`](https://docs.rs/parsimon) puts the knots into the schema; a [`Reader`](crate::Reader)
    /// makes the features of a schema's knots.
    pub curves: Curves,
    /// The pairs of columns that are features, likewise.
    pub pairs: Pairs,
    /// Whether number cells of tables are kept apart from the features ([`Chunk::numbers`](parsimon_core::Chunk::numbers)),
    /// for a learner that standardizes them by column.
    pub numbers_apart: bool,
    /// Whether CSV and TSV files have a header.
    pub header: Header,
    /// The separator of the cells of CSV files: one byte of ASCII. `None` recognizes it by the first rows.
    pub separator: Option<u8>,
}

impl Default for Reading {
    fn default() -> Self {
        Self {
            format: None,
            space: None,
            labels: Labels::binary(),
            interactions: Vec::new(),
            label_column: None,
            weight_column: None,
            ignore: Vec::new(),
            categories: Vec::new(),
            numbers: Vec::new(),
            texts: Vec::new(),
            keep: Vec::new(),
            kinds: Kinds::ByCell,
            missing: Vec::new(),
            ngrams: None,
            curves: Curves::ByMethod,
            pairs: Pairs::ByMethod,
            numbers_apart: false,
            header: Header::Guess,
            separator: None,
        }
    }
}

impl Reading {
    pub(crate) fn check(&self) -> Result<(), DataError> {
        if let Some(space) = self.space {
            space.check()?;
        }
        if let Some(separator) = self.separator
            && (!separator.is_ascii()
                || separator.is_ascii_alphanumeric()
                || b"\"\r\n.+-".contains(&separator))
        {
            return Err(DataError::setting(format!(
                "the separator of cells must be a sign such as ; or |, got {:?}",
                char::from(separator)
            )));
        }
        if let Some(odd) = self.interactions.iter().find(|set| !(2..=3).contains(&set.len())) {
            return Err(DataError::setting(format!(
                "an interaction has 2 or 3 namespaces, got {odd:?}"
            )));
        }
        if let Some(n) = self.ngrams {
            check_ngrams(n).map_err(DataError::setting)?;
        }
        if let Some(setting) = self.settings_of_kinds().filter(|_| self.kinds == Kinds::ByCell) {
            let fact = "each cell is read by itself, and columns have no kinds";
            let message = Message::new(fact).or(Remedy::LeaveOut(setting)).or(Remedy::FindKinds);
            return Err(DataError::setting(message));
        }
        Ok(())
    }

    /// The first setting that is used and that only columns with kinds have.
    pub(crate) fn settings_of_kinds(&self) -> Option<Setting> {
        let given = [
            (Setting::Numbers, !self.numbers.is_empty()),
            (Setting::Texts, !self.texts.is_empty()),
            (Setting::Keep, !self.keep.is_empty()),
            (Setting::Missing, !self.missing.is_empty()),
            (Setting::Ngrams, self.ngrams.is_some()),
        ];
        given.iter().find(|(_, given)| *given).map(|(setting, _)| *setting)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_that_contradicts_itself_is_refused() {
        let refused = |reading: Reading| reading.check().unwrap_err().to_string();
        let space = Some(Space::Hashed { bits: 40 });
        assert_eq!(
            refused(Reading { space, ..Reading::default() }),
            "hash bits must be 1 to 31, got 40"
        );
        let interactions = vec![vec!["a".to_owned()]];
        assert_eq!(
            refused(Reading { interactions, ..Reading::default() }),
            "an interaction has 2 or 3 namespaces, got [\"a\"]"
        );
        let separator = Some(b'x');
        assert!(refused(Reading { separator, ..Reading::default() }).ends_with("got 'x'"));
    }
}

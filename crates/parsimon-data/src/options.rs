//! What to read and how: inputs, formats, feature spaces, options.

use std::collections::HashSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use crate::kinds::check_ngrams;
use crate::{DataError, Kinds, Labels, Stop};

/// A format of examples.
///
/// ```
/// use parsimon_data::Format;
///
/// assert_eq!("libsvm".parse(), Ok(Format::Svmlight));
/// assert_eq!(Format::Jsonl.to_string(), "jsonl");
/// assert_eq!(
///     "xml".parse::<Format>().unwrap_err(),
///     "unknown format \"xml\": svmlight, vw, csv, tsv, jsonl, parquet, arrow or cache"
/// );
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// `label index:value ...`, also known as libsvm and libfm.
    Svmlight,
    /// Vowpal Wabbit's text: `label importance 'tag|namespace feature:value ...`.
    Vw,
    /// Comma-separated values, RFC 4180.
    Csv,
    /// Tab-separated values, without quotes.
    Tsv,
    /// One JSON object per line.
    Jsonl,
    /// Apache Parquet.
    Parquet,
    /// Apache Arrow IPC, file or stream.
    Arrow,
    /// This project's own binary cache.
    Cache,
}

impl Format {
    /// Every format with its name.
    pub const ALL: [(Format, &'static str); 8] = [
        (Format::Svmlight, "svmlight"),
        (Format::Vw, "vw"),
        (Format::Csv, "csv"),
        (Format::Tsv, "tsv"),
        (Format::Jsonl, "jsonl"),
        (Format::Parquet, "parquet"),
        (Format::Arrow, "arrow"),
        (Format::Cache, "cache"),
    ];

    /// The feature space of a format when none is asked for.
    ///
    /// A cache records its own; this is then not asked.
    pub fn default_space(self) -> Space {
        match self {
            Format::Svmlight | Format::Cache => Space::Ids,
            _ => Space::Hashed { bits: Space::DEFAULT_BITS },
        }
    }

    /// Whether rows are lines of text that can be cut into blocks.
    pub(crate) fn is_text(self) -> bool {
        !matches!(self, Format::Parquet | Format::Arrow | Format::Cache)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::ALL.iter().find(|(format, _)| format == self).map_or("", |(_, name)| name);
        f.write_str(name)
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "libsvm" | "libfm" | "svm" => Ok(Format::Svmlight),
            "json" | "ndjson" => Ok(Format::Jsonl),
            "ipc" | "feather" => Ok(Format::Arrow),
            _ => Self::ALL.iter().find(|(_, name)| *name == text).map(|&(format, _)| format).ok_or_else(|| {
                format!("unknown format {text:?}: svmlight, vw, csv, tsv, jsonl, parquet, arrow or cache")
            }),
        }
    }
}

/// Where features live.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// Integer ids, kept as they are: 0 to [`Space::LARGEST_ID`].
    Ids,
    /// Names hashed into `2^bits` slots; `bits` is 1 to 31.
    Hashed {
        /// The logarithm of the number of slots.
        bits: u8,
    },
}

impl Space {
    /// The largest id.
    pub const LARGEST_ID: u32 = u32::MAX - 1;

    /// The number of bits when features are hashed and nobody says into how many slots.
    pub const DEFAULT_BITS: u8 = 22;

    /// Refuses a number of bits that no space has.
    pub fn check(self) -> Result<(), DataError> {
        match self {
            Space::Hashed { bits } if !(1..=31).contains(&bits) => {
                Err(DataError::setting(format!("hash bits must be 1 to 31, got {bits}")))
            }
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Space::Ids => f.write_str("ids"),
            Space::Hashed { bits } => write!(f, "hashed into 2^{bits} slots"),
        }
    }
}

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

/// Somewhere bytes come from.
///
/// Each may be compressed with gzip, zstd or bzip2; the first bytes tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// A file. Its name's ending tells the format, before or after `.gz`, `.zst` or `.bz2`.
    Path(PathBuf),
    /// Standard input.
    Stdin,
    /// Bytes in memory.
    Bytes {
        /// What messages call them; its ending tells the format, as a path's does.
        name: String,
        /// The bytes.
        bytes: Vec<u8>,
    },
}

impl Input {
    /// What messages call the input.
    pub fn name(&self) -> String {
        match self {
            Input::Path(path) => path.display().to_string(),
            Input::Stdin => "stdin".to_owned(),
            Input::Bytes { name, .. } => name.clone(),
        }
    }

    /// Whether the input can be read once only, as standard input and pipes.
    pub fn is_read_once(&self) -> bool {
        match self {
            Input::Path(path) => path.metadata().is_ok_and(|m| !m.is_file() && !m.is_dir()),
            Input::Stdin => true,
            Input::Bytes { .. } => false,
        }
    }

    /// The path of a file.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Input::Path(path) => Some(path),
            Input::Stdin | Input::Bytes { .. } => None,
        }
    }
}

impl<P: Into<PathBuf>> From<P> for Input {
    fn from(path: P) -> Self {
        Input::Path(path.into())
    }
}

/// How to read.
///
/// ```
/// use parsimon_core::Chunk;
/// use parsimon_data::{Input, Labels, Options, Reader};
///
/// // Two numeric columns, a text column, and a label of two texts.
/// let bytes = b"age,city,bought\n30,Paris,yes\n40,Lyon,no\n".to_vec();
/// let options = Options {
///     labels: Labels::Binary { negative: "no".into(), positive: "yes".into() },
///     label_column: Some("bought".into()),
///     ..Options::default()
/// };
/// let input = Input::Bytes { name: "people.csv".into(), bytes };
/// let mut reader = Reader::open(&[input], &options).unwrap();
/// let mut chunk = Chunk::new();
/// while reader.read(&mut chunk).unwrap() {}
/// let names: Vec<_> = reader.names().iter().map(|(_, name)| name.to_owned()).collect();
/// assert_eq!(names.len(), 3);
/// assert!(names.contains(&"age".to_owned()) && names.contains(&"city=Lyon".to_owned()));
/// ```
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a choice of its own, and named where it is made"
)]
#[derive(Clone, Debug)]
pub struct Options {
    /// The format; `None` finds out from the name, else from the first bytes.
    pub format: Option<Format>,
    /// The feature space; `None` takes the format's own ([`Format::default_space`]). List columns of
    /// Parquet and Arrow are ids by default, and a cache is as it was recorded.
    pub space: Option<Space>,
    /// What labels may be.
    pub labels: Labels,
    /// Pairs and triples of namespaces whose features are multiplied: see [interactions](crate#interactions).
    pub interactions: Vec<Vec<String>>,
    /// Whether an interaction of a namespace that no row has is an error, once all rows were read. Columns of tables are
    /// checked in any case, before the first row.
    pub needs_namespaces: bool,
    /// How many bad rows are passed over before one is an error.
    pub skip_bad: u64,
    /// How many threads parse; up to 1 means the calling thread does everything.
    pub threads: usize,
    /// The label's column by name, or by 1-based number in files without a header. `None`: a column
    /// called label, target, y, click or class in any case, else the first.
    pub label_column: Option<String>,
    /// The importance weight's column. `None`: a column called weight, importance or
    /// `sample_weight`, if there is one.
    pub weight_column: Option<String>,
    /// Columns that are not features.
    pub ignored_columns: Vec<String>,
    /// Columns whose numbers are categories: `hour=14`, not `hour` with value 14.
    pub text_columns: Vec<String>,
    /// How the cells of CSV, TSV, Parquet and Arrow tables are understood. Under [`Kinds::Found`] the columns named here
    /// are names, numbers, ranges (`15-40`, `c15..c40`), patterns (`C*`) or `all`.
    pub kinds: Kinds,
    /// Columns that are numbers, whatever they look like.
    pub number_columns: Vec<String>,
    /// Columns whose words are features.
    pub word_columns: Vec<String>,
    /// Columns to be read that would be left out as identifiers or constants.
    pub kept_columns: Vec<String>,
    /// Words for a cell without a value, beside the usual ones: see [`TableSchema::missing`](crate::TableSchema::missing).
    pub missing: Vec<String>,
    /// Runs of up to so many words are features of text columns: see [`TableSchema::ngrams`](crate::TableSchema::ngrams).
    pub ngrams: Option<u8>,
    /// Whether a cell that contradicts the kind of its column is missing and counted
    /// ([`Reader::unfit_cells`](crate::Reader::unfit_cells)); otherwise its row is bad.
    pub unfit_is_missing: bool,
    /// Whether number cells of tables stay apart from the features ([`Chunk::numbers`](parsimon_core::Chunk::numbers)),
    /// for a learner that standardizes them by column.
    pub numbers_apart: bool,
    /// Whether the label must be found by its name: of the first rows of JSON files one must have it, and in tables that a
    /// [`RowParser`](crate::RowParser) reads the first column is not taken for it.
    pub needs_label: bool,
    /// Whether CSV and TSV files have a header.
    pub header: Header,
    /// What separates the cells of CSV files: one byte of ASCII. `None` finds out from the first rows.
    pub separator: Option<u8>,
    /// The most rows in a chunk.
    pub chunk_rows: usize,
    /// The largest magnitude of a value or label; beyond it a row is bad. At most 1e250.
    pub max_value: f64,
    /// Whether to remember the names of hashed features.
    pub keep_names: bool,
    /// The slots whose names are remembered, the first of each; `None` for all names of all slots.
    pub named_slots: Option<Arc<HashSet<u32>>>,
    /// The flag by which a person named a column (`label-column`, `weight-column`): data without columns is then refused. A model
    /// may name columns, too, and its rows come from anywhere.
    pub asked_column: Option<&'static str>,
    /// Columns (in JSON, fields) whose cells travel with each row as text, whether they are features or not: names, numbers,
    /// ranges, patterns or `all`. [`Carried`](crate::Carried) reads them.
    pub carried_columns: Vec<String>,
    /// Whether the places of skipped rows are kept, for [`Reader::skipped_before`](crate::Reader::skipped_before).
    pub mark_skipped: bool,
    /// Ends reading early; `None` reads to the end.
    pub stop: Option<Stop>,
    /// The field of JSON rows that identifies a row: a text or a whole number. It becomes the row's tag and is no feature.
    pub id_field: Option<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            format: None,
            space: None,
            labels: Labels::binary(),
            interactions: Vec::new(),
            needs_namespaces: false,
            skip_bad: 0,
            threads: 1,
            label_column: None,
            weight_column: None,
            ignored_columns: Vec::new(),
            text_columns: Vec::new(),
            kinds: Kinds::ByCell,
            number_columns: Vec::new(),
            word_columns: Vec::new(),
            kept_columns: Vec::new(),
            missing: Vec::new(),
            ngrams: None,
            unfit_is_missing: false,
            numbers_apart: false,
            needs_label: false,
            header: Header::Guess,
            separator: None,
            chunk_rows: 1024,
            max_value: 1e100,
            keep_names: true,
            named_slots: None,
            asked_column: None,
            carried_columns: Vec::new(),
            mark_skipped: false,
            stop: None,
            id_field: None,
        }
    }
}

impl Options {
    pub(crate) fn check(&self) -> Result<(), DataError> {
        if let Some(space) = self.space {
            space.check()?;
        }
        if self.chunk_rows == 0 {
            return Err(DataError::setting("chunk rows must be at least 1, got 0"));
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
        // The bound keeps room for the codes of text labels, and for sums of repeated features.
        if !(self.max_value > 0.0 && self.max_value <= 1e250) {
            let got = self.max_value;
            return Err(DataError::setting(format!(
                "the largest value must be above 0 and at most 1e250, got {got:e}"
            )));
        }
        if let Some(odd) = self.interactions.iter().find(|set| !(2..=3).contains(&set.len())) {
            return Err(DataError::setting(format!(
                "an interaction has 2 or 3 namespaces, got {odd:?}"
            )));
        }
        if let Some(n) = self.ngrams {
            check_ngrams(n).map_err(|words| DataError::setting(format!("--{words}")))?;
        }
        if let Some(flag) = self.flags_of_kinds().filter(|_| self.kinds == Kinds::ByCell) {
            return Err(DataError::setting(format!(
                "--{flag} is for tables whose columns have kinds; it does nothing where each cell is read by itself (--kinds cell, --no-hash)"
            )));
        }
        Ok(())
    }

    /// The first option that only columns with kinds have, by the name of its flag.
    pub(crate) fn flags_of_kinds(&self) -> Option<&'static str> {
        let given = [
            ("numbers", !self.number_columns.is_empty()),
            ("texts", !self.word_columns.is_empty()),
            ("keep", !self.kept_columns.is_empty()),
            ("missing", !self.missing.is_empty()),
            ("ngrams", self.ngrams.is_some()),
        ];
        given.iter().find(|(_, given)| *given).map(|(flag, _)| *flag)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_formats_round_trip() {
        for (format, name) in Format::ALL {
            assert_eq!(name.parse(), Ok(format));
            assert_eq!(format.to_string(), name);
        }
        assert_eq!("ndjson".parse(), Ok(Format::Jsonl));
    }

    #[test]
    fn options_that_cannot_be_are_refused() {
        let refused = |options: Options| options.check().unwrap_err().to_string();
        let space = Some(Space::Hashed { bits: 32 });
        assert_eq!(
            refused(Options { space, ..Options::default() }),
            "hash bits must be 1 to 31, got 32"
        );
        assert_eq!(
            refused(Options { max_value: f64::NAN, ..Options::default() }),
            "the largest value must be above 0 and at most 1e250, got NaN"
        );
        let interactions = vec![vec!["a".to_owned()]];
        assert_eq!(
            refused(Options { interactions, ..Options::default() }),
            "an interaction has 2 or 3 namespaces, got [\"a\"]"
        );
        assert!(Options { chunk_rows: 0, ..Options::default() }.check().is_err());
    }
}

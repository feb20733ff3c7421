//! Flags of the data and its reading.

use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use parsimon::InputSchema;
use parsimon::data::{Ask, Bounds, Format, Input, Kinds, Labels, Options, Reading, Run, Space};
use parsimon::settings::Precision;
use parsimon::survey::schema_from_json;
use parsimon::workspace::{Curves, Header, Kind, Pairs, Setting};

use super::Contradiction;
use super::number;
use crate::fault::Fault;

/// Reason why a model needs no flags for reading.
pub(crate) const BY_MODEL: &str = "is an option of train; the model defines how features are read";

/// What to read and how.
#[derive(Clone, Debug, Args)]
pub(crate) struct DataArgs {
    /// Data files of one format, plain or compressed (- for standard input)
    #[arg(value_name = "DATA", required_unless_present = "more_data")]
    inputs: Vec<PathBuf>,
    /// The data, as a flag
    #[arg(short = 'd', long = "data", value_name = "DATA", id = "more_data", hide = true)]
    more_inputs: Vec<PathBuf>,
    /// Format of the data: svmlight, vw, csv, tsv, json, parquet, arrow or cache [default: detected]
    #[arg(long, value_name = "FORMAT", help_heading = "Data")]
    format: Option<Format>,
    /// Use integer feature ids without hashing; feature names are refused
    #[arg(long, help_heading = "Data")]
    no_hash: bool,
    /// Hash features into 2^BITS slots [default: 22 for names]
    #[arg(
        short = 'b',
        long,
        value_name = "BITS",
        conflicts_with = "no_hash",
        value_parser = number::whole::<u8>,
        help_heading = "Data"
    )]
    bits: Option<u8>,
    /// Do not store the names of hashed features in the model
    #[arg(long, help_heading = "Data")]
    no_names: bool,
    /// Add products of the features of two or three namespaces, given by their first letters; : is any namespace, as in -q a:
    /// (may be repeated)
    #[arg(short = 'q', value_name = "AB", help_heading = "Data")]
    quadratic: Vec<String>,
    /// Add products of namespaces given by name or pattern, such as user,site or 'c*,d*'; each column of a table is a namespace (may be repeated)
    #[arg(long, value_name = "NAMES", help_heading = "Data")]
    interactions: Vec<String>,
    /// Column of the label: a name, a number from 1, or last [default: label, target, click, class, outcome or y, else the last
    /// column if it has two values]
    #[arg(long, aliases = ["label", "target"], value_name = "COLUMN", allow_negative_numbers = true, help_heading = "Data")]
    pub(crate) label_column: Option<String>,
    /// Column of the importance weight [default: sample_weight, importance or example_weight; none for no column]
    #[arg(long, value_name = "COLUMN", help_heading = "Data")]
    pub(crate) weight_column: Option<String>,
    /// Columns to leave out: names, numbers, ranges (15-40, c15..c40), patterns (C*) or all
    #[arg(
        long = "ignore",
        alias = "ignore-columns",
        value_name = "COLUMNS",
        value_delimiter = ',',
        help_heading = "Data"
    )]
    ignore_columns: Vec<String>,
    /// Columns to read as categories, such as codes that look like numbers
    #[arg(
        long = "categories",
        alias = "text-columns",
        value_name = "COLUMNS",
        value_delimiter = ',',
        help_heading = "Data"
    )]
    text_columns: Vec<String>,
    /// Columns to read as numbers
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', help_heading = "Data")]
    numbers: Vec<String>,
    /// Columns to read as text: each word is a feature
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', help_heading = "Data")]
    texts: Vec<String>,
    /// Columns to keep that would be left out as identifiers or constants
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', help_heading = "Data")]
    keep: Vec<String>,
    /// Cells to treat as missing, such as -999,unknown, in addition to empty cells, NA, N/A, null, None, NaN and ?
    #[arg(
        long,
        value_name = "TOKENS",
        value_delimiter = ',',
        allow_hyphen_values = true,
        help_heading = "Data"
    )]
    missing: Vec<String>,
    /// Use runs of 1 to N words of text columns as features [default: 1]
    #[arg(long, value_name = "N", value_parser = number::whole::<u8>, help_heading = "Data")]
    ngrams: Option<u8>,
    /// Number columns with a curve: names, 8 or 16 (knots of all columns), auto or none [default: auto for method auto, else none]
    #[arg(long, value_name = "COLUMNS", value_parser = Curves::parse, help_heading = "Data")]
    curves: Option<Curves>,
    /// Pairs of columns whose values together are features: a:b,c:d, auto or none [default: auto for method auto, else none]
    #[arg(long, value_name = "PAIRS", value_parser = Pairs::parse, help_heading = "Data")]
    pairs: Option<Pairs>,
    /// File with the kinds of the columns, written by `parsimon schema` [default: detected from the first 10,000 rows]
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    pub(crate) schema: Option<PathBuf>,
    /// Read cells by the kind of their column, or each cell by itself
    #[arg(long, value_enum, default_value = "column", value_name = "BY", help_heading = "Data")]
    kinds: KindsArg,
    /// Whether the first line of a CSV or TSV file has the names of the columns
    #[arg(long, value_enum, default_value = "guess", help_heading = "Data")]
    header: HeaderArg,
    /// Sign between the cells of a CSV file: one character, or tab [default: detected]
    #[arg(long, aliases = ["delimiter", "sep"], value_name = "CHAR", value_parser = separator, help_heading = "Data")]
    separator: Option<u8>,
    /// Skip up to ROWS malformed rows
    #[arg(long, value_name = "ROWS", default_value_t = 0, value_parser = number::whole::<u64>, help_heading = "Data")]
    skip_bad: u64,
    /// Number of parser threads (does not change the result) [default: cores + 1, at most 8]
    #[arg(long, value_name = "N", value_parser = number::whole::<usize>, help_heading = "Data")]
    threads: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum HeaderArg {
    Guess,
    Present,
    Absent,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum KindsArg {
    /// By the kind of the column
    Column,
    /// Each cell by itself: numbers are numbers, anything else is a category
    Cell,
}

/// One character of ASCII, or its name.
fn separator(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"tab" | b"\\t" => Ok(b'\t'),
        [one] if !one.is_ascii_alphanumeric() => Ok(*one),
        _ => Err("it must be one sign such as ; or |, or tab".to_owned()),
    }
}

/// Parsing takes longer than learning: every core may parse, and one more keeps them busy while rows are learned.
fn default_threads() -> usize {
    std::thread::available_parallelism().map_or(1, |n| (n.get() + 1).min(8))
}

/// `-` is standard input.
pub(crate) fn inputs(paths: &[PathBuf]) -> Vec<Input> {
    let input = |path: &PathBuf| match path.as_os_str() == "-" {
        true => Input::Stdin,
        false => Input::Path(path.clone()),
    };
    paths.iter().map(input).collect()
}

impl DataArgs {
    pub(crate) fn inputs(&self) -> Vec<Input> {
        let mut all = inputs(&self.inputs);
        all.extend(inputs(&self.more_inputs));
        all
    }

    /// The flags that read the same data in the same way.
    pub(crate) fn words(&self) -> Vec<String> {
        let mut words: Vec<String> = self
            .inputs
            .iter()
            .chain(&self.more_inputs)
            .map(|path| path.display().to_string())
            .collect();
        let mut flag = |name: &str, value: String| words.extend([name.to_owned(), value]);
        self.format.iter().for_each(|f| flag("--format", f.to_string()));
        self.bits.iter().for_each(|bits| flag("--bits", bits.to_string()));
        self.quadratic.iter().for_each(|q| flag("-q", q.clone()));
        self.interactions.iter().for_each(|names| flag("--interactions", names.clone()));
        self.label_column.iter().for_each(|c| flag("--label-column", c.clone()));
        self.weight_column.iter().for_each(|c| flag("--weight-column", c.clone()));
        for (name, columns) in self.column_lists() {
            if !columns.is_empty() {
                flag(name, columns.join(","));
            }
        }
        self.ngrams.iter().for_each(|n| flag("--ngrams", n.to_string()));
        self.curves.iter().for_each(|curves| flag("--curves", curves.to_string()));
        self.pairs.iter().for_each(|pairs| flag("--pairs", pairs.to_string()));
        self.schema.iter().for_each(|path| flag("--schema", path.display().to_string()));
        if self.kinds == KindsArg::Cell {
            flag("--kinds", "cell".into());
        }
        match self.header {
            HeaderArg::Guess => {}
            HeaderArg::Present => flag("--header", "present".into()),
            HeaderArg::Absent => flag("--header", "absent".into()),
        }
        self.separator.iter().for_each(|&separator| {
            let word = if separator == b'\t' { "tab".into() } else { char::from(separator).into() };
            flag("--separator", word);
        });
        if self.skip_bad > 0 {
            flag("--skip-bad", self.skip_bad.to_string());
        }
        let switches = [("--no-hash", self.no_hash), ("--no-names", self.no_names)];
        words.extend(switches.iter().filter(|s| s.1).map(|s| s.0.to_owned()));
        words
    }

    /// Refuses a list of columns that is cut at a blank: the next word is then taken for a file, which does not exist.
    fn check_lists(&self) -> Result<(), Fault> {
        let lists = || self.column_lists().into_iter().filter(|(_, list)| !list.is_empty());
        let is_word = |path: &&PathBuf| {
            let text = path.to_str().unwrap_or_default();
            text != "-" && !text.contains(['/', '\\', '.']) && !path.exists()
        };
        match (lists().next(), self.inputs.iter().find(is_word)) {
            (Some((flag, list)), Some(word)) => Err(Fault::Usage(format!(
                "there is no file {0}; if it is another value of {flag}, separate the values with commas: {flag} {1},{0}",
                word.display(),
                list.join(",")
            ))),
            _ => Ok(()),
        }
    }

    /// The flags that list columns or cells.
    fn column_lists(&self) -> [(&'static str, &[String]); 6] {
        [
            ("--ignore", &self.ignore_columns),
            ("--categories", &self.text_columns),
            ("--numbers", &self.numbers),
            ("--texts", &self.texts),
            ("--keep", &self.keep),
            ("--missing", &self.missing),
        ]
    }

    /// Returns the way in which cells of tables are read.
    fn kinds(&self) -> Result<Kinds, Fault> {
        let given = self.column_lists().into_iter().find(|(_, columns)| !columns.is_empty());
        match (&self.schema, self.kinds, given) {
            (Some(_), KindsArg::Cell, _) => Err(Fault::Usage(
                "--schema has the kinds of columns; --kinds cell ignores them".into(),
            )),
            (Some(_), _, Some((flag, _))) => Err(Fault::Usage(format!(
                "--schema has the kinds of all columns; edit the file instead of passing {flag}"
            ))),
            (Some(_), ..) if self.ngrams.is_some() => Err(Fault::Usage(
                "--schema has the longest run of words; set \"ngrams\" in the file instead of passing --ngrams"
                    .into(),
            )),
            (Some(_), ..) if self.curves.is_some() || self.pairs.is_some() => Err(Fault::Usage(
                "--schema has the curves and pairs; edit \"knots\" and \"pairs\" in the file instead of passing --curves or --pairs"
                    .into(),
            )),
            (Some(path), ..) => {
                let text = parsimon_files::read_text(path)?;
                let schema = schema_from_json(&text).map_err(|e| {
                    let way = "`parsimon schema DATA` writes one";
                    Fault::Input(format!("{}: is not a valid schema: {e}; {way}", path.display()))
                })?;
                Ok(Kinds::Known(Arc::new(schema)))
            }
            (None, KindsArg::Cell, _) => Ok(Kinds::ByCell),
            (None, KindsArg::Column, _) => Ok(Kinds::Found),
        }
    }

    /// Refuses flags about the reading of features, with the reason.
    pub(crate) fn refuse_reading(&self, reason: &str) -> Result<(), Fault> {
        let given = [
            ("--no-hash", self.no_hash),
            ("--bits", self.bits.is_some()),
            ("--no-names", self.no_names),
            ("-q", !self.quadratic.is_empty()),
            ("--interactions", !self.interactions.is_empty()),
            ("--schema", self.schema.is_some()),
            ("--ngrams", self.ngrams.is_some()),
            ("--curves", self.curves.is_some()),
            ("--pairs", self.pairs.is_some()),
            ("--kinds", self.kinds == KindsArg::Cell),
        ];
        let lists = self.column_lists().map(|(flag, columns)| (flag, !columns.is_empty()));
        match given.iter().chain(&lists).find(|(_, given)| *given) {
            Some((flag, _)) => Err(Fault::Usage(format!("{flag} {reason}"))),
            None => Ok(()),
        }
    }

    /// The first flag that reads rows differently than a learner has read them.
    pub(crate) fn contradiction(
        &self,
        schema: &InputSchema,
    ) -> Result<Option<Contradiction>, Fault> {
        let bits = match schema.bits {
            Some(bits) => format!("--bits {bits}"),
            None => "--no-hash".to_owned(),
        };
        if let Some(given) = self.bits.filter(|given| Some(*given) != schema.bits) {
            return Ok(Some(Contradiction::new("--bits", given, bits)));
        }
        if self.no_hash && schema.bits.is_some() {
            return Ok(Some(Contradiction::new("--no-hash", "", bits)));
        }
        let given = self.interactions()?;
        if !given.is_empty() && given != schema.interactions {
            let flag = if self.interactions.is_empty() { "-q" } else { "--interactions" };
            let listed = |sets: &[Vec<String>]| {
                sets.iter().map(|set| set.join(",")).collect::<Vec<_>>().join(" and ")
            };
            let stored = match &schema.interactions[..] {
                [] => "no interactions".to_owned(),
                stored => format!("interactions {}", listed(stored)),
            };
            return Ok(Some(Contradiction::new(flag, listed(&given), stored)));
        }
        let weight = schema.table.as_ref().and_then(|table| table.weight.as_ref());
        let weight = schema.weight_column.as_ref().or(weight);
        if let Some(given) = self.weight_column.as_ref().filter(|given| Some(*given) != weight) {
            let stored = weight.map_or("no weight column".into(), |w| format!("weight column {w}"));
            return Ok(Some(Contradiction::new("--weight-column", given, stored)));
        }
        if self.kinds == KindsArg::Cell && schema.table.is_some() {
            return Ok(Some(Contradiction::new("--kinds", "cell", "kinds of columns")));
        }
        if let (Some(path), Kinds::Known(given)) = (&self.schema, self.kinds()?)
            && schema.table.as_ref() != Some(&*given)
        {
            let stored = "other kinds of columns";
            return Ok(Some(Contradiction::new("--schema", path.display(), stored)));
        }
        let ngrams = schema.table.as_ref().and_then(|table| table.ngrams).unwrap_or(1);
        if let Some(given) = self.ngrams.filter(|given| *given != ngrams) {
            return Ok(Some(Contradiction::new("--ngrams", given, format!("--ngrams {ngrams}"))));
        }
        let table = schema.table.as_ref();
        let has_knots = table.is_some_and(|t| t.columns.iter().any(|c| !c.knots.is_empty()));
        let has_pairs = table.is_some_and(|table| !table.pairs.is_empty());
        if let Some(given) = &self.curves
            && (*given == Curves::None) == has_knots
        {
            let stored = if has_knots { "curves" } else { "lines alone" };
            return Ok(Some(Contradiction::new("--curves", given, stored)));
        }
        if let Some(given) = &self.pairs
            && (*given == Pairs::None) == has_pairs
        {
            let stored = if has_pairs { "pairs" } else { "no pairs" };
            return Ok(Some(Contradiction::new("--pairs", given, stored)));
        }
        Ok(self.column_contradiction(schema))
    }

    /// The first column that a flag gives another kind than it had.
    fn column_contradiction(&self, schema: &InputSchema) -> Option<Contradiction> {
        let Some(table) = &schema.table else {
            let same = |flag: &str, columns: &[String]| match flag {
                "--ignore" => schema.ignored_columns == columns,
                "--categories" => schema.text_columns == columns,
                _ => false,
            };
            let mut lists = self.column_lists().into_iter().filter(|(_, list)| !list.is_empty());
            let (flag, columns) = lists.find(|(flag, columns)| !same(flag, columns))?;
            return Some(Contradiction::new(flag, columns.join(","), "cells read one by one"));
        };
        let is_missing = |token: &String| table.missing.as_ref().is_some_and(|m| m.contains(token));
        if !self.missing.iter().all(is_missing) {
            let stored = "other cells without a value";
            return Some(Contradiction::new("--missing", self.missing.join(","), stored));
        }
        // As the survey reads the flags: the later of these before the earlier, and a column by itself before `all`.
        let wishes = [
            ("--keep", &self.keep, None),
            ("--numbers", &self.numbers, Some(Kind::Number)),
            ("--categories", &self.text_columns, Some(Kind::Category)),
            ("--texts", &self.texts, Some(Kind::Text)),
            ("--ignore", &self.ignore_columns, Some(Kind::Ignored)),
        ];
        let mut wished = vec![None; table.columns.len()];
        for (flag, columns, kind) in wishes {
            for asked in columns {
                let Ok(selected) = table.select(asked) else {
                    let stored = format!("a table that has no column {asked}");
                    return Some(Contradiction::new(flag, asked, stored));
                };
                for column in selected {
                    if asked != "all" || wished[column].is_none_or(|(_, asked, _)| asked == "all") {
                        wished[column] = Some((flag, asked.as_str(), kind));
                    }
                }
            }
        }
        let roles = [table.label.as_deref(), table.weight.as_deref()];
        table.columns.iter().zip(wished).find_map(|(column, wish)| {
            let (flag, asked, kind) = wish?;
            let same = kind.map_or(column.kind.is_read(), |kind| kind == column.kind);
            let is_role = roles.contains(&Some(column.name.as_str()));
            (!same && !is_role).then(|| {
                Contradiction::new(flag, asked, format!("{} as {}", column.name, column.kind))
            })
        })
    }

    /// The options, but for the labels, which depend on the task.
    pub(crate) fn options(&self, precision: Precision) -> Result<Options, Fault> {
        self.check_lists()?;
        let interactions = self.interactions()?;
        if let Some(bits) = self.bits.filter(|bits| !(1..=31).contains(bits)) {
            return Err(Fault::Usage(format!("--bits must be 1 to 31, got {bits}")));
        }
        Ok(Options {
            reading: Reading {
                format: self.format,
                space: match (self.no_hash, self.bits) {
                    (true, _) => Some(Space::Ids),
                    (false, bits) => bits.map(|bits| Space::Hashed { bits }),
                },
                labels: Labels::Any,
                interactions,
                label_column: self.label_column.clone(),
                weight_column: self.weight_column.clone(),
                ignore: self.ignore_columns.clone(),
                categories: self.text_columns.clone(),
                kinds: self.kinds()?,
                numbers: self.numbers.clone(),
                texts: self.texts.clone(),
                keep: self.keep.clone(),
                missing: self.missing.clone(),
                ngrams: self.ngrams,
                curves: self.curves.clone().unwrap_or_default(),
                pairs: self.pairs.clone().unwrap_or_default(),
                header: match self.header {
                    HeaderArg::Guess => Header::Guess,
                    HeaderArg::Present => Header::Present,
                    HeaderArg::Absent => Header::Absent,
                },
                separator: self.separator,
                ..Reading::default()
            },
            bounds: Bounds {
                skip_bad: self.skip_bad,
                max_value: precision.max_value(),
                ..Bounds::default()
            },
            run: Run { threads: self.threads.unwrap_or_else(default_threads), ..Run::default() },
            ask: Ask {
                asked_column: match (&self.label_column, &self.weight_column) {
                    (Some(_), _) => Some(Setting::LabelColumn),
                    (None, Some(_)) => Some(Setting::WeightColumn),
                    (None, None) => None,
                },
                keep_names: !self.no_names,
                ..Ask::default()
            },
        })
    }

    /// The namespaces that are multiplied.
    fn interactions(&self) -> Result<Vec<Vec<String>>, Fault> {
        let mut interactions: Vec<Vec<String>> = Vec::new();
        interactions.extend(self.quadratic.iter().map(|s| s.chars().map(String::from).collect()));
        interactions.extend(self.interactions.iter().map(|text| match text.chars().count() {
            // Without a comma it can only be letters, as Vowpal Wabbit has them.
            2 | 3 if !text.contains(',') => text.chars().map(String::from).collect(),
            _ => text.split(',').map(str::to_owned).collect(),
        }));
        if let Some(odd) = interactions.iter().find(|set| !(2..=3).contains(&set.len())) {
            return Err(Fault::Usage(format!(
                "an interaction has 2 or 3 namespaces, got {}",
                odd.join(",")
            )));
        }
        Ok(interactions)
    }
}

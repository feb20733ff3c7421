//! Flags that say what to read and how.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use parsimon::core::Precision;
use parsimon::data::{Format, Header, Input, Labels, Options, Space};

use super::number;
use crate::fault::Fault;

/// What to read and how.
#[derive(Clone, Debug, Args)]
pub(crate) struct DataArgs {
    /// The data: files of one format, plain or compressed; - for standard input
    #[arg(value_name = "DATA", required_unless_present = "more_data")]
    inputs: Vec<PathBuf>,
    /// The data, as a flag
    #[arg(short = 'd', long = "data", value_name = "DATA", id = "more_data", hide = true)]
    more_inputs: Vec<PathBuf>,
    /// The format, when name and first bytes do not tell: svmlight, vw, csv, tsv, json, parquet, arrow, cache
    #[arg(long, value_name = "FORMAT", help_heading = "Data")]
    format: Option<Format>,
    /// Keep integer feature ids as they are; names are errors
    #[arg(long, help_heading = "Data")]
    no_hash: bool,
    /// Hash features into 2^BITS slots [default: 22 where features have names]
    #[arg(
        short = 'b',
        long,
        value_name = "BITS",
        conflicts_with = "no_hash",
        value_parser = number::whole::<u8>,
        help_heading = "Data"
    )]
    bits: Option<u8>,
    /// Do not keep the names of hashed features
    #[arg(long, help_heading = "Data")]
    no_names: bool,
    /// Multiply two or three namespaces, given by first letters (may be repeated)
    #[arg(short = 'q', value_name = "AB", help_heading = "Data")]
    quadratic: Vec<String>,
    /// Multiply namespaces given by name, such as user,site (may be repeated)
    #[arg(long, value_name = "NAMES", help_heading = "Data")]
    interactions: Vec<String>,
    /// The label's column, by name or number [default: label, target, y, click or class, else the first]
    #[arg(long, value_name = "COLUMN", help_heading = "Data")]
    label_column: Option<String>,
    /// The importance weight's column [default: weight, importance or sample_weight, if there is one]
    #[arg(long, value_name = "COLUMN", help_heading = "Data")]
    weight_column: Option<String>,
    /// Columns that are not features
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', help_heading = "Data")]
    ignore_columns: Vec<String>,
    /// Columns whose numbers are categories
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', help_heading = "Data")]
    text_columns: Vec<String>,
    /// Whether the first record of a CSV or TSV file names the columns
    #[arg(long, value_enum, default_value = "guess", help_heading = "Data")]
    header: HeaderArg,
    /// Pass over at most so many bad rows
    #[arg(long, value_name = "ROWS", default_value_t = 0, value_parser = number::whole::<u64>, help_heading = "Data")]
    skip_bad: u64,
    /// Threads that parse, the result does not depend on it [default: one more than cores, at most 8]
    #[arg(long, value_name = "N", value_parser = number::whole::<usize>, help_heading = "Data")]
    threads: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum HeaderArg {
    Guess,
    Present,
    Absent,
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
        for (name, columns) in
            [("--ignore-columns", &self.ignore_columns), ("--text-columns", &self.text_columns)]
        {
            if !columns.is_empty() {
                flag(name, columns.join(","));
            }
        }
        match self.header {
            HeaderArg::Guess => {}
            HeaderArg::Present => flag("--header", "present".into()),
            HeaderArg::Absent => flag("--header", "absent".into()),
        }
        if self.skip_bad > 0 {
            flag("--skip-bad", self.skip_bad.to_string());
        }
        let switches = [("--no-hash", self.no_hash), ("--no-names", self.no_names)];
        words.extend(switches.iter().filter(|s| s.1).map(|s| s.0.to_owned()));
        words
    }

    /// Refuses flags that say how features are read: a model knows that.
    pub(crate) fn refuse_reading(&self) -> Result<(), Fault> {
        let given = [
            ("--no-hash", self.no_hash),
            ("--bits", self.bits.is_some()),
            ("-q", !self.quadratic.is_empty()),
            ("--interactions", !self.interactions.is_empty()),
            ("--ignore-columns", !self.ignore_columns.is_empty()),
            ("--text-columns", !self.text_columns.is_empty()),
        ];
        match given.iter().find(|(_, given)| *given) {
            Some((flag, _)) => Err(Fault::Usage(format!(
                "{flag} is for training; the model says how features are read"
            ))),
            None => Ok(()),
        }
    }

    /// The options, but for the labels, which depend on the task.
    pub(crate) fn options(&self, precision: Precision) -> Result<Options, Fault> {
        let mut interactions: Vec<Vec<String>> = Vec::new();
        interactions.extend(self.quadratic.iter().map(|s| s.chars().map(String::from).collect()));
        interactions.extend(self.interactions.iter().map(|text| match text.chars().count() {
            // Without a comma it can only be letters, as Vowpal Wabbit has them.
            2 | 3 if !text.contains(',') => text.chars().map(String::from).collect(),
            _ => text.split(',').map(str::to_owned).collect(),
        }));
        if let Some(odd) = interactions.iter().find(|set| !(2..=3).contains(&set.len())) {
            return Err(Fault::Usage(format!(
                "an interaction is of 2 or 3 namespaces, got {odd:?}"
            )));
        }
        if let Some(bits) = self.bits.filter(|bits| !(1..=31).contains(bits)) {
            return Err(Fault::Usage(format!("--bits must be 1 to 31, got {bits}")));
        }
        Ok(Options {
            format: self.format,
            space: match (self.no_hash, self.bits) {
                (true, _) => Some(Space::Ids),
                (false, bits) => bits.map(|bits| Space::Hashed { bits }),
            },
            labels: Labels::Any,
            interactions,
            skip_bad: self.skip_bad,
            threads: self.threads.unwrap_or_else(default_threads),
            label_column: self.label_column.clone(),
            weight_column: self.weight_column.clone(),
            ignored_columns: self.ignore_columns.clone(),
            text_columns: self.text_columns.clone(),
            header: match self.header {
                HeaderArg::Guess => Header::Guess,
                HeaderArg::Present => Header::Present,
                HeaderArg::Absent => Header::Absent,
            },
            max_value: precision.max_value(),
            keep_names: !self.no_names,
            ..Options::default()
        })
    }
}

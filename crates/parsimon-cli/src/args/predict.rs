//! The flags of commands that predict: `predict`, `evaluate`, `calibrate`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use parsimon::data::TableFormat;
use parsimon::eval::CalibrationMethod;

use super::{DataArgs, number};

/// What to print for a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PredictionArg {
    /// The probability (logistic, or calibrated), the mean count (poisson), the class (multiclass), else the margin
    Auto,
    /// A probability; for several classes one per class
    Probability,
    /// The margin w.x; for several classes one per class
    Margin,
    /// The label of the likelier class
    Class,
}

/// How predictions are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormatArg {
    /// A line per row: the prediction, and the tag if there is one
    Text,
    Csv,
    Tsv,
    Jsonl,
    Parquet,
    Arrow,
}

impl OutputFormatArg {
    /// The format of a table; `None` for lines.
    pub(crate) fn table(self) -> Option<TableFormat> {
        match self {
            Self::Text => None,
            Self::Csv => Some(TableFormat::Csv),
            Self::Tsv => Some(TableFormat::Tsv),
            Self::Jsonl => Some(TableFormat::Jsonl),
            Self::Parquet => Some(TableFormat::Parquet),
            Self::Arrow => Some(TableFormat::Arrow),
        }
    }
}

/// Which rows are read, and how data that the model does not know is treated.
#[derive(Debug, Args)]
pub(crate) struct RowsArgs {
    /// Read at most so many rows
    #[arg(long, value_name = "ROWS", value_parser = number::whole::<u64>)]
    pub(crate) limit: Option<u64>,
    /// Pass over the first rows
    #[arg(long, value_name = "ROWS", default_value_t = 0, value_parser = number::whole::<u64>)]
    pub(crate) skip: u64,
    /// Accept data that the model does not know: no feature has a weight, or half of the model's columns are missing
    #[arg(long)]
    pub(crate) allow_unknown: bool,
    /// Ignore the calibration stored in the model
    #[arg(long)]
    pub(crate) raw: bool,
    /// Print nothing to standard error but errors
    #[arg(long)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PredictArgs {
    /// The model
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// Where predictions go; standard output if absent. A name that ends in .csv, .tsv, .jsonl (also with .gz), .parquet or
    /// .arrow is a table with a header, any other name has a line per row
    #[arg(
        short = 'o',
        long = "output",
        value_name = "FILE",
        short_alias = 'p',
        alias = "predictions"
    )]
    pub(crate) output: Option<PathBuf>,
    /// How predictions are written, whatever the name of the file
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) output_format: Option<OutputFormatArg>,
    /// What to print
    #[arg(long = "as", value_enum, default_value = "auto", value_name = "WHAT")]
    pub(crate) shown: PredictionArg,
    /// The column that identifies a row, written beside its prediction
    #[arg(long, value_name = "COLUMN")]
    pub(crate) id: Option<String>,
    /// Columns of the input to write beside the prediction, as texts (tables only): names, numbers, ranges, patterns or all
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub(crate) keep_columns: Vec<String>,
    /// Write the N features that add most to the margin of each row, each with its value and what it adds; then what the others, the
    /// bias and a base value add, so that the sum is the margin
    #[arg(long, value_name = "N", conflicts_with = "audit", value_parser = number::positive::<usize>)]
    pub(crate) explain: Option<usize>,
    /// After each prediction, every feature's contribution: name, value, weight, product
    #[arg(long)]
    pub(crate) audit: bool,
    #[command(flatten)]
    pub(crate) rows: RowsArgs,
}

#[derive(Debug, Args)]
pub(crate) struct EvaluateArgs {
    /// The model
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// Metrics by the values of this column: the 20 in which the model is least better than the constant
    #[arg(long, value_name = "COLUMN")]
    pub(crate) by: Option<String>,
    /// Judge decisions at this probability as well (at this margin, for losses without probabilities; two classes)
    #[arg(long, value_name = "T", allow_negative_numbers = true)]
    pub(crate) threshold: Option<f64>,
    /// Write the metrics as JSON; - for standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Draw the reliability diagram (two classes), with logarithmic axes where positives are rare
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) plot: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) rows: RowsArgs,
}

/// How probabilities are calibrated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CalibrationArg {
    /// The logistic function of a line through the margins: two numbers
    Platt,
    /// Any nondecreasing function of the margin: for thousands of rows
    Isotonic,
}

impl From<CalibrationArg> for CalibrationMethod {
    fn from(arg: CalibrationArg) -> Self {
        match arg {
            CalibrationArg::Platt => Self::Platt,
            CalibrationArg::Isotonic => Self::Isotonic,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct CalibrateArgs {
    /// The model
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// Labeled data that the model has not learned
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// How probabilities are calibrated
    #[arg(long, value_enum, default_value = "platt", value_name = "METHOD")]
    pub(crate) method: CalibrationArg,
    /// Where the calibrated model goes; MODEL is replaced if absent
    #[arg(short = 'o', long = "output", value_name = "MODEL")]
    pub(crate) output: Option<PathBuf>,
    /// Print nothing to standard error but errors
    #[arg(long)]
    pub(crate) quiet: bool,
}

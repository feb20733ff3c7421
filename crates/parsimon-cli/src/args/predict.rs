//! The flags of commands that predict: `predict`, `evaluate`, `calibrate`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use parsimon::workspace::CalibrationMethod;
use parsimon::workspace::TableFormat;

use super::{DataArgs, number};

/// Outputs for a row.
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
    /// Read at most ROWS rows
    #[arg(long, value_name = "ROWS", value_parser = number::whole::<u64>)]
    pub(crate) limit: Option<u64>,
    /// Skip the first ROWS rows
    #[arg(long, value_name = "ROWS", default_value_t = 0, value_parser = number::whole::<u64>)]
    pub(crate) skip: u64,
    /// Accept data in which no feature has a weight or half of the model's columns are missing
    #[arg(long)]
    pub(crate) allow_unknown: bool,
    /// Ignore the calibration stored in the model
    #[arg(long)]
    pub(crate) raw: bool,
    /// Print errors only
    #[arg(long)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PredictArgs {
    /// Model file
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// File to write predictions to: a table if FILE ends in .csv, .tsv, .jsonl (also .gz), .parquet or .arrow, else one line
    /// per row [default: standard output]
    #[arg(
        short = 'o',
        long = "output",
        value_name = "FILE",
        short_alias = 'p',
        alias = "predictions"
    )]
    pub(crate) output: Option<PathBuf>,
    /// Format of the predictions [default: by the name of the file]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) output_format: Option<OutputFormatArg>,
    /// What to write for each row
    #[arg(long = "as", value_enum, default_value = "auto", value_name = "WHAT")]
    pub(crate) shown: PredictionArg,
    /// Column that identifies a row, written next to its prediction
    #[arg(long, value_name = "COLUMN")]
    pub(crate) id: Option<String>,
    /// Input columns to write next to the prediction (tables only): names, numbers, ranges, patterns or all
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub(crate) keep_columns: Vec<String>,
    /// Write the N features that contribute most to each prediction, with their values and contributions, and the sums of the
    /// others, the bias and a base value
    #[arg(long, value_name = "N", conflicts_with = "audit", value_parser = number::positive::<usize>)]
    pub(crate) explain: Option<usize>,
    /// Write every feature of each row with its name, value, weight and product
    #[arg(long)]
    pub(crate) audit: bool,
    #[command(flatten)]
    pub(crate) rows: RowsArgs,
}

#[derive(Debug, Args)]
pub(crate) struct EvaluateArgs {
    /// Model file
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// Compute the metrics for each value of this column and print the 20 values whose loss exceeds that of a constant prediction
    /// most
    #[arg(long, value_name = "COLUMN")]
    pub(crate) by: Option<String>,
    /// Also compute the metrics of decisions at this probability (or margin, for losses without probabilities; two classes)
    #[arg(long, value_name = "T", allow_negative_numbers = true, value_parser = number::real)]
    pub(crate) threshold: Option<f64>,
    /// Write the metrics as JSON (- for standard output)
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
    /// Model file
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// Labeled data that the model has not learned
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// How probabilities are calibrated
    #[arg(long, value_enum, default_value = "platt", value_name = "METHOD")]
    pub(crate) method: CalibrationArg,
    /// File to write the calibrated model to [default: MODEL is replaced]
    #[arg(short = 'o', long = "output", value_name = "MODEL")]
    pub(crate) output: Option<PathBuf>,
    /// Print errors only
    #[arg(long)]
    pub(crate) quiet: bool,
}

//! The flags, defined once: help, completions and the man page come from here.

#[cfg(feature = "audio")]
mod cancel;
#[cfg(feature = "serve")]
mod client;
mod contradiction;
mod data;
mod number;
mod parse;
mod predict;
#[cfg(feature = "lab")]
mod reproduce;
#[cfg(feature = "serve")]
mod serve;
#[cfg(feature = "lab")]
mod sets;
mod spec;
mod vw;

use std::path::PathBuf;

#[cfg(feature = "audio")]
pub(crate) use cancel::{CancelArgs, DetectorArg, FormatArg};
use clap::{Args, Parser, Subcommand, ValueEnum};
#[cfg(feature = "serve")]
pub(crate) use client::{
    AckArg, AckArgs, BatchArgs, BenchArgs, ClientArgs, ClientCommand, LabelRowsArgs, LearnRowsArgs,
    OpArg, ReplayRowsArgs, ScoreRowsArgs, ServiceArgs,
};
pub(crate) use contradiction::Contradiction;
pub(crate) use data::{BY_MODEL, DataArgs, inputs};
pub(crate) use parse::parse;
pub(crate) use predict::{CalibrateArgs, EvaluateArgs, PredictArgs, PredictionArg};
#[cfg(feature = "lab")]
pub(crate) use reproduce::ReproduceArgs;
#[cfg(feature = "serve")]
pub(crate) use serve::{
    BackupArgs, ExportArgs, LateArg, LogArgs, LogCommand, NamedModel, NamedShadow, RepairArgs,
    ReplayArgs, RestoreArgs, ServeArgs, VerbosityArg,
};
#[cfg(feature = "lab")]
pub(crate) use sets::{GetArgs, ListArgs, SetsArgs, SetsCommand};
pub(crate) use spec::{SpecArgs, method};

use crate::fault::Fault;
use crate::features;
use crate::output::Files;

/// Below the help.
const SPELLINGS: &str = "Whole numbers may be written 1000000, 1e6 or 1_000_000. Flags may be written with \
    underscores instead of dashes, and flags of Vowpal Wabbit that mean the same are understood.";

/// Sparse online learning: huge linear models learned in one pass from a stream, keeping only the weights that matter.
#[derive(Debug, Parser)]
#[command(name = "parsimon", version, long_version = features::version(), propagate_version = true)]
#[command(after_help = SPELLINGS)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Most memory for everything sized by data, flags or files, such as 4GB or 512MiB [default: three quarters of the machine's
    /// memory, or of the limit of the container or of ulimit -v]
    #[arg(long, global = true, value_name = "SIZE", value_parser = parsimon::memory::parse_amount)]
    pub(crate) memory: Option<u64>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Learn a model from data, with progressive validation (without -a by auto, which needs no settings)
    #[command(after_help = SPELLINGS)]
    Train(Box<TrainArgs>),
    /// Predict with a model: one line per row, or a table
    Predict(Box<PredictArgs>),
    /// Judge a model on labeled data
    Evaluate(Box<EvaluateArgs>),
    /// Fit a model's probabilities to held-out data and store the calibration in the model
    Calibrate(Box<CalibrateArgs>),
    /// Show a model's settings and weights
    Inspect(InspectArgs),
    /// Make one state of several that learned different rows from the same start
    Merge(MergeArgs),
    /// Run several methods side by side on one pass over the same data
    Compare(CompareArgs),
    /// Find good settings of one method in one pass over the data (of ftrl unless -a says otherwise)
    Tune(Box<TuneArgs>),
    /// Find the impulse response between two signals, sample by sample (by ipnlms unless -a says otherwise)
    Identify(Box<IdentifyArgs>),
    #[cfg(feature = "audio")]
    /// Take the echo of a loudspeaker out of a microphone's recording (by kalman unless -a names a filter)
    Cancel(Box<CancelArgs>),
    /// Serve models over HTTP: they score and learn at the same time, and keep every row they acknowledge
    #[cfg(feature = "serve")]
    #[command(after_help = SPELLINGS)]
    Serve(Box<ServeArgs>),
    /// Look at the log of a served model, check it, copy it, repair it, export its rows, or learn them again
    #[cfg(feature = "serve")]
    Log(LogArgs),
    /// Send rows of a file to a service: score, learn, label, replay at a rate, measure latencies
    #[cfg(feature = "serve")]
    Client(ClientArgs),
    #[cfg(feature = "lab")]
    /// Run the papers' experiments again and report what reproduces
    Reproduce(ReproduceArgs),
    #[cfg(feature = "lab")]
    /// List and get the real data sets of the experiments
    Data(SetsArgs),
    /// List the algorithms with their papers and settings
    Algorithms(AlgorithmsArgs),
    /// Print the kinds of a table's columns as JSON, for --schema
    Schema(SchemaArgs),
    /// Convert data to the binary cache, which reads much faster
    Convert(ConvertArgs),
    /// Train on a generated click log and show what comes of it
    Quickstart(QuickstartArgs),
    /// Print completions for a shell
    Completions(CompletionsArgs),
    /// Print the manual page
    Man(ManArgs),
}

/// The number type of the weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PrecisionArg {
    F32,
    F64,
}

impl From<PrecisionArg> for parsimon::core::Precision {
    fn from(arg: PrecisionArg) -> Self {
        match arg {
            PrecisionArg::F32 => parsimon::core::Precision::F32,
            PrecisionArg::F64 => parsimon::core::Precision::F64,
        }
    }
}

/// Where weights are kept; it never changes a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StoreArg {
    /// An array for hashed features; for ids, one that grows with the largest
    Dense,
    /// An index: memory for the features seen, whatever their ids
    Index,
}

#[derive(Debug, Args)]
pub(crate) struct TrainArgs {
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// Where the model goes; without it nothing is saved
    #[arg(short = 'o', long = "output", value_name = "MODEL", short_alias = 'f', alias = "model")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) spec: SpecArgs,
    #[command(flatten)]
    pub(crate) frame: FrameArgs,
    /// How often to read the data
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Run",
          value_parser = number::positive::<u32>)]
    pub(crate) passes: u32,
    /// Shuffle rows within windows of so many
    #[arg(long, value_name = "ROWS", num_args = 0..=1, default_missing_value = "65536", help_heading = "Run",
          value_parser = number::whole::<usize>)]
    pub(crate) shuffle: Option<usize>,
    /// For shuffling
    #[arg(long, value_name = "SEED", default_value_t = 1, help_heading = "Run", value_parser = number::whole::<u64>)]
    pub(crate) seed: u64,
    /// Hold out this share of the rows: judged, not learned
    #[arg(long, value_name = "SHARE", num_args = 0..=1, default_missing_value = "0.1", help_heading = "Run")]
    pub(crate) holdout: Option<f64>,
    /// Stop after so many passes without a better holdout loss, and keep the best model
    #[arg(long, value_name = "PASSES", num_args = 0..=1, default_missing_value = "2", help_heading = "Run",
          value_parser = number::whole::<u32>)]
    pub(crate) early_stop: Option<u32>,
    /// Judge the model on this data at the end and print the metrics, as `evaluate` does (may be repeated)
    #[arg(long, value_name = "FILE", help_heading = "Run")]
    pub(crate) test: Vec<PathBuf>,
    /// Learn at most so many rows per pass
    #[arg(long, value_name = "ROWS", help_heading = "Run", value_parser = number::whole::<u64>)]
    pub(crate) limit: Option<u64>,
    /// Pass over the first rows [default: 0; with --resume, the rows of each file that the checkpoint has learned]
    #[arg(long, value_name = "ROWS", help_heading = "Run", value_parser = number::whole::<u64>)]
    pub(crate) skip: Option<u64>,
    /// Learn negative rows with this probability (> 0, <= 1) and divide their importance by it. A hash of the row's features,
    /// importance and tag decides, so the same rows are chosen in every run
    #[arg(long, value_name = "SHARE", help_heading = "Run", value_parser = number::share)]
    pub(crate) sample_negatives: Option<f64>,
    /// Save everything needed to go on at the end (and see --checkpoint-every)
    #[arg(long, value_name = "FILE", help_heading = "Run")]
    pub(crate) checkpoint: Option<PathBuf>,
    /// Save the checkpoint after every so many rows as well
    #[arg(long, value_name = "ROWS", requires = "checkpoint", help_heading = "Run",
          value_parser = number::positive::<u64>)]
    pub(crate) checkpoint_every: Option<u64>,
    /// Continue from a checkpoint, which has every setting: files it has learned continue after the rows it knows, other
    /// files start with their first row
    #[arg(long, value_name = "FILE", short = 'i', help_heading = "Run")]
    pub(crate) resume: Option<PathBuf>,
    /// Begin with the weights of a model and learn their change. The loss, the classes, --normalize, the precision and how rows are read are
    /// the model's; -a and its settings may be others [default of -a: auto, or the model's method if it was trained without --normalize]
    #[arg(long, value_name = "MODEL", conflicts_with = "resume", help_heading = "Run")]
    pub(crate) from: Option<PathBuf>,
    /// Compare the cumulative loss with the best fixed weights (keeps all rows in memory)
    #[arg(long, help_heading = "Run")]
    pub(crate) regret: bool,
    /// Report when rows multiply by a factor (2.0) or after every so many (1000)
    #[arg(long, value_name = "WHEN", default_value = "2.0", help_heading = "Report", value_parser = number::progress)]
    pub(crate) progress: String,
    /// Say nothing but errors
    #[arg(long, help_heading = "Report")]
    pub(crate) quiet: bool,
    /// Write a report as JSON; - for standard output
    #[arg(long, value_name = "FILE", help_heading = "Report")]
    pub(crate) json: Option<PathBuf>,
    /// Write the prediction made for each row before it was learned: one line per row of the first pass, empty for a row that was
    /// passed over; - for standard output. A name that ends in .csv, .tsv, .jsonl (also with .gz), .parquet or .arrow is a table with a
    /// header
    #[arg(long, value_name = "FILE", help_heading = "Report")]
    pub(crate) predictions: Option<PathBuf>,
    /// Draw the learning curve and the nonzeros over time
    #[arg(long, value_name = "FILE.svg", help_heading = "Report")]
    pub(crate) plot: Option<PathBuf>,
}

/// Precision, bias and store.
#[derive(Clone, Debug, Args)]
pub(crate) struct FrameArgs {
    /// The number type of the weights [default: f32]
    #[arg(long, value_enum, help_heading = "Model")]
    pub(crate) precision: Option<PrecisionArg>,
    /// Learn no bias
    #[arg(long, help_heading = "Model")]
    pub(crate) no_bias: bool,
    /// Where weights are kept; it never changes a result
    #[arg(long, value_enum, default_value = "dense", help_heading = "Model")]
    pub(crate) store: StoreArg,
}

impl FrameArgs {
    /// The precision, after the default.
    pub(crate) fn precision(&self) -> parsimon::core::Precision {
        self.precision.unwrap_or(PrecisionArg::F32).into()
    }
}

/// How to print all weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum WeightsFormat {
    Json,
    Tsv,
}

#[derive(Debug, Args)]
pub(crate) struct InspectArgs {
    /// The model
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// Print every nonzero weight, exactly
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) weights: Option<WeightsFormat>,
    /// How many of the largest weights to show
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = number::whole::<usize>)]
    pub(crate) top: usize,
    /// Print the header as JSON
    #[arg(long, conflicts_with = "weights")]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct MergeArgs {
    /// The checkpoints, each of rows of its own; their order fixes the last bits of the result
    #[arg(value_name = "CHECKPOINT", required = true)]
    pub(crate) checkpoints: Vec<PathBuf>,
    /// The checkpoint all of them went on from; without it they began from nothing
    #[arg(long, value_name = "BASE")]
    pub(crate) from: Option<PathBuf>,
    /// Where the merged checkpoint goes
    #[arg(long, value_name = "MERGED")]
    pub(crate) out: PathBuf,
    /// Write the merged model as well
    #[arg(short = 'o', long = "output", value_name = "MODEL")]
    pub(crate) output: Option<PathBuf>,
    /// How states are combined
    #[arg(long, value_enum, default_value = "damped")]
    pub(crate) combine: CombineArg,
}

/// How states are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CombineArg {
    /// As sum, but damped where several states made the same correction (methods with AdaGrad's metric)
    Damped,
    /// Sums of gradients add up; weights, for methods that keep those, are averaged by rows
    Sum,
    /// Everything is averaged by rows, sums of gradients too
    Mean,
}

impl From<CombineArg> for parsimon::Combine {
    fn from(arg: CombineArg) -> Self {
        match arg {
            CombineArg::Damped => parsimon::Combine::Damped,
            CombineArg::Sum => parsimon::Combine::Shares,
            CombineArg::Mean => parsimon::Combine::Mean,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// A method with its settings, such as ftrl:l1=1,rate=0.1 (may be repeated; lists within it as a;b); a
    /// handful if absent
    #[arg(short = 'm', long = "method", value_name = "METHOD")]
    pub(crate) methods: Vec<String>,
    /// Try a setting at several values: l1=1e-8..1e-2:12 (evenly in the logarithm if both ends are positive) or
    /// l1=0,0.1,1; several sweeps make a grid, and a method without the setting runs once
    #[arg(long = "sweep", value_name = "SWEEP")]
    pub(crate) sweeps: Vec<String>,
    #[command(flatten)]
    pub(crate) spec: SpecArgs,
    #[command(flatten)]
    pub(crate) frame: FrameArgs,
    /// Judge the models on this data at the end (may be repeated)
    #[arg(long, value_name = "FILE")]
    pub(crate) test: Vec<PathBuf>,
    /// Learn negative rows with this probability (> 0, <= 1) and divide their importance by it
    #[arg(long, value_name = "SHARE", value_parser = number::share)]
    pub(crate) sample_negatives: Option<f64>,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
}

#[derive(Debug, Args)]
pub(crate) struct TuneArgs {
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// Where the best setting's model goes; without it nothing is saved
    #[arg(short = 'o', long = "output", value_name = "MODEL", short_alias = 'f', alias = "model")]
    pub(crate) output: Option<PathBuf>,
    /// Try a setting at several values: l1=1e-8..1e-2:12 (evenly in the logarithm if both ends are positive) or
    /// l1=0,0.1,1; several sweeps make a grid; if absent, a usual grid of l1 and rate
    #[arg(long = "sweep", value_name = "SWEEP")]
    pub(crate) sweeps: Vec<String>,
    /// Instead of the grid, try so many settings drawn at random from the sweeps
    #[arg(long, value_name = "N", value_parser = number::positive::<u32>)]
    pub(crate) random: Option<u32>,
    /// For drawing
    #[arg(long, value_name = "SEED", default_value_t = 1, requires = "random", value_parser = number::whole::<u64>)]
    pub(crate) seed: u64,
    /// Give up no setting, however far behind it is
    #[arg(long)]
    pub(crate) keep_all: bool,
    #[command(flatten)]
    pub(crate) spec: SpecArgs,
    #[command(flatten)]
    pub(crate) frame: FrameArgs,
    /// Judge the models on this data at the end (may be repeated)
    #[arg(long, value_name = "FILE")]
    pub(crate) test: Vec<PathBuf>,
    /// Learn negative rows with this probability (> 0, <= 1) and divide their importance by it
    #[arg(long, value_name = "SHARE", value_parser = number::share)]
    pub(crate) sample_negatives: Option<f64>,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
}

/// How runs side by side are reported.
#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// Write one page with tables, charts and the recommended settings
    #[arg(long, value_name = "FILE.html", alias = "report", help_heading = "Report")]
    pub(crate) html: Option<PathBuf>,
    /// Write every number as JSON; - for standard output
    #[arg(long, value_name = "FILE", help_heading = "Report")]
    pub(crate) json: Option<PathBuf>,
    /// Draw loss and AUC (or accuracy) against nonzeros
    #[arg(long, value_name = "FILE.svg", help_heading = "Report")]
    pub(crate) plot: Option<PathBuf>,
    /// Say nothing but the table and errors
    #[arg(long, help_heading = "Report")]
    pub(crate) quiet: bool,
}

impl ReportArgs {
    /// Refuses files that would overwrite an input or another output.
    pub(crate) fn check(&self, files: &mut Files) -> Result<(), Fault> {
        files.write("--json", self.json.as_deref())?;
        files.write("--plot", self.plot.as_deref())?;
        files.write("--html", self.html.as_deref())
    }
}

#[derive(Debug, Args)]
pub(crate) struct IdentifyArgs {
    /// What went in: a WAV file, or a CSV file (FILE.csv, or FILE.csv:COLUMN by name or number)
    #[arg(long, value_name = "SIGNAL", required_unless_present = "synthetic")]
    pub(crate) reference: Option<String>,
    /// What came out: a WAV or CSV file
    #[arg(long, value_name = "SIGNAL", required_unless_present = "synthetic")]
    pub(crate) observed: Option<String>,
    /// Instead of signals, a sparse system such as n=1000,zeros=0.9,samples=20000,noise=0.01,seed=1 (also
    /// amplitude, input, and regressors=vectors or signal)
    #[arg(long, value_name = "SYSTEM", conflicts_with_all = ["reference", "observed", "truth", "taps", "channel"])]
    pub(crate) synthetic: Option<String>,
    /// How many coefficients to find [default: 512]
    #[arg(long, value_name = "N", value_parser = number::whole::<usize>)]
    pub(crate) taps: Option<usize>,
    /// The channel of WAV files with several, counted from 1
    #[arg(long, value_name = "N")]
    pub(crate) channel: Option<usize>,
    /// The true response, for the system mismatch: a WAV or CSV file
    #[arg(long, value_name = "SIGNAL")]
    pub(crate) truth: Option<String>,
    /// A share of the reference's usual energy that is added to the normalizer [default: 0.01]
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true)]
    pub(crate) regularization: Option<f64>,
    /// The number type of the filter
    #[arg(long, value_enum, default_value = "f64")]
    pub(crate) precision: PrecisionArg,
    #[command(flatten)]
    pub(crate) spec: SpecArgs,
    /// Where the response goes: a WAV or CSV file
    #[arg(short = 'o', long = "output", value_name = "FILE", help_heading = "Report")]
    pub(crate) output: Option<PathBuf>,
    /// Write a report as JSON; - for standard output
    #[arg(long, value_name = "FILE", help_heading = "Report")]
    pub(crate) json: Option<PathBuf>,
    /// Draw the response
    #[arg(long, value_name = "FILE.svg", help_heading = "Report")]
    pub(crate) plot: Option<PathBuf>,
    /// Draw the learning curve
    #[arg(long, value_name = "FILE.svg", help_heading = "Report")]
    pub(crate) curve: Option<PathBuf>,
    /// Say nothing but errors
    #[arg(long, help_heading = "Report")]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
pub(crate) struct AlgorithmsArgs {
    /// Show one algorithm in full
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Print the table as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the table as Markdown
    #[arg(long, conflicts_with = "json")]
    pub(crate) markdown: bool,
    /// Print the JSON Schema of a spec file, for editors and validators
    #[arg(long, conflicts_with_all = ["json", "markdown"])]
    pub(crate) schema: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// Where the schema goes [default: standard output]
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ConvertArgs {
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// Where the cache goes
    #[arg(short = 'o', long = "output", value_name = "CACHE")]
    pub(crate) output: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct QuickstartArgs {
    /// Where its files go
    #[arg(long, value_name = "FOLDER", default_value = "quickstart")]
    pub(crate) out: PathBuf,
    /// Rows to generate
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = number::whole::<u64>)]
    pub(crate) rows: u64,
    /// Of the generator
    #[arg(long, value_name = "SEED", default_value_t = 1, value_parser = number::whole::<u64>)]
    pub(crate) seed: u64,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Write one page per command into this folder instead
    #[arg(long, value_name = "FOLDER")]
    pub(crate) out: Option<PathBuf>,
}

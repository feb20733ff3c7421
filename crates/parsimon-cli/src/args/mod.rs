//! The flags, defined once: help, completions and the man page come from here.

#[cfg(feature = "audio")]
mod cancel;
#[cfg(feature = "serve")]
mod client;
mod contradiction;
mod data;
mod help;
mod mistake;
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

use std::path::{Path, PathBuf};

#[cfg(feature = "audio")]
pub(crate) use cancel::{CancelArgs, DetectorArg, FormatArg, RawArg};
use clap::{Args, Parser, Subcommand, ValueEnum};
#[cfg(feature = "serve")]
pub(crate) use client::{
    AckArg, AckArgs, BatchArgs, BenchArgs, ClientArgs, ClientCommand, LabelRowsArgs, LearnRowsArgs,
    OpArg, ReplayRowsArgs, ScoreRowsArgs, ServiceArgs,
};
pub(crate) use contradiction::Contradiction;
pub(crate) use data::{BY_MODEL, DataArgs, inputs};
pub(crate) use help::{Detail, command, default_of, named_algorithm, unknown_algorithm};
pub(crate) use parse::parse;
pub(crate) use predict::{CalibrateArgs, EvaluateArgs, PredictArgs, PredictionArg};
#[cfg(feature = "lab")]
pub(crate) use reproduce::ReproduceArgs;
#[cfg(feature = "serve")]
pub(crate) use serve::{
    AcksArg, BackupArgs, ExportArgs, LateArg, LogArgs, LogCommand, NamedModel, NamedShadow,
    RepairArgs, ReplayArgs, RestoreArgs, ServeArgs, VerbosityArg,
};
#[cfg(feature = "lab")]
pub(crate) use sets::{GetArgs, ListArgs, SetsArgs, SetsCommand};
pub(crate) use spec::{SpecArgs, for_numbers, method};
pub(crate) use vw::{Typed, wants_value};

use crate::fault::Fault;
use crate::features;
use crate::output::Files;

/// Below the help.
const SPELLINGS: &str = "Whole numbers may be written 1000000, 1e6 or 1_000_000. Flags may be written with \
    underscores instead of dashes, and flags of Vowpal Wabbit that mean the same are understood.";

/// Below the help of `completions`.
const INSTALL_COMPLETIONS: &str = "Completions know commands, options, algorithms, settings and the columns of the file \
    that the command reads (bash, zsh and fish; other shells know commands and options).\n\
    \n\
    bash:  parsimon completions bash > ~/.local/share/bash-completion/completions/parsimon\n\
    zsh:   parsimon completions zsh > DIR/_parsimon, where DIR is a directory of $fpath\n\
    fish:  parsimon completions fish > ~/.config/fish/completions/parsimon.fish";

/// Footer of the help of `man`.
const INSTALL_MAN: &str = "Read a page:        parsimon man train | man -l -\n\
    Install all pages:  parsimon man --out ~/.local/share/man/man1\n\
    Then run man parsimon or man parsimon-train. For all users the folder is /usr/local/share/man/man1.";

/// Sparse online learning: huge linear models learned in one pass from a stream, keeping only the weights that matter.
#[derive(Debug, Parser)]
#[command(name = "parsimon", version, long_version = features::version(), propagate_version = true)]
#[command(after_help = SPELLINGS, disable_help_flag = true, disable_help_subcommand = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Memory limit, such as 4GB or 512MiB [default: three quarters of the machine's memory, or of the container's or ulimit's]
    #[arg(long, global = true, value_name = "SIZE", value_parser = parsimon::workspace::parse_amount)]
    pub(crate) memory: Option<u64>,
    /// Print help: -h the common options, --help all of them
    #[arg(short = 'h', long, global = true, action = clap::ArgAction::HelpShort)]
    help: Option<bool>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Train a model on data and print its progressive loss (algorithm auto unless -a names another)
    Train(Box<TrainArgs>),
    /// Predict with a model: writes one line per row, or a table
    Predict(Box<PredictArgs>),
    /// Compute the metrics of a model on labeled data
    Evaluate(Box<EvaluateArgs>),
    /// Calibrate the probabilities of a model on held-out data
    Calibrate(Box<CalibrateArgs>),
    /// Show a model's settings and weights
    Inspect(InspectArgs),
    /// Merge checkpoints that were trained on different rows into one
    Merge(MergeArgs),
    /// Train several algorithms in one pass over the data and compare them
    Compare(CompareArgs),
    /// Find good settings of an algorithm in one pass over the data (ftrl unless -a names another)
    Tune(Box<TuneArgs>),
    /// Estimate the impulse response between two signals (without -a and settings nlms and ipnlms are tried, and coefficients that do not
    /// help to predict become exactly zero)
    Identify(Box<IdentifyArgs>),
    #[cfg(feature = "audio")]
    /// Remove the echo of a loudspeaker from a microphone recording (filter kalman unless -a names another)
    Cancel(Box<CancelArgs>),
    /// Serve models over HTTP that score and learn at the same time
    #[cfg(feature = "serve")]
    Serve(Box<ServeArgs>),
    /// Inspect, verify, copy, repair, export or replay the log of a served model
    #[cfg(feature = "serve")]
    Log(LogArgs),
    /// Send rows of a file to a service to score, learn, label, replay or measure latencies
    #[cfg(feature = "serve")]
    Client(ClientArgs),
    #[cfg(feature = "lab")]
    /// Repeat the experiments of the papers and report which claims hold
    Reproduce(ReproduceArgs),
    #[cfg(feature = "lab")]
    /// List and download the data sets of the experiments
    Data(SetsArgs),
    /// List the algorithms, or show the settings of one
    Algorithms(AlgorithmsArgs),
    /// Print the detected kinds of a table's columns as JSON, for --schema
    Schema(SchemaArgs),
    /// Convert data to a binary cache, which is read much faster
    Convert(ConvertArgs),
    /// Run a command line of Vowpal Wabbit as it is typed
    Vw(VwArgs),
    /// Train, evaluate and inspect a model on a generated click log
    Quickstart(QuickstartArgs),
    /// Print the completion script of a shell
    #[command(after_help = INSTALL_COMPLETIONS)]
    Completions(CompletionsArgs),
    /// Print the manual page of a command, or write all pages into a folder
    #[command(after_help = INSTALL_MAN)]
    Man(ManArgs),
    /// Print what may stand at the cursor, for the scripts of completions
    #[command(hide = true)]
    Complete(CompleteArgs),
}

/// The number type of the weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PrecisionArg {
    F32,
    F64,
}

impl TrainArgs {
    /// The checkpoint to continue from.
    pub(crate) fn resumed(&self) -> Option<&Path> {
        let present = self.resume_if_present.as_deref().filter(|path| path.exists());
        self.resume.as_deref().or(present)
    }
}

impl From<PrecisionArg> for parsimon::settings::Precision {
    fn from(arg: PrecisionArg) -> Self {
        match arg {
            PrecisionArg::F32 => parsimon::settings::Precision::F32,
            PrecisionArg::F64 => parsimon::settings::Precision::F64,
        }
    }
}

/// Storage of the weights; it never changes a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StoreArg {
    /// An array for hashed features; for ids, one that grows with the largest
    Dense,
    /// An index: memory for the features seen, whatever their ids
    Index,
}

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(crate) struct TrainArgs {
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// File to write the model to [default: the model is not saved]
    #[arg(short = 'o', long = "output", value_name = "MODEL", short_alias = 'f')]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) spec: SpecArgs,
    #[command(flatten)]
    pub(crate) learner: LearnerArgs,
    /// Number of passes over the data [default: 1; without -a, several where rows times passes stay below a million and rows
    /// that are held out are predicted better]
    #[arg(long, value_name = "N", help_heading = "Run", value_parser = number::positive::<u32>)]
    pub(crate) passes: Option<u32>,
    /// Shuffle rows within windows of ROWS rows [65536 without a number]
    #[arg(long, value_name = "ROWS", num_args = 0..=1, default_missing_value = "65536", help_heading = "Run",
          value_parser = number::positive::<usize>)]
    pub(crate) shuffle: Option<usize>,
    /// Learn the rows in their order, even if the model forgets the first
    #[arg(long, conflicts_with = "shuffle", help_heading = "Run")]
    pub(crate) no_shuffle: bool,
    /// Fit the weights that l1 has kept again without l1 (auto and ftrl, one model, from the beginning)
    #[arg(long, conflicts_with_all = ["checkpoint", "resume", "from", "holdout"], help_heading = "Run")]
    pub(crate) refit: bool,
    /// Seed of --shuffle [default: 1]
    #[arg(long, value_name = "SEED", help_heading = "Run", value_parser = number::whole::<u64>)]
    pub(crate) seed: Option<u64>,
    /// Hold out this share of the rows to validate on [0.1 without a number]
    #[arg(long, value_name = "SHARE", num_args = 0..=1, default_missing_value = "0.1", help_heading = "Run",
          value_parser = number::real)]
    pub(crate) holdout: Option<f64>,
    /// Stop after PASSES passes without a lower holdout loss and keep the best model [2 without a number]
    #[arg(long, value_name = "PASSES", num_args = 0..=1, default_missing_value = "2", help_heading = "Run",
          value_parser = number::whole::<u32>)]
    pub(crate) early_stop: Option<u32>,
    /// Evaluate the trained model on this file (may be repeated)
    #[arg(long, value_name = "FILE", help_heading = "Run")]
    pub(crate) test: Vec<PathBuf>,
    /// Learn at most ROWS rows per pass
    #[arg(long, value_name = "ROWS", help_heading = "Run", value_parser = number::whole::<u64>)]
    pub(crate) limit: Option<u64>,
    /// Skip the first ROWS rows [default: 0; with --resume, the rows of each file that the checkpoint has learned]
    #[arg(long, value_name = "ROWS", help_heading = "Run", value_parser = number::whole::<u64>)]
    pub(crate) skip: Option<u64>,
    /// Learn negative rows with this probability (> 0, <= 1) and divide their importance by it. A hash of the row's features,
    /// importance and tag decides, so the same rows are chosen in every run
    #[arg(long, value_name = "SHARE", help_heading = "Run", value_parser = number::share)]
    pub(crate) sample_negatives: Option<f64>,
    /// Write a checkpoint at the end, from which --resume continues
    #[arg(long, value_name = "FILE", help_heading = "Run")]
    pub(crate) checkpoint: Option<PathBuf>,
    /// Also write the checkpoint every ROWS rows
    #[arg(long, value_name = "ROWS", requires = "checkpoint", help_heading = "Run",
          value_parser = number::positive::<u64>)]
    pub(crate) checkpoint_every: Option<u64>,
    /// Continue from a checkpoint with its settings, after the rows that it has learned
    #[arg(long, value_name = "FILE", short = 'i', help_heading = "Run")]
    pub(crate) resume: Option<PathBuf>,
    /// As --resume if the file is there, and from the beginning if not: the same command runs on every day
    #[arg(long, value_name = "FILE", conflicts_with_all = ["resume", "from"], help_heading = "Run")]
    pub(crate) resume_if_present: Option<PathBuf>,
    /// Learn files again whose content the checkpoint has learned, whatever they are called
    #[arg(long, help_heading = "Run")]
    pub(crate) allow_repeat: bool,
    /// Start from the weights of a model. Loss, classes, precision and the reading of rows are taken from the model; -a may
    /// differ
    #[arg(long, value_name = "MODEL", conflicts_with = "resume", help_heading = "Run")]
    pub(crate) from: Option<PathBuf>,
    /// Print the regret against the best fixed weights (keeps all rows)
    #[arg(long, help_heading = "Run")]
    pub(crate) regret: bool,
    /// Print progress when the number of rows has grown by a factor (2.0) or every N rows (1000)
    #[arg(long, value_name = "WHEN", default_value = "2.0", help_heading = "Report", value_parser = number::progress)]
    pub(crate) progress: String,
    /// Print errors only
    #[arg(long, help_heading = "Report")]
    pub(crate) quiet: bool,
    /// Write a report as JSON (- for standard output)
    #[arg(long, value_name = "FILE", help_heading = "Report")]
    pub(crate) json: Option<PathBuf>,
    /// Write the prediction of each row before it was learned, one line per row (- for standard output), or a table if FILE
    /// ends in .csv, .tsv, .jsonl, .parquet or .arrow
    #[arg(long, value_name = "FILE", help_heading = "Report")]
    pub(crate) predictions: Option<PathBuf>,
    /// Draw the loss and the number of nonzero weights over time
    #[arg(long, value_name = "FILE.svg", help_heading = "Report")]
    pub(crate) plot: Option<PathBuf>,
}

/// Precision, bias and store.
#[derive(Clone, Debug, Args)]
pub(crate) struct LearnerArgs {
    /// Number type of the weights [default: f32]
    #[arg(long, value_enum, help_heading = "Model")]
    pub(crate) precision: Option<PrecisionArg>,
    /// Train without a bias
    #[arg(long, help_heading = "Model")]
    pub(crate) no_bias: bool,
    /// How weights are stored (does not change the result)
    #[arg(long, value_enum, default_value = "dense", help_heading = "Model")]
    pub(crate) store: StoreArg,
}

impl LearnerArgs {
    /// The precision, after the default.
    pub(crate) fn precision(&self) -> parsimon::settings::Precision {
        self.precision.unwrap_or(PrecisionArg::F32).into()
    }
}

/// Formats of all weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum WeightsFormat {
    Json,
    Tsv,
}

#[derive(Debug, Args)]
pub(crate) struct VwArgs {
    /// Flags of Vowpal Wabbit: parsimon vw --help lists them
    #[arg(value_name = "FLAGS", trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) words: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct InspectArgs {
    /// Model file, or a checkpoint
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// Print all nonzero weights with all digits
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) weights: Option<WeightsFormat>,
    /// Number of the largest weights to show
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = number::whole::<usize>)]
    pub(crate) top: usize,
    /// Print the header as JSON
    #[arg(long, conflicts_with = "weights")]
    pub(crate) json: bool,
    /// Write a page with the curves of number columns and the pairs of columns to this file
    #[arg(long, value_name = "FILE.html")]
    pub(crate) html: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct MergeArgs {
    /// Checkpoints that learned different rows; their order may change the last digits of the result
    #[arg(value_name = "CHECKPOINT", required = true)]
    pub(crate) checkpoints: Vec<PathBuf>,
    /// Checkpoint from which all of them continued [default: they started without one]
    #[arg(long, value_name = "BASE")]
    pub(crate) from: Option<PathBuf>,
    /// File to write the merged checkpoint to
    #[arg(long, value_name = "MERGED")]
    pub(crate) out: PathBuf,
    /// Also write the merged model to this file
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

impl From<CombineArg> for parsimon::merge::Combine {
    fn from(arg: CombineArg) -> Self {
        match arg {
            CombineArg::Damped => parsimon::merge::Combine::Damped,
            CombineArg::Sum => parsimon::merge::Combine::Shares,
            CombineArg::Mean => parsimon::merge::Combine::Mean,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// Algorithm with settings, such as ftrl:l1=1,rate=0.1; lists are written a;b (may be repeated) [default: nine common ones]
    #[arg(short = 'm', long = "method", value_name = "METHOD")]
    pub(crate) methods: Vec<String>,
    /// Values of a setting to try: l1=0,0.1,1 or l1=1e-8..1e-2:12 (12 values, log-spaced if both ends are positive). Several
    /// sweeps make a grid
    #[arg(long = "sweep", value_name = "SWEEP")]
    pub(crate) sweeps: Vec<String>,
    #[command(flatten)]
    pub(crate) spec: SpecArgs,
    #[command(flatten)]
    pub(crate) learner: LearnerArgs,
    /// Evaluate the trained models on this file (may be repeated)
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
    /// File to write the best model to [default: the model is not saved]
    #[arg(short = 'o', long = "output", value_name = "MODEL", short_alias = 'f')]
    pub(crate) output: Option<PathBuf>,
    /// Values of a setting to try: l1=0,0.1,1 or l1=1e-8..1e-2:12 (12 values, log-spaced if both ends are positive). Several
    /// sweeps make a grid [default: a grid of l1 and rate]
    #[arg(long = "sweep", value_name = "SWEEP")]
    pub(crate) sweeps: Vec<String>,
    /// Try N settings drawn at random from the sweeps instead of the whole grid
    #[arg(long, value_name = "N", value_parser = number::positive::<u32>)]
    pub(crate) random: Option<u32>,
    /// Seed of --random
    #[arg(long, value_name = "SEED", default_value_t = 1, requires = "random", value_parser = number::whole::<u64>)]
    pub(crate) seed: u64,
    /// Train all settings to the end, also those that are far behind
    #[arg(long)]
    pub(crate) keep_all: bool,
    #[command(flatten)]
    pub(crate) spec: SpecArgs,
    #[command(flatten)]
    pub(crate) learner: LearnerArgs,
    /// Evaluate the trained models on this file (may be repeated)
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
    /// Write an HTML page with tables, charts and the recommended settings
    #[arg(long, value_name = "FILE.html", alias = "report", help_heading = "Report")]
    pub(crate) html: Option<PathBuf>,
    /// Write all results as JSON (- for standard output)
    #[arg(long, value_name = "FILE", help_heading = "Report")]
    pub(crate) json: Option<PathBuf>,
    /// Draw loss and AUC (or accuracy) against the number of nonzero weights
    #[arg(long, value_name = "FILE.svg", help_heading = "Report")]
    pub(crate) plot: Option<PathBuf>,
    /// Print the table and errors only
    #[arg(long, help_heading = "Report")]
    pub(crate) quiet: bool,
}

impl ReportArgs {
    /// Refuses files that would overwrite an input or another output.
    pub(crate) fn check(&self, files: &mut Files) -> Result<(), Fault> {
        files.write("--json", self.json.as_deref())?;
        files.draw("--plot", self.plot.as_deref())?;
        files.write("--html", self.html.as_deref())
    }
}

#[derive(Debug, Args)]
pub(crate) struct IdentifyArgs {
    /// Input signal: a WAV file, or a CSV file (FILE.csv, or FILE.csv:COLUMN by name or number)
    #[arg(long, value_name = "SIGNAL", required_unless_present = "synthetic")]
    pub(crate) reference: Option<String>,
    /// Output signal: a WAV or CSV file
    #[arg(long, value_name = "SIGNAL", required_unless_present = "synthetic")]
    pub(crate) observed: Option<String>,
    /// Generate a sparse system instead of reading signals: n=1000,zeros=0.9,samples=20000,noise=0.01,seed=1 (also amplitude,
    /// input, regressors=vectors or signal)
    #[arg(long, value_name = "SYSTEM", conflicts_with_all = ["reference", "observed", "truth", "taps", "channel"])]
    pub(crate) synthetic: Option<String>,
    /// Number of coefficients of the response [default: 512]
    #[arg(long, value_name = "N", value_parser = number::whole::<usize>)]
    pub(crate) taps: Option<usize>,
    /// Channel of WAV files that have several, counted from 1
    #[arg(long, value_name = "N")]
    pub(crate) channel: Option<usize>,
    /// True response, to compute the system mismatch: a WAV or CSV file
    #[arg(long, value_name = "SIGNAL")]
    pub(crate) truth: Option<String>,
    /// Regularization of the normalizer, as a share of the mean energy of the reference [default: 0.01]
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true)]
    pub(crate) regularization: Option<f64>,
    /// Number type of the filter
    #[arg(long, value_enum, default_value = "f64")]
    pub(crate) precision: PrecisionArg,
    #[command(flatten)]
    pub(crate) spec: SpecArgs,
    /// File to write the response to: WAV or CSV
    #[arg(short = 'o', long = "output", value_name = "FILE", help_heading = "Report")]
    pub(crate) output: Option<PathBuf>,
    /// Write a report as JSON (- for standard output)
    #[arg(long, value_name = "FILE", help_heading = "Report")]
    pub(crate) json: Option<PathBuf>,
    /// Draw the response
    #[arg(long, value_name = "FILE.svg", help_heading = "Report")]
    pub(crate) plot: Option<PathBuf>,
    /// Draw the convergence curve: the residual against the observed signal, over time
    #[arg(long, value_name = "FILE.svg", help_heading = "Report")]
    pub(crate) curve: Option<PathBuf>,
    /// Print errors only
    #[arg(long, help_heading = "Report")]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
pub(crate) struct AlgorithmsArgs {
    /// Show this algorithm with its settings and defaults
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// List the algorithms of a paper: csgd, pda-thesis, lazy-thesis, slides or rda-notes
    #[cfg(feature = "lab")]
    #[arg(long, value_name = "PAPER", conflicts_with = "name")]
    pub(crate) paper: Option<String>,
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
    /// File to write the schema to [default: standard output]
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ConvertArgs {
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// File to write the cache to
    #[arg(short = 'o', long = "output", value_name = "CACHE")]
    pub(crate) output: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct QuickstartArgs {
    /// Folder to write the files to
    #[arg(long, value_name = "FOLDER", default_value = "quickstart")]
    pub(crate) out: PathBuf,
    /// Number of rows to generate
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = number::whole::<u64>)]
    pub(crate) rows: u64,
    /// Seed of the generator
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
pub(crate) struct CompleteArgs {
    /// The words after the program's name, up to the cursor
    #[arg(last = true)]
    pub(crate) words: Vec<std::ffi::OsString>,
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// The command, such as train or log replay [default: the page of the program]
    #[arg(value_name = "COMMAND", conflicts_with = "out")]
    pub(crate) command: Vec<String>,
    /// Write one page per command into this folder
    #[arg(long, value_name = "FOLDER")]
    pub(crate) out: Option<PathBuf>,
}

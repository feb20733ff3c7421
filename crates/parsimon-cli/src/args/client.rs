//! Flags of `parsimon client`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use parsimon::data::Format;

use super::number;
use super::serve::time;

#[derive(Debug, Args)]
pub(crate) struct ClientArgs {
    #[command(subcommand)]
    pub(crate) command: ClientCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ClientCommand {
    /// Score the rows of a file; prints a line of JSON for each row
    Score(ScoreRowsArgs),
    /// Send the labeled rows of a file to be learned
    Learn(LearnRowsArgs),
    /// Send labels for rows that were scored with ids: lines of JSON with "id", "label" and, optionally, "weight"
    Label(LabelRowsArgs),
    /// Send requests at a fixed rate and print their latencies, measured from the time at which each request was due
    Bench(BenchArgs),
    /// Send the labeled rows of a file to be learned, in order and at a rate
    Replay(ReplayRowsArgs),
}

/// Which model, and how to reach it.
#[derive(Debug, Args)]
pub(crate) struct ServiceArgs {
    /// URL of the model, such as http://127.0.0.1:8080/v1/models/clicks; several of a leader and its follower are separated by commas
    #[arg(long, value_name = "URL")]
    pub(crate) url: String,
    /// File with the access token [default: the environment variable PARSIMON_TOKEN]
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// Give up if the service does not answer within this time
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = time)]
    pub(crate) timeout: Duration,
}

/// Which rows.
#[derive(Debug, Args)]
pub(crate) struct RowsArgs {
    /// File of rows (- for standard input)
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The format of the rows: svmlight, vw, csv, tsv or json [default: by the name of the file, else by its first line]
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<Format>,
}

/// How rows are put into requests.
#[derive(Debug, Args)]
pub(crate) struct BatchArgs {
    /// Number of rows per request
    #[arg(long, value_name = "ROWS", default_value_t = 1000, value_parser = number::positive::<usize>)]
    pub(crate) batch: usize,
    /// Number of times to repeat a request that is answered with 429 or 503, or not at all, with pauses that grow
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = number::whole::<u32>)]
    pub(crate) retries: u32,
}

#[derive(Debug, Args)]
pub(crate) struct ScoreRowsArgs {
    #[command(flatten)]
    pub(crate) rows: RowsArgs,
    #[command(flatten)]
    pub(crate) service: ServiceArgs,
    #[command(flatten)]
    pub(crate) batch: BatchArgs,
    /// Add the contribution of each feature
    #[arg(long)]
    pub(crate) explain: bool,
    /// File to write the scores to [default: standard output]
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct LearnRowsArgs {
    #[command(flatten)]
    pub(crate) rows: RowsArgs,
    #[command(flatten)]
    pub(crate) service: ServiceArgs,
    #[command(flatten)]
    pub(crate) batch: BatchArgs,
    #[command(flatten)]
    pub(crate) ack: AckArgs,
    /// First line of the file to send, where an earlier run ended
    #[arg(long, value_name = "LINE", default_value_t = 1, value_parser = number::positive::<u64>)]
    pub(crate) from: u64,
    /// Learn the valid rows of a request if others are malformed; the malformed ones are printed
    #[arg(long)]
    pub(crate) partial: bool,
}

/// When rows count as learned.
#[derive(Debug, Args)]
pub(crate) struct AckArgs {
    /// What the service has done when it answers
    #[arg(long, value_enum, default_value = "durable")]
    pub(crate) ack: AckArg,
    /// Prefix of the Idempotency-Key of every request; a file sent again with the same key and --batch is learned once
    /// [default: random]
    #[arg(long, value_name = "TEXT")]
    pub(crate) key: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AckArg {
    /// The rows are in the log and synced
    Durable,
    /// The rows are in the log; a power cut may lose them
    Logged,
    /// The rows are durable, and scores include them
    Visible,
}

#[derive(Debug, Args)]
pub(crate) struct LabelRowsArgs {
    /// File of labels (- for standard input)
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) service: ServiceArgs,
    #[command(flatten)]
    pub(crate) batch: BatchArgs,
}

#[derive(Debug, Args)]
pub(crate) struct BenchArgs {
    /// Rows to send, over and over [default: generated rows of JSON]
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// The format of the rows: svmlight, vw, csv, tsv or json [default: by the name of the file, else by its first line]
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<Format>,
    #[command(flatten)]
    pub(crate) service: ServiceArgs,
    /// What the requests do
    #[arg(long, value_enum, default_value = "score")]
    pub(crate) op: OpArg,
    /// Requests per second
    #[arg(long, value_name = "N", default_value_t = 1000.0, value_parser = rate)]
    pub(crate) rate: f64,
    /// How long to send, in seconds
    #[arg(long, value_name = "S", default_value_t = 10.0, value_parser = rate)]
    pub(crate) seconds: f64,
    /// Number of rows per request
    #[arg(long, value_name = "ROWS", default_value_t = 1, value_parser = number::positive::<usize>)]
    pub(crate) batch: usize,
    /// Features of a generated row
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = number::positive::<usize>)]
    pub(crate) features: usize,
    /// Connections, each with a thread, at most 1000. A request waits while all are busy, and the wait is part of its latency
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = connections)]
    pub(crate) connections: usize,
    /// Give every row of JSON an id that no other row has, so that the service keeps it until its label comes
    #[arg(long)]
    pub(crate) ids: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Requests of `bench`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OpArg {
    /// Score rows
    Score,
    /// Learn rows
    Learn,
    /// Ask whether the process is alive: what a request costs by itself
    Null,
}

#[derive(Debug, Args)]
pub(crate) struct ReplayRowsArgs {
    #[command(flatten)]
    pub(crate) rows: RowsArgs,
    #[command(flatten)]
    pub(crate) service: ServiceArgs,
    #[command(flatten)]
    pub(crate) batch: BatchArgs,
    #[command(flatten)]
    pub(crate) ack: AckArgs,
    /// Rows per second
    #[arg(long, value_name = "N", value_parser = rate)]
    pub(crate) rate: f64,
    /// Score each request's rows before they are learned
    #[arg(long)]
    pub(crate) score: bool,
}

/// A number above zero.
fn rate(text: &str) -> Result<f64, String> {
    let number = text.replace('_', "").parse::<f64>().ok();
    let number = number.filter(|x| *x > 0.0 && *x <= 1e9);
    number.ok_or_else(|| "it must be a number above 0, at most 1e9".to_owned())
}

/// Parses a number of connections. Each has a thread, so the number is limited.
fn connections(text: &str) -> Result<usize, String> {
    match number::positive(text)? {
        n if n <= 1000 => Ok(n),
        _ => Err("it must be at most 1000".to_owned()),
    }
}

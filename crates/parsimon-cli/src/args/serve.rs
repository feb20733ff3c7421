//! Flags of `parsimon serve`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};

use super::data::KindsArg;
use super::{LearnerArgs, SpecArgs, number};
use parsimon::workspace::parse_amount as amount;

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(crate) struct ServeArgs {
    /// Model to serve (may be repeated): NAME=FILE for a model file (scores only) or a checkpoint (also learns); NAME for a
    /// model whose log is in --data, or for a new model
    #[arg(long = "model", value_name = "NAME[=FILE]", required_unless_present_any = ["config", "demo", "follow"])]
    pub(crate) models: Vec<String>,
    /// Read the flags from a TOML file, with a key for each flag, as docs/serve.md shows
    #[arg(long, value_name = "FILE", exclusive = true)]
    pub(crate) config: Option<PathBuf>,
    /// Serve a model that learns from generated clicks and open its page. Nothing is stored without --data
    #[arg(long, conflicts_with_all = ["models", "tokens", "vw_port", "schema"])]
    pub(crate) demo: bool,
    /// Rows per second of --demo
    #[arg(long, value_name = "ROWS", default_value_t = 300, value_parser = number::positive::<u64>, requires = "demo")]
    pub(crate) demo_rate: u64,
    /// Directory of the logs and snapshots of models that learn
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// Address and port to listen on; port 0 is any free port
    #[arg(
        long,
        value_name = "ADDRESS",
        default_value = "127.0.0.1:8080",
        value_parser = address,
        help_heading = "Network"
    )]
    pub(crate) listen: SocketAddr,
    /// File of access tokens; required to listen on an address that other machines can reach
    #[arg(long, value_name = "FILE", help_heading = "Network")]
    pub(crate) tokens: Option<PathBuf>,
    /// Also accept the protocol of Vowpal Wabbit's daemon on this local port
    #[arg(long, value_name = "PORT", help_heading = "Network")]
    pub(crate) vw_port: Option<u16>,
    /// Model behind --vw-port [default: the only model]
    #[arg(long, value_name = "NAME", requires = "vw_port", help_heading = "Network")]
    pub(crate) vw_model: Option<String>,
    /// Maximum size of a request in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 16 << 20, value_parser = number::positive::<usize>, help_heading = "Network")]
    pub(crate) max_body: usize,
    /// Maximum number of rows of a request
    #[arg(long, value_name = "ROWS", default_value_t = 100_000, value_parser = number::positive::<usize>, help_heading = "Network")]
    pub(crate) max_rows: usize,
    /// Maximum number of features of a row
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = number::positive::<usize>, help_heading = "Network")]
    pub(crate) max_features: usize,
    /// Maximum number of open connections; further ones are for health checks and admins
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = number::positive::<usize>, help_heading = "Network")]
    pub(crate) max_connections: usize,
    /// After SIGTERM, say that the service is not ready for this time and go on: 5s [default: end at once]
    #[arg(long, value_name = "TIME", value_parser = time, help_heading = "Network")]
    pub(crate) drain: Option<Duration>,
    /// Maximum number of open connections of one address [default: half of --max-connections]
    #[arg(long, value_name = "N", value_parser = number::positive::<usize>, help_heading = "Network")]
    pub(crate) max_connections_per_address: Option<usize>,
    /// Copy the models of another service and score with them; takes no rows until it is promoted. Without --model, all models that learn
    #[arg(long, value_name = "URL", requires = "data", conflicts_with_all = ["demo", "shadows", "schema", "follower"], help_heading = "Leader and follower")]
    pub(crate) follow: Option<String>,
    /// Maximum bytes per second that --follow copies [default: no limit]
    #[arg(long, value_name = "BYTES", value_parser = number::positive::<u64>, requires = "follow", help_heading = "Leader and follower")]
    pub(crate) follow_rate: Option<u64>,
    /// Stop learning for good once the follower at this address was promoted
    #[arg(long, value_name = "URL", help_heading = "Leader and follower")]
    pub(crate) follower: Option<String>,
    /// Which disks have a row when it is acknowledged
    #[arg(long, value_enum, default_value = "leader", help_heading = "Leader and follower")]
    pub(crate) acks: AcksArg,
    /// File with the token, of the role admin, for --follow and --follower [default: the environment variable PARSIMON_TOKEN]
    #[arg(long, value_name = "FILE", help_heading = "Leader and follower")]
    pub(crate) peer_token_file: Option<PathBuf>,
    /// Write a snapshot every ROWS learned rows
    #[arg(long, value_name = "ROWS", default_value_t = 1_000_000, value_parser = number::positive::<u64>, help_heading = "Log")]
    pub(crate) snapshot_every: u64,
    /// Write a snapshot after this time if rows were learned: 90s, 10m, 2h
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = time, help_heading = "Log")]
    pub(crate) snapshot_after: Duration,
    /// Number of snapshots to keep
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = number::positive::<usize>, help_heading = "Log")]
    pub(crate) snapshots: usize,
    /// Do not verify snapshots by replaying the log when idle
    #[arg(long, help_heading = "Log")]
    pub(crate) no_proof: bool,
    /// Delete the oldest segments of the log beyond this size, unless two snapshots need them [default: keep all]
    #[arg(long, value_name = "BYTES", value_parser = number::positive::<u64>, help_heading = "Log")]
    pub(crate) log_budget: Option<u64>,
    /// Delete segments of the log older than this, unless two snapshots need them: 12h, 30d [default: keep all]
    #[arg(long, value_name = "TIME", value_parser = time, help_heading = "Log")]
    pub(crate) retain: Option<Duration>,
    /// Size of a log segment in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 64 << 20, value_parser = number::positive::<u64>, help_heading = "Log")]
    pub(crate) segment_bytes: u64,
    /// Maximum number of rows waiting to be learned; further requests are answered with 429
    #[arg(long, value_name = "ROWS", default_value_t = 200_000, value_parser = number::positive::<usize>, help_heading = "Log")]
    pub(crate) queue_rows: usize,
    /// Period of the statistics and alarms: 10s, 1m [default: 1m; demo: 4s]
    #[arg(long, value_name = "TIME", value_parser = time, help_heading = "Page and alarms")]
    pub(crate) alarm_period: Option<Duration>,
    /// Learn scored rows with --label-default if no label arrives within this time: 30s, 10m, 2h [default: wait for the label]
    #[arg(long, value_name = "TIME", value_parser = time, requires = "label_default", help_heading = "Labels")]
    pub(crate) label_window: Option<Duration>,
    /// Label of rows for which none arrived within --label-window
    #[arg(long, value_name = "LABEL", requires = "label_window", help_heading = "Labels")]
    pub(crate) label_default: Option<String>,
    /// What to do with labels that arrive after --label-window
    #[arg(long, value_enum, default_value = "drop", help_heading = "Labels")]
    pub(crate) late: LateArg,
    /// Maximum number of rows waiting for labels; when it is reached the oldest ones leave
    #[arg(long, value_name = "ROWS", default_value_t = 1_000_000, value_parser = number::positive::<usize>, help_heading = "Labels")]
    pub(crate) pending_rows: usize,
    /// Memory of the ids that are remembered [default: a quarter of --memory]
    #[arg(long, value_name = "SIZE", value_parser = amount, help_heading = "Memory")]
    pub(crate) id_memory: Option<u64>,
    /// Memory of rows that wait for labels [default: an eighth, at most 256MiB]
    #[arg(long, value_name = "SIZE", value_parser = amount, help_heading = "Memory")]
    pub(crate) pending_memory: Option<u64>,
    /// Memory of all requests together [default: a quarter of --memory]
    #[arg(long, value_name = "SIZE", value_parser = amount, help_heading = "Memory")]
    pub(crate) request_memory: Option<u64>,
    /// Pause learning if the share of positive labels (or the mean label) leaves this range: 0.01..0.2
    #[arg(long, value_name = "LOW..HIGH", value_parser = band, help_heading = "Breaker")]
    pub(crate) breaker_labels: Option<(f64, f64)>,
    /// Pause learning if more than this share of rows is refused: 0.2
    #[arg(long, value_name = "SHARE", value_parser = number::share, help_heading = "Breaker")]
    pub(crate) breaker_refused: Option<f64>,
    /// Minimum number of rows over which the two shares are computed
    #[arg(long, value_name = "ROWS", default_value_t = 10_000, value_parser = number::positive::<u64>, help_heading = "Breaker")]
    pub(crate) breaker_rows: u64,
    /// Use integer feature ids without hashing; feature names are refused
    #[arg(long, help_heading = "Rows of a new model")]
    pub(crate) no_hash: bool,
    /// Hash features into 2^BITS slots
    #[arg(short = 'b', long, value_name = "BITS", conflicts_with = "no_hash", default_value_t = 22,
          value_parser = number::whole::<u8>, help_heading = "Rows of a new model")]
    pub(crate) bits: u8,
    /// Add products of the features of two or three namespaces, given by their first letters (may be repeated)
    #[arg(short = 'q', value_name = "AB", help_heading = "Rows of a new model")]
    pub(crate) quadratic: Vec<String>,
    /// Field or column of the label [default: label, target, click, class, outcome or y]
    #[arg(long, aliases = ["label", "target"], value_name = "COLUMN", help_heading = "Rows of a new model")]
    pub(crate) label_column: Option<String>,
    /// Field or column of the importance weight [default: sample_weight, importance or example_weight; none for no column]
    #[arg(long, value_name = "COLUMN", help_heading = "Rows of a new model")]
    pub(crate) weight_column: Option<String>,
    /// File with the kinds of the columns, written by `parsimon schema` [default: the first rows show the kinds]
    #[arg(long, value_name = "FILE", help_heading = "Rows of a new model")]
    pub(crate) schema: Option<PathBuf>,
    /// Read cells by the kind of their column, which the first 1,024 rows or 10 seconds show, or each cell by itself
    #[arg(
        long,
        value_enum,
        default_value = "column",
        value_name = "BY",
        conflicts_with = "schema",
        help_heading = "Rows of a new model"
    )]
    kinds: KindsArg,
    #[command(flatten)]
    pub(crate) spec: SpecArgs,
    #[command(flatten)]
    pub(crate) learner: LearnerArgs,
    /// How much to log to standard error
    #[arg(long, value_name = "LEVEL", value_enum, default_value = "info")]
    pub(crate) verbosity: VerbosityArg,
    /// Train other settings on the log of a model to compare with it (may be repeated); FILE has the settings as JSON, such as
    /// {"algorithm": "ftrl", "l1": 5}
    #[arg(long = "shadow", value_name = "MODEL/NAME=FILE")]
    pub(crate) shadows: Vec<String>,
    /// Print errors only
    #[arg(long)]
    pub(crate) quiet: bool,
    /// The memory that a file of settings names.
    #[arg(skip)]
    pub(crate) memory: Option<u64>,
}

/// Levels of the log on standard error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum VerbosityArg {
    /// What ends the service
    Error,
    /// Also pauses, skipped records, trouble with snapshots, and requests answered with 5xx
    Warn,
    /// Also snapshots and versions
    Info,
    /// Also every request, with its X-Request-Id
    Debug,
}

/// The command line without its first words.
#[derive(Debug, Parser)]
#[command(name = "parsimon serve", no_binary_name = true)]
struct Configured {
    #[command(flatten)]
    args: ServeArgs,
}

impl ServeArgs {
    /// The flags of the demo: those that were given, and a model of clicks whose labels come within a period.
    pub(crate) fn for_demo(&self, data: &std::path::Path) -> Result<Self, String> {
        let period = self.alarm_period.unwrap_or(Duration::from_secs(4));
        let (period_ms, listen) = (format!("{}ms", period.as_millis()), self.listen.to_string());
        let words = [
            ["--model", "clicks"],
            ["--loss", "logistic"],
            ["--half-life", "30000"],
            ["--label-default", "0"],
            ["--label-window", &period_ms],
            ["--alarm-period", &period_ms],
            ["--snapshot-after", "30s"],
            ["--bits", "18"],
            ["--kinds", "cell"],
            ["--listen", &listen],
        ];
        let parsed = Configured::try_parse_from(words.as_flattened());
        let args = parsed.map_err(|e| e.to_string())?.args;
        let (data, demo_rate) = (Some(data.to_owned()), self.demo_rate);
        let (shadows, no_proof, quiet) = (self.shadows.clone(), self.no_proof, self.quiet);
        Ok(Self { demo: true, quiet, data, demo_rate, shadows, no_proof, ..args })
    }

    /// Whether the first rows of a new model show the kinds of its columns.
    pub(crate) fn finds_kinds(&self) -> bool {
        self.schema.is_none() && self.kinds == KindsArg::Column
    }

    /// The flags that a TOML text has as keys.
    pub(crate) fn from_toml(text: &str) -> Result<Self, String> {
        let mut table: toml::Table = text.parse().map_err(|e: toml::de::Error| e.to_string())?;
        // A flag of all commands.
        let memory = match table.remove("memory") {
            None => None,
            Some(toml::Value::String(text)) => {
                Some(amount(&text).map_err(|e| format!("memory: {e}"))?)
            }
            Some(other) => {
                return Err(format!("memory: expected a text such as \"4GB\", got {other}"));
            }
        };
        let mut words = Vec::new();
        for (key, value) in &table {
            let flag = match key.len() {
                1 => format!("-{key}"),
                _ => format!("--{}", key.replace('_', "-")),
            };
            let list = match value {
                toml::Value::Array(list) => list.as_slice(),
                one => std::slice::from_ref(one),
            };
            for value in list {
                match value {
                    toml::Value::Boolean(true) => words.push(flag.clone()),
                    toml::Value::Boolean(false) => {}
                    toml::Value::String(text) => words.extend([flag.clone(), text.clone()]),
                    toml::Value::Integer(_) | toml::Value::Float(_) => {
                        words.extend([flag.clone(), value.to_string()]);
                    }
                    _ => {
                        return Err(format!(
                            "{key}: expected a text, a number, true, false, or a list of them"
                        ));
                    }
                }
            }
        }
        if table.contains_key("config") {
            return Err("a file of settings cannot name another".into());
        }
        let parsed = Configured::try_parse_from(words).map_err(|e| {
            let words = e.to_string();
            words.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned()
        })?;
        Ok(Self { memory, ..parsed.args })
    }
}

/// Which disks have a row when it is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AcksArg {
    /// That of this service
    Leader,
    /// That of this service, and that of its follower
    Follower,
}

/// Treatment of a label that arrives after the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LateArg {
    /// Answer "late": true and learn nothing
    Drop,
    /// Learn the row a second time
    Learn,
}

/// A time with its unit.
pub(super) fn time(text: &str) -> Result<Duration, String> {
    let wrong = || format!("expected a time such as 500ms, 90s, 10m or 2h, got {text:?}");
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let seconds = match unit {
        "ms" => 1e-3,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        "d" => 86400.0,
        _ => return Err(wrong()),
    };
    let number: f64 = number.parse().map_err(|_| wrong())?;
    Duration::try_from_secs_f64(number * seconds).ok().filter(|t| !t.is_zero()).ok_or_else(wrong)
}

/// An address with its port.
fn address(text: &str) -> Result<SocketAddr, String> {
    let expected = "expected an address and a port, such as 127.0.0.1:8080 or 0.0.0.0:8080";
    text.parse().map_err(|_| format!("{expected}, got {text:?}"))
}

/// Two numbers, the smaller first.
fn band(text: &str) -> Result<(f64, f64), String> {
    let ends = text.split_once("..").and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
    ends.filter(|(low, high): &(f64, f64)| low <= high)
        .ok_or_else(|| format!("expected a band such as 0.01..0.2, got {text:?}"))
}

/// A model as the command line has it.
pub(crate) struct NamedModel {
    pub(crate) name: String,
    pub(crate) file: Option<PathBuf>,
}

impl NamedModel {
    /// `NAME=FILE`, or `NAME` for a model without a file.
    pub(crate) fn new(text: &str) -> Result<Self, String> {
        let (name, file) = match text.split_once('=') {
            Some((name, file)) => (name, Some(PathBuf::from(file))),
            None => (text, None),
        };
        parsimon_serve::check_name(name)?;
        Ok(Self { name: name.to_owned(), file })
    }
}

/// A shadow as the command line has it.
pub(crate) struct NamedShadow<'a> {
    pub(crate) model: &'a str,
    pub(crate) name: &'a str,
    pub(crate) file: PathBuf,
}

impl<'a> NamedShadow<'a> {
    /// `MODEL/NAME=FILE`.
    pub(crate) fn new(text: &'a str) -> Result<Self, String> {
        let parts =
            text.split_once('=').and_then(|(names, file)| Some((names.split_once('/')?, file)));
        let Some(((model, name), file)) = parts else {
            return Err(format!("expected MODEL/NAME=FILE, got {text:?}"));
        };
        Ok(Self { model, name, file: PathBuf::from(file) })
    }
}

#[derive(Debug, Args)]
pub(crate) struct LogArgs {
    #[command(subcommand)]
    pub(crate) command: LogCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LogCommand {
    /// Print the contents of the log as JSON
    Inspect(LogDirectory),
    /// Read every record and check that none is damaged or missing
    Verify(LogDirectory),
    /// Train a model on all rows of the log; the service must not be running
    Replay(ReplayArgs),
    /// Write the learned rows in the format in which they were sent
    Export(ExportArgs),
    /// Copy a log with its snapshots; the service may be running
    Backup(BackupArgs),
    /// Copy a backup into the data directory of a service
    Restore(RestoreArgs),
    /// Cut a damaged log before the damage. Prints what is lost; changes nothing without --yes or --output
    Repair(RepairArgs),
    /// Learn the end of a log that an earlier version wrote, so that a service can continue with it
    Upgrade(LogDirectory),
}

#[derive(Debug, Args)]
pub(crate) struct BackupArgs {
    #[command(flatten)]
    pub(crate) log: LogDirectory,
    /// Directory to copy to; it must be empty or not exist
    #[arg(value_name = "DEST")]
    pub(crate) destination: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct RestoreArgs {
    /// The backup
    #[arg(value_name = "BACKUP")]
    pub(crate) backup: PathBuf,
    /// The directory of the model in the data directory of the service; it must be empty or not exist
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct RepairArgs {
    #[command(flatten)]
    pub(crate) log: LogDirectory,
    /// Cut the log in place; what is cut stays in the directory in files whose names begin with damaged-
    #[arg(long, conflicts_with = "output")]
    pub(crate) yes: bool,
    /// Leave the log as it is and write a repaired copy to this directory, which must be empty or not exist
    #[arg(short = 'o', long = "output", value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct LogDirectory {
    /// The directory of the model in the data directory of the service
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    #[command(flatten)]
    pub(crate) log: LogDirectory,
    /// Leave out rows (may be repeated): id=A,B for rows with these ids, seq=7 or seq=7-20 for the rows of these records
    #[arg(long, value_name = "SELECTOR")]
    pub(crate) without: Vec<String>,
    /// File to write the model to
    #[arg(short = 'o', long = "output", value_name = "MODEL")]
    pub(crate) output: Option<PathBuf>,
    /// File to write a checkpoint to, from which a service can continue
    #[arg(long, value_name = "FILE")]
    pub(crate) checkpoint: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    pub(crate) log: LogDirectory,
    /// Write the rows that could not be learned, with the reasons, as JSON lines
    #[arg(long, conflicts_with = "format")]
    pub(crate) set_aside: bool,
    /// Write only the rows after this record
    #[arg(long, value_name = "RECORD", default_value_t = 0, value_parser = number::whole::<u64>)]
    pub(crate) after: u64,
    /// Write only the rows of this format: svmlight, vw, csv, tsv or json [default: all, with a file for each format]
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<parsimon::data::Format>,
    /// File to write the rows to [default: standard output]
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use parsimon_testing::Mutator;

    use super::ServeArgs;

    /// Files of settings with any damage are read, or refused with a reason in one line.
    #[test]
    fn damaged_settings_are_refused_in_words() {
        let seeds = [
            "listen = \"127.0.0.1:7777\"\nmodel = [\"a=a.psm\", \"b=b.psm\"]\nquiet = true\n",
            "model = \"m\"\ndata = \"state\"\nalgorithm = \"ftrl\"\nl1 = 0.5\nbits = 18\nquiet = false\n",
        ];
        let seeds: Vec<Vec<u8>> = seeds.iter().map(|text| text.as_bytes().to_vec()).collect();
        let words: Vec<Vec<u8>> =
            [&b"[["[..], b"''", b"\"\"\"", b"config = 1\n", b"1979-05-27", b"= {}", b"-", b"inf"]
                .map(<[u8]>::to_vec)
                .to_vec();
        let mut mutator = Mutator::new(1, &seeds, &words);
        let (mut refused, mut taken) = (0, 0);
        for _ in 0..3000 {
            let bytes = mutator.next();
            let Ok(text) = std::str::from_utf8(&bytes) else { continue };
            match ServeArgs::from_toml(text) {
                Ok(_) => taken += 1,
                Err(reason) => {
                    assert!(!reason.is_empty(), "{text:?}");
                    refused += 1;
                }
            }
        }
        assert!(refused > 300 && taken > 200, "{refused} refused, {taken} taken");
    }
}

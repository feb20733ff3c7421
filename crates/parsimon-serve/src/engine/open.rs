//! A model that learns, opened: from nothing, from a checkpoint, or from what its log and snapshots hold.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use parsimon::settings::Precision;
use parsimon::{InputSchema, LearnerOptions, Settings, Spec, Trainer};
use parsimon_log::{Log, Options as LogOptions};
use xxhash_rust::xxh3::xxh3_64;

use super::id_table::IdTable;
use super::model::{Model, Opened};
use super::policy::Policy;
use super::record::{KindsFrom, Start, kind};
use super::replay::{Replay, Stop};
use super::replica::{Live, Version};
use super::snapshot::Snapshot;
use super::status::Status;
use super::warming::Warming;

/// A number for the arithmetic of learning. It rises when the same rows lead to other bits.
pub const ARITHMETIC: u32 = 4;

/// Start of a learning model.
#[derive(Clone, Debug)]
pub enum Source {
    /// The content of its log.
    Log,
    /// An empty log: settings and the reading of rows.
    Fresh {
        /// The settings.
        settings: Box<Settings>,
        /// Precision and bias.
        options: LearnerOptions,
        /// The reading of rows.
        schema: Box<InputSchema>,
        /// Whether the first rows decide the kinds of the columns. They are logged, and learned when the kinds are known.
        finds_kinds: bool,
    },
    /// A checkpoint.
    Checkpoint(PathBuf),
}

/// Why a model cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The log cannot be opened or read.
    #[error(transparent)]
    Log(#[from] parsimon_log::Error),
    /// The log takes nothing.
    #[error("{0}")]
    Append(String),
    /// A checkpoint or a snapshot cannot be used.
    #[error(transparent)]
    State(#[from] parsimon::Error),
    /// Anything else; the message says what to do.
    #[error("{0}")]
    Other(String),
}

pub(crate) fn other(words: impl Into<String>) -> OpenError {
    OpenError::Other(words.into())
}

impl Model {
    /// Opens a model that learns, and replays what its log holds after the newest snapshot.
    pub fn learning(name: &str, source: &Source, policy: Policy) -> Result<Self, OpenError> {
        super::check_name(name).map_err(other)?;
        let directory = policy.data.join(name);
        let open = |options| Log::open(&directory, options);
        Self::from_log(name, source, policy, &directory, open)
    }

    /// Opens a model that learns with a log on any disk.
    #[cfg(test)]
    pub(crate) fn on_disk(
        disk: Arc<dyn parsimon_log::Disk>,
        source: &Source,
        policy: Policy,
    ) -> Result<Self, OpenError> {
        Self::from_log("m", source, policy, Path::new("simulated"), |options| {
            Log::on(disk, options)
        })
    }

    fn from_log(
        name: &str,
        source: &Source,
        policy: Policy,
        directory: &Path,
        open: impl FnOnce(LogOptions) -> Result<Log, parsimon_log::Error>,
    ) -> Result<Self, OpenError> {
        let status = Arc::new(Status::new());
        let options = LogOptions {
            segment_bytes: policy.segment_bytes,
            arithmetic: policy.arithmetic,
            notify: Some(status.clone()),
            clock: policy.clock.clone(),
            ..LogOptions::default()
        };
        let log = open(options)?;
        let begun = Instant::now();
        let mut recovered = match log.opened().last {
            0 => begin(&log, source, &policy, directory)?,
            last => recover(&log, source, &policy, directory, last)?,
        };
        recovered.seconds = begun.elapsed().as_secs_f64();
        recovered.torn = log.opened().torn;
        if recovered.live.is_warming {
            recovered.warming =
                Some(Warming::of_log(&log).map_err(|stop| stop.into_error(directory))?);
        }
        Self::start(name, log, status, policy, recovered).map_err(|e| other(e.to_string()))
    }
}

/// A log that is empty gets its first record and, from a checkpoint, its first snapshot.
fn begin(
    log: &Log,
    source: &Source,
    policy: &Policy,
    directory: &Path,
) -> Result<Opened, OpenError> {
    let (start, trainer) = match source {
        Source::Log => {
            let place = directory.display();
            return Err(other(format!(
                "{place}: there is no model yet; pass the settings of a new model, such as --loss logistic, or a checkpoint as --model NAME=FILE"
            )));
        }
        Source::Fresh { settings, options, schema, finds_kinds } => {
            let trainer = Trainer::new((**settings).clone(), *options, (**schema).clone())
                .map_err(parsimon::Error::from)?;
            let mut start = start_of(&trainer, None);
            // Ids have no kinds.
            if *finds_kinds && schema.table.is_none() && schema.bits.is_some() {
                start.kinds = KindsFrom::Warming;
            }
            (start, trainer)
        }
        Source::Checkpoint(path) => {
            let bytes = read_file(path)?;
            let trainer = Trainer::from_checkpoint(&bytes)?;
            (start_of(&trainer, Some(&bytes)), trainer)
        }
    };
    let json = serde_json::to_vec(&start).map_err(|e| other(e.to_string()))?;
    let ticket = log.append(kind::START, &json).map_err(|e| OpenError::Append(e.to_string()))?;
    log.wait_durable(ticket.seq).map_err(|e| OpenError::Append(e.to_string()))?;
    let epoch = log.epochs().of(ticket.seq).number;
    let mut live = Live::new(trainer, Version { epoch, seq: ticket.seq });
    live.is_warming = start.is_warming();
    if start.checkpoint.is_some() {
        let snapshot = Snapshot::new(&start, &live);
        log.write_snapshot(ticket.seq, |out| snapshot.write(out))?;
    }
    Ok(Opened::new(start, live, IdTable::new(policy)))
}

fn read_file(path: &Path) -> Result<Vec<u8>, OpenError> {
    std::fs::read(path).map_err(|e| other(format!("{}: {e}", path.display())))
}

/// Description of a trainer, as stored in the first record.
pub(crate) fn start_of(trainer: &Trainer, checkpoint: Option<&[u8]>) -> Start {
    Start {
        settings: trainer.settings().to_json().clone(),
        precision: trainer.options().precision.to_string(),
        bias: trainer.options().bias,
        schema: trainer.schema().clone(),
        checkpoint: checkpoint.map(|bytes| format!("{:016x}", xxh3_64(bytes))),
        version: env!("CARGO_PKG_VERSION").into(),
        kinds: KindsFrom::Start,
        settled: None,
    }
}

/// The newest snapshot and the records after it.
fn recover(
    log: &Log,
    source: &Source,
    policy: &Policy,
    directory: &Path,
    last: u64,
) -> Result<Opened, OpenError> {
    let mut opened = match rebuild(log, policy, directory, last, Replay::new(log)) {
        // A record that is skipped: learned again with a copy of the state to go back to.
        Err(Stop::Diverged) => rebuild(log, policy, directory, last, Replay::careful(log)),
        opened => opened,
    }
    .map_err(|stop| stop.into_error(directory))?;
    agree(source, &opened.start, directory)?;
    let before = log.opened().arithmetic;
    if let Some(before) = before.filter(|before| *before != policy.arithmetic) {
        // No record is left to learn with another arithmetic: the state is the snapshot's.
        let why =
            format!("the arithmetic of learning is number {} after {before}", policy.arithmetic);
        super::upgrade::begin(log, &why, &opened.start, &mut opened.live, &mut opened.table)?;
        opened.notes.push(why);
    }
    Ok(opened)
}

/// The state after the last record: a snapshot, and what was learned since.
fn rebuild(
    log: &Log,
    policy: &Policy,
    directory: &Path,
    last: u64,
    mut replay: Replay<'_>,
) -> Result<Opened, Stop> {
    let place = directory.display();
    let (newest, bad) = log.newest_snapshot(last).map_err(OpenError::from)?;
    let mut state = None;
    let mut table = IdTable::new(policy);
    let found = newest.as_ref().map(|(snapshot, _)| snapshot);
    let is_foreign = super::upgrade::unlearned(log, found, policy.arithmetic).is_some();
    if let Some((_, mut bytes)) = newest {
        let unreadable =
            |e: std::io::Error| other(format!("{place}: a snapshot is unreadable: {e}"));
        let snapshot = Snapshot::read(&mut bytes).map_err(unreadable)?;
        table = snapshot.table(policy).ok_or_else(|| {
            other(format!("{place}: a snapshot has ids or waiting rows that make no sense"))
        })?;
        state = Some((snapshot.head.start.clone(), snapshot.live().map_err(OpenError::from)?));
    }
    let after = state.as_ref().map_or(0, |(_, live)| live.version.seq);
    if is_foreign {
        return Err(other(format!(
            "{place}: records {} to {last} were logged by a version of this program with another arithmetic, and no snapshot has them; run parsimon log upgrade {place}, or start the earlier version once and end it with SIGTERM",
            after + 1
        ))
        .into());
    }
    replay.run(after, last, &mut state, &mut table)?;
    let Some((start, mut live)) = state else {
        return Err(other(format!("{place}: the log has no first record")).into());
    };
    live.trainer.note_names(replay.names());
    table.release(last);
    let mut opened = Opened::new(start, live, table);
    opened.replayed = replay.rows;
    opened.notes.extend(bad.iter().map(ToString::to_string));
    Ok(opened)
}

/// A learner at the origin, as the first record describes it.
pub(crate) fn fresh(start: &Start) -> Result<Trainer, OpenError> {
    let (settings, precision) = settings_of(start)?;
    let storage = start.schema.storage();
    let options = LearnerOptions { precision, bias: start.bias, storage };
    Ok(Trainer::new(settings, options, start.schema.clone()).map_err(parsimon::Error::from)?)
}

/// Returns the settings and the precision of a first record.
pub(crate) fn settings_of(start: &Start) -> Result<(Settings, Precision), OpenError> {
    let settings = Spec::from_json(&serde_json::Value::Object(start.settings.clone()).to_string())
        .and_then(|spec| spec.resolve())
        .map_err(parsimon::Error::from)?;
    Ok((settings, start.precision.parse().map_err(OpenError::Other)?))
}

/// Refuses to continue with a log that began with something else than what is asked for.
fn agree(source: &Source, start: &Start, directory: &Path) -> Result<(), OpenError> {
    let place = directory.display();
    match source {
        Source::Log => Ok(()),
        Source::Checkpoint(path) => {
            let asked = format!("{:016x}", xxh3_64(&read_file(path)?));
            match start.checkpoint.as_deref() == Some(&asked) {
                true => Ok(()),
                false => Err(other(format!(
                    "{place}: this model did not begin with {}; leave the file out to go on with what the log holds, or choose another name",
                    path.display()
                ))),
            }
        }
        Source::Fresh { settings, schema, finds_kinds, .. } => {
            let differs = settings
                .to_json()
                .iter()
                .find(|(name, value)| start.settings.get(*name) != Some(value));
            if let Some((name, value)) = differs {
                let before = start.settings.get(name).map_or("nothing".into(), ToString::to_string);
                return Err(other(format!(
                    "{place}: this model began with {name} {before}, not {value}; leave the settings out to go on with what the log holds, or choose another name"
                )));
            }
            // What the first rows showed was not asked for, and does not contradict what was.
            let asked = match *finds_kinds && start.kinds == KindsFrom::Rows {
                true => InputSchema {
                    table: start.schema.table.clone(),
                    found: start.schema.found.clone(),
                    label_column: start.schema.label_column.clone(),
                    weight_column: start.schema.weight_column.clone(),
                    ..(**schema).clone()
                },
                false => (**schema).clone(),
            };
            match asked == start.schema {
                true => Ok(()),
                false => Err(other(format!(
                    "{place}: this model began with rows that are read in another way; leave the settings out to go on with what the log holds"
                ))),
            }
        }
    }
}

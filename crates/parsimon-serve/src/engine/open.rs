//! A model that learns, opened: from nothing, from a checkpoint, or from what its log and snapshots hold.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parsimon::core::{Chunk, Precision};
use parsimon::data::{Format, Names, RowParser};
use parsimon::{InputSchema, LearnerOptions, Settings, Spec, Trainer};
use parsimon_log::{Content, Log, Options as LogOptions};
use xxhash_rust::xxh3::xxh3_64;

use super::desk::Reading;
use super::model::{Model, Opened};
use super::policy::Policy;
use super::record::{Forget, Rows, Start, kind};
use super::replica::{Live, Version};
use super::snapshot::Snapshot;
use super::status::Status;
use super::tables::Tables;

/// A number for the arithmetic of learning. It rises when the same rows lead to other bits.
pub const ARITHMETIC: u32 = 1;

/// What a model that learns begins with.
#[derive(Clone, Debug)]
pub enum Source {
    /// What its log holds.
    Log,
    /// Nothing: settings, and how rows are read.
    Fresh {
        /// The settings.
        settings: Box<Settings>,
        /// Precision and bias.
        options: LearnerOptions,
        /// How rows are read.
        schema: Box<InputSchema>,
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
        let status = Arc::new(Status::new());
        let options = LogOptions {
            segment_bytes: policy.segment_bytes,
            arithmetic: ARITHMETIC,
            notify: Some(status.clone()),
            ..LogOptions::default()
        };
        let log = Log::open(&directory, options)?;
        let begun = Instant::now();
        let mut recovered = match log.opened().last {
            0 => begin(&log, source, &policy, &directory)?,
            last => recover(&log, source, &policy, &directory, last)?,
        };
        recovered.seconds = begun.elapsed().as_secs_f64();
        recovered.torn = log.opened().torn;
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
                "{place}: there is no model yet; pass its settings, or a checkpoint as NAME=FILE"
            )));
        }
        Source::Fresh { settings, options, schema } => {
            let trainer = Trainer::new((**settings).clone(), *options, (**schema).clone())
                .map_err(parsimon::Error::from)?;
            (start_of(&trainer, None), trainer)
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
    let live = Live::new(trainer, Version { epoch, seq: ticket.seq });
    if start.checkpoint.is_some() {
        let snapshot = Snapshot::new(&start, &live, Vec::new(), Vec::new());
        log.write_snapshot(ticket.seq, |out| snapshot.write(out))?;
    }
    Ok(Opened::new(start, live, Tables::new(policy)))
}

fn read_file(path: &Path) -> Result<Vec<u8>, OpenError> {
    std::fs::read(path).map_err(|e| other(format!("{}: {e}", path.display())))
}

/// What a trainer is, as the first record has it.
fn start_of(trainer: &Trainer, checkpoint: Option<&[u8]>) -> Start {
    Start {
        settings: trainer.settings().to_json().clone(),
        precision: trainer.frame().precision.to_string(),
        bias: trainer.frame().bias,
        schema: trainer.schema().clone(),
        checkpoint: checkpoint.map(|bytes| format!("{:016x}", xxh3_64(bytes))),
        version: env!("CARGO_PKG_VERSION").into(),
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
    let place = directory.display();
    if log.opened().arithmetic.is_some_and(|n| n != ARITHMETIC) {
        return Err(other(format!(
            "{place}: the log was written by a version of this program whose arithmetic differs; use that version"
        )));
    }
    let (newest, bad) = log.newest_snapshot(last)?;
    let mut tables = Tables::new(policy);
    let mut replay = Replay::default();
    let mut state = None;
    if let Some((_, mut bytes)) = newest {
        let unreadable =
            |e: std::io::Error| other(format!("{place}: a snapshot is unreadable: {e}"));
        let snapshot = Snapshot::read(&mut bytes).map_err(unreadable)?;
        tables.ids = super::ids::Ids::restore(&snapshot.ids)
            .ok_or_else(|| other(format!("{place}: a snapshot has ids that make no sense")))?;
        tables.pending.restore(&snapshot.pending).ok_or_else(|| {
            other(format!("{place}: a snapshot has waiting rows that make no sense"))
        })?;
        state = Some((snapshot.head.start.clone(), snapshot.live()?));
    }
    let after = state.as_ref().map_or(0, |(_, live)| live.version.seq);
    let mut follower = log.follow(after)?;
    let mut reached = after;
    while reached < last {
        let record = follower.next_within(Duration::from_secs(60))?;
        let Some(record) = record else {
            return Err(other(format!("{place}: record {} cannot be read", reached + 1)));
        };
        reached = record.seq;
        let version = Version { epoch: record.epoch, seq: record.seq };
        let bad = |what: &str| other(format!("{place}: record {}: {what}", record.seq));
        match (record.content, &mut state) {
            (Content::Data { kind: kind::START, payload }, None) => {
                let start: Start = serde_json::from_slice(payload)
                    .map_err(|e| bad(&format!("the first record cannot be read: {e}")))?;
                if start.checkpoint.is_some() {
                    return Err(bad(
                        "the model began with a checkpoint, and its snapshot is missing",
                    ));
                }
                let live = Live::new(fresh(&start)?, version);
                state = Some((start, live));
            }
            (_, None) => return Err(bad("the log does not begin with what the model is")),
            (Content::Data { kind, payload }, Some((_, live))) => {
                replay
                    .apply(kind, payload, record.time, version, live, &mut tables)
                    .map_err(|e| bad(&e))?;
            }
            (Content::Epoch { .. }, Some((_, live))) => live.version = version,
        }
    }
    let Some((start, mut live)) = state else {
        return Err(other(format!("{place}: the log has no first record")));
    };
    agree(source, &start, directory)?;
    live.trainer.note_names(replay.names());
    tables.pending.settle(last);
    let mut opened = Opened::new(start, live, tables);
    opened.replayed = replay.rows;
    opened.notes.extend(bad.iter().map(ToString::to_string));
    Ok(opened)
}

/// A learner at the origin, as the first record describes it.
pub(crate) fn fresh(start: &Start) -> Result<Trainer, OpenError> {
    let settings = Spec::from_json(&serde_json::Value::Object(start.settings.clone()).to_string())
        .and_then(|spec| spec.resolve())
        .map_err(parsimon::Error::from)?;
    let precision: Precision = start.precision.parse().map_err(OpenError::Other)?;
    let storage = start.schema.storage();
    let options = LearnerOptions { precision, bias: start.bias, storage };
    Ok(Trainer::new(settings, options, start.schema.clone()).map_err(parsimon::Error::from)?)
}

/// Refuses to go on with a log that began with something else than what is asked for.
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
        Source::Fresh { settings, schema, .. } => {
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
            match **schema == start.schema {
                true => Ok(()),
                false => Err(other(format!(
                    "{place}: this model began with rows that are read in another way; leave the settings out to go on with what the log holds"
                ))),
            }
        }
    }
}

/// Records, learned again.
#[derive(Default)]
pub(crate) struct Replay {
    parsers: Vec<(Format, RowParser)>,
    chunks: Vec<Chunk>,
    names: Vec<(u32, String)>,
    pub(crate) rows: u64,
}

impl Replay {
    /// Applies a record. What is in the log was accepted before, so that nothing is refused.
    pub(crate) fn apply(
        &mut self,
        kind: u8,
        payload: &[u8],
        time: u64,
        version: Version,
        live: &mut Live,
        tables: &mut Tables,
    ) -> Result<(), String> {
        match kind {
            kind::LEARN => {
                let rows = Rows::decode(payload).ok_or("the rows cannot be read")?;
                self.parse(&rows, live)?;
                for chunk in &self.chunks {
                    live.learn(chunk, None);
                    self.rows += chunk.len() as u64;
                }
                tables.learned(&rows, &self.chunks, version.seq, time);
            }
            kind::PENDING => {
                let rows = Rows::decode(payload).ok_or("the rows cannot be read")?;
                // Waiting rows have no labels; their ids alone are needed.
                for line in super::tables::lines(rows.text) {
                    let id = super::label::id_of(line).ok_or("a waiting row has no id")?;
                    let (seq, text) = (version.seq, line.into());
                    tables
                        .pending
                        .insert(id.as_bytes(), super::pending::Waiting { text, seq, time });
                }
            }
            kind::FORGET => {
                let forget: Forget = serde_json::from_slice(payload).map_err(|e| e.to_string())?;
                tables.pending.forget(forget.until, version.seq);
            }
            kind::START => {}
            unknown => {
                return Err(format!("is of kind {unknown}, which this version does not know"));
            }
        }
        live.version = version;
        tables.pending.settle(version.seq);
        Ok(())
    }

    fn parse(&mut self, rows: &Rows<'_>, live: &Live) -> Result<(), String> {
        let place = match self.parsers.iter().position(|(format, _)| *format == rows.format) {
            Some(place) => place,
            None => {
                let trainer = &live.trainer;
                let reading = Reading::of(trainer);
                let parser = RowParser::new("record", rows.format, reading.learning())
                    .map_err(|e| e.to_string())?;
                self.parsers.push((rows.format, parser));
                self.parsers.len() - 1
            }
        };
        let parser = &mut self.parsers[place].1;
        parser.parse(rows.text, &mut self.chunks).map_err(|e| e.to_string())?;
        let named = parser
            .new_names()
            .map(|(slot, name)| (slot, String::from_utf8_lossy(name).into_owned()));
        self.names.extend(named);
        Ok(())
    }

    /// The names that were met.
    pub(crate) fn names(&self) -> Names {
        self.names.iter().map(|(slot, name)| (*slot, name.as_str())).collect()
    }
}

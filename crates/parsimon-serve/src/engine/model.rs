//! A model with a name: its parts and its operations.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use parsimon::Model as ModelFile;
use parsimon::rows::Chunk;
use parsimon_log::{Log, Notify as _};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::breaker::Gauge;
use super::feed::Feed;
use super::follow::Following;
use super::id_table::IdTable;
use super::intake::Intake;
use super::learner::{Learner, Step};
use super::pair::Pair;
use super::policy::Policy;
use super::proof::Prover;
use super::record::Start;
use super::replica::{Live, Replica, Version};
use super::request_buffers::{Readings, RowOptions, RowReading};
use super::shadow::Shadow;
use super::status::{Reached, Status};
use super::warming::Warming;
use super::watch::Watcher;
use crate::answer::Task;
use crate::error::Refusal;
use crate::memory::Held;
use crate::wait::blocking;

/// Checks the name of a model, which is a part of addresses and the name of a directory.
pub fn check_name(name: &str) -> Result<(), String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let is_short = !name.is_empty() && name.len() <= 64;
    match is_short && name.chars().all(is_plain) && !name.starts_with('.') {
        true => Ok(()),
        false => Err(format!(
            "the name of a model is up to 64 letters, digits, dashes, dots and underscores, got {name:?}; a file is given as NAME=FILE"
        )),
    }
}

/// The file in the directory of a log that says that another process goes on with the model.
pub(crate) const FENCED: &str = "FENCED";

/// A model that is served under a name.
pub struct Model {
    pub(super) name: String,
    pub(super) pair: Arc<Pair<Replica>>,
    pub(super) readings: Arc<Readings>,
    /// The settings, as JSON.
    settings: Value,
    /// Whether features are ids, not names.
    has_ids: bool,
    learning: Option<Learning>,
}

/// The side of a model that learns.
pub struct Learning {
    pub(super) shared: Arc<Shared>,
    pub(super) log: Arc<Log>,
    thread: Mutex<Option<JoinHandle<()>>>,
    pub(super) shadows: Mutex<Vec<(Arc<Shadow>, JoinHandle<()>)>>,
    proving: Mutex<Option<JoinHandle<()>>>,
    /// Places in the log that followers have come to.
    pub(super) feeds: Mutex<Vec<Feed>>,
    opened: Report,
}

/// State that requests and the learner share.
pub(crate) struct Shared {
    pub(crate) name: String,
    /// The directory of the log.
    pub(crate) directory: PathBuf,
    pub(crate) pair: Arc<Pair<Replica>>,
    pub(crate) status: Arc<Status>,
    pub(crate) policy: Policy,
    /// The settings and schema of the model; a shadow that is promoted changes them.
    pub(crate) start: Mutex<Start>,
    pub(crate) intake: Mutex<Intake>,
    pub(crate) readings: Arc<Readings>,
    /// Set if the model has, or had, a leader.
    pub(crate) following: OnceLock<Following>,
    /// Chunks whose buffers are free.
    pub(crate) spare: Mutex<Vec<Chunk>>,
    pub(crate) expiry_due: Mutex<Instant>,
    /// The measurements of the breaker.
    pub(crate) gauge: Gauge,
    /// Compares snapshots with the log.
    pub(crate) prover: Arc<Prover>,
}

impl Shared {
    /// Shows the ids and the pause that a model was opened with.
    fn show_intake(&self, fenced: Option<&str>) {
        let mut intake = self.intake.lock().unwrap_or_else(PoisonError::into_inner);
        self.status.count_ids(&intake.table);
        self.status.set_paused(intake.paused.is_some());
        if let Some(note) = fenced {
            let note: Value = serde_json::from_str(note).unwrap_or(Value::Null);
            let why = note["why"].as_str().unwrap_or("another process goes on with this model");
            intake.close(&self.status, why);
            self.status.fenced.store(true, Ordering::Relaxed);
        }
    }
}

/// Refuses limits of the label rate where labels are classes.
fn check_breaker(policy: &Policy, task: &Task) -> Result<(), String> {
    match policy.breaker.labels.is_some() && task.outputs() > 1 {
        true => Err("the label rate of several classes cannot be watched".into()),
        false => Ok(()),
    }
}

/// The state of a model that was opened.
pub(crate) struct Opened {
    pub(crate) start: Start,
    pub(crate) live: Live,
    pub(crate) table: IdTable,
    pub(crate) replayed: u64,
    pub(crate) seconds: f64,
    pub(crate) torn: u64,
    pub(crate) notes: Vec<String>,
    /// The first rows, while they are collected.
    pub(crate) warming: Option<Warming>,
}

impl Opened {
    pub(crate) fn new(start: Start, live: Live, table: IdTable) -> Self {
        Self {
            start,
            live,
            table,
            replayed: 0,
            seconds: 0.0,
            torn: 0,
            notes: Vec::new(),
            warming: None,
        }
    }
}

/// A report of opening a model, for people.
#[derive(Clone, Debug)]
pub struct Report {
    /// Rows that were learned again from the log.
    pub replayed: u64,
    /// Duration in seconds.
    pub seconds: f64,
    /// Bytes of unfinished records that were cut from the end of the log.
    pub torn: u64,
    /// Further notes.
    pub notes: Vec<String>,
}

/// Time in which a follower must confirm a record if acknowledgements need it.
const FOLLOWER_PATIENCE: Duration = Duration::from_secs(30);

/// When a request is answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ack {
    /// When its record is in the log and synced.
    #[default]
    Durable,
    /// When its record is written to the system. A power cut may lose it.
    Logged,
    /// When it is durable and scores include it.
    Visible,
}

impl Ack {
    /// By its name.
    pub fn parse(text: &str) -> Result<Self, String> {
        match text {
            "durable" => Ok(Self::Durable),
            "logged" => Ok(Self::Logged),
            "visible" => Ok(Self::Visible),
            other => Err(format!("ack is durable, logged or visible, got {other:?}")),
        }
    }

    fn is_reached(self, reached: &Reached, seq: u64) -> bool {
        match self {
            Self::Durable => reached.durable >= seq && reached.is_copied(seq),
            Self::Logged => reached.logged >= seq,
            Self::Visible => {
                reached.durable >= seq && reached.is_copied(seq) && reached.visible.seq >= seq
            }
        }
    }
}

impl Model {
    /// Serves a model file. It cannot learn.
    pub fn read_only(name: &str, path: &Path) -> Result<Self, parsimon::error::FormatError> {
        let file = ModelFile::load(path)?;
        let task = Task::of(&file);
        let reading = RowOptions::new(file.settings(), file.schema(), file.precision().max_value());
        let settings = json!({
            "settings": file.settings().completed(&file.schema().found),
            "precision": file.precision().to_string(),
            "provenance": file.provenance(),
        });
        let has_ids = file.schema().bits.is_none();
        let reading = RowReading::new(reading, file.schema(), task);
        let frozen = Replica::frozen(file);
        let second = frozen.shared().unwrap_or_else(|| unreachable!("it is frozen"));
        Ok(Self {
            name: name.to_owned(),
            pair: Arc::new(Pair::new(frozen, second)),
            readings: Arc::new(Readings::new(reading)),
            settings,
            has_ids,
            learning: None,
        })
    }

    /// Starts the learner of a model that was opened.
    #[expect(clippy::too_many_lines, reason = "every part is made and handed to the others once")]
    pub(super) fn start(
        name: &str,
        log: Log,
        status: Arc<Status>,
        policy: Policy,
        opened: Opened,
    ) -> Result<Self, parsimon::Error> {
        let Opened { start, live, table, replayed, seconds, torn, notes, warming } = opened;
        let trainer = &live.trainer;
        let task = Task::new(trainer.settings(), trainer.schema());
        let reading = RowOptions::of(&start, trainer);
        let settings = json!({
            "settings": trainer.settings().completed(&trainer.schema().found),
            "precision": trainer.options().precision.to_string(),
        });
        let has_ids = trainer.schema().bits.is_none();
        super::label::check_default(&policy, &start, reading.learning())
            .and_then(|()| check_breaker(&policy, &task))
            .map_err(|words| parsimon::Error::Usage(words.into()))?;
        let (second, version) = (live.copied()?, live.version);
        let paused = live.paused.clone();
        let watch = Watcher::new(name, status.clone(), &live, &task, policy.period);
        let replicas = [live, second].map(|live| Replica::Live(Box::new(live)));
        let [one, other] = replicas;
        let pair = Arc::new(Pair::new(one, other));
        let (steps, received) = channel();
        let intake = Intake {
            table,
            epoch: version.epoch,
            steps,
            closed: None,
            paused,
            record: Vec::new(),
            warming,
            settled: start.settled.unwrap_or(0),
            leader: None,
            copied: None,
            held: Held::default(),
        };
        let start_is_warming = start.is_warming();
        let fenced = std::fs::read_to_string(policy.data.join(name).join(FENCED)).ok();
        let (log, due) = (Arc::new(log), Instant::now() + policy.snapshot_after);
        let gauge = Gauge::new(policy.breaker, !task.classes().is_empty());
        let readings = Arc::new(Readings::new(RowReading::new(reading, &start.schema, task)));
        let shared = Arc::new(Shared {
            name: name.to_owned(),
            directory: policy.data.join(name),
            pair: pair.clone(),
            status: status.clone(),
            policy,
            start: Mutex::new(start),
            intake: Mutex::new(intake),
            readings: readings.clone(),
            following: OnceLock::new(),
            spare: Mutex::default(),
            expiry_due: Mutex::new(Instant::now()),
            gauge,
            prover: Arc::default(),
        });
        if shared.policy.acks_follower {
            status.need_follower();
        }
        status.advanced(log.progress());
        // Rows that are collected are in no score yet.
        status.show(Version { seq: if start_is_warming { 1 } else { version.seq }, ..version });
        shared.show_intake(fenced.as_deref());
        let learner = Learner {
            shared: shared.clone(),
            log: log.clone(),
            steps: received,
            names: Vec::new(),
            rows_since: replayed,
            snapshot_due: due,
            forget_due: Instant::now(),
            watch,
            mark_due: Instant::now(),
            marked: 0,
            has_given_up: false,
            margins: Vec::new(),
        };
        let spawned = std::thread::Builder::new().name(format!("learn {name}"));
        let thread = spawned.spawn(move || learner.run()).map_err(|e| {
            parsimon::Error::Usage(format!("the learner's thread cannot be started: {e}").into())
        })?;
        let proving = if shared.policy.prove { shared.prover.start(name, &log) } else { None };
        let opened = Report { replayed, seconds, torn, notes };
        let thread = Mutex::new(Some(thread));
        Ok(Self {
            name: name.to_owned(),
            pair,
            readings,
            settings,
            has_ids,
            learning: Some(Learning {
                shared,
                log,
                thread,
                shadows: Mutex::default(),
                proving: Mutex::new(proving),
                feeds: Mutex::default(),
                opened,
            }),
        })
    }

    /// The name it is served under.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How its margins are read.
    pub fn task(&self) -> &Task {
        &self.readings.latest().task
    }

    /// Whether features are ids, not names.
    pub fn has_ids(&self) -> bool {
        self.has_ids
    }

    /// The state that scores are made with now.
    pub fn version(&self) -> Version {
        self.pair.read().version()
    }

    /// Whether the model learns at all.
    pub fn learns(&self) -> bool {
        self.learning.is_some()
    }

    /// The side that learns, or the reason why the model does not learn.
    pub fn learner(&self) -> Result<&Learning, Refusal> {
        self.learning.as_ref().ok_or_else(|| {
            let name = &self.name;
            Refusal::conflict(format!("{name:?} is a model file and cannot learn; serve a checkpoint, or settings, instead"))
        })
    }

    /// The report of opening the model; `None` for a model file.
    pub fn report(&self) -> Option<&Report> {
        self.learning.as_ref().map(|learning| &learning.opened)
    }

    /// The status of the model.
    pub fn about(&self) -> Value {
        let mut about = json!({
            "name": self.name,
            "learns": self.learns(),
            "accepting": false,
            "loss": self.task().loss_name(),
            "classes": self.task().classes(),
            "version": self.version(),
            "model": self.settings,
        });
        if let Some(learning) = &self.learning {
            learning.describe(&mut about);
        }
        about
    }

    /// Scores rows that are ids already.
    pub fn score_rows(&self, chunk: &Chunk, each: impl FnMut(&super::Scored<'_>)) {
        let (margins, weights) = (&mut Vec::new(), &mut Vec::new());
        // Ids have no kinds: there is one reading of them.
        self.score_chunk(chunk, false, margins, weights, each);
    }

    /// The model file as it is now.
    pub async fn download(&self) -> Result<Vec<u8>, Refusal> {
        match &self.learning {
            Some(learning) => learning.ask(Step::Model).await,
            None => match &*self.pair.read() {
                Replica::Frozen(frozen) => Ok(frozen.0.to_bytes()),
                Replica::Live(_) => Err(Refusal::unavailable("the model has no learner")),
            },
        }
    }

    /// Takes nothing to learn any more, writes a snapshot, and waits for it. Scores continue.
    pub fn close(&self) {
        if let Some(learning) = &self.learning {
            learning.close();
        }
    }
}

impl Learning {
    /// Progress of the log and of the learner.
    pub fn reached(&self) -> Reached {
        self.shared.status.now()
    }

    /// Waits until a record is acknowledged.
    pub async fn acknowledged(&self, seq: u64, ack: Ack) -> Result<(), Refusal> {
        let mut watch = self.shared.status.watch();
        let status = &self.shared.status;
        let is_over = || {
            [&status.fenced, &status.has_stopped].iter().any(|flag| flag.load(Ordering::Relaxed))
        };
        let ended = |reached: &Reached| reached.failed.is_some() || is_over();
        let reached = watch.wait_for(|reached| ended(reached) || ack.is_reached(reached, seq));
        let reached = match self.shared.policy.acks_follower {
            true => match tokio::time::timeout(FOLLOWER_PATIENCE, reached).await {
                Ok(reached) => reached,
                Err(_) => {
                    return Err(Refusal::unavailable(
                        "the follower has not confirmed the record; send the request again",
                    )
                    .with("seq", seq));
                }
            },
            false => reached.await,
        };
        match reached.map(|reached| reached.clone()) {
            Ok(reached) if ack.is_reached(&reached, seq) => Ok(()),
            Ok(Reached { failed, .. }) => {
                let closed = || self.shared.status.closed();
                let why = failed.or_else(closed).unwrap_or_else(|| "the log has failed".into());
                Err(Refusal::unavailable(why))
            }
            Err(_) => Err(Refusal::unavailable("the service is about to end")),
        }
    }

    /// Asks the learner, between two rows.
    pub(super) async fn ask<T>(
        &self,
        step: impl FnOnce(oneshot::Sender<T>) -> Step,
    ) -> Result<T, Refusal> {
        let (answer, answered) = oneshot::channel();
        // A large request may hold the lock for long.
        blocking(|| self.intake().steps.send(step(answer))).map_err(|_| gone())?;
        answered.await.map_err(|_| gone())
    }

    /// Writes a snapshot now.
    pub async fn snapshot(&self) -> Result<Version, Refusal> {
        self.ask(Step::Snapshot).await?.map_err(Refusal::unavailable)
    }

    /// A number that two states have in common only if they learned the same rows in the same order, and the version of the state.
    pub async fn digest(&self) -> Result<(Version, u64), Refusal> {
        self.ask(Step::Digest).await
    }

    /// All statistics that are kept, as JSON.
    pub(crate) async fn statistics(&self) -> Result<String, Refusal> {
        self.ask(Step::Statistics).await
    }

    /// News of the statistics, as JSON, for as long as it is listened to.
    pub(crate) fn news(&self) -> tokio::sync::watch::Receiver<Arc<str>> {
        self.shared.status.board.news.subscribe()
    }

    pub(super) fn intake(&self) -> std::sync::MutexGuard<'_, Intake> {
        self.shared.intake.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Why nothing is learned any more.
    pub fn stopped(&self) -> Option<String> {
        let reached = self.reached();
        let full = self.log.alarm().map(|why| format!("no room for the log: {why}"));
        reached.failed.or_else(|| self.shared.status.closed()).or(full)
    }

    fn close(&self) {
        self.end_shadows();
        self.shared.prover.end();
        {
            let mut intake = self.intake();
            if intake.closed.is_none() {
                intake.close(&self.shared.status, "the service is about to end");
            }
            // Learning may have ended before; its thread has not.
            let _ = intake.steps.send(Step::End);
        }
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        let proving = self.proving.lock().unwrap_or_else(PoisonError::into_inner).take();
        for thread in thread.into_iter().chain(proving) {
            let _ = thread.join();
        }
    }
}

impl Drop for Learning {
    fn drop(&mut self) {
        self.close();
    }
}

fn gone() -> Refusal {
    Refusal::unavailable("the learner has ended")
}

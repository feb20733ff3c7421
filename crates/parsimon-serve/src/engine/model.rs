//! A model with a name: what it is made of, and what can be asked of it.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;

use parsimon::Model as ModelFile;
use parsimon::data::Options;
use parsimon::rows::Chunk;
use parsimon_log::{Log, Notify as _};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::breaker::Gauge;
use super::desk::{Desks, Reading};
use super::intake::Intake;
use super::learner::{Learner, Step};
use super::pair::Pair;
use super::policy::Policy;
use super::proof::Prover;
use super::record::Start;
use super::replica::{Live, Replica, Version};
use super::shadow::Shadow;
use super::status::{Reached, Status};
use super::tables::Tables;
use super::watch::Watcher;
use crate::answer::Task;
use crate::error::Refusal;

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

/// A model that is served under a name.
pub struct Model {
    pub(super) name: String,
    pub(super) task: Task,
    pub(super) pair: Arc<Pair<Replica>>,
    pub(super) desks: Desks,
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
    pub(super) desks: Desks,
    thread: Mutex<Option<JoinHandle<()>>>,
    pub(super) shadows: Mutex<Vec<(Arc<Shadow>, JoinHandle<()>)>>,
    proving: Mutex<Option<JoinHandle<()>>>,
    opened: Report,
}

/// What requests and the learner share.
pub(crate) struct Shared {
    pub(crate) name: String,
    pub(crate) pair: Arc<Pair<Replica>>,
    pub(crate) status: Arc<Status>,
    pub(crate) policy: Policy,
    /// What the model is; a shadow that is promoted changes it.
    pub(crate) start: Mutex<Start>,
    pub(crate) intake: Mutex<Intake>,
    /// Options for rows to be learned.
    pub(crate) learning_options: Options,
    /// Chunks whose buffers are free.
    pub(crate) spare: Mutex<Vec<Chunk>>,
    /// Rows that were learned with the default label lately: id, when, the row.
    #[expect(clippy::type_complexity, reason = "a queue of three things")]
    pub(crate) late: Mutex<VecDeque<(Box<[u8]>, Instant, Box<[u8]>)>>,
    pub(crate) expiry_due: Mutex<Instant>,
    /// What the breaker watches.
    pub(crate) gauge: Gauge,
    /// Compares snapshots with the log.
    pub(crate) prover: Arc<Prover>,
}

/// What was found when a model was opened.
pub(crate) struct Opened {
    pub(crate) start: Start,
    pub(crate) live: Live,
    pub(crate) tables: Tables,
    pub(crate) replayed: u64,
    pub(crate) seconds: f64,
    pub(crate) torn: u64,
    pub(crate) notes: Vec<String>,
}

impl Opened {
    pub(crate) fn new(start: Start, live: Live, tables: Tables) -> Self {
        Self { start, live, tables, replayed: 0, seconds: 0.0, torn: 0, notes: Vec::new() }
    }
}

/// What opening a model came to, for people.
#[derive(Clone, Debug)]
pub struct Report {
    /// Rows that were learned again from the log.
    pub replayed: u64,
    /// How long it took, in seconds.
    pub seconds: f64,
    /// Bytes of unfinished records that were cut from the end of the log.
    pub torn: u64,
    /// What else is worth knowing.
    pub notes: Vec<String>,
}

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
            Self::Durable => reached.durable >= seq,
            Self::Logged => reached.logged >= seq,
            Self::Visible => reached.durable >= seq && reached.visible.seq >= seq,
        }
    }
}

impl Model {
    /// Serves a model file. It cannot learn.
    pub fn read_only(name: &str, path: &Path) -> Result<Self, parsimon::error::FormatError> {
        let file = ModelFile::load(path)?;
        let task = Task::of(&file);
        let reading = Reading::new(file.settings(), file.schema(), file.precision().max_value());
        let settings = json!({
            "settings": file.settings().completed(&file.schema().found),
            "precision": file.precision().to_string(),
            "provenance": file.provenance(),
        });
        let has_ids = file.schema().bits.is_none();
        let frozen = Replica::frozen(file);
        let second = frozen.shared().unwrap_or_else(|| unreachable!("it is frozen"));
        Ok(Self {
            name: name.to_owned(),
            task,
            pair: Arc::new(Pair::new(frozen, second)),
            desks: Desks::for_scores(&reading),
            settings,
            has_ids,
            learning: None,
        })
    }

    /// Starts the learner of a model that was opened.
    pub(super) fn start(
        name: &str,
        log: Log,
        status: Arc<Status>,
        policy: Policy,
        opened: Opened,
    ) -> Result<Self, parsimon::Error> {
        let Opened { start, live, tables, replayed, seconds, torn, notes } = opened;
        let trainer = &live.trainer;
        let task = Task::new(trainer.settings(), trainer.schema());
        let reading = Reading::of(trainer);
        let settings = json!({
            "settings": trainer.settings().completed(&trainer.schema().found),
            "precision": trainer.frame().precision.to_string(),
        });
        let has_ids = trainer.schema().bits.is_none();
        super::label::check_default(&policy, &start, reading.learning())
            .map_err(parsimon::Error::Usage)?;
        if policy.breaker.labels.is_some() && task.outputs() > 1 {
            let words = "the label rate of several classes cannot be watched";
            return Err(parsimon::Error::Usage(words.into()));
        }
        let (second, version) = (live.copied()?, live.version);
        let paused = live.paused.clone();
        let watch = Watcher::new(name, status.clone(), &live, &task, policy.period);
        let replicas = [live, second].map(|live| Replica::Live(Box::new(live)));
        let [one, other] = replicas;
        let pair = Arc::new(Pair::new(one, other));
        let (steps, received) = channel();
        let intake = Intake {
            tables,
            epoch: version.epoch,
            steps,
            closed: None,
            paused,
            record: Vec::new(),
        };
        let (log, due) = (Arc::new(log), Instant::now() + policy.snapshot_after);
        let gauge = Gauge::new(policy.breaker, !task.classes().is_empty());
        let shared = Arc::new(Shared {
            name: name.to_owned(),
            pair: pair.clone(),
            status: status.clone(),
            policy,
            start: Mutex::new(start),
            intake: Mutex::new(intake),
            learning_options: reading.learning().clone(),
            spare: Mutex::default(),
            late: Mutex::default(),
            expiry_due: Mutex::new(Instant::now()),
            gauge,
            prover: Arc::default(),
        });
        status.advanced(log.progress());
        status.show(version);
        let learner = Learner {
            shared: shared.clone(),
            log: log.clone(),
            steps: received,
            names: Vec::new(),
            rows_since: replayed,
            snapshot_due: due,
            forget_due: Instant::now(),
            watch,
            margins: Vec::new(),
        };
        let spawned = std::thread::Builder::new().name(format!("learn {name}"));
        let thread = spawned.spawn(move || learner.run()).map_err(|e| {
            parsimon::Error::Usage(format!("the learner's thread cannot be started: {e}"))
        })?;
        let proving = if shared.policy.prove { shared.prover.start(name, &log) } else { None };
        let desks = Desks::for_learning(&reading);
        let opened = Report { replayed, seconds, torn, notes };
        let thread = Mutex::new(Some(thread));
        Ok(Self {
            name: name.to_owned(),
            task,
            pair,
            desks: Desks::for_scores(&reading),
            settings,
            has_ids,
            learning: Some(Learning {
                shared,
                log,
                desks,
                thread,
                shadows: Mutex::default(),
                proving: Mutex::new(proving),
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
        &self.task
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

    /// The side that learns, or why there is none.
    pub fn learner(&self) -> Result<&Learning, Refusal> {
        self.learning.as_ref().ok_or_else(|| {
            let name = &self.name;
            Refusal::conflict(format!("{name:?} is a model file and cannot learn; serve a checkpoint, or settings, instead"))
        })
    }

    /// What opening the model came to; `None` for a model file.
    pub fn report(&self) -> Option<&Report> {
        self.learning.as_ref().map(|learning| &learning.opened)
    }

    /// What the service tells about the model.
    pub fn about(&self) -> Value {
        let mut about = json!({
            "name": self.name,
            "learns": self.learns(),
            "accepting": false,
            "loss": self.task.loss_name(),
            "classes": self.task.classes(),
            "version": self.version(),
            "model": self.settings,
        });
        if let Some(learning) = &self.learning {
            learning.tell(&mut about);
        }
        about
    }

    /// Scores rows that are ids already.
    pub fn score_rows(&self, chunk: &Chunk, each: impl FnMut(&super::Scored<'_>)) {
        self.score_chunk(chunk, &mut Vec::new(), &mut Vec::new(), each);
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

    /// Takes nothing to learn any more, writes a snapshot, and waits for it. Scores go on.
    pub fn close(&self) {
        if let Some(learning) = &self.learning {
            learning.close();
        }
    }
}

impl Learning {
    /// How far the log and the learner are.
    pub fn reached(&self) -> Reached {
        self.shared.status.now()
    }

    /// Waits until a record is acknowledged.
    pub async fn acknowledged(&self, seq: u64, ack: Ack) -> Result<(), Refusal> {
        let mut watch = self.shared.status.watch();
        let reached = watch
            .wait_for(|reached| reached.failed.is_some() || ack.is_reached(reached, seq))
            .await
            .map(|reached| reached.clone());
        match reached {
            Ok(reached) if ack.is_reached(&reached, seq) => Ok(()),
            Ok(Reached { failed, .. }) => {
                Err(Refusal::unavailable(failed.unwrap_or_else(|| "the log has failed".into())))
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
        self.intake().steps.send(step(answer)).map_err(|_| gone())?;
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
        reached.failed.or_else(|| self.intake().closed.clone()).or(full)
    }

    fn close(&self) {
        self.end_shadows();
        self.shared.prover.end();
        {
            let mut intake = self.intake();
            if intake.closed.is_none() {
                intake.closed = Some("the service is about to end".into());
                let _ = intake.steps.send(Step::End);
            }
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

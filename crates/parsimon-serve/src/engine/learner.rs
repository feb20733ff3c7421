//! The thread that learns: one for each model, and the only one that changes the model.

use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use parsimon::data::{DataError, Format, Names};
use parsimon::rows::Chunk;
use parsimon::serve::RowParser;
use parsimon_log::Log;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::intake::Intake;
use super::label::EXPIRY;
use super::model::Shared;
use super::open::{OpenError, other};
use super::policy::Labels;
use super::record::{Backlog, Origin, Paused, Start};
use super::replay::for_backlog;
use super::replica::{Live, Replica, Version};
use super::shadow::Heirs;
use super::snapshot::Snapshot;
use super::watch::Watcher;

/// What the learner does next, in the order of the log.
pub(crate) enum Step {
    /// Learn rows.
    Rows(Box<Rows>),
    /// A record that changes no weight.
    Pass(Version),
    /// Keep rows without learning them.
    Pause(Version, Paused),
    /// Learn again; the rows since a record are learned first, or never.
    Resume(Version, u64, Backlog),
    /// Go on from another state.
    Restore(Version, Box<[Live; 2]>),
    /// Go on as a shadow, whose state comes when it has learned everything before.
    Promote(Version, Box<Start>, Receiver<Heirs>),
    /// Write a snapshot, and answer when it is durable.
    Snapshot(oneshot::Sender<Result<Version, String>>),
    /// Give the model file.
    Model(oneshot::Sender<Vec<u8>>),
    /// Give the digest of the state.
    Digest(oneshot::Sender<(Version, u64)>),
    /// Give all statistics that are kept, as JSON.
    Statistics(oneshot::Sender<String>),
    /// Write a snapshot, and end.
    End,
}

/// Rows to be learned.
pub(crate) struct Rows {
    pub(crate) version: Version,
    /// The log time in milliseconds.
    pub(crate) time: u64,
    pub(crate) origin: Origin,
    pub(crate) chunks: Vec<Chunk>,
    pub(crate) names: Vec<(u32, Box<[u8]>)>,
    pub(crate) appended: Instant,
    /// Where the margins go that are predicted before the rows are learned.
    pub(crate) margins: Option<oneshot::Sender<Vec<f64>>>,
}

/// How long the learner waits for rows before it looks around.
const TICK: Duration = Duration::from_millis(500);

/// Rows that are learned at most before they are shown.
const AT_ONCE: usize = 4096;

/// The learner's side of a model.
pub(crate) struct Learner {
    pub(crate) shared: Arc<Shared>,
    pub(crate) log: Arc<Log>,
    pub(crate) steps: Receiver<Step>,
    /// Names of rows that were learned since the last snapshot.
    pub(crate) names: Vec<(u32, Box<[u8]>)>,
    pub(crate) rows_since: u64,
    pub(crate) snapshot_due: Instant,
    pub(crate) forget_due: Instant,
    pub(crate) watch: Watcher,
    /// Margins that were predicted before the latest records were learned.
    pub(crate) margins: Vec<Vec<f64>>,
}

/// How long a shadow that was promoted may take to learn what was logged before.
const SHADOW_PATIENCE: Duration = Duration::from_secs(600);

/// Between two looks at the age of logged rows.
const FORGET_EVERY: Duration = Duration::from_secs(60);

impl Learner {
    /// Learns until the end is asked for, or the log has failed.
    pub(crate) fn run(mut self) {
        let mut next = None;
        loop {
            let step = match next.take() {
                Some(step) => step,
                None => match self.steps.recv_timeout(self.tick()) {
                    Ok(step) => step,
                    Err(RecvTimeoutError::Timeout) => {
                        self.look_around();
                        continue;
                    }
                    Err(RecvTimeoutError::Disconnected) => return,
                },
            };
            match step {
                Step::Rows(rows) => {
                    if self.log.wait_durable(rows.version.seq).is_err() {
                        return;
                    }
                    next = self.learn(*rows);
                }
                Step::Pass(version) => {
                    if self.log.wait_durable(version.seq).is_err() {
                        return;
                    }
                    self.set(version, |_| {});
                }
                Step::Pause(version, paused) => {
                    if self.log.wait_durable(version.seq).is_err() {
                        return;
                    }
                    self.set(version, |live| live.paused = Some(paused.clone()));
                    tracing::warn!(model = %self.model_name(), seq = version.seq, reason = paused.reason, "learning is paused");
                }
                Step::Resume(version, since, backlog) => {
                    if self.log.wait_durable(version.seq).is_err() {
                        return;
                    }
                    if backlog == Backlog::Learn
                        && let Err(error) = self.catch_up(since, version.seq)
                    {
                        self.give_up(&error.to_string());
                    }
                    self.set(version, |live| live.paused = None);
                    tracing::info!(model = %self.model_name(), seq = version.seq, ?backlog, "learning is resumed");
                }
                Step::Restore(version, copies) => {
                    if self.log.wait_durable(version.seq).is_err() {
                        return;
                    }
                    self.restore(version, *copies);
                }
                Step::Promote(version, start, heirs) => {
                    if self.log.wait_durable(version.seq).is_err() {
                        return;
                    }
                    self.promote(version, *start, &heirs);
                }
                Step::Snapshot(answer) => {
                    let done = self.snapshot_now();
                    let _ = answer.send(done);
                }
                Step::Model(answer) => {
                    self.fold_names();
                    let model = self
                        .shared
                        .pair
                        .look(|replica| replica.live().map(|live| live.trainer.model().to_bytes()));
                    let _ = answer.send(model.unwrap_or_default());
                }
                Step::Digest(answer) => {
                    let digest = self.shared.pair.look(|replica| {
                        let digest = replica.live().map_or(0, Live::digest);
                        (replica.version(), digest)
                    });
                    let _ = answer.send(digest);
                }
                Step::Statistics(answer) => {
                    let more = self.more();
                    let all = self.shared.pair.look(|replica| {
                        replica.live().map(|live| self.watch.describe(live, more, true).to_string())
                    });
                    let _ = answer.send(all.unwrap_or_default());
                }
                Step::End => {
                    if self.rows_since > 0 || !self.names.is_empty() {
                        self.wait_for_snapshot();
                        let _ = self.snapshot_now();
                    }
                    return;
                }
            }
            self.look_around();
        }
    }

    /// How long to wait for rows.
    fn tick(&self) -> Duration {
        match self.shared.policy.labels {
            Labels::Window { .. } => EXPIRY,
            Labels::Explicit { .. } => TICK,
        }
    }

    /// Learns rows, and those that wait behind them and are durable. Gives the next step that is something else.
    fn learn(&mut self, first: Rows) -> Option<Step> {
        let durable = self.shared.status.now().durable.max(first.version.seq);
        let count = |rows: &Rows| rows.chunks.iter().map(Chunk::len).sum::<usize>();
        let mut total = count(&first);
        let mut group = vec![first];
        let mut next = None;
        while total < AT_ONCE {
            match self.steps.try_recv() {
                Ok(Step::Rows(rows)) if rows.version.seq <= durable => {
                    total += count(&rows);
                    group.push(*rows);
                }
                Ok(step) => {
                    next = Some(step);
                    break;
                }
                Err(_) => break,
            }
        }
        let arrived = Instant::now();
        let Some(version) = group.last().map(|rows| rows.version) else { return next };
        let is_paused = self
            .shared
            .pair
            .look(|replica| replica.live().is_some_and(|live| live.paused.is_some()));
        let mut margins = std::mem::take(&mut self.margins);
        margins.iter_mut().for_each(Vec::clear);
        margins.resize_with(margins.len().max(group.len()), Vec::new);
        self.absorb(&group, Some(version), is_paused, &mut margins);
        let status = &self.shared.status;
        status.waiting.fetch_sub(total, Ordering::Relaxed);
        if !is_paused {
            status.learned.fetch_add(total as u64, Ordering::Relaxed);
            self.rows_since += total as u64;
        }
        // Last: a client that waited for its rows to be visible finds them counted.
        status.show(version);
        for (mut rows, seen) in group.into_iter().zip(&margins) {
            status.commit.record(arrived.saturating_duration_since(rows.appended));
            status.visible.record(arrived.elapsed());
            self.names.append(&mut rows.names);
            if let Some(answer) = rows.margins.take() {
                let _ = answer.send(seen.clone());
            }
            // What is not learned now says nothing about learning.
            if !is_paused {
                self.watch.learned(&rows, seen);
            }
            self.shared.give_back(rows.chunks);
        }
        self.margins = margins;
        next
    }

    /// Learns records in both copies, unless learning is paused; those that would spoil the weights are skipped. Appends the
    /// margins of each record; of records that are not learned, if they ask for them.
    fn absorb(
        &mut self,
        group: &[Rows],
        version: Option<Version>,
        is_paused: bool,
        margins: &mut [Vec<f64>],
    ) {
        let (mut skipped, mut is_first) = (vec![false; group.len()], true);
        let change = |replica: &mut Replica| {
            let Some(live) = replica.live_mut() else { return true };
            for (k, rows) in group.iter().enumerate() {
                let seen = is_first.then_some(&mut margins[k]);
                if is_paused || skipped[k] {
                    if let Some(seen) = seen {
                        seen.clear();
                        if rows.margins.is_some() {
                            live.predict(&rows.chunks, seen);
                        }
                    }
                    if !is_paused {
                        live.skip(rows.version.seq);
                    }
                } else if live.learn(&rows.chunks, seen).is_err() {
                    skipped[k] = true;
                    margins[..k].iter_mut().for_each(Vec::clear);
                    return false;
                }
            }
            live.version = version.unwrap_or(live.version);
            is_first = false;
            true
        };
        let copied = self.shared.pair.write_mending(change, Replica::copied);
        for (rows, _) in group.iter().zip(&skipped).filter(|(_, is_skipped)| **is_skipped) {
            let seq = rows.version.seq;
            tracing::warn!(model = %self.model_name(), seq, "the record is skipped: weights would diverge");
        }
        if let Err(error) = copied {
            self.give_up(&error.to_string());
        }
    }

    /// Learns the rows that came while learning was paused.
    fn catch_up(&mut self, since: u64, to: u64) -> Result<(), OpenError> {
        let (log, shared) = (self.log.clone(), self.shared.clone());
        let mut parsers: Vec<(Format, RowParser)> = Vec::new();
        let unreadable = |e: DataError| other(format!("a row that was logged cannot be read: {e}"));
        for_backlog(&log, since, to, |seq, rows| {
            let place = match parsers.iter().position(|(format, _)| *format == rows.format) {
                Some(place) => place,
                None => {
                    let options = &shared.learning_options;
                    let parser =
                        RowParser::new("record", rows.format, options).map_err(unreadable)?;
                    parsers.push((rows.format, parser));
                    parsers.len() - 1
                }
            };
            let mut chunks = Vec::new();
            // Their names have been met when they came.
            parsers[place].1.parse(rows.text, &mut chunks).map_err(unreadable)?;
            let total = chunks.iter().map(Chunk::len).sum::<usize>() as u64;
            let (version, names) = (Version { epoch: 0, seq }, Vec::new());
            let (time, origin, appended) = (0, Origin::Sent, Instant::now());
            let one = Rows { version, time, origin, chunks, names, appended, margins: None };
            self.absorb(&[one], None, false, &mut [Vec::new()]);
            shared.status.learned.fetch_add(total, Ordering::Relaxed);
            self.rows_since += total;
            Ok(())
        })
    }

    /// Changes both copies after a record that has no rows.
    fn set(&self, version: Version, change: impl Fn(&mut Live)) {
        self.shared.pair.write(|replica| {
            if let Some(live) = replica.live_mut() {
                live.version = version;
                change(live);
            }
        });
        self.shared.status.show(version);
    }

    /// What events call the model.
    fn model_name(&self) -> &str {
        &self.shared.name
    }

    /// Nothing can be learned any more. Scores go on.
    fn give_up(&self, why: &str) {
        tracing::error!(model = %self.model_name(), why, "learning has stopped");
        let mut intake = self.shared.intake.lock().unwrap_or_else(PoisonError::into_inner);
        let words = format!("learning has stopped until the service is started again: {why}");
        intake.closed.get_or_insert(words);
    }

    /// What is due now and then: a snapshot, and rows that have waited for their labels for too long.
    fn look_around(&mut self) {
        self.shared.expire(&self.log);
        self.watch();
        let policy = &self.shared.policy;
        if policy.retain.is_some() && Instant::now() >= self.forget_due {
            self.forget_due = Instant::now() + FORGET_EVERY;
            if !self.shared.status.is_snapshotting.load(Ordering::Acquire) {
                let removed = remove_old(&self.shared, &self.log).map_err(|e| e.to_string());
                if let Err(words) = removed {
                    let trouble = &self.shared.status.trouble;
                    *trouble.lock().unwrap_or_else(PoisonError::into_inner) = Some(words);
                }
            }
        }
        let is_due = self.rows_since >= policy.snapshot_rows || Instant::now() >= self.snapshot_due;
        if self.rows_since > 0
            && is_due
            && !self.shared.status.is_snapshotting.load(Ordering::Acquire)
        {
            let snapshot = self.snapshot();
            self.shared.status.is_snapshotting.store(true, Ordering::Release);
            let (shared, log) = (self.shared.clone(), self.log.clone());
            let write = move || {
                let _ = write_snapshot(&shared, &log, &snapshot);
                shared.status.is_snapshotting.store(false, Ordering::Release);
            };
            let name = "snapshot".to_owned();
            if std::thread::Builder::new().name(name).spawn(write).is_err() {
                self.shared.status.is_snapshotting.store(false, Ordering::Release);
            }
        }
    }

    /// Statistics: periods that are over, and news for those who watch.
    fn watch(&mut self) {
        let clock = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let due = self.watch.tick(clock.map_or(0, |since| since.as_millis() as u64));
        let more = if due.news { self.more() } else { Value::Null };
        let (watch, names) = (&mut self.watch, &self.names);
        self.shared.pair.look(|replica| {
            let Some(live) = replica.live() else { return };
            if watch.wants_reference(live.trainer.progressive().rows()) {
                watch.set_reference(live, false);
            }
            if due.pass {
                watch.pass(live, names);
            }
            if due.news {
                watch.publish(live, more);
            }
        });
    }

    /// What the watcher does not know.
    fn more(&self) -> Value {
        let pending = {
            let intake = self.shared.intake.lock().unwrap_or_else(PoisonError::into_inner);
            intake.tables.pending.len()
        };
        json!({
            "waiting_rows": self.shared.status.waiting.load(Ordering::Relaxed),
            "pending_labels": pending,
        })
    }

    /// Waits for a snapshot that is being written.
    fn wait_for_snapshot(&self) {
        while self.shared.status.is_snapshotting.load(Ordering::Acquire) {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn snapshot_now(&mut self) -> Result<Version, String> {
        self.wait_for_snapshot();
        let snapshot = self.snapshot();
        write_snapshot(&self.shared, &self.log, &snapshot)
    }

    /// The state now. Scores go on with the other copy; learning waits.
    fn snapshot(&mut self) -> Snapshot {
        self.fold_names();
        self.rows_since = 0;
        self.snapshot_due = Instant::now() + self.shared.policy.snapshot_after;
        let seq = self.shared.pair.look(Replica::version).seq;
        let (ids, pending) = {
            let intake = self.shared.intake.lock().unwrap_or_else(PoisonError::into_inner);
            let Intake { tables, .. } = &*intake;
            (tables.ids.save(seq), tables.pending.save(seq))
        };
        let status = &self.shared.status;
        self.shared.pair.look(|replica| match replica.live() {
            Some(live) => {
                let nonzeros = live.trainer.online().nonzeros() as u64;
                status.nonzeros.store(nonzeros, Ordering::Relaxed);
                let start = self.shared.start.lock().unwrap_or_else(PoisonError::into_inner);
                Snapshot::new(&start, live, ids, pending)
            }
            None => unreachable!("a model without a learner has no learner thread"),
        })
    }

    /// Hands the names that were met to the learner. They are collected first: each handing over copies all.
    fn fold_names(&mut self) {
        if self.names.is_empty() {
            return;
        }
        let texts: Vec<(u32, String)> = std::mem::take(&mut self.names)
            .into_iter()
            .map(|(slot, name)| (slot, String::from_utf8_lossy(&name).into_owned()))
            .collect();
        let names: Names = texts.iter().map(|(slot, name)| (*slot, name.as_str())).collect();
        self.shared.pair.write(|replica| {
            if let Some(live) = replica.live_mut() {
                live.trainer.note_names(names.clone());
            }
        });
    }

    /// Goes on as a shadow. Rows that come meanwhile wait; scores go on with the old state.
    fn promote(&mut self, version: Version, start: Start, heirs: &Receiver<Heirs>) {
        match heirs.recv_timeout(SHADOW_PATIENCE) {
            Ok((mut copies, names)) => {
                copies.iter_mut().for_each(|live| live.trainer.note_names(names.clone()));
                *self.shared.start.lock().unwrap_or_else(PoisonError::into_inner) = start;
                self.restore(version, copies);
                self.snapshot_due = Instant::now();
            }
            // The log has it, and a start learns it again.
            Err(_) => self.give_up("the shadow that was promoted has not come so far"),
        }
    }

    /// Goes on from another state. The names that were met stay: a name is no less true in the past.
    fn restore(&mut self, version: Version, copies: [Live; 2]) {
        let mut copies = copies.into_iter();
        self.shared.pair.write(|replica| {
            if let (Some(live), Some(mut restored)) = (replica.live_mut(), copies.next()) {
                restored.version = version;
                *live = restored;
            }
        });
        self.rows_since = 1;
        self.shared.status.show(version);
        tracing::info!(model = %self.model_name(), ?version, "goes on from another state");
        let watch = &mut self.watch;
        self.shared.pair.look(|replica| {
            if let Some(live) = replica.live() {
                watch.set_reference(live, true);
            }
        });
    }
}

fn write_snapshot(shared: &Shared, log: &Log, snapshot: &Snapshot) -> Result<Version, String> {
    let version = Version { epoch: snapshot.head.epoch, seq: snapshot.head.seq };
    let written = log.write_snapshot(version.seq, |out| snapshot.write(out));
    let kept = written.and_then(|_| {
        log.prune_snapshots(shared.policy.snapshots)?;
        remove_old(shared, log)
    });
    if kept.is_ok() {
        shared.prover.want((version.epoch, version.seq));
    }
    let trouble = kept.as_ref().err().map(ToString::to_string);
    match &trouble {
        None => {
            tracing::info!(model = %shared.name, ?version, rows = snapshot.head.rows, "snapshot");
        }
        Some(why) => tracing::warn!(model = %shared.name, ?version, why, "snapshot"),
    }
    shared.status.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&trouble);
    trouble.map_or(Ok(version), Err)
}

/// Removes segments beyond the budget or the age. Rows that wait for learning to be resumed are in segments that stay.
fn remove_old(shared: &Shared, log: &Log) -> Result<(), parsimon_log::Error> {
    let policy = &shared.policy;
    if shared.intake.lock().unwrap_or_else(PoisonError::into_inner).paused.is_some() {
        return Ok(());
    }
    if let Some(budget) = policy.log_budget {
        log.truncate(budget)?;
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    match policy.retain {
        Some(retain) => log.forget(now.saturating_sub(retain).as_millis() as u64),
        None => Ok(()),
    }
}

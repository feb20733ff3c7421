//! The thread that learns: one for each model, and the only one that changes the model.

use std::io::{self, Write};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use parsimon::data::{DataError, Format, Names};
use parsimon::rows::Chunk;
use parsimon::serve::RowParser;
use parsimon_log::Log;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::feed::GONE;
use super::id_save::{Replaced, TableSave};
use super::id_table::State;
use super::label::EXPIRY;
use super::model::Shared;
use super::open::{OpenError, other};
use super::policy::Labels;
use super::record::{Backlog, Origin, Paused, Start, kind};
use super::replay::{Replay, Stop, for_backlog};
use super::replica::{Live, Replica, Spoiled, Version};
use super::shadow::Replacement;
use super::snapshot::Snapshot;
use super::watch::Watcher;
use crate::error::Refusal;
use crate::memory::Held;

/// Tasks of the learner, in the order of the log.
pub(crate) enum Step {
    /// Learn rows.
    Rows(Box<RowBatch>),
    /// A record that changes no weight.
    Pass(Version),
    /// Keep rows without learning them.
    Pause(Version, Paused),
    /// Learn again; the rows since a record are learned first, or never.
    Resume(Version, u64, Backlog),
    /// Continue from another state.
    Restore(Version, Box<[Live; 2]>),
    /// Go on as a shadow, whose state comes when it has learned everything before.
    Promote(Version, Box<Start>, Receiver<Replacement>),
    /// Begin anew as another model after a record, and learn the rows since.
    Relearn(Version, Box<Start>, u64),
    /// Compute the digest that is compared with that of a follower or a leader.
    Mark(Version),
    /// Write a snapshot, and answer when it is durable.
    Snapshot(oneshot::Sender<Result<Version, String>>),
    /// Send the model file.
    Model(oneshot::Sender<Vec<u8>>),
    /// Give the digest of the state.
    Digest(oneshot::Sender<(Version, u64)>),
    /// Give all statistics that are kept, as JSON.
    Statistics(oneshot::Sender<String>),
    /// Write a snapshot, and end.
    End,
}

impl Step {
    /// The record of the log that the step follows.
    fn version(&self) -> Option<Version> {
        match self {
            Self::Rows(rows) => Some(rows.version),
            Self::Pass(version)
            | Self::Pause(version, _)
            | Self::Resume(version, ..)
            | Self::Restore(version, _)
            | Self::Promote(version, ..)
            | Self::Relearn(version, ..)
            | Self::Mark(version) => Some(*version),
            Self::Snapshot(_)
            | Self::Model(_)
            | Self::Digest(_)
            | Self::Statistics(_)
            | Self::End => None,
        }
    }
}

/// Rows to be learned.
pub(crate) struct RowBatch {
    pub(crate) version: Version,
    /// The log time in milliseconds.
    pub(crate) time: u64,
    pub(crate) origin: Origin,
    pub(crate) chunks: Vec<Chunk>,
    pub(crate) names: Vec<(u32, Box<[u8]>)>,
    pub(crate) appended: Instant,
    /// Receiver of the margins that are predicted before the rows are learned.
    pub(crate) margins: Option<oneshot::Sender<Vec<f64>>>,
    /// The memory of the rows, given back when they are learned.
    pub(crate) _held: Held,
}

/// Time for which the learner waits for rows before it does other work.
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
    /// When the next mark is due, and the rows that were learned by the last one.
    pub(crate) mark_due: Instant,
    pub(crate) marked: u64,
    /// Whether the state is not to be trusted.
    pub(crate) has_given_up: bool,
    /// Margins that were predicted before the latest records were learned.
    pub(crate) margins: Vec<Vec<f64>>,
}

/// Time in which a promoted shadow must have learned all earlier records.
const SHADOW_PATIENCE: Duration = Duration::from_secs(600);

/// Between two looks at the age of logged rows.
const FORGET_EVERY: Duration = Duration::from_secs(60);

impl Learner {
    /// Learns until the end is asked for, or the log has failed.
    #[expect(clippy::too_many_lines, reason = "one loop, with an arm for each thing that may come")]
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
            // Nothing that a crash could take back is learned.
            if let Some(version) = step.version()
                && self.log.wait_durable(version.seq).is_err()
            {
                return;
            }
            if self.has_given_up && step.version().is_some() {
                // It is in the log, and scores do not include it.
                continue;
            }
            match step {
                Step::Rows(rows) => next = self.learn(*rows),
                Step::Pass(version) => self.set(version, |_| {}),
                Step::Pause(version, paused) => {
                    self.set(version, |live| live.paused = Some(paused.clone()));
                    tracing::warn!(model = %self.model_name(), seq = version.seq, reason = paused.reason, "learning is paused");
                }
                Step::Resume(version, since, backlog) => {
                    if backlog == Backlog::Learn
                        && let Err(error) = self.catch_up(since, version.seq)
                    {
                        self.give_up(&error.to_string());
                    }
                    self.set(version, |live| live.paused = None);
                    tracing::info!(model = %self.model_name(), seq = version.seq, ?backlog, "learning is resumed");
                }
                Step::Restore(version, copies) => self.restore(version, *copies),
                Step::Promote(version, start, replacement) => {
                    self.promote(version, *start, &replacement);
                }
                Step::Mark(version) => {
                    self.set(version, |_| {});
                    let digest = |replica: &Replica| replica.live().map_or(0, Live::digest);
                    let digest = self.shared.pair.look(digest);
                    self.shared.status.mark(version.seq, digest);
                }
                Step::Relearn(version, start, after) => {
                    if let Err(stop) = self.relearn(version, &start, after) {
                        let words = stop.into_error(std::path::Path::new(self.model_name()));
                        self.give_up(&words.to_string());
                    }
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
                    let has_news = self.rows_since > 0 || !self.names.is_empty();
                    if has_news && !self.is_warming() && !self.has_given_up {
                        self.wait_for_snapshot();
                        let _ = self.snapshot_now();
                    }
                    return;
                }
            }
            self.look_around();
        }
    }

    /// Time to wait for rows.
    fn tick(&self) -> Duration {
        match self.shared.policy.labels {
            Labels::Window { .. } => EXPIRY,
            Labels::Explicit { .. } => TICK,
        }
    }

    /// Learns rows, and those that wait behind them and are durable. Gives the next step that is something else.
    fn learn(&mut self, first: RowBatch) -> Option<Step> {
        let durable = self.shared.status.now().durable.max(first.version.seq);
        let count = |rows: &RowBatch| rows.chunks.iter().map(Chunk::len).sum::<usize>();
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
        let is_paused =
            self.shared.pair.look(|replica| replica.live().is_some_and(|live| !live.learns_now()));
        let mut margins = std::mem::take(&mut self.margins);
        margins.iter_mut().for_each(Vec::clear);
        margins.resize_with(margins.len().max(group.len()), Vec::new);
        self.absorb(&group, Some(version), is_paused, &mut margins);
        if self.has_given_up {
            return next;
        }
        let status = &self.shared.status;
        status.waiting.fetch_sub(total, Ordering::Relaxed);
        if !is_paused {
            status.learned.fetch_add(total as u64, Ordering::Relaxed);
            self.rows_since += total as u64;
        }
        // Count the rows last: a client that waited for them to be visible then finds them counted.
        self.show(version);
        let status = &self.shared.status;
        for (mut rows, seen) in group.into_iter().zip(&margins) {
            status.commit.record(arrived.saturating_duration_since(rows.appended));
            status.visible.record(arrived.elapsed());
            self.names.append(&mut rows.names);
            if let Some(answer) = rows.margins.take() {
                let _ = answer.send(seen.clone());
            }
            // Rows that are not learned now are not counted as learned.
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
        group: &[RowBatch],
        version: Option<Version>,
        is_paused: bool,
        margins: &mut [Vec<f64>],
    ) {
        let (mut skipped, mut is_first, mut shortage) = (vec![false; group.len()], true, None);
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
                    if !is_paused && shortage.is_none() {
                        live.skip(rows.version.seq);
                    }
                } else if let Err(spoiled) = live.learn(&rows.chunks, seen) {
                    match spoiled {
                        Spoiled::Diverged => skipped[k] = true,
                        // Nothing more is learned: the next start goes on here, if it has more memory.
                        Spoiled::Memory(words) => {
                            skipped[k..].fill(true);
                            shortage = Some(words);
                        }
                    }
                    margins[..k].iter_mut().for_each(Vec::clear);
                    return false;
                }
            }
            if shortage.is_none() {
                live.version = version.unwrap_or(live.version);
            }
            is_first = false;
            true
        };
        let copied = self.shared.pair.write_mending(change, Replica::copied);
        if let Some(words) = shortage {
            return self.give_up(&format!("{words}; the rows are in the log"));
        }
        for (rows, _) in group.iter().zip(&skipped).filter(|(_, is_skipped)| **is_skipped) {
            let seq = rows.version.seq;
            tracing::warn!(model = %self.model_name(), seq, "the record is skipped: weights would diverge");
            // Rows that spoil the weights are bad rows, and enough of them pause learning.
            let count = rows.chunks.iter().map(Chunk::len).sum::<usize>();
            let refusal = Refusal::bad("the record is skipped");
            self.shared.count_refused(&self.log, &refusal, count as u64);
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
                    let options = shared.readings.latest().options.learning();
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
            let (margins, held) = (None, Held::default());
            let one =
                RowBatch { version, time, origin, chunks, names, appended, margins, _held: held };
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
        self.show(version);
    }

    /// Scores include a record. Rows that are kept until the kinds of their columns are known are in no score yet.
    fn show(&self, version: Version) {
        if !self.is_warming() {
            self.shared.status.show(version);
        }
    }

    /// Whether the first rows are still collected.
    fn is_warming(&self) -> bool {
        self.shared.pair.look(Replica::is_warming)
    }

    /// Begins anew as another model after a record, and learns the rows since: with the kinds of columns that the first rows have
    /// shown, or as a shadow that the leader has promoted. Scores go on meanwhile.
    fn relearn(&mut self, version: Version, start: &Start, after: u64) -> Result<(), Stop> {
        let log = self.log.clone();
        let learned = |mut replay: Replay<'_>| {
            let ((_, live), [rows, _]) = replay.relearned(start.clone(), after, version)?;
            let names = replay.names();
            Ok((live, rows, names))
        };
        let (mut live, rows, names) = match learned(Replay::new(&log)) {
            Err(Stop::Diverged) => learned(Replay::careful(&log))?,
            done => done?,
        };
        self.names.clear();
        *self.shared.start.lock().unwrap_or_else(PoisonError::into_inner) = start.clone();
        live.trainer.note_names(names);
        let copy = live.copied().map_err(|e| Stop::Open(e.into()))?;
        self.shared.status.learned.fetch_add(rows, Ordering::Relaxed);
        self.restore(version, [live, copy]);
        tracing::info!(model = %self.model_name(), seq = version.seq, rows, "the rows before are learned again");
        Ok(())
    }

    /// Name of the model in events.
    fn model_name(&self) -> &str {
        &self.shared.name
    }

    /// Ends learning; scores continue.
    fn give_up(&mut self, why: &str) {
        self.has_given_up = true;
        self.shared.status.has_stopped.store(true, Ordering::Relaxed);
        tracing::error!(model = %self.model_name(), why, "learning has stopped");
        let mut intake = self.shared.intake.lock().unwrap_or_else(PoisonError::into_inner);
        let words = format!("learning has stopped until the service is started again: {why}");
        intake.close(&self.shared.status, &words);
    }

    /// Logs a mark for the follower, now and then while rows are learned.
    fn mark(&mut self) {
        let status = &self.shared.status;
        let learned = status.learned.load(Ordering::Relaxed);
        let is_due = Instant::now() >= self.mark_due && learned != self.marked;
        if !is_due || !status.is_pulled(GONE) {
            return;
        }
        let intake = self.shared.intake.lock().unwrap_or_else(PoisonError::into_inner);
        if intake.check().is_err() || intake.warming.is_some() {
            return;
        }
        if let Ok(version) = intake.append_step(&self.log, kind::MARK, b"") {
            let _ = intake.steps.send(Step::Mark(version));
        }
        (self.marked, self.mark_due) = (learned, Instant::now() + self.shared.policy.mark_every);
    }

    /// Does the periodic work: a snapshot, and rows that have waited too long for their labels.
    fn look_around(&mut self) {
        self.shared.expire(&self.log);
        self.shared.settle_if_due(&self.log);
        self.mark();
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
            && !self.has_given_up
            && !self.is_warming()
            && is_due
            && !self.shared.status.is_snapshotting.load(Ordering::Acquire)
        {
            let snapshot = self.snapshot();
            self.shared.status.is_snapshotting.store(true, Ordering::Release);
            let (shared, log) = (self.shared.clone(), self.log.clone());
            let write = move || {
                let _ = write_snapshot(&shared, &log, snapshot);
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
        let due = self.watch.tick(self.log.time());
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

    /// Values that the watcher does not have.
    fn more(&self) -> Value {
        json!({
            "waiting_rows": self.shared.status.waiting.load(Ordering::Relaxed),
            "pending_labels": self.shared.status.id_count(State::Scored),
            "lag": self.shared.lag().map(|lag| json!({"records": lag.records, "seconds": lag.seconds})),
        })
    }

    /// Waits for a snapshot that is being written.
    fn wait_for_snapshot(&self) {
        while self.shared.status.is_snapshotting.load(Ordering::Acquire) {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn snapshot_now(&mut self) -> Result<Version, String> {
        if self.is_warming() {
            return Err("the model collects its first rows; they are in the log".into());
        }
        if self.has_given_up {
            return Err("learning has stopped; the rows are in the log".into());
        }
        self.wait_for_snapshot();
        let snapshot = self.snapshot();
        write_snapshot(&self.shared, &self.log, snapshot)
    }

    /// The state now. Scores continue with the other copy; learning waits.
    fn snapshot(&mut self) -> (Snapshot, TableSave) {
        self.fold_names();
        self.rows_since = 0;
        self.snapshot_due = Instant::now() + self.shared.policy.snapshot_after;
        let seq = self.shared.pair.look(Replica::version).seq;
        // The ids are written part by part by the thread that writes the snapshot.
        let ids = {
            let mut intake = self.shared.intake.lock().unwrap_or_else(PoisonError::into_inner);
            intake.table.begin_save(seq)
        };
        let status = &self.shared.status;
        let shown = self.shared.pair.read().live().map(Live::digest);
        self.shared.pair.look(|replica| match replica.live() {
            Some(live) => {
                // Two copies that were changed alike differ only where memory or arithmetic is at fault: such a state is not kept.
                assert_eq!(shown, Some(live.digest()), "the two copies of the model differ");
                let nonzeros = live.trainer.online().nonzeros() as u64;
                status.nonzeros.store(nonzeros, Ordering::Relaxed);
                let start = self.shared.start.lock().unwrap_or_else(PoisonError::into_inner);
                (Snapshot::new(&start, live), ids)
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

    /// Continues as a shadow. Rows that come meanwhile wait; scores continue with the old state.
    fn promote(&mut self, version: Version, start: Start, replacement: &Receiver<Replacement>) {
        match replacement.recv_timeout(SHADOW_PATIENCE) {
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

    /// Continues from another state. The names that were met stay: a name is no less true in the past.
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

fn write_snapshot(
    shared: &Shared,
    log: &Log,
    (snapshot, mut ids): (Snapshot, TableSave),
) -> Result<Version, String> {
    let version = Version { epoch: snapshot.head.epoch, seq: snapshot.head.seq };
    let written = log.write_snapshot(version.seq, |out| {
        snapshot.write(out)?;
        shared.write_ids(&mut ids, out)
    });
    shared.intake.lock().unwrap_or_else(PoisonError::into_inner).table.end_save(&ids);
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

/// Time between two parts of the table of ids.
const BETWEEN_PARTS: Duration = Duration::from_micros(100);

impl Shared {
    /// Writes the table of ids part by part. Between two parts requests continue.
    fn write_ids(&self, ids: &mut TableSave, out: &mut dyn Write) -> io::Result<()> {
        let mut part = Vec::new();
        let mut has_more = true;
        while has_more {
            part.clear();
            let intake = self.intake.lock().unwrap_or_else(PoisonError::into_inner);
            let more = ids.part(&intake.table, &mut part);
            drop(intake);
            // PERF: a thread that takes the lock again at once takes it before those that wait for it: without the pause scores with
            // ids waited for the whole table, 160 to 350 ms for two million ids (record/serve-load.md).
            std::thread::sleep(BETWEEN_PARTS);
            has_more = more.map_err(|Replaced| {
                io::Error::other("the model went back to another version meanwhile")
            })?;
            out.write_all(&part)?;
        }
        Ok(())
    }
}

/// Removes segments beyond the budget or the age. Rows that wait for learning to be resumed are in segments that stay.
fn remove_old(shared: &Shared, log: &Log) -> Result<(), parsimon_log::Error> {
    let policy = &shared.policy;
    {
        let intake = shared.intake.lock().unwrap_or_else(PoisonError::into_inner);
        if intake.paused.is_some() || intake.warming.is_some() {
            return Ok(());
        }
    }
    if let Some(budget) = policy.log_budget {
        log.truncate(budget)?;
    }
    match policy.retain {
        Some(retain) => log.forget(log.time().saturating_sub(retain.as_millis() as u64)),
        None => Ok(()),
    }
}

//! The thread that learns: one for each model, and the only one that changes the model.

use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use parsimon::core::Chunk;
use parsimon::data::Names;
use parsimon_log::Log;
use tokio::sync::oneshot;

use super::intake::Intake;
use super::model::Shared;
use super::replica::{Live, Replica, Version};
use super::snapshot::Snapshot;

/// What the learner does next, in the order of the log.
pub(crate) enum Step {
    /// Learn rows.
    Rows(Box<Rows>),
    /// A record that changes no weight.
    Pass(Version),
    /// Go on from another state.
    Restore(Version, Box<[Live; 2]>),
    /// Write a snapshot, and answer when it is durable.
    Snapshot(oneshot::Sender<Result<Version, String>>),
    /// Give the model file.
    Model(oneshot::Sender<Vec<u8>>),
    /// Give the digest of the state.
    Digest(oneshot::Sender<(Version, u64)>),
    /// Write a snapshot, and end.
    End,
}

/// Rows to be learned.
pub(crate) struct Rows {
    pub(crate) version: Version,
    pub(crate) chunks: Vec<Chunk>,
    pub(crate) names: Vec<(u32, Box<[u8]>)>,
    pub(crate) appended: Instant,
    /// Where the margins go that are predicted before the rows are learned.
    pub(crate) margins: Option<oneshot::Sender<Vec<f64>>>,
}

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
}

impl Learner {
    /// Learns until the end is asked for, or the log has failed.
    pub(crate) fn run(mut self) {
        let mut next = None;
        loop {
            let step = match next.take() {
                Some(step) => step,
                None => match self.steps.recv_timeout(Duration::from_secs(1)) {
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
                    self.shared.pair.write(|replica| {
                        if let Some(live) = replica.live_mut() {
                            live.version = version;
                        }
                    });
                    self.shared.status.show(version);
                }
                Step::Restore(version, copies) => {
                    if self.log.wait_durable(version.seq).is_err() {
                        return;
                    }
                    self.restore(version, *copies);
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
        let mut margins: Vec<Vec<f64>> = Vec::new();
        let mut is_first = true;
        self.shared.pair.write(|replica| {
            let Some(live) = replica.live_mut() else { return };
            for rows in &group {
                let watched = is_first && rows.margins.is_some();
                let mut seen = Vec::new();
                rows.chunks
                    .iter()
                    .for_each(|chunk| live.learn(chunk, watched.then_some(&mut seen)));
                if is_first {
                    margins.push(seen);
                }
            }
            live.version = version;
            is_first = false;
        });
        let status = &self.shared.status;
        status.show(version);
        status.learned.fetch_add(total as u64, Ordering::Relaxed);
        status.waiting.fetch_sub(total, Ordering::Relaxed);
        self.rows_since += total as u64;
        for (rows, margins) in group.into_iter().zip(margins) {
            status.commit.record(arrived.saturating_duration_since(rows.appended));
            status.visible.record(arrived.elapsed());
            self.names.extend(rows.names);
            if let Some(answer) = rows.margins {
                let _ = answer.send(margins);
            }
            self.shared.give_back(rows.chunks);
        }
        next
    }

    /// What is due now and then: a snapshot, and rows that have waited for their labels for too long.
    fn look_around(&mut self) {
        self.shared.expire(&self.log);
        let policy = &self.shared.policy;
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
                Snapshot::new(&self.shared.start, live, ids, pending)
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
    }
}

fn write_snapshot(shared: &Shared, log: &Log, snapshot: &Snapshot) -> Result<Version, String> {
    let version = Version { epoch: snapshot.head.epoch, seq: snapshot.head.seq };
    let written = log.write_snapshot(version.seq, |out| snapshot.write(out));
    let kept = written.and_then(|_| {
        log.prune_snapshots(shared.policy.snapshots)?;
        shared.policy.log_budget.map_or(Ok(()), |budget| log.truncate(budget))
    });
    let trouble = kept.as_ref().err().map(ToString::to_string);
    shared.status.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&trouble);
    trouble.map_or(Ok(version), Err)
}

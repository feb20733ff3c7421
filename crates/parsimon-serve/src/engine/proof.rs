//! Proofs that the log leads to the snapshots: each snapshot is learned again from the one before, when there is time, and compared.
//!
//! A thread with the lowest priority does it, so that a fault of the disk, of the memory or of this program is found while the rows
//! before it are still in the log. It holds one more state of the model while it works.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use parsimon_log::Log;
use serde::Serialize;

use super::open::OpenError;
use super::replay::{Replay, Stop};
use super::snapshot::Snapshot;

/// Result of a proof.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Proof {
    /// The record whose state the rows were learned from; 0 for the beginning of the log.
    pub(crate) from: u64,
    /// Whether the states are equal to the last bit.
    pub(crate) holds: bool,
}

/// Proofs that are remembered.
const REMEMBERED: usize = 64;

/// Epoch and record of a snapshot.
type SnapshotKey = (u32, u64);

/// Proves snapshots one after the other.
#[derive(Debug, Default)]
pub(crate) struct Prover {
    /// The newest snapshot that was not looked at.
    wanted: Mutex<Option<SnapshotKey>>,
    changed: Condvar,
    proofs: Mutex<BTreeMap<SnapshotKey, Proof>>,
    is_over: AtomicBool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Prover {
    /// Starts the thread. Without one nothing is proved, and everything else continues.
    pub(crate) fn start(self: &Arc<Self>, model: &str, log: &Arc<Log>) -> Option<JoinHandle<()>> {
        let (prover, log, name) = (self.clone(), log.clone(), model.to_owned());
        let spawned = std::thread::Builder::new().name(format!("prove {model}"));
        spawned.spawn(move || prover.run(&name, &log)).ok()
    }

    /// A snapshot was written. Of several that wait the newest is proved.
    pub(crate) fn want(&self, place: SnapshotKey) {
        *lock(&self.wanted) = Some(place);
        self.changed.notify_all();
    }

    /// Ends the thread at the next record.
    pub(crate) fn end(&self) {
        self.is_over.store(true, Ordering::Release);
        self.changed.notify_all();
    }

    /// Result of the proof of a snapshot.
    pub(crate) fn of(&self, place: SnapshotKey) -> Option<Proof> {
        lock(&self.proofs).get(&place).cloned()
    }

    /// Numbers of proofs that held and that failed.
    pub(crate) fn counts(&self) -> [u64; 2] {
        let proofs = lock(&self.proofs);
        let held = proofs.values().filter(|proof| proof.holds).count();
        [held as u64, (proofs.len() - held) as u64]
    }

    fn run(&self, model: &str, log: &Log) {
        lower_priority();
        while let Some(place) = self.next() {
            let (epoch, seq) = place;
            match self.prove(log, place) {
                Ok(None) => return,
                Ok(Some(proof)) if proof.holds => {
                    tracing::info!(
                        model,
                        epoch,
                        seq,
                        from = proof.from,
                        "the log leads to the snapshot"
                    );
                    self.remember(place, proof);
                }
                Ok(Some(proof)) => {
                    tracing::error!(
                        model,
                        epoch,
                        seq,
                        from = proof.from,
                        "the log does not lead to the snapshot: one of them is damaged"
                    );
                    self.remember(place, proof);
                }
                Err(stop) => {
                    let why = stop.into_error(std::path::Path::new(model)).to_string();
                    tracing::warn!(model, epoch, seq, why, "the snapshot cannot be proved");
                }
            }
        }
    }

    /// Waits for a snapshot; `None` at the end.
    fn next(&self) -> Option<SnapshotKey> {
        let mut wanted = lock(&self.wanted);
        loop {
            if self.is_over.load(Ordering::Acquire) {
                return None;
            }
            if let Some(place) = wanted.take() {
                return Some(place);
            }
            // Woken now and then: the end may be asked for between the look and the wait.
            let waited = self.changed.wait_timeout(wanted, Duration::from_millis(200));
            wanted = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn remember(&self, place: SnapshotKey, proof: Proof) {
        let mut proofs = lock(&self.proofs);
        proofs.insert(place, proof);
        while proofs.len() > REMEMBERED {
            proofs.pop_first();
        }
    }

    /// Learns the records between two snapshots again. `None` if the end was asked for.
    fn prove(&self, log: &Log, place: SnapshotKey) -> Result<Option<Proof>, Stop> {
        let snapshot = read(log, place)?;
        match self.digest(log, place.1, &mut Replay::new(log)) {
            Err(Stop::Diverged) => self.digest(log, place.1, &mut Replay::careful(log)),
            found => found,
        }
        .map(|found| {
            found.map(|(from, digest)| Proof { from, holds: digest == snapshot.head.digest })
        })
    }

    /// The record that a replay began after, and the digest that it came to.
    fn digest(
        &self,
        log: &Log,
        to: u64,
        replay: &mut Replay<'_>,
    ) -> Result<Option<(u64, String)>, Stop> {
        let epochs = log.epochs();
        let kept = log.snapshots().map_err(OpenError::from)?;
        let base = kept.into_iter().find(|(_, seq)| *seq < to && epochs.leads(*seq, to));
        let mut state = match base {
            Some(base) => {
                let snapshot = read(log, base)?;
                let live = snapshot.live().map_err(OpenError::from)?;
                Some((snapshot.head.start, live))
            }
            None => None,
        };
        let from = base.map_or(0, |(_, seq)| seq);
        let mut follower = log.replay(from, to).map_err(OpenError::from)?;
        let mut reached = from;
        while reached < to {
            if self.is_over.load(Ordering::Acquire) {
                return Ok(None);
            }
            let begun = Instant::now();
            let record =
                follower.next_within(Duration::from_millis(200)).map_err(OpenError::from)?;
            let Some(record) = record else { continue };
            reached = record.seq;
            replay.step(&record, &mut state, None)?;
            // The model goes first: half of the time at most.
            std::thread::sleep(begun.elapsed().min(Duration::from_millis(50)));
        }
        Ok(state.map(|(_, live)| (from, format!("{:016x}", live.digest()))))
    }
}

fn read(log: &Log, (epoch, seq): SnapshotKey) -> Result<Snapshot, Stop> {
    let (_, mut bytes) = log.open_snapshot(epoch, seq).map_err(OpenError::from)?;
    let unreadable =
        |e: std::io::Error| Stop::Record(seq, format!("its snapshot is unreadable: {e}"));
    Snapshot::read(&mut bytes).map_err(unreadable)
}

/// Lets every other thread go first.
fn lower_priority() {
    // On Linux this concerns the calling thread alone; elsewhere it would slow down the service.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::nice(19);
}

#[cfg(test)]
mod tests {
    use parsimon::data::Format;
    use parsimon::{InputSchema, LearnerOptions, Spec};
    use parsimon_log::Options;

    use super::*;
    use crate::content::{Content, Shape};
    use crate::engine::{Limits, Model, Policy, Request, Source};

    /// A log with rows and the snapshot of its end.
    fn logged(folder: &std::path::Path) -> (Log, SnapshotKey) {
        let schema = InputSchema { bits: Some(18), ..InputSchema::default() };
        let source = Source::Fresh {
            settings: Box::new(Spec::new("ftrl").resolve().unwrap()),
            options: LearnerOptions { storage: schema.storage(), ..LearnerOptions::default() },
            schema: Box::new(schema),
            finds_kinds: false,
        };
        let model = Model::learning("m", &source, Policy::new(folder)).unwrap();
        for k in 0..20 {
            let text = format!("{} |a f{k} common\n", if k % 3 == 0 { 1 } else { -1 }).into_bytes();
            let content = Content { format: Format::Vw, text: text.into(), shape: Shape::Lines };
            model
                .learner()
                .unwrap()
                .learn(&content, Request::default(), &Limits::default())
                .unwrap();
        }
        model.close();
        drop(model);
        let log = Log::open(&folder.join("m"), Options::default()).unwrap();
        let place = log.snapshots().unwrap()[0];
        (log, place)
    }

    #[test]
    fn a_snapshot_that_the_log_does_not_lead_to_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let (log, place) = logged(folder.path());
        let proof = Prover::default().prove(&log, place).unwrap();
        assert_eq!(proof, Some(Proof { from: 0, holds: true }));
        // An equal state under another digest, as after a weight changed in memory.
        let mut snapshot = read(&log, place).unwrap();
        snapshot.head.digest = "0123456789abcdef".into();
        log.write_snapshot(place.1, |out| snapshot.write(out)).unwrap();
        let proof = Prover::default().prove(&log, place).unwrap();
        assert_eq!(proof, Some(Proof { from: 0, holds: false }));
    }
}

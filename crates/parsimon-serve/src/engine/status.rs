//! Progress of a model, for waiting requests and for monitoring.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use parsimon_log::{Failed, Notify, Progress};
use tokio::sync::watch;

use super::id_table::{IdTable, State};
use super::replica::Version;
use super::watch::Board;
use crate::metrics::Histogram;

/// Progress of the log and the learner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reached {
    /// The last record that was written to the system.
    pub logged: u64,
    /// The last record that is durable.
    pub durable: u64,
    /// The last record that scores include.
    pub visible: Version,
    /// The last record that the follower has, durable; `None` if acknowledgements do not need a follower.
    pub follower: Option<u64>,
    /// The reason why the log accepts no more records.
    pub failed: Option<String>,
}

impl Reached {
    /// Whether the follower has a record, if one is needed.
    pub(crate) fn is_copied(&self, seq: u64) -> bool {
        self.follower.is_none_or(|follower| follower >= seq)
    }
}

/// Counters and the present place, shared by requests, the log's writer and the learner.
#[derive(Debug)]
pub(crate) struct Status {
    reached: watch::Sender<Reached>,
    /// Rows that wait to be learned.
    pub(crate) waiting: AtomicUsize,
    /// Rows that were learned since the start of the process.
    pub(crate) learned: AtomicU64,
    /// Rows that were in the log already.
    pub(crate) duplicates: AtomicU64,
    /// Rows of refused requests, by reason: bad, busy.
    pub(crate) refused: [AtomicU64; 2],
    /// From the append of a record to its durability.
    pub(crate) commit: Histogram,
    /// From the durability of a record to the scores.
    pub(crate) visible: Histogram,
    /// Whether a snapshot is being written.
    pub(crate) is_snapshotting: AtomicBool,
    /// The last words about snapshots that failed.
    pub(crate) trouble: Mutex<Option<String>>,
    /// Nonzero weights, as of the last look at them.
    pub(crate) nonzeros: AtomicU64,
    /// Ids by state.
    pub(crate) ids: [AtomicU64; 5],
    /// Bytes of ids, and of rows that are kept for their labels.
    pub(crate) id_bytes: [AtomicU64; 2],
    /// Rows that waited for labels and were removed: for lack of room, with the default label, or because they waited for too long.
    pub(crate) evicted: AtomicU64,
    pub(crate) expired: AtomicU64,
    pub(crate) forgotten: AtomicU64,
    /// Labels that came after the window and were not learned.
    pub(crate) late: AtomicU64,
    /// Rows that could not be learned.
    pub(crate) set_aside: AtomicU64,
    /// Whether learning is paused, and why it has ended. Copies of what the intake has, so that nothing waits for its lock.
    pub(crate) is_paused: AtomicBool,
    closed: Mutex<Option<String>>,
    /// Whether another process goes on with this model.
    pub(crate) fenced: AtomicBool,
    /// Whether the learner has stopped before its time: what the log has will not be visible in this process.
    pub(crate) has_stopped: AtomicBool,
    /// When a follower last asked for records.
    pub(crate) pulled: Mutex<Option<Instant>>,
    /// Digests after the latest marks.
    marks: Mutex<VecDeque<(u64, u64)>>,
    /// Statistics and alarms.
    pub(crate) board: Board,
}

/// Digests that are remembered.
const MARKS: usize = 16;

/// Why rows were refused, in the order of [`Status::refused`].
pub(crate) const REASONS: [&str; 2] = ["bad", "busy"];

impl Status {
    pub(crate) fn new() -> Self {
        let version = Version::default();
        let reached =
            Reached { logged: 0, durable: 0, visible: version, follower: None, failed: None };
        Self {
            reached: watch::Sender::new(reached),
            waiting: AtomicUsize::new(0),
            learned: AtomicU64::new(0),
            duplicates: AtomicU64::new(0),
            refused: Default::default(),
            commit: Histogram::default(),
            visible: Histogram::default(),
            is_snapshotting: AtomicBool::new(false),
            trouble: Mutex::new(None),
            nonzeros: AtomicU64::new(0),
            ids: Default::default(),
            id_bytes: Default::default(),
            evicted: AtomicU64::new(0),
            expired: AtomicU64::new(0),
            forgotten: AtomicU64::new(0),
            late: AtomicU64::new(0),
            set_aside: AtomicU64::new(0),
            is_paused: AtomicBool::new(false),
            closed: Mutex::new(None),
            fenced: AtomicBool::new(false),
            has_stopped: AtomicBool::new(false),
            pulled: Mutex::new(None),
            marks: Mutex::default(),
            board: Board::default(),
        }
    }

    /// Returns the present progress.
    pub(crate) fn now(&self) -> Reached {
        self.reached.borrow().clone()
    }

    /// To wait for more.
    pub(crate) fn watch(&self) -> watch::Receiver<Reached> {
        self.reached.subscribe()
    }

    /// Notes the numbers of ids.
    pub(crate) fn count_ids(&self, table: &IdTable) {
        for (count, state) in self.ids.iter().zip(State::ALL) {
            count.store(table.count(state), Ordering::Relaxed);
        }
        for (kept, bytes) in self.id_bytes.iter().zip(table.bytes()) {
            kept.store(bytes, Ordering::Relaxed);
        }
    }

    /// Returns the number of ids in a state.
    pub(crate) fn id_count(&self, state: State) -> u64 {
        self.ids[state as usize].load(Ordering::Relaxed)
    }

    pub(crate) fn set_paused(&self, is_paused: bool) {
        self.is_paused.store(is_paused, Ordering::Relaxed);
    }

    /// Returns why nothing is taken any more.
    pub(crate) fn closed(&self) -> Option<String> {
        self.closed.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Lets acknowledgements wait for the follower.
    pub(crate) fn need_follower(&self) {
        self.reached.send_modify(|reached| reached.follower = Some(0));
    }

    /// A follower has a record, durable.
    pub(crate) fn confirm(&self, seq: u64) {
        self.reached.send_if_modified(|reached| match &mut reached.follower {
            Some(follower) if *follower < seq => {
                *follower = seq;
                true
            }
            _ => false,
        });
    }

    /// Whether a follower has asked for records within a time.
    pub(crate) fn is_pulled(&self, within: Duration) -> bool {
        let pulled = *self.pulled.lock().unwrap_or_else(PoisonError::into_inner);
        pulled.is_some_and(|pulled| pulled.elapsed() <= within)
    }

    /// Notes the digest after a mark.
    pub(crate) fn mark(&self, seq: u64, digest: u64) {
        let mut marks = self.marks.lock().unwrap_or_else(PoisonError::into_inner);
        marks.push_back((seq, digest));
        if marks.len() > MARKS {
            marks.pop_front();
        }
    }

    /// Returns the digests after the latest marks.
    pub(crate) fn marks(&self) -> Vec<(u64, u64)> {
        self.marks.lock().unwrap_or_else(PoisonError::into_inner).iter().copied().collect()
    }

    pub(crate) fn set_closed(&self, why: &str) {
        let mut closed = self.closed.lock().unwrap_or_else(PoisonError::into_inner);
        closed.get_or_insert_with(|| why.to_owned());
        drop(closed);
        // Those who wait for an acknowledgement look again.
        self.reached.send_modify(|_| {});
    }

    /// Scores include a record.
    pub(crate) fn show(&self, version: Version) {
        self.reached.send_modify(|reached| {
            assert!(version.seq >= reached.visible.seq, "scores go back from {reached:?}");
            reached.visible = version;
        });
    }
}

impl Notify for Status {
    fn advanced(&self, progress: Progress) {
        self.reached.send_modify(|reached| {
            assert!(progress.durable <= progress.logged, "{progress:?}");
            (reached.logged, reached.durable) = (progress.logged, progress.durable);
        });
    }

    fn failed(&self, failed: &Failed) {
        self.reached.send_modify(|reached| reached.failed = Some(failed.to_string()));
    }
}

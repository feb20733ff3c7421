//! How far a model is, for those who wait and those who watch.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};

use parsimon_log::{Failed, Notify, Progress};
use tokio::sync::watch;

use super::replica::Version;
use super::watch::Board;
use crate::metrics::Histogram;

/// How far the log and the learner are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reached {
    /// The last record that was written to the system.
    pub logged: u64,
    /// The last record that is durable.
    pub durable: u64,
    /// The last record that scores include.
    pub visible: Version,
    /// Why the log takes nothing any more.
    pub failed: Option<String>,
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
    /// Statistics and alarms.
    pub(crate) board: Board,
}

/// Why rows were refused, in the order of [`Status::refused`].
pub(crate) const REASONS: [&str; 2] = ["bad", "busy"];

impl Status {
    pub(crate) fn new() -> Self {
        let version = Version::default();
        let reached = Reached { logged: 0, durable: 0, visible: version, failed: None };
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
            board: Board::default(),
        }
    }

    /// How far everything is now.
    pub(crate) fn now(&self) -> Reached {
        self.reached.borrow().clone()
    }

    /// To wait for more.
    pub(crate) fn watch(&self) -> watch::Receiver<Reached> {
        self.reached.subscribe()
    }

    /// Scores include a record.
    pub(crate) fn show(&self, version: Version) {
        self.reached.send_modify(|reached| reached.visible = version);
    }
}

impl Notify for Status {
    fn advanced(&self, progress: Progress) {
        self.reached.send_modify(|reached| {
            (reached.logged, reached.durable) = (progress.logged, progress.durable);
        });
    }

    fn failed(&self, failed: &Failed) {
        self.reached.send_modify(|reached| reached.failed = Some(failed.to_string()));
    }
}

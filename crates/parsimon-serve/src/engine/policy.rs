//! Settings of the schedule and manner of learning.

use std::path::PathBuf;
use std::time::Duration;

use super::breaker::Breaker;

/// Treatment of rows that were scored and have no label yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Labels {
    /// A row is learned when its label comes. Rows that waited for longer than this are forgotten.
    Explicit {
        /// Longest time that a row waits.
        patience: Duration,
    },
    /// A row is learned when its label comes, or with the default label after the window.
    Window {
        /// Longest time until a label arrives.
        window: Duration,
        /// The label of rows that get none.
        default: String,
        /// Whether a label that comes after the window is learned, too.
        learn_late: bool,
    },
}

impl Labels {
    /// Longest time that a row waits.
    pub(crate) fn patience(&self) -> Duration {
        match self {
            Self::Explicit { patience } => *patience,
            Self::Window { window, .. } => *window,
        }
    }
}

impl Default for Labels {
    fn default() -> Self {
        Self::Explicit { patience: Duration::from_secs(24 * 60 * 60) }
    }
}

/// Settings of learning and of the retention of its log.
#[derive(Clone, Debug)]
pub struct Policy {
    /// The directory of the logs; each model has a directory in it.
    pub data: PathBuf,
    /// Rows after which a snapshot is written.
    pub snapshot_rows: u64,
    /// Time after which a snapshot is written, if rows were learned.
    pub snapshot_after: Duration,
    /// Number of snapshots that are kept.
    pub snapshots: usize,
    /// Whether snapshots are compared with what the log leads to, in idle time. It takes the memory of one more state.
    pub prove: bool,
    /// The bytes that segments may take; older ones are removed if two snapshots do not need them. `None` keeps all.
    pub log_budget: Option<u64>,
    /// Time for which logged rows are kept; older rows are removed if two snapshots do not need them. `None` keeps all.
    pub retain: Option<Duration>,
    /// The size of a segment of the log.
    pub segment_bytes: u64,
    /// Rows that may wait to be learned.
    pub queue_rows: usize,
    /// Treatment of rows that have no label yet.
    pub labels: Labels,
    /// Rows that may wait for their labels.
    pub pending_rows: usize,
    /// Bytes of rows that may wait for their labels.
    pub pending_bytes: usize,
    /// Bytes of ids that are remembered. The oldest are forgotten beyond that, however young they are.
    pub id_bytes: u64,
    /// Conditions under which learning is paused automatically.
    pub breaker: Breaker,
    /// The number of the arithmetic. Anything but [`ARITHMETIC`](super::ARITHMETIC) is for tests of what a newer program does.
    pub arithmetic: u32,
    /// The clocks of the log. Anything but the default is for tests.
    pub clock: parsimon_log::Clock,
    /// The length of the periods of logged time that statistics and alarms are made of.
    pub period: Duration,
    /// Whether a record is acknowledged only when the follower has it, durable.
    pub acks_follower: bool,
    /// Time between two comparisons of the states of a leader and its follower.
    pub mark_every: Duration,
    /// First rows of a new model that show the kinds of its columns, ...
    pub warm_rows: usize,
    /// ... unless this much log time passes since the first of them.
    pub warm_time: Duration,
    /// A fault that the check of the table of ids has to find.
    #[cfg(test)]
    pub(crate) fault: Option<super::id_check::Fault>,
}

impl Policy {
    /// The usual policy over a directory.
    pub fn new(data: impl Into<PathBuf>) -> Self {
        Self {
            data: data.into(),
            snapshot_rows: 1_000_000,
            snapshot_after: Duration::from_secs(600),
            snapshots: 5,
            prove: true,
            log_budget: None,
            retain: None,
            segment_bytes: 64 << 20,
            queue_rows: 200_000,
            labels: Labels::default(),
            pending_rows: 1_000_000,
            pending_bytes: 256 << 20,
            id_bytes: u64::MAX,
            breaker: Breaker::default(),
            arithmetic: super::ARITHMETIC,
            clock: parsimon_log::Clock::default(),
            period: Duration::from_secs(60),
            acks_follower: false,
            mark_every: Duration::from_secs(60),
            warm_rows: 1024,
            warm_time: Duration::from_secs(10),
            #[cfg(test)]
            fault: None,
        }
    }
}

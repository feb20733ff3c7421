//! What a model that learns may be told about when and how.

use std::path::PathBuf;
use std::time::Duration;

use super::breaker::Breaker;

/// What to do with rows that were scored and have no label yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Labels {
    /// A row is learned when its label comes. Rows that waited for longer than this are forgotten.
    Explicit {
        /// How long a row may wait.
        patience: Duration,
    },
    /// A row is learned when its label comes, or with the default label after the window.
    Window {
        /// How long a label may take.
        window: Duration,
        /// The label of rows that get none.
        default: String,
        /// Whether a label that comes after the window is learned, too.
        learn_late: bool,
    },
}

impl Labels {
    /// How long a row may wait.
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

/// How a model learns and keeps what it has learned.
#[derive(Clone, Debug)]
pub struct Policy {
    /// The directory of the logs; each model has a directory in it.
    pub data: PathBuf,
    /// Rows after which a snapshot is written.
    pub snapshot_rows: u64,
    /// Time after which a snapshot is written, if rows were learned.
    pub snapshot_after: Duration,
    /// How many snapshots are kept.
    pub snapshots: usize,
    /// Whether snapshots are compared with what the log leads to, in idle time. It takes the memory of one more state.
    pub prove: bool,
    /// The bytes that segments may take; older ones are removed if two snapshots do not need them. `None` keeps all.
    pub log_budget: Option<u64>,
    /// How long logged rows are kept; older ones are removed if two snapshots do not need them. `None` keeps all.
    pub retain: Option<Duration>,
    /// The size of a segment of the log.
    pub segment_bytes: u64,
    /// Rows that may wait to be learned.
    pub queue_rows: usize,
    /// What to do with rows that have no label yet.
    pub labels: Labels,
    /// Rows that may wait for their labels.
    pub pending_rows: usize,
    /// Bytes of rows that may wait for their labels.
    pub pending_bytes: usize,
    /// When learning is paused without being asked to.
    pub breaker: Breaker,
    /// The number of the arithmetic. Anything but [`ARITHMETIC`](super::ARITHMETIC) is for tests of what a newer program does.
    pub arithmetic: u32,
    /// The length of the periods of logged time that statistics and alarms are made of.
    pub period: Duration,
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
            breaker: Breaker::default(),
            arithmetic: super::ARITHMETIC,
            period: Duration::from_secs(60),
        }
    }
}

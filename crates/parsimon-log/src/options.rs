//! How a log is to run.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::error::Failed;

/// How far a log is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The last record that was written to the system.
    pub logged: u64,
    /// The last record that is durable.
    pub durable: u64,
}

/// Is called by the log's writer, so that a server can wait without a thread per request. The writer waits for the call.
pub trait Notify: Send + Sync {
    /// Records were written or are durable.
    fn advanced(&self, progress: Progress);
    /// The log has failed.
    fn failed(&self, failed: &Failed);
}

/// How a log is to run.
#[derive(Clone)]
pub struct Options {
    /// The size of a segment. Default 64 MiB.
    pub segment_bytes: u64,
    /// The log time after which a segment is sealed. Default 10 minutes.
    pub seal_after: Duration,
    /// How many bytes of records may wait for the writer. Default 32 MiB; as many are being written.
    pub queue_bytes: usize,
    /// A number for the arithmetic that learns the records. A segment has one. Default 0.
    pub arithmetic: u32,
    /// How long to wait before another segment is tried to be prepared when there was no room. Default 1 s.
    pub retry: Duration,
    /// The pause after every MiB of a snapshot, which is then synced. Default none, and one sync at the end.
    pub snapshot_pace: Option<Duration>,
    /// The time in milliseconds. It is read when a record is appended and never when one is read. Default: since 1970.
    pub clock: Arc<dyn Fn() -> u64 + Send + Sync>,
    /// Is called when records are written or durable.
    pub notify: Option<Arc<dyn Notify>>,
}

impl Default for Options {
    fn default() -> Self {
        let clock = || {
            let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            since.as_millis() as u64
        };
        Self {
            segment_bytes: 64 << 20,
            seal_after: Duration::from_secs(600),
            queue_bytes: 32 << 20,
            arithmetic: 0,
            retry: Duration::from_secs(1),
            snapshot_pace: None,
            clock: Arc::new(clock),
            notify: None,
        }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Options")
            .field("segment_bytes", &self.segment_bytes)
            .field("seal_after", &self.seal_after)
            .field("queue_bytes", &self.queue_bytes)
            .field("arithmetic", &self.arithmetic)
            .finish_non_exhaustive()
    }
}

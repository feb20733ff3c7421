//! Options of a log.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::error::Failed;

/// Progress of a log.
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

/// The two clocks that log time is made of, in milliseconds.
///
/// Log time starts at the wall clock when the log is opened, or at the log's last record if that is later, and advances by the steady
/// clock. A wall clock that is set forward or back while the log is open therefore changes no interval of log time.
#[derive(Clone)]
pub struct Clock {
    /// The time since 1970. Read once, when the log is opened.
    pub wall: Arc<dyn Fn() -> u64 + Send + Sync>,
    /// The time since any fixed moment. It must never go back. Read when a record is appended, and never when one is read.
    pub steady: Arc<dyn Fn() -> u64 + Send + Sync>,
}

impl Clock {
    /// Returns a clock that serves as both.
    pub fn both(clock: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        let clock: Arc<dyn Fn() -> u64 + Send + Sync> = Arc::new(clock);
        Self { wall: clock.clone(), steady: clock }
    }
}

impl Default for Clock {
    fn default() -> Self {
        let wall = || {
            let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            since.as_millis() as u64
        };
        let begun = Instant::now();
        let steady = move || begun.elapsed().as_millis() as u64;
        Self { wall: Arc::new(wall), steady: Arc::new(steady) }
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Clock").finish_non_exhaustive()
    }
}

/// Options of a log.
#[derive(Clone)]
pub struct Options {
    /// The size of a segment. Default 64 MiB.
    pub segment_bytes: u64,
    /// The log time after which a segment is sealed. Default 10 minutes.
    pub seal_after: Duration,
    /// Largest number of bytes of records that wait for the writer. Default 32 MiB. The same number of bytes may be in the process of being written.
    pub queue_bytes: usize,
    /// A number for the arithmetic that learns the records. A segment has one. Default 0.
    pub arithmetic: u32,
    /// Time to wait before the next attempt to prepare a segment after the disk was full. Default 1 s.
    pub retry: Duration,
    /// The pause after every MiB of a snapshot, which is then synced. Default none, and one sync at the end.
    pub snapshot_pace: Option<Duration>,
    /// The clocks that log time is made of.
    pub clock: Clock,
    /// Is called when records are written or durable.
    pub notify: Option<Arc<dyn Notify>>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            segment_bytes: 64 << 20,
            seal_after: Duration::from_secs(600),
            queue_bytes: 32 << 20,
            arithmetic: 0,
            retry: Duration::from_secs(1),
            snapshot_pace: None,
            clock: Clock::default(),
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

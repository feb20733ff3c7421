//! State shared by the two threads of a log: one writes, one prepares segments.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use parsimon_files::in_words;

use crate::disk::Disk;
use crate::error::Failed;
use crate::options::{Options, Progress};
use crate::queue::Queue;
use crate::writer::{Group, Spare, Writer};

/// State shared by the threads.
pub(crate) struct Shared {
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) options: Options,
    /// Log time minus the steady clock.
    time_offset: AtomicU64,
    state: Mutex<State>,
    /// Records wait, or the log closes.
    pub(crate) work: Condvar,
    /// A spare segment is wanted, or the log closes.
    pub(crate) wanted: Condvar,
    /// Records are written or durable, or the log has failed.
    pub(crate) progress: Condvar,
}

pub(crate) struct State {
    pub(crate) queue: Queue,
    pub(crate) progress: Progress,
    pub(crate) failed: Option<Failed>,
    /// The log accepts no more records; the writer has written everything.
    pub(crate) closing: bool,
    pub(crate) closed: bool,
}

impl Shared {
    pub(crate) fn new(disk: Arc<dyn Disk>, options: Options, queue: Queue) -> Self {
        let last = queue.next_seq() - 1;
        let progress = Progress { logged: last, durable: last };
        let state = State { queue, progress, failed: None, closing: false, closed: false };
        let [work, wanted, progress] = std::array::from_fn(|_| Condvar::new());
        let clock = &options.clock;
        let begin = (clock.wall)().max(state.queue.time());
        // Wraps where the steady clock is ahead; adding it wraps back.
        let time_offset = begin.wrapping_sub((clock.steady)());
        let time_offset = AtomicU64::new(time_offset);
        Self { disk, options, time_offset, state: Mutex::new(state), work, wanted, progress }
    }

    /// Returns the present log time.
    pub(crate) fn time(&self) -> u64 {
        self.time_offset.load(Ordering::Relaxed).wrapping_add((self.options.clock.steady)())
    }

    /// Advances log time to a later time.
    pub(crate) fn catch_up(&self, time: u64) {
        let late = time.saturating_sub(self.time());
        self.time_offset.fetch_add(late, Ordering::Relaxed);
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        // The state is changed by steps that cannot panic half-way.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the progress is enough and gives it; `None` if the time is over or the log is closed before.
    pub(crate) fn wait(
        &self,
        until: Option<Instant>,
        enough: impl Fn(Progress) -> bool,
    ) -> Result<Option<Progress>, Failed> {
        let mut state = self.lock();
        loop {
            if enough(state.progress) {
                return Ok(Some(state.progress));
            }
            if let Some(failed) = &state.failed {
                return Err(failed.clone());
            }
            if state.closed {
                return Ok(None);
            }
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return Ok(None);
            }
            let wait = left.unwrap_or(Duration::from_secs(3600));
            let waited = self.progress.wait_timeout(state, wait);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Writes groups until the log is closed or fails. Records that arrive while a group is synced are the next group.
    pub(crate) fn write(&self, mut writer: Writer) {
        let guard = FailIfPanicking(self);
        let mut group = Group::default();
        loop {
            let mut state = self.lock();
            while state.queue.group.marks.is_empty() && !state.closing && state.failed.is_none() {
                state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            if state.queue.group.marks.is_empty() || state.failed.is_some() {
                break;
            }
            std::mem::swap(&mut group, &mut state.queue.group);
            let last = state.queue.next_seq() - 1;
            drop(state);
            let mut spare = || {
                let spare = self.lock().queue.take_spare();
                self.wanted.notify_one();
                spare
            };
            let written = writer.write(&mut group, &mut spare);
            let synced = written.and_then(|()| {
                self.advance(|progress| progress.logged = last);
                writer.sync()
            });
            if let Err(error) = synced {
                self.fail(&in_words(&error));
                break;
            }
            self.advance(|progress| progress.durable = last);
            group.clear();
        }
        drop(guard);
    }

    fn advance(&self, change: impl FnOnce(&mut Progress)) {
        let mut state = self.lock();
        let before = state.progress;
        change(&mut state.progress);
        let progress = state.progress;
        drop(state);
        // An acknowledgement of a record that is not on the disk cannot be taken back.
        assert!(progress.durable <= progress.logged, "{progress:?}");
        assert!(before.durable <= progress.durable && before.logged <= progress.logged);
        self.progress.notify_all();
        if let Some(notify) = &self.options.notify {
            notify.advanced(progress);
        }
    }

    fn fail(&self, why: &str) {
        let failed = Failed(format!("{}: {why}", self.disk.path("")).into());
        self.lock().failed.get_or_insert_with(|| failed.clone());
        self.progress.notify_all();
        self.wanted.notify_all();
        if let Some(notify) = &self.options.notify {
            notify.failed(&failed);
        }
    }

    /// Keeps a segment ready for the writer. A failure here is no failure of the log.
    pub(crate) fn prepare(&self) {
        let capacity = self.options.segment_bytes;
        for number in 1.. {
            let mut state = self.lock();
            while !state.queue.wants_spare() && !state.closing && state.failed.is_none() {
                state = self.wanted.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            if state.closing || state.failed.is_some() {
                break;
            }
            drop(state);
            let spare = Spare::prepare(&*self.disk, number, capacity);
            let mut state = self.lock();
            match spare {
                Ok(spare) => {
                    state.queue.spares.push_back(spare);
                    state.queue.problem = None;
                }
                Err(error) => {
                    let problem = format!("{}: {}", self.disk.path(""), in_words(&error));
                    state.queue.problem = Some(problem.into());
                    let closing = |state: &mut State| !state.closing && state.failed.is_none();
                    let retry = self.options.retry;
                    drop(self.wanted.wait_timeout_while(state, retry, closing));
                }
            }
        }
    }
}

/// Marks the log as failed if its thread panics: nothing else would wake those who wait.
struct FailIfPanicking<'a>(&'a Shared);

impl Drop for FailIfPanicking<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.fail("the log's writer has panicked");
        }
    }
}

//! The log of a running service: many threads append, one writes, one prepares segments.

use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use crate::disk::{Directory, Disk};
use crate::epoch::Epochs;
use crate::error::{AppendError, Error, Failed};
use crate::files::{self, Lock};
use crate::follower::Follower;
use crate::keep::{self, Excess, Needs, Verified};
use crate::options::{Options, Progress};
use crate::queue::{Entry, Limits, Queue};
use crate::recovery::{self, Recovered};
use crate::segment::{self, Header};
use crate::shared::Shared;
use crate::snapshot::{self, Snapshot, SnapshotBytes};
use crate::writer::{Spare, Writer};

/// Findings when a log was opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opened {
    /// The log's random number.
    pub log: u128,
    /// Its first record, or 1.
    pub first: u64,
    /// Its last record, or the one before the first.
    pub last: u64,
    /// Number of bytes of unfinished records that were cut from its end. None of them was acknowledged as durable.
    pub torn: u64,
    /// The arithmetic of its last segment, if any. If the options have another one, replaying gives other states.
    pub arithmetic: Option<u32>,
}

/// A record that was taken. It is not durable before [`Log::wait_durable`] says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket {
    /// The sequence number, or the last one of several records.
    pub seq: u64,
    /// The log time in milliseconds.
    pub time: u64,
}

/// A log that accepts records. Dropping it writes and syncs waiting records, and unlocks the directory.
///
/// A record is durable when it is synced, and only durable records are given to a [`Follower`]: a sequence number that a state was
/// published under means the same records for ever.
pub struct Log {
    shared: Arc<Shared>,
    opened: Opened,
    threads: Vec<JoinHandle<()>>,
    verified: Mutex<Verified>,
    _lock: Lock,
}

impl Log {
    /// Opens the log of a directory, or starts one there.
    pub fn open(directory: &Path, options: Options) -> Result<Self, Error> {
        let disk = Directory::create(directory).map_err(|source| Error::Io {
            file: directory.display().to_string(),
            doing: "cannot be created",
            source,
        })?;
        Self::on(Arc::new(disk), options)
    }

    /// Like the function above, on any disk.
    pub fn on(disk: Arc<dyn Disk>, mut options: Options) -> Result<Self, Error> {
        options.segment_bytes = segment::size(options.segment_bytes);
        let lock = files::lock(&*disk)?;
        let recovered = recovery::recover(&*disk, random())?;
        let limits = Limits {
            queue_bytes: options.queue_bytes,
            segment_bytes: options.segment_bytes,
            seal_after: options.seal_after.as_millis() as u64,
        };
        let mut queue = Queue::new(&recovered, options.arithmetic, limits);
        if recovered.active.is_none() || recovered.arithmetic != Some(options.arithmetic) {
            // Without a segment no record can be taken, so opening fails now instead of at the first record.
            let spare = Spare::prepare(&*disk, 0, options.segment_bytes);
            queue.spares.push_back(spare.map_err(|error| files::written(&*disk, "", error))?);
        }
        let writer = Writer::new(disk.clone(), &recovered, options.arithmetic);
        let Recovered { log, first, next, torn, arithmetic, .. } = recovered;
        assert!(first >= 1 && first <= next, "records {first} to {next}");
        let shared = Arc::new(Shared::new(disk, options, queue));
        let opened = Opened { log, first, last: next - 1, torn, arithmetic };
        let started = || {
            let writing = shared.clone();
            let preparing = shared.clone();
            Ok(vec![
                spawn("log writer", move || writing.write(writer))?,
                spawn("log segments", move || preparing.prepare())?,
            ])
        };
        let threads = started().map_err(|error| files::written(&*shared.disk, "", error))?;
        Ok(Self { shared, opened, threads, verified: Mutex::default(), _lock: lock })
    }

    /// Returns the findings when the log was opened.
    pub fn opened(&self) -> &Opened {
        &self.opened
    }

    /// Takes a record. Returns at once; a full queue or disk is an error and changes nothing.
    pub fn append(&self, kind: u8, payload: &[u8]) -> Result<Ticket, AppendError> {
        self.append_all([(kind, payload)])
    }

    /// Takes records with consecutive sequence numbers, or none. After a crash a part of them may be there, the first ones.
    pub fn append_all<'a>(
        &self,
        records: impl IntoIterator<Item = (u8, &'a [u8])>,
    ) -> Result<Ticket, AppendError> {
        let records = records.into_iter().map(|(kind, payload)| Entry::Data { kind, payload });
        self.enqueue(records, self.shared.time())
    }

    /// Takes a record of another log with its log time. Log time goes on from there.
    pub fn append_copy(&self, kind: u8, payload: &[u8], time: u64) -> Result<Ticket, AppendError> {
        self.shared.catch_up(time);
        self.enqueue([Entry::Data { kind, payload }], time)
    }

    /// Starts an epoch from the state after record `base`. The records after `base` are abandoned, and stay in the log.
    pub fn begin_epoch(&self, base: u64, reason: &str) -> Result<Ticket, AppendError> {
        self.begin_epoch_at(base, reason, self.shared.time())
    }

    /// Starts an epoch that another log has, with its log time.
    pub fn copy_epoch(&self, base: u64, reason: &str, time: u64) -> Result<Ticket, AppendError> {
        self.shared.catch_up(time);
        self.begin_epoch_at(base, reason, time)
    }

    fn begin_epoch_at(&self, base: u64, reason: &str, time: u64) -> Result<Ticket, AppendError> {
        // Held until the epoch is known, so that nothing it needs is removed meanwhile.
        let mut verified = self.verified();
        let needs = self.needs();
        // A snapshot that cannot be read is no base for an epoch.
        if !keep::is_reachable(&*self.shared.disk, &needs, base, &mut verified).unwrap_or(false) {
            let (first, last) = (needs.first, needs.durable);
            return Err(AppendError::NoSuchBase { base, first, last });
        }
        self.enqueue([Entry::Epoch { base, reason }], time)
    }

    fn enqueue<'a>(
        &self,
        entries: impl IntoIterator<Item = Entry<'a>>,
        time: u64,
    ) -> Result<Ticket, AppendError> {
        let mut state = self.shared.lock();
        if let Some(failed) = &state.failed {
            return Err(failed.clone().into());
        }
        let taken = state.queue.append(entries, time);
        if state.queue.wants_spare() {
            self.shared.wanted.notify_one();
        }
        let (seq, time) = taken?;
        self.shared.work.notify_one();
        Ok(Ticket { seq, time })
    }

    /// Returns the last record that was taken. It may not be durable yet.
    pub fn last(&self) -> u64 {
        self.shared.lock().queue.next_seq() - 1
    }

    /// Progress of the log.
    pub fn progress(&self) -> Progress {
        self.shared.lock().progress
    }

    /// Returns the present log time, which the next record has at least. See [`Clock`](crate::Clock).
    pub fn time(&self) -> u64 {
        self.shared.time()
    }

    /// Waits until a record is written to the system. It survives the end of the process, not a power cut.
    pub fn wait_logged(&self, seq: u64) -> Result<(), Failed> {
        self.shared.wait(None, |progress| progress.logged >= seq).map(|_| ())
    }

    /// Waits until a record is durable.
    pub fn wait_durable(&self, seq: u64) -> Result<(), Failed> {
        self.shared.wait(None, |progress| progress.durable >= seq).map(|_| ())
    }

    /// The failed write or sync, if there was one.
    pub fn failed(&self) -> Option<Failed> {
        self.shared.lock().failed.clone()
    }

    /// The reason why no further segment could be prepared, if any. The log still takes records that fit in the present one.
    pub fn alarm(&self) -> Option<Arc<str>> {
        self.shared.lock().queue.problem.clone()
    }

    /// The epochs, also those whose start is not durable yet.
    pub fn epochs(&self) -> Epochs {
        self.shared.lock().queue.epochs.clone()
    }

    /// Returns the durable records after record `after` that lead to the present state, and future records.
    pub fn follow(&self, after: u64) -> Result<Follower, Error> {
        self.follow_path(after, None)
    }

    /// The records after record `after` that lead to the state after record `to`, which may be abandoned.
    pub fn replay(&self, after: u64, to: u64) -> Result<Follower, Error> {
        self.follow_path(after, Some(to))
    }

    /// Returns every durable record after record `after` and future records, including abandoned ones, as a copy of the log needs them.
    pub fn every(&self, after: u64) -> Result<Follower, Error> {
        let Needs { first, durable: last, .. } = self.needs();
        if after > last || after + 1 < first {
            let directory = self.shared.disk.path("");
            let seq = if after > last { after } else { after + 1 };
            return Err(Error::NotHeld { directory, first, last, seq });
        }
        Follower::new(self.shared.clone(), after, vec![(first, last)], u64::MAX)
    }

    fn follow_path(&self, after: u64, to: Option<u64>) -> Result<Follower, Error> {
        let Needs { epochs, first, durable: last, .. } = self.needs();
        let directory = self.shared.disk.path("");
        let state = to.unwrap_or(last);
        let missing = [after.max(first - 1), state].into_iter().find(|&seq| seq > last);
        if let Some(seq) = missing.or((after + 1 < first).then_some(after + 1)) {
            return Err(Error::NotHeld { directory, first, last, seq });
        }
        if !epochs.leads(after, state) {
            return Err(Error::Abandoned { directory, seq: after, state });
        }
        Follower::new(self.shared.clone(), after, epochs.path(state), to.unwrap_or(u64::MAX))
    }

    /// Writes the state after a durable record as a snapshot, reads it back, and gives it its name.
    pub fn write_snapshot(
        &self,
        seq: u64,
        fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<Snapshot, Error> {
        let Needs { epochs, first, durable: last, .. } = self.needs();
        let disk = &*self.shared.disk;
        if seq > last || seq + 1 < first {
            return Err(Error::NotHeld { directory: disk.path(""), first, last, seq });
        }
        let Opened { log, .. } = self.opened;
        let (epoch, arithmetic) = (epochs.of(seq).number, self.shared.options.arithmetic);
        let snapshot = Snapshot { log, arithmetic, epoch, seq };
        snapshot.write(disk, self.shared.options.snapshot_pace, fill)?;
        self.verified().insert((epoch, seq));
        Ok(snapshot)
    }

    /// The snapshots by epoch and record, newest first, whole or not.
    pub fn snapshots(&self) -> Result<Vec<(u32, u64)>, Error> {
        snapshot::list(&*self.shared.disk)
    }

    /// Starts the log of a copy in an empty directory: it will go on after a record of another log, whose snapshot must be there unless
    /// the record is 0.
    pub fn start_copy(directory: &Path, origin: &Header) -> Result<(), Error> {
        let disk = Directory::create(directory).map_err(|source| Error::Io {
            file: directory.display().to_string(),
            doing: "cannot be created",
            source,
        })?;
        let _lock = files::lock(&disk)?;
        if !segment::firsts(&disk)?.is_empty() {
            return Err(Error::NotEmpty { directory: directory.display().to_string() });
        }
        let capacity = segment::size(origin.capacity);
        crate::writer::start(&disk, &Header { capacity, ..*origin })
            .map_err(|error| files::written(&disk, "", error))
    }

    /// Opens a snapshot after checking it.
    pub fn open_snapshot(&self, epoch: u32, seq: u64) -> Result<(Snapshot, SnapshotBytes), Error> {
        Snapshot::open(&*self.shared.disk, self.opened.log, (epoch, seq))
    }

    /// The newest whole snapshot on the way to the state after record `to`, with the damaged ones that were skipped.
    #[allow(clippy::type_complexity)]
    pub fn newest_snapshot(
        &self,
        to: u64,
    ) -> Result<(Option<(Snapshot, SnapshotBytes)>, Vec<Error>), Error> {
        let (epochs, mut bad) = (self.epochs(), Vec::new());
        for (epoch, seq) in self.snapshots()?.into_iter().filter(|found| epochs.leads(found.1, to))
        {
            match self.open_snapshot(epoch, seq) {
                Ok(found) => return Ok((Some(found), bad)),
                Err(error @ Error::BadSnapshot { .. }) => bad.push(error),
                Err(error) => return Err(error),
            }
        }
        Ok((None, bad))
    }

    /// Removes all snapshots but the newest `count` and those that the present state needs; returns the number removed.
    pub fn prune_snapshots(&self, count: usize) -> Result<usize, Error> {
        let mut verified = self.verified();
        keep::prune(&*self.shared.disk, &self.needs(), count, &mut verified)
    }

    /// Removes the oldest segments while all take more than `budget` bytes, but none after the older of the two newest whole
    /// snapshots of the present state. The past is lost by it: earlier states cannot be rebuilt any more.
    pub fn truncate(&self, budget: u64) -> Result<(), Error> {
        self.remove(Excess::Beyond(budget))
    }

    /// Removes the segments whose records are all older than a log time, with the same exception.
    pub fn forget(&self, before: u64) -> Result<(), Error> {
        self.remove(Excess::Before(before))
    }

    fn remove(&self, excess: Excess) -> Result<(), Error> {
        let mut verified = self.verified();
        let first = keep::truncate(&*self.shared.disk, &self.needs(), excess, &mut verified)?;
        self.shared.lock().queue.first = first;
        Ok(())
    }

    fn needs(&self) -> Needs {
        let state = self.shared.lock();
        state.queue.needs(self.opened.log, state.progress.durable)
    }

    fn verified(&self) -> MutexGuard<'_, Verified> {
        self.verified.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        self.shared.lock().closing = true;
        self.shared.work.notify_all();
        self.shared.wanted.notify_all();
        for thread in self.threads.drain(..) {
            // A thread that panicked has marked the log as failed.
            let _ = thread.join();
        }
        let mut state = self.shared.lock();
        state.closed = true;
        for spare in state.queue.spares.drain(..) {
            spare.discard(&*self.shared.disk);
        }
        drop(state);
        self.shared.progress.notify_all();
    }
}

fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    std::thread::Builder::new().name(name.into()).spawn(run)
}

/// A random number for a new log. The keys of std's hash maps come from the system's source of randomness.
fn random() -> u128 {
    use std::hash::{BuildHasher, RandomState};
    let half = || u128::from(RandomState::new().hash_one(std::process::id()));
    half() << 64 | half()
}

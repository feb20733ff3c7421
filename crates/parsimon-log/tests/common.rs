//! What the tests share.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parsimon_log::simulated::{SimulatedDisk, State};
use parsimon_log::{AppendError, Clock, Content, Log, Options, Ticket};

/// Small segments, and a clock that stands at 1000.
pub(crate) fn options() -> Options {
    Options {
        segment_bytes: 16 << 10,
        retry: Duration::from_millis(5),
        clock: Clock::both(|| 1000),
        ..Options::default()
    }
}

/// A clock that is set by hand.
pub(crate) fn clock(options: Options) -> (Options, Arc<AtomicU64>) {
    let time = Arc::new(AtomicU64::new(0));
    let read = time.clone();
    (Options { clock: Clock::both(move || read.load(Ordering::Relaxed)), ..options }, time)
}

pub(crate) fn disk() -> SimulatedDisk {
    SimulatedDisk::new(State::default(), 512)
}

/// Appends, and tries again while the log is overloaded.
pub(crate) fn append(log: &Log, kind: u8, payload: &[u8]) -> Ticket {
    loop {
        match log.append(kind, payload) {
            Ok(ticket) => return ticket,
            Err(AppendError::Overloaded) => std::thread::yield_now(),
            Err(error) => panic!("{error}"),
        }
    }
}

/// Appends and waits.
pub(crate) fn put(log: &Log, payload: &[u8]) -> u64 {
    let seq = append(log, 0, payload).seq;
    log.wait_durable(seq).unwrap();
    seq
}

/// The payloads of a follower until none comes; those of epochs are their reasons.
pub(crate) fn payloads(mut records: parsimon_log::Follower) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    while let Some(record) = records.next_within(Duration::ZERO).unwrap() {
        all.push(match record.content {
            Content::Data { payload, .. } => payload.to_vec(),
            Content::Epoch { reason, .. } => reason.to_vec(),
        });
    }
    all
}

/// The names of files that end like this.
pub(crate) fn names(disk: &dyn parsimon_log::Disk, end: &str) -> Vec<String> {
    let mut names = disk.list().unwrap();
    names.retain(|name| name.ends_with(end));
    names
}

//! A log that was written with another arithmetic, learned again with this one.

use std::path::Path;
use std::time::{Duration, Instant};

use parsimon_log::{AppendError, Log, Options as LogOptions, Snapshot as LogSnapshot};

use super::id_table::IdTable;
use super::open::{ARITHMETIC, OpenError, other};
use super::policy::Policy;
use super::record::Start;
use super::replay::{Replay, Stop};
use super::replica::{Live, Version};
use super::snapshot::Snapshot;

/// Time in which a segment must be prepared.
const PATIENCE: Duration = Duration::from_secs(60);

/// Result of an upgrade.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Upgraded {
    /// The arithmetic before.
    pub before: u32,
    /// The arithmetic now.
    pub now: u32,
    /// Rows that were learned again.
    pub rows: u64,
    /// The snapshot that the service will continue from.
    pub version: Version,
}

/// Learns what no snapshot has, writes a snapshot and begins an epoch with it, so that a service with this arithmetic can continue.
/// The service must not be running. `None` if the log has the arithmetic already.
pub fn upgrade(directory: &Path, arithmetic: Option<u32>) -> Result<Option<Upgraded>, OpenError> {
    super::archive::check(directory)?;
    let now = arithmetic.unwrap_or(ARITHMETIC);
    let log = Log::open(directory, LogOptions { arithmetic: now, ..LogOptions::default() })?;
    let last = log.opened().last;
    let newest = log.newest_snapshot(last)?.0.map(|(snapshot, _)| snapshot);
    let segment = log.opened().arithmetic.filter(|before| *before != now);
    let Some(before) = unlearned(&log, newest.as_ref(), now).or(segment) else { return Ok(None) };
    match learn(&log, Replay::new(&log), before, now) {
        Err(Stop::Diverged) => learn(&log, Replay::careful(&log), before, now),
        done => done,
    }
    .map(Some)
    .map_err(|stop| stop.into_error(directory))
}

/// The arithmetic of records that no snapshot has, if it is another one.
pub(crate) fn unlearned(log: &Log, newest: Option<&LogSnapshot>, now: u32) -> Option<u32> {
    let has_all = newest.is_some_and(|snapshot| snapshot.seq == log.opened().last);
    let numbers = [newest.map(|snapshot| snapshot.arithmetic), log.opened().arithmetic];
    numbers.into_iter().flatten().find(|number| !has_all && *number != now)
}

fn learn(log: &Log, mut replay: Replay<'_>, before: u32, now: u32) -> Result<Upgraded, Stop> {
    let last = log.opened().last;
    let policy = Policy::new("");
    let (mut state, mut table) = (None, IdTable::new(&policy));
    let (newest, _) = log.newest_snapshot(last).map_err(OpenError::from)?;
    if let Some((_, mut bytes)) = newest {
        let unreadable = |e: String| other(format!("a snapshot is unreadable: {e}"));
        let snapshot = Snapshot::read(&mut bytes).map_err(|e| unreadable(e.to_string()))?;
        table = snapshot.table(&policy).ok_or_else(|| unreadable("its table of ids".into()))?;
        state = Some((snapshot.head.start.clone(), snapshot.live().map_err(OpenError::from)?));
    }
    let after = state.as_ref().map_or(0, |(_, live)| live.version.seq);
    replay.run(after, last, &mut state, &mut table)?;
    let (start, mut live) = state.ok_or_else(|| other("the log has no first record"))?;
    live.trainer.note_names(replay.names());
    let why =
        format!("records {} to {last} learned again: arithmetic {now} after {before}", after + 1);
    begin(log, &why, &start, &mut live, &mut table)?;
    Ok(Upgraded { before, now, rows: replay.rows, version: live.version })
}

/// Begins an epoch from the last record, in a segment with the arithmetic of the log's options, and writes its first snapshot.
pub(crate) fn begin(
    log: &Log,
    why: &str,
    start: &Start,
    live: &mut Live,
    table: &mut IdTable,
) -> Result<(), OpenError> {
    let failed = |e: String| OpenError::Append(e);
    let begun = Instant::now();
    let ticket = loop {
        match log.begin_epoch(log.opened().last, why) {
            // The segment for it is being prepared.
            Err(AppendError::Overloaded) if begun.elapsed() < PATIENCE => {
                std::thread::sleep(Duration::from_millis(5));
            }
            ticket => break ticket.map_err(|e| failed(e.to_string()))?,
        }
    };
    log.wait_durable(ticket.seq).map_err(|e| failed(e.to_string()))?;
    live.version = Version { epoch: log.epochs().of(ticket.seq).number, seq: ticket.seq };
    let (snapshot, ids) = (Snapshot::new(start, live), table.save(ticket.seq));
    log.write_snapshot(ticket.seq, |out| {
        snapshot.write(out)?;
        out.write_all(&ids)
    })?;
    Ok(())
}

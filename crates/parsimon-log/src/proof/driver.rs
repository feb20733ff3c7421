//! A log without threads on a simulated disk, with the facts that every recovery has to respect.

use std::collections::BTreeMap;
use std::io::Read;
use std::sync::Arc;

use crate::disk::Disk;
use crate::error::Error;
use crate::keep::{self, Excess, Needs, Verified};
use crate::queue::{Entry, Limits, Queue};
use crate::reader::Records;
use crate::record::{Content, Record};
use crate::recovery;
use crate::simulated::{SimulatedDisk, State};
use crate::snapshot::{self, Snapshot};
use crate::writer::{Spare, Writer};

pub(crate) const ID: u128 = 0x1234_5678_9abc_def0;

/// A record that was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sent {
    epoch: u32,
    time: u64,
    /// The base of an epoch, or the kind of a record.
    what: Result<u8, u64>,
    bytes: Vec<u8>,
}

/// Known facts at a time: acknowledged is contained in recovered is contained in sent.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    pub(crate) sent: Vec<Arc<Sent>>,
    pub(crate) acknowledged: u64,
    /// Records before this one may have been removed.
    pub(crate) removed_before: u64,
    /// Snapshots that must be there, and whole.
    pub(crate) snapshots: BTreeMap<(u32, u64), Vec<u8>>,
}

/// The states that a disk went through, and the facts from each of some on.
pub(crate) type Run = (Vec<State>, Vec<(usize, Facts)>);

pub(crate) struct Driver {
    pub(crate) disk: SimulatedDisk,
    pub(crate) queue: Queue,
    writer: Writer,
    verified: Verified,
    prepared: u64,
    segment_bytes: u64,
    pub(crate) time: u64,
    pub(crate) facts: Facts,
    /// The facts from a number of recorded states on.
    pub(crate) timeline: Vec<(usize, Facts)>,
}

pub(crate) const LIMITS: Limits =
    Limits { queue_bytes: 1 << 16, segment_bytes: 10 * 512, seal_after: 1000 };

/// Fault of a recovery, or an error of the simulated disk.
#[derive(Debug)]
pub(crate) enum Wrong {
    Promise(String),
    #[allow(dead_code, reason = "is printed")]
    Disk(String),
}

impl From<Error> for Wrong {
    fn from(error: Error) -> Self {
        match error {
            Error::Io { .. } => Self::Disk(error.to_string()),
            refused => Self::Promise(format!("refused: {refused}")),
        }
    }
}

impl From<std::io::Error> for Wrong {
    fn from(error: std::io::Error) -> Self {
        Self::Disk(error.to_string())
    }
}

fn promise(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), Wrong> {
    if holds { Ok(()) } else { Err(Wrong::Promise(otherwise())) }
}

impl Driver {
    /// Opens the log of a disk and compares it with the facts.
    pub(crate) fn open(disk: SimulatedDisk, facts: Facts) -> Result<Self, Wrong> {
        let recovered = recovery::recover(&disk, ID)?;
        let last = recovered.next - 1;
        let mut driver = Self {
            queue: Queue::new(&recovered, 0, LIMITS),
            writer: Writer::new(Arc::new(disk.clone()), &recovered, 0),
            disk,
            verified: Verified::default(),
            prepared: 0,
            segment_bytes: LIMITS.segment_bytes,
            time: recovered.time,
            facts,
            timeline: Vec::new(),
        };
        driver.check(recovered.first, last)?;
        // Records that were found are durable from now on; records that were not found count as never sent.
        driver.facts.acknowledged = last;
        driver.facts.sent.truncate(last as usize);
        driver.note();
        Ok(driver)
    }

    fn check(&self, first: u64, last: u64) -> Result<(), Wrong> {
        let facts = &self.facts;
        promise(last >= facts.acknowledged, || {
            format!("record {} was acknowledged; the last is {last}", facts.acknowledged)
        })?;
        promise(last <= facts.sent.len() as u64, || {
            format!("{} records were sent; the last is {last}", facts.sent.len())
        })?;
        promise(first == 1 || first <= facts.removed_before, || format!("begins with {first}"))?;
        let mut records = Records::open(Arc::new(self.disk.clone()), 0)?;
        let mut next = first;
        while records.advance()? {
            let record = records.record().ok_or(Wrong::Promise("no record".into()))?;
            let sent = facts.sent.get(record.seq as usize - 1);
            promise(record.seq == next && sent.is_some_and(|sent| sent.is(&record)), || {
                format!("record {next} was sent as {sent:?} and found as {record:?}")
            })?;
            next += 1;
        }
        promise(next == last + 1, || format!("opened up to {last}, read up to {}", next - 1))?;
        for (&found, bytes) in &facts.snapshots {
            let mut read = Vec::new();
            Snapshot::open(&self.disk, ID, found)?.1.read_to_end(&mut read)?;
            promise(&read == bytes, || format!("snapshot {found:?} has other bytes"))?;
        }
        let newest = snapshot::newest_seq(&self.disk)?.unwrap_or(0);
        promise(newest <= last, || format!("a snapshot after {newest}, the last is {last}"))?;
        // There must be a state to start from.
        let epochs = &self.queue.epochs;
        let mut ways = snapshot::list(&self.disk)?;
        ways.retain(|found| {
            epochs.leads(found.1, last) && Snapshot::open(&self.disk, ID, *found).is_ok()
        });
        promise(first == 1 || ways.first().is_some_and(|way| way.1 + 1 >= first), || {
            format!("the log begins with {first}, whole snapshots are {ways:?}")
        })
    }

    fn needs(&self) -> Needs {
        self.queue.needs(ID, self.facts.acknowledged)
    }

    /// Notes that the facts hold from the present state of the disk on.
    fn note(&mut self) {
        let recorded = self.disk.recorded().saturating_sub(1);
        self.timeline.push((recorded, self.facts.clone()));
    }

    /// Sends records. They wait to be written. False if there is no room.
    pub(crate) fn send(&mut self, payloads: &[Vec<u8>]) -> Result<bool, Wrong> {
        self.prepare()?;
        let kind = |payload: &[u8]| payload.len() as u8;
        let entries = payloads.iter().map(|payload| Entry::Data { kind: kind(payload), payload });
        let Ok((_, time)) = self.queue.append(entries, self.time) else { return Ok(false) };
        let epoch = self.queue.epochs.of(self.queue.next_seq()).number;
        let sent =
            |bytes: &Vec<u8>| Sent { epoch, time, what: Ok(kind(bytes)), bytes: bytes.clone() };
        self.facts.sent.extend(payloads.iter().map(|bytes| Arc::new(sent(bytes))));
        self.note();
        Ok(true)
    }

    pub(crate) fn begin_epoch(&mut self, base: u64) -> Result<(), Wrong> {
        self.prepare()?;
        if !keep::is_reachable(&self.disk, &self.needs(), base, &mut self.verified)? {
            return Ok(());
        }
        let entry = Entry::Epoch { base, reason: "regret" };
        if let Ok((seq, time)) = self.queue.append([entry], self.time) {
            let epoch = self.queue.epochs.of(seq).number;
            let bytes = b"regret".to_vec();
            self.facts.sent.push(Arc::new(Sent { epoch, time, what: Err(base), bytes }));
            self.note();
        }
        Ok(())
    }

    /// Prepares a segment if one is wanted. A full disk is no failure.
    fn prepare(&mut self) -> Result<(), Wrong> {
        if !self.queue.wants_spare() {
            return Ok(());
        }
        self.prepared += 1;
        match Spare::prepare(&self.disk, self.prepared, self.segment_bytes) {
            Ok(spare) => self.queue.spares.push_back(spare),
            Err(error) if error.kind() == std::io::ErrorKind::StorageFull => {}
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// Writes what waits.
    pub(crate) fn write(&mut self) -> Result<(), Wrong> {
        let mut group = std::mem::take(&mut self.queue.group);
        let queue = &mut self.queue;
        self.writer.write(&mut group, &mut || queue.take_spare())?;
        Ok(())
    }

    /// Writes what waits, syncs it, and acknowledges it.
    pub(crate) fn commit(&mut self) -> Result<(), Wrong> {
        self.write()?;
        self.writer.sync()?;
        self.facts.acknowledged = self.queue.next_seq() - 1;
        self.note();
        Ok(())
    }

    pub(crate) fn snapshot(&mut self, seq: u64, bytes: Vec<u8>) -> Result<(), Wrong> {
        let epoch = self.queue.epochs.of(seq).number;
        let snapshot = Snapshot { log: ID, arithmetic: 0, epoch, seq };
        snapshot.write(&self.disk, None, |out| out.write_all(&bytes))?;
        self.verified.insert((epoch, seq));
        self.facts.snapshots.insert((epoch, seq), bytes);
        self.note();
        Ok(())
    }

    pub(crate) fn prune(&mut self, count: usize) -> Result<(), Wrong> {
        let before = std::mem::take(&mut self.facts.snapshots);
        self.note();
        keep::prune(&self.disk, &self.needs(), count, &mut self.verified)?;
        let left = snapshot::list(&self.disk)?;
        self.facts.snapshots = before.into_iter().filter(|(at, _)| left.contains(at)).collect();
        self.note();
        Ok(())
    }

    pub(crate) fn truncate(&mut self, budget: u64) -> Result<(), Wrong> {
        let needs = self.needs();
        let mut live: Vec<u64> = self.facts.snapshots.keys().map(|found| found.1).collect();
        live.retain(|&seq| needs.epochs.leads(seq, needs.durable));
        live.sort_unstable();
        // If the newest snapshot rots, the one before it must be enough to continue.
        if let Some(&older) = live.len().checked_sub(2).and_then(|index| live.get(index)) {
            self.facts.removed_before = self.facts.removed_before.max(older + 1);
        }
        self.note();
        self.queue.first =
            keep::truncate(&self.disk, &needs, Excess::Beyond(budget), &mut self.verified)?;
        Ok(())
    }

    /// The process ends without a power cut, and another opens the log.
    pub(crate) fn restart(&mut self) -> Result<(), Wrong> {
        let again = Self::open(self.disk.clone(), self.facts.clone())?;
        let mut timeline = std::mem::take(&mut self.timeline);
        timeline.extend(again.timeline);
        *self = Self { timeline, ..again };
        Ok(())
    }
}

impl Sent {
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn is(&self, record: &Record<'_>) -> bool {
        let same = match record.content {
            Content::Data { kind, payload } => self.what == Ok(kind) && payload == self.bytes,
            Content::Epoch { base, reason } => self.what == Err(base) && reason == self.bytes,
        };
        same && (record.epoch, record.time) == (self.epoch, self.time)
    }
}

impl Facts {
    /// The facts at a recorded state.
    pub(crate) fn at(timeline: &[(usize, Self)], state: usize) -> &Self {
        let after = timeline.partition_point(|(from, _)| *from <= state);
        &timeline[after.max(1) - 1].1
    }
}

/// The names of all files.
pub(crate) fn names(disk: &SimulatedDisk) -> Vec<String> {
    let mut names = disk.list().unwrap_or_default();
    names.sort();
    names
}

//! Retention of snapshots and segments. Only removing can lose records, so it happens on request only.

use std::collections::BTreeSet;

use crate::disk::Disk;
use crate::epoch::Epochs;
use crate::error::Error;
use crate::files;
use crate::segment::{self, Segment};
use crate::snapshot::{self, Snapshot};
use crate::step::{Step, taken};

/// The states that removal must keep. An epoch may have been started that is not durable yet: the records of the durable state are
/// needed if the epoch is lost, and the records of the new state if it is not.
pub(crate) struct Needs {
    pub(crate) log: u128,
    pub(crate) epochs: Epochs,
    pub(crate) first: u64,
    pub(crate) durable: u64,
    pub(crate) to_come: u64,
}

/// Snapshots that were found whole, so that they are read only once.
#[derive(Default)]
pub(crate) struct Verified(BTreeSet<(u32, u64)>);

impl Verified {
    pub(crate) fn insert(&mut self, snapshot: (u32, u64)) {
        self.0.insert(snapshot);
    }

    /// The newest whole snapshots that lead to all of these states, newest first.
    fn newest(
        &mut self,
        disk: &dyn Disk,
        needs: &Needs,
        states: &[u64],
        count: usize,
    ) -> Result<Vec<(u32, u64)>, Error> {
        let mut found = Vec::new();
        for snapshot in snapshot::list(disk)? {
            let leads = states.iter().all(|&state| needs.epochs.leads(snapshot.1, state));
            if found.len() < count && leads && self.holds(disk, needs.log, snapshot)? {
                found.push(snapshot);
            }
        }
        Ok(found)
    }

    fn holds(&mut self, disk: &dyn Disk, log: u128, found: (u32, u64)) -> Result<bool, Error> {
        if self.0.contains(&found) {
            return Ok(true);
        }
        match Snapshot::open(disk, log, found) {
            Ok(_) => {
                self.0.insert(found);
                Ok(true)
            }
            Err(Error::BadSnapshot { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// Whether the state after record `base` can still be rebuilt: from the first record, or from a snapshot.
pub(crate) fn is_reachable(
    disk: &dyn Disk,
    needs: &Needs,
    base: u64,
    verified: &mut Verified,
) -> Result<bool, Error> {
    let way = verified.newest(disk, needs, &[base], 1)?;
    Ok(needs.first == 1 || way.first().is_some_and(|snapshot| snapshot.1 + 1 >= needs.first))
}

/// Returns the segments that can be removed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Excess {
    /// The oldest, while all take more bytes than this.
    Beyond(u64),
    /// Those whose records are all older than a log time.
    Before(u64),
}

/// Removes the oldest segments beyond the limit, but none that is needed to replay from the older of the two newest whole
/// snapshots to the present state. Returns the first record that is left.
///
/// The names are synced after every removal: a segment that comes back after a power cut must not leave a hole behind it.
pub(crate) fn truncate(
    disk: &dyn Disk,
    needs: &Needs,
    excess: Excess,
    verified: &mut Verified,
) -> Result<u64, Error> {
    let wanted = if taken(Step::KeepTwoSnapshots) { 2 } else { 1 };
    let snapshots = verified.newest(disk, needs, &[needs.durable, needs.to_come], wanted)?;
    let Some(&(_, needed)) = snapshots.get(wanted - 1) else { return Ok(needs.first) };
    let firsts = segment::firsts(disk)?;
    let mut headers = Vec::with_capacity(firsts.len());
    for &first in &firsts {
        headers.push(Segment::open(disk, first, false)?.header);
    }
    let mut total: u64 = headers.iter().map(|header| header.capacity).sum();
    let mut left = needs.first;
    for pair in headers.windows(2) {
        let is_excess = match excess {
            Excess::Beyond(budget) => total > budget,
            // No record is younger than the segment after it.
            Excess::Before(time) => pair[1].time < time,
        };
        if !is_excess || pair[1].first > needed + 1 {
            break;
        }
        assert!(pair[0].first < pair[1].first && pair[1].first <= needed + 1, "is needed");
        remove(disk, &segment::name(pair[0].first))?;
        total -= pair[0].capacity;
        left = pair[1].first;
    }
    Ok(left)
}

/// Removes all snapshots but the newest `count`; the two newest whole ones on the way to the present state always stay.
pub(crate) fn prune(
    disk: &dyn Disk,
    needs: &Needs,
    count: usize,
    verified: &mut Verified,
) -> Result<usize, Error> {
    let mut needed = verified.newest(disk, needs, &[needs.durable], 2)?;
    needed.extend(verified.newest(disk, needs, &[needs.to_come], 2)?);
    let extra: Vec<_> = snapshot::list(disk)?.into_iter().skip(count).collect();
    let mut removed = 0;
    for (epoch, seq) in extra.into_iter().filter(|snapshot| !needed.contains(snapshot)) {
        remove(disk, &Snapshot { log: needs.log, arithmetic: 0, epoch, seq }.name())?;
        verified.0.remove(&(epoch, seq));
        removed += 1;
    }
    Ok(removed)
}

fn remove(disk: &dyn Disk, name: &str) -> Result<(), Error> {
    disk.remove(name).map_err(|error| files::written(disk, name, error))?;
    if taken(Step::SyncRemoval) {
        disk.sync_names().map_err(|error| files::written(disk, "", error))?;
    }
    Ok(())
}

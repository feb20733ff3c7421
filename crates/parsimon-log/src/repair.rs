//! Repair of a damaged log by a cut at the damage, on request only. Nothing is deleted: the part that is cut stays beside the log.

use std::sync::Arc;

use crate::disk::{Disk, read_full};
use crate::error::Error;
use crate::files;
use crate::reader::{Records, Tail, Walk};
use crate::segment::{self, Segment};
use crate::snapshot;

/// Result of [`repair`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repair {
    /// The last record that is left.
    pub last: u64,
    /// The damage, if there was any.
    pub damage: Option<String>,
    /// The files that were put aside.
    pub aside: Vec<String>,
}

/// Cuts a damaged log before its first damaged record. Later segments and snapshots get names that begin with `damaged-`, and so
/// does a copy of the segment that is cut. A log without damage is left unchanged.
///
/// Later files go first: a crash in between leaves a log that is damaged in the same place.
pub fn repair(disk: Arc<dyn Disk>) -> Result<Repair, Error> {
    let _lock = files::lock(&*disk)?;
    let found = match find_damage(&disk)? {
        Ok(tail) => return Ok(Repair { last: tail.last, damage: None, aside: Vec::new() }),
        Err(found) => found,
    };
    let mut aside = Vec::new();
    let lost = Lost::after(&*disk, &found)?;
    let mut put_aside = |name: String| {
        let kept = free_name(&*disk, &name)?;
        disk.rename(&name, &kept).map_err(|error| files::written(&*disk, &name, error))?;
        disk.sync_names().map_err(|error| files::written(&*disk, "", error))?;
        aside.push(kept);
        Ok::<_, Error>(())
    };
    lost.snapshots.into_iter().try_for_each(&mut put_aside)?;
    // Newest first; then the one that is cut.
    lost.segments.into_iter().rev().try_for_each(&mut put_aside)?;
    if let Some(first) = lost.cut {
        aside.extend(cut(&*disk, first, found.next)?);
    }
    Ok(Repair { last: found.next.saturating_sub(1), damage: Some(found.why), aside })
}

/// Returns the files that [`repair`] would put aside, under their present names. Changes nothing, and needs no lock.
pub fn damage(disk: Arc<dyn Disk>) -> Result<Repair, Error> {
    Ok(match find_damage(&disk)? {
        Ok(tail) => Repair { last: tail.last, damage: None, aside: Vec::new() },
        Err(found) => {
            let Damage { next, why: damage, .. } = &found;
            let Lost { snapshots, segments, cut } = Lost::after(&*disk, &found)?;
            let aside = snapshots.into_iter().chain(segments).chain(cut.map(segment::name));
            let (last, aside) = (next.saturating_sub(1), aside.collect());
            Repair { last, damage: Some(damage.clone()), aside }
        }
    })
}

/// Files that a cut removes.
struct Lost {
    snapshots: Vec<String>,
    /// Segments without a single good record, in order.
    segments: Vec<String>,
    /// The first record of the segment that is cut.
    cut: Option<u64>,
}

impl Lost {
    /// The files with records behind the damage. A segment behind it may have a name that lies before the first missing record.
    fn after(disk: &dyn Disk, damage: &Damage) -> Result<Self, Error> {
        let next = damage.next;
        let mut snapshots = files::list(disk)?;
        snapshots.retain(|name| snapshot::parse(name).is_some_and(|(_, seq)| seq >= next));
        let firsts = segment::firsts(disk)?;
        let (kept, lost) = firsts.split_at(firsts.partition_point(|&first| {
            first < next && damage.segment.is_none_or(|read| first <= read)
        }));
        let segments = lost.iter().map(|&first| segment::name(first)).collect();
        Ok(Self { snapshots, segments, cut: kept.last().copied() })
    }
}

/// Position of the first damage of a log.
struct Damage {
    /// The first record that is damaged or missing.
    next: u64,
    /// The first record of the segment that was read last.
    segment: Option<u64>,
    why: String,
}

/// The damage; else the end of the log.
fn find_damage(disk: &Arc<dyn Disk>) -> Result<Result<Tail, Damage>, Error> {
    let mut records = match Records::open(disk.clone(), 0) {
        // The header of the first segment cannot be read.
        Err(error @ Error::Damaged { .. }) => {
            return Ok(Err(Damage { next: 0, segment: None, why: error.to_string() }));
        }
        records => records?,
    };
    let end = loop {
        match records.advance() {
            Ok(true) => {}
            Ok(false) => break records.tail(),
            Err(error) => break Err(error),
        }
    };
    let newest = snapshot::newest_seq(&**disk)?;
    let segment = records.header().map(|header| header.first);
    match (end, newest) {
        (Ok(tail), Some(newest)) if newest > tail.last => {
            let why = format!("the log ends before the snapshot after record {newest}");
            Ok(Err(Damage { next: tail.last + 1, segment, why }))
        }
        (Err(error @ Error::Damaged { .. }), _) => {
            Ok(Err(Damage { next: records.next_seq(), segment, why: error.to_string() }))
        }
        (end, _) => end.map(Ok),
    }
}

/// Replaces a segment by one that ends before record `next`, and keeps a copy if that changes it.
fn cut(disk: &dyn Disk, first: u64, next: u64) -> Result<Option<String>, Error> {
    let name = segment::name(first);
    let unreadable = |error| files::read(disk, &name, error);
    let failed = |error| files::written(disk, &name, error);
    let Segment { file, header, .. } = Segment::open(disk, first, false)?;
    let mut bytes = vec![0; header.capacity as usize];
    read_full(&*file, 0, &mut bytes).map_err(unreadable)?;
    let mut walk = Walk::start(&header);
    walk.on(&bytes, &header, next);
    let end = walk.valid;
    if bytes[end..].iter().all(|&byte| byte == 0) {
        return Ok(None);
    }
    let kept = free_name(disk, &name)?;
    files::put(disk, &kept, &bytes).map_err(failed)?;
    bytes[end..].fill(0);
    files::put(disk, &name, &bytes).map_err(failed)?;
    Ok(Some(kept))
}

/// A name that is not taken.
fn free_name(disk: &dyn Disk, name: &str) -> Result<String, Error> {
    let taken = files::list(disk)?;
    let numbered = (1_u32..).map(|number| format!("damaged-{number}-{name}"));
    Ok(numbered.into_iter().find(|name| !taken.contains(name)).unwrap_or_default())
}

//! Cutting a damaged log at the damage, on request only. Nothing is thrown away: what is cut stays beside the log.

use std::sync::Arc;

use crate::disk::{Disk, DiskFile, read_full};
use crate::error::Error;
use crate::files;
use crate::reader::{Found, Link, Records, Tail};
use crate::record::{Raw, size_of};
use crate::segment::{self, START, Segment};
use crate::snapshot;

/// What [`repair`] did.
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
/// does a copy of the segment that is cut. A log without damage is left as it is.
///
/// Later files go first: a crash in between leaves a log that is damaged in the same place.
pub fn repair(disk: Arc<dyn Disk>) -> Result<Repair, Error> {
    let _lock = files::lock(&*disk)?;
    let (next, damage) = match find_damage(&disk)? {
        Ok(tail) => return Ok(Repair { last: tail.last, damage: None, aside: Vec::new() }),
        Err(found) => found,
    };
    let mut aside = Vec::new();
    let mut put_aside = |name: String| {
        let kept = free_name(&*disk, &name)?;
        disk.rename(&name, &kept).map_err(|error| files::written(&*disk, &name, error))?;
        disk.sync_names().map_err(|error| files::written(&*disk, "", error))?;
        aside.push(kept);
        Ok::<_, Error>(())
    };
    for name in files::list(&*disk)?
        .into_iter()
        .filter(|name| snapshot::parse(name).is_some_and(|(_, seq)| seq >= next))
    {
        put_aside(name)?;
    }
    // Segments without a single good record, newest first; then the one that is cut.
    let firsts = segment::firsts(&*disk)?;
    let holding = firsts.partition_point(|&first| first < next);
    for &first in firsts[holding..].iter().rev() {
        put_aside(segment::name(first))?;
    }
    if let Some(&first) = holding.checked_sub(1).and_then(|last| firsts.get(last)) {
        aside.extend(cut(&*disk, first, next)?);
    }
    Ok(Repair { last: next.saturating_sub(1), damage: Some(damage), aside })
}

/// The first record that is damaged or missing, and how; else the end of the log.
fn find_damage(disk: &Arc<dyn Disk>) -> Result<Result<Tail, (u64, String)>, Error> {
    let mut records = match Records::open(disk.clone(), 0) {
        // The header of the first segment cannot be read.
        Err(error @ Error::Damaged { .. }) => return Ok(Err((0, error.to_string()))),
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
    match (end, newest) {
        (Ok(tail), Some(newest)) if newest > tail.last => {
            let why = format!("the log ends before the snapshot after record {newest}");
            Ok(Err((tail.last + 1, why)))
        }
        (Err(error @ Error::Damaged { .. }), _) => Ok(Err((records.next_seq(), error.to_string()))),
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
    let (mut end, mut link) = (START, Link::start(&header));
    while link.next < next
        && let Some(raw) = Raw::decode(&bytes[end..])
        && link.follow(&raw, &header) == Some(Found::Record)
    {
        end += size_of(raw.payload.len());
    }
    if bytes[end..].iter().all(|&byte| byte == 0) {
        return Ok(None);
    }
    let kept = free_name(disk, &name)?;
    replace(disk, &kept, &bytes).map_err(failed)?;
    bytes[end..].fill(0);
    replace(disk, &name, &bytes).map_err(failed)?;
    Ok(Some(kept))
}

fn replace(disk: &dyn Disk, name: &str, bytes: &[u8]) -> std::io::Result<()> {
    let unfinished = format!("{name}{}", files::UNFINISHED);
    if disk.list()?.contains(&unfinished) {
        disk.remove(&unfinished)?;
    }
    let file: Arc<dyn DiskFile> = disk.create(&unfinished)?;
    file.write_at(0, bytes)?;
    file.sync()?;
    disk.rename(&unfinished, name)?;
    disk.sync_names()
}

/// A name that is not taken.
fn free_name(disk: &dyn Disk, name: &str) -> Result<String, Error> {
    let taken = files::list(disk)?;
    let numbered = (1_u32..).map(|number| format!("damaged-{number}-{name}"));
    Ok(numbered.into_iter().find(|name| !taken.contains(name)).unwrap_or_default())
}

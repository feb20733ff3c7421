//! Recovery of a log directory: the last valid record, and the position of the next one.

use std::sync::Arc;

use crate::disk::{Disk, DiskFile, read_full};
use crate::epoch::{Epoch, Epochs};
use crate::error::Error;
use crate::files;
use crate::reader::{self, Cursor, Link, Walk};
use crate::record::Content;
use crate::segment::{self, START, Segment};
use crate::snapshot;
use crate::step::{Step, taken};

/// The state of a log that was found in a directory.
pub(crate) struct Recovered {
    pub(crate) log: u128,
    pub(crate) epochs: Epochs,
    /// The first and the next sequence number.
    pub(crate) first: u64,
    pub(crate) next: u64,
    /// The log time and the checksum of the last record.
    pub(crate) time: u64,
    pub(crate) chain: u32,
    /// The number of the arithmetic of the last segment, if any.
    pub(crate) arithmetic: Option<u32>,
    /// The segment to continue with, unless it is sealed.
    pub(crate) active: Option<Active>,
    /// Number of bytes of unfinished records that were cut.
    pub(crate) torn: u64,
}

/// The segment that is written.
#[derive(Clone)]
pub(crate) struct Active {
    pub(crate) file: Arc<dyn DiskFile>,
    pub(crate) capacity: u64,
    /// Position of the next record.
    pub(crate) offset: u64,
    /// Number of its records, and the time of its start.
    pub(crate) count: u64,
    pub(crate) started: u64,
}

/// Finds the end of the log and makes everything before it durable. The directory must be locked. `id` is that of a new log.
///
/// The whole last segment is written again and synced: after a sync that failed, the system's memory may hold bytes as clean that
/// never reached the disk, and reading them proves nothing. All earlier segments were synced before the next one got its name.
pub(crate) fn recover(disk: &dyn Disk, id: u128) -> Result<Recovered, Error> {
    remove_unfinished(disk)?;
    let firsts = segment::firsts(disk)?;
    let mut segments = Vec::with_capacity(firsts.len());
    for (index, &first) in firsts.iter().enumerate() {
        segments.push(Segment::open(disk, first, index + 1 == firsts.len())?);
    }
    let Some(last) = segments.last() else { return nothing(disk, id) };
    if let Some(other) = segments.iter().find(|other| other.header.log != last.header.log) {
        let why = format!("the segment belongs to another log than {}", last.name);
        return Err(files::damaged(disk, &other.name, 0, &why));
    }
    let end = End::find(disk, last)?;
    let starts_epoch =
        segments.len() > 1 && segments[segments.len() - 2].header.epoch != last.header.epoch;
    if starts_epoch && end.link.count == 0 && taken(Step::DropUnfinishedEpoch) {
        // The record that starts the epoch did not reach the disk, and without it there is no epoch.
        disk.remove(&last.name).map_err(|error| files::written(disk, &last.name, error))?;
        disk.sync_names().map_err(|error| files::written(disk, "", error))?;
        return recover(disk, id);
    }
    check_snapshots(disk, last, &end)?;
    end.make_durable(last).map_err(|error| files::written(disk, &last.name, error))?;
    if taken(Step::SyncNamesAtOpen) {
        disk.sync_names().map_err(|error| files::written(disk, "", error))?;
    }
    let (header, link) = (&last.header, end.link);
    let active = Active {
        file: last.file.clone(),
        capacity: header.capacity,
        offset: end.valid as u64,
        count: link.count,
        started: header.time,
    };
    Ok(Recovered {
        log: header.log,
        epochs: epochs(disk, &segments)?,
        first: segments[0].header.first,
        next: link.next,
        time: end.time,
        chain: link.chain,
        arithmetic: Some(header.arithmetic),
        active: (!end.sealed).then_some(active),
        torn: end.torn as u64,
    })
}

/// A new log, unless snapshots say that there was one.
fn nothing(disk: &dyn Disk, id: u128) -> Result<Recovered, Error> {
    if let Some(newest) = snapshot::newest_seq(disk)?.filter(|&seq| seq > 0) {
        let why = format!("there is a snapshot after record {newest}, and no log");
        return Err(files::damaged(disk, &segment::name(newest), 0, &why));
    }
    Ok(Recovered {
        log: id,
        epochs: Epochs::starting(1, 1, 0),
        first: 1,
        next: 1,
        time: 0,
        chain: 0,
        arithmetic: None,
        active: None,
        torn: 0,
    })
}

fn remove_unfinished(disk: &dyn Disk) -> Result<(), Error> {
    for name in files::list(disk)?.iter().filter(|name| name.ends_with(files::UNFINISHED)) {
        disk.remove(name).map_err(|error| files::written(disk, name, error))?;
    }
    Ok(())
}

/// A snapshot is made of durable records only: one beyond the end means that records are lost.
fn check_snapshots(disk: &dyn Disk, last: &Segment, end: &End) -> Result<(), Error> {
    match snapshot::newest_seq(disk)? {
        Some(newest) if newest >= end.link.next && taken(Step::CheckSnapshotsBeyondEnd) => {
            let next = end.link.next;
            let why =
                format!("record {next} is missing: there is a snapshot after record {newest}");
            Err(files::damaged(disk, &last.name, end.valid as u64, &why))
        }
        _ => Ok(()),
    }
}

/// The end of the last segment.
struct End {
    bytes: Vec<u8>,
    /// End of the records.
    valid: usize,
    torn: usize,
    sealed: bool,
    link: Link,
    time: u64,
}

impl End {
    fn find(disk: &dyn Disk, last: &Segment) -> Result<Self, Error> {
        let mut bytes = vec![0; last.header.capacity as usize];
        let read = read_full(&*last.file, 0, &mut bytes);
        bytes.truncate(read.map_err(|error| files::read(disk, &last.name, error))?);
        let mut walk = Walk::start(&last.header);
        walk.on(&bytes, &last.header, u64::MAX);
        let Walk { valid, link, sealed, time } = walk;
        let torn = reader::judge(&bytes[valid..], link.next)
            .map_err(|at| reader::damage(disk, &last.name, valid, valid + at, link.next))?;
        assert!(valid + torn <= bytes.len(), "the records end within the segment");
        Ok(Self { bytes, valid, torn, sealed, link, time })
    }

    fn make_durable(&self, last: &Segment) -> std::io::Result<()> {
        if taken(Step::RewriteTail) {
            last.file.write_at(0, &self.bytes[..self.valid])?;
        }
        if taken(Step::ZeroTail) {
            let zeros = vec![0; (self.bytes.len() - self.valid).min(1 << 20)];
            for at in (self.valid..self.bytes.len()).step_by(1 << 20) {
                let left = zeros.len().min(self.bytes.len() - at);
                last.file.write_at(at as u64, &zeros[..left])?;
            }
        }
        if taken(Step::SyncTail) { last.file.sync() } else { Ok(()) }
    }
}

/// The epochs of the segments: one starts with the first record of a segment.
pub(crate) fn epochs(disk: &dyn Disk, segments: &[Segment]) -> Result<Epochs, Error> {
    let header = &segments[0].header;
    let mut epochs = Epochs::starting(header.epoch, header.first, header.time);
    for pair in segments.windows(2).filter(|pair| pair[0].header.epoch != pair[1].header.epoch) {
        let header = &pair[1].header;
        let mut cursor = Cursor::new(pair[1].clone());
        cursor.advance().map_err(|error| files::read(disk, &pair[1].name, error))?;
        let Some(Content::Epoch { base, reason }) =
            cursor.present().map(|raw| raw.record().content)
        else {
            let why = "the record that starts the epoch is missing";
            return Err(files::damaged(disk, &pair[1].name, START as u64, why));
        };
        let reason = String::from_utf8_lossy(reason).into_owned();
        let (number, first, time) = (header.epoch, header.first, header.time);
        epochs.0.push(Epoch { number, first, base, reason, time });
    }
    Ok(epochs)
}

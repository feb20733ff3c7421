//! The writer of a log: appends groups of records, and starts segments.

use std::io;
use std::sync::Arc;

use crate::disk::{Disk, DiskFile};
use crate::record::{self, Tag};
use crate::recovery::{Active, Recovered};
use crate::segment::{self, Header, START};
use crate::step::{Step, taken};

const BLOCK: usize = 1 << 20;

/// Records that are written together, complete except for the fields that only the writer knows.
#[derive(Default)]
pub(crate) struct Group {
    pub(crate) bytes: Vec<u8>,
    pub(crate) marks: Vec<Mark>,
}

/// A record of a [`Group`].
#[derive(Clone, Copy)]
pub(crate) struct Mark {
    /// Start.
    pub(crate) at: usize,
    /// The log time if it starts a segment.
    pub(crate) starts_segment: Option<u64>,
    pub(crate) starts_epoch: bool,
}

impl Group {
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.marks.clear();
    }
}

/// A file of zeros, to become a segment.
pub(crate) struct Spare {
    name: String,
    file: Arc<dyn DiskFile>,
    pub(crate) capacity: u64,
}

impl Spare {
    /// Writes the zeros and syncs them, so that no later write can run out of space or has to change more than the bytes it
    /// writes. Synced block by block, because a sync of records would wait for all zeros.
    pub(crate) fn prepare(disk: &dyn Disk, number: u64, capacity: u64) -> io::Result<Self> {
        let name = format!("spare-{number}{}", crate::files::UNFINISHED);
        let file = disk.create(&name)?;
        let fill = || {
            let zeros = vec![0; BLOCK.min(capacity as usize)];
            for at in (0..capacity).step_by(BLOCK) {
                let left = zeros.len().min((capacity - at) as usize);
                file.write_at(at, &zeros[..left])?;
                if taken(Step::SyncSpare) {
                    file.sync()?;
                }
            }
            Ok(())
        };
        if let Err(error) = fill() {
            // If it cannot be removed, opening the log will.
            let _ = disk.remove(&name);
            return Err(error);
        }
        Ok(Self { name, file, capacity })
    }

    /// Removes the file. If it cannot be removed, opening the log will.
    pub(crate) fn discard(self, disk: &dyn Disk) {
        let _ = disk.remove(&self.name);
    }
}

/// Writes the first segment of a log, without records.
pub(crate) fn start(disk: &dyn Disk, header: &Header) -> io::Result<()> {
    let spare = Spare::prepare(disk, 0, header.capacity)?;
    spare.file.write_at(0, &header.encode())?;
    spare.file.sync()?;
    disk.rename(&spare.name, &segment::name(header.first))?;
    disk.sync_names()
}

/// Writer of the log. After an error it must not be used.
pub(crate) struct Writer {
    disk: Arc<dyn Disk>,
    log: u128,
    arithmetic: u32,
    active: Option<Active>,
    epoch: u32,
    /// The sequence number of the next record, and of the last one that is durable.
    next: u64,
    synced: u64,
    chain: u32,
    time: u64,
}

impl Writer {
    pub(crate) fn new(disk: Arc<dyn Disk>, recovered: &Recovered, arithmetic: u32) -> Self {
        Self {
            disk,
            log: recovered.log,
            arithmetic,
            active: recovered.active.clone(),
            epoch: recovered.epochs.of(recovered.next).number,
            next: recovered.next,
            synced: recovered.next - 1,
            chain: recovered.chain,
            time: recovered.time,
        }
    }

    /// Writes a group. All earlier groups are durable.
    pub(crate) fn write(
        &mut self,
        group: &mut Group,
        spare: &mut dyn FnMut() -> Option<Spare>,
    ) -> io::Result<()> {
        let Group { bytes, marks } = group;
        let mut unwritten = 0;
        for (index, mark) in marks.iter().enumerate() {
            let end = marks.get(index + 1).map_or(bytes.len(), |next| next.at);
            if let Some(time) = mark.starts_segment {
                self.put(&bytes[unwritten..mark.at])?;
                unwritten = mark.at;
                let epoch = self.epoch + u32::from(mark.starts_epoch);
                self.start_segment(spare().ok_or(io::ErrorKind::StorageFull)?, epoch, time)?;
            }
            let record = &mut bytes[mark.at..end];
            assert_eq!(record::seq_of(record), self.next, "records are written in order");
            self.chain = record::complete(record, self.epoch, self.chain, self.synced);
            self.next += 1;
            if let Some(active) = &mut self.active {
                active.count += 1;
            }
        }
        self.put(&bytes[unwritten..])
    }

    /// Syncs the written bytes.
    pub(crate) fn sync(&mut self) -> io::Result<()> {
        if let Some(active) = self.active.as_ref().filter(|_| taken(Step::SyncGroup)) {
            active.file.sync()?;
        }
        assert!(self.synced < self.next, "records {} and {}", self.synced, self.next);
        self.synced = self.next - 1;
        Ok(())
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.active {
            Some(active) if !bytes.is_empty() => {
                let end = active.offset + bytes.len() as u64;
                assert!(end <= active.capacity, "byte {end} of a segment of {}", active.capacity);
                active.file.write_at(active.offset, bytes)?;
                active.offset += bytes.len() as u64;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Seals the present segment and starts another. A segment gets its name when its header and everything before it are durable,
    /// and no record is written into it before its name is.
    fn start_segment(&mut self, spare: Spare, epoch: u32, time: u64) -> io::Result<()> {
        // A segment without records is replaced: the new one has an equal name and follows the record that the old one followed.
        let sealed = self.active.take().filter(|active| active.count > 0);
        if let Some(active) = sealed {
            let (count, mut seal) = (active.count.to_le_bytes(), Vec::new());
            record::push(&mut seal, Tag::Seal, 0, self.next, self.time, &[&count]);
            self.chain = record::complete(&mut seal, self.epoch, self.chain, self.synced);
            assert!(active.offset + seal.len() as u64 <= active.capacity, "the seal has its place");
            active.file.write_at(active.offset, &seal)?;
            if taken(Step::SyncSeal) {
                active.file.sync()?;
            }
        }
        self.synced = self.next - 1;
        let header = Header {
            log: self.log,
            arithmetic: self.arithmetic,
            epoch,
            previous: self.chain,
            first: self.next,
            time,
            capacity: spare.capacity,
        };
        spare.file.write_at(0, &header.encode())?;
        if taken(Step::SyncHeader) {
            spare.file.sync()?;
        }
        assert!(epoch >= self.epoch && time >= self.time, "epochs and log time ascend");
        let name = segment::name(self.next);
        if taken(Step::RenameSegment) {
            self.disk.rename(&spare.name, &name)?;
        }
        if taken(Step::SyncSegmentName) {
            self.disk.sync_names()?;
        }
        let Spare { file, capacity, .. } = spare;
        (self.epoch, self.time) = (epoch, time);
        self.active =
            Some(Active { file, capacity, offset: START as u64, count: 0, started: time });
        Ok(())
    }
}

//! Snapshots: the state after a record as bytes of the caller, in a file with a checksum.
//!
//! A header of 64 bytes, the caller's bytes, and 16 bytes: their length, the CRC32C of everything before, the magic number again.

use std::io::{self, Read, Write};
use std::sync::Arc;
use std::time::Duration;

use crate::disk::{Disk, DiskFile, read_full};
use crate::error::Error;
use crate::files;
use crate::record::{u32_at, u64_at};
use crate::step::{Step, taken};

const MAGIC: &[u8; 8] = b"parssnp\n";
const VERSION: u32 = 1;
const HEADER: usize = 64;
const TRAILER: usize = 16;
const BLOCK: usize = 1 << 20;

/// A snapshot of a directory, as its name and header describe it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The log that it belongs to.
    pub log: u128,
    /// The number that the caller gave to the arithmetic.
    pub arithmetic: u32,
    /// The epoch of the record.
    pub epoch: u32,
    /// It is the state after this record.
    pub seq: u64,
}

impl Snapshot {
    /// The name of its file.
    pub fn name(&self) -> String {
        format!("snap-{:010}-{:020}", self.epoch, self.seq)
    }

    fn header(&self) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        bytes[..8].copy_from_slice(MAGIC);
        bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.arithmetic.to_le_bytes());
        bytes[16..32].copy_from_slice(&self.log.to_le_bytes());
        bytes[32..36].copy_from_slice(&self.epoch.to_le_bytes());
        bytes[40..48].copy_from_slice(&self.seq.to_le_bytes());
        bytes
    }

    /// Writes a snapshot: under another name, synced, read back, and only then under its name. With a pace, every MiB is synced
    /// and followed by a pause, so that the log's syncs need not wait for the whole.
    pub(crate) fn write(
        &self,
        disk: &dyn Disk,
        pace: Option<Duration>,
        fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), Error> {
        let name = self.name();
        let unfinished = format!("{name}{}", files::UNFINISHED);
        let failed = |error| files::written(disk, &unfinished, error);
        let file = disk.create(&unfinished).map_err(failed)?;
        let finish = || {
            let mut out = Blocks { file: &*file, pace, block: Vec::new(), at: 0, checksum: 0 };
            out.write_all(&self.header()).and_then(|()| fill(&mut out)).map_err(failed)?;
            out.finish().map_err(failed)?;
            if taken(Step::SyncSnapshot) {
                file.sync().map_err(failed)?;
            }
            if taken(Step::ReadBackSnapshot) {
                self.check(disk, &unfinished)?;
            }
            if taken(Step::RenameSnapshot) {
                disk.rename(&unfinished, &name).map_err(failed)?;
            }
            if taken(Step::SyncSnapshotName) {
                disk.sync_names().map_err(failed)?;
            }
            Ok(())
        };
        finish().inspect_err(|_| drop(disk.remove(&unfinished)))
    }

    /// Opens a snapshot of the log and reads it once to check it.
    pub(crate) fn open(
        disk: &dyn Disk,
        log: u128,
        (epoch, seq): (u32, u64),
    ) -> Result<(Self, SnapshotBytes), Error> {
        let mut wanted = Self { log, arithmetic: 0, epoch, seq };
        let (bytes, arithmetic) = wanted.check(disk, &wanted.name())?;
        wanted.arithmetic = arithmetic;
        Ok((wanted, bytes))
    }

    /// Checks a file. Returns its bytes and the number of its arithmetic.
    fn check(&self, disk: &dyn Disk, name: &str) -> Result<(SnapshotBytes, u32), Error> {
        let unreadable = |error| files::read(disk, name, error);
        let bad = |why| Error::BadSnapshot { file: disk.path(name), why };
        let file = disk.open(name, false).map_err(unreadable)?;
        let size = file.size().map_err(unreadable)? as usize;
        if size < HEADER + TRAILER {
            return Err(bad("the snapshot is too short"));
        }
        let mut header = [0; HEADER];
        let read = read_full(&*file, 0, &mut header).map_err(unreadable)?;
        if read < HEADER || !header.starts_with(MAGIC) {
            return Err(bad("the file is not a snapshot"));
        }
        let (version, arithmetic) = (u32_at(&header, 8), u32_at(&header, 12));
        if version > VERSION {
            return Err(Error::Newer { file: disk.path(name), version, known: VERSION });
        }
        let expected = Self { arithmetic, ..self.clone() }.header();
        let (mut checksum, end) = (0, size - TRAILER);
        let mut block = vec![0; BLOCK.min(size)];
        for at in (0..end).step_by(BLOCK) {
            let block = &mut block[..BLOCK.min(end - at)];
            let read = read_full(&*file, at as u64, block).map_err(unreadable)?;
            checksum = crc32c::crc32c_append(checksum, &block[..read]);
        }
        let mut trailer = [0; TRAILER];
        read_full(&*file, end as u64, &mut trailer).map_err(unreadable)?;
        checksum = crc32c::crc32c_append(checksum, &trailer[..8]);
        let whole = u64_at(&trailer, 0) == (end - HEADER) as u64
            && u32_at(&trailer, 8) == checksum
            && trailer[12..] == MAGIC[4..];
        if !whole {
            return Err(bad("the checksum of the snapshot does not match"));
        }
        if header != expected {
            return Err(bad("the snapshot belongs to another log or another record"));
        }
        Ok((SnapshotBytes { file, at: HEADER, end }, arithmetic))
    }
}

/// The epoch and the record in the name of a snapshot.
pub(crate) fn parse(name: &str) -> Option<(u32, u64)> {
    let (epoch, seq) = name.strip_prefix("snap-")?.split_once('-')?;
    Some((files::number(epoch, 10)?.try_into().ok()?, files::number(seq, 20)?))
}

/// The snapshots of a directory by their names, newest first.
pub(crate) fn list(disk: &dyn Disk) -> Result<Vec<(u32, u64)>, Error> {
    let names = files::list(disk)?;
    let mut found: Vec<_> = names.iter().filter_map(|name| parse(name)).collect();
    found.sort_unstable_by_key(|&(epoch, seq)| std::cmp::Reverse((seq, epoch)));
    Ok(found)
}

/// Returns the last record that a snapshot contains.
pub(crate) fn newest_seq(disk: &dyn Disk) -> Result<Option<u64>, Error> {
    Ok(list(disk)?.first().map(|&(_, seq)| seq))
}

/// The caller's bytes in a snapshot that was checked.
pub struct SnapshotBytes {
    file: Arc<dyn DiskFile>,
    at: usize,
    end: usize,
}

impl SnapshotBytes {
    /// Number of bytes that are left to read.
    pub fn left(&self) -> usize {
        self.end - self.at
    }
}

impl Read for SnapshotBytes {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let wanted = bytes.len().min(self.left());
        let read = self.file.read_at(self.at as u64, &mut bytes[..wanted])?;
        assert!(read <= wanted, "a read gives at most what was asked for");
        self.at += read;
        Ok(read)
    }
}

/// Writes in blocks, with a checksum.
struct Blocks<'a> {
    file: &'a dyn DiskFile,
    pace: Option<Duration>,
    block: Vec<u8>,
    at: u64,
    checksum: u32,
}

impl Blocks<'_> {
    fn finish(&mut self) -> io::Result<()> {
        let length = self.at + self.block.len() as u64 - HEADER as u64;
        self.write_all(&length.to_le_bytes())?;
        let checksum = crc32c::crc32c_append(self.checksum, &self.block);
        self.block.extend_from_slice(&checksum.to_le_bytes());
        self.block.extend_from_slice(&MAGIC[4..]);
        self.flush()
    }
}

impl Write for Blocks<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.block.len() >= BLOCK {
            self.flush()?;
            if let Some(pause) = self.pace {
                self.file.sync()?;
                std::thread::sleep(pause);
            }
        }
        let taken = bytes.len().min(BLOCK - self.block.len());
        self.block.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.write_at(self.at, &self.block)?;
        self.checksum = crc32c::crc32c_append(self.checksum, &self.block);
        self.at += self.block.len() as u64;
        self.block.clear();
        Ok(())
    }
}

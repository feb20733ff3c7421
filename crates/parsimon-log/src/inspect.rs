//! Inspection of a log without opening it. Needs no lock and changes nothing.

use std::sync::Arc;

use crate::disk::Disk;
use crate::epoch::Epochs;
use crate::error::Error;
use crate::reader::{Records, Tail};
use crate::recovery;
use crate::segment::{self, Header, Segment};
use crate::snapshot;

/// Content of a directory.
#[derive(Clone, Debug)]
pub struct Inspection {
    /// The segments by name, in order.
    pub segments: Vec<(String, Header)>,
    /// The epochs that they belong to; none if there are no segments.
    pub epochs: Option<Epochs>,
    /// The snapshots by epoch and record, newest first, whole or not.
    pub snapshots: Vec<(u32, u64)>,
}

/// Reads the headers of a log.
pub fn inspect(disk: &dyn Disk) -> Result<Inspection, Error> {
    let firsts = segment::firsts(disk)?;
    let segments = firsts
        .into_iter()
        .map(|first| Segment::open(disk, first, false))
        .collect::<Result<Vec<_>, _>>()?;
    let epochs = match segments.is_empty() {
        true => None,
        false => Some(recovery::epochs(disk, &segments)?),
    };
    let segments = segments.into_iter().map(|segment| (segment.name, segment.header)).collect();
    Ok(Inspection { segments, epochs, snapshots: snapshot::list(disk)? })
}

/// Reads all records of a log, and returns the bytes behind the last one.
pub fn verify(disk: Arc<dyn Disk>) -> Result<Tail, Error> {
    let mut records = Records::open(disk, 0)?;
    while records.advance()? {}
    records.tail()
}

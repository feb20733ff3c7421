//! Copy of a log while it is written: a backup, or its restoration.

use std::io::ErrorKind;
use std::sync::Arc;

use crate::disk::{Disk, read_full};
use crate::error::Error;
use crate::files;
use crate::inspect;
use crate::reader::{self, Walk};
use crate::segment::{self, Segment};
use crate::snapshot::{self, Snapshot};

/// Number of times that the end of a segment is read again before it counts as damaged: a writer may have appended meanwhile.
const LOOKS: usize = 10;

/// Copied files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copied {
    /// The first record, and the last.
    pub first: u64,
    /// The last record.
    pub last: u64,
    /// The number of segments.
    pub segments: usize,
    /// The snapshots by epoch and record, newest first.
    pub snapshots: Vec<(u32, u64)>,
    /// Snapshots that are damaged and were left out.
    pub left_out: Vec<String>,
}

/// Copies the log of a directory to an empty one, with its snapshots, and reads the copy once to check it. A writer may append
/// meanwhile: the copy then ends with a record that was written before the copy ended.
pub fn copy(from: &dyn Disk, to: Arc<dyn Disk>) -> Result<Copied, Error> {
    if files::list(&*to)?.iter().any(|name| name != files::LOCK) {
        return Err(Error::NotEmpty { directory: to.path("") });
    }
    let _lock = files::lock(&*to)?;
    // Copy snapshots first: they are not newer than the records that are copied later.
    let wanted = snapshot::list(from)?;
    let firsts = segment::firsts(from)?;
    let mut log = None;
    for &first in &firsts {
        let segment = Segment::open(from, first, false)?;
        log = Some(segment.header.log);
        copy_segment(from, &segment, &*to, Some(&first) == firsts.last())?;
    }
    let tail = inspect::verify(to.clone())?;
    let (mut snapshots, mut left_out) = (Vec::new(), Vec::new());
    for (epoch, seq) in wanted.into_iter().filter(|(_, seq)| *seq <= tail.last) {
        let Some(log) = log else { break };
        let name = Snapshot { log, arithmetic: 0, epoch, seq }.name();
        if !copy_file(from, &name, &*to)? {
            continue;
        }
        match Snapshot::open(&*to, log, (epoch, seq)) {
            Ok(_) => snapshots.push((epoch, seq)),
            Err(Error::BadSnapshot { .. }) => {
                to.remove(&name).map_err(|error| files::written(&*to, &name, error))?;
                left_out.push(name);
            }
            Err(error) => return Err(error),
        }
    }
    let first = firsts.first().copied().unwrap_or(1);
    if first > 1 && !snapshots.iter().any(|(_, seq)| seq + 1 >= first) {
        let why = format!("the log begins with record {first}, and no whole snapshot leads there");
        return Err(files::damaged(from, "", 0, &why));
    }
    to.sync_names().map_err(|error| files::written(&*to, "", error))?;
    Ok(Copied { first, last: tail.last, segments: firsts.len(), snapshots, left_out })
}

/// Copies the whole records of a segment, and zeros behind them.
fn copy_segment(
    from: &dyn Disk,
    segment: &Segment,
    to: &dyn Disk,
    is_last: bool,
) -> Result<(), Error> {
    let Segment { name, header, file } = segment;
    let mut bytes = vec![0; header.capacity as usize];
    let mut walk = Walk::start(header);
    let mut read = 0;
    for look in 0.. {
        // Whole records that were read stay unchanged; the writer may have appended behind them.
        let found = read_full(&**file, read as u64, &mut bytes[read..]);
        found.map_err(|error| files::read(from, name, error))?;
        walk.on(&bytes, header, u64::MAX);
        read = walk.valid;
        match reader::judge(&bytes[walk.valid..], walk.link.next) {
            Ok(_) => break,
            Err(_) if look < LOOKS => {}
            Err(at) => {
                return Err(reader::damage(
                    from,
                    name,
                    walk.valid,
                    walk.valid + at,
                    walk.link.next,
                ));
            }
        }
    }
    if !walk.sealed && !is_last {
        let why = format!("record {} is damaged or missing", walk.link.next);
        return Err(files::damaged(from, name, walk.valid as u64, &why));
    }
    bytes[walk.valid..].fill(0);
    files::put(to, name, &bytes).map_err(|error| files::written(to, name, error))
}

/// Copies a file unchanged; false if it has been removed since it was listed.
fn copy_file(from: &dyn Disk, name: &str, to: &dyn Disk) -> Result<bool, Error> {
    let unreadable = |error| files::read(from, name, error);
    let file = match from.open(name, false) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        file => file.map_err(unreadable)?,
    };
    let mut bytes = vec![0; file.size().map_err(unreadable)? as usize];
    let read = read_full(&*file, 0, &mut bytes).map_err(unreadable)?;
    bytes.truncate(read);
    files::put(to, name, &bytes).map_err(|error| files::written(to, name, error))?;
    Ok(true)
}

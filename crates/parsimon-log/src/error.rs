//! Errors of opening, reading and appending to a log.

use std::io;
use std::sync::Arc;

use parsimon_files::in_words;

/// Why a log could not be opened or read. Messages name the file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The system refused.
    #[error("{file}: {doing}: {}", in_words(source))]
    Io {
        /// The file or directory.
        file: String,
        /// The failed operation, for example "cannot be read".
        doing: &'static str,
        /// The error of the system.
        source: io::Error,
    },
    /// Another process has the log open.
    #[error("{directory}: the log is in use by another process")]
    InUse {
        /// The directory of the log.
        directory: String,
    },
    /// A copy needs a directory without files.
    #[error("{directory}: is not empty; name a directory that is empty or does not exist")]
    NotEmpty {
        /// The directory.
        directory: String,
    },
    /// The file was written by a newer program.
    #[error("{file}: format version {version} is newer than {known}; use a newer program")]
    Newer {
        /// The file.
        file: String,
        /// The version of its format.
        version: u32,
        /// The newest version that this program reads.
        known: u32,
    },
    /// The contents of a file differ from what was written, or a file is missing.
    #[error(
        "{file}, byte {offset}: {why}; restore the file from a copy, or cut the log here with parsimon log repair"
    )]
    Damaged {
        /// The file.
        file: String,
        /// Start of the damage.
        offset: u64,
        /// Description of the fault.
        why: String,
    },
    /// The contents of a snapshot differ from what was written.
    #[error("{file}: {why}; remove the file to go on with an older snapshot")]
    BadSnapshot {
        /// The file.
        file: String,
        /// Description of the fault.
        why: &'static str,
    },
    /// The record was abandoned: an epoch on the way to the state started from an earlier one.
    #[error("{directory}: record {seq} does not lead to the state after record {state}")]
    Abandoned {
        /// The directory of the log.
        directory: String,
        /// The record.
        seq: u64,
        /// The record whose state was asked for.
        state: u64,
    },
    /// The log does not hold these records any more, or not yet.
    #[error("{directory}: the log holds records {first} to {last}; record {seq} was asked for")]
    NotHeld {
        /// The directory of the log.
        directory: String,
        /// The first record of the log.
        first: u64,
        /// The last record of the log.
        last: u64,
        /// The record that was asked for.
        seq: u64,
    },
}

/// Reason why a record was refused. Nothing was written unless the log has failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AppendError {
    /// The queue is full: records come faster than the disk takes them. Try again later.
    #[error("the log is overloaded; try again later")]
    Overloaded,
    /// The disk has no room for another segment. The log continues when there is room.
    #[error("no room for another log segment: {0}")]
    DiskFull(Arc<str>),
    /// The record does not fit in a segment.
    #[error("a record of {bytes} bytes exceeds the limit of {limit}; use larger segments")]
    TooLarge {
        /// The bytes of the record.
        bytes: usize,
        /// The most that fit in a segment.
        limit: usize,
    },
    /// An epoch cannot start from a state that cannot be rebuilt.
    #[error(
        "an epoch cannot start from record {base}: the log holds records {first} to {last}, \
         and no snapshot leads there"
    )]
    NoSuchBase {
        /// The record to start from.
        base: u64,
        /// The first record of the log.
        first: u64,
        /// The last record of the log.
        last: u64,
    },
    /// A write or a sync has failed, and the log accepts no more records.
    #[error(transparent)]
    Failed(#[from] Failed),
}

/// A write or a sync has failed. This is final: a second sync may succeed without the data, so that the process has to end and
/// recover from what is on the disk.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the log has failed and must be opened anew: {0}")]
pub struct Failed(pub Arc<str>);

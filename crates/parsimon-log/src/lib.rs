#![doc = include_str!("../README.md")]
//!
//! # Contents of a directory
//!
//! | file | is |
//! | --- | --- |
//! | `LOCK` | is locked while the log is open |
//! | `log-<first record>.seg` | a segment: a header and records ([`Header`], [`Record`]) |
//! | `snap-<epoch>-<record>` | a snapshot: the caller's state after a record |
//! | `damaged-...` | what [`repair`] has put aside |
//! | `*.tmp` | unfinished; removed at the next start |
//!
//! # Promises, and requirements of the disk
//!
//! * A record that [`Log::wait_durable`] has answered for is found after the process was killed or the power was cut; records are
//!   found in order and without a gap, up to some record that was sent.
//! * Bytes that were never synced may be found or not. An unfinished tail is cut, and its length reported.
//! * Damage to durable records is never skipped: opening or reading fails and names file and byte. One case cannot be distinguished from
//!   an unfinished tail: damage in the very last group that was written, with no snapshot behind it. It is cut like a tail.
//! * A failed write or sync is final ([`Failed`]); only preparing a segment may fail and be tried again ([`AppendError::DiskFull`]).
//!
//! The disk must keep what was synced, and must write a sector of 512 bytes as a whole or not at all.

mod copy;
mod disk;
mod epoch;
mod error;
mod files;
mod follower;
mod inspect;
mod keep;
mod log;
mod options;
mod queue;
mod reader;
mod record;
mod recovery;
mod repair;
mod segment;
mod shared;
pub mod simulated;
mod snapshot;
mod step;
mod writer;

#[cfg(test)]
mod proof;

pub use copy::{Copied, copy};
pub use disk::{Directory, Disk, DiskFile};
pub use epoch::{Epoch, Epochs};
pub use error::{AppendError, Error, Failed};
pub use follower::Follower;
pub use inspect::{Inspection, inspect, verify};
pub use log::{Log, Opened, Ticket};
pub use options::{Clock, Notify, Options, Progress};
pub use reader::{Records, Tail};
pub use record::{Content, Record};
pub use repair::{Repair, damage, repair};
pub use segment::Header;
pub use snapshot::{Snapshot, SnapshotBytes};

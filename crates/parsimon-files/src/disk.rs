//! The interface between the program and the disk; every file operation passes through it.
//!
//! A release build answers "go ahead" and the question disappears. A debug build reads two variables of the environment, with which
//! tests make any operation of any command fail:
//!
//! * `PARSIMON_FAULT=N:ERROR` lets operation number `N` (from 1) fail with `ENOSPC` or `EIO`. With `short`, one byte is read or written
//!   instead of all; other operations go ahead.
//! * `PARSIMON_OPERATIONS=FILE` appends a line for each operation: its number, what it does and the file as the user named it, with tabs
//!   between them.

use std::io;
use std::path::Path;

/// An operation that the disk may refuse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation<'a> {
    /// Opening a file to read it.
    Open,
    /// Reading some bytes.
    Read,
    /// Making a temporary file, or a folder; opening a device or a pipe to write it.
    Create,
    /// Writing these bytes.
    Write(&'a [u8]),
    /// Setting permissions.
    Permissions,
    /// Waiting until the bytes of a file are on the disk.
    Sync,
    /// Giving a temporary file the name of the output.
    Rename,
    /// Waiting until the names in a folder are on the disk.
    SyncFolder,
}

/// The share of a read or a write that may be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Allowance {
    All,
    #[cfg(debug_assertions)]
    OneByte,
}

impl Allowance {
    /// Limits the bytes to the allowed number.
    pub(crate) fn of(self, bytes: usize) -> usize {
        match self {
            Self::All => bytes,
            #[cfg(debug_assertions)]
            Self::OneByte => bytes.min(1),
        }
    }
}

/// Asks whether an operation may go ahead. `path` is the file as the user named it.
#[inline]
pub(crate) fn ask(operation: Operation<'_>, path: &Path) -> io::Result<Allowance> {
    #[cfg(test)]
    record::push(operation);
    #[cfg(debug_assertions)]
    return faults::ask(operation, path);
    #[cfg(not(debug_assertions))]
    {
        let _ = (operation, path);
        Ok(Allowance::All)
    }
}

#[cfg(debug_assertions)]
mod faults {
    use std::fs::OpenOptions;
    use std::io::{self, Write};
    use std::path::Path;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::{Allowance, Operation};

    /// Faults requested by the environment.
    #[derive(Default)]
    struct Wanted {
        fault: Option<(u64, Fault)>,
        log: Option<std::ffi::OsString>,
    }

    #[derive(Clone, Copy)]
    enum Fault {
        Error(io::ErrorKind, &'static str),
        Short,
    }

    fn wanted() -> &'static Wanted {
        static WANTED: OnceLock<Wanted> = OnceLock::new();
        WANTED.get_or_init(|| {
            let fault = std::env::var("PARSIMON_FAULT").ok().and_then(|text| {
                let (number, error) = text.split_once(':')?;
                let fault = match error {
                    "ENOSPC" => Fault::Error(io::ErrorKind::StorageFull, "No space left on device"),
                    "EIO" => Fault::Error(io::ErrorKind::Other, "Input/output error"),
                    "short" => Fault::Short,
                    _ => return None,
                };
                Some((number.parse().ok()?, fault))
            });
            Wanted { fault, log: std::env::var_os("PARSIMON_OPERATIONS") }
        })
    }

    pub(super) fn ask(operation: Operation<'_>, path: &Path) -> io::Result<Allowance> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let Wanted { fault, log } = wanted();
        let number = COUNT.fetch_add(1, Ordering::Relaxed) + 1;
        if let Some(log) = log {
            let name = format!("{operation:?}");
            let name = name.split('(').next().unwrap_or_default();
            let line = format!("{number}\t{name}\t{}\n", path.display());
            OpenOptions::new().append(true).create(true).open(log)?.write_all(line.as_bytes())?;
        }
        match fault {
            Some((n, Fault::Error(kind, words))) if *n == number => {
                Err(io::Error::new(*kind, format!("{words} (injected)")))
            }
            Some((n, Fault::Short)) if *n == number => Ok(Allowance::OneByte),
            _ => Ok(Allowance::All),
        }
    }
}

/// The operations of this thread, for tests of the order in which they come.
#[cfg(test)]
pub(crate) mod record {
    use std::cell::RefCell;

    use super::Operation;

    /// A recorded operation, with a copy of the bytes that were written.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub(crate) enum Recorded {
        Create,
        Write(Vec<u8>),
        Sync,
        Rename,
        SyncFolder,
    }

    thread_local! {
        static RECORD: RefCell<Option<Vec<Recorded>>> = const { RefCell::new(None) };
    }

    pub(super) fn push(operation: Operation<'_>) {
        let recorded = match operation {
            Operation::Create => Recorded::Create,
            Operation::Write(bytes) => Recorded::Write(bytes.to_vec()),
            Operation::Sync => Recorded::Sync,
            Operation::Rename => Recorded::Rename,
            Operation::SyncFolder => Recorded::SyncFolder,
            Operation::Open | Operation::Read | Operation::Permissions => return,
        };
        RECORD.with_borrow_mut(|record| record.as_mut().map(|record| record.push(recorded)));
    }

    /// Records the operations of `work` on the disk.
    pub(crate) fn of(work: impl FnOnce()) -> Vec<Recorded> {
        RECORD.set(Some(Vec::new()));
        work();
        RECORD.take().unwrap_or_default()
    }
}

//! Bytes of a binary input: in memory or in a file.

use bytes::Bytes;
use parsimon_files::InputFile;

/// A plain file is read where it is, everything else from memory.
pub(crate) enum Stored {
    File(InputFile),
    Memory(Bytes),
}

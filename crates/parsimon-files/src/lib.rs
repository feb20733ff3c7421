//! Files and memory: one way to write files, a check that no output overwrites an input, the layout of our own files, and the
//! memory budget.
//!
//! * [`OutputFile`] and [`write_file`] replace a file by a whole new one, or leave it as it was.
//! * [`read_file`] and [`InputFile`] read files; none is mapped into memory.
//! * [`Arguments`] refuses an output that is the same file as an input or as another output.
//! * [`memory`] is the budget for everything whose size comes from data, flags, specs or files.
//! * [`container`] is the layout of models, checkpoints and deltas: a header, arrays and a checksum.
//!
//! ```
//! use parsimon_files::{ErrorKind, write_file};
//!
//! let folder = tempfile::tempdir().unwrap();
//! write_file(&folder.path().join("report.txt"), b"all is well\n").unwrap();
//!
//! let error = write_file(&folder.path().join("missing/report.txt"), b"").unwrap_err();
//! assert_eq!(error.kind(), ErrorKind::NotFound);
//! ```

#![warn(clippy::print_stdout, clippy::print_stderr)]

mod arguments;
mod checksum;
pub mod container;
mod disk;
mod error;
mod folder;
mod identity;
mod input;
mod machine;
pub mod memory;
mod output;
#[cfg(test)]
mod power_loss;
mod target;
mod temporary;

pub use arguments::Arguments;
pub use checksum::checksum;
pub use error::{Error, ErrorKind};
pub use folder::create_folders;
pub use identity::FileId;
pub use input::{InputFile, read_file, read_text};
pub use output::{OutputFile, write_file};
pub use target::{check_target, is_special};
pub use temporary::remove_temporary_files;

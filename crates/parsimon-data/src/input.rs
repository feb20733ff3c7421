//! Inputs: files, standard input, bytes in memory.

use std::path::{Path, PathBuf};

/// Somewhere bytes come from.
///
/// Each may be compressed with gzip, zstd or bzip2; the first bytes tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// A file. Its name's ending tells the format, before or after `.gz`, `.zst` or `.bz2`.
    Path(PathBuf),
    /// Standard input.
    Stdin,
    /// Bytes in memory.
    Bytes {
        /// What messages call them; its ending tells the format, as a path's does.
        name: String,
        /// The bytes.
        bytes: Vec<u8>,
    },
}

impl Input {
    /// Name of the input in messages.
    pub fn name(&self) -> String {
        match self {
            Input::Path(path) => path.display().to_string(),
            Input::Stdin => "stdin".to_owned(),
            Input::Bytes { name, .. } => name.clone(),
        }
    }

    /// Whether the input can be read once only, as standard input and pipes.
    pub fn is_read_once(&self) -> bool {
        match self {
            Input::Path(path) => path.metadata().is_ok_and(|m| !m.is_file() && !m.is_dir()),
            Input::Stdin => true,
            Input::Bytes { .. } => false,
        }
    }

    /// The path of a file.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Input::Path(path) => Some(path),
            Input::Stdin | Input::Bytes { .. } => None,
        }
    }
}

impl<P: Into<PathBuf>> From<P> for Input {
    fn from(path: P) -> Self {
        Input::Path(path.into())
    }
}

//! Reading and writing of parsimon's files, with errors that name the file.

use std::path::Path;

use parsimon_files::PreparedFile;
pub(crate) use parsimon_files::container::{Container, Kind, bytes_of, numbers_of};

use crate::error::FormatError;

/// Writes the file under a temporary name.
pub(crate) fn prepare(
    container: &Container,
    path: &Path,
    kind: Kind,
) -> Result<PreparedFile, FormatError> {
    Ok(container.prepare(path, kind)?)
}

/// The container in a file's bytes; `path` is the file, or words for it.
pub(crate) fn parse<'a>(
    bytes: &'a [u8],
    path: &Path,
    kind: Kind,
) -> Result<Container<'a>, FormatError> {
    Container::from_bytes(bytes, kind).map_err(|e| FormatError::new(path, e))
}

//! Reading and writing of parsimon's files, with errors that name the file.

use std::path::Path;

pub(crate) use parsimon_files::container::{Container, Kind, bytes_of, numbers_of};

use crate::error::FormatError;

/// Replaces the file by a new one, or leaves it as it was.
pub(crate) fn write(container: &Container, path: &Path, kind: Kind) -> Result<(), FormatError> {
    Ok(container.write(path, kind)?)
}

/// The container in a file's bytes; `path` is the file, or words for it.
pub(crate) fn parse<'a>(
    bytes: &'a [u8],
    path: &Path,
    kind: Kind,
) -> Result<Container<'a>, FormatError> {
    Container::from_bytes(bytes, kind).map_err(|e| FormatError::new(path, e))
}

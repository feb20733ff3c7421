//! Files under names that cannot be guessed.

use std::io;
use std::path::Path;

use tempfile::NamedTempFile;

/// A file in the folder of `path` that did not exist before and that only its owner may read. It is removed when dropped.
pub(crate) fn temporary(path: &Path) -> io::Result<NamedTempFile> {
    builder().tempfile_in(folder_of(path))
}

/// The folder of a file.
pub(crate) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Where names come from.
pub(crate) fn builder() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".parsimon-").rand_bytes(12).suffix(".tmp");
    builder
}

//! State of a file at one time, to see later whether another process has replaced it.

use std::path::Path;
use std::time::SystemTime;

use crate::identity::FileId;

/// The state of the file at a path: which file it is, its size, and when it was written; or that there is none.
///
/// ```
/// use parsimon_files::{Stamp, write_file};
///
/// let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("state");
/// let before = Stamp::of(&path);
/// assert_eq!(before, Stamp::of(&path));
/// write_file(&path, b"1").unwrap();
/// assert_ne!(before, Stamp::of(&path));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stamp(Option<(Option<FileId>, u64, Option<SystemTime>)>);

impl Stamp {
    /// Returns the state of the file at a path.
    pub fn of(path: &Path) -> Self {
        let about = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file);
        Self(about.map(|about| (FileId::of(path), about.len(), about.modified().ok())))
    }
}

//! Identity of files: two paths may lead to one file.

use std::fs::Metadata;
use std::path::{Path, PathBuf};

use crate::target::Target;

/// The identity of a regular file: equal for two paths that lead to the same file, by links of either kind too.
///
/// On Unix it is device and inode, elsewhere the canonical path. Devices, pipes and folders have none: writing to one
/// that is also read replaces nothing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(Id);

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Id {
    #[cfg(unix)]
    Inode { device: u64, inode: u64 },
    /// Also a file that does not exist yet: its folder's canonical path and its name.
    Path(PathBuf),
}

impl FileId {
    /// Returns the identity of the file at a path, if the path leads to a regular file.
    pub fn of(path: &Path) -> Option<Self> {
        Self::from_metadata(&std::fs::metadata(path).ok()?, path)
    }

    /// Returns the identity of the file from which standard input is redirected.
    pub fn of_stdin() -> Option<Self> {
        #[cfg(unix)]
        return Self::of_descriptor(&std::io::stdin());
        #[cfg(not(unix))]
        None
    }

    /// Returns the identity of the file to which standard output is redirected.
    pub fn of_stdout() -> Option<Self> {
        #[cfg(unix)]
        return Self::of_descriptor(&std::io::stdout());
        #[cfg(not(unix))]
        None
    }

    /// Returns the identity of an output, also if the file does not exist yet.
    pub(crate) fn of_target(target: &Target) -> Option<Self> {
        match target {
            Target::File { path } => {
                Self::of(path).or_else(|| Some(Self(Id::Path(path.to_owned()))))
            }
            #[cfg(unix)]
            Target::Stdout => Self::of_stdout(),
            Target::Special { path } => Self::of(path),
        }
    }

    #[cfg(unix)]
    fn of_descriptor(descriptor: &impl std::os::fd::AsFd) -> Option<Self> {
        let file = std::fs::File::from(descriptor.as_fd().try_clone_to_owned().ok()?);
        Self::from_metadata(&file.metadata().ok()?, Path::new(""))
    }

    #[cfg(unix)]
    fn from_metadata(metadata: &Metadata, _path: &Path) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        let id = Id::Inode { device: metadata.dev(), inode: metadata.ino() };
        metadata.is_file().then_some(Self(id))
    }

    #[cfg(not(unix))]
    fn from_metadata(metadata: &Metadata, path: &Path) -> Option<Self> {
        let path = std::fs::canonicalize(path).ok()?;
        metadata.is_file().then_some(Self(Id::Path(path)))
    }
}

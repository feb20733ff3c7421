//! Targets of outputs: a file that is replaced, or a device or pipe that is written directly.

use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::{Error, WRITTEN};
use crate::temporary::Temporary;

/// Target of an output after links are followed.
#[derive(Debug, PartialEq)]
pub(crate) enum Target {
    /// A regular file, existing or not, by its canonical path: replaced.
    File { path: PathBuf },
    /// A device, a pipe or a socket, which is opened and written directly.
    Special { path: PathBuf },
    /// Standard output by one of its file names. Its own descriptor is used: opening the name again would
    /// begin at the start of a file that others append to.
    #[cfg(unix)]
    Stdout,
}

/// Number of links that Linux follows.
const MOST_LINKS: usize = 40;

impl Target {
    /// Follows links, also to a file that does not exist yet. Refuses directories and files that are read-only.
    pub(crate) fn of(path: &Path) -> Result<Self, Error> {
        let fail = |e: io::Error| Error::new(path, WRITTEN, e);
        let directory = |why: &str| Error::refused(path, io::ErrorKind::IsADirectory, why);
        if path.to_string_lossy().ends_with(std::path::is_separator) {
            return Err(directory("a name that ends with a slash is a directory"));
        }
        let mut link = path.to_owned();
        for _ in 0..MOST_LINKS {
            let Some(name) = link.file_name() else { return Err(directory("it is a directory")) };
            let folder = canonical_folder(&link).map_err(|e| match e.kind() {
                io::ErrorKind::NotFound => {
                    Error::refused(path, e.kind(), "its folder does not exist")
                }
                _ => fail(e),
            })?;
            let whole = folder.join(name);
            // Links in this folder do not lead to the path that they contain.
            if is_descriptors(&folder) {
                return match std::fs::metadata(&whole) {
                    Ok(found) if found.is_dir() => Err(directory("it is a directory")),
                    Ok(_) => Ok(Self::descriptor(whole)),
                    Err(e) => Err(fail(e)),
                };
            }
            match std::fs::symlink_metadata(&whole) {
                Ok(found) if found.is_symlink() => {
                    link = folder.join(std::fs::read_link(&whole).map_err(fail)?);
                }
                Ok(found) if found.is_dir() => return Err(directory("it is a directory")),
                Ok(found) if !found.is_file() => return Ok(Self::Special { path: whole }),
                Ok(found) => {
                    refuse_read_only(path, &found)?;
                    // The system knows more reasons (owners, immutable files). Nothing is changed by opening.
                    std::fs::OpenOptions::new().write(true).open(&whole).map_err(fail)?;
                    return Ok(Self::File { path: whole });
                }
                Err(e) if e.kind() == io::ErrorKind::NotFound => {
                    return Ok(Self::File { path: whole });
                }
                Err(e) => return Err(fail(e)),
            }
        }
        Err(fail(io::Error::other("too many levels of symbolic links")))
    }

    fn descriptor(path: PathBuf) -> Self {
        #[cfg(unix)]
        {
            let own = std::fs::canonicalize("/dev/fd");
            if own.is_ok_and(|own| path == own.join("1")) {
                return Self::Stdout;
            }
        }
        Self::Special { path }
    }
}

/// The folder of a path, with links followed.
fn canonical_folder(path: &Path) -> io::Result<PathBuf> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    std::fs::canonicalize(folder.unwrap_or(Path::new(".")))
}

/// Whether the files of a folder are open descriptors: `/dev/fd`, which on Linux is `/proc/self/fd`.
fn is_descriptors(folder: &Path) -> bool {
    cfg!(unix)
        && (folder == Path::new("/dev/fd")
            || (folder.starts_with("/proc") && folder.ends_with("fd")))
}

/// Looks at the mode, since the administrator may write every file: a file that its owner may not write is not replaced.
pub(crate) fn refuse_read_only(path: &Path, found: &Metadata) -> Result<(), Error> {
    #[cfg(unix)]
    let read_only = std::os::unix::fs::PermissionsExt::mode(&found.permissions()) & 0o200 == 0;
    #[cfg(not(unix))]
    let read_only = found.permissions().readonly();
    match read_only {
        true => {
            let why = "the file is read-only; make it writable or choose another name";
            Err(Error::refused(path, io::ErrorKind::PermissionDenied, why))
        }
        false => Ok(()),
    }
}

/// Whether a path leads to something that exists and is neither a regular file nor a directory: a device, a pipe, a
/// socket.
pub fn is_special(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir())
}

/// Refuses a path that could not be written, before any work is done. Nothing is written, and a pipe is not opened.
pub fn check_target(path: &Path) -> Result<(), Error> {
    match Target::of(path)? {
        Target::File { path: whole } => {
            let made = Temporary::beside(&whole, path);
            made.map(|_| ()).map_err(|e| Error::new(path, WRITTEN, e))
        }
        _ => Ok(()),
    }
}

//! The one way to write a file.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, WRITTEN};
use crate::target::{Target, refuse_read_only};
use crate::temporary::{Temporary, builder, folder_of, temporary};

/// A file being written. The file of that name stays as it was until [`commit`](Self::commit).
///
/// Bytes go to a temporary file in the same folder, which only its owner may read. `commit` gives it the permissions of
/// the file it replaces (a new file gets the ordinary ones), waits until it is on the disk, and renames it. Dropped
/// without `commit`, the temporary file is removed and nothing has changed.
///
/// A symbolic link stays, and what it leads to is replaced. A device, a pipe or another special file is written
/// directly. A directory and a file that is read-only are refused.
///
/// ```
/// use std::io::Write;
/// use parsimon_files::OutputFile;
///
/// let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("numbers.txt");
/// let mut file = OutputFile::create(&path).unwrap();
/// writeln!(file, "1 2 3").unwrap();
/// assert!(!path.exists());
/// file.commit().unwrap();
/// assert_eq!(std::fs::read(&path).unwrap(), b"1 2 3\n");
/// ```
#[derive(Debug)]
pub struct OutputFile {
    /// As the caller named it.
    path: PathBuf,
    to: To,
}

#[derive(Debug)]
enum To {
    /// Renamed to `path`, over a file that is there unless it has to be new.
    Temporary {
        file: BufWriter<Temporary>,
        path: PathBuf,
        new: bool,
    },
    Direct(BufWriter<File>),
}

/// Predictions and rows are written in small pieces.
const BUFFER: usize = 1 << 16;

impl OutputFile {
    /// Begins a file that replaces the one at `path`, or is new.
    pub fn create(path: &Path) -> Result<Self, Error> {
        let fail = |e| Error::new(path, WRITTEN, e);
        let direct = |file| To::Direct(BufWriter::with_capacity(BUFFER, file));
        let to = match Target::of(path)? {
            Target::File { path } => {
                let file = BufWriter::with_capacity(BUFFER, temporary(&path).map_err(fail)?);
                To::Temporary { file, path, new: false }
            }
            Target::Special { path } => {
                // Only a regular file behind a descriptor has something to truncate.
                let truncate = path.is_file();
                let options = OpenOptions::new().write(true).truncate(truncate).open(path);
                direct(options.map_err(fail)?)
            }
            #[cfg(unix)]
            Target::Stdout => {
                use std::os::fd::AsFd;
                let descriptor = io::stdout().as_fd().try_clone_to_owned().map_err(fail)?;
                direct(File::from(descriptor))
            }
        };
        Ok(Self { path: path.into(), to })
    }

    /// Begins a file that must be new: `commit` replaces nothing.
    pub fn create_new(path: &Path) -> Result<Self, Error> {
        let file = temporary(path).map_err(|e| Error::new(path, WRITTEN, e))?;
        let file = BufWriter::with_capacity(BUFFER, file);
        Ok(Self { path: path.into(), to: To::Temporary { file, path: path.into(), new: true } })
    }

    /// The path, as it was passed.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes all bytes; as `write_all`, with an error of this crate.
    pub fn put(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let written = match &mut self.to {
            To::Temporary { file, .. } => file.write_all(bytes),
            To::Direct(file) => file.write_all(bytes),
        };
        written.map_err(|e| Error::new(&self.path, WRITTEN, e))
    }

    /// Writes what is buffered and, where bytes go to a file, waits until they are on the disk.
    pub fn sync(&mut self) -> Result<(), Error> {
        let synced = match &mut self.to {
            To::Temporary { file, .. } => {
                file.flush().and_then(|()| file.get_ref().as_file().sync_all())
            }
            To::Direct(file) => file.flush(),
        };
        synced.map_err(|e| Error::new(&self.path, WRITTEN, e))
    }

    /// Gives the file its name, when all of it is on the disk.
    pub fn commit(mut self) -> Result<(), Error> {
        // Permissions come first, so that they are on the disk before the name is.
        if let To::Temporary { file, path, new } = &self.to {
            set_permissions(&self.path, file.get_ref(), path, *new)?;
        }
        self.sync()?;
        let fail = |e| Error::new(&self.path, WRITTEN, e);
        let To::Temporary { file, path, new } = self.to else { return Ok(()) };
        let file = file.into_inner().map_err(|e| fail(e.into_error()))?;
        file.persist(&path, new).map_err(fail)?;
        sync_folder(folder_of(&path)).map_err(fail)
    }
}

/// Errors name the file and keep the kind.
impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = match &mut self.to {
            To::Temporary { file, .. } => file.write(bytes),
            To::Direct(file) => file.write(bytes),
        };
        written.map_err(|e| Error::new(&self.path, WRITTEN, e).into())
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = match &mut self.to {
            To::Temporary { file, .. } => file.flush(),
            To::Direct(file) => file.flush(),
        };
        flushed.map_err(|e| Error::new(&self.path, WRITTEN, e).into())
    }
}

impl Seek for OutputFile {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        let sought = match &mut self.to {
            To::Temporary { file, .. } => file.seek(position),
            To::Direct(file) => file.seek(position),
        };
        sought.map_err(|e| Error::new(&self.path, WRITTEN, e).into())
    }
}

/// Replaces a file by these bytes, or leaves it as it was; the same as [`OutputFile`] in one call.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let mut file = OutputFile::create(path)?;
    file.put(bytes)?;
    file.commit()
}

#[cfg(unix)]
fn set_permissions(named: &Path, file: &Temporary, path: &Path, new: bool) -> Result<(), Error> {
    use std::fs::Permissions;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};

    let fail = |e| Error::new(named, WRITTEN, e);
    let replaced = match std::fs::symlink_metadata(path) {
        Ok(found) if found.is_file() && !new => Some(found),
        _ => None,
    };
    let mode = match replaced {
        None => {
            // What the umask and the folder give an ordinary new file: there is no way to ask without making one.
            let mut ordinary = builder();
            ordinary.permissions(Permissions::from_mode(0o666));
            let ordinary = ordinary.tempfile_in(folder_of(path)).map_err(fail)?;
            ordinary.as_file().metadata().map_err(fail)?.mode()
        }
        Some(found) => {
            // It may have become read-only since the file was begun.
            refuse_read_only(named, &found)?;
            let ours = file.as_file().metadata().map_err(fail)?;
            let mut mode = found.mode();
            // Only the administrator can give files away. Another group gets no more than everyone.
            if ours.uid() != found.uid() {
                let _ = fchown(file.as_file(), Some(found.uid()), None);
            }
            if ours.gid() != found.gid() && fchown(file.as_file(), None, Some(found.gid())).is_err()
            {
                mode &= !0o070 | ((mode & 0o007) << 3);
            }
            mode
        }
    };
    file.as_file().set_permissions(Permissions::from_mode(mode & 0o777)).map_err(fail)
}

#[cfg(not(unix))]
fn set_permissions(named: &Path, _file: &Temporary, path: &Path, new: bool) -> Result<(), Error> {
    match std::fs::symlink_metadata(path) {
        Ok(found) if found.is_file() && !new => refuse_read_only(named, &found),
        _ => Ok(()),
    }
}

/// The new name survives a power failure once its folder is on the disk.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if !cfg!(unix) {
        return Ok(());
    }
    // A folder that may be written and not read cannot be opened; the file itself is safe.
    let Ok(folder) = File::open(folder) else { return Ok(()) };
    match folder.sync_all() {
        // Some file systems cannot sync a folder.
        Err(e) if [io::ErrorKind::InvalidInput, io::ErrorKind::Unsupported].contains(&e.kind()) => {
            Ok(())
        }
        synced => synced,
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    /// With no random characters the name is known, and a link can be planted there.
    #[test]
    fn a_planted_link_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (victim, planted) =
            (folder.path().join("victim"), folder.path().join(".parsimon-.tmp"));
        std::fs::write(&victim, "precious").unwrap();
        symlink(&victim, &planted).unwrap();
        let created = builder().rand_bytes(0).tempfile_in(folder.path());
        assert_eq!(created.unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(std::fs::read(&victim).unwrap(), b"precious");
    }

    #[test]
    fn temporary_names_differ_and_only_the_owner_may_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let [one, two] = [temporary(&path).unwrap(), temporary(&path).unwrap()];
        assert_ne!(one.path(), two.path());
        assert_eq!(one.path().parent(), Some(folder.path()));
        assert_eq!(one.as_file().metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
}

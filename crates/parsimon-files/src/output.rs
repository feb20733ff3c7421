//! The one way to write a file.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::disk::{Operation, ask};
use crate::error::{Error, WRITTEN};
use crate::folder::sync_folder;
use crate::target::{Target, refuse_read_only};
#[cfg(unix)]
use crate::temporary::ordinary_mode;
use crate::temporary::{Temporary, folder_of};

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
    /// Path as given by the caller.
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
    Direct(BufWriter<Direct>),
}

/// A device, a pipe or standard output.
#[derive(Debug)]
struct Direct {
    file: File,
    named: PathBuf,
}

impl Write for Direct {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let most = ask(Operation::Write(bytes), &self.named)?.of(bytes.len());
        self.file.write(&bytes[..most])
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Predictions and rows are written in small pieces.
const BUFFER: usize = 1 << 16;

impl OutputFile {
    /// Begins a file that replaces the one at `path`, or is new.
    pub fn create(path: &Path) -> Result<Self, Error> {
        let fail = |e| Error::new(path, WRITTEN, e);
        let direct = |file| {
            To::Direct(BufWriter::with_capacity(BUFFER, Direct { file, named: path.into() }))
        };
        let to = match Target::of(path)? {
            Target::File { path: whole } => {
                let file = Temporary::beside(&whole, path).map_err(fail)?;
                let file = BufWriter::with_capacity(BUFFER, file);
                To::Temporary { file, path: whole, new: false }
            }
            Target::Special { path: whole } => {
                ask(Operation::Create, path).map_err(fail)?;
                // Only a regular file behind a descriptor has something to truncate.
                let truncate = whole.is_file();
                let options = OpenOptions::new().write(true).truncate(truncate).open(whole);
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
        let file = Temporary::beside(path, path).map_err(|e| Error::new(path, WRITTEN, e))?;
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
            To::Temporary { file, .. } => file.flush().and_then(|()| file.get_ref().sync()),
            To::Direct(file) => file.flush(),
        };
        synced.map_err(|e| Error::new(&self.path, WRITTEN, e))
    }

    /// Renames the temporary file after all of its bytes are on the disk.
    pub fn commit(self) -> Result<(), Error> {
        self.prepare()?.commit()
    }

    /// Waits until all bytes are on the disk, under a temporary name: everything that may lack room is done then.
    pub fn prepare(mut self) -> Result<PreparedFile, Error> {
        // Permissions come first, so that they are on the disk before the name is.
        if let To::Temporary { file, path, new } = &self.to {
            set_permissions(&self.path, file.get_ref(), path, *new)?;
        }
        self.sync()?;
        let fail = |e| Error::new(&self.path, WRITTEN, e);
        let renamed = match self.to {
            To::Direct(_) => None,
            To::Temporary { file, path, new } => {
                Some((file.into_inner().map_err(|e| fail(e.into_error()))?, path, new))
            }
        };
        Ok(PreparedFile { path: self.path, renamed })
    }
}

/// A file that lacks only its name. Several outputs are prepared first and committed afterwards, so that a full disk leaves all of
/// them as they were. Dropped without [`commit`](Self::commit), it is removed.
#[derive(Debug)]
#[must_use = "the file has no name before it is committed"]
pub struct PreparedFile {
    /// Path as given by the caller.
    path: PathBuf,
    /// The file, the path that it gets, and whether nothing may be there; `None` where bytes were written directly.
    renamed: Option<(Temporary, PathBuf, bool)>,
}

impl PreparedFile {
    /// Gives the file its name.
    pub fn commit(self) -> Result<(), Error> {
        let fail = |e| Error::new(&self.path, WRITTEN, e);
        let Some((file, path, new)) = self.renamed else { return Ok(()) };
        file.rename(&path, new).map_err(fail)?;
        sync_folder(folder_of(&path), &self.path).map_err(fail)
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
        None => ordinary_mode(path, named).map_err(fail)?,
        Some(found) => {
            // It may have become read-only since the file was begun.
            refuse_read_only(named, &found)?;
            let ours = file.file().metadata().map_err(fail)?;
            let mut mode = found.mode();
            // Only the administrator can give files away. Another group gets no more than everyone.
            if ours.uid() != found.uid() {
                let _ = fchown(file.file(), Some(found.uid()), None);
            }
            if ours.gid() != found.gid() && fchown(file.file(), None, Some(found.gid())).is_err() {
                mode &= !0o070 | ((mode & 0o007) << 3);
            }
            mode
        }
    };
    ask(Operation::Permissions, named).map_err(fail)?;
    file.file().set_permissions(Permissions::from_mode(mode & 0o777)).map_err(fail)
}

#[cfg(not(unix))]
fn set_permissions(named: &Path, _file: &Temporary, path: &Path, new: bool) -> Result<(), Error> {
    match std::fs::symlink_metadata(path) {
        Ok(found) if found.is_file() && !new => refuse_read_only(named, &found),
        _ => Ok(()),
    }
}

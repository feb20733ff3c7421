//! Getting a data set with the ordinary clients of npm and Debian, run as child processes in a temporary folder.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use flate2::read::MultiGzDecoder;

use super::set::{Form, Inside, Package, Set};
use super::state::{Depth, Missing, State};
use super::unpack::{LARGEST_ARCHIVE, UnpackError, keep, stage, stage_entries};

/// The programs that fetch packages.
#[derive(Clone, Debug)]
pub struct Clients {
    /// For packages of npm.
    pub npm: PathBuf,
    /// For packages of Debian.
    pub apt_get: PathBuf,
    /// Opens packages of Debian.
    pub dpkg_deb: PathBuf,
}

impl Default for Clients {
    /// Names on the search path.
    fn default() -> Self {
        let npm = if cfg!(windows) { "npm.cmd" } else { "npm" };
        Self { npm: npm.into(), apt_get: "apt-get".into(), dpkg_deb: "dpkg-deb".into() }
    }
}

/// Result of getting a data set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Got {
    /// Nothing was done: all files existed with the right checksums.
    Already,
    /// It wrote these files.
    Files(Vec<PathBuf>),
}

/// Reason why a data set could not be downloaded. No file was replaced.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GetError {
    /// No package has it.
    #[error(transparent)]
    NoPackage(#[from] Missing),
    /// Another file has that name.
    #[error("{}: {state}; it is not replaced: move it away to get {set} anew", path.display())]
    Differs {
        /// The file.
        path: PathBuf,
        /// Description of the fault.
        state: State,
        /// The data set.
        set: String,
    },
    /// A client is not installed.
    #[error("{set} comes with the package {package}, and {client} is not on the search path: install it, or put a copy at {}", path.display())]
    NoClient {
        /// The client.
        client: String,
        /// The data set.
        set: String,
        /// The package.
        package: Package,
        /// Path for a copy of the (first) file.
        path: PathBuf,
    },
    /// A client failed.
    #[error("`{command}` failed ({how}){last_words}")]
    Client {
        /// The command.
        command: String,
        /// Its exit status.
        how: String,
        /// The last lines it wrote, each on a separate line.
        last_words: String,
    },
    /// The downloaded file is not the data set.
    #[error("the package {package} is not the expected one: {error}")]
    Archive {
        /// The package.
        package: Package,
        /// Description of the fault.
        error: UnpackError,
    },
    /// A temporary file, or a file of the data set, cannot be written or read.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Error message of the operating system.
        error: io::Error,
    },
}

/// Downloads the missing files of a data set. Existing files are checked, byte by byte, and never replaced.
pub fn get(set: &Set, dir: &Path, clients: &Clients) -> Result<Got, GetError> {
    let mut wanted = Vec::new();
    for file in &set.files {
        if file.look(dir, Depth::Checksum).1 == State::Verified {
            continue;
        }
        let form = file.carried();
        match form.look(dir, Depth::Checksum) {
            State::Absent => wanted.push(form),
            state => {
                let (path, set) = (dir.join(&form.path), set.name.clone());
                return Err(GetError::Differs { path, state, set });
            }
        }
    }
    let Some(first) = wanted.first() else { return Ok(Got::Already) };
    let Some(package) = &set.package else { return Err(set.missing(dir, first).into()) };
    let job = Job { set, package, dir, first, clients };
    let folder = tempfile::tempdir().map_err(|error| unusable(&std::env::temp_dir(), error))?;
    let archive = job.fetch(folder.path())?;
    let (whole, entries): (Vec<&Form>, _) =
        wanted.iter().copied().partition(|form| form.inside == Some(Inside::Whole));
    let mut staged = Vec::new();
    for form in whole {
        let file = File::open(&archive).map_err(|e| unusable(&archive, e))?;
        staged.push(stage(file, &package.to_string(), form, dir).map_err(|e| job.refused(e))?);
    }
    if !entries.is_empty() {
        staged.extend(job.open(&archive, &entries, folder.path())?);
    }
    keep(staged).map(Got::Files).map_err(|e| job.refused(e))
}

struct Job<'a> {
    set: &'a Set,
    package: &'a Package,
    dir: &'a Path,
    first: &'a Form,
    clients: &'a Clients,
}

impl Job<'_> {
    /// Runs the client to fetch the package into a folder, and returns the archive.
    fn fetch(&self, folder: &Path) -> Result<PathBuf, GetError> {
        let (mut command, extension) = match self.package {
            Package::Npm { package, version } => {
                let mut command = Command::new(&self.clients.npm);
                command.args(["pack", "--ignore-scripts"]).arg(format!("{package}@{version}"));
                (command, "tgz")
            }
            Package::Debian { package } => {
                let mut command = Command::new(&self.clients.apt_get);
                command.args(["download", package]);
                (command, "deb")
            }
        };
        command.current_dir(folder).env("LC_ALL", "C").stdin(Stdio::null());
        let output = command.output().map_err(|e| self.cannot_run(&command, e))?;
        if !output.status.success() {
            let words = [output.stdout, output.stderr].concat();
            return Err(failed(&command, &output.status.to_string(), &words));
        }
        let files = std::fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>);
        let files = files.map_err(|e| unusable(folder, e))?;
        let mut archives = files.iter().map(std::fs::DirEntry::path);
        archives.find(|path| path.extension() == Some(OsStr::new(extension))).ok_or_else(|| {
            failed(&command, &format!("it left no .{extension} file"), &output.stderr)
        })
    }

    /// The wanted entries of the package.
    fn open(
        &self,
        archive: &Path,
        wanted: &[&Form],
        folder: &Path,
    ) -> Result<Vec<super::unpack::Staged>, GetError> {
        if let Package::Npm { .. } = self.package {
            let file = File::open(archive).map_err(|e| unusable(archive, e))?;
            let stream = MultiGzDecoder::new(io::BufReader::new(file));
            return stage_entries(stream, wanted, self.dir).map_err(|e| self.refused(e));
        }
        let words = folder.join("dpkg-deb.log");
        let log = File::create(&words).map_err(|e| unusable(&words, e))?;
        let mut command = Command::new(&self.clients.dpkg_deb);
        command.arg("--fsys-tarfile").arg(archive).env("LC_ALL", "C");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log);
        let mut child = command.spawn().map_err(|e| self.cannot_run(&command, e))?;
        let mut stream = child.stdout.take().expect("standard output is a pipe, as set above");
        let staged = stage_entries(&mut stream, wanted, self.dir);
        // The client may write all of its output, so a failure is its own.
        let rest = io::copy(&mut stream.take(LARGEST_ARCHIVE), &mut io::sink());
        let is_whole = rest.is_ok_and(|length| length < LARGEST_ARCHIVE);
        let status = child.wait().map_err(|e| self.cannot_run(&command, e))?;
        if is_whole && !status.success() && !matches!(staged, Err(UnpackError::Io { .. })) {
            let words = std::fs::read(&words).unwrap_or_default();
            return Err(failed(&command, &status.to_string(), &words));
        }
        staged.map_err(|e| self.refused(e))
    }

    fn cannot_run(&self, command: &Command, error: io::Error) -> GetError {
        let client = Path::new(command.get_program());
        if error.kind() != io::ErrorKind::NotFound {
            return unusable(client, error);
        }
        GetError::NoClient {
            client: client.display().to_string(),
            set: self.set.name.clone(),
            package: self.package.clone(),
            path: self.dir.join(&self.first.path),
        }
    }

    fn refused(&self, error: UnpackError) -> GetError {
        match error {
            UnpackError::Io { path, error } => GetError::Io { path, error },
            error => GetError::Archive { package: self.package.clone(), error },
        }
    }
}

fn unusable(path: &Path, error: io::Error) -> GetError {
    GetError::Io { path: path.into(), error }
}

/// The command, how it ended and the last lines it wrote.
fn failed(command: &Command, how: &str, words: &[u8]) -> GetError {
    // npm names the cause first and explains it for a dozen lines.
    const LINES: usize = 20;
    let program = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let shown = std::iter::once(program).chain(command.get_args());
    let shown: Vec<_> = shown.map(|word| word.to_string_lossy().into_owned()).collect();
    let words = String::from_utf8_lossy(words);
    let lines: Vec<&str> = words.lines().map(str::trim_end).filter(|l| !l.is_empty()).collect();
    let last_words =
        lines[lines.len().saturating_sub(LINES)..].iter().map(|l| format!("\n  {l}")).collect();
    GetError::Client { command: shown.join(" "), how: how.to_owned(), last_words }
}

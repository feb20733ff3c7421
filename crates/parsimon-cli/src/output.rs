//! Where results go: standard output, or a file that is whole or not there.

use std::fs::File;
use std::io::{self, BufWriter, StdoutLock, Write};
use std::path::{Path, PathBuf};

use parsimon::data::Input;

use crate::fault::Fault;

/// A place to write to, buffered.
pub(crate) enum Output {
    Stdout(BufWriter<StdoutLock<'static>>),
    Device(BufWriter<File>),
    File { path: PathBuf, temporary: PathBuf, file: BufWriter<File> },
}

impl Output {
    /// Standard output for `None` and for `-`.
    pub(crate) fn open(path: Option<&Path>) -> Result<Self, Fault> {
        match path {
            Some(path) if path != Path::new("-") => {
                // A link is followed, and what is no file (a device, a pipe) is written to, not replaced.
                let followed = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
                let path = followed.as_path();
                if std::fs::metadata(path).is_ok_and(|m| !m.is_file() && !m.is_dir()) {
                    let file = File::options().write(true).open(path);
                    let file = file.map_err(|e| Fault::file(path, &e))?;
                    return Ok(Output::Device(BufWriter::new(file)));
                }
                let mut name = path.as_os_str().to_os_string();
                name.push(format!(".{}.tmp", std::process::id()));
                let temporary = PathBuf::from(name);
                let file = File::create(&temporary).map_err(|e| Fault::file(path, &e))?;
                Ok(Output::File { path: path.into(), temporary, file: BufWriter::new(file) })
            }
            _ => Ok(Output::Stdout(BufWriter::with_capacity(1 << 16, io::stdout().lock()))),
        }
    }

    /// Flushes, and gives a file its name.
    pub(crate) fn finish(self) -> Result<(), Fault> {
        match self {
            Output::Stdout(mut out) => Ok(out.flush()?),
            Output::Device(mut out) => Ok(out.flush()?),
            Output::File { path, temporary, mut file } => {
                let done = file.flush().and_then(|()| file.get_ref().sync_all());
                let done = done.and_then(|()| std::fs::rename(&temporary, &path));
                done.map_err(|e| Fault::file(&path, &e))
            }
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Output::Stdout(out) => out.write(bytes),
            Output::Device(out) => out.write(bytes),
            Output::File { file, .. } => file.write(bytes),
        }
    }
    fn flush(&mut self) -> io::Result<()> {
        match self {
            Output::Stdout(out) => out.flush(),
            Output::Device(out) => out.flush(),
            Output::File { file, .. } => file.flush(),
        }
    }
}

/// Writes a text to a file, or to standard output for `-`.
pub(crate) fn write_text(path: &Path, text: &str) -> Result<(), Fault> {
    let mut out = Output::open(Some(path))?;
    out.write_all(text.as_bytes())?;
    out.finish()
}

/// Refuses an output that is also an input or another output, or whose folder is not there, before any work is done.
pub(crate) fn check_outputs(outputs: &[Option<&Path>], inputs: &[Input]) -> Result<(), Fault> {
    let mut taken: Vec<PathBuf> = inputs
        .iter()
        .filter_map(|input| match input {
            Input::Path(path) => std::fs::canonicalize(path).ok(),
            _ => None,
        })
        .collect();
    for path in outputs.iter().copied().flatten().filter(|path| *path != Path::new("-")) {
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let Ok(folder) = std::fs::canonicalize(folder) else {
            return Err(Fault::Input(format!("{}: its folder does not exist", path.display())));
        };
        let name = path.file_name().unwrap_or_default();
        let whole = std::fs::canonicalize(path).unwrap_or_else(|_| folder.join(name));
        if std::fs::metadata(&whole).is_ok_and(|m| m.is_dir()) {
            return Err(Fault::Input(format!("{} is a folder", path.display())));
        }
        let is_device = std::fs::metadata(&whole).is_ok_and(|m| !m.is_file());
        if taken.contains(&whole) && !is_device {
            let words = "is an input or another output; it would be overwritten";
            return Err(Fault::Usage(format!("{} {words}", path.display())));
        }
        taken.push(whole);
    }
    Ok(())
}

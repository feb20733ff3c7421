//! Where results go: standard output, or a file that is whole or not there.

use std::fs::File;
use std::io::{self, BufWriter, StdoutLock, Write};
use std::path::{Path, PathBuf};

use crate::fault::Fault;

/// A place to write to, buffered.
pub(crate) enum Output {
    Stdout(BufWriter<StdoutLock<'static>>),
    File { path: PathBuf, temporary: PathBuf, file: BufWriter<File> },
}

impl Output {
    /// Standard output for `None` and for `-`.
    pub(crate) fn open(path: Option<&Path>) -> Result<Self, Fault> {
        match path {
            Some(path) if path != Path::new("-") => {
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
            Output::File { file, .. } => file.write(bytes),
        }
    }
    fn flush(&mut self) -> io::Result<()> {
        match self {
            Output::Stdout(out) => out.flush(),
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

//! Outputs: standard output, or a file that is written completely or not at all.

use std::io::{self, BufWriter, IsTerminal, Stdout, Write};
use std::path::Path;

use parsimon::data::Input;
use parsimon_files::{Arguments, ErrorKind, OutputFile, PreparedFile};

use crate::escape::escaped_bytes;
use crate::fault::Fault;

/// A place to write to, buffered.
pub(crate) enum Output {
    Stdout(BufWriter<Stdout>),
    /// Names and labels of data may hold control characters, which a terminal would execute.
    Terminal(BufWriter<Stdout>),
    File(OutputFile),
}

impl Output {
    /// Standard output for `None` and for `-`.
    pub(crate) fn open(path: Option<&Path>) -> Result<Self, Fault> {
        match path {
            Some(path) if path != Path::new("-") => Ok(Output::File(OutputFile::create(path)?)),
            _ => {
                let (is_terminal, out) = (io::stdout().is_terminal(), io::stdout());
                let out = BufWriter::with_capacity(1 << 16, out);
                Ok(if is_terminal { Output::Terminal(out) } else { Output::Stdout(out) })
            }
        }
    }

    /// Flushes, and gives a file its name.
    pub(crate) fn finish(self) -> Result<(), Fault> {
        self.prepare()?.commit()
    }

    /// Writes everything that is buffered to the disk. A file has no name yet, and standard output waits.
    pub(crate) fn prepare(self) -> Result<Prepared, Fault> {
        Ok(match self {
            Output::File(file) => Prepared::File(file.prepare()?),
            Output::Stdout(out) | Output::Terminal(out) => Prepared::Stdout(out),
        })
    }
}

/// An output that is complete and waits for the others.
pub(crate) enum Prepared {
    Stdout(BufWriter<Stdout>),
    File(PreparedFile),
}

impl Prepared {
    /// Flushes, or gives a file its name.
    pub(crate) fn commit(self) -> Result<(), Fault> {
        match self {
            Prepared::Stdout(mut out) => Ok(out.flush()?),
            Prepared::File(file) => Ok(file.commit()?),
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Output::Stdout(out) => out.write(bytes),
            Output::Terminal(out) => out.write_all(&escaped_bytes(bytes)).map(|()| bytes.len()),
            Output::File(file) => file.write(bytes),
        }
    }
    fn flush(&mut self) -> io::Result<()> {
        match self {
            Output::Stdout(out) | Output::Terminal(out) => out.flush(),
            Output::File(file) => file.flush(),
        }
    }
}

/// Writes a text to a file, or to standard output for `-`.
pub(crate) fn write_text(path: &Path, text: &str) -> Result<(), Fault> {
    prepare_text(path, text)?.commit()
}

/// Writes a text to a file that has no name yet, or to what waits for standard output for `-`.
pub(crate) fn prepare_text(path: &Path, text: &str) -> Result<Prepared, Fault> {
    let mut out = Output::open(Some(path))?;
    out.write_all(text.as_bytes())?;
    out.prepare()
}

/// Refuses the name of a file whose ending does not fit its contents.
pub(crate) fn refuse_endings(
    argument: &str,
    path: Option<&Path>,
    endings: &[&str],
    why: &str,
) -> Result<(), Fault> {
    let ending = path.and_then(Path::extension).and_then(|ending| ending.to_str());
    match ending.filter(|ending| endings.iter().any(|refused| refused.eq_ignore_ascii_case(ending)))
    {
        Some(ending) => Err(Fault::Usage(format!("{argument} {why}, not .{ending}"))),
        None => Ok(()),
    }
}

/// The files that a command reads and writes. An output that is also an input or another output, or that cannot be
/// written, is refused before any work is done.
#[derive(Default)]
pub(crate) struct Files(Arguments);

impl Files {
    /// Files that are read, with the argument that names them. All of them come before the outputs.
    pub(crate) fn read(&mut self, argument: &str, inputs: &[Input]) {
        for input in inputs {
            match input {
                Input::Path(path) => self.0.input(argument, path),
                Input::Stdin => self.0.standard_input(),
                Input::Bytes { .. } => {}
            }
        }
    }

    /// Registers one input path.
    pub(crate) fn read_path(&mut self, argument: &str, path: &Path) {
        self.0.input(argument, path);
    }

    /// A drawing. It is written as SVG independently of the name of its file.
    pub(crate) fn draw(&mut self, argument: &str, path: Option<&Path>) -> Result<(), Fault> {
        let endings = ["png", "jpg", "jpeg", "gif", "webp", "pdf", "eps", "html"];
        refuse_endings(argument, path, &endings, "writes SVG; use a name that ends in .svg")?;
        self.write(argument, path)
    }

    /// A file that is written, or standard output for `-`.
    pub(crate) fn write(&mut self, argument: &str, path: Option<&Path>) -> Result<(), Fault> {
        let checked = match path {
            None => Ok(()),
            Some(path) if path == Path::new("-") => self.0.standard_output(argument),
            Some(path) => self.0.output(argument, path),
        };
        checked.map_err(|error| match error.kind() {
            ErrorKind::SameFile => Fault::Usage(error.to_string()),
            _ => Fault::from(error),
        })
    }
}

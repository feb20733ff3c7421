//! Files named by the arguments of a command, and the check that no output overwrites an input.

use std::path::Path;

use crate::error::Error;
use crate::identity::FileId;
use crate::target::{Target, check_target};

/// The files that a command reads and writes, by argument. Inputs are named first.
///
/// Files are compared by identity, not by name: a link to an input is that input.
///
/// ```
/// use parsimon_files::{Arguments, ErrorKind, write_file};
///
/// let folder = tempfile::tempdir().unwrap();
/// let data = folder.path().join("data.svm");
/// write_file(&data, b"1 1:1\n").unwrap();
///
/// let mut arguments = Arguments::new();
/// arguments.input("DATA", &data);
/// arguments.output("--json", &folder.path().join("report.json")).unwrap();
/// let same = folder.path().join("./data.svm");
/// let error = arguments.output("--output", &same).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::SameFile);
/// ```
#[derive(Debug, Default)]
pub struct Arguments {
    /// Name of the file in messages, and its path.
    known: Vec<(String, FileId)>,
}

impl Arguments {
    /// No files yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// A file that is read.
    pub fn input(&mut self, argument: &str, path: &Path) {
        let id = FileId::of(path);
        self.known.extend(id.map(|id| (format!("{argument} {}", path.display()), id)));
    }

    /// Standard input is read.
    pub fn standard_input(&mut self) {
        let id = FileId::of_stdin();
        self.known.extend(id.map(|id| ("the file on standard input".to_owned(), id)));
    }

    /// A file that is written: refused if it is one of those named before, or cannot be written.
    pub fn output(&mut self, argument: &str, path: &Path) -> Result<(), Error> {
        if let Some(id) = FileId::of_target(&Target::of(path)?) {
            self.refuse(argument, path, &id)?;
            check_target(path)?;
            self.known.push((format!("{argument} {}", path.display()), id));
        }
        Ok(())
    }

    /// Standard output is written: refused if it was redirected to one of the files named before.
    pub fn standard_output(&self, argument: &str) -> Result<(), Error> {
        match FileId::of_stdout() {
            Some(id) => self.refuse(argument, Path::new("standard output"), &id),
            None => Ok(()),
        }
    }

    fn refuse(&self, argument: &str, path: &Path, id: &FileId) -> Result<(), Error> {
        let Some((other, _)) = self.known.iter().find(|(_, known)| known == id) else {
            return Ok(());
        };
        Err(Error::same_file(
            path,
            format!(
                "{argument} is the same file as {other}, which would be overwritten; choose another file for {argument}"
            ),
        ))
    }
}

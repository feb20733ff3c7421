//! Whether a data set is in a folder.

use std::io::Read;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::set::{File, Form, Set};

/// Depth of the check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// At the lengths of the files only.
    Size,
    /// At every byte.
    Checksum,
}

/// State of a data set in a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum State {
    /// All of it, every checksum as it should be.
    Verified,
    /// All of it, by the lengths of the files.
    Present,
    /// No file.
    Absent,
    /// Some of its files.
    Incomplete,
    /// A file that cannot be read.
    Unreadable,
    /// A file of another length.
    WrongSize,
    /// A file of the right length with other bytes.
    WrongChecksum,
}

impl State {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            State::Verified => "verified",
            State::Present => "present",
            State::Absent => "absent",
            State::Incomplete => "incomplete",
            State::Unreadable => "unreadable",
            State::WrongSize => "wrong size",
            State::WrongChecksum => "wrong checksum",
        }
    }
}

impl std::fmt::Display for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

/// A data set that is not in the folder, or not as it should be. In words: how to get it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Missing(String);

impl Set {
    /// Its files in a folder, in the order of the list. Looks at their lengths, not at their bytes.
    pub fn locate(&self, dir: &Path) -> Result<Vec<PathBuf>, Missing> {
        self.files.iter().map(|file| self.locate_file(file, dir)).collect()
    }

    fn locate_file(&self, file: &File, dir: &Path) -> Result<PathBuf, Missing> {
        let (form, state) = file.look(dir, Depth::Size);
        let path = dir.join(&form.path);
        match state {
            State::Present | State::Verified => Ok(path),
            State::Absent => Err(self.missing(dir, form)),
            _ => Err(Missing(match std::fs::metadata(&path) {
                Ok(m) if m.is_file() => {
                    format!(
                        "{}: {} bytes, where {} has {}",
                        path.display(),
                        m.len(),
                        self.name,
                        form.size
                    )
                }
                Ok(_) => format!("{}: not a file", path.display()),
                Err(e) => format!("{}: {e}", path.display()),
            })),
        }
    }

    pub(super) fn missing(&self, dir: &Path, form: &Form) -> Missing {
        let (name, shown) = (&self.name, dir.display());
        Missing(match self.package {
            Some(_) => {
                format!("{name} is not in {shown}: `parsimon data get {name} --out {shown}`")
            }
            None => format!(
                "{name} is not in {shown}: no package has it; put a copy at {} ({} bytes, from {})",
                dir.join(&form.path).display(),
                form.size,
                self.from
            ),
        })
    }

    /// Returns its state in a folder.
    pub fn state(&self, dir: &Path, depth: Depth) -> State {
        let states: Vec<State> = self.files.iter().map(|file| file.look(dir, depth).1).collect();
        let worst = states.iter().copied().max().unwrap_or(State::Absent);
        let some = states.iter().any(|&state| state != State::Absent);
        if worst == State::Absent && some { State::Incomplete } else { worst }
    }
}

impl File {
    /// The first valid form of a file and its state; if none is valid, the first form that exists, or the first form.
    pub(super) fn look(&self, dir: &Path, depth: Depth) -> (&Form, State) {
        let seen: Vec<_> = self.forms().iter().map(|form| (form, form.look(dir, depth))).collect();
        let good = seen.iter().find(|(_, state)| *state <= State::Present);
        let there = || seen.iter().find(|(_, state)| *state != State::Absent);
        *good.or_else(there).unwrap_or(&seen[0])
    }
}

impl Form {
    /// The state of the form in a folder.
    pub(super) fn look(&self, dir: &Path, depth: Depth) -> State {
        let path = dir.join(&self.path);
        match std::fs::metadata(&path) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => State::Absent,
            Err(_) => State::Unreadable,
            Ok(m) if !m.is_file() => State::Unreadable,
            Ok(m) if m.len() != self.size => State::WrongSize,
            Ok(_) if depth == Depth::Size => State::Present,
            Ok(_) => match sha256_of(&path) {
                Ok(sum) if sum == self.sha256 => State::Verified,
                Ok(_) => State::WrongChecksum,
                Err(_) => State::Unreadable,
            },
        }
    }
}

fn sha256_of(path: &Path) -> std::io::Result<String> {
    let mut file = std::fs::File::open(path)?;
    let (mut hash, mut buffer) = (Sha256::new(), vec![0; 1 << 16]);
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hexadecimal(&hash.finalize())),
            n => hash.update(&buffer[..n]),
        }
    }
}

pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

//! How far inputs were learned, so that a resumed run continues behind the rows it has.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use parsimon_data::Input;
use parsimon_files::checksum;
use serde::{Deserialize, Serialize};

use super::Trainer;
use crate::error::Error;

/// Bytes at either end of a file that are compared.
const COMPARED: u64 = 1 << 16;

/// A file whose rows were learned. Standard input, pipes and data in memory are not recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Consumed {
    /// The absolute path.
    pub path: String,
    /// The number of rows that were learned or skipped.
    pub rows: u64,
    /// The size of the file in bytes.
    pub size: u64,
    /// The checksum of the first and the last 64 KiB.
    pub checksum: u64,
}

impl Consumed {
    fn of(input: &Input, rows: u64) -> Option<Self> {
        let file = input.path()?;
        let about = file.metadata().ok().filter(std::fs::Metadata::is_file)?;
        let checksum = checksum_of_ends(file, about.len()).ok()?;
        Some(Self { path: absolute(file), rows, size: about.len(), checksum })
    }

    /// The rows to pass over in the file as it is now; why the file is another one, if it is.
    fn start(&self, file: &Path) -> Result<u64, String> {
        let cannot = |e: io::Error| format!("{}: {e}", file.display());
        let size = file.metadata().map_err(cannot)?.len();
        let refused = |what: &str| {
            Err(format!(
                "{} {what} since the checkpoint learned {} of its rows, so its new rows cannot be told from the old ones; \
                 pass --skip 0 to learn the whole file, or --skip N to pass over its first N rows",
                file.display(),
                self.rows
            ))
        };
        if size < self.size {
            return refused(&format!("shrank from {} to {size} bytes", self.size));
        }
        if checksum_of_ends(file, self.size).map_err(cannot)? != self.checksum {
            return refused("changed");
        }
        Ok(self.rows)
    }
}

impl Trainer {
    /// The files of which rows were learned.
    pub fn consumed(&self) -> &[Consumed] {
        &self.consumed
    }

    /// For each input, how many of its rows were learned before the checkpoint was saved. A file is recognized by its path,
    /// and may have grown; one that became shorter, or whose earlier bytes differ, is refused.
    pub fn starts(&self, inputs: &[Input]) -> Result<Vec<u64>, Error> {
        let mut seen: Vec<&Consumed> = self.consumed.iter().collect();
        let start = |input: &Input| {
            let Some(file) = input.path() else { return Ok(0) };
            let path = absolute(file);
            // A file that is named twice was learned twice.
            match seen.iter().position(|consumed| consumed.path == path) {
                Some(place) => seen.remove(place).start(file).map_err(Error::Usage),
                None => Ok(0),
            }
        };
        inputs.iter().map(start).collect()
    }

    /// Forgets the files: a merged learner has rows of others, and no one knows of which files.
    pub(crate) fn forget_consumed(&mut self) {
        self.consumed.clear();
    }

    /// Takes note of how many rows of each input were learned or passed over.
    pub(super) fn note_consumed(&mut self, inputs: &[Input], rows: &[u64]) {
        let paths: Vec<String> = inputs.iter().filter_map(Input::path).map(absolute).collect();
        self.consumed.retain(|consumed| !paths.contains(&consumed.path));
        let begun = inputs.iter().zip(rows).filter(|(_, rows)| **rows > 0);
        self.consumed.extend(begun.filter_map(|(input, rows)| Consumed::of(input, *rows)));
    }
}

fn absolute(path: &Path) -> String {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()).display().to_string()
}

/// The checksum of the first and the last bytes of the first `size`.
fn checksum_of_ends(path: &Path, size: u64) -> io::Result<u64> {
    let mut file = File::open(path)?;
    let mut bytes = Vec::new();
    (&mut file).take(size.min(COMPARED)).read_to_end(&mut bytes)?;
    file.seek(SeekFrom::Start(size.saturating_sub(COMPARED)))?;
    file.take(size.min(COMPARED)).read_to_end(&mut bytes)?;
    Ok(checksum(&bytes))
}

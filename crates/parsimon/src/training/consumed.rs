//! Learned parts of inputs, so that a resumed run continues after the rows it has learned.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use parsimon_data::{Input, Message, Remedy, decompressed};
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
    /// The content, decompressed.
    #[serde(default)]
    pub content: Content,
}

/// Identity of the bytes of a file after decompression, independent of the file's name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Content {
    /// The number of bytes.
    pub size: u64,
    /// The checksum of the first 64 KiB.
    pub head: u64,
    /// The checksum of the first and the last 64 KiB.
    pub ends: u64,
}

/// Position at which the new rows of an input begin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// The rows that were learned before.
    pub rows: u64,
    /// The path under which they were learned, if it is another one.
    pub path: Option<String>,
}

impl Consumed {
    /// The file of an input. `known` are files of which the content was determined before.
    fn of(input: &Input, rows: u64, known: &[Self]) -> Option<Self> {
        let file = input.path()?;
        let about = file.metadata().ok().filter(std::fs::Metadata::is_file)?;
        let (path, size) = (absolute(file), about.len());
        let checksum = checksum_of_ends(file, size).ok()?;
        let is_same =
            |other: &&Self| other.path == path && other.size == size && other.checksum == checksum;
        let content = match known.iter().find(is_same) {
            Some(known) => known.content,
            None => content_of(file, u64::MAX).ok()?,
        };
        Some(Self { path, rows, size, checksum, content })
    }

    /// Whether a file of another name begins with the content of this one.
    fn is_in(&self, file: &Path, head: &[u8]) -> io::Result<bool> {
        let size = self.content.size;
        let len = size.min(COMPARED) as usize;
        let begins = size > 0 && head.get(..len).is_some_and(|h| checksum(h) == self.content.head);
        Ok(begins && content_of(file, size)? == self.content)
    }

    /// The rows to skip in the present file, or the reason why it is another file.
    fn start(&self, file: &Path) -> Result<u64, Message> {
        let cannot = |e: io::Error| Message::new(format!("{}: {e}", file.display()));
        let size = file.metadata().map_err(cannot)?.len();
        let refused = |what: &str| {
            let fact = format!(
                "{} {what} since the checkpoint learned {} of its rows, so its new rows cannot be told from the old ones",
                file.display(),
                self.rows
            );
            Err(Message::new(fact).or(Remedy::SkipRows))
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
    /// The files whose rows were learned.
    pub fn consumed(&self) -> &[Consumed] {
        &self.consumed
    }

    /// For each input, how many of its rows were learned before the checkpoint was saved. A file is recognized by its path,
    /// and may have grown; one that became shorter, or whose earlier bytes differ, is refused.
    pub fn starts(&self, inputs: &[Input]) -> Result<Vec<u64>, Error> {
        Ok(self.known(inputs)?.into_iter().map(|known| known.rows).collect())
    }

    /// The same, and under which name rows were learned: a file that was moved, renamed or compressed since is recognized by its
    /// content.
    pub fn known(&self, inputs: &[Input]) -> Result<Vec<Known>, Error> {
        let mut seen: Vec<&Consumed> = self.consumed.iter().collect();
        let paths: Vec<Option<String>> =
            inputs.iter().map(|input| input.path().map(absolute)).collect();
        let mut start = |(input, path): (&Input, &Option<String>)| {
            let (Some(file), Some(path)) = (input.path(), path) else {
                return Ok(Known::default());
            };
            // A file that is named twice was learned twice.
            if let Some(place) = seen.iter().position(|consumed| consumed.path == *path) {
                let rows = seen.remove(place).start(file).map_err(Error::Usage)?;
                return Ok(Known { rows, path: None });
            }
            if !file.is_file() {
                return Ok(Known::default());
            }
            let cannot =
                |e: io::Error| Error::Usage(Message::new(format!("{}: {e}", file.display())));
            let mut head = Vec::new();
            let (opened, _) = decompressed(file).map_err(cannot)?;
            opened.take(COMPARED).read_to_end(&mut head).map_err(cannot)?;
            for place in 0..seen.len() {
                // The file of that name may be among the inputs, too.
                let is_free = !paths.contains(&Some(seen[place].path.clone()));
                if is_free && seen[place].is_in(file, &head).map_err(cannot)? {
                    let Consumed { rows, path, .. } = seen.remove(place);
                    return Ok(Known { rows: *rows, path: Some(path.clone()) });
                }
            }
            Ok(Known::default())
        };
        inputs.iter().zip(&paths).map(&mut start).collect()
    }

    /// Forgets the files: a merged learner has learned rows of other files, which are not known.
    pub(crate) fn forget_consumed(&mut self) {
        self.consumed.clear();
    }

    /// Records the number of rows of each input that were learned or skipped.
    pub(super) fn note_consumed(&mut self, inputs: &[Input], rows: &[u64]) {
        let paths: Vec<String> = inputs.iter().filter_map(Input::path).map(absolute).collect();
        let before = self.consumed.clone();
        self.consumed.retain(|consumed| !paths.contains(&consumed.path));
        let begun = inputs.iter().zip(rows).filter(|(_, rows)| **rows > 0);
        let new = begun.filter_map(|(input, rows)| Consumed::of(input, *rows, &before));
        self.consumed.extend(new);
    }
}

fn absolute(path: &Path) -> String {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()).display().to_string()
}

/// The content of a file, or of its first `most` bytes after decompression.
fn content_of(path: &Path, most: u64) -> io::Result<Content> {
    let (stream, is_compressed) = decompressed(path)?;
    let mut stream = stream.take(most);
    let mut first = Vec::new();
    (&mut stream).take(COMPARED).read_to_end(&mut first)?;
    if !is_compressed {
        // Read at this position only.
        let size = path.metadata()?.len().min(most);
        let ends = checksum_of_ends(path, size)?;
        return Ok(Content { size, head: checksum(&first), ends });
    }
    let (mut size, mut last) = (first.len() as u64, first.clone());
    let mut buffer = vec![0; COMPARED as usize];
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => break,
            Ok(n) => {
                size += n as u64;
                last.extend_from_slice(&buffer[..n]);
                last.drain(..last.len().saturating_sub(COMPARED as usize));
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    let head = checksum(&first);
    first.extend_from_slice(&last);
    Ok(Content { size, head, ends: checksum(&first) })
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

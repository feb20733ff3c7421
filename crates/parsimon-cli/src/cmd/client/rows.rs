//! The rows of a file as the bodies of requests.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use parsimon::data::Format;

use crate::console::note;
use crate::fault::Fault;

/// Rows that are sent together.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) text: Vec<u8>,
    pub(super) rows: usize,
    /// The line of the file for each line of the text.
    lines: Vec<u64>,
}

impl Batch {
    /// Returns the position of a line in the file.
    pub(super) fn line(&self, line: u64) -> Option<u64> {
        self.lines.get(usize::try_from(line).ok()?.checked_sub(1)?).copied()
    }

    /// The first and the last line of the file.
    pub(super) fn range(&self) -> (u64, u64) {
        let least = self.lines.iter().skip(usize::from(self.lines.len() > self.rows)).min();
        (least.copied().unwrap_or(0), self.lines.last().copied().unwrap_or(0))
    }

    fn push(&mut self, text: &[u8], line: u64) {
        self.text.extend_from_slice(text.trim_ascii_end());
        self.text.push(b'\n');
        self.lines.push(line);
    }
}

/// A file that is read batch by batch.
pub(super) struct Rows {
    name: String,
    input: Box<dyn BufRead>,
    format: Format,
    line: u64,
    /// The first line of a table.
    header: Vec<u8>,
    /// A line that was read to find the format.
    first: Option<Vec<u8>>,
}

impl Rows {
    /// Opens a file, or standard input for `-`.
    pub(super) fn open(path: &Path, format: Option<Format>) -> Result<Self, Fault> {
        let unreadable = |error: io::Error| Fault::file(path, &error);
        let (name, mut input): (String, Box<dyn BufRead>) = match path == Path::new("-") {
            true => ("standard input".into(), Box::new(BufReader::new(io::stdin()))),
            false => {
                let file = File::open(path).map_err(unreadable)?;
                if file.metadata().map_err(unreadable)?.is_dir() {
                    return Err(Fault::Input(format!(
                        "{}: is a directory; pass the files in it",
                        path.display()
                    )));
                }
                (path.display().to_string(), Box::new(BufReader::with_capacity(1 << 18, file)))
            }
        };
        let start = input.fill_buf().map_err(unreadable)?;
        let packed = [&b"\x1f\x8b"[..], b"\x28\xb5\x2f\xfd", b"BZh"];
        if packed.iter().any(|magic| start.starts_with(magic)) {
            return Err(Fault::Input(format!(
                "{name}: is compressed; send the rows of a pipe instead, as in zcat FILE | parsimon client ... -"
            )));
        }
        let mut rows =
            Self { name, input, format: Format::Jsonl, line: 0, header: Vec::new(), first: None };
        let first = rows.read_line()?;
        rows.line = 0;
        let Some(first) = first else {
            return Err(Fault::Input(format!("{}: is empty: no rows", rows.name)));
        };
        rows.format = match format.or_else(|| by_name(path)) {
            Some(format) => format,
            None => {
                let format = by_content(&first).ok_or_else(|| {
                    Fault::Usage(format!("{}: the format is not clear; pass --format", rows.name))
                })?;
                note(&format!(
                    "{}: read as {format} by its first line; --format decides",
                    rows.name
                ));
                format
            }
        };
        if rows.format == Format::Jsonl && first.trim_ascii_start().starts_with(b"[") {
            return Err(Fault::Input(format!(
                "{}: is a JSON list; rows stand on lines, as jq -c '.[]' writes them",
                rows.name
            )));
        }
        if content_type(rows.format).is_none() {
            let format = rows.format;
            return Err(Fault::Usage(format!("--format: rows of {format} cannot be sent")));
        }
        rows.first = Some(first);
        if matches!(rows.format, Format::Csv | Format::Tsv) {
            rows.header = rows.record()?.unwrap_or_default();
        }
        Ok(rows)
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The content type of the batches.
    pub(super) fn content_type(&self) -> &'static str {
        content_type(self.format).unwrap_or_default()
    }

    /// Leaves out the rows before a line of the file.
    pub(super) fn skip_to(&mut self, line: u64) -> Result<(), Fault> {
        while self.line + 1 < line && self.record()?.is_some() {}
        Ok(())
    }

    /// Returns at most `count` rows; none at the end.
    pub(super) fn batch(&mut self, most: usize) -> Result<Option<Batch>, Fault> {
        let mut batch = Batch::default();
        if !self.header.is_empty() {
            batch.push(&self.header.clone(), 1);
        }
        while batch.rows < most {
            let line = self.line + 1;
            let Some(text) = self.record()? else { break };
            // An empty line of a table is for the service to judge; elsewhere it is no row.
            if text.trim_ascii().is_empty() && self.header.is_empty() {
                continue;
            }
            for (k, part) in text.trim_ascii_end().split(|&b| b == b'\n').enumerate() {
                batch.push(part, line + k as u64);
            }
            batch.rows += 1;
        }
        Ok((batch.rows > 0).then_some(batch))
    }

    /// A row: a line, or several where a cell of a table has line breaks.
    fn record(&mut self) -> Result<Option<Vec<u8>>, Fault> {
        let Some(mut text) = self.read_line()? else { return Ok(None) };
        let is_open = |text: &[u8]| text.iter().fold(false, |open, b| open != (*b == b'"'));
        while self.format == Format::Csv && is_open(&text) {
            match self.read_line()? {
                Some(more) => text.extend_from_slice(&more),
                None => break,
            }
        }
        Ok(Some(text))
    }

    fn read_line(&mut self) -> Result<Option<Vec<u8>>, Fault> {
        let mut text = match self.first.take() {
            Some(first) => first,
            None => {
                let mut text = Vec::new();
                let read = self.input.read_until(b'\n', &mut text);
                match read.map_err(|e| Fault::Input(format!("{}: {e}", self.name)))? {
                    0 => return Ok(None),
                    _ => text,
                }
            }
        };
        if self.line == 0 && text.starts_with(b"\xef\xbb\xbf") {
            text.drain(..3);
        }
        self.line += 1;
        Ok(Some(text))
    }
}

fn content_type(format: Format) -> Option<&'static str> {
    match format {
        Format::Jsonl => Some("application/x-ndjson"),
        Format::Vw => Some("text/x-vw"),
        Format::Svmlight => Some("text/x-svmlight"),
        Format::Csv => Some("text/csv"),
        Format::Tsv => Some("text/tab-separated-values"),
        _ => None,
    }
}

fn by_name(path: &Path) -> Option<Format> {
    match path.extension()?.to_str()? {
        "json" | "jsonl" | "ndjson" => Some(Format::Jsonl),
        "vw" => Some(Format::Vw),
        "svm" | "svmlight" | "libsvm" => Some(Format::Svmlight),
        "csv" => Some(Format::Csv),
        "tsv" => Some(Format::Tsv),
        _ => None,
    }
}

fn by_content(line: &[u8]) -> Option<Format> {
    let line = line.trim_ascii();
    match line.first()? {
        b'{' | b'[' => Some(Format::Jsonl),
        _ if line.contains(&b'|') => Some(Format::Vw),
        _ => {
            let mut words = line.split(u8::is_ascii_whitespace).skip(1);
            words.next().is_some_and(|word| word.contains(&b':')).then_some(Format::Svmlight)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batches(name: &str, text: &str, most: usize) -> Vec<(String, usize, (u64, u64))> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        let mut rows = Rows::open(&path, None).unwrap();
        let mut found = Vec::new();
        while let Some(batch) = rows.batch(most).unwrap() {
            let range = batch.range();
            found.push((String::from_utf8(batch.text).unwrap(), batch.rows, range));
        }
        found
    }

    #[test]
    fn rows_become_batches_that_know_their_lines() {
        let found = batches("a.jsonl", "\u{feff}{\"a\":1}\r\n\n{\"a\":2}\n{\"a\":3}", 2);
        assert_eq!(found[0], ("{\"a\":1}\n{\"a\":2}\n".into(), 2, (1, 3)));
        assert_eq!(found[1], ("{\"a\":3}\n".into(), 1, (4, 4)));
        let found = batches("a.csv", "y,x\n1,\"a\nb\"\n0,c\n1,d\n", 2);
        assert_eq!(found[0], ("y,x\n1,\"a\nb\"\n0,c\n".into(), 2, (2, 4)));
        assert_eq!(found[1], ("y,x\n1,d\n".into(), 1, (5, 5)));
        assert!(batches("a.vw", "\n\n", 2).is_empty());
        assert_eq!(batches("plain", "1 |a b\n", 2).len(), 1);
    }
}

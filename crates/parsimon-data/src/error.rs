//! What went wrong with the data, where, in one line.

use std::fmt;
use std::sync::Arc;

/// Why data could not be read: the file, the line, the column, and the words.
///
/// Lines and columns count from 1; a column counts bytes. Either is 0 where it has no meaning (a file
/// that does not exist has no line; a Parquet file has rows, which stand for lines, and no columns).
///
/// ```
/// use parsimon_core::Chunk;
/// use parsimon_data::{Input, Options, Reader, What};
///
/// let input = Input::Bytes { name: "data.svm".into(), bytes: b"1 3:1\n-1 7:1 7:2\n".to_vec() };
/// let mut reader = Reader::open(&[input], &Options::default()).unwrap();
/// let mut chunk = Chunk::new();
/// assert!(reader.read(&mut chunk).unwrap()); // the row before the bad one comes first
/// let error = reader.read(&mut chunk).unwrap_err();
/// assert_eq!(error.to_string(), "data.svm:2:8: feature index 7 appears twice");
/// assert_eq!((error.name(), error.line(), error.column()), ("data.svm", 2, 8));
/// assert_eq!(error.what(), What::Row);
/// ```
#[derive(Debug)]
pub struct DataError(Box<Inner>);

#[derive(Debug)]
struct Inner {
    name: Arc<str>,
    line: u64,
    column: u64,
    what: What,
    message: String,
    source: Option<std::io::Error>,
}

/// The sort of a [`DataError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum What {
    /// The bytes could not be had: a missing file, a broken disk, a compressed stream cut short.
    Io,
    /// A row says something that cannot be learned from. `Options::skip_bad` passes over these.
    Row,
    /// The file as a whole is not what it should be: unknown format, no rows, no such column.
    File,
    /// The options contradict each other or the format.
    Setting,
}

impl DataError {
    pub(crate) fn io(name: &Arc<str>, doing: &str, source: std::io::Error) -> Self {
        let message = format!("{doing}: {}", lower_first(&source.to_string()));
        Self::make(name, What::Io, message, Some(source))
    }

    pub(crate) fn file(name: &Arc<str>, message: impl Into<String>) -> Self {
        Self::make(name, What::File, message.into(), None)
    }

    pub(crate) fn setting(message: impl Into<String>) -> Self {
        Self::make(&Arc::from(""), What::Setting, message.into(), None)
    }

    pub(crate) fn row(name: &Arc<str>, line: u64, bad: Bad) -> Self {
        Self(Box::new(Inner {
            name: name.clone(),
            line,
            column: bad.column as u64,
            what: What::Row,
            message: bad.message,
            source: None,
        }))
    }

    fn make(name: &Arc<str>, what: What, message: String, source: Option<std::io::Error>) -> Self {
        Self(Box::new(Inner { name: name.clone(), line: 0, column: 0, what, message, source }))
    }

    /// The same error with more words at its end.
    pub(crate) fn and(mut self, words: &str) -> Self {
        self.0.message.push_str(words);
        self
    }

    /// The file, as it was named when opened; empty when no file is to blame.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The line (or, in formats without lines, the row) counted from 1; 0 when there is none.
    pub fn line(&self) -> u64 {
        self.0.line
    }

    /// The byte in the line, counted from 1; 0 when there is none.
    pub fn column(&self) -> u64 {
        self.0.column
    }

    /// The words, without the place.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The sort of error.
    pub fn what(&self) -> What {
        self.0.what
    }

    /// Whether the bytes could not be had, rather than not understood.
    pub fn is_io(&self) -> bool {
        self.0.what == What::Io
    }
}

impl fmt::Display for DataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { name, line, column, message, .. } = &*self.0;
        if !name.is_empty() {
            f.write_str(name)?;
            if *line > 0 {
                write!(f, ":{line}")?;
            }
            if *column > 0 {
                write!(f, ":{column}")?;
            }
            f.write_str(": ")?;
        }
        f.write_str(message)
    }
}

impl std::error::Error for DataError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_ref().map(|e| e as _)
    }
}

/// A refused row, before it knows its file and line. Columns count from 1.
#[derive(Debug, PartialEq)]
pub(crate) struct Bad {
    pub(crate) column: usize,
    pub(crate) message: String,
}

impl Bad {
    // PERF: errors are made far from the loops that may need them.
    #[cold]
    pub(crate) fn new(column: usize, message: impl Into<String>) -> Self {
        Self { column, message: message.into() }
    }
}

/// A token as a message shows it: quoted, escaped, and never longer than a line can bear.
pub(crate) fn shown(token: &[u8]) -> String {
    const MOST: usize = 40;
    let text = String::from_utf8_lossy(&token[..token.len().min(4 * MOST + 4)]);
    let mut cut: String = text.chars().take(MOST).flat_map(char::escape_debug).collect();
    if text.chars().count() > MOST {
        cut.push_str("...");
    }
    format!("\"{cut}\"")
}

/// The end of a message about a token that should have been a number.
pub(crate) fn not_a_number(token: &[u8]) -> String {
    let number = std::str::from_utf8(token).ok().and_then(|t| t.parse::<f64>().ok());
    match number {
        Some(v) if !v.is_finite() => format!("{} is not a finite number", shown(token)),
        _ if token.is_empty() => "the number is missing".to_owned(),
        _ => format!("{} is not a number", shown(token)),
    }
}

fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    // "No such file" becomes "no such file"; "EOF" stays.
    match (chars.next(), chars.clone().next()) {
        (Some(first), Some(second)) if second.is_lowercase() => {
            first.to_lowercase().chain(chars).collect()
        }
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_left_out_where_there_are_none() {
        let name: Arc<str> = Arc::from("a.svm");
        assert_eq!(DataError::file(&name, "no rows").to_string(), "a.svm: no rows");
        let bad = DataError::row(&name, 3, Bad::new(0, "odd"));
        assert_eq!(bad.to_string(), "a.svm:3: odd");
        assert_eq!(DataError::setting("odd").to_string(), "odd");
        let io = std::io::Error::other("No such file");
        assert_eq!(
            DataError::io(&name, "cannot open", io).to_string(),
            "a.svm: cannot open: no such file"
        );
    }

    #[test]
    fn tokens_are_shown_safely() {
        assert_eq!(shown(b"a\tb\"\xff"), "\"a\\tb\\\"\u{fffd}\"");
        assert_eq!(shown(&[b'x'; 1000]), format!("\"{}...\"", "x".repeat(40)));
        assert_eq!(not_a_number(b"NaN"), "\"NaN\" is not a finite number");
        assert_eq!(not_a_number(b"1e999"), "\"1e999\" is not a finite number");
        assert_eq!(not_a_number(b""), "the number is missing");
        assert_eq!(not_a_number(b"x"), "\"x\" is not a number");
    }
}

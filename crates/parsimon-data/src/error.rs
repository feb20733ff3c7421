//! Errors in the data: a kind for programs, a place, and one line for people.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::remedy::{Door, Message, Remedy};

/// Why data could not be read: what kind of error it is, where it is, and one line about it.
///
/// A program matches [`kind`](Self::kind) and reads the place from [`path`](Self::path), [`line`](Self::line),
/// [`column`](Self::column), [`field`](Self::field) and [`token`](Self::token). The message is for people and may change.
///
/// ```
/// use parsimon_core::Chunk;
/// use parsimon_data::{DataErrorKind, Input, Options, Reader};
///
/// let input = Input::Bytes { name: "data.svm".into(), bytes: b"1 3:1\n-1 7:x\n".to_vec() };
/// let mut reader = Reader::open(&[input], &Options::default()).unwrap();
/// let mut chunk = Chunk::new();
/// assert!(reader.read(&mut chunk).unwrap()); // the row before the bad one comes first
/// let error = reader.read(&mut chunk).unwrap_err();
/// assert_eq!(error.to_string(), "data.svm:2:6: \"x\" is not a number");
/// assert_eq!(error.kind(), DataErrorKind::Number);
/// assert_eq!((error.name(), error.line(), error.column()), ("data.svm", Some(2), Some(6)));
/// assert_eq!(error.token(), Some("x"));
/// assert!(error.is_bad_row() && error.path().is_none());
/// ```
#[derive(Debug)]
pub struct DataError(Box<Inner>);

#[derive(Debug)]
struct Inner {
    name: Arc<str>,
    path: Option<PathBuf>,
    line: Option<u64>,
    column: Option<u64>,
    field: Option<String>,
    token: Option<String>,
    kind: DataErrorKind,
    message: Message,
    source: Option<io::Error>,
}

/// The kind of a [`DataError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DataErrorKind {
    /// The bytes could not be read or written: a missing file, a broken disk, a compressed stream cut short.
    Io(io::ErrorKind),
    /// A row does not follow its format.
    Malformed,
    /// A label is missing or not one of the labels expected.
    Label,
    /// A value or an importance weight is not a finite number within its range.
    Number,
    /// A cell contradicts the kind of its column: a text in a column of numbers.
    Kind,
    /// A feature's index is not an id, or appears twice in a row.
    Index,
    /// A row or a line exceeds a limit.
    TooLong,
    /// There are no rows.
    Empty,
    /// The format is not recognized, or not the one of the other inputs.
    Format,
    /// The columns do not fit: one is not there, appears twice or has an unsupported type.
    Columns,
    /// A binary file contradicts its own structure or checksum, or was not written completely.
    Damaged,
    /// A binary file of another version of its format.
    Version,
    /// The input cannot be used for what was asked.
    Input,
    /// The options contradict each other or the format.
    Setting,
    /// More memory is needed than the budget has ([`parsimon_files::memory`]).
    Memory,
    /// Reading was stopped from outside ([`Stop`](crate::Stop)).
    Stopped,
}

impl DataError {
    pub(crate) fn io(name: &Arc<str>, doing: &str, source: io::Error) -> Self {
        let message = format!("{doing}: {}", lower_first(&parsimon_files::in_words(&source)));
        Self::make(name, DataErrorKind::Io(source.kind()), message.into(), Some(source))
    }

    pub(crate) fn directory(name: &Arc<str>) -> Self {
        let source = io::Error::from(io::ErrorKind::IsADirectory);
        let kind = DataErrorKind::Io(source.kind());
        Self::make(name, kind, "is a directory; pass the files in it".into(), Some(source))
    }

    /// An input that is what it should be, and cannot be used here.
    pub(crate) fn file(name: &Arc<str>, message: impl Into<Message>) -> Self {
        Self::make(name, DataErrorKind::Input, message.into(), None)
    }

    pub(crate) fn damaged(name: &Arc<str>, message: impl Into<Message>) -> Self {
        Self::make(name, DataErrorKind::Damaged, message.into(), None)
    }

    pub(crate) fn columns(name: &Arc<str>, message: impl Into<Message>) -> Self {
        Self::make(name, DataErrorKind::Columns, message.into(), None)
    }

    pub(crate) fn format(name: &Arc<str>, message: impl Into<Message>) -> Self {
        Self::make(name, DataErrorKind::Format, message.into(), None)
    }

    pub(crate) fn version(name: &Arc<str>, message: impl Into<Message>) -> Self {
        Self::make(name, DataErrorKind::Version, message.into(), None)
    }

    pub(crate) fn labels(name: &Arc<str>, message: impl Into<Message>) -> Self {
        Self::make(name, DataErrorKind::Label, message.into(), None)
    }

    pub(crate) fn too_long(name: &Arc<str>, message: impl Into<Message>) -> Self {
        Self::make(name, DataErrorKind::TooLong, message.into(), None)
    }

    pub(crate) fn memory(name: &Arc<str>, message: impl Into<Message>) -> Self {
        Self::make(name, DataErrorKind::Memory, message.into(), None)
    }

    pub(crate) fn empty(name: &Arc<str>) -> Self {
        Self::make(name, DataErrorKind::Empty, "is empty: no rows".into(), None)
    }

    /// An error of a setting, which is not of the data.
    pub fn usage(message: impl Into<Message>) -> Self {
        Self::setting(message)
    }

    pub(crate) fn setting(message: impl Into<Message>) -> Self {
        Self::make(&Arc::from(""), DataErrorKind::Setting, message.into(), None)
    }

    pub(crate) fn stopped() -> Self {
        Self::make(&Arc::from(""), DataErrorKind::Stopped, "reading was stopped".into(), None)
    }

    pub(crate) fn row(name: &Arc<str>, line: u64, bad: Bad) -> Self {
        let Refused { column, kind, token, field, message } = *bad.0;
        let mut error = Self::make(name, kind, message, None);
        error.0.line = Some(line);
        error.0.column = Some(column as u64).filter(|&column| column > 0);
        (error.0.field, error.0.token) = (field, token);
        error
    }

    fn make(
        name: &Arc<str>,
        kind: DataErrorKind,
        message: Message,
        source: Option<io::Error>,
    ) -> Self {
        let name = name.clone();
        let (path, line, column, field, token) = (None, None, None, None, None);
        Self(Box::new(Inner { name, path, line, column, field, token, kind, message, source }))
    }

    /// Returns the error with more words at its end.
    pub(crate) fn and(mut self, words: &str) -> Self {
        self.0.message.push_str(words);
        self
    }

    /// Returns the error with the path of the file it names, if that is one of `files`.
    pub(crate) fn of(mut self, files: &[PathBuf]) -> Self {
        let named = files.iter().find(|path| path.display().to_string() == *self.0.name);
        self.0.path = self.0.path.or_else(|| named.cloned());
        self
    }

    /// The kind of error.
    pub fn kind(&self) -> DataErrorKind {
        self.0.kind
    }

    /// The input, as it was named when opened; empty when no input is to blame.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The file; `None` when the input is not a file (standard input, memory), or no input is to blame.
    pub fn path(&self) -> Option<&Path> {
        self.0.path.as_deref()
    }

    /// The line of a bad row (in formats without lines, the row), counted from 1.
    pub fn line(&self) -> Option<u64> {
        self.0.line
    }

    /// The byte in the line, counted from 1, in formats that have lines.
    pub fn column(&self) -> Option<u64> {
        self.0.column
    }

    /// The name of the column or field, in formats that have names for them.
    pub fn field(&self) -> Option<&str> {
        self.0.field.as_deref()
    }

    /// The offending token, if the error is in one token. Long tokens are cut.
    pub fn token(&self) -> Option<&str> {
        self.0.token.as_deref()
    }

    /// The message, without the place.
    pub fn message(&self) -> &Message {
        &self.0.message
    }

    /// The error without what can be done about it.
    pub fn fact(&self) -> String {
        format!("{}{}", self.place(), self.0.message.fact())
    }

    /// The error as its text shows it, with the names that a door has for settings.
    pub fn words(&self, door: &dyn Door) -> String {
        format!("{}{}", self.place(), self.0.message.words(door))
    }

    /// The input and the place in it, with a colon behind each; empty if no input is to blame.
    fn place(&self) -> String {
        let Inner { name, line, column, .. } = &*self.0;
        if name.is_empty() {
            return String::new();
        }
        let places = [line, column].into_iter().flatten();
        let places: String = places.map(|place| format!(":{place}")).collect();
        format!("{name}{places}: ")
    }

    /// Whether one row is to blame. [`Bounds::skip_bad`](crate::Bounds::skip_bad) passes over these.
    pub fn is_bad_row(&self) -> bool {
        self.0.line.is_some()
    }

    /// Whether the bytes could not be read or written.
    pub fn is_io(&self) -> bool {
        matches!(self.0.kind, DataErrorKind::Io(_))
    }

    /// The error of the system, where there was one.
    pub fn io_error(&self) -> Option<&io::Error> {
        self.0.source.as_ref()
    }
}

impl fmt::Display for DataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.place(), self.0.message)
    }
}

impl std::error::Error for DataError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_ref().map(|e| e as _)
    }
}

/// A refused row, before it knows its file and line.
// PERF: boxed, so that the results of parsers stay small.
#[derive(Debug, PartialEq)]
pub(crate) struct Bad(Box<Refused>);

/// Why a row was refused. Columns count from 1; 0 is none.
#[derive(Debug, PartialEq)]
pub(crate) struct Refused {
    pub(crate) column: usize,
    pub(crate) message: Message,
    kind: DataErrorKind,
    token: Option<String>,
    field: Option<String>,
}

impl Bad {
    // PERF: errors are made far from the loops that may need them.
    #[cold]
    pub(crate) fn new(kind: DataErrorKind, column: usize, message: impl Into<Message>) -> Self {
        let (message, token, field) = (message.into(), None, None);
        Self(Box::new(Refused { column, message, kind, token, field }))
    }

    /// With the token that was found.
    pub(crate) fn found(mut self, token: &[u8]) -> Self {
        const MOST: usize = 1000;
        self.token = Some(String::from_utf8_lossy(&token[..token.len().min(MOST)]).into_owned());
        self
    }

    /// With the name of the column or field it was found in.
    #[cold]
    pub(crate) fn in_field(mut self, name: &str) -> Self {
        self.field.get_or_insert_with(|| name.to_owned());
        self
    }

    /// With a remedy.
    #[cold]
    pub(crate) fn or(mut self, remedy: Remedy) -> Self {
        self.message = std::mem::take(&mut self.message).or(remedy);
        self
    }

    /// A label, whatever else is wrong with it.
    pub(crate) fn in_label(mut self) -> Self {
        self.kind = DataErrorKind::Label;
        self
    }
}

impl std::ops::Deref for Bad {
    type Target = Refused;

    fn deref(&self) -> &Refused {
        &self.0
    }
}

impl std::ops::DerefMut for Bad {
    fn deref_mut(&mut self) -> &mut Refused {
        &mut self.0
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
        let bad = DataError::row(&name, 3, Bad::new(DataErrorKind::Malformed, 0, "odd"));
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

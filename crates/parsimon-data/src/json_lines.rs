//! JSON rows that are not one per line: an array of objects, or objects over several lines, as lines.

use std::io::{Error, ErrorKind, Read, Result};

/// Layouts of rows in a text that is not lines of JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// `[{...}, {...}]`
    Array,
    /// Objects one after the other, each over several lines.
    Spread,
}

/// Returns how rows stand in a text, from its first bytes; `None` for lines.
pub(crate) fn layout(head: &[u8]) -> Option<Layout> {
    let head = head.trim_ascii_start();
    let line = head.split(|b| *b == b'\n').next().unwrap_or_default();
    match head.first()? {
        b'[' => Some(Layout::Array),
        b'{' if line.len() < head.len() && line.trim_ascii_end() == b"{" => Some(Layout::Spread),
        _ => None,
    }
}

/// Expected next token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The bracket that opens the array.
    Start,
    /// A row, or the end of an array without rows.
    First,
    /// A row.
    Row,
    /// The rest of a row that is neither object nor array, which the parser refuses.
    Scalar,
    /// A comma or the end.
    Separator,
    /// Blanks.
    End,
}

/// The rows of a stream, each on a line. A piece of the stream is in memory at a time.
pub(crate) struct JsonLines<R> {
    rows: R,
    layout: Layout,
    state: State,
    /// Open brackets of the current row.
    depth: usize,
    in_string: bool,
    is_escaped: bool,
    /// Lines that were made and not read yet, from `start`.
    lines: Vec<u8>,
    start: usize,
    piece: Vec<u8>,
    /// Fault behind the lines.
    failure: Option<Error>,
}

/// Bytes that are read at a time.
const PIECE: usize = 64 << 10;

impl<R: Read> JsonLines<R> {
    pub(crate) fn new(rows: R, layout: Layout) -> Self {
        let state = if layout == Layout::Array { State::Start } else { State::Row };
        let (lines, piece) = (Vec::new(), vec![0; PIECE]);
        let (in_string, is_escaped) = (false, false);
        Self {
            rows,
            layout,
            state,
            depth: 0,
            in_string,
            is_escaped,
            lines,
            start: 0,
            piece,
            failure: None,
        }
    }

    /// Takes a piece of the stream.
    fn take(&mut self, len: usize) -> Result<()> {
        for i in 0..len {
            let b = self.piece[i];
            if self.depth > 0 {
                self.inside(b);
            } else {
                self.between(b)?;
            }
        }
        Ok(())
    }

    /// A byte of an object.
    fn inside(&mut self, b: u8) {
        if self.in_string {
            self.in_string = self.is_escaped || b != b'"';
            self.is_escaped = !self.is_escaped && b == b'\\';
        } else {
            match b {
                b'"' => self.in_string = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => self.depth -= 1,
                _ => {}
            }
        }
        // Strings escape line breaks: a raw one stands between tokens, or its row is refused.
        self.lines.push(if matches!(b, b'\n' | b'\r') { b' ' } else { b });
        if self.depth == 0 {
            self.lines.push(b'\n');
            self.state = match self.layout {
                Layout::Array => State::Separator,
                Layout::Spread => State::Row,
            };
        }
    }

    /// A byte outside of objects.
    fn between(&mut self, b: u8) -> Result<()> {
        let is_blank = b.is_ascii_whitespace();
        match (self.state, b) {
            (State::Scalar, b',' | b']') => {
                self.lines.push(b'\n');
                self.state = if b == b',' { State::Row } else { State::End };
            }
            (State::Scalar, _) if b != b'\n' => self.lines.push(b),
            _ if is_blank => {}
            (State::Start, _) => self.state = State::First,
            (State::First | State::Separator, b']') => self.state = State::End,
            (State::Separator, b',') => self.state = State::Row,
            (State::Separator, _) => return Err(broken("a comma is missing between two rows")),
            (State::End, _) => return Err(broken("more text follows the end of the array")),
            (State::Row, b',' | b']') if self.layout == Layout::Array => {
                return Err(broken("a row is missing behind a comma"));
            }
            (_, b'{' | b'[') => {
                self.depth = 1;
                self.lines.push(b);
            }
            _ => {
                self.state = State::Scalar;
                self.lines.push(b);
            }
        }
        Ok(())
    }

    /// Checks that the stream may end here.
    fn end(&mut self) -> Result<()> {
        match (self.layout, self.state) {
            (Layout::Spread, _) if self.depth == 0 => Ok(()),
            (Layout::Spread, _) => Err(broken("the last object is not closed: the file is cut")),
            (Layout::Array, State::End) => Ok(()),
            (Layout::Array, _) => Err(broken("the array is not closed: the file is cut")),
        }
    }
}

fn broken(words: &str) -> Error {
    Error::new(ErrorKind::InvalidData, words)
}

impl<R: Read> Read for JsonLines<R> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        while self.start == self.lines.len() {
            if let Some(e) = self.failure.take() {
                return Err(e);
            }
            self.lines.clear();
            self.start = 0;
            match self.rows.read(&mut self.piece) {
                Ok(0) => return self.end().map(|()| 0),
                Ok(len) => {
                    // The rows before a broken place are read first.
                    if let Err(e) = self.take(len) {
                        self.failure = Some(e);
                    }
                }
                Err(e) => return Err(e),
            }
        }
        let len = buffer.len().min(self.lines.len() - self.start);
        buffer[..len].copy_from_slice(&self.lines[self.start..self.start + len]);
        self.start += len;
        Ok(len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stream that gives so many bytes at a time.
    struct Slow<'a>(&'a [u8], usize);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
            let len = self.1.min(self.0.len()).min(buffer.len());
            buffer[..len].copy_from_slice(&self.0[..len]);
            self.0 = &self.0[len..];
            Ok(len)
        }
    }

    fn lines(text: &str) -> std::result::Result<String, String> {
        let mut found = None;
        for step in [1, 7, 1000] {
            let layout = layout(text.as_bytes()).unwrap();
            let mut all = String::new();
            let read = JsonLines::new(Slow(text.as_bytes(), step), layout)
                .read_to_string(&mut all)
                .map_err(|e| e.to_string())
                .map(|_| all);
            assert_eq!(found.get_or_insert_with(|| read.clone()), &read);
        }
        found.unwrap()
    }

    #[test]
    fn rows_of_an_array_are_lines() {
        assert_eq!(
            lines(" [{\"a\":\"],{\\\"\"},\n {\n\"b\": [1,\r\n{}]} ]\n").unwrap(),
            "{\"a\":\"],{\\\"\"}\n{ \"b\": [1,  {}]}\n"
        );
        assert_eq!(lines("[]").unwrap(), "");
        assert_eq!(lines("[1, \"x\"]").unwrap(), "1\n\"x\"\n");
    }

    #[test]
    fn objects_over_several_lines_are_lines() {
        let text = "{\n  \"a\": 1\n}\n{\n  \"a\": {\n }\n}";
        assert_eq!(lines(text).unwrap(), "{   \"a\": 1 }\n{   \"a\": {  } }\n");
        assert_eq!(layout(b"{\"a\": 1}\n{\"a\": 2}\n"), None);
    }

    #[test]
    fn arrays_that_are_broken_are_refused() {
        for (text, expected) in [
            ("[{}", "the array is not closed: the file is cut"),
            ("[{\"a\":", "the array is not closed: the file is cut"),
            ("[{} {}]", "a comma is missing between two rows"),
            ("[{},]", "a row is missing behind a comma"),
            ("[{}] {}", "more text follows the end of the array"),
            ("{\n\"a\": 1", "the last object is not closed: the file is cut"),
        ] {
            assert_eq!(lines(text).unwrap_err(), expected, "{text}");
        }
    }
}

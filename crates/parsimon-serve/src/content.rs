//! Request bodies by content type, converted to text that the file readers understand.

use std::borrow::Cow;

use parsimon::data::Format;
use serde::Deserializer as _;
use serde::de::{SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::error::Refusal;

/// Formats of rows in request bodies and in answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One row: one JSON object is the answer.
    One,
    /// A JSON list: a list is the answer.
    List,
    /// A row on each line: a line each is the answer.
    Lines,
}

/// A body as lines of one format.
#[derive(Debug)]
pub struct Content<'a> {
    /// The format of the lines.
    pub format: Format,
    /// The lines; a table begins with its header.
    pub text: Cow<'a, [u8]>,
    /// Format of the rows in the body.
    pub shape: Shape,
}

/// The content types that are understood, each with its format.
pub(crate) const TYPES: [(&str, Format); 10] = [
    ("application/json", Format::Jsonl),
    ("application/x-ndjson", Format::Jsonl),
    ("application/ndjson", Format::Jsonl),
    ("application/jsonl", Format::Jsonl),
    ("text/x-vw", Format::Vw),
    ("application/x-vw", Format::Vw),
    ("text/x-svmlight", Format::Svmlight),
    ("text/x-libsvm", Format::Svmlight),
    ("text/csv", Format::Csv),
    ("text/tab-separated-values", Format::Tsv),
];

impl<'a> Content<'a> {
    /// Recognizes a body. A missing content type, and curl's default, are JSON if the body begins like JSON.
    pub fn new(content_type: Option<&str>, body: &'a [u8]) -> Result<Self, Refusal> {
        let essence = content_type.map_or("", |text| text.split(';').next().unwrap_or(""));
        let essence = essence.trim().to_ascii_lowercase();
        let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
        let is_unsaid =
            ["", "application/x-www-form-urlencoded", "text/plain"].contains(&essence.as_str());
        if is_unsaid {
            return Self::guessed(body);
        }
        let known = TYPES.iter().find(|(name, _)| *name == essence);
        match known {
            Some(("application/json", _)) => Self::json(body),
            Some(&(_, format)) => Ok(Self::lines(format, body)),
            None => Err(Refusal::new(
                axum::http::StatusCode::UNSUPPORTED_MEDIA_TYPE,
                format!(
                    "content type {essence:?} is not understood: use {}",
                    TYPES.map(|(name, _)| name).join(", ")
                ),
            )),
        }
    }

    /// Estimates the number of rows: lines that are not empty, without the header of a table.
    pub(crate) fn rows(&self) -> u64 {
        let lines = self.text.split(|&b| b == b'\n').filter(|line| !line.trim_ascii().is_empty());
        let header = matches!(self.format, Format::Csv | Format::Tsv);
        (lines.count() as u64).saturating_sub(header.into())
    }

    /// Like the variant above, with one line of answer for each row.
    #[must_use]
    pub fn as_lines(self) -> Self {
        Self { shape: Shape::Lines, ..self }
    }

    fn lines(format: Format, body: &'a [u8]) -> Self {
        Self { format, text: Cow::Borrowed(body), shape: Shape::Lines }
    }

    /// Recognizes the format by the first bytes: JSON, VW text if the first line has a bar, else svmlight.
    fn guessed(body: &'a [u8]) -> Result<Self, Refusal> {
        let start = body.trim_ascii_start();
        match start.first() {
            Some(b'[') => Self::json(body),
            Some(b'{') => match is_one_line(start) {
                true => Self::json(body),
                // One object on several lines, or an object on each line.
                false => Self::json(body).or_else(|_| Ok(Self::lines(Format::Jsonl, body))),
            },
            _ => {
                let first = start.split(|&b| b == b'\n').next().unwrap_or_default();
                let is_vw = first.contains(&b'|');
                Ok(Self::lines(if is_vw { Format::Vw } else { Format::Svmlight }, body))
            }
        }
    }

    /// A JSON object, or a list of them.
    fn json(body: &'a [u8]) -> Result<Self, Refusal> {
        let (format, start) = (Format::Jsonl, body.trim_ascii());
        if start.first() != Some(&b'[') {
            if is_one_line(start) {
                return Ok(Self { format, text: Cow::Borrowed(start), shape: Shape::One });
            }
            // Errors of the syntax have the line and column of the body.
            serde_json::from_slice::<&RawValue>(start).map_err(|e| syntax(&e))?;
            return Ok(Self { format, text: Cow::Owned(on_one_line(start)), shape: Shape::One });
        }
        let mut text = Vec::with_capacity(start.len());
        let mut json = serde_json::Deserializer::from_slice(start);
        json.deserialize_seq(ListAsLines(&mut text))
            .and_then(|()| json.end())
            .map_err(|e| syntax(&e))?;
        Ok(Self { format, text: Cow::Owned(text), shape: Shape::List })
    }
}

/// Writes the values of a list as lines, one after the other: a list of the values would take more memory than the body.
struct ListAsLines<'a>(&'a mut Vec<u8>);

impl<'de> Visitor<'de> for ListAsLines<'_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while let Some(row) = list.next_element::<&RawValue>()? {
            self.0.extend(on_one_line(row.get().as_bytes()));
            self.0.push(b'\n');
        }
        Ok(())
    }
}

/// A body that is not JSON.
pub(crate) fn syntax(error: &serde_json::Error) -> Refusal {
    let words = error.to_string();
    let words = words.split(" at line ").next().unwrap_or_default();
    let (line, column) = (error.line(), error.column());
    let refusal = Refusal::bad(format!("body:{line}:{column}: not JSON: {words}"));
    refusal.with("line", line).with("column", column)
}

fn is_one_line(text: &[u8]) -> bool {
    !text.trim_ascii_end().contains(&b'\n')
}

/// JSON without line breaks. In strings they are escaped, so a raw one is white space.
fn on_one_line(json: &[u8]) -> Vec<u8> {
    json.iter().map(|&b| if b == b'\n' || b == b'\r' { b' ' } else { b }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(content_type: &str, body: &str) -> (Format, String, Shape) {
        let content = Content::new(Some(content_type), body.as_bytes()).unwrap();
        let text = String::from_utf8(content.text.into_owned()).unwrap();
        (content.format, text, content.shape)
    }

    #[test]
    fn bodies_become_lines() {
        let json = "application/json; charset=utf-8";
        assert_eq!(read(json, "{\"a\":1}\n").1, "{\"a\":1}");
        assert_eq!(read(json, "{\n\"a\":1\n}"), (Format::Jsonl, "{ \"a\":1 }".into(), Shape::One));
        let list = "[{\"a\":\n1}, {\"b\":2}]";
        assert_eq!(
            read(json, list),
            (Format::Jsonl, "{\"a\": 1}\n{\"b\":2}\n".into(), Shape::List)
        );
        assert_eq!(read("text/x-vw", "1 |a b\n").0, Format::Vw);
        assert_eq!(read("application/x-www-form-urlencoded", "1 |a b\n").0, Format::Vw);
        assert_eq!(read("", "1 3:4\n").0, Format::Svmlight);
        assert_eq!(read("", "{\"a\":1}\n{\"a\":2}\n").2, Shape::Lines);
        assert_eq!(read("", " {\"a\":\n1}").2, Shape::One);
    }

    #[test]
    fn what_is_wrong_has_a_place() {
        let body = b"[{\"a\":1},\n{\"a\":}]";
        let refusal = Content::new(Some("application/json"), body).unwrap_err();
        assert_eq!(refusal.message(), "body:2:6: not JSON: expected value");
        assert_eq!(Content::new(Some("text/xml"), b"").unwrap_err().status(), 415);
    }
}

//! Tables as lines of text.

use std::io::{self, Write};

use super::{Cell, ColumnType, contributions};

/// Format of cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Csv,
    Tsv,
    Json,
}

/// The lines of a table.
pub(super) struct TextTable {
    style: Style,
    columns: Vec<(String, ColumnType)>,
    line: Vec<u8>,
    scratch: Vec<u8>,
}

impl TextTable {
    pub(super) fn new(style: Style, columns: Vec<(String, ColumnType)>) -> Self {
        Self { style, columns, line: Vec::new(), scratch: Vec::new() }
    }

    /// Writes the header, where there is one.
    pub(super) fn begin(&mut self, out: &mut impl Write) -> io::Result<()> {
        if self.style == Style::Json {
            return Ok(());
        }
        self.line.clear();
        for (k, (name, _)) in self.columns.iter().enumerate() {
            if k > 0 {
                self.line.push(if self.style == Style::Csv { b',' } else { b'\t' });
            }
            cell(self.style, name.as_bytes(), &mut self.line);
        }
        self.line.push(b'\n');
        out.write_all(&self.line)
    }

    /// Writes a row.
    pub(super) fn push(&mut self, cells: &[Cell<'_>], out: &mut impl Write) -> io::Result<()> {
        self.line.clear();
        match self.style {
            Style::Json => self.json(cells)?,
            _ => self.delimited(cells)?,
        }
        self.line.push(b'\n');
        out.write_all(&self.line)
    }

    fn delimited(&mut self, cells: &[Cell<'_>]) -> io::Result<()> {
        for (k, content) in cells.iter().enumerate() {
            if k > 0 {
                self.line.push(if self.style == Style::Csv { b',' } else { b'\t' });
            }
            match content {
                Cell::Missing => {}
                Cell::Number(x) => write!(self.line, "{x}")?,
                Cell::Text(text) => cell(self.style, text, &mut self.line),
                Cell::Contributions(parts) => {
                    self.scratch.clear();
                    contributions(parts, "; ", &mut self.scratch);
                    cell(self.style, &self.scratch, &mut self.line);
                }
            }
        }
        Ok(())
    }

    fn json(&mut self, cells: &[Cell<'_>]) -> io::Result<()> {
        let line = &mut self.line;
        for (k, ((name, _), cell)) in self.columns.iter().zip(cells).enumerate() {
            line.push(if k == 0 { b'{' } else { b',' });
            serde_json::to_writer(&mut *line, name)?;
            line.push(b':');
            match cell {
                Cell::Number(x) if x.is_finite() => write!(line, "{x}")?,
                Cell::Missing | Cell::Number(_) => line.extend_from_slice(b"null"),
                Cell::Text(text) => {
                    serde_json::to_writer(&mut *line, &String::from_utf8_lossy(text))?;
                }
                Cell::Contributions(parts) => {
                    line.push(b'[');
                    for (k, (name, value, contribution)) in parts.iter().enumerate() {
                        line.extend_from_slice(if k == 0 { b"" } else { b"," });
                        line.extend_from_slice(b"{\"feature\":");
                        serde_json::to_writer(&mut *line, name)?;
                        write!(line, ",\"value\":{value},\"contribution\":{contribution}}}")?;
                    }
                    line.push(b']');
                }
            }
        }
        line.push(b'}');
        Ok(())
    }
}

/// Adds a cell of delimited text.
fn cell(style: Style, content: &[u8], line: &mut Vec<u8>) {
    if style == Style::Tsv {
        let plain = |&b: &u8| if matches!(b, b'\t' | b'\n' | b'\r') { b' ' } else { b };
        line.extend(content.iter().map(plain));
        return;
    }
    let is_odd = |&b: &u8| matches!(b, b',' | b'"' | b'\n' | b'\r' | b';');
    let has_blank = content.trim_ascii().len() < content.len();
    if !has_blank && !content.iter().any(is_odd) {
        line.extend_from_slice(content);
        return;
    }
    line.push(b'"');
    for &b in content {
        line.extend_from_slice(if b == b'"' { b"\"\"" } else { std::slice::from_ref(&b) });
    }
    line.push(b'"');
}

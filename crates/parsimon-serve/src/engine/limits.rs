//! Limits of the service.

use std::time::Duration;

use axum::http::StatusCode;
use parsimon::data::Format;
use parsimon::rows::Chunk;

use crate::content::Content;
use crate::error::Refusal;
use crate::memory::Held;

/// Limits of the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a body.
    pub body: usize,
    /// Rows of a request.
    pub rows: usize,
    /// Features of a row, with products of namespaces.
    pub features: usize,
    /// Connections that are open at a time.
    pub connections: usize,
    /// Connections of one address that are open at a time.
    pub connections_of_address: usize,
    /// The time in which a client must have sent a request, and in which it must read a part of the answer.
    pub patience: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body: 16 << 20,
            rows: 100_000,
            features: 100_000,
            connections: 1024,
            connections_of_address: 512,
            patience: Duration::from_secs(30),
        }
    }
}

impl Limits {
    /// Refuses a text with more rows than the limit before it is parsed, and takes the memory for parsing it: parsed rows take many
    /// times the memory of short lines.
    pub(crate) fn admit(&self, content: &Content<'_>) -> Result<Held, Refusal> {
        let is_table = matches!(content.format, Format::Csv | Format::Tsv);
        if content.text.len() >= self.rows {
            let rows = match is_table && content.text.contains(&b'"') {
                true => rows_with_quotes(&content.text),
                false => content.rows(),
            };
            if rows > self.rows as u64 {
                return Err(self.too_many(rows));
            }
        }
        Held::to_parse(content)
    }

    /// Refuses more rows than the limit.
    pub(super) fn too_many(&self, rows: u64) -> Refusal {
        let most = self.rows;
        let words = format!("{rows} rows exceed the limit of {most}; send fewer");
        Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, words)
    }

    /// Refuses rows beyond the limits.
    pub(crate) fn check(&self, chunks: &[Chunk]) -> Result<(), Refusal> {
        let too_large = |words: String| Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, words);
        let rows: usize = chunks.iter().map(Chunk::len).sum();
        if rows > self.rows {
            return Err(self.too_many(rows as u64));
        }
        let mut row = 0;
        for chunk in chunks {
            for i in 0..chunk.len() {
                row += 1;
                let features = chunk.row(i).len();
                if features > self.features {
                    let words = format!(
                        "row {row} has {features} features, more than the limit of {}",
                        self.features
                    );
                    return Err(too_large(words).with("line", row));
                }
            }
        }
        Ok(())
    }
}

/// Counts the rows of a table whose cells may have line breaks in quotes. Lines without a cell are not counted.
fn rows_with_quotes(text: &[u8]) -> u64 {
    let (mut rows, mut is_quoted, mut is_empty) = (0u64, false, true);
    for &b in text {
        match b {
            b'\n' if !is_quoted => {
                rows += u64::from(!is_empty);
                is_empty = true;
            }
            b'"' => (is_quoted, is_empty) = (!is_quoted, false),
            b => is_empty &= b.is_ascii_whitespace(),
        }
    }
    // The header is no row.
    (rows + u64::from(!is_empty)).saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_breaks_in_quotes_are_no_rows() {
        let text = b"y,a\n1,\"x\ny\"\"\n\"\n\n0,z\n1,w";
        assert_eq!(rows_with_quotes(text), 3);
    }
}

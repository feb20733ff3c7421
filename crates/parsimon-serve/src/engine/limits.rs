//! Limits of the service.

use std::time::Duration;

use axum::http::StatusCode;
use parsimon::data::Format;
use parsimon::rows::Chunk;

use crate::content::Content;
use crate::error::Refusal;

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
    /// Refuses a text with more rows than the limit before it is parsed: parsed rows take many times the memory of short lines. Cells
    /// of a table in quotes may hold line breaks, so only tables without quotes are judged here.
    pub(crate) fn check_text(&self, content: &Content<'_>) -> Result<(), Refusal> {
        let is_table = matches!(content.format, Format::Csv | Format::Tsv);
        if content.text.len() < self.rows || (is_table && content.text.contains(&b'"')) {
            return Ok(());
        }
        match content.rows() {
            rows if rows > self.rows as u64 => Err(self.too_many(rows)),
            _ => Ok(()),
        }
    }

    fn too_many(&self, rows: u64) -> Refusal {
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

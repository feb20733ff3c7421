//! How much the service takes at a time.

use std::time::Duration;

use axum::http::StatusCode;
use parsimon::rows::Chunk;

use crate::error::Refusal;

/// How much the service takes at a time.
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
    /// The time in which a client must have sent a request.
    pub patience: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body: 16 << 20,
            rows: 100_000,
            features: 100_000,
            connections: 1024,
            patience: Duration::from_secs(30),
        }
    }
}

impl Limits {
    /// Refuses rows beyond the limits.
    pub(crate) fn check(&self, chunks: &[Chunk]) -> Result<(), Refusal> {
        let too_large = |words: String| Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, words);
        let rows: usize = chunks.iter().map(Chunk::len).sum();
        if rows > self.rows {
            let most = self.rows;
            return Err(too_large(format!("{rows} rows exceed the limit of {most}; send fewer")));
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

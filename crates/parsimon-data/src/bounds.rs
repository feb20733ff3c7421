//! Bounds of what is read.

use crate::DataError;

/// The most products of one row, whatever is asked for: 2 GiB of them.
const MOST_PRODUCTS: u64 = 1 << 27;

/// Bounds of what is read: rows per chunk, magnitudes, products of a row, bad rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Bounds {
    /// The most rows in a chunk.
    pub chunk_rows: usize,
    /// The largest magnitude of a value or label; a row that exceeds it is bad. At most 1e250.
    pub max_value: f64,
    /// The number of bad rows that are skipped; the next one is an error.
    pub skip_bad: u64,
    /// The most products of namespaces in a row. They are counted before they are made; a row with more is bad.
    pub products: u64,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { chunk_rows: 1024, max_value: 1e100, skip_bad: 0, products: MOST_PRODUCTS }
    }
}

impl Bounds {
    pub(crate) fn check(&self) -> Result<(), DataError> {
        if self.chunk_rows == 0 {
            return Err(DataError::setting("chunk rows must be at least 1, got 0"));
        }
        // The bound keeps room for the codes of text labels, and for sums of repeated features.
        if !(self.max_value > 0.0 && self.max_value <= 1e250) {
            let got = self.max_value;
            return Err(DataError::setting(format!(
                "the largest value must be above 0 and at most 1e250, got {got:e}"
            )));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_that_admit_nothing_are_refused() {
        let nan = Bounds { max_value: f64::NAN, ..Bounds::default() };
        assert_eq!(
            nan.check().unwrap_err().to_string(),
            "the largest value must be above 0 and at most 1e250, got NaN"
        );
        assert!(Bounds { chunk_rows: 0, ..Bounds::default() }.check().is_err());
        assert!(Bounds::default().check().is_ok());
    }
}

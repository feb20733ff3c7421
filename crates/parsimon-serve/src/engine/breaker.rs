//! The breaker: learning is paused when what comes in does not look like what should.

use std::sync::{Mutex, PoisonError};

use parsimon::rows::Chunk;

use super::rows::each;

/// Conditions under which learning is paused automatically. By default there is none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Breaker {
    /// The least and the largest share of positive labels; of labels that are numbers, their mean.
    pub labels: Option<(f64, f64)>,
    /// The largest share of rows that are refused because they are bad.
    pub refused: Option<f64>,
    /// Shares are computed over at least this number of rows, and at most twice as many.
    pub rows: u64,
}

impl Default for Breaker {
    fn default() -> Self {
        Self { labels: None, refused: None, rows: 10_000 }
    }
}

/// Rows that were counted together.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    learned: u64,
    labels: f64,
    refused: u64,
}

impl Counts {
    fn rows(&self) -> u64 {
        self.learned + self.refused
    }

    fn with(self, other: Self) -> Self {
        Self {
            learned: self.learned + other.learned,
            labels: self.labels + other.labels,
            refused: self.refused + other.refused,
        }
    }
}

/// State of the breaker: the rows of the last two spans.
pub(crate) struct Gauge {
    breaker: Breaker,
    /// Whether labels are those of two classes, and not numbers.
    has_classes: bool,
    spans: Mutex<[Counts; 2]>,
}

impl Gauge {
    pub(crate) fn new(breaker: Breaker, has_classes: bool) -> Self {
        Self { breaker, has_classes, spans: Mutex::default() }
    }

    /// Processes rows that are learned. Gives the reason to pause, if any.
    pub(crate) fn learned(&self, chunks: &[Chunk]) -> Option<String> {
        self.breaker.labels.or(self.breaker.refused.map(|share| (share, share)))?;
        let mut counts = Counts::default();
        for (chunk, i) in each(chunks) {
            counts.learned += 1;
            let y = chunk.label(i).unwrap_or(0.0);
            counts.labels += if self.has_classes { f64::from(u8::from(y > 0.0)) } else { y };
        }
        self.take(counts)
    }

    /// Processes rows that were refused. Gives the reason to pause, if any.
    pub(crate) fn refused(&self, rows: u64) -> Option<String> {
        self.breaker.refused?;
        self.take(Counts { refused: rows, ..Counts::default() })
    }

    /// Begins anew.
    pub(crate) fn reset(&self) {
        *self.spans.lock().unwrap_or_else(PoisonError::into_inner) = Default::default();
    }

    fn take(&self, counts: Counts) -> Option<String> {
        let Breaker { labels, refused, rows } = self.breaker;
        let mut spans = self.spans.lock().unwrap_or_else(PoisonError::into_inner);
        let [before, now] = &mut *spans;
        *now = now.with(counts);
        let both = before.with(*now);
        if now.rows() >= rows {
            (*before, *now) = (*now, Counts::default());
        }
        if both.rows() < rows {
            return None;
        }
        let share = both.refused as f64 / both.rows() as f64;
        if let Some(most) = refused.filter(|most| share > *most) {
            let rows = both.rows();
            return Some(format!(
                "{share:.4} of the last {rows} rows were refused, more than {most}"
            ));
        }
        let (least, most) = labels?;
        let rate = both.labels / both.learned as f64;
        // Rows that were all refused have no rate.
        (rate < least || rate > most).then(|| {
            let rows = both.learned;
            format!(
                "the label rate of the last {rows} rows is {rate:.4}, outside of {least} to {most}"
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use parsimon::rows::Repeats;

    use super::*;

    fn rows(labels: &[f64]) -> Vec<Chunk> {
        let mut chunk = Chunk::new();
        for y in labels {
            chunk.finish_row(Some(*y), 1.0, Repeats::Add).unwrap();
        }
        vec![chunk]
    }

    #[test]
    fn shares_outside_of_their_bands_are_a_reason() {
        let breaker = Breaker { labels: Some((0.2, 0.6)), refused: Some(0.5), rows: 10 };
        let gauge = Gauge::new(breaker, true);
        // Too few rows say nothing.
        assert_eq!(gauge.learned(&rows(&[-1.0; 9])), None);
        assert!(gauge.learned(&rows(&[-1.0])).unwrap().contains("0.0000, outside of 0.2 to 0.6"));
        gauge.reset();
        let usual = [-1.0, 1.0, -1.0, 1.0, -1.0];
        for _ in 0..10 {
            assert_eq!(gauge.learned(&rows(&usual)), None);
        }
        // Forget old rows.
        assert_eq!(gauge.learned(&rows(&[1.0; 3])), None);
        assert!(gauge.learned(&rows(&[1.0; 12])).is_some());
        gauge.reset();
        assert_eq!(gauge.learned(&rows(&usual)), None);
        assert_eq!(gauge.refused(4), None);
        assert!(gauge.refused(9).unwrap().contains("of the last 18 rows were refused"));
        assert_eq!(Gauge::new(Breaker::default(), true).refused(1 << 40), None);
    }
}

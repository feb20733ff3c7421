//! Progressive validation: each row is predicted before it is learned, and that loss is averaged.
//!
//! `average = sum_t weight_t * loss_t / sum_t weight_t`, the loss taken with the model as it was before
//! row `t`. One pass over the stream therefore gives an honest estimate of the loss on unseen rows without
//! a held-out set, as tight as a test set of the same size (Blum, Kalai and Langford, COLT 1999). With
//! several passes it is honest only in the first.
//!
//! It averages over the whole past, so on a long stream it lags behind a model that improved or a world
//! that changed; [`since_last`](Progressive::since_last) is the same average over the latest stretch.

use serde::{Deserialize, Serialize};

use crate::sum::{Sum, ratio};

/// Running averages of the progressive loss: since the beginning, and since the last report.
///
/// ```
/// use parsimon_eval::Progressive;
///
/// let mut progressive = Progressive::new();
/// progressive.record(0.9, 1.0);
/// progressive.record(0.6, 2.0); // a row that counts twice
/// assert!((progressive.average().unwrap() - 0.7).abs() < 1e-15);
///
/// progressive.mark(); // a report was printed here
/// progressive.record(0.3, 1.0);
/// assert_eq!(progressive.since_last(), Some(0.3));
/// assert!((progressive.average().unwrap() - 0.6).abs() < 1e-15);
/// ```
///
/// The sums are compensated ([`Sum`]) and see one row at a time, so the result is the same to the last
/// bit for any chunks, and for a run that is saved and resumed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Progressive {
    rows: u64,
    all: Average,
    recent: Average,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Average {
    loss: Sum,
    weight: Sum,
}

impl Average {
    fn record(&mut self, loss: f64, weight: f64) {
        // A row that counts for nothing adds nothing, even when its loss is infinite.
        if weight > 0.0 {
            self.loss.add(weight * loss);
            self.weight.add(weight);
        }
    }

    fn is_finite(&self) -> bool {
        self.loss.value().is_finite() && self.weight.value().is_finite()
    }

    fn value(&self) -> Option<f64> {
        ratio(self.loss.value(), self.weight.value())
    }
}

impl Progressive {
    /// No rows yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts one row: the loss of its prediction, made before it was learned, and its importance.
    pub fn record(&mut self, loss: f64, weight: f64) {
        self.rows += 1;
        self.all.record(loss, weight);
        // NUMERICS: the recent sums are kept apart instead of subtracted: a difference of two large totals
        // would lose the digits the compensation saved.
        self.recent.record(loss, weight);
    }

    /// Adds rows recorded elsewhere: the weighted sum of their losses, and the sum of their importances.
    pub fn absorb(&mut self, rows: u64, loss: f64, weight: f64) {
        self.rows += rows;
        for average in [&mut self.all, &mut self.recent] {
            average.loss.add(loss);
            average.weight.add(weight);
        }
    }

    /// Starts a new stretch for [`since_last`](Self::since_last).
    pub fn mark(&mut self) {
        self.recent = Average::default();
    }

    /// The average loss of all rows; nothing before the first row of positive weight, or if the losses
    /// stopped being finite.
    pub fn average(&self) -> Option<f64> {
        self.all.value()
    }

    /// The average loss of the rows since the last [`mark`](Self::mark), or since the beginning.
    pub fn since_last(&self) -> Option<f64> {
        self.recent.value()
    }

    /// Number of rows that were recorded.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The sum of the importance weights.
    pub fn weight(&self) -> f64 {
        self.all.weight.value()
    }

    /// The weighted sum of the losses.
    pub fn total(&self) -> f64 {
        self.all.loss.value()
    }

    /// Whether the sums of losses and weights are finite.
    pub fn is_finite(&self) -> bool {
        self.all.is_finite() && self.recent.is_finite()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parsimon_testing::SplitMix64;

    #[test]
    fn no_rows_have_no_average() {
        let mut progressive = Progressive::new();
        assert_eq!((progressive.average(), progressive.since_last()), (None, None));
        progressive.record(1.0, 0.0);
        assert_eq!((progressive.rows(), progressive.average()), (1, None));
    }

    #[test]
    fn a_row_without_weight_cannot_spoil_the_average() {
        let mut progressive = Progressive::new();
        progressive.record(0.5, 1.0);
        progressive.record(f64::INFINITY, 0.0);
        assert_eq!(progressive.average(), Some(0.5));
        progressive.record(f64::INFINITY, 1.0);
        assert_eq!(progressive.average(), None);
    }

    #[test]
    fn stretches_add_up_to_the_whole() {
        let mut random = SplitMix64::new(7);
        let mut progressive = Progressive::new();
        let (mut loss, mut weight) = (0.0, 0.0);
        for _ in 0..50 {
            let mut stretch = 0.0;
            for _ in 0..20 {
                let w = random.unit() * 3.0;
                progressive.record(random.unit(), w);
                stretch += w;
            }
            loss += progressive.since_last().unwrap() * stretch;
            weight += stretch;
            progressive.mark();
        }
        assert!((progressive.average().unwrap() - loss / weight).abs() < 1e-13);
        assert!((progressive.weight() - weight).abs() < 1e-10);
    }

    #[test]
    fn saving_and_resuming_anywhere_changes_no_bit() {
        let mut random = SplitMix64::new(3);
        let rows: Vec<(f64, f64)> =
            (0..200).map(|_| (random.unit() * 1e3, random.unit())).collect();
        let mut whole = Progressive::new();
        for &(loss, weight) in &rows {
            whole.record(loss, weight);
        }
        for cut in [0, 1, 77, 200] {
            let mut first = Progressive::new();
            for &(loss, weight) in &rows[..cut] {
                first.record(loss, weight);
            }
            let saved = serde_json::to_string(&first).unwrap();
            let mut resumed: Progressive = serde_json::from_str(&saved).unwrap();
            for &(loss, weight) in &rows[cut..] {
                resumed.record(loss, weight);
            }
            assert_eq!(resumed, whole);
        }
    }
}

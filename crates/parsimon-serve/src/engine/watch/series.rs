//! Sums over intervals of logged time. The latest intervals are kept.

use std::collections::VecDeque;

use serde::Serialize;

/// Sums over one interval of logged time. Rows count with their importance weights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Sums {
    /// Rows learned.
    pub(crate) rows: u64,
    pub(crate) weight: f64,
    /// Losses of predictions that were made before the rows were learned.
    pub(crate) loss: f64,
    /// Losses of the constant on the same rows.
    pub(crate) constant: f64,
    /// The weight of rows that the frozen reference scored, too.
    pub(crate) paired: f64,
    /// The model's losses on these.
    pub(crate) paired_loss: f64,
    /// The reference's losses on these.
    pub(crate) reference: f64,
    /// Probabilities of the second of two classes.
    pub(crate) predicted: f64,
    /// Rows of the second of two classes; of numbers, their sum.
    pub(crate) happened: f64,
    /// Rows that were refused.
    pub(crate) refused: u64,
    /// Rows whose label came after the score.
    pub(crate) labelled: u64,
    /// Rows that got the default label.
    pub(crate) expired: u64,
}

impl Sums {
    pub(crate) fn add(&mut self, other: &Self) {
        self.rows += other.rows;
        self.weight += other.weight;
        self.loss += other.loss;
        self.constant += other.constant;
        self.paired += other.paired;
        self.paired_loss += other.paired_loss;
        self.reference += other.reference;
        self.predicted += other.predicted;
        self.happened += other.happened;
        self.refused += other.refused;
        self.labelled += other.labelled;
        self.expired += other.expired;
    }
}

/// Sums with the log time of their beginning, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Stretch {
    pub(crate) start: u64,
    #[serde(flatten)]
    pub(crate) sums: Sums,
}

/// The latest stretches of one length.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    length: u64,
    most: usize,
    kept: VecDeque<Stretch>,
}

impl Series {
    /// A series of stretches: their length in milliseconds, and the number that is kept.
    pub(crate) fn new(length: u64, most: usize) -> Self {
        Self { length: length.max(1), most, kept: VecDeque::with_capacity(most) }
    }

    /// Adds to the stretch of a time. Time never goes back; what comes late counts with the latest stretch.
    pub(crate) fn add(&mut self, time: u64, sums: &Sums) {
        let start = time / self.length * self.length;
        if self.kept.back().is_none_or(|last| last.start < start) {
            if self.kept.len() == self.most {
                self.kept.pop_front();
            }
            self.kept.push_back(Stretch { start, sums: Sums::default() });
        }
        if let Some(last) = self.kept.back_mut() {
            last.sums.add(sums);
        }
    }

    /// All stretches that are kept, oldest first.
    pub(crate) fn all(&self) -> &VecDeque<Stretch> {
        &self.kept
    }

    /// Returns the last `count` intervals.
    pub(crate) fn latest(&self, n: usize) -> Vec<&Stretch> {
        self.kept.iter().skip(self.kept.len().saturating_sub(n)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_go_to_their_stretch_and_old_ones_are_dropped() {
        let mut series = Series::new(10, 2);
        let one = Sums { rows: 1, loss: 0.5, ..Sums::default() };
        for time in [3, 9, 10, 8, 35] {
            series.add(time, &one);
        }
        let kept: Vec<_> = series.all().iter().map(|s| (s.start, s.sums.rows)).collect();
        assert_eq!(kept, [(10, 2), (30, 1)]);
        assert_eq!(series.latest(1)[0].start, 30);
    }
}

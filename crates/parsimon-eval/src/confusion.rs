//! Right and wrong decisions between two classes.

use serde::{Deserialize, Serialize};

use crate::sum::{Sum, ratio};

/// Total weights of the four outcomes of a decision.
///
/// ```
/// use parsimon_eval::Confusion;
///
/// // Truth, decision, importance.
/// let rows = [(true, true, 3.0), (true, false, 1.0), (false, true, 2.0), (false, false, 4.0)];
/// let confusion: Confusion = rows.into_iter().collect();
/// assert_eq!(confusion.accuracy(), Some(0.7));
/// assert_eq!(confusion.precision(), Some(0.6)); // of 5 called positive, 3 are
/// assert_eq!(confusion.recall(), Some(0.75)); // of 4 positive, 3 are called so
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Confusion {
    /// Positive, called positive.
    pub true_positive: f64,
    /// Negative, called positive.
    pub false_positive: f64,
    /// Negative, called negative.
    pub true_negative: f64,
    /// Positive, called negative.
    pub false_negative: f64,
}

impl Confusion {
    /// The weight of the positive rows.
    pub fn positives(&self) -> f64 {
        self.true_positive + self.false_negative
    }

    /// The share of right decisions.
    pub fn accuracy(&self) -> Option<f64> {
        let right = self.true_positive + self.true_negative;
        ratio(right, right + self.false_positive + self.false_negative)
    }

    /// Precision: the share of positive rows among those predicted positive.
    pub fn precision(&self) -> Option<f64> {
        ratio(self.true_positive, self.true_positive + self.false_positive)
    }

    /// Recall: the share of positive rows that are predicted positive.
    pub fn recall(&self) -> Option<f64> {
        ratio(self.true_positive, self.positives())
    }

    /// The harmonic mean of precision and recall, `2 tp / (2 tp + fp + fn)`. True negatives do not enter,
    /// which is why it is preferred where positives are rare.
    pub fn f1(&self) -> Option<f64> {
        let twice = 2.0 * self.true_positive;
        ratio(twice, twice + self.false_positive + self.false_negative)
    }
}

impl FromIterator<(bool, bool, f64)> for Confusion {
    /// Adds up `(is positive, is called positive, weight)`.
    fn from_iter<I: IntoIterator<Item = (bool, bool, f64)>>(rows: I) -> Self {
        let mut sums = [[Sum::default(); 2]; 2];
        for (positive, called, weight) in rows {
            sums[usize::from(positive)][usize::from(called)].add(weight);
        }
        Self {
            true_positive: sums[1][1].value(),
            false_positive: sums[0][1].value(),
            true_negative: sums[0][0].value(),
            false_negative: sums[1][0].value(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_nothing_are_undefined() {
        let none = Confusion::default();
        let shares = [none.accuracy(), none.precision(), none.recall(), none.f1()];
        assert_eq!(shares, [None; 4]);
        let negatives: Confusion = [(false, false, 2.0)].into_iter().collect();
        assert_eq!((negatives.accuracy(), negatives.recall()), (Some(1.0), None));
    }
}

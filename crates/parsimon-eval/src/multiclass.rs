//! More than two classes: accuracy, confusion, precision and recall per class, and a log loss.
//!
//! Models that were trained together by softmax have the probabilities `p_k = e^(m_k) / sum_j e^(m_j)` for their margins `m_k`.
//! One-against-all models are trained apart and their margins `m_k` promise nothing about each other. The
//! decision is the largest margin (the first, when equal). For the log loss the K probabilities
//! `s_k = 1 / (1 + e^(-m_k))` are divided by their sum, `p_k = s_k / sum_j s_j`, as scikit-learn and
//! Vowpal Wabbit do. A softmax would read the margins as if they had been trained together: of (6, 3) it
//! says 0.95, although both models said yes; we say 0.51.
//!
//! Margins of other losses than the logistic have no probabilities and no log loss.

use parsimon_core::Loss;
use serde::{Deserialize, Serialize};

use crate::binary::SMALLEST_PROBABILITY;
use crate::progressive::Progressive;
use crate::sum::{Sum, ratio};

/// Collects rows scored by one model per class.
///
/// ```
/// use parsimon_core::Loss;
/// use parsimon_eval::Multiclass;
///
/// let mut multiclass = Multiclass::new(Loss::Logistic, ["cat", "dog", "eel"]);
/// multiclass.record(&[2.0, -1.0, -3.0], 0, 1.0);
/// multiclass.record(&[0.5, 0.1, -2.0], 1, 1.0); // a dog, taken for a cat
/// let metrics = multiclass.finish();
/// assert_eq!(metrics.accuracy, Some(0.5));
/// assert_eq!(metrics.confusion[1], [1.0, 0.0, 0.0]);
/// assert_eq!(metrics.classes[0].precision, Some(0.5));
/// ```
#[derive(Clone, Debug)]
pub struct Multiclass {
    loss: Loss,
    names: Vec<String>,
    progressive: Progressive,
    log_loss: Progressive,
    confusion: Vec<Sum>,
    unknown: Sum,
}

/// The metrics of a multiclass task. Undefined metrics (the recall of a class without rows) are absent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MulticlassMetrics {
    /// Number of rows.
    pub rows: u64,
    /// Their importance.
    pub weight: f64,
    /// The mean over rows of the loss that was trained: softmax, or the sum over classes of the loss of each.
    pub mean_loss: Option<f64>,
    /// The share of rows whose class has the largest margin.
    pub accuracy: Option<f64>,
    /// The unweighted mean of the classes' F1, over the classes that have one.
    pub macro_f1: Option<f64>,
    /// The mean of `-ln p(class)`: with the probabilities of softmax, or for the logistic loss with `p_k = s_k / sum_j s_j`,
    /// `s_k = 1 / (1 + e^(-m_k))`; only for these two losses.
    pub log_loss: Option<f64>,
    /// The weight of rows of a class that the model has never seen. They count as errors.
    pub unknown: f64,
    /// Each class, in the order of the models.
    pub classes: Vec<ClassMetrics>,
    /// Weights, by true class (row) and predicted class (column).
    pub confusion: Vec<Vec<f64>>,
}

/// One class against the others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClassMetrics {
    /// Its name.
    pub name: String,
    /// The weight of its rows.
    pub weight: f64,
    /// Precision: the share of correct rows among those predicted as this class.
    pub precision: Option<f64>,
    /// Recall: the share of this class's rows that are predicted as this class.
    pub recall: Option<f64>,
    /// The harmonic mean of the two.
    pub f1: Option<f64>,
}

impl Multiclass {
    /// For margins of one model per class, trained together by softmax, or with another loss on labels 1 (this class) and
    /// [`other_label`](Loss::other_label) (another).
    pub fn new<N: Into<String>>(loss: Loss, names: impl IntoIterator<Item = N>) -> Self {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        Self {
            loss,
            progressive: Progressive::new(),
            log_loss: Progressive::new(),
            confusion: vec![Sum::default(); names.len() * names.len()],
            unknown: Sum::default(),
            names,
        }
    }

    /// Counts one row: the margins of all classes and the index of the true one.
    ///
    /// A test set may contain a class that training never saw; its index is any number past the last. No model
    /// predicts it, so its log loss is that of a probability of zero.
    ///
    /// # Panics
    ///
    /// If there is not one margin per class.
    pub fn record(&mut self, margins: &[f64], class: usize, weight: f64) {
        assert_eq!(margins.len(), self.names.len(), "one margin per class");
        let loss = self.loss.value_of_classes(margins, class);
        self.progressive.record(loss, weight);
        let is_softmax = self.loss == Loss::Softmax;
        self.log_loss.record(if is_softmax { loss } else { log_loss(margins, class) }, weight);
        match largest(margins) {
            Some(predicted) if class < self.names.len() => {
                self.confusion[class * self.names.len() + predicted].add(weight);
            }
            _ => self.unknown.add(weight),
        }
    }

    /// The metrics of all rows.
    pub fn finish(&self) -> MulticlassMetrics {
        let len = self.names.len();
        let weight = self.progressive.weight();
        let at = |class: usize, predicted: usize| self.confusion[class * len + predicted].value();
        let right = (0..len).map(|k| at(k, k)).collect::<Sum>().value();
        let classes: Vec<ClassMetrics> = (0..len)
            .map(|k| {
                let own = (0..len).map(|j| at(k, j)).collect::<Sum>().value();
                let called = (0..len).map(|j| at(j, k)).collect::<Sum>().value();
                ClassMetrics {
                    name: self.names[k].clone(),
                    weight: own,
                    precision: ratio(at(k, k), called),
                    recall: ratio(at(k, k), own),
                    f1: ratio(2.0 * at(k, k), own + called),
                }
            })
            .collect();
        let f1: Vec<f64> = classes.iter().filter_map(|c| c.f1).collect();
        MulticlassMetrics {
            rows: self.progressive.rows(),
            weight,
            mean_loss: self.progressive.average(),
            accuracy: ratio(right, weight),
            macro_f1: ratio(f1.iter().copied().collect::<Sum>().value(), f1.len() as f64),
            log_loss: self.log_loss.average().filter(|_| self.loss.has_probabilities()),
            unknown: self.unknown.value(),
            classes,
            confusion: (0..len).map(|k| (0..len).map(|j| at(k, j)).collect()).collect(),
        }
    }
}

/// The first largest margin; none if there is none or one is not a number.
fn largest(margins: &[f64]) -> Option<usize> {
    let mut best: Option<usize> = None;
    for (k, m) in margins.iter().enumerate() {
        if m.is_nan() {
            return None;
        }
        if best.is_none_or(|b| *m > margins[b]) {
            best = Some(k);
        }
    }
    best
}

/// `-ln(s_class / sum s)`.
fn log_loss(margins: &[f64], class: usize) -> f64 {
    let dearest = -SMALLEST_PROBABILITY.ln();
    let Some(&own) = margins.get(class) else {
        return dearest;
    };
    // NUMERICS: all s_k may underflow; their logarithms do not. ln s = -ln(1 + e^-m), and the sum is
    // taken relative to the largest.
    let ln_s = |m: f64| -Loss::Logistic.value(m, 1.0);
    let top = margins.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: Sum = margins.iter().map(|&m| (ln_s(m) - ln_s(top)).exp()).collect();
    ln_s(top) + sum.value().ln() - ln_s(own)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: Option<f64>, b: f64) {
        assert!((a.unwrap() - b).abs() < 1e-14, "{a:?} {b}");
    }

    #[test]
    fn by_hand() {
        let mut multiclass = Multiclass::new(Loss::Logistic, ["a", "b", "c"]);
        let margin = |p: f64| (p / (1.0 - p)).ln();
        multiclass.record(&[margin(0.8), margin(0.6), margin(0.6)], 0, 1.0); // p = 0.4
        multiclass.record(&[margin(0.5), margin(0.9), margin(0.6)], 2, 2.0); // p = 0.3
        multiclass.record(&[margin(0.1), margin(0.2), margin(0.1)], 1, 1.0); // p = 0.5
        let m = multiclass.finish();
        assert_eq!((m.rows, m.weight, m.accuracy), (3, 4.0, Some(0.5)));
        close(m.log_loss, -(0.4f64.ln() + 2.0 * 0.3f64.ln() + 0.5f64.ln()) / 4.0);
        assert_eq!(m.confusion, [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 2.0, 0.0]]);
        close(m.classes[1].precision, 1.0 / 3.0);
        assert_eq!((m.classes[1].recall, m.classes[1].f1), (Some(1.0), Some(0.5)));
        assert_eq!((m.classes[2].precision, m.classes[2].recall), (None, Some(0.0)));
        assert_eq!(m.macro_f1, Some(0.5)); // of 1, 0.5 and 0
    }

    #[test]
    fn softmax_by_hand() {
        let mut multiclass = Multiclass::new(Loss::Softmax, ["a", "b", "c"]);
        let margins = [0.0, 2f64.ln(), 5f64.ln()];
        multiclass.record(&margins, 2, 1.0); // p = 5/8
        multiclass.record(&margins, 0, 3.0); // p = 1/8
        let m = multiclass.finish();
        close(m.log_loss, (1.6f64.ln() + 3.0 * 8f64.ln()) / 4.0);
        assert_eq!((m.mean_loss, m.accuracy), (m.log_loss, Some(0.25)));
        multiclass.record(&margins, 3, 4.0);
        close(multiclass.finish().log_loss, (m.log_loss.unwrap() - f64::EPSILON.ln()) / 2.0);
    }

    #[test]
    fn the_example_of_the_module_page() {
        let p = |margins: &[f64]| (-log_loss(margins, 0)).exp();
        assert!((p(&[6.0, 3.0]) - 0.51).abs() < 0.005);
        assert!((p(&[0.3, 0.3, 0.3]) - 1.0 / 3.0).abs() < 1e-15);
    }

    #[test]
    fn margins_far_below_keep_their_order() {
        // s_k = e^m_k there, so the ratio is e^1000 : e^0.
        assert!((log_loss(&[-3000.0, -2000.0], 0) - 1000.0).abs() < 1e-9);
        assert_eq!(log_loss(&[-2000.0, -3000.0], 0), 0.0);
    }

    #[test]
    fn a_class_never_seen_is_an_error() {
        let mut multiclass = Multiclass::new(Loss::Logistic, ["a", "b"]);
        multiclass.record(&[1.0, -1.0], 0, 3.0);
        multiclass.record(&[1.0, -1.0], 7, 1.0);
        let m = multiclass.finish();
        assert_eq!((m.accuracy, m.unknown), (Some(0.75), 1.0));
        assert!(m.log_loss.unwrap() > 9.0);
    }

    #[test]
    fn numbers_are_told_zero_and_one() {
        let mut multiclass = Multiclass::new(Loss::Squared, ["a", "b"]);
        multiclass.record(&[1.0, 0.0], 0, 1.0);
        assert_eq!(multiclass.finish().mean_loss, Some(0.0));
    }

    #[test]
    fn hinge_margins_have_no_log_loss_and_equal_margins_go_to_the_first() {
        let mut multiclass = Multiclass::new(Loss::Hinge, ["a", "b"]);
        multiclass.record(&[0.0, 0.0], 0, 1.0);
        let m = multiclass.finish();
        assert_eq!((m.log_loss, m.accuracy, m.mean_loss), (None, Some(1.0), Some(2.0)));
    }
}

//! Two classes: ranking (AUC), decisions (accuracy, precision, recall) and probabilities (log loss, Brier
//! score, calibration), all with importance weights.
//!
//! | Metric | Formula | Asks |
//! | --- | --- | --- |
//! | AUC | P(score of a positive > score of a negative), ties count half | are positives ranked first? |
//! | accuracy | share of rows with `score > threshold` equal to the label | are decisions right? |
//! | log loss | mean of `-ln p(label)` | are probabilities informative? |
//! | Brier | mean of `(p - y)^2`, `y` in {0, 1} | the same, forgiving of confident errors |
//! | ECE | see [`calibration`](crate::calibration()) | are probabilities honest? |
//!
//! The scores are kept, 16 bytes per row, and sorted once: the AUC is exact. For streams that do not fit
//! in memory evaluate a sample; the error of a histogram could not be bounded.

use parsimon_core::Loss;
use serde::{Deserialize, Serialize};

use crate::calibration::{Bin, Bins, Outcome, calibration, expected_calibration_error};
use crate::confusion::Confusion;
use crate::measure::Measure;
use crate::progressive::Progressive;
use crate::ranking::{self, Scored};
use crate::sum::{Sum, ratio};

/// NUMERICS: a probability of exactly 0 or 1 that was wrong would cost infinity, and one such row would
/// erase the mean. As scikit-learn does, probabilities are taken to be this far from the ends at least;
/// a certain error costs 36.04. Margins are not clipped.
pub(crate) const SMALLEST_PROBABILITY: f64 = f64::EPSILON;

/// Collects scored rows of two classes.
///
/// ```
/// use parsimon_core::Loss;
/// use parsimon_eval::Binary;
///
/// let mut binary = Binary::new(Loss::Logistic);
/// for (margin, label) in [(2.0, 1.0), (0.5, -1.0), (-0.1, 1.0), (-3.0, -1.0)] {
///     binary.record(margin, label, 1.0);
/// }
/// let metrics = binary.finish();
/// assert_eq!(metrics.auc, Some(0.75)); // of four pairs, one is the wrong way around
/// assert_eq!(metrics.accuracy, Some(0.5));
/// ```
#[derive(Clone, Debug)]
pub struct Binary {
    scale: ScoreScale,
    bins: Bins,
    progressive: Progressive,
    scored: Vec<Scored>,
    threshold: Option<f64>,
}

/// Kind of the scores.
#[derive(Clone, Copy, Debug, PartialEq)]
enum ScoreScale {
    Probability,
    Margin(Loss),
}

/// The metrics of a binary task. What is undefined (the AUC of one class, the log loss of a hinge margin)
/// is absent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BinaryMetrics {
    /// Number of rows.
    pub rows: u64,
    /// Their importance.
    pub weight: f64,
    /// The mean of the loss that was trained.
    pub mean_loss: Option<f64>,
    /// Whether that loss is half the squared error, so that people read the mean squared error instead.
    pub loss_is_half_mse: bool,
    /// The share of positives.
    pub base_rate: Option<f64>,
    /// The probability that a positive outranks a negative.
    pub auc: Option<f64>,
    /// The share of right decisions, at probability 0.5 or margin 0.
    pub accuracy: Option<f64>,
    /// Precision: the share of positive rows among those predicted positive.
    pub precision: Option<f64>,
    /// Recall: the share of positive rows that are predicted positive.
    pub recall: Option<f64>,
    /// The harmonic mean of precision and recall.
    pub f1: Option<f64>,
    /// The four weights behind the decisions.
    pub confusion: Confusion,
    /// The mean of `-ln p(label)`, in nats.
    pub log_loss: Option<f64>,
    /// The log loss of always predicting the base rate. A model above it has learned less than nothing.
    pub base_log_loss: Option<f64>,
    /// The mean of `(p - y)^2`.
    pub brier: Option<f64>,
    /// The expected calibration error over the bins below.
    pub calibration_error: Option<f64>,
    /// Predicted against observed.
    pub calibration: Vec<Bin>,
    /// Calibration in ten bins of equal width in the log odds, for rare events.
    pub reliability: Vec<Bin>,
    /// The sum of the predicted probabilities over the number of positives: above 1 where the model predicts too much.
    pub calibration_ratio: Option<f64>,
    /// Decisions at another threshold, if one was set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_threshold: Option<Box<AtThreshold>>,
}

/// Decisions at a threshold: rows are called positive above it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AtThreshold {
    /// The probability; the margin where there are no probabilities.
    pub threshold: f64,
    /// The share of right decisions.
    pub accuracy: Option<f64>,
    /// Precision: the share of positive rows among those predicted positive.
    pub precision: Option<f64>,
    /// Recall: the share of positive rows that are predicted positive.
    pub recall: Option<f64>,
    /// The harmonic mean of precision and recall.
    pub f1: Option<f64>,
    /// The four weights behind them.
    pub confusion: Confusion,
}

impl AtThreshold {
    fn new(threshold: f64, confusion: Confusion) -> Self {
        Self {
            threshold,
            accuracy: confusion.accuracy(),
            precision: confusion.precision(),
            recall: confusion.recall(),
            f1: confusion.f1(),
            confusion,
        }
    }
}

impl Binary {
    /// For margins `w.x` of a model trained with `loss`. Only the logistic loss makes probabilities.
    pub fn new(loss: Loss) -> Self {
        Self::with_scale(ScoreScale::Margin(loss))
    }

    /// For predicted probabilities, from wherever; the loss is the log loss.
    pub fn from_probabilities() -> Self {
        Self::with_scale(ScoreScale::Probability)
    }

    fn with_scale(scale: ScoreScale) -> Self {
        let progressive = Progressive::new();
        Self { scale, bins: Bins::default(), progressive, scored: Vec::new(), threshold: None }
    }

    /// Judges decisions at this threshold as well: a probability, or a margin where there are no probabilities.
    #[must_use]
    pub fn threshold(mut self, threshold: f64) -> Self {
        self.threshold = Some(threshold);
        self
    }

    /// Cuts the calibration table otherwise than into ten bins of equal mass.
    #[must_use]
    pub fn bins(mut self, bins: Bins) -> Self {
        self.bins = bins;
        self
    }

    /// Counts one row. A label above zero is positive, so both {-1, 1} and {0, 1} are understood.
    pub fn record(&mut self, score: f64, label: f64, weight: f64) {
        let positive = label > 0.0;
        let sign = if positive { 1.0 } else { -1.0 };
        let loss = match self.scale {
            ScoreScale::Margin(loss) => loss.value(score, sign),
            ScoreScale::Probability => log_loss(score, positive),
        };
        self.progressive.record(loss, weight);
        self.scored.push(Scored::new(score, positive, weight));
    }

    /// The metrics of all rows. They do not depend on the order of the rows, except that sums of losses
    /// may differ in the last place.
    pub fn finish(mut self) -> BinaryMetrics {
        ranking::sort(&mut self.scored);
        let outcomes = self.outcomes();
        let weight = self.progressive.weight();
        let mean_loss = self.progressive.average();
        let confusion = self.confusion(self.middle());
        let base_rate = ratio(confusion.positives(), weight);
        let brier: Sum = outcomes
            .iter()
            .map(|o| o.weight * (o.probability - f64::from(u8::from(o.positive))).powi(2))
            .collect();
        let bins = calibration(&outcomes, self.bins);
        let predicted: Sum = outcomes.iter().map(|o| o.weight * o.probability).collect();
        let at_threshold = self.threshold.map(|threshold| {
            let confusion = self.confusion(self.score_of(threshold));
            Box::new(AtThreshold::new(threshold, confusion))
        });
        BinaryMetrics {
            rows: self.progressive.rows(),
            weight,
            mean_loss,
            loss_is_half_mse: match self.scale {
                ScoreScale::Margin(loss) => Measure::of(loss).is_mse(),
                ScoreScale::Probability => false,
            },
            base_rate,
            auc: ranking::auc(&self.scored),
            accuracy: confusion.accuracy(),
            precision: confusion.precision(),
            recall: confusion.recall(),
            f1: confusion.f1(),
            reliability: calibration(&outcomes, Bins::EqualLogOdds(10)),
            calibration_ratio: ratio(predicted.value(), confusion.positives())
                .filter(|_| !outcomes.is_empty()),
            at_threshold,
            confusion,
            log_loss: mean_loss.filter(|_| self.is_probabilistic()),
            base_log_loss: base_rate.map(entropy),
            brier: ratio(brier.value(), weight).filter(|_| !outcomes.is_empty()),
            calibration_error: expected_calibration_error(&bins),
            calibration: bins,
        }
    }

    fn is_probabilistic(&self) -> bool {
        matches!(self.scale, ScoreScale::Probability | ScoreScale::Margin(Loss::Logistic))
    }

    /// The sorted rows with their probabilities: none when the scores have none, or are not numbers.
    fn outcomes(&self) -> Vec<Outcome> {
        if !self.is_probabilistic() || self.scored.iter().any(|row| row.score.is_nan()) {
            return Vec::new();
        }
        self.scored
            .iter()
            .map(|row| Outcome {
                probability: match self.scale {
                    ScoreScale::Margin(loss) => loss.predict(row.score),
                    ScoreScale::Probability => row.score,
                },
                positive: row.positive(),
                weight: row.weight(),
            })
            .collect()
    }

    /// The score of an even chance.
    fn middle(&self) -> f64 {
        if self.scale == ScoreScale::Probability { 0.5 } else { 0.0 }
    }

    /// The score at a threshold, which is a probability where scores have one.
    fn score_of(&self, threshold: f64) -> f64 {
        match self.scale {
            ScoreScale::Margin(Loss::Logistic) => (threshold / (1.0 - threshold)).ln(),
            _ => threshold,
        }
    }

    fn confusion(&self, threshold: f64) -> Confusion {
        self.scored
            .iter()
            .map(|row| (row.positive(), row.score > threshold, row.weight()))
            .collect()
    }
}

/// `-ln` of the probability given to what happened.
fn log_loss(probability: f64, positive: bool) -> f64 {
    let p = if positive { probability } else { 1.0 - probability };
    -p.max(SMALLEST_PROBABILITY).ln()
}

fn entropy(p: f64) -> f64 {
    let term = |p: f64| if p > 0.0 { -p * p.ln() } else { 0.0 };
    term(p) + term(1.0 - p)
}

#[cfg(test)]
mod tests {
    use super::*;
    use parsimon_testing::SplitMix64;

    type Rows = Vec<(f64, f64, f64)>;

    fn metrics(mut binary: Binary, rows: &[(f64, f64, f64)]) -> BinaryMetrics {
        for &(score, label, weight) in rows {
            binary.record(score, label, weight);
        }
        binary.finish()
    }

    fn random_rows(seed: u64) -> Rows {
        let mut random = SplitMix64::new(seed);
        let len = 2 + random.below(60);
        let levels = 1 + random.below(40);
        (0..len)
            .map(|_| {
                let score = random.below(levels) as f64 - levels as f64 / 2.0;
                let label = if random.unit() < 0.4 { 1.0 } else { -1.0 };
                (score, label, random.below(4) as f64 * 0.75)
            })
            .collect()
    }

    #[test]
    fn the_order_of_rows_changes_no_bit_of_the_auc() {
        let rows = random_rows(11);
        let mut reversed = rows.clone();
        reversed.reverse();
        let [a, b] = [rows, reversed].map(|rows| metrics(Binary::new(Loss::Logistic), &rows));
        assert_eq!((a.auc, a.calibration, a.confusion), (b.auc, b.calibration, b.confusion));
    }

    #[test]
    fn by_hand() {
        let rows = [(0.8, 1.0, 1.0), (0.4, 1.0, 1.0), (0.6, 0.0, 2.0), (0.1, 0.0, 1.0)];
        let m = metrics(Binary::from_probabilities().bins(Bins::EqualWidth(2)), &rows);
        let close = |a: Option<f64>, b: f64| assert!((a.unwrap() - b).abs() < 1e-14, "{a:?} {b}");
        assert_eq!((m.rows, m.weight, m.base_rate), (4, 5.0, Some(0.4)));
        assert_eq!(
            m.confusion,
            Confusion {
                true_positive: 1.0,
                false_positive: 2.0,
                true_negative: 1.0,
                false_negative: 1.0
            }
        );
        // Pairs: 0.8 beats weight 3, 0.4 beats weight 1, of 2 * 3.
        close(m.auc, 4.0 / 6.0);
        close(m.accuracy, 0.4);
        close(m.precision, 1.0 / 3.0);
        close(m.recall, 0.5);
        close(m.f1, 0.4);
        close(m.log_loss, -(0.8f64.ln() + 0.4f64.ln() + 2.0 * 0.4f64.ln() + 0.9f64.ln()) / 5.0);
        close(m.brier, (0.04 + 0.36 + 2.0 * 0.36 + 0.01) / 5.0);
        close(m.base_log_loss, -(0.4 * 0.4f64.ln() + 0.6 * 0.6f64.ln()));
        // Bins: {0.4, 0.1} mean 0.25 rate 1/2; {0.8, 0.6 twice} mean 2/3 rate 1/3.
        close(m.calibration_error, (2.0 * 0.25 + 3.0 / 3.0) / 5.0);
    }

    #[test]
    fn decisions_at_a_threshold() {
        let rows = [(0.8, 1.0, 1.0), (0.4, 1.0, 1.0), (0.6, 0.0, 2.0), (0.1, 0.0, 1.0)];
        let m = metrics(Binary::from_probabilities().threshold(0.3), &rows);
        let at = m.at_threshold.unwrap();
        assert_eq!((at.recall, at.precision, at.accuracy), (Some(1.0), Some(0.5), Some(0.6)));
        assert_eq!((at.confusion.false_positive, m.recall), (2.0, Some(0.5)));
        // The predictions add up to 2.5, of two positives.
        assert!((m.calibration_ratio.unwrap() - 1.25).abs() < 1e-15);
        // Margins have the same decisions at the same probability.
        let margins = rows.map(|(p, y, w): (f64, f64, f64)| ((p / (1.0 - p)).ln(), y, w));
        let same = metrics(Binary::new(Loss::Logistic).threshold(0.3), &margins).at_threshold;
        assert_eq!(same.unwrap().confusion, at.confusion);
    }

    #[test]
    fn a_weight_of_two_is_the_row_twice() {
        let rows = random_rows(5);
        let doubled: Rows = rows.iter().map(|&(s, y, w)| (s, y, 2.0 * w)).collect();
        let twice: Rows = rows.iter().chain(&rows).copied().collect();
        let [a, b] = [doubled, twice].map(|rows| metrics(Binary::new(Loss::Logistic), &rows));
        let pairs = [(a.auc, b.auc), (a.log_loss, b.log_loss), (a.brier, b.brier), (a.f1, b.f1)];
        for (a, b) in pairs {
            assert!((a.unwrap() - b.unwrap()).abs() < 1e-14);
        }
    }

    #[test]
    fn what_is_undefined_is_absent() {
        let m = metrics(Binary::new(Loss::Hinge), &[(1.0, 1.0, 1.0), (-2.0, -1.0, 0.0)]);
        assert_eq!((m.auc, m.log_loss, m.brier, m.calibration_error), (None, None, None, None));
        assert_eq!((m.mean_loss, m.accuracy), (Some(0.0), Some(1.0)));
        let m = metrics(Binary::new(Loss::Logistic), &[]);
        assert_eq!((m.auc, m.accuracy, m.log_loss), (None, None, None));
        let m = metrics(Binary::new(Loss::Logistic), &[(f64::NAN, 1.0, 1.0), (0.0, -1.0, 1.0)]);
        assert_eq!((m.auc, m.log_loss, m.brier), (None, None, None));
        assert!(m.calibration.is_empty());
    }

    #[test]
    fn certainty_that_errs_is_dear_but_not_infinite() {
        let m = metrics(Binary::from_probabilities(), &[(0.0, 1.0, 1.0), (1.0, 1.0, 1.0)]);
        assert!((m.log_loss.unwrap() - 18.02).abs() < 0.01);
    }
}

//! The losses of Vowpal Wabbit, whose squared loss is the whole square.

use super::{Loss, LossWord};

/// A loss with its parameters.
#[derive(Clone, Copy, Debug)]
pub(super) struct VwLoss {
    pub(super) word: LossWord,
    pub(super) tau: f64,
    pub(super) q: f64,
    /// The label that counts as probability 0 and the label that counts as probability 1 of the logistic loss.
    pub(super) ends: (f64, f64),
}

/// The range of predictions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Range {
    pub(super) low: f32,
    pub(super) high: f32,
}

impl VwLoss {
    /// Share of the label 1 in a label of the logistic loss.
    fn share(&self, y: f64) -> f64 {
        (y - self.ends.0) / (self.ends.1 - self.ends.0)
    }

    /// The factor of the squared loss by the side of the miss.
    fn side(&self, p: f64, y: f64) -> f64 {
        match self.word {
            LossWord::Expectile if y < p => self.q,
            LossWord::Expectile => 1.0 - self.q,
            _ => 1.0,
        }
    }

    pub(super) fn value(&self, p: f64, y: f64, range: Range) -> f64 {
        let (low, high) = (f64::from(range.low), f64::from(range.high));
        match self.word {
            LossWord::Classic => (p - y) * (p - y),
            LossWord::Squared | LossWord::Expectile => {
                let value = if (low..=high).contains(&p) {
                    (p - y) * (p - y)
                } else if p < low {
                    // A line beyond the range of the labels.
                    (y - low) * (y - low) + 2.0 * (y - low) * (low - p)
                } else {
                    (high - y) * (high - y) + 2.0 * (high - y) * (p - high)
                };
                value * self.side(p, y)
            }
            LossWord::Hinge => (1.0 - y * p).max(0.0),
            LossWord::Logistic => {
                let share = self.share(y);
                share * Loss::Logistic.value(p, 1.0) + (1.0 - share) * Loss::Logistic.value(p, -1.0)
            }
            LossWord::Quantile => Loss::Quantile { tau: self.tau }.value(p, y),
            LossWord::Poisson => 2.0 * (y * ((y + 1e-6).ln() - p) - (y - p.exp())),
        }
    }

    pub(super) fn slope(&self, p: f64, y: f64) -> f64 {
        match self.word {
            LossWord::Classic => 2.0 * (p - y),
            LossWord::Squared | LossWord::Expectile => 2.0 * (p - y) * self.side(p, y),
            LossWord::Hinge => {
                if y * p >= 1.0 {
                    0.0
                } else {
                    -y
                }
            }
            LossWord::Logistic => {
                let share = self.share(y);
                share * Loss::Logistic.slope(p, 1.0) + (1.0 - share) * Loss::Logistic.slope(p, -1.0)
            }
            LossWord::Quantile => Loss::Quantile { tau: self.tau }.slope(p, y),
            LossWord::Poisson => Loss::Poisson.slope(p, y),
        }
    }

    /// See [`Loss::flow`].
    pub(super) fn flow(&self, p: f64, y: f64, h: f64, s: f64) -> f64 {
        match self.word {
            LossWord::Classic => -h * self.slope(p, y),
            LossWord::Squared | LossWord::Expectile => {
                Loss::Squared.flow(p, y, 2.0 * h * self.side(p, y), s)
            }
            LossWord::Hinge => {
                if y * p >= 1.0 {
                    0.0
                } else {
                    y * h.min((1.0 - y * p) / s)
                }
            }
            LossWord::Logistic => {
                let share = self.share(y);
                share * Loss::Logistic.flow(p, 1.0, h, s)
                    + (1.0 - share) * Loss::Logistic.flow(p, -1.0, h, s)
            }
            LossWord::Quantile => Loss::Quantile { tau: self.tau }.flow(p, y, h, s),
            LossWord::Poisson => Loss::Poisson.flow(p, y, h, s),
        }
    }
}

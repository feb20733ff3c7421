//! Labels on a common scale: mean 0 and deviation 1 among the labels learned.

use crate::loss::Loss;

/// The learned labels with their importance; whether they are standardized at all depends on the loss.
pub(crate) struct Target {
    is_standardized: bool,
    labels: Vec<(f64, f64)>,
}

/// `y = mean + deviation * p` for a prediction `p` of the problem inside.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Units {
    pub(crate) mean: f64,
    pub(crate) deviation: f64,
}

impl Target {
    pub(crate) fn new(is_standardized: bool) -> Self {
        Target { is_standardized, labels: Vec::new() }
    }

    /// Standardized where labels are numbers on a line.
    pub(crate) fn of_loss(loss: &Loss) -> Self {
        Target::new(matches!(loss, Loss::Squared | Loss::Huber { .. } | Loss::Quantile { .. }))
    }

    /// Counts a label that is about to be learned.
    pub(crate) fn count(&mut self, y: f64, h: f64) {
        self.labels.push((y, h));
    }

    /// A prediction in the units of the labels counted so far, clipped to their range.
    pub(crate) fn prediction(&self, p: f64) -> f64 {
        let prediction = self.units().outside(p);
        if !self.is_standardized || self.labels.is_empty() {
            return prediction;
        }
        let low = self.labels.iter().fold(f64::INFINITY, |low, (y, _)| low.min(*y));
        let high = self.labels.iter().fold(f64::NEG_INFINITY, |high, (y, _)| high.max(*y));
        prediction.clamp(low, high)
    }

    /// Weighted mean and population deviation of the labels counted so far; 0 and 1 before the first. The deviation is 1
    /// while all labels are equal.
    pub(crate) fn units(&self) -> Units {
        let Some(&(first, _)) = self.labels.first() else {
            return Units { mean: 0.0, deviation: 1.0 };
        };
        if !self.is_standardized {
            return Units { mean: 0.0, deviation: 1.0 };
        }
        if self.labels.iter().all(|(y, _)| *y == first) {
            return Units { mean: first, deviation: 1.0 };
        }
        let total: f64 = self.labels.iter().map(|(_, h)| h).sum();
        // NUMERICS: around the first label, or a large offset of all labels costs digits.
        let mean = first + self.labels.iter().map(|(y, h)| h * (y - first)).sum::<f64>() / total;
        let squares: f64 = self.labels.iter().map(|(y, h)| h * (y - mean).powi(2)).sum();
        Units { mean, deviation: (squares / total).sqrt() }
    }
}

impl Units {
    pub(crate) fn inside(&self, y: f64) -> f64 {
        (y - self.mean) / self.deviation
    }

    pub(crate) fn outside(&self, p: f64) -> f64 {
        self.mean + self.deviation * p
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        let mut target = Target::of_loss(&Loss::Squared);
        assert_eq!(target.units(), Units { mean: 0.0, deviation: 1.0 });
        target.count(5.0, 0.3);
        target.count(5.0, 0.7);
        assert_eq!(target.units(), Units { mean: 5.0, deviation: 1.0 });
        target.count(9.0, 3.0);
        assert_eq!(target.units().mean, 8.0);
        assert_eq!(target.units().deviation, 3.0_f64.sqrt());
        assert_eq!(target.units().outside(target.units().inside(11.0)), 11.0);
        assert_eq!(target.prediction(target.units().inside(11.0)), 9.0);
        let mut classes = Target::of_loss(&Loss::Logistic);
        classes.count(1.0, 1.0);
        assert_eq!(classes.units(), Units { mean: 0.0, deviation: 1.0 });
    }
}

//! What the best constant prediction would have cost: the least that learning must beat.

use parsimon_core::Loss;

/// Sums over the labels of learned rows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct ConstantLoss {
    rows: u64,
    weight: f64,
    mean: f64,
    squares: f64,
}

impl ConstantLoss {
    pub(super) fn push(&mut self, y: f64, weight: f64) {
        self.rows += 1;
        if weight > 0.0 {
            // Welford's update: labels such as years have a mean far above their deviation.
            self.weight += weight;
            let before = y - self.mean;
            self.mean += weight / self.weight * before;
            self.squares += weight * before * (y - self.mean);
        }
    }

    pub(super) fn rows(&self) -> u64 {
        self.rows
    }

    /// The average loss of the best constant in hindsight, for the losses where it has a closed form.
    pub(super) fn average(&self, loss: Loss) -> Option<f64> {
        let information = |p: f64| if p > 0.0 { -p * p.ln() } else { 0.0 };
        match loss {
            _ if self.weight <= 0.0 => None,
            Loss::Logistic => {
                let p = f64::midpoint(1.0, self.mean).clamp(0.0, 1.0);
                Some(information(p) + information(1.0 - p))
            }
            Loss::Squared => Some(0.5 * self.squares / self.weight),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entropy_and_half_the_variance() {
        let mut classes = ConstantLoss::default();
        [1.0, -1.0, -1.0, -1.0].iter().for_each(|y| classes.push(*y, 1.0));
        let expected = -(0.25f64 * 0.25f64.ln() + 0.75 * 0.75f64.ln());
        assert!((classes.average(Loss::Logistic).unwrap() - expected).abs() < 1e-15);
        let mut numbers = ConstantLoss::default();
        [(2.0, 1.0), (4.0, 3.0)].iter().for_each(|(y, weight)| numbers.push(*y, *weight));
        // The mean is 3.5, the variance (1 * 2.25 + 3 * 0.25) / 4.
        assert!((numbers.average(Loss::Squared).unwrap() - 0.375).abs() < 1e-15);
        assert_eq!(numbers.average(Loss::Hinge), None);
        assert_eq!(ConstantLoss::default().average(Loss::Squared), None);
    }
}

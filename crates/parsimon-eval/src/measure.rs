//! How the mean of a loss is reported.

use parsimon_core::Loss;

/// The name and the unit in which people read the mean of a loss.
///
/// The mathematics has the squared loss as `(p - y)^2 / 2`, and so have the averages of learners and the fields `mean_loss` and
/// `progressive_loss` of files. People know the mean squared error, which is twice that.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measure {
    /// What it is called.
    pub name: &'static str,
    /// What the mean loss is multiplied by.
    pub factor: f64,
}

impl Measure {
    /// The measure of a loss.
    ///
    /// ```
    /// use parsimon_core::Loss;
    /// use parsimon_eval::Measure;
    ///
    /// assert_eq!(Measure::of(Loss::Squared), Measure { name: "MSE", factor: 2.0 });
    /// assert_eq!(Measure::of(Loss::Logistic), Measure { name: "mean loss", factor: 1.0 });
    /// ```
    pub fn of(loss: Loss) -> Self {
        match loss {
            Loss::Squared | Loss::Adaline => Self { name: "MSE", factor: 2.0 },
            _ => Self { name: "mean loss", factor: 1.0 },
        }
    }

    /// Whether the loss is half a squared error.
    pub fn is_mse(&self) -> bool {
        self.factor == 2.0
    }
}

impl Default for Measure {
    fn default() -> Self {
        Self { name: "mean loss", factor: 1.0 }
    }
}

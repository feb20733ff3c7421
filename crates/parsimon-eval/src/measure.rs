//! Name and unit in which the mean of a loss is reported.

use parsimon_core::Loss;

/// The name and the unit in which people read the mean of a loss.
///
/// The mathematics has the squared loss as `(p - y)^2 / 2`, and so have the averages of learners and the fields `mean_loss` and
/// `progressive_loss` of files. People know the mean squared error, which is twice that.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measure {
    /// Name.
    pub name: &'static str,
    /// Factor on the mean loss.
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
        match loss.is_half_mse() {
            true => Self { name: "MSE", factor: 2.0 },
            false => Self::default(),
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

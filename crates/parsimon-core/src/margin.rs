//! Steps that follow from the margin of a row and its variance: passive-aggressive learning, AROW and soft confidence-weighted
//! learning.
//!
//! With `m = y w.x` and `v = sum_j sigma_j x_j^2`, where `sigma_j` is the variance of a weight, all of them are
//!
//! ```text
//! w_j += alpha y sigma_j x_j,      1/sigma_j += c x_j^2
//! ```
//!
//! and differ in `alpha` and `c`. Passive-aggressive learning has no variances: `sigma = 1`, `c = 0`. The other two keep a Gaussian over
//! the weights and change it as little as a row allows; here its covariance is diagonal, so a row adds its share to the inverse of each
//! variance (the diagonal of `Sigma^-1 + c x x^T`) and costs `O(nnz)`.

/// Cost of a row that misses its margin.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Slack {
    /// The row must reach its margin with a step of any size.
    #[default]
    None,
    /// A linear cost with this factor, which bounds the step: PA-I, SCW-I.
    Linear(f64),
    /// A quadratic cost with this factor, which shortens the step: PA-II, SCW-II.
    Squared(f64),
}

/// A method, with its settings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MarginMethod {
    /// Passive-aggressive (Crammer et al. 2006): the nearest weights with a margin of 1.
    PassiveAggressive(Slack),
    /// AROW (Crammer, Kulesza and Dredze 2009), with the variance `r` of a row.
    Arow {
        /// `r`
        r: f64,
    },
    /// Soft confidence-weighted (Wang, Zhao and Hoi 2012): a margin of `phi` standard deviations. Without slack it is
    /// confidence-weighted learning (Crammer, Dredze and Pereira 2008).
    Confidence {
        /// The normal quantile of the confidence.
        phi: f64,
        /// Cost of a miss.
        slack: Slack,
    },
}

/// Step for a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MarginStep {
    /// `alpha`
    pub length: f64,
    /// `c`
    pub information: f64,
}

impl Default for MarginMethod {
    fn default() -> Self {
        Self::PassiveAggressive(Slack::None)
    }
}

impl MarginMethod {
    /// Returns the step for a row with margin `m`, variance `v` and an importance; `None` if the row changes nothing.
    ///
    /// ```
    /// use parsimon_core::margin::{MarginMethod, Slack};
    ///
    /// // A row with x.x = 4 at margin 0.2 needs a step of (1 - 0.2) / 4.
    /// let hard = MarginMethod::PassiveAggressive(Slack::None);
    /// assert_eq!(hard.step(0.2, 4.0, 1.0).unwrap().length, 0.2);
    /// assert!(hard.step(1.0, 4.0, 1.0).is_none());
    /// ```
    pub fn step(self, m: f64, v: f64, importance: f64) -> Option<MarginStep> {
        if v <= 0.0 {
            return None;
        }
        let step = match self {
            Self::PassiveAggressive(slack) => {
                let missing = 1.0 - m;
                let length = match slack {
                    Slack::None => missing / v,
                    Slack::Linear(cost) => at_most(missing / v, cost * importance),
                    Slack::Squared(cost) => missing / (v + 0.5 / (cost * importance)),
                };
                MarginStep { length, information: 0.0 }
            }
            Self::Arow { r } => {
                let r = r / importance;
                MarginStep { length: (1.0 - m) / (v + r), information: 1.0 / r }
            }
            Self::Confidence { phi, slack } => {
                let length = match slack {
                    Slack::None => confident(m, v, phi),
                    Slack::Linear(cost) => at_most(confident(m, v, phi), cost * importance),
                    Slack::Squared(cost) => softly_confident(m, v, phi, 0.5 / (cost * importance)),
                };
                // alpha phi / sqrt(u) with u the variance of the margin after the step.
                let a = 0.5 * length * phi * v.sqrt();
                MarginStep { length, information: length * phi * (a + a.hypot(1.0)) / v.sqrt() }
            }
        };
        // NUMERICS: a row whose square overflows is skipped; learning it would make weights NaN.
        let is_usable =
            step.length > 0.0 && step.length.is_finite() && step.information.is_finite();
        is_usable.then_some(step)
    }
}

/// The smaller of the two; NaN if the length is NaN, where `f64::min` would return the bound.
fn at_most(length: f64, bound: f64) -> f64 {
    if length > bound { bound } else { length }
}

/// `alpha` of confidence-weighted learning: `(-m psi + sqrt(m^2 phi^4/4 + v phi^2 zeta)) / (v zeta)`, `psi = 1 + phi^2/2`,
/// `zeta = 1 + phi^2`.
///
/// NUMERICS: where `m > 0` the difference cancels, and its product with the sum, `zeta (v phi^2 - m^2)`, is divided by the sum.
fn confident(m: f64, v: f64, phi: f64) -> f64 {
    let square = phi * phi;
    let (psi, zeta) = (1.0 + 0.5 * square, 1.0 + square);
    let root = (0.5 * m * square).hypot(phi * (v * zeta).sqrt());
    if m > 0.0 {
        let reached = phi * v.sqrt();
        (reached - m) * (reached + m) / (v * (root + m * psi))
    } else {
        (root - m * psi) / (v * zeta)
    }
}

/// `alpha` of SCW-II: `(-(2 m n + phi^2 m v) + gamma) / (2 (n^2 + n v phi^2))` with `n = v + 1/(2C)` and
/// `gamma = phi sqrt(phi^2 m^2 v^2 + 4 n v (n + v phi^2))`; `half` is `1/(2C)`. See [`confident`] for the cancellation.
fn softly_confident(m: f64, v: f64, phi: f64, half: f64) -> f64 {
    let (n, square) = (v + half, phi * phi);
    let gamma = phi * (phi * m * v).hypot(2.0 * (n * v * (n + v * square)).sqrt());
    let pull = m * (2.0 * n + square * v);
    if m > 0.0 {
        let reached = phi * v.sqrt();
        2.0 * (reached - m) * (reached + m) / (gamma + pull)
    } else {
        (gamma - pull) / (2.0 * n * (n + v * square))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CASES: [(f64, f64); 6] =
        [(0.0, 1.0), (-3.0, 0.2), (0.5, 4.0), (0.01, 1e-4), (-1e3, 50.0), (1e-9, 1e-12)];

    /// After a step without slack the margin is `phi` standard deviations: `m + alpha v = phi sqrt(u)`, `u = v/(1 + c v)`.
    #[test]
    fn confidence_is_reached_exactly() {
        for (m, v) in CASES {
            for phi in [0.3, 1.0, 2.0] {
                let method = MarginMethod::Confidence { phi, slack: Slack::None };
                let Some(step) = method.step(m, v, 1.0) else {
                    assert!(m >= phi * v.sqrt(), "{m} {v} {phi}");
                    continue;
                };
                let reached = m + step.length * v;
                let deviation = (v / (1.0 + step.information * v)).sqrt();
                let scale = m.abs().max(reached.abs());
                assert!((reached - phi * deviation).abs() <= 1e-12 * scale, "{m} {v} {phi}");
            }
        }
    }

    /// The step of SCW-II minimizes its objective along the row: the gradient in `alpha` vanishes, as the paper's formula says.
    #[test]
    fn both_forms_of_a_step_agree() {
        for (m, v) in CASES {
            for (phi, half) in [(0.5, 0.5), (2.0, 5.0), (1.0, 0.01)] {
                // At the boundary both are zero, to rounding.
                let reached: f64 = phi * f64::sqrt(v);
                if (reached - m).abs() <= 1e-6 * reached {
                    continue;
                }
                let square: f64 = phi * phi;
                let n = v + half;
                let gamma = phi * (square * m * m * v * v + 4.0 * n * v * (n + v * square)).sqrt();
                let printed =
                    (gamma - (2.0 * m * n + square * m * v)) / (2.0 * (n * n + n * v * square));
                let ours = softly_confident(m, v, phi, half);
                assert!((ours - printed).abs() <= 1e-6 * printed.abs(), "{ours} {printed}");
                let (psi, zeta) = (1.0 + square / 2.0, 1.0 + square);
                let root = (m * m * square * square / 4.0 + v * square * zeta).sqrt();
                let printed = (root - m * psi) / (v * zeta);
                let ours = confident(m, v, phi);
                assert!((ours - printed).abs() <= 1e-6 * printed.abs(), "{ours} {printed}");
            }
        }
    }

    #[test]
    fn a_row_whose_square_overflows_changes_nothing() {
        let methods = [
            MarginMethod::PassiveAggressive(Slack::None),
            MarginMethod::PassiveAggressive(Slack::Linear(1.0)),
            MarginMethod::PassiveAggressive(Slack::Squared(1.0)),
            MarginMethod::Confidence { phi: 1.0, slack: Slack::Linear(1.0) },
            MarginMethod::Confidence { phi: 1.0, slack: Slack::Squared(1.0) },
        ];
        for method in methods {
            assert_eq!(method.step(0.0, f64::INFINITY, 1.0), None, "{method:?}");
            assert_eq!(method.step(0.0, 0.0, 1.0), None, "{method:?}");
            assert_eq!(method.step(f64::NAN, 1.0, 1.0), None, "{method:?}");
        }
    }

    /// Importance is a cost: a row that counts twice moves further, at most to where it is met.
    #[test]
    fn importance_lengthens_a_step() {
        let methods = [
            MarginMethod::PassiveAggressive(Slack::Linear(0.1)),
            MarginMethod::PassiveAggressive(Slack::Squared(0.1)),
            MarginMethod::Arow { r: 2.0 },
            MarginMethod::Confidence { phi: 1.0, slack: Slack::Linear(0.1) },
            MarginMethod::Confidence { phi: 1.0, slack: Slack::Squared(0.1) },
        ];
        for method in methods {
            let lengths = [0.5, 1.0, 2.0, 1e6].map(|v| method.step(-0.5, 3.0, v).unwrap().length);
            assert!(lengths.is_sorted() && lengths[0] < lengths[2], "{method:?}: {lengths:?}");
            assert!(lengths[3] * 3.0 - 0.5 <= 2.0, "{method:?}: {lengths:?}");
        }
    }
}

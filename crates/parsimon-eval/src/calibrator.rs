//! From margins to calibrated log odds, fitted to held-out rows of two classes.

use std::fmt;
use std::str::FromStr;

use crate::isotonic;
use crate::platt::{self, Line};

/// Methods of calibration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CalibrationMethod {
    /// A line through the log odds: two numbers, for hundreds of rows or more.
    Platt,
    /// Any nondecreasing function: for thousands of rows or more.
    Isotonic,
}

impl fmt::Display for CalibrationMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Platt => "platt",
            Self::Isotonic => "isotonic",
        })
    }
}

impl FromStr for CalibrationMethod {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "platt" => Ok(Self::Platt),
            "isotonic" => Ok(Self::Isotonic),
            _ => Err(format!("unknown method of calibration {text:?}: platt or isotonic")),
        }
    }
}

/// A nondecreasing function from margins to log odds; [`fit`](Self::fit) may find a decreasing line for a model that is worse than
/// chance.
///
/// ```
/// use parsimon_eval::{CalibrationMethod, Calibrator};
///
/// // Margins that are twice as sure as they should be.
/// let rows: Vec<_> = (0..4000).map(|i| {
///     let margin = if i % 2 == 0 { 2.0 } else { -2.0 };
///     let positive = (i / 2) % 100 < if margin > 0.0 { 73 } else { 27 };
///     (margin, positive, 1.0)
/// }).collect();
/// for method in [CalibrationMethod::Platt, CalibrationMethod::Isotonic] {
///     let calibrator = Calibrator::fit(method, &rows);
///     assert!((calibrator.log_odds(2.0) - (0.73f64 / 0.27).ln()).abs() < 0.01);
/// }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Calibrator(Curve);

#[derive(Clone, Debug, PartialEq)]
enum Curve {
    Line(Line),
    /// Margins, strictly increasing, and the log odds there. Straight lines are between them, and constants outside.
    Points {
        margins: Vec<f64>,
        log_odds: Vec<f64>,
    },
}

impl Calibrator {
    /// Fits the calibration to margins, labels (positive or not) and importance weights.
    ///
    /// Rates of isotonic blocks are kept away from 0 and 1 by half a row of all rows, because a certain error would cost
    /// infinity.
    pub fn fit(method: CalibrationMethod, rows: &[(f64, bool, f64)]) -> Self {
        if method == CalibrationMethod::Platt {
            return Self(Curve::Line(platt::fit(rows)));
        }
        let least = 0.5 / (rows.len().max(1) as f64);
        let (mut margins, mut log_odds) = (Vec::new(), Vec::new());
        for block in isotonic::fit(rows) {
            let rate = block.rate.clamp(least, 1.0 - least);
            let odds = (rate / (1.0 - rate)).ln();
            margins.push(block.low);
            log_odds.push(odds);
            if block.high > block.low {
                margins.push(block.high);
                log_odds.push(odds);
            }
        }
        Self(Curve::Points { margins, log_odds })
    }

    /// The calibrated log odds of a margin.
    pub fn log_odds(&self, margin: f64) -> f64 {
        match &self.0 {
            Curve::Line(line) => line.slope * margin + line.offset,
            Curve::Points { margins, log_odds } => {
                let after = margins.partition_point(|&m| m <= margin);
                let (Some(&first), Some(&last)) = (log_odds.first(), log_odds.last()) else {
                    return margin;
                };
                if after == 0 {
                    return first;
                }
                if after == margins.len() {
                    return last;
                }
                let (left, right) = (margins[after - 1], margins[after]);
                let share = (margin - left) / (right - left);
                log_odds[after - 1] + share * (log_odds[after] - log_odds[after - 1])
            }
        }
    }

    /// Method by which it was fitted.
    pub fn method(&self) -> CalibrationMethod {
        match self.0 {
            Curve::Line(_) => CalibrationMethod::Platt,
            Curve::Points { .. } => CalibrationMethod::Isotonic,
        }
    }

    /// The numbers of a line (slope, offset), or the margins and then the log odds of points, for a file.
    pub fn numbers(&self) -> Vec<f64> {
        match &self.0 {
            Curve::Line(line) => vec![line.slope, line.offset],
            Curve::Points { margins, log_odds } => [&margins[..], log_odds].concat(),
        }
    }

    /// Restores a calibrator from its numbers; `None` if they are not valid.
    pub fn from_numbers(method: CalibrationMethod, numbers: &[f64]) -> Option<Self> {
        if !numbers.iter().all(|x| x.is_finite()) {
            return None;
        }
        match (method, numbers) {
            (CalibrationMethod::Platt, &[slope, offset]) => {
                Some(Self(Curve::Line(Line { slope, offset })))
            }
            (CalibrationMethod::Isotonic, numbers) if numbers.len() % 2 == 0 => {
                let (margins, log_odds) = numbers.split_at(numbers.len() / 2);
                let is_sound = !margins.is_empty()
                    && margins.is_sorted_by(|a, b| a < b)
                    && log_odds.is_sorted();
                let (margins, log_odds) = (margins.to_vec(), log_odds.to_vec());
                is_sound.then_some(Self(Curve::Points { margins, log_odds }))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fitted(method: CalibrationMethod) -> Calibrator {
        let rows: Vec<_> = (0..60).map(|i| (f64::from(i / 2), (i * 7) % 60 < i, 1.0)).collect();
        Calibrator::fit(method, &rows)
    }

    #[test]
    fn numbers_are_the_whole_of_it() {
        for method in [CalibrationMethod::Platt, CalibrationMethod::Isotonic] {
            let calibrator = fitted(method);
            let numbers = calibrator.numbers();
            assert_eq!(Calibrator::from_numbers(method, &numbers), Some(calibrator));
            assert_eq!(method.to_string().parse(), Ok(method));
            let mut odd = numbers.clone();
            odd[0] = f64::NAN;
            assert_eq!(Calibrator::from_numbers(method, &odd), None);
            assert_eq!(Calibrator::from_numbers(method, &numbers[1..]), None);
        }
        assert_eq!(Calibrator::from_numbers(CalibrationMethod::Isotonic, &[]), None);
        let reversed = [1.0, 0.0, 0.0, 1.0];
        assert_eq!(Calibrator::from_numbers(CalibrationMethod::Isotonic, &reversed), None);
    }

    #[test]
    fn isotonic_log_odds_rise_and_end() {
        let calibrator = fitted(CalibrationMethod::Isotonic);
        let at = |i: i32| calibrator.log_odds(f64::from(i) / 3.0);
        assert!((-50..150).all(|i| at(i) <= at(i + 1)));
        assert!(at(-1000).is_finite() && at(1000).is_finite());
        assert_eq!((at(-1000), at(1000)), (at(0), at(87)));
    }
}

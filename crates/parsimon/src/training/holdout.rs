//! Choice of the rows of a pass that are held out.

use crate::error::Error;

/// Holds out a share of the rows, spread evenly: row `t`, counted from 1, if `t * share` passes a whole number.
///
/// The share is kept as the simplest fraction that rounds to it. A product of floats would pass a whole number one row too early
/// or too late: `49.0 * (1.0 / 49.0)` is less than 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Holdout {
    numerator: u128,
    denominator: u128,
}

impl Holdout {
    /// A share of the rows, which must leave at least as many to learn from.
    pub(crate) fn new(share: f64) -> Result<Self, Error> {
        if !(share > 0.0 && share <= 0.5) {
            return Err(Error::usage(format!(
                "the holdout must be a share > 0 and <= 0.5, got {share}"
            )));
        }
        // A share this small holds out no row that can be reached, and its fraction would not fit.
        if share < 2f64.powi(-64) {
            return Ok(Self { numerator: 0, denominator: 1 });
        }
        // The share is the fraction `(share * 2^k) / 2^k`. Its convergents are tried, the simplest first.
        let mut k = 0;
        let mut scaled = share;
        while scaled.fract() != 0.0 {
            scaled *= 2.0;
            k += 1;
        }
        let (mut a, mut b) = (scaled as u128, 1u128 << k);
        let (mut before, mut last) = ((0u128, 1u128), (1u128, 0u128));
        while b > 0 {
            let whole = a / b;
            (before, last) = (last, (whole * last.0 + before.0, whole * last.1 + before.1));
            if last.0 as f64 / last.1 as f64 == share {
                break;
            }
            (a, b) = (b, a % b);
        }
        Ok(Self { numerator: last.0, denominator: last.1 })
    }

    /// Whether a row, counted from 1, is held out.
    pub(crate) fn has(self, row: u64) -> bool {
        let passed = |rows: u64| u128::from(rows) * self.numerator / self.denominator;
        passed(row) > passed(row.saturating_sub(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fraction(share: f64) -> (u128, u128) {
        let holdout = Holdout::new(share).unwrap();
        (holdout.numerator, holdout.denominator)
    }

    #[test]
    fn a_share_is_the_fraction_that_was_meant() {
        assert_eq!(fraction(0.3), (3, 10));
        assert_eq!(fraction(0.4), (2, 5));
        assert_eq!(fraction(0.5), (1, 2));
        assert_eq!(fraction(0.123), (123, 1000));
        for n in 2..5000u128 {
            assert_eq!(fraction(1.0 / n as f64), (1, n));
        }
        for share in [f64::MIN_POSITIVE, 1e-30, 2f64.powi(-64), 1e-19, 0.499_999_999_999_999_9] {
            let (numerator, denominator) = fraction(share);
            assert!(share < 1e-20 || numerator as f64 / denominator as f64 == share, "{share}");
            Holdout::new(share).unwrap().has(u64::MAX);
        }
    }

    #[test]
    fn every_share_is_exact() {
        for share in [0.5, 0.45, 0.4, 0.3, 0.25, 0.15, 0.1, 0.07, 0.001] {
            let holdout = Holdout::new(share).unwrap();
            let held = (1..=100_000).filter(|&row| holdout.has(row)).count();
            assert_eq!(held, (100_000.0 * share).round() as usize, "{share}");
        }
        // For one row in n they are the multiples of n.
        for n in 2..60 {
            let holdout = Holdout::new(1.0 / n as f64).unwrap();
            assert!((1..10_000u64).all(|row| holdout.has(row) == row.is_multiple_of(n)), "{n}");
        }
    }

    #[test]
    fn other_shares_are_refused() {
        for share in [0.0, -0.1, 0.51, 1.0, f64::NAN, f64::INFINITY] {
            let error = Holdout::new(share).unwrap_err().to_string();
            assert!(error.contains("the holdout must be a share > 0 and <= 0.5"), "{error}");
        }
    }
}

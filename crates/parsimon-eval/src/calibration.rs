//! Calibration: do the things predicted at 30 % happen 30 % of the time?
//!
//! The predictions are sorted into bins; in each bin the mean prediction is held against the observed
//! rate. The expected calibration error is the average gap, weighted by the mass of the bins:
//! `ECE = sum_b weight_b / weight * |mean_b - rate_b|` (Naeini, Cooper and Hauskrecht, AAAI 2015).
//!
//! Three ways of cutting. [`Bins::EqualWidth`] cuts the interval [0, 1] evenly and is what most papers
//! report. [`Bins::EqualMass`] puts the same weight into each bin; prefer it when positives are rare, as
//! with clicks, where equal widths put nearly all rows into the first bin and hide everything. [`Bins::EqualLogOdds`] cuts the log
//! odds evenly, and shows the few high predictions that equal mass puts into one bin.
//!
//! A small error does not mean good predictions: always predicting the base rate is perfectly calibrated.
//! The estimate also depends on the number of bins, so compare only runs binned alike.

use serde::{Deserialize, Serialize};

use crate::sum::{Sum, ratio};

/// Rules for cutting the predictions into bins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bins {
    /// This many bins of equal weight, as nearly as ties allow.
    EqualMass(usize),
    /// This many bins of equal width in [0, 1].
    EqualWidth(usize),
    /// This many bins of equal width in the log odds `ln(p / (1 - p))`, from the smallest prediction to the largest: for rare events,
    /// whose predictions differ by factors.
    EqualLogOdds(usize),
}

impl Default for Bins {
    fn default() -> Self {
        Bins::EqualMass(10)
    }
}

/// The rows whose predictions fell together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bin {
    /// The smallest prediction in the bin.
    pub low: f64,
    /// The largest prediction in the bin.
    pub high: f64,
    /// Number of rows.
    pub rows: u64,
    /// Their importance.
    pub weight: f64,
    /// The weighted mean of the predictions.
    pub predicted: f64,
    /// The weighted share of positives.
    pub observed: f64,
}

/// One prediction with its outcome.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// The predicted probability.
    pub probability: f64,
    /// Whether it happened.
    pub positive: bool,
    /// The importance of the row.
    pub weight: f64,
}

/// The calibration table of `outcomes`, which must be sorted by probability; empty bins are left out.
///
/// Equal predictions share a bin, so the table depends neither on the order of the rows nor on the sort.
///
/// ```
/// use parsimon_eval::{Bins, Outcome, calibration, expected_calibration_error};
///
/// let row = |probability, positive| Outcome { probability, positive, weight: 1.0 };
/// let rows = [row(0.2, false), row(0.2, true), row(0.9, true), row(0.9, true)];
/// let bins = calibration(&rows, Bins::EqualWidth(2));
/// assert_eq!((bins[0].predicted, bins[0].observed), (0.2, 0.5));
/// assert_eq!((bins[1].predicted, bins[1].observed), (0.9, 1.0));
/// // Half of the rows are off by 0.3, the others by 0.1.
/// assert!((expected_calibration_error(&bins).unwrap() - 0.2).abs() < 1e-15);
/// ```
pub fn calibration(outcomes: &[Outcome], bins: Bins) -> Vec<Bin> {
    let total = outcomes.iter().map(|o| o.weight).collect::<Sum>().value();
    let mut before = Sum::default();
    let ends = [outcomes.first(), outcomes.last()]
        .map(|end| log_odds(end.map_or(0.5, |outcome| outcome.probability)));
    let mut table: Vec<(usize, BinSums)> = Vec::new();
    for ties in outcomes.chunk_by(|a, b| a.probability == b.probability) {
        let mass = ties.iter().map(|o| o.weight).collect::<Sum>().value();
        if mass <= 0.0 {
            continue;
        }
        let (at, len) = match bins {
            // Ties go where their middle lies, all together.
            Bins::EqualMass(len) => ((before.value() + 0.5 * mass) / total, len),
            Bins::EqualWidth(len) => (ties[0].probability, len),
            Bins::EqualLogOdds(len) => {
                let [low, high] = ends;
                let width = high - low;
                let at = (log_odds(ties[0].probability) - low) / width;
                (if width > 0.0 { at } else { 0.0 }, len)
            }
        };
        before.add(mass);
        let len = len.max(1);
        let place = ((at * len as f64) as usize).min(len - 1);
        match table.last_mut() {
            Some((last, tally)) if *last == place => tally.add(ties),
            _ => table.push((place, BinSums::of(ties))),
        }
    }
    table.into_iter().map(|(_, tally)| tally.bin()).collect()
}

/// The log odds of a probability, which is taken to be a little inside of 0 and 1.
fn log_odds(p: f64) -> f64 {
    let p = p.clamp(1e-12, 1.0 - 1e-12);
    (p / (1.0 - p)).ln()
}

/// The mean gap between prediction and observation, weighted by the bins; nothing for no bins.
pub fn expected_calibration_error(bins: &[Bin]) -> Option<f64> {
    let gap: Sum = bins.iter().map(|b| b.weight * (b.predicted - b.observed).abs()).collect();
    let weight: Sum = bins.iter().map(|b| b.weight).collect();
    ratio(gap.value(), weight.value())
}

struct BinSums {
    low: f64,
    high: f64,
    rows: u64,
    weight: Sum,
    predicted: Sum,
    positive: Sum,
}

impl BinSums {
    fn of(ties: &[Outcome]) -> Self {
        let mut tally = BinSums {
            low: ties[0].probability,
            high: ties[0].probability,
            rows: 0,
            weight: Sum::default(),
            predicted: Sum::default(),
            positive: Sum::default(),
        };
        tally.add(ties);
        tally
    }

    fn add(&mut self, ties: &[Outcome]) {
        for o in ties {
            self.high = o.probability;
            self.rows += 1;
            self.weight.add(o.weight);
            self.predicted.add(o.weight * o.probability);
            if o.positive {
                self.positive.add(o.weight);
            }
        }
    }

    fn bin(&self) -> Bin {
        let weight = self.weight.value();
        Bin {
            low: self.low,
            high: self.high,
            rows: self.rows,
            weight,
            predicted: self.predicted.value() / weight,
            observed: self.positive.value() / weight,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parsimon_testing::SplitMix64;

    fn random_outcomes(seed: u64, levels: u64) -> Vec<Outcome> {
        let mut random = SplitMix64::new(seed);
        let mut rows: Vec<Outcome> = (0..500)
            .map(|_| Outcome {
                probability: random.below(levels + 1) as f64 / levels as f64,
                positive: random.unit() < 0.3,
                weight: random.unit(),
            })
            .collect();
        rows.sort_by(|a, b| a.probability.total_cmp(&b.probability));
        rows
    }

    #[test]
    fn bins_add_up_to_the_whole() {
        for (seed, levels) in [(1, 3), (2, 50), (3, 1_000_000)] {
            let rows = random_outcomes(seed, levels);
            for cut in [
                Bins::EqualMass(10),
                Bins::EqualWidth(15),
                Bins::EqualMass(1),
                Bins::EqualLogOdds(7),
            ] {
                let bins = calibration(&rows, cut);
                let sum = |f: fn(&Bin) -> f64| bins.iter().map(f).sum::<f64>();
                let all = |f: fn(&Outcome) -> f64| rows.iter().map(f).sum::<f64>();
                assert_eq!(bins.iter().map(|b| b.rows).sum::<u64>(), 500);
                assert!((sum(|b| b.weight) - all(|o| o.weight)).abs() < 1e-10);
                let predicted = sum(|b| b.weight * b.predicted);
                assert!((predicted - all(|o| o.weight * o.probability)).abs() < 1e-10);
                let positive = all(|o| if o.positive { o.weight } else { 0.0 });
                assert!((sum(|b| b.weight * b.observed) - positive).abs() < 1e-10);
                assert!(bins.windows(2).all(|w| w[0].high < w[1].low), "{bins:?}");
            }
        }
    }

    #[test]
    fn equal_mass_is_nearly_equal() {
        let rows = random_outcomes(9, 1_000_000);
        let bins = calibration(&rows, Bins::EqualMass(10));
        assert_eq!(bins.len(), 10);
        let total: f64 = bins.iter().map(|b| b.weight).sum();
        assert!(bins.iter().all(|b| (b.weight / total - 0.1).abs() < 0.01));
    }

    #[test]
    fn the_ends_of_the_interval_have_a_bin() {
        let row = |probability| Outcome { probability, positive: true, weight: 2.0 };
        let bins = calibration(&[row(0.0), row(1.0)], Bins::EqualWidth(4));
        assert_eq!(
            bins.iter().map(|b| (b.low, b.weight)).collect::<Vec<_>>(),
            [(0.0, 2.0), (1.0, 2.0)]
        );
        assert_eq!(expected_calibration_error(&bins), Some(0.5));
    }

    #[test]
    fn factors_of_ten_are_equal_widths_of_log_odds() {
        let row = |probability: f64| Outcome { probability, positive: false, weight: 1.0 };
        let rows = [1e-4, 2e-4, 1.1e-3, 2e-3, 1e-2].map(row);
        let bins = calibration(&rows, Bins::EqualLogOdds(2));
        assert_eq!(bins.iter().map(|b| b.rows).collect::<Vec<_>>(), [2, 3]);
        assert_eq!(calibration(&[row(0.3), row(0.3)], Bins::EqualLogOdds(5)).len(), 1);
    }

    #[test]
    fn no_rows_or_no_bins_are_no_table() {
        assert!(calibration(&[], Bins::default()).is_empty());
        assert_eq!(expected_calibration_error(&[]), None);
        let row = Outcome { probability: 0.5, positive: true, weight: 1.0 };
        assert_eq!(calibration(&[row], Bins::EqualMass(0)).len(), 1);
    }
}

//! A learner beside a constant, row by row: whether learning pays, and how sure that is.

use parsimon_core::LabelDomain;
use parsimon_eval::{Mean, Sum};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::constant::{Constant, Labels};
use crate::found::Found;
use crate::settings::Settings;

/// Rows before the first look at the difference between learner and constant.
const FIRST_LOOK: u64 = 1000;
/// Standard errors by which a learner must be worse.
const SURE: f64 = 3.0;
/// Rows from which on the last label is compared with the constant.
const ENOUGH: u64 = 100;
/// A learner whose loss exceeds the constant's by this factor is worse regardless of its standard error: a few enormous losses make the
/// standard error as large as the mean.
const HOPELESS: f64 = 10.0;

/// Comparison of a learner with a constant on the rows that both predict.
#[derive(Clone, Debug)]
pub(super) struct Baseline {
    constant: Constant,
    tally: Tally,
    /// The label before each row as its prediction, where labels are numbers.
    last: Option<LastLabel>,
    /// The first look at which the learner was surely worse.
    behind: Option<Behind>,
}

/// No stream has more rows. Larger counts in a file are refused, because counts grow.
pub(super) const MOST_ROWS: u64 = 1 << 53;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Tally {
    rows: u64,
    /// The constant's losses.
    cost: Sum,
    /// The learner's loss less the constant's, of all rows.
    difference: Mean,
    /// Sums since the previous look, and the constant's losses there.
    recent: Mean,
    recent_cost: f64,
}

/// The label of the row before as a prediction: a series in time order is easily worse predicted by its columns.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct LastLabel {
    label: Option<f64>,
    /// Its losses, and these less the constant's.
    cost: Mean,
    difference: Mean,
}

impl LastLabel {
    fn record(&mut self, constant: (&Constant, f64), is_predicted: bool, y: f64, weight: f64) {
        let (constant, cost) = constant;
        if let Some(before) = self.label.filter(|_| is_predicted && weight > 0.0) {
            let own = constant.loss().value(before, y);
            self.cost.record(own, weight);
            self.difference.record(own - cost, weight);
        }
        self.label = Some(y);
    }
}

/// A learner whose loss is significantly larger than the loss of the constant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Behind {
    /// Rows learned.
    pub rows: u64,
    /// The average loss of the learner.
    pub loss: f64,
    /// The average loss of the constant on the same rows.
    pub constant: f64,
    /// The difference in standard errors of the paired difference. It is small if a few very large losses decide.
    pub z: f64,
}

impl Baseline {
    pub(super) fn new(settings: &Settings, found: &Found) -> Self {
        let constant = Constant::new(settings, found);
        let is_number = !settings.is_multiclass() && settings.loss().domain() == LabelDomain::Real;
        let last = is_number.then(LastLabel::default);
        Self { constant, tally: Tally::default(), last, behind: None }
    }

    /// Takes the loss of the learner's prediction for a row; `None` where it had no prediction, and the constant has none either.
    pub(super) fn record(&mut self, loss: Option<f64>, y: f64, weight: f64) {
        let cost = self.constant.learn(y, weight);
        if let Some(last) = &mut self.last {
            last.record((&self.constant, cost), loss.is_some(), y, weight);
        }
        let tally = &mut self.tally;
        tally.rows += 1;
        if let Some(loss) = loss.filter(|_| weight > 0.0) {
            tally.cost.add(weight * cost);
            tally.recent_cost += weight * cost;
            tally.difference.record(loss - cost, weight);
            tally.recent.record(loss - cost, weight);
        }
        // Looks at fixed counts of rows, so that chunks do not matter. The rows since the look before are half of all.
        let halves = tally.rows / (FIRST_LOOK / 2);
        if tally.rows.is_multiple_of(FIRST_LOOK / 2) && halves.is_power_of_two() {
            if self.behind.is_none() {
                self.behind = self.look();
            }
            (self.tally.recent, self.tally.recent_cost) = (Mean::default(), 0.0);
        }
    }

    pub(super) fn rows(&self) -> u64 {
        self.tally.rows
    }

    pub(super) fn constant(&self) -> &Constant {
        &self.constant
    }

    /// The average loss of the constant.
    pub(super) fn average(&self) -> Option<f64> {
        let weight = self.tally.difference.weight();
        (weight > 0.0).then(|| self.tally.cost.value() / weight)
    }

    /// The average loss of repeating the last label, where this is surely better than the constant: the rows are a series.
    pub(super) fn last_label(&self) -> Option<f64> {
        let last = self.last.as_ref()?;
        let is_better = last.cost.rows() >= ENOUGH && last.difference.z()? < -SURE;
        last.cost.value().filter(|_| is_better)
    }

    /// The first look at which the learner was surely worse, one now included.
    pub(super) fn behind(&self) -> Option<Behind> {
        self.behind.or_else(|| self.look())
    }

    /// Values at the past looks.
    pub(super) fn noticed(&self) -> Option<Behind> {
        self.behind
    }

    /// Whether the learner is surely worse now: a poor start that was made good since is no reason to warn.
    fn look(&self) -> Option<Behind> {
        let Tally { rows, difference, recent, recent_cost, .. } = &self.tally;
        // Too few rows since the look before to decide anything new.
        if *rows < FIRST_LOOK || recent.rows() < FIRST_LOOK / 2 {
            return None;
        }
        let (whole, lately) = (difference.value()?, recent.value()?);
        let z = difference.z().unwrap_or(0.0).max(recent.z().unwrap_or(0.0));
        let cost = recent_cost / recent.weight();
        let is_hopeless = cost > 0.0 && lately > (HOPELESS - 1.0) * cost;
        let is_behind = whole > 0.0 && lately > 0.0 && (z > SURE || is_hopeless);
        let constant = self.average()?;
        is_behind.then_some(Behind { rows: *rows, loss: constant + whole, constant, z })
    }

    /// Whether all sums are finite, so that they can be read back.
    pub(super) fn is_finite(&self) -> bool {
        self.clone().restore(&self.to_json())
    }

    /// Form in a checkpoint.
    pub(super) fn to_json(&self) -> Value {
        json!({"labels": self.constant.labels, "tally": self.tally, "last": self.last})
    }

    /// Continues from what a checkpoint kept; false if it does not fit.
    pub(super) fn restore(&mut self, kept: &Value) -> bool {
        let labels = serde_json::from_value::<Labels>(kept["labels"].clone());
        let tally = serde_json::from_value::<Tally>(kept["tally"].clone());
        // A checkpoint of an earlier version has no last label.
        let last = serde_json::from_value::<Option<LastLabel>>(kept["last"].clone());
        let (Ok(labels), Ok(tally), Ok(last)) = (labels, tally, last) else { return false };
        let compared = last.as_ref().map_or(0, |last| last.cost.rows().max(last.difference.rows()));
        let counts = [tally.difference.rows(), tally.recent.rows(), compared];
        let fits = labels.fit(self.constant.labels.classes())
            && tally.rows <= MOST_ROWS
            && counts.iter().all(|rows| *rows <= tally.rows);
        if fits {
            (self.constant.labels, self.tally) = (labels, tally);
            self.last = last.filter(|_| self.last.is_some());
        }
        fits
    }
}

#[cfg(test)]
mod tests {
    use parsimon_testing::SplitMix64;

    use super::*;
    use crate::settings::Spec;

    fn baseline() -> Baseline {
        let settings = Spec::new("sgd").resolve().unwrap();
        Baseline::new(&settings, &Found::default())
    }

    #[test]
    fn looks_are_at_a_thousand_rows_and_whenever_they_double() {
        let mut baseline = baseline();
        let mut random = SplitMix64::new(1);
        let mut row = |baseline: &mut Baseline, more: f64| {
            let y = if random.unit() < 0.5 { 1.0 } else { -1.0 };
            baseline.record(Some(2f64.ln() + more + 0.1 * random.unit()), y, 1.0);
        };
        (0..999).for_each(|_| row(&mut baseline, 0.2));
        assert_eq!(baseline.behind(), None);
        row(&mut baseline, 0.2);
        let behind = baseline.noticed().unwrap();
        assert!(behind.rows == 1000 && behind.z > SURE && behind.loss > behind.constant + 0.2);
    }

    #[test]
    fn a_poor_start_that_was_made_good_is_no_reason_to_warn() {
        let mut baseline = baseline();
        for i in 0..1000 {
            let y = if i % 2 == 0 { 1.0 } else { -1.0 };
            baseline.record(Some(if i < 500 { 2.0 } else { 0.3 }), y, 1.0);
        }
        assert_eq!(baseline.behind(), None);
        assert!(baseline.tally.difference.z().unwrap() > SURE);
    }

    #[test]
    fn the_last_label_is_compared_where_rows_are_a_series() {
        let settings = Spec::new("sgd").set("loss", "squared").resolve().unwrap();
        let mut random = SplitMix64::new(2);
        let mut run = |series: bool| {
            let mut baseline = Baseline::new(&settings, &Found::default());
            let mut level = 0.0;
            for _ in 0..500 {
                let noise = random.unit() - 0.5;
                level = if series { level + noise } else { noise };
                baseline.record(Some(1.0), level, 1.0);
            }
            let mut read = Baseline::new(&settings, &Found::default());
            assert!(read.restore(&baseline.to_json()));
            assert_eq!(read.last_label(), baseline.last_label());
            baseline.last_label()
        };
        // The mean of half a square of steps that are uniform on an interval of length 1.
        assert!(run(true).is_some_and(|loss| (loss - 1.0 / 24.0).abs() < 0.01));
        assert_eq!(run(false), None);
    }

    #[test]
    fn a_few_enormous_losses_are_enough() {
        let mut baseline = baseline();
        for i in 0..1000 {
            let y = if i % 2 == 0 { 1.0 } else { -1.0 };
            baseline.record(Some(if i == 700 { 1e9 } else { 0.1 }), y, 1.0);
        }
        assert!(baseline.noticed().is_some_and(|behind| behind.z < SURE));
    }
}

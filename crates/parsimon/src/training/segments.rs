//! Metrics by the value of a column.

use std::collections::HashMap;

use parsimon_eval::Mean;
use serde::Serialize;

/// Values with separate counts; rows of later values are counted together.
const MOST_VALUES: usize = 100_000;
/// Least number of rows of a reported segment.
const LEAST_ROWS: u64 = 20;
/// Segments that are reported one by one.
const SHOWN: usize = 20;

/// The metrics of the rows with one value of a column.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Segment {
    /// The value; `None` for rows where the cell is missing, and for rows that are summed up.
    pub value: Option<String>,
    /// Number of values that are summed here; those beyond the first 100,000 count as one.
    pub values: u64,
    /// The number of rows.
    pub rows: u64,
    /// The sum of their importance weights.
    pub weight: f64,
    /// The mean loss of the model; for several classes the share of errors.
    pub loss: Option<f64>,
    /// The mean loss of the constant.
    pub constant_loss: Option<f64>,
    /// The mean label: for two classes the share of positives. Nothing for several classes.
    pub label_rate: Option<f64>,
    /// The sum of the predictions over the sum of the labels; only for probabilities and counts.
    pub calibration_ratio: Option<f64>,
}

/// The segments of a column.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Segments {
    /// The column.
    pub column: String,
    /// The segments in which the model gains least over the constant, the worst first. There are at most 20, with at least 20 rows
    /// each if such segments exist.
    pub worst: Vec<Segment>,
    /// All other rows together.
    pub rest: Option<Segment>,
}

/// Sums of one value.
#[derive(Clone, Default)]
struct Tally {
    loss: Mean,
    constant: Mean,
    label: Mean,
    predicted: Mean,
}

/// Values of a row: losses and, if they are defined, the label and the prediction on one scale.
#[derive(Clone, Copy)]
pub(super) struct SegmentRow {
    pub(super) loss: f64,
    pub(super) constant: f64,
    pub(super) label: Option<f64>,
    pub(super) predicted: Option<f64>,
    pub(super) weight: f64,
}

impl Tally {
    fn add(&mut self, row: SegmentRow) {
        self.loss.record(row.loss, row.weight);
        self.constant.record(row.constant, row.weight);
        row.label.inspect(|label| self.label.record(*label, row.weight));
        row.predicted.inspect(|predicted| self.predicted.record(*predicted, row.weight));
    }

    fn segment(&self, value: Option<String>, values: u64) -> Segment {
        let ratio = match (self.predicted.value(), self.label.value()) {
            (Some(predicted), Some(label)) if label > 0.0 => Some(predicted / label),
            _ => None,
        };
        Segment {
            value,
            values,
            rows: self.loss.rows(),
            weight: self.loss.weight(),
            loss: self.loss.value(),
            constant_loss: self.constant.value(),
            label_rate: self.label.value(),
            calibration_ratio: ratio,
        }
    }

    /// Excess of the model's loss over that of the constant.
    fn excess(&self) -> f64 {
        self.loss.value().unwrap_or(0.0) - self.constant.value().unwrap_or(0.0)
    }
}

/// Collects rows by value.
pub(super) struct SegmentTally {
    column: String,
    by_value: HashMap<Vec<u8>, Tally>,
    /// Rows of values beyond the first hundred thousand.
    late: Tally,
}

impl SegmentTally {
    pub(super) fn new(column: &str) -> Self {
        Self { column: column.to_owned(), by_value: HashMap::new(), late: Tally::default() }
    }

    pub(super) fn add(&mut self, value: &[u8], row: SegmentRow) {
        let is_full = self.by_value.len() == MOST_VALUES;
        match self.by_value.get_mut(value) {
            Some(tally) => tally.add(row),
            None if is_full => self.late.add(row),
            None => self.by_value.entry(value.to_owned()).or_default().add(row),
        }
    }

    pub(super) fn finish(self) -> Segments {
        let mut tallies: Vec<(Vec<u8>, Tally)> = self.by_value.into_iter().collect();
        let enough = |tally: &Tally| tally.loss.rows() >= LEAST_ROWS;
        let any_enough = tallies.iter().any(|(_, tally)| enough(tally));
        tallies.sort_by(|(a, x), (b, y)| {
            let small = |tally| any_enough && !enough(tally);
            let by_excess = y.excess().total_cmp(&x.excess());
            small(x).cmp(&small(y)).then(by_excess).then_with(|| a.cmp(b))
        });
        let shown = tallies.iter().take_while(|(_, tally)| !any_enough || enough(tally));
        let count = shown.take(SHOWN).count();
        let text = |value: &[u8]| match value.is_empty() {
            true => None,
            false => Some(String::from_utf8_lossy(value).into_owned()),
        };
        let worst = tallies[..count].iter().map(|(value, tally)| tally.segment(text(value), 1));
        let worst = worst.collect();
        let mut rest = Rest::default();
        tallies[count..].iter().for_each(|(_, tally)| rest.add(tally));
        if self.late.loss.rows() > 0 {
            rest.add(&self.late);
        }
        Segments { column: self.column, worst, rest: rest.segment() }
    }
}

/// Segments summed up.
#[derive(Default)]
struct Rest {
    values: u64,
    rows: u64,
    weight: f64,
    /// Weighted sums of loss, constant, label and prediction.
    sums: [Option<f64>; 4],
}

impl Rest {
    fn add(&mut self, tally: &Tally) {
        let weight = tally.loss.weight();
        self.values += 1;
        self.rows += tally.loss.rows();
        self.weight += weight;
        let means = [&tally.loss, &tally.constant, &tally.label, &tally.predicted];
        for (sum, mean) in self.sums.iter_mut().zip(means) {
            if let Some(mean) = mean.value() {
                *sum = Some(sum.unwrap_or(0.0) + weight * mean);
            }
        }
    }

    fn segment(&self) -> Option<Segment> {
        let [loss, constant_loss, label, predicted] = self.sums;
        let mean = |sum: Option<f64>| sum.map(|sum| sum / self.weight);
        let ratio = predicted.zip(label).filter(|(_, label)| *label > 0.0);
        (self.values > 0 && self.weight > 0.0).then(|| Segment {
            value: None,
            values: self.values,
            rows: self.rows,
            weight: self.weight,
            loss: mean(loss),
            constant_loss: mean(constant_loss),
            label_rate: mean(label),
            calibration_ratio: ratio.map(|(predicted, label)| predicted / label),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(loss: f64, label: f64) -> SegmentRow {
        SegmentRow { loss, constant: 1.0, label: Some(label), predicted: Some(0.5), weight: 1.0 }
    }

    #[test]
    fn the_worst_come_first_and_the_rest_is_summed_up() {
        let mut tally = SegmentTally::new("site");
        for value in 0..30u8 {
            for i in 0..20 + value {
                tally.add(&[b'a' + value], row(f64::from(value) / 10.0, f64::from(i % 2)));
            }
        }
        // Too few rows for a reliable loss.
        tally.add(b"rare", row(100.0, 1.0));
        let segments = tally.finish();
        assert_eq!(segments.worst.len(), 20);
        let first = &segments.worst[0];
        assert_eq!((first.value.as_deref(), first.rows), (Some("~"), 49));
        assert!((first.loss.unwrap() - 2.9).abs() < 1e-12);
        assert!(segments.worst.windows(2).all(|w| w[0].loss > w[1].loss));
        let rest = segments.rest.unwrap();
        assert_eq!((rest.values, rest.rows), (11, (0..10).map(|v| 20 + v).sum::<u64>() + 1));
    }

    #[test]
    fn few_rows_are_shown_when_there_are_no_others() {
        let mut tally = SegmentTally::new("site");
        tally.add(b"x", row(1.0, 0.0));
        tally.add(b"", row(2.0, 1.0));
        let segments = tally.finish();
        assert_eq!(segments.worst.len(), 2);
        assert_eq!((segments.worst[0].value.as_deref(), segments.rest), (None, None));
        assert_eq!(segments.worst[0].calibration_ratio, Some(0.5));
        assert_eq!(segments.worst[1].calibration_ratio, None);
    }
}

//! The learning curve of one run: what was reported, to store, to print and to draw.

use serde::{Deserialize, Serialize};

use crate::number::{maybe, thousands};
use crate::progressive::Progressive;
use crate::table::Table;

/// The reports of a run, in order.
///
/// ```
/// use parsimon_eval::{LearningCurve, Progressive, Schedule};
///
/// let (mut progressive, schedule) = (Progressive::new(), Schedule::doubling());
/// let mut curve = LearningCurve::new("log loss");
/// for i in 1..=1000u32 {
///     progressive.record(1.0 / f64::from(i), 1.0);
///     if schedule.due(progressive.rows()) {
///         curve.report(&mut progressive, u64::from(i % 50));
///     }
/// }
/// assert_eq!(curve.points.len(), 10);
/// assert_eq!((curve.points[2].rows, curve.points[2].since_last), (4, Some((1.0 / 3.0 + 0.25) / 2.0)));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LearningCurve {
    /// Name of the loss.
    pub loss: String,
    /// The reports.
    pub points: Vec<CurvePoint>,
}

/// One report.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    /// The rows seen so far.
    pub rows: u64,
    /// The average progressive loss of all of them.
    pub average: Option<f64>,
    /// The average over the rows since the report before.
    pub since_last: Option<f64>,
    /// The weights that were not zero.
    pub nonzeros: u64,
}

impl LearningCurve {
    /// A run without reports.
    pub fn new(loss: impl Into<String>) -> Self {
        Self { loss: loss.into(), points: Vec::new() }
    }

    /// Notes where the run stands, and starts the next stretch.
    pub fn report(&mut self, progressive: &mut Progressive, nonzeros: u64) {
        self.points.push(CurvePoint {
            rows: progressive.rows(),
            average: progressive.average(),
            since_last: progressive.since_last(),
            nonzeros,
        });
        progressive.mark();
    }

    /// The reports as a table.
    pub fn table(&self) -> Table {
        let mut table = Table::new(["rows", "average", "since last", "nonzeros"]).right(0..4);
        for point in &self.points {
            table.row([
                thousands(point.rows),
                maybe(point.average, 5),
                maybe(point.since_last, 5),
                thousands(point.nonzeros),
            ]);
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_of_the_reports() {
        let mut curve = LearningCurve::new("log loss");
        let mut progressive = Progressive::new();
        progressive.record(0.75, 1.0);
        curve.report(&mut progressive, 3);
        progressive.record(0.25, 1.0);
        curve.report(&mut progressive, 1200);
        assert_eq!(
            curve.table().to_string(),
            "\
rows  average  since last  nonzeros
----  -------  ----------  --------
   1  0.75000     0.75000         3
   2  0.50000     0.25000     1,200
"
        );
    }
}

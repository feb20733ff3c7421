//! The learning curve of one run.

use parsimon_eval::{CurvePoint, LearningCurve};

use crate::chart::{Figure, Panel, Series};

/// Loss above, nonzeros below, on a logarithmic axis of rows.
///
/// ```
/// use parsimon_eval::{LearningCurve, Progressive};
/// use parsimon_page::chart;
///
/// let (mut curve, mut progressive) = (LearningCurve::new("log loss"), Progressive::new());
/// for loss in [0.75, 0.25] {
///     progressive.record(loss, 1.0);
///     curve.report(&mut progressive, 3);
/// }
/// let svg = chart::learning_curve("run", &curve).to_svg();
/// assert!(svg.contains(">progressive log loss</text>"));
/// ```
pub fn learning_curve(title: impl Into<String>, curve: &LearningCurve) -> Figure {
    // A missing value interrupts the line.
    let of = |value: fn(&CurvePoint) -> Option<f64>| {
        settled(&curve.points).map(move |p| (p.rows as f64, value(p).unwrap_or(f64::NAN)))
    };
    let loss = Panel::new("rows", format!("progressive {}", curve.loss))
        .log_x()
        .series(Series::line("all rows", of(|p| p.average)))
        .series(Series::line("since the last report", of(|p| p.since_last)));
    let nonzeros = Panel::new("rows", "nonzero weights")
        .log_x()
        .show_y(0.0)
        .series(Series::line("nonzeros", of(|p| Some(p.nonzeros as f64))));
    Figure::new(title).panel(loss).panel(nonzeros)
}

/// The reports of a curve from row 100 on, where there are 1,000 rows: averages of a few rows would set the scale of all others.
pub fn settled(points: &[CurvePoint]) -> impl Iterator<Item = &CurvePoint> {
    const FIRST: u64 = 100;
    let last = points.last().map_or(0, |point| point.rows);
    let first = if last >= 10 * FIRST { FIRST } else { 0 };
    points.iter().filter(move |point| point.rows >= first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_curves_begin_at_row_100() {
        let points = |last: u32| -> Vec<CurvePoint> {
            let point =
                |k| CurvePoint { rows: 1u64 << k, average: None, since_last: None, nonzeros: 0 };
            (0..=last).map(point).collect()
        };
        assert_eq!(settled(&points(10)).next().unwrap().rows, 128);
        assert_eq!(settled(&points(9)).next().unwrap().rows, 1);
        assert_eq!(settled(&[]).count(), 0);
    }
}

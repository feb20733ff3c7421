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
        curve.points.iter().map(move |p| (p.rows as f64, value(p).unwrap_or(f64::NAN)))
    };
    let loss = Panel::new("rows", format!("progressive {}", curve.loss))
        .log_x()
        .series(Series::line("all rows", of(|p| p.average)))
        .series(Series::line("since the last report", of(|p| p.since_last)));
    let nonzeros = Panel::new("rows", "nonzero weights")
        .show_y(0.0)
        .series(Series::line("nonzeros", of(|p| Some(p.nonzeros as f64))));
    Figure::new(title).panel(loss).panel(nonzeros)
}

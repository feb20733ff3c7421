//! The reliability diagram: predicted against observed, and below it how many rows say so.

use crate::chart::{Figure, Panel, Series};
use parsimon_eval::{Bin, BinaryMetrics};

/// Draws a calibration table. On the diagonal, things predicted at 30 % happen 30 % of the time; below it
/// the model is too sure that they will happen, above it not sure enough.
///
/// ```
/// use parsimon_core::Loss;
/// use parsimon_eval::Binary;
/// use parsimon_page::chart;
///
/// let mut binary = Binary::new(Loss::Logistic);
/// for i in 0..100 {
///     let label = if i % 4 == 0 { 1.0 } else { -1.0 };
///     binary.record(f64::from(i) / 50.0 - 2.0, label, 1.0);
/// }
/// let svg = chart::reliability("Calibration", &binary.finish().calibration).to_svg();
/// assert!(svg.contains("observed rate"));
/// ```
pub fn reliability(title: impl Into<String>, bins: &[Bin]) -> Figure {
    // Rare events live near zero: the axes end where the data does, at equal lengths.
    let end = bins.iter().flat_map(|b| [b.high, b.observed]).fold(0.0, f64::max);
    let end = if end > 0.5 || end == 0.0 { 1.0 } else { end };
    let model = bins.iter().map(|b| (b.predicted, b.observed));
    let rows = bins.iter().map(|b| (b.low, b.high, b.weight));
    Figure::new(title)
        .width(520)
        .panel(
            Panel::new("predicted probability", "observed rate")
                .height(360)
                .show_x(0.0)
                .series(Series::reference("perfect", [(0.0, 0.0), (end, end)]))
                .series(Series::line("model", model).with_markers()),
        )
        .panel(
            Panel::new("predicted probability", "weight of the rows in each bin")
                .height(80)
                .series(Series::bars("model", rows)),
        )
}

/// Positives below this share are rare: predictions differ by factors, and axes are logarithmic.
const RARE: f64 = 0.1;

/// Draws the calibration of a model of two classes: with linear axes and bins of equal mass, or where positives are rare with
/// logarithmic axes and bins of equal width in the log odds. Bins without a positive have no place on a logarithmic axis and are
/// left out of the curve, not out of the bars below it.
///
/// ```
/// use parsimon_core::Loss;
/// use parsimon_eval::Binary;
/// use parsimon_page::chart;
///
/// let mut binary = Binary::new(Loss::Logistic);
/// for i in 0..1000 {
///     let label = if i % 40 == 0 { 1.0 } else { -1.0 };
///     binary.record(f64::from(i % 100) / 25.0 - 6.0, label, 1.0);
/// }
/// let svg = chart::reliability_of("Clicks", &binary.finish()).to_svg();
/// assert!(svg.contains("0.01") && svg.contains("bins of equal width in the log odds"));
/// ```
pub fn reliability_of(title: impl Into<String>, metrics: &BinaryMetrics) -> Figure {
    if metrics.base_rate.is_none_or(|rate| rate >= RARE) || metrics.reliability.is_empty() {
        return reliability(title, &metrics.calibration);
    }
    let bins = || metrics.reliability.iter().filter(|b| b.low > 0.0);
    let seen = || bins().filter(|b| b.observed > 0.0);
    let ends = seen().flat_map(|b| [b.predicted, b.observed]);
    let (low, high) = ends.fold((1.0, 0.0), |(low, high): (f64, f64), x| (low.min(x), high.max(x)));
    let diagonal = (low < high).then_some([(low, low), (high, high)]);
    let model = seen().map(|b| (b.predicted, b.observed));
    let rows = bins().map(|b| (b.low, b.high, b.weight));
    Figure::new(title)
        .width(520)
        .panel(
            Panel::new("predicted probability", "observed rate")
                .height(360)
                .log_x()
                .log_y()
                .series(Series::reference("perfect", diagonal.into_iter().flatten()))
                .series(Series::line("model", model).with_markers()),
        )
        .panel(
            Panel::new("predicted probability", "weight, in bins of equal width in the log odds")
                .height(80)
                .log_x()
                .series(Series::bars("model", rows)),
        )
}

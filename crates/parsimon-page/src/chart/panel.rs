//! A panel: a pair of axes and the series drawn on them.

use crate::chart::axis::{Axis, AxisScale};
use crate::chart::series::{Marks, Series};

/// One coordinate system of a [`Figure`](crate::chart::Figure).
///
/// ```
/// use parsimon_page::chart::{Panel, Series};
///
/// // A learning curve: rows double from report to report, so the x axis is logarithmic.
/// let panel = Panel::new("rows", "log loss")
///     .log_x()
///     .series(Series::line("progressive", [(1.0, 0.69), (2.0, 0.66), (4.0, 0.61)]));
/// # let _ = panel;
/// ```
#[derive(Clone, Debug)]
pub struct Panel {
    pub(crate) x_title: String,
    pub(crate) y_title: String,
    pub(crate) x_scale: AxisScale,
    pub(crate) y_scale: AxisScale,
    pub(crate) x_shown: Vec<f64>,
    pub(crate) y_shown: Vec<f64>,
    pub(crate) x_limits: Option<(f64, f64)>,
    pub(crate) y_limits: Option<(f64, f64)>,
    pub(crate) height: Option<f64>,
    pub(crate) series: Vec<Series>,
}

impl Panel {
    /// An empty panel with the titles of its axes.
    pub fn new(x_title: impl Into<String>, y_title: impl Into<String>) -> Self {
        Self {
            x_title: x_title.into(),
            y_title: y_title.into(),
            x_scale: AxisScale::Linear,
            y_scale: AxisScale::Linear,
            x_shown: Vec::new(),
            y_shown: Vec::new(),
            x_limits: None,
            y_limits: None,
            height: None,
            series: Vec::new(),
        }
    }

    /// Makes the x axis logarithmic. Panels of one figure share their x axis: one asks, all follow.
    #[must_use]
    pub fn log_x(mut self) -> Self {
        self.x_scale = AxisScale::Log;
        self
    }

    /// Makes the y axis logarithmic.
    #[must_use]
    pub fn log_y(mut self) -> Self {
        self.y_scale = AxisScale::Log;
        self
    }

    /// Makes sure that the x axis shows this value, such as zero.
    #[must_use]
    pub fn show_x(mut self, value: f64) -> Self {
        self.x_shown.push(value);
        self
    }

    /// Makes sure that the y axis shows this value, such as zero.
    #[must_use]
    pub fn show_y(mut self, value: f64) -> Self {
        self.y_shown.push(value);
        self
    }

    /// Cuts the x axis to this interval; what lies outside is clipped.
    #[must_use]
    pub fn limit_x(mut self, low: f64, high: f64) -> Self {
        self.x_limits = Some((low, high));
        self
    }

    /// Cuts the y axis to this interval; what lies outside is clipped.
    #[must_use]
    pub fn limit_y(mut self, low: f64, high: f64) -> Self {
        self.y_limits = Some((low, high));
        self
    }

    /// The height of the plotting area, in pixels.
    #[must_use]
    pub fn height(mut self, pixels: u32) -> Self {
        self.height = Some(f64::from(pixels.max(20)));
        self
    }

    /// Adds a series. Later ones are drawn over earlier ones.
    #[must_use]
    pub fn series(mut self, series: Series) -> Self {
        self.series.push(series);
        self
    }

    pub(crate) fn is_clipped(&self) -> bool {
        self.x_limits.is_some() || self.y_limits.is_some()
    }

    pub(crate) fn y_axis(&self) -> Axis {
        let (bands, others): (Vec<&Series>, Vec<&Series>) =
            self.series.iter().partition(|s| matches!(s.marks, Marks::Band(_)));
        let others: Vec<f64> = others.into_iter().flat_map(Series::ys).collect();
        // A band whose edge happens to be close to zero must not stretch a logarithmic axis by decades.
        let lowest = others.iter().copied().filter(|v| *v > 0.0).fold(f64::INFINITY, f64::min);
        let floor = if lowest.is_finite() { lowest / 4.0 } else { 0.0 };
        let is_near = |v: &f64| self.y_scale == AxisScale::Linear || *v >= floor;
        let edges = bands.into_iter().flat_map(Series::ys).filter(is_near);
        let shown = others.iter().copied().chain(edges).chain(self.y_shown.iter().copied());
        let axis = Axis::fit(self.y_scale, shown);
        match self.y_limits {
            Some(limits) => axis.limited(limits),
            None => axis.airy(),
        }
    }

    /// The x axis that all of these panels share.
    pub(crate) fn shared_x_axis(panels: &[Panel]) -> Axis {
        let is_log = panels.iter().any(|p| p.x_scale == AxisScale::Log);
        let scale = if is_log { AxisScale::Log } else { AxisScale::Linear };
        let series = || panels.iter().flat_map(|p| &p.series);
        let shown = panels.iter().flat_map(|p| p.x_shown.iter().copied());
        let axis = Axis::fit(scale, series().flat_map(Series::xs).chain(shown));
        match panels.iter().find_map(|p| p.x_limits) {
            Some(limits) => axis.limited(limits),
            None if series().any(Series::is_wide) => axis.padded(0.03),
            None => axis,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panels_share_one_x_axis() {
        let line = |points: [(f64, f64); 2]| Series::line("a", points);
        let panels = [
            Panel::new("x", "y").series(line([(1.0, 0.0), (50.0, 1.0)])),
            Panel::new("x", "z").log_x().series(line([(5.0, 0.0), (100.0, 1.0)])),
        ];
        let axis = Panel::shared_x_axis(&panels);
        assert_eq!(
            (axis.place(1.0), axis.place(10.0), axis.place(100.0)),
            (Some(0.0), Some(0.5), Some(1.0))
        );
    }

    #[test]
    fn a_band_stretches_a_logarithmic_axis_by_little() {
        let line = Series::line("a", [(0.0, 1.0), (1.0, 100.0)]);
        let bounds = |low: f64| {
            let band = Series::band("a", [(0.0, low, 2.0), (1.0, 50.0, 200.0)]);
            let axis = Panel::new("x", "y").log_y().series(line.clone()).series(band).y_axis();
            (axis.place(low), axis.place(200.0).unwrap())
        };
        assert!(bounds(0.5).0.unwrap() > 0.0 && bounds(0.5).1 < 1.0);
        assert!(bounds(1e-9).0.unwrap() < 0.0);
        assert_eq!(bounds(-1.0).0, None);
    }

    #[test]
    fn values_can_be_made_visible() {
        let panel = Panel::new("x", "y").show_y(0.0).series(Series::line("a", [(0.0, 7.0)]));
        assert_eq!(panel.y_axis().place(0.0), Some(0.0));
    }
}

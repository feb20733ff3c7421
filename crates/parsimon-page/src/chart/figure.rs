//! A figure: a title and panels one below the other, sharing the x axis.

use crate::chart::axis::{Axis, AxisTick};
use crate::chart::ends::Ends;
use crate::chart::header::MARGIN;
use crate::chart::labels::{Area, Placement};
use crate::chart::legend::Legend;
use crate::chart::marks::{self, Plot};
use crate::chart::panel::Panel;
use crate::chart::series::Marks;
use crate::chart::sheet::Sheet;
use crate::chart::slot::slot_of;
use crate::chart::svg::{Svg, num, text_width};
use crate::chart::wrap::wrapped;

const TICK_SIZE: f64 = 12.0;
const TITLE_SIZE: f64 = 13.0;

/// Position of a panel, and its titles.
struct Place {
    plot: Plot,
    legend: Legend,
    ends: Option<Ends>,
}

/// A chart, ready to be written as SVG.
///
/// ```
/// use parsimon_page::chart::{Figure, Panel, Series};
///
/// let loss = [(1.0, 0.69), (10.0, 0.62), (100.0, 0.51), (1000.0, 0.47)];
/// let nonzeros = [(1.0, 12.0), (10.0, 98.0), (100.0, 340.0), (1000.0, 295.0)];
/// let svg = Figure::new("Learning curve")
///     .panel(Panel::new("rows", "progressive log loss").log_x().series(Series::line("ftrl", loss)))
///     .panel(Panel::new("rows", "nonzeros").height(110).series(Series::line("ftrl", nonzeros)))
///     .to_svg();
/// assert!(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 720 "));
/// ```
#[derive(Clone, Debug)]
pub struct Figure {
    pub(super) sheet: Sheet,
    panels: Vec<Panel>,
}

impl Figure {
    /// A figure without panels.
    pub fn new(title: impl Into<String>) -> Self {
        Self { sheet: Sheet::new(title), panels: Vec::new() }
    }

    /// A line below the title: the data, the setting, what to look for.
    #[must_use]
    pub fn subtitle(mut self, text: impl Into<String>) -> Self {
        self.sheet.subtitle = text.into();
        self
    }

    /// Adds a panel below the others.
    #[must_use]
    pub fn panel(mut self, panel: Panel) -> Self {
        self.panels.push(panel);
        self
    }

    /// Returns the document: complete, self-contained, with equal bytes for equal figures.
    pub fn to_svg(&self) -> String {
        let names = self.names();
        let x = Panel::shared_x_axis(&self.panels);
        let header = self.sheet.header();
        let places = self.lay_out(x, &names, header.height());
        let x_title = match (self.panels.last(), places.last()) {
            (Some(panel), Some(place)) => wrapped(&panel.x_title, TITLE_SIZE, place.plot.width),
            _ => Vec::new(),
        };
        let below = 38.0 + 17.0 * x_title.len().saturating_sub(1) as f64;
        let last = places.last().map_or(header.height(), |place| place.plot.bottom() + below);
        let mut svg = header.open(self.sheet.theme, last + MARGIN);
        for (i, (panel, Place { plot, legend, ends })) in
            self.panels.iter().zip(&places).enumerate()
        {
            let is_last = i + 1 == places.len();
            legend.draw(&mut svg, plot);
            frame(&mut svg, plot, is_last.then_some(&x_title));
            fill(&mut svg, panel, plot, &names);
            if let Some(ends) = ends {
                ends.draw(&mut svg, panel, plot);
            }
        }
        svg.finish()
    }

    /// The names of the series in order of appearance; a series' color is its place here.
    fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for series in self.panels.iter().flat_map(|p| &p.series) {
            let is_colored = !matches!(series.marks, Marks::Reference(_));
            if is_colored && !names.contains(&series.name.as_str()) {
                names.push(&series.name);
            }
        }
        names
    }

    /// Computes the layout. The left margin is as wide as the widest label of any panel, so that the
    /// panels stand exactly below each other.
    fn lay_out(&self, x: Axis, names: &[&str], mut top: f64) -> Vec<Place> {
        let heights: Vec<f64> = (0..self.panels.len())
            .map(|i| self.panels[i].height.unwrap_or(if i == 0 { 290.0 } else { 130.0 }))
            .collect();
        let axes: Vec<Axis> = self.panels.iter().map(Panel::y_axis).collect();
        let widest = axes
            .iter()
            .zip(&heights)
            .flat_map(|(axis, &height)| y_ticks(axis, height))
            .filter_map(|tick| Some(text_width(&tick.label?, TICK_SIZE)))
            .fold(0.0, f64::max);
        let left = MARGIN + widest + 8.0;
        let ends: Vec<Option<Ends>> = self
            .panels
            .iter()
            .zip(&heights)
            .map(|(panel, &height)| Ends::of(panel, names, self.sheet.width, height))
            .collect();
        // Half of the last label of the x axis may stand out to the right.
        let right = ends.iter().flatten().map(Ends::width).fold(8.0, f64::max);
        let width = self.sheet.width - left - MARGIN - right;
        let mut shown: Vec<String> = Vec::new();
        let mut out = Vec::new();
        for (((panel, &height), &y), ends) in self.panels.iter().zip(&heights).zip(&axes).zip(ends)
        {
            let legend = Legend::new(panel, names, ends.as_ref(), &mut shown, width);
            top += legend.height();
            out.push(Place { plot: Plot { left, top, width, height, x, y }, legend, ends });
            top += height + 22.0;
        }
        out
    }
}

/// Grid, axes and tick labels; the lowest panel also carries those of the shared x axis.
fn frame(svg: &mut Svg, plot: &Plot, x_title: Option<&Vec<String>>) {
    for tick in y_ticks(&plot.y, plot.height) {
        let (Some(y), Some(label)) = (plot.y_at(tick.at), tick.label) else {
            continue;
        };
        svg.line((plot.left, y), (plot.right(), y), "grid");
        svg.text((plot.left - 8.0, y + 4.0), "muted", "end", &label);
    }
    for tick in x_ticks(&plot.x, plot.width) {
        let Some(x) = plot.x_at(tick.at) else {
            continue;
        };
        let Some(label) = tick.label else {
            svg.line((x, plot.bottom()), (x, plot.bottom() + 3.0), "axis");
            continue;
        };
        svg.line((x, plot.top), (x, plot.bottom()), "grid");
        svg.line((x, plot.bottom()), (x, plot.bottom() + 5.0), "axis");
        if x_title.is_some() {
            svg.text((x, plot.bottom() + 19.0), "muted", "middle", &label);
        }
    }
    svg.line((plot.left, plot.bottom()), (plot.right(), plot.bottom()), "axis");
    if let Some(zero) = plot.y_at(0.0).filter(|_| plot.y.has_zero_inside()) {
        svg.line((plot.left, zero), (plot.right(), zero), "axis");
    }
    for (i, line) in x_title.into_iter().flatten().enumerate() {
        let middle = (plot.left + plot.width / 2.0, plot.bottom() + 41.0 + 17.0 * i as f64);
        svg.text(middle, "name muted", "middle", line);
    }
}

/// The series, then their labels on top.
fn fill(svg: &mut Svg, panel: &Panel, plot: &Plot, names: &[&str]) {
    if panel.is_clipped() {
        // A nested svg clips without an id, which would have to be unique in a page of many charts.
        let (x, y) = (num(plot.left), num(plot.top));
        let (width, height) = (num(plot.width), num(plot.height));
        svg.raw(&format!(
            "<svg x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"{x} {y} {width} {height}\" overflow=\"hidden\">"
        ));
    }
    let corner = (plot.right(), plot.bottom());
    let mut placement = Placement::new(Area::between((plot.left, plot.top), corner));
    let mut labels = Vec::new();
    for series in &panel.series {
        let slot = slot_of(series, names);
        labels.extend(marks::draw(svg, plot, series, slot, &mut placement));
    }
    placement.write(svg, &labels);
    if panel.is_clipped() {
        svg.raw("</svg>");
    }
    let has_data = panel.series.iter().any(|s| {
        s.xs().into_iter().any(|v| plot.x_at(v).is_some())
            && s.ys().into_iter().any(|v| plot.y_at(v).is_some())
    });
    if !has_data {
        let middle = (plot.left + plot.width / 2.0, plot.top + plot.height / 2.0);
        svg.text(middle, "name muted", "middle", "no data");
    }
}

fn y_room(height: f64) -> usize {
    (height / 36.0).round().max(2.0) as usize
}

pub(super) fn y_ticks(axis: &Axis, height: f64) -> Vec<AxisTick> {
    fitting(axis, height, y_room(height), |_| TICK_SIZE)
}

pub(super) fn x_ticks(axis: &Axis, width: f64) -> Vec<AxisTick> {
    fitting(axis, width, (width / 62.0) as usize, |label| text_width(label, TICK_SIZE))
}

/// Returns the ticks that fit without touching labels.
fn fitting(axis: &Axis, length: f64, most: usize, size: impl Fn(&str) -> f64) -> Vec<AxisTick> {
    for room in (2..=most.max(2)).rev() {
        let ticks = axis.ticks(room);
        let labeled: Vec<(f64, f64)> = ticks
            .iter()
            .filter_map(|t| Some((axis.place(t.at)? * length, size(t.label.as_deref()?))))
            .collect();
        let fits = |w: &[(f64, f64)]| w[1].0 - w[0].0 >= f64::midpoint(w[0].1, w[1].1) + 6.0;
        if room == 2 || labeled.windows(2).all(fits) {
            return ticks;
        }
    }
    Vec::new()
}

//! Heat maps with axes: spectrograms below each other, on one scale of one color.
//!
//! The scale has one side: what is at or below its low end is not drawn, what is at its high end is drawn
//! in full. The ends are written in the unit of the values, so a spectrogram's key reads in decibels.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::chart::axis::{Axis, AxisScale};
use crate::chart::figure::{x_ticks, y_ticks};
use crate::chart::header::MARGIN;
use crate::chart::sheet::Sheet;
use crate::chart::svg::{Svg, num, text_width};
use parsimon_eval::number::significant;

const HEIGHT: f64 = 170.0;
const CAPTION: f64 = 22.0;
const LEVELS: u32 = 32;
const TICK_SIZE: f64 = 12.0;
/// Room for half of the last label of the x axis.
const RIGHT: f64 = 10.0;

/// Maps of values over two axes, on one scale.
///
/// ```
/// use parsimon_page::chart::HeatMaps;
///
/// let svg = HeatMaps::new("A chirp")
///     .x("seconds", 0.0, 2.0)
///     .y("kHz", 0.0, 8.0)
///     .scale("dB", -80.0, 0.0)
///     .map("microphone", 2, [-90.0, -10.0, -20.0, -90.0])
///     .to_svg();
/// assert!(svg.contains(">−80 dB</text>") && svg.contains(">0 dB</text>"));
/// ```
#[derive(Clone, Debug)]
pub struct HeatMaps {
    pub(super) sheet: Sheet,
    x: (String, f64, f64),
    y: (String, f64, f64),
    unit: String,
    low: f64,
    high: f64,
    list: Vec<Map>,
}

#[derive(Clone, Debug)]
struct Map {
    caption: String,
    width: usize,
    values: Vec<f64>,
}

impl HeatMaps {
    /// No maps yet; axes and scale from 0 to 1.
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            sheet: Sheet::new(title),
            x: (String::new(), 0.0, 1.0),
            y: (String::new(), 0.0, 1.0),
            unit: String::new(),
            low: 0.0,
            high: 1.0,
            list: Vec::new(),
        }
    }

    /// A line below the title.
    #[must_use]
    pub fn subtitle(mut self, text: impl Into<String>) -> Self {
        self.sheet.subtitle = text.into();
        self
    }

    /// Title of the horizontal axis, and the values at its left and right ends.
    #[must_use]
    pub fn x(mut self, title: impl Into<String>, left: f64, right: f64) -> Self {
        self.x = (title.into(), left, right);
        self
    }

    /// Title of the vertical axis, and the values at its lower and upper ends.
    #[must_use]
    pub fn y(mut self, title: impl Into<String>, bottom: f64, top: f64) -> Self {
        self.y = (title.into(), bottom, top);
        self
    }

    /// The unit of the values and the ends of the scale.
    #[must_use]
    pub fn scale(mut self, unit: impl Into<String>, low: f64, high: f64) -> Self {
        (self.unit, self.low, self.high) = (unit.into(), low, high);
        self
    }

    /// Adds a map of `width` values per line, from the upper left. What is not finite is left blank.
    #[must_use]
    pub fn map(
        mut self,
        caption: impl Into<String>,
        width: usize,
        values: impl IntoIterator<Item = f64>,
    ) -> Self {
        let values = values.into_iter().collect();
        self.list.push(Map { caption: caption.into(), width: width.max(1), values });
        self
    }

    /// The document.
    pub fn to_svg(&self) -> String {
        // NUMERICS: ends that are equal, reversed or so far apart that steps vanish give an axis from 0 to 1.
        let axis = |(_, low, high): &(String, f64, f64)| {
            let span = high - low;
            let is_good = span.is_finite() && span > 1e-9 * low.abs().max(high.abs()).max(1e-90);
            Axis::fit(AxisScale::Linear, if is_good { [*low, *high] } else { [0.0, 1.0] })
        };
        let (x_axis, y_axis) = (axis(&self.x), axis(&self.y));
        let labels = y_ticks(&y_axis, HEIGHT).into_iter().filter_map(|tick| tick.label);
        let widest = labels.map(|label| text_width(&label, TICK_SIZE)).fold(0.0, f64::max);
        let left = MARGIN + widest + 8.0;
        let width = self.sheet.width - left - MARGIN - RIGHT;
        let header = self.sheet.header();
        let mut top = header.height() + 4.0;
        let each = CAPTION + HEIGHT + 16.0;
        let bottom = top + self.list.len() as f64 * each + 34.0;
        let mut svg = header.open(self.sheet.theme, bottom + 34.0);
        for (i, map) in self.list.iter().enumerate() {
            let y_title =
                if self.y.0.is_empty() { String::new() } else { format!(", {}", self.y.0) };
            svg.text((left, top + 14.0), "name", "start", &format!("{}{y_title}", map.caption));
            let corner = (left, top + CAPTION);
            map.draw(&mut svg, corner, width, |v| self.level(v));
            for tick in y_ticks(&y_axis, HEIGHT) {
                if let (Some(place), Some(label)) = (y_axis.place(tick.at), tick.label) {
                    let y = corner.1 + HEIGHT * (1.0 - place);
                    svg.line((left - 4.0, y), (left, y), "axis");
                    svg.text((left - 8.0, y + 4.0), "muted", "end", &label);
                }
            }
            let is_last = i + 1 == self.list.len();
            for tick in x_ticks(&x_axis, width) {
                if let (Some(place), Some(label)) = (x_axis.place(tick.at), tick.label) {
                    let (x, y) = (left + width * place, corner.1 + HEIGHT);
                    svg.line((x, y), (x, y + 5.0), "axis");
                    if is_last {
                        svg.text((x, y + 19.0), "muted", "middle", &label);
                    }
                }
            }
            top += each;
        }
        if self.list.is_empty() {
            svg.text((self.sheet.width / 2.0, top + 14.0), "name muted", "middle", "no data");
        } else {
            svg.text((left + width / 2.0, top + 20.0), "name muted", "middle", &self.x.0);
            self.key(&mut svg, bottom);
        }
        svg.finish()
    }

    /// The strength of a value from 1 to `LEVELS`; `None` at or below the low end.
    fn level(&self, value: f64) -> Option<u32> {
        if !value.is_finite() || value <= self.low || self.high <= self.low {
            return None;
        }
        let share = (value - self.low) / (self.high - self.low);
        Some(((share * f64::from(LEVELS)).ceil() as u32).clamp(1, LEVELS))
    }

    fn key(&self, svg: &mut Svg, top: f64) {
        const STEP: f64 = 4.0;
        let start = self.sheet.width / 2.0 - f64::from(LEVELS) * STEP / 2.0;
        for level in 1..=LEVELS {
            svg.raw(&format!(
                "<rect class=\"c0 head\" fill-opacity=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"10\" \
                 shape-rendering=\"crispEdges\"/>",
                num(opacity(level)),
                num(start + f64::from(level - 1) * STEP),
                num(top),
                num(STEP)
            ));
        }
        let end = start + f64::from(LEVELS) * STEP;
        svg.text((start - 8.0, top + 9.0), "muted", "end", &self.label(self.low));
        svg.text((end + 8.0, top + 9.0), "muted", "start", &self.label(self.high));
    }

    fn label(&self, value: f64) -> String {
        let number = match value.fract() == 0.0 && value.abs() < 1e6 {
            true => format!("{value:.0}"),
            false => significant(value, 3),
        };
        let number = number.replace('-', "−");
        if self.unit.is_empty() { number } else { format!("{number} {}", self.unit) }
    }
}

impl Map {
    /// One path per level, in units of cells.
    fn draw(
        &self,
        svg: &mut Svg,
        (x, y): (f64, f64),
        width: f64,
        level: impl Fn(f64) -> Option<u32>,
    ) {
        svg.rect((x, y), (width, HEIGHT), "frame");
        let rows = self.values.len().div_ceil(self.width).max(1);
        let mut levels: BTreeMap<u32, String> = BTreeMap::new();
        for (row, line) in self.values.chunks(self.width).enumerate() {
            let mut column = 0;
            for run in line.chunk_by(|a, b| level(*a) == level(*b)) {
                let len = run.len();
                if let Some(level) = level(run[0]) {
                    let _ =
                        write!(levels.entry(level).or_default(), "M{column} {row}h{len}v1h-{len}z");
                }
                column += len;
            }
        }
        let (wide, high) = (width / self.width as f64, HEIGHT / rows as f64);
        let (x, y) = (num(x), num(y));
        svg.raw(&format!(
            "<g transform=\"translate({x} {y}) scale({wide:.4} {high:.4})\" shape-rendering=\"crispEdges\">"
        ));
        for (level, d) in levels {
            let opacity = num(opacity(level));
            svg.raw(&format!("<path class=\"c0 head\" fill-opacity=\"{opacity}\" d=\"{d}\"/>"));
        }
        svg.raw("</g>");
    }
}

fn opacity(level: u32) -> f64 {
    f64::from(level) / f64::from(LEVELS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scale_has_one_side() {
        let maps = HeatMaps::new("t").scale("dB", -80.0, 0.0);
        let cases = [-120.0, -80.0, -79.9, -40.0, 0.0, 12.0, f64::NAN];
        let levels = [None, None, Some(1), Some(LEVELS / 2), Some(LEVELS), Some(LEVELS), None];
        assert_eq!(cases.map(|v| maps.level(v)), levels);
    }

    #[test]
    fn axes_and_key_are_labeled() {
        let svg = HeatMaps::new("t")
            .x("seconds", 0.0, 10.0)
            .y("kHz", 0.0, 8.0)
            .scale("dB", -80.0, -20.0)
            .map("a", 2, [0.0, -90.0, -50.0, -50.0])
            .to_svg();
        for words in [">seconds<", ">a, kHz<", ">10<", ">8<", ">−80 dB<", ">−20 dB<"] {
            assert!(svg.contains(words), "{words}: {svg}");
        }
        assert!(svg.contains("d=\"M0 1h2v1h-2z\""), "{svg}");
    }

    #[test]
    fn ends_that_make_no_sense_draw_nothing() {
        let svg = |low, high| {
            let maps = HeatMaps::new("t").x("", low, high).scale("", low, high);
            maps.map("a", 0, [1.0, f64::INFINITY]).to_svg()
        };
        for (low, high) in [(1.0, 1.0), (2.0, -1.0), (f64::NAN, 1.0)] {
            assert!(svg(low, high).ends_with("</svg>\n"));
        }
        assert!(HeatMaps::new("none").to_svg().contains("no data"));
    }
}

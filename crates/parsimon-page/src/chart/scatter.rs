//! Points of the plane in up to ten classes.

use crate::chart::header::MARGIN;
use crate::chart::sheet::Sheet;
use crate::chart::svg::num;
use crate::chart::theme::COLORS;

/// The height of the plane as a share of its width.
const HEIGHT: f64 = 0.64;
/// Room for half of a digit.
const EDGE: f64 = 8.0;

/// Points of the plane. Ten classes are more than a [`Figure`](crate::chart::Figure) has colors and markers for: a point is
/// drawn as the digit of its class.
///
/// ```
/// use parsimon_page::chart::Scatter;
///
/// let svg = Scatter::new("Two", "of ten").point((0.0, 1.0), 7).circled().point((2.0, 0.0), 1).to_svg();
/// assert!(svg.contains(">7</text>") && svg.matches("<circle").count() == 1);
/// ```
#[derive(Clone, Debug)]
pub struct Scatter {
    pub(super) sheet: Sheet,
    dots: Vec<Digit>,
}

#[derive(Clone, Copy, Debug)]
struct Digit {
    x: f32,
    y: f32,
    class: u8,
    circled: bool,
}

impl Scatter {
    /// No points yet.
    pub fn new(title: impl Into<String>, subtitle: impl Into<String>) -> Self {
        let sheet = Sheet { subtitle: subtitle.into(), ..Sheet::new(title) };
        Self { sheet, dots: Vec::new() }
    }

    /// Adds a point of a class from 0 to 9.
    #[must_use]
    pub fn point(mut self, (x, y): (f32, f32), class: u8) -> Self {
        self.dots.push(Digit { x, y, class, circled: false });
        self
    }

    /// Draws a circle around the last point.
    #[must_use]
    pub fn circled(mut self) -> Self {
        if let Some(dot) = self.dots.last_mut() {
            dot.circled = true;
        }
        self
    }

    /// The document.
    pub fn to_svg(&self) -> String {
        let header = self.sheet.header();
        let (left, top) = (MARGIN + EDGE, header.height() + EDGE);
        let right = self.sheet.width - MARGIN - EDGE;
        let bottom = top + HEIGHT * (right - left);
        let mut svg = header.open(self.sheet.theme, bottom + EDGE + MARGIN);
        let across = Range::of(self.dots.iter().map(|d| d.x), left, right);
        let down = Range::of(self.dots.iter().map(|d| -d.y), top, bottom);
        let place = |d: &Digit| (num(across.place(d.x)), num(down.place(-d.y)));
        for class in 0..10 {
            svg.raw(&format!("<g class=\"cloud c{}\">", usize::from(class) % COLORS));
            for dot in self.dots.iter().filter(|d| d.class == class) {
                let (x, y) = place(dot);
                svg.raw(&format!("<text x=\"{x}\" y=\"{y}\" dy=\"3.5\">{class}</text>"));
            }
            svg.raw("</g>");
        }
        svg.raw("<g class=\"axis\" fill=\"none\">");
        for (x, y) in self.dots.iter().filter(|d| d.circled).map(place) {
            svg.raw(&format!("<circle cx=\"{x}\" cy=\"{y}\" r=\"6\"/>"));
        }
        svg.raw("</g>");
        svg.finish()
    }
}

/// From values to pixels.
struct Range {
    low: f64,
    scale: f64,
    from: f64,
}

impl Range {
    fn of(values: impl Iterator<Item = f32>, from: f64, to: f64) -> Self {
        let edges = (f64::INFINITY, f64::NEG_INFINITY);
        let (low, high) = values
            .map(f64::from)
            .filter(|v| v.is_finite())
            .fold(edges, |(l, h), v| (l.min(v), h.max(v)));
        let wide = high - low;
        let scale = if wide > 0.0 { (to - from) / wide } else { 0.0 };
        Self { low: if low.is_finite() { low } else { 0.0 }, scale, from }
    }

    fn place(&self, value: f32) -> f64 {
        self.from + (f64::from(value) - self.low) * self.scale
    }
}

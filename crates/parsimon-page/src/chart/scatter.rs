//! Points of the plane in up to ten classes.

use std::fmt::Write as _;

use maud::Render;

use crate::chart::svg::escape;

const WIDTH: f32 = 720.0;
const HEIGHT: f32 = 520.0;
const TOP: f32 = 56.0;
const MARGIN: f32 = 14.0;

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
    title: String,
    subtitle: String,
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
        Self { title: title.into(), subtitle: subtitle.into(), dots: Vec::new() }
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
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" fill=\"currentColor\" \
             font-family=\"system-ui,sans-serif\" font-size=\"12\">\n<title>{0}</title>\n\
             <text x=\"{MARGIN}\" y=\"24\" font-size=\"17\" font-weight=\"600\">{0}</text>\n\
             <text x=\"{MARGIN}\" y=\"43\" opacity=\".7\">{1}</text>\n",
            escape(&self.title),
            escape(&self.subtitle)
        );
        let across = Range::of(self.dots.iter().map(|d| d.x), MARGIN, WIDTH - MARGIN);
        let down = Range::of(self.dots.iter().map(|d| -d.y), TOP + MARGIN, HEIGHT - MARGIN);
        let place = |d: &Digit| (across.place(d.x), down.place(-d.y));
        for class in 0..10 {
            // Of middle lightness, to be read on light and dark pages.
            let _ = writeln!(
                svg,
                "<g fill=\"hsl({} 70% 48%)\" text-anchor=\"middle\" font-size=\"10\">",
                u32::from(class) * 36
            );
            for dot in self.dots.iter().filter(|d| d.class == class) {
                let (x, y) = place(dot);
                let _ = write!(svg, "<text x=\"{x:.1}\" y=\"{:.1}\">{class}</text>", y + 3.5);
            }
            svg.push_str("\n</g>\n");
        }
        svg.push_str("<g fill=\"none\" stroke=\"currentColor\">\n");
        for (x, y) in self.dots.iter().filter(|d| d.circled).map(place) {
            let _ = write!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"6\"/>");
        }
        svg.push_str("\n</g>\n</svg>\n");
        svg
    }
}

impl Render for Scatter {
    fn render_to(&self, buffer: &mut String) {
        buffer.push_str(&self.to_svg());
    }
}

/// From values to pixels.
struct Range {
    low: f32,
    scale: f32,
    from: f32,
}

impl Range {
    fn of(values: impl Iterator<Item = f32>, from: f32, to: f32) -> Self {
        let edges = (f32::INFINITY, f32::NEG_INFINITY);
        let (low, high) =
            values.filter(|v| v.is_finite()).fold(edges, |(l, h), v| (l.min(v), h.max(v)));
        let wide = high - low;
        let scale = if wide > 0.0 { (to - from) / wide } else { 0.0 };
        Self { low: if low.is_finite() { low } else { 0.0 }, scale, from }
    }

    fn place(&self, value: f32) -> f32 {
        self.from + (value - self.low) * self.scale
    }
}

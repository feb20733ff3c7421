//! Pictures: what a trial shows beside its curves. They carry no number that is judged.

use std::fmt::Write as _;

use parsimon::eval::chart::{Figure, Images, Panel, Series};
use serde::{Deserialize, Serialize};

use crate::page::escape;

/// A picture, as it is kept with its trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Picture {
    /// Values as images, on one scale.
    Images {
        /// What is shown.
        title: String,
        /// How it came about.
        subtitle: String,
        /// Pixels in a line.
        width: usize,
        /// Captions and pixels.
        images: Vec<(String, Vec<f32>)>,
    },
    /// Lines over one axis: a signal, an impulse response.
    Lines {
        /// What is shown.
        title: String,
        /// How it came about.
        subtitle: String,
        /// What the axis is called.
        across: String,
        /// What the values are.
        up: String,
        /// Names and points.
        lines: Vec<(String, Vec<(f64, f64)>)>,
    },
    /// Points of the plane.
    Scatter {
        /// What is shown.
        title: String,
        /// How it came about.
        subtitle: String,
        /// The points.
        dots: Vec<Dot>,
    },
}

/// A point of the plane, drawn as its class.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Dot {
    /// Across.
    pub x: f32,
    /// Up.
    pub y: f32,
    /// What it is, from 0 to 9.
    pub class: u8,
    /// Whether it was taken for something else; such a point is circled.
    pub wrong: bool,
}

const WIDTH: f32 = 720.0;
const HEIGHT: f32 = 520.0;
const TOP: f32 = 56.0;
const MARGIN: f32 = 14.0;

impl Picture {
    /// The document.
    ///
    /// ```
    /// use parsimon_lab::picture::{Dot, Picture};
    ///
    /// let dots = vec![Dot { x: 0.0, y: 1.0, class: 7, wrong: true }, Dot { x: 2.0, y: 0.0, class: 1, wrong: false }];
    /// let svg = Picture::Scatter { title: "Two".into(), subtitle: String::new(), dots }.to_svg();
    /// assert!(svg.contains(">7</text>") && svg.matches("<circle").count() == 1);
    /// ```
    pub fn to_svg(&self) -> String {
        match self {
            Picture::Images { title, subtitle, width, images } => {
                let chart = Images::new(title).subtitle(subtitle).columns(5);
                let add = |chart: Images, (caption, values): &(String, Vec<f32>)| {
                    chart.image(caption, *width, values.iter().map(|v| f64::from(*v)))
                };
                images.iter().fold(chart, add).to_svg()
            }
            Picture::Lines { title, subtitle, across, up, lines } => {
                let add = |panel: Panel, (name, points): &(String, Vec<(f64, f64)>)| {
                    panel.series(Series::line(name, points.iter().copied()))
                };
                let panel = lines.iter().fold(Panel::new(across, up), add);
                Figure::new(title).subtitle(subtitle.clone()).panel(panel).to_svg()
            }
            Picture::Scatter { title, subtitle, dots } => scatter(title, subtitle, dots),
        }
    }
}

/// Ten classes are more than a chart has colors and markers for: a point is drawn as its digit.
fn scatter(title: &str, subtitle: &str, dots: &[Dot]) -> String {
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" fill=\"currentColor\" \
         font-family=\"system-ui,sans-serif\" font-size=\"12\">\n<title>{0}</title>\n\
         <text x=\"{MARGIN}\" y=\"24\" font-size=\"17\" font-weight=\"600\">{0}</text>\n\
         <text x=\"{MARGIN}\" y=\"43\" opacity=\".7\">{1}</text>\n",
        escape(title),
        escape(subtitle)
    );
    let across = Range::of(dots.iter().map(|d| d.x), MARGIN, WIDTH - MARGIN);
    let down = Range::of(dots.iter().map(|d| -d.y), TOP + MARGIN, HEIGHT - MARGIN);
    let place = |d: &Dot| (across.place(d.x), down.place(-d.y));
    for class in 0..10 {
        // Of middle lightness, to be read on light and dark pages.
        let _ = writeln!(
            svg,
            "<g fill=\"hsl({} 70% 48%)\" text-anchor=\"middle\" font-size=\"10\">",
            u32::from(class) * 36
        );
        for dot in dots.iter().filter(|d| d.class == class) {
            let (x, y) = place(dot);
            let _ = write!(svg, "<text x=\"{x:.1}\" y=\"{:.1}\">{class}</text>", y + 3.5);
        }
        svg.push_str("\n</g>\n");
    }
    svg.push_str("<g fill=\"none\" stroke=\"currentColor\">\n");
    for (x, y) in dots.iter().filter(|d| d.wrong).map(place) {
        let _ = write!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"6\"/>");
    }
    svg.push_str("\n</g>\n</svg>\n");
    svg
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

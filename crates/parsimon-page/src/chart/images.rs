//! Small multiples of images: the weights of ten digits, a confusion matrix.
//!
//! A positive value is drawn in the first series color, a negative one in the second, the stronger the
//! larger; a value of exactly zero is not drawn at all. A sparse model therefore looks sparse, on light
//! and dark pages alike. Opacity starts at 15 %, so that the smallest weight can be distinguished from zero.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::chart::header::MARGIN;
use crate::chart::sheet::Sheet;
use crate::chart::svg::{Svg, num};
use parsimon_eval::number::significant;

const GAP: f64 = 14.0;
const CAPTION: f64 = 20.0;
const LEVELS: i32 = 24;
/// The narrowest image with its gap.
const NARROWEST: f64 = 84.0;

/// Images side by side, on one scale.
///
/// ```
/// use parsimon_page::chart::Images;
///
/// let svg = Images::new("Two classes")
///     .columns(2)
///     .image("zero", 3, [0.0, 0.8, 0.0, 0.8, 0.0, 0.8, 0.0, 0.8, 0.0])
///     .image("one", 3, [0.0, 1.0, 0.0, 0.0, 1.0, -0.2, 0.0, 1.0, 0.0])
///     .to_svg();
/// assert!(svg.contains(">one</text>"));
/// ```
#[derive(Clone, Debug)]
pub struct Images {
    pub(super) sheet: Sheet,
    columns: usize,
    list: Vec<Image>,
}

#[derive(Clone, Debug)]
struct Image {
    caption: String,
    width: usize,
    values: Vec<f64>,
}

impl Images {
    /// No images yet.
    pub fn new(title: impl Into<String>) -> Self {
        Self { sheet: Sheet::new(title), columns: 5, list: Vec::new() }
    }

    /// A line below the title.
    #[must_use]
    pub fn subtitle(mut self, text: impl Into<String>) -> Self {
        self.sheet.subtitle = text.into();
        self
    }

    /// Number of images in a row. Default: 5.
    #[must_use]
    pub fn columns(mut self, columns: usize) -> Self {
        self.columns = columns.max(1);
        self
    }

    /// Adds an image of `width` values per line, from the upper left. What is not finite is left blank.
    #[must_use]
    pub fn image(
        mut self,
        caption: impl Into<String>,
        width: usize,
        values: impl IntoIterator<Item = f64>,
    ) -> Self {
        let values = values.into_iter().collect();
        self.list.push(Image { caption: caption.into(), width: width.max(1), values });
        self
    }

    /// The document.
    pub fn to_svg(&self) -> String {
        // An image that is too small has no room for its caption.
        let most = ((self.sheet.width - 2.0 * MARGIN + GAP) / NARROWEST) as usize;
        let columns = self.columns.min(self.list.len().max(1)).min(most.max(1));
        let room = self.sheet.width - 2.0 * MARGIN - GAP * (columns - 1) as f64;
        let side = room / columns as f64;
        let tallest = self.list.iter().map(|image| image.height(side)).fold(0.0, f64::max);
        let lines = self.list.len().div_ceil(columns);
        let header = self.sheet.header();
        let top = header.height() + 6.0;
        let bottom = top + lines as f64 * (tallest + CAPTION + GAP);
        let mut svg = header.open(self.sheet.theme, (bottom + 38.0).ceil());
        let most = self.largest();
        for (i, image) in self.list.iter().enumerate() {
            let x = MARGIN + (i % columns) as f64 * (side + GAP);
            let y = top + (i / columns) as f64 * (tallest + CAPTION + GAP);
            svg.text((x + side / 2.0, y + 12.0), "name", "middle", &image.caption);
            image.draw(&mut svg, (x, y + CAPTION), side, most);
        }
        if self.list.is_empty() {
            svg.text((self.sheet.width / 2.0, bottom), "name muted", "middle", "no data");
        } else {
            let has_negative = self.list.iter().flat_map(|i| &i.values).any(|v| *v < 0.0);
            key(&mut svg, (self.sheet.width / 2.0, bottom), most, has_negative);
        }
        svg.finish()
    }

    fn largest(&self) -> f64 {
        let finite = self.list.iter().flat_map(|i| &i.values).filter(|v| v.is_finite());
        finite.fold(0.0, |most, v| v.abs().max(most))
    }
}

impl Image {
    fn height(&self, side: f64) -> f64 {
        self.values.len().div_ceil(self.width) as f64 * side / self.width as f64
    }

    /// One path per level of strength, in units of cells: much shorter than a rectangle for each.
    fn draw(&self, svg: &mut Svg, (x, y): (f64, f64), side: f64, most: f64) {
        svg.rect((x, y), (side, self.height(side)), "frame");
        let mut levels: BTreeMap<i32, String> = BTreeMap::new();
        for (row, line) in self.values.chunks(self.width).enumerate() {
            let mut column = 0;
            for run in line.chunk_by(|a, b| level(*a, most) == level(*b, most)) {
                let len = run.len();
                if let Some(level) = level(run[0], most) {
                    let path = levels.entry(level).or_default();
                    let _ = write!(path, "M{column} {row}h{len}v1h-{len}z");
                }
                column += len;
            }
        }
        // Four decimals: a cell of 5.1234 pixels, 28 times, must end at the frame.
        let (x, y, cell) = (num(x), num(y), side / self.width as f64);
        svg.raw(&format!(
            "<g transform=\"translate({x} {y}) scale({cell:.4})\" shape-rendering=\"crispEdges\">"
        ));
        for (level, d) in levels {
            svg.raw(&format!(
                "<path class=\"{} head\" fill-opacity=\"{}\" d=\"{d}\"/>",
                color(level),
                num(opacity(level))
            ));
        }
        svg.raw("</g>");
    }
}

/// The strength of a value, from 1 to `LEVELS`, with its sign; nothing for zero and for what is no number.
fn level(value: f64, most: f64) -> Option<i32> {
    if value == 0.0 || !value.is_finite() {
        return None;
    }
    let strength = (value.abs() / most * f64::from(LEVELS)).ceil() as i32;
    Some(strength.clamp(1, LEVELS) * if value < 0.0 { -1 } else { 1 })
}

fn color(level: i32) -> &'static str {
    if level > 0 { "c0" } else { "c1" }
}

fn opacity(level: i32) -> f64 {
    0.15 + 0.85 * f64::from(level.abs()) / f64::from(LEVELS)
}

/// The scale, from the most negative to the most positive; from zero where nothing is negative.
fn key(svg: &mut Svg, (middle, top): (f64, f64), most: f64, has_negative: bool) {
    const STEP: f64 = 5.0;
    let half = f64::from(LEVELS) * STEP;
    let (lowest, zero) = if has_negative { (-LEVELS, middle) } else { (1, middle - half / 2.0) };
    for level in (lowest..=LEVELS).filter(|&level| level != 0) {
        let place = if level < 0 { level } else { level - 1 };
        let x = num(zero + f64::from(place) * STEP);
        svg.raw(&format!(
            "<rect class=\"{} head\" fill-opacity=\"{}\" x=\"{x}\" y=\"{}\" width=\"{}\" \
             height=\"10\" shape-rendering=\"crispEdges\"/>",
            color(level),
            num(opacity(level)),
            num(top),
            num(STEP)
        ));
    }
    let label = significant(most, 3);
    let (left, low) = match has_negative {
        true => (zero - half, format!("−{label}")),
        false => (zero, "0".to_owned()),
    };
    svg.text((zero + half + 8.0, top + 9.0), "muted", "start", &label);
    svg.text((left - 8.0, top + 9.0), "muted", "end", &low);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_and_gaps_are_not_drawn() {
        assert_eq!([0.0, -0.0, f64::NAN, f64::INFINITY].map(|v| level(v, 1.0)), [None; 4]);
        assert_eq!(
            [1.0, 1e-9, -1.0].map(|v| level(v, 1.0)),
            [Some(LEVELS), Some(1), Some(-LEVELS)]
        );
    }

    #[test]
    fn the_scale_has_negative_values_only_where_the_images_have() {
        let svg = |low: f64| Images::new("t").image("i", 2, [1.0, low]).to_svg();
        assert!(svg(-0.5).contains(">−1.00</text>"));
        assert!(svg(0.5).contains(">0</text>") && !svg(0.5).contains('−'));
    }

    #[test]
    fn equal_neighbors_are_one_rectangle() {
        let svg = Images::new("t").image("i", 4, [1.0, 1.0, 1.0, 0.0, 0.0, 1.0]).to_svg();
        assert!(svg.contains("d=\"M0 0h3v1h-3zM1 1h1v1h-1z\""), "{svg}");
    }
}

//! Bars with names: speeds of programs, sizes of files, losses of algorithms.
//!
//! They lie, because names are read from left to right, and they begin at zero, because the eye compares
//! lengths. For quantities that differ by orders of magnitude use points on a logarithmic axis.

use crate::chart::header::MARGIN;
use crate::chart::sheet::Sheet;
use crate::chart::svg::text_width;
use parsimon_eval::number::significant;

const LINE: f64 = 30.0;

/// A bar for each of a few named values.
///
/// ```
/// use parsimon_page::chart::Bars;
///
/// let svg = Bars::new("Speed", "million features per second")
///     .bar("dense store", 182.0)
///     .bar("hashed store", 187.0)
///     .highlight("dense store")
///     .to_svg();
/// assert!(svg.contains(">182</text>"));
/// ```
#[derive(Clone, Debug)]
pub struct Bars {
    pub(super) sheet: Sheet,
    values: Vec<(String, f64)>,
    highlighted: Vec<String>,
}

impl Bars {
    /// Creates a chart without bars. The unit is printed below the title.
    pub fn new(title: impl Into<String>, unit: impl Into<String>) -> Self {
        let sheet = Sheet { subtitle: unit.into(), ..Sheet::new(title) };
        Self { sheet, values: Vec::new(), highlighted: Vec::new() }
    }

    /// Adds a bar below the others. What is not a number >= 0 gets a name and a dash, but no bar.
    #[must_use]
    pub fn bar(mut self, name: impl Into<String>, value: f64) -> Self {
        self.values.push((name.into(), value));
        self
    }

    /// Draws this bar in color and, from then on, all others in gray.
    #[must_use]
    pub fn highlight(mut self, name: impl Into<String>) -> Self {
        self.highlighted.push(name.into());
        self
    }

    /// The document.
    pub fn to_svg(&self) -> String {
        let header = self.sheet.header();
        let top = header.height();
        let height = top + LINE * self.values.len().max(1) as f64 + MARGIN;
        let mut svg = header.open(self.sheet.theme, height);
        if self.values.is_empty() {
            svg.text((self.sheet.width / 2.0, top + 20.0), "name muted", "middle", "no data");
        }
        let widest = self.values.iter().map(|v| text_width(&v.0, 13.0)).fold(0.0, f64::max);
        let left = MARGIN + widest + 10.0;
        // Room for the longest number after the longest bar.
        let room = (self.sheet.width - left - MARGIN - 62.0).max(10.0);
        let shown = |v: f64| v.is_finite() && v >= 0.0;
        let most = self.values.iter().map(|v| v.1).filter(|&v| shown(v)).fold(0.0, f64::max);
        for (i, (name, value)) in self.values.iter().enumerate() {
            let y = top + LINE * i as f64;
            svg.text((left - 10.0, y + 19.0), "name", "end", name);
            if !shown(*value) {
                svg.text((left + 8.0, y + 19.0), "muted", "start", "–");
                continue;
            }
            let length = if most > 0.0 { room * (value / most) } else { 0.0 };
            let is_gray = !self.highlighted.is_empty() && !self.highlighted.contains(name);
            let class = if is_gray { "c5 soft" } else { "c0 fill" };
            svg.rect((left, y + 4.0), (length, LINE - 8.0), class);
            svg.text((left + length + 8.0, y + 19.0), "muted", "start", &significant(*value, 3));
        }
        svg.line((left, top), (left, height - MARGIN), "axis");
        svg.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_in_proportion() {
        let svg = Bars::new("t", "u").bar("a", 1.0).bar("b", 4.0).bar("c", f64::NAN).to_svg();
        let widths: Vec<f64> = svg
            .lines()
            .filter(|line| line.contains("c0 fill"))
            .filter_map(|line| line.split("width=\"").nth(1)?.split('"').next()?.parse().ok())
            .collect();
        assert_eq!(widths.len(), 2);
        assert!((widths[1] / widths[0] - 4.0).abs() < 0.01);
    }
}

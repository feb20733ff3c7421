//! The top of every chart: the root element, the style, the background and the titles.

use crate::chart::svg::{Svg, escape, num};
use crate::chart::theme::Theme;
use crate::chart::wrap::wrapped;

/// The margin around a chart.
pub(crate) const MARGIN: f64 = 20.0;

const TITLE: f64 = 17.0;
const SUBTITLE: f64 = 13.0;

/// A title and a subtitle, broken into lines that fit.
#[derive(Debug)]
pub(crate) struct Header<'a> {
    title: &'a str,
    subtitle: &'a str,
    width: f64,
    title_lines: Vec<String>,
    subtitle_lines: Vec<String>,
}

impl<'a> Header<'a> {
    pub(crate) fn new(title: &'a str, subtitle: &'a str, width: f64) -> Self {
        let room = width - 2.0 * MARGIN;
        Self {
            title,
            subtitle,
            width,
            // Bold letters are wider.
            title_lines: wrapped(title, TITLE * 1.08, room),
            subtitle_lines: wrapped(subtitle, SUBTITLE, room),
        }
    }

    /// Vertical position at which the rest of the chart begins.
    pub(crate) fn height(&self) -> f64 {
        26.0 + 22.0 * self.title_lines.len() as f64 + 20.0 * self.subtitle_lines.len() as f64
    }

    /// Starts a document of this height.
    pub(crate) fn open(&self, theme: Theme, height: f64) -> Svg {
        let mut svg = Svg::default();
        let (w, h) = (num(self.width), num(height));
        svg.raw(&format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {w} {h}\" width=\"{w}\" \
             height=\"{h}\" role=\"img\" class=\"{}\">",
            theme.class()
        ));
        svg.raw(&format!("<title>{}</title>", escape(self.title)));
        if !self.subtitle.is_empty() {
            svg.raw(&format!("<desc>{}</desc>", escape(self.subtitle)));
        }
        svg.raw(&format!("<style>\n{}</style>", theme.css()));
        svg.rect((0.0, 0.0), (self.width, height), "page");
        let mut y = 9.0;
        for line in &self.title_lines {
            y += 22.0;
            svg.text((MARGIN, y), "title", "start", line);
        }
        for line in &self.subtitle_lines {
            y += 20.0;
            svg.text((MARGIN, y), "name muted", "start", line);
        }
        svg
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_grows_with_its_lines() {
        let height = |title, subtitle| Header::new(title, subtitle, 300.0).height();
        assert_eq!(height("short", ""), 48.0);
        assert_eq!(height("short", "and below"), 68.0);
        assert_eq!(height("a title that does not fit into three hundred pixels", ""), 70.0);
    }
}

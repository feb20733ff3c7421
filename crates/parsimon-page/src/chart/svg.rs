//! Writer of SVG: escaped text and short numbers.

use std::fmt::Write;

/// A document under construction.
#[derive(Debug, Default)]
pub(crate) struct Svg(String);

impl Svg {
    /// Writes markup unchanged. The caller closes what it opens; a test balances the tags.
    pub(crate) fn raw(&mut self, markup: &str) {
        self.0.push_str(markup);
        self.0.push('\n');
    }

    /// A text at a place. `class` chooses color and size, `anchor` is `start`, `middle` or `end`.
    pub(crate) fn text(&mut self, (x, y): (f64, f64), class: &str, anchor: &str, text: &str) {
        if text.is_empty() {
            return;
        }
        let anchor = match anchor {
            "start" => String::new(),
            other => format!(" text-anchor=\"{other}\""),
        };
        let (x, y, text) = (num(x), num(y), escape(text));
        self.raw(&format!("<text class=\"{class}\" x=\"{x}\" y=\"{y}\"{anchor}>{text}</text>"));
    }

    /// A straight line.
    pub(crate) fn line(&mut self, (x1, y1): (f64, f64), (x2, y2): (f64, f64), class: &str) {
        let (x1, y1, x2, y2) = (num(x1), num(y1), num(x2), num(y2));
        self.raw(&format!(
            "<line class=\"{class}\" x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\"/>"
        ));
    }

    /// A rectangle by its corner and size.
    pub(crate) fn rect(&mut self, (x, y): (f64, f64), (width, height): (f64, f64), class: &str) {
        let (x, y, width, height) = (num(x), num(y), num(width), num(height));
        self.raw(&format!(
            "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"/>"
        ));
    }

    /// A path from its `d`.
    pub(crate) fn path(&mut self, d: &str, class: &str) {
        if !d.is_empty() {
            self.raw(&format!("<path class=\"{class}\" d=\"{d}\"/>"));
        }
    }

    pub(crate) fn finish(mut self) -> String {
        self.raw("</svg>");
        self.0
    }
}

/// The `d` of a polyline.
pub(crate) fn polyline(points: impl IntoIterator<Item = (f64, f64)>) -> String {
    let mut d = String::new();
    for (x, y) in points {
        let command = if d.is_empty() { 'M' } else { 'L' };
        let _ = write!(d, "{command}{} {}", num(x), num(y));
    }
    d
}

/// A coordinate with two decimals at most: a hundredth of a pixel, and files that differ only where the
/// picture does. It also hides the last bits in which logarithms may differ between platforms.
pub(crate) fn num(x: f64) -> String {
    let fixed = format!("{x:.2}");
    let short = fixed.trim_end_matches('0').trim_end_matches('.');
    if short == "-0" { "0".to_owned() } else { short.to_owned() }
}

/// Text that may stand between tags and in double quotes, escaped as on pages. Control characters, which XML forbids,
/// become spaces.
pub(crate) fn escape(text: &str) -> String {
    let is_forbidden = |c: char| c.is_control() || c == '\u{fffe}' || c == '\u{ffff}';
    maud::html! { (text.replace(is_forbidden, " ")) }.into_string()
}

/// About how wide a text is, in pixels. There is no font here to ask, and the reader's may differ, so this
/// is on the generous side of the common sans-serif faces.
pub(crate) fn text_width(text: &str, size: f64) -> f64 {
    let em: f64 = text
        .chars()
        .map(|c| match c {
            'i' | 'j' | 'l' | '.' | ',' | '\'' | ':' | ';' | '|' | '!' => 0.31,
            'f' | 't' | 'r' | ' ' | '(' | ')' | '-' | '/' | 'I' | '⁰'..='⁻' | '¹' | '²' | '³' => {
                0.4
            }
            'm' | 'w' | 'M' | 'W' | '%' | '@' => 0.95,
            'A'..='Z' => 0.71,
            'a'..='z' | '0'..='9' => 0.6,
            // Scripts without a lower case tend to be wide.
            c if c > '\u{2e7f}' => 1.05,
            _ => 0.68,
        })
        .sum();
    em * size
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let cases = [(1.0, "1"), (-0.001, "0"), (0.126, "0.13"), (100.0, "100"), (2.5, "2.5")];
        for (x, text) in cases {
            assert_eq!(num(x), text);
        }
    }

    #[test]
    fn no_text_can_break_the_document() {
        assert_eq!(escape("a<b & \"c\" 'd'\u{1}>"), "a&lt;b &amp; &quot;c&quot; 'd' &gt;");
    }

    #[test]
    fn a_polyline_moves_and_then_draws() {
        assert_eq!(polyline([(0.0, 1.0), (2.0, 3.5)]), "M0 1L2 3.5");
        assert_eq!(polyline([]), "");
    }
}

//! Colors and type, for light and dark pages.
//!
//! The series colors have the hues of Okabe and Ito (2008), moved until each stands out from the background
//! by a contrast of 4.5:1, which WCAG 2.1 asks of text, and any two stay apart for eyes without red or
//! without green receptors. The tests measure both.
//! Series differ in the shape of their markers and in their dashes as well (`slot.rs`).

use std::fmt::Write;

/// The number of series colors.
pub(crate) const COLORS: usize = 9;

/// The page a chart is made for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// Follows the reader: light, or dark where the system prefers it.
    #[default]
    Auto,
    /// Always light, for print.
    Light,
    /// Always dark, for slides.
    Dark,
}

struct Palette {
    background: &'static str,
    text: &'static str,
    muted: &'static str,
    grid: &'static str,
    axis: &'static str,
    series: [&'static str; COLORS],
}

// The background is filled. If it were transparent, a dark system that shows a light page would draw pale text on
// white: an image knows what the reader prefers, not where it was put.
const LIGHT: Palette = Palette {
    background: "#ffffff",
    text: "#1f2328",
    muted: "#59636e",
    grid: "#e6e9ed",
    axis: "#8b949e",
    series: [
        "#0070d0", "#b55e00", "#008765", "#8a2f86", "#5a2f00", "#424a53", "#6611ff", "#000099",
        "#111111",
    ],
};

const DARK: Palette = Palette {
    background: "#14171c",
    text: "#e9edf2",
    muted: "#9ea7b3",
    grid: "#2a3039",
    axis: "#6e7781",
    series: [
        "#4aa3ff", "#f4683a", "#3ddc97", "#c772b4", "#f0e442", "#d5dae1", "#339977", "#88ccff",
        "#77ff88",
    ],
};

const FONT: &str = "system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,\
                    'DejaVu Sans',sans-serif";

impl Theme {
    /// The class of the root element. Every rule is scoped by it, so that several charts can be in one
    /// HTML page without repainting each other.
    pub(crate) fn class(self) -> &'static str {
        match self {
            Theme::Auto => "parsimon-chart",
            Theme::Light => "parsimon-chart-light",
            Theme::Dark => "parsimon-chart-dark",
        }
    }

    /// The style sheet.
    pub(crate) fn css(self) -> String {
        let root = format!(".{}", self.class());
        let mut css = format!("{root}{{max-width:100%;height:auto;font-family:{FONT}}}\n");
        for (selector, style) in SHAPES {
            let _ = writeln!(css, "{root} {selector}{{{style}}}");
        }
        match self {
            Theme::Auto => {
                css.push_str(&LIGHT.css(&root));
                let dark = DARK.css(&root);
                let _ = writeln!(css, "@media (prefers-color-scheme:dark){{\n{dark}}}");
            }
            Theme::Light => css.push_str(&LIGHT.css(&root)),
            Theme::Dark => css.push_str(&DARK.css(&root)),
        }
        css
    }
}

// Everything that does not depend on the colors. A series has its color as `currentColor`.
const SHAPES: [(&str, &str); 22] = [
    ("text", "font-size:12px"),
    (".title", "font-size:17px;font-weight:600"),
    (".name", "font-size:13px"),
    (".halo", "paint-order:stroke;stroke-width:3px;stroke-linejoin:round"),
    (".grid", "stroke-width:1"),
    (".axis", "stroke-width:1"),
    (".line", "fill:none;stroke:currentColor;stroke-width:2;stroke-linejoin:round"),
    (".thin", "fill:none;stroke:currentColor;stroke-width:1.25"),
    (".reference", "fill:none;stroke-width:1.5;stroke-dasharray:5 4"),
    (".dot", "fill:currentColor;stroke-width:1"),
    (".head", "fill:currentColor"),
    (".label", "fill:currentColor"),
    (".fill", "fill:currentColor;fill-opacity:.75"),
    (".soft", "fill:currentColor;fill-opacity:.4"),
    (".band", "fill:currentColor;fill-opacity:.18"),
    (".cloud text", "fill:currentColor;font-size:10px;text-anchor:middle"),
    (".leader", "fill:none;stroke:currentColor;stroke-width:1;stroke-opacity:.5"),
    (".d1", "stroke-dasharray:9 4"),
    (".d2", "stroke-dasharray:2 3"),
    (".d3", "stroke-dasharray:10 3 2 3"),
    (".d4", "stroke-dasharray:5 3"),
    (".d5", "stroke-dasharray:12 3 2 3 2 3"),
];

impl Palette {
    fn css(&self, root: &str) -> String {
        let Palette { background, text, muted, grid, axis, series } = self;
        let mut css = String::new();
        let mut rule = |selector: &str, style: String| {
            let _ = writeln!(css, "{root} {selector}{{{style}}}");
        };
        rule(".page", format!("fill:{background}"));
        rule("text", format!("fill:{text}"));
        rule(".muted", format!("fill:{muted}"));
        rule(".halo", format!("stroke:{background}"));
        rule(".dot", format!("stroke:{background}"));
        rule(".grid", format!("stroke:{grid}"));
        rule(".axis", format!("stroke:{axis}"));
        rule(".frame", format!("fill:none;stroke:{grid}"));
        rule(".reference", format!("stroke:{muted}"));
        for (i, color) in series.iter().enumerate() {
            rule(&format!(".c{i}"), format!("color:{color}"));
        }
        css
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn linear_rgb(hex: &str) -> [f64; 3] {
        [1, 3, 5].map(|i| {
            let c = f64::from(u8::from_str_radix(&hex[i..i + 2], 16).unwrap()) / 255.0;
            if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
        })
    }

    /// WCAG 2.1, relative luminance and contrast ratio.
    fn contrast(a: &str, b: &str) -> f64 {
        let [a, b] = [a, b].map(|hex| {
            let [r, g, b] = linear_rgb(hex);
            0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05
        });
        a.max(b) / a.min(b)
    }

    /// CIE L*a*b* of a color as seen through `vision` (Machado, Oliveira and Fernandes 2009, severity 1).
    fn lab(hex: &str, vision: &[[f64; 3]; 3]) -> [f64; 3] {
        let rgb = linear_rgb(hex);
        let mul = |m: &[[f64; 3]; 3], v: [f64; 3]| {
            [0, 1, 2].map(|i| (0..3).map(|j| m[i][j] * v[j]).sum::<f64>())
        };
        let seen = mul(vision, rgb).map(|c| c.clamp(0.0, 1.0));
        let xyz = mul(
            &[[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]],
            seen,
        );
        let f = |t: f64| {
            if t > 0.008_856 { t.cbrt() } else { 7.787 * t + 16.0 / 116.0 }
        };
        let [x, y, z] = [f(xyz[0] / 0.9505), f(xyz[1]), f(xyz[2] / 1.089)];
        [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
    }

    const NORMAL: [[f64; 3]; 3] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    const PROTANOPIA: [[f64; 3]; 3] = [
        [0.152_286, 1.052_583, -0.204_868],
        [0.114_503, 0.786_281, 0.099_216],
        [-0.003_882, -0.048_116, 1.051_998],
    ];
    const DEUTERANOPIA: [[f64; 3]; 3] = [
        [0.367_322, 0.860_646, -0.227_968],
        [0.280_085, 0.672_501, 0.047_413],
        [-0.011_820, 0.042_940, 0.968_881],
    ];

    #[test]
    fn every_series_stands_out_and_every_text_can_be_read() {
        for palette in [LIGHT, DARK] {
            for color in palette.series {
                let ratio = contrast(color, palette.background);
                assert!(ratio >= 4.5, "{color}: {ratio}");
            }
            assert!(contrast(palette.text, palette.background) >= 7.0);
            assert!(contrast(palette.muted, palette.background) >= 4.5);
        }
    }

    #[test]
    fn no_two_series_look_alike_to_any_eye() {
        for palette in [LIGHT, DARK] {
            for vision in [NORMAL, PROTANOPIA, DEUTERANOPIA] {
                for (i, a) in palette.series.iter().enumerate() {
                    for b in &palette.series[..i] {
                        let (p, q) = (lab(a, &vision), lab(b, &vision));
                        let distance = (0..3).map(|k| (p[k] - q[k]).powi(2)).sum::<f64>().sqrt();
                        assert!(distance > 20.0, "{a} {b}: {distance}");
                    }
                }
            }
        }
    }

    #[test]
    fn rules_are_scoped_and_dark_is_a_preference() {
        let css = Theme::Auto.css();
        assert!(css.lines().all(|line| {
            line.starts_with(".parsimon-chart") || line.starts_with("@media") || line == "}"
        }));
        assert!(css.contains("@media (prefers-color-scheme:dark){"));
        assert!(!Theme::Dark.css().contains("@media"));
    }
}

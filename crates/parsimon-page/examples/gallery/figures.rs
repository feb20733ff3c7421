//! The figures of the gallery.

use maud::html;
use parsimon_core::Loss;
use parsimon_eval::{Binary, Bins};
use parsimon_page::chart::{
    self, Bars, Better, Figure, HeatMaps, Images, Panel, Scatter, Series, Theme,
};
use parsimon_page::{document, figure};

/// Every figure in every theme, with a file name.
pub(crate) fn all() -> Vec<(String, String)> {
    let themes = [("auto", Theme::Auto), ("light", Theme::Light), ("dark", Theme::Dark)];
    let mut out = Vec::new();
    for (theme_name, theme) in themes {
        let figures = [
            ("learning", learning_curve()),
            ("front", front()),
            ("stems", stems()),
            ("many", many_series()),
            ("edges", edges()),
            ("reliability", reliability(4.0)),
            ("clicks", reliability(-3.0)),
        ];
        for (name, figure) in figures {
            out.push((format!("{name}-{theme_name}"), figure.theme(theme).to_svg()));
        }
        out.push((format!("chirp-{theme_name}"), chirp().theme(theme).to_svg()));
        out.push((format!("digits-{theme_name}"), digits().theme(theme).to_svg()));
        out.push((format!("speed-{theme_name}"), speed().theme(theme).to_svg()));
        out.push((format!("plane-{theme_name}"), plane().theme(theme).to_svg()));
    }
    out
}

/// Every figure on one page.
pub(crate) fn page() -> String {
    let figures = [
        learning_curve(),
        front(),
        stems(),
        many_series(),
        edges(),
        reliability(4.0),
        reliability(-3.0),
    ];
    document(
        "Gallery",
        html! {
            @for chart in &figures { (figure(chart, None)) }
            (figure(&chirp(), None)) (figure(&digits(), None)) (figure(&speed(), None)) (figure(&plane(), None))
        },
    )
}

/// A number in [0, 1) that looks random.
fn noise(i: u32) -> f64 {
    (f64::from(i) * 12.9898).sin().abs() * 43_758.547 % 1.0
}

/// Loss above, nonzeros below, on doubling rows.
fn learning_curve() -> Figure {
    let rows = || (0..21).map(|k| 2f64.powi(k));
    let curve = |floor: f64, speed: f64| {
        rows().map(move |n| (n, floor + (0.693 - floor) / (1.0 + n / speed).powf(0.45)))
    };
    let nonzeros = |most: f64, kept: f64| {
        rows().map(move |n| (n, most * n / (n + 800.0) * (kept + (1.0 - kept) / (1.0 + n / 5e4))))
    };
    let band = curve(0.44, 30.0).map(|(n, y)| (n, y - 0.012, y + 0.012));
    Figure::new("Learning curves on the click stream")
        .subtitle("progressive log loss, one pass, 2²⁰ rows, l1 = 1")
        .panel(
            Panel::new("rows", "log loss")
                .log_x()
                .series(Series::band("FTRL-Proximal", band))
                .series(Series::line("FTRL-Proximal", curve(0.44, 30.0)))
                .series(Series::line("RDA", curve(0.455, 60.0)))
                .series(Series::line("FOBOS", curve(0.47, 40.0)))
                .series(Series::reference("base rate", [(1.0, 0.61), (2f64.powi(20), 0.61)])),
        )
        .panel(
            Panel::new("rows", "nonzeros")
                .series(Series::line("FTRL-Proximal", nonzeros(24_000.0, 0.5)))
                .series(Series::line("RDA", nonzeros(19_000.0, 0.1)))
                .series(Series::line("FOBOS", nonzeros(30_000.0, 0.9))),
        )
}

/// Accuracy against sparsity, with labels that would like to overlap.
fn front() -> Figure {
    let strengths = [0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0];
    let series = |name: &str, top: f64, width: f64| {
        let points: Vec<(f64, f64)> = strengths
            .iter()
            .zip(0u32..)
            .map(|(l1, i)| {
                let wobble = 0.004 * noise(i + name.len() as u32);
                (width / (1.0 + 4.0 * l1), top - 0.02 * (1.0 + l1).ln() - wobble)
            })
            .collect();
        let labels = strengths.map(|l1| format!("l1 = {l1}"));
        Series::points(name, points).labels(labels).front(Better::Low, Better::High)
    };
    Figure::new("What sparsity costs").subtitle("each point is a trained model").panel(
        Panel::new("nonzero weights", "accuracy")
            .log_x()
            .series(series("FTRL-Proximal", 0.93, 40_000.0))
            .series(series("FOBOS", 0.92, 60_000.0)),
    )
}

/// A sparse impulse response and its estimate.
fn stems() -> Figure {
    let taps = |scale: f64| {
        (0..64u32).map(move |i| {
            let is_active = matches!(i, 3 | 4 | 17 | 30 | 31 | 50);
            let w = (noise(i) - 0.5) * 2.0 * scale;
            (f64::from(i), if is_active { w } else { 0.0 })
        })
    };
    Figure::new("Echo path")
        .panel(Panel::new("tap", "weight").series(Series::stems("estimate", taps(0.9))))
}

/// More series than colors.
fn many_series() -> Figure {
    let mut panel = Panel::new("rows", "squared error").log_x().log_y();
    for i in 0..9u32 {
        let line = (0..40u32).map(move |k| {
            let n = 10f64.powf(f64::from(k) / 8.0);
            (n, (3.0 + f64::from(i)) / n.powf(0.3 + 0.05 * f64::from(i)))
        });
        panel = panel.series(Series::line(format!("algorithm number {i}"), line));
    }
    Figure::new("Nine algorithms").panel(panel)
}

/// What goes wrong in real data: gaps, nothing, one point, names with markup.
fn edges() -> Figure {
    let gap =
        [(1.0, 1.0), (2.0, 3.0), (3.0, f64::NAN), (4.0, 2.0), (5.0, f64::INFINITY), (6.0, 1.5)];
    Figure::new("Edges & <markup> \"quoted\"")
        .panel(
            Panel::new("x", "with gaps")
                .height(120)
                .series(Series::line("a < b", gap).with_markers())
                .series(Series::line("empty", [])),
        )
        .panel(Panel::new("x", "nothing at all").height(80))
        .panel(
            Panel::new("x", "clipped")
                .height(80)
                .limit_y(0.0, 2.0)
                .series(Series::line("a < b", [(1.0, -3.0), (6.0, 5.0)])),
        )
}

/// An overconfident model, calibrated for common or for rare events.
fn reliability(shift: f64) -> Figure {
    let mut binary = Binary::new(Loss::Logistic).bins(Bins::EqualMass(12));
    for i in 0..4000u32 {
        let margin = (noise(i) - 0.5) * 6.0 + shift / 2.0;
        let truth = Loss::Logistic.predict(margin * 0.6);
        let label = if noise(i + 7919) < truth { 1.0 } else { -1.0 };
        binary.record(margin, label, 1.0);
    }
    chart::reliability("Is it honest?", &binary.finish().calibration)
}

/// Ten images that look like weights of digits.
fn digits() -> Images {
    let mut images = Images::new("Weights of ten digits").subtitle("l1 = 3; blank means zero");
    for digit in 0..10u32 {
        let radius = 4.0 + 0.7 * f64::from(digit);
        let pixels = (0..28 * 28u32).map(move |i| {
            let (x, y) = (f64::from(i % 28) - 13.5, f64::from(i / 28) - 13.5);
            let ring = (-(x.hypot(y) - radius).powi(2) / 4.0).exp();
            let hole = (-(x * x + y * y) / 12.0).exp();
            let w = ring - 0.7 * hole + 0.2 * (noise(i + digit) - 0.5);
            if w.abs() < 0.12 { 0.0 } else { w }
        });
        images = images.image(digit.to_string(), 28, pixels);
    }
    images
}

/// A tone that rises, before and after.
fn chirp() -> HeatMaps {
    let decibels = |quiet: f64| {
        (0..80 * 200u32).map(move |i| {
            let (x, y) = (f64::from(i % 200) / 200.0, 1.0 - f64::from(i / 200) / 80.0);
            -20.0 - quiet - 3000.0 * (y - 0.2 - 0.6 * x).powi(2) + 8.0 * noise(i)
        })
    };
    HeatMaps::new("A chirp before and after")
        .subtitle("power in dB of full scale")
        .x("seconds", 0.0, 12.5)
        .y("kHz", 0.0, 8.0)
        .scale("dB", -100.0, -10.0)
        .map("before", 200, decibels(0.0))
        .map("after", 200, decibels(40.0))
}

/// Named values, one of them ours, one of them missing.
fn speed() -> Bars {
    Bars::new(
        "Invented speeds of invented stores, with a title so long that it has to be broken",
        "million features per second, higher is better",
    )
    .bar("dense store", 182.0)
    .bar("hashed store", 187.0)
    .bar("sorted store", 61.4)
    .bar("one that failed", f64::NAN)
    .highlight("dense store")
}

/// Digits in the plane, some of them taken for others.
fn plane() -> Scatter {
    let mut scatter = Scatter::new("Ten digits", "those taken for others are circled");
    for i in 0..300u32 {
        let (class, turn) = ((i % 10) as u8, f64::from(i % 10) * 0.63);
        let at = |c: f64, k: u32| (10.0 * c + 5.0 * (noise(2 * i + k) - 0.5)) as f32;
        scatter = scatter.point((at(turn.cos(), 0), at(turn.sin(), 1)), class);
        if noise(i + 31) < 0.05 {
            scatter = scatter.circled();
        }
    }
    scatter
}

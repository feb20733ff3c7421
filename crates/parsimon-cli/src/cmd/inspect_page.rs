//! The page of `parsimon inspect --html`: curves of number columns, and pairs of columns as maps.

use std::collections::BTreeMap;

use maud::{Markup, PreEscaped, html};
use parsimon::Model;
use parsimon::workspace::{Head, TableSchema, bin_name, hash, knot_name};
use parsimon::workspace::{number::significant, number::thousands};
use parsimon_page::chart::{Figure, Panel, Series};
use parsimon_page::{document, figure, wide};

/// Classes that are drawn in one chart.
const MOST_CLASSES: usize = 6;
/// Pairs that are drawn.
const MOST_MAPS: usize = 20;
/// Values of a category that a map has.
const MOST_VALUES: usize = 15;
/// Points of a line between two ends.
const POINTS: usize = 80;

/// The whole page.
pub(super) fn page(model: &Model, name: &str) -> String {
    let table = model.schema().table.as_ref();
    let mut curves: Vec<(f64, Figure)> = Vec::new();
    let mut maps: Vec<(f64, Markup)> = Vec::new();
    if let (Some(table), Some(bits)) = (table, model.schema().bits) {
        let drawn = Drawn { model, table, bits };
        curves = drawn.curves();
        maps = drawn.maps();
        curves.sort_by(|a, b| b.0.total_cmp(&a.0));
        maps.sort_by(|a, b| b.0.total_cmp(&a.0));
    }
    let settings = model.settings();
    let unit = if settings.loss().has_probabilities() { "log odds" } else { "prediction" };
    document(
        &format!("parsimon: {name}"),
        html! {
            h1 { (name) } "\n"
            p {
                "Method " (settings.algorithm().name) ", "
                (thousands(model.nonzeros() as u64)) " nonzero weights, learned from "
                (thousands(model.provenance().rows)) " rows. Each chart has what a column adds to the " (unit)
                "; the columns that move predictions most come first."
            } "\n"
            @if curves.is_empty() { p { "No number column has a weight." } "\n" }
            @for (_, chart) in &curves { (figure(&PreEscaped(chart.to_svg()), None)) }
            @if !maps.is_empty() { h2 { "Pairs of columns" } "\n" }
            @for (_, map) in maps.iter().take(MOST_MAPS) { (map) }
        },
    )
}

/// A model of a table.
struct Drawn<'a> {
    model: &'a Model,
    table: &'a TableSchema,
    bits: u8,
}

impl Drawn<'_> {
    fn slot(&self, name: &str) -> u32 {
        hash::slot(hash::feature(0, name.as_bytes()), self.bits)
    }

    /// The slot of a pair of features.
    fn slot_of_pair(&self, a: &str, b: &str) -> u32 {
        let feature = |name: &str| hash::feature(0, name.as_bytes());
        hash::slot(hash::cross(feature(a), feature(b)), self.bits)
    }

    /// The contribution of a number column to the margin of a head at `x`.
    fn at(&self, head: &Head, column: &str, knots: &[f64], x: f64) -> f64 {
        let id = self.slot(column);
        let key = hash::feature(0, column.as_bytes());
        let moments = self.model.columns().iter().find(|moments| moments.key == key);
        let seen = match (self.model.settings().is_normalized(), moments) {
            (true, Some(moments)) => moments.standardized(x),
            (true, None) => 0.0,
            (false, _) => x,
        };
        let weight = |i: usize| head.weight(self.slot(&knot_name(column, knots[i])));
        let bend = match knots.partition_point(|knot| *knot <= x) {
            _ if knots.is_empty() => 0.0,
            0 => weight(0),
            after if after == knots.len() => weight(after - 1),
            after => {
                let t = (x - knots[after - 1]) / (knots[after] - knots[after - 1]);
                (1.0 - t) * weight(after - 1) + t * weight(after)
            }
        };
        head.weight(id) * seen + bend
    }

    /// A chart of each number column that has a weight, with how much it moves predictions.
    fn curves(&self) -> Vec<(f64, Figure)> {
        let classes = self.model.classes();
        let mut charts = Vec::new();
        for column in self.table.columns.iter().filter(|c| self.table.may_curve(&c.name)) {
            let (name, knots) = (&column.name, column.knots.values());
            let Some((low, high)) = self.range(name, knots) else { continue };
            let mut panel = Panel::new(name.clone(), "added").show_y(0.0);
            let mut moved = 0.0_f64;
            for (k, head) in self.model.heads().iter().enumerate().take(MOST_CLASSES) {
                let steps = (0..=POINTS).map(|i| low + (high - low) * i as f64 / POINTS as f64);
                let mut xs: Vec<f64> = steps.chain(knots.iter().copied()).collect();
                xs.sort_unstable_by(f64::total_cmp);
                xs.dedup();
                let line: Vec<(f64, f64)> =
                    xs.iter().map(|&x| (x, self.at(head, name, knots, x))).collect();
                // Knots are quantiles, so each counts alike.
                let judged: Vec<f64> = match knots {
                    // The range is eight standard deviations: one to each side of the mean counts.
                    [] => [3.0, 5.0]
                        .map(|k| self.at(head, name, knots, low + (high - low) * k / 8.0))
                        .to_vec(),
                    knots => knots.iter().map(|&x| self.at(head, name, knots, x)).collect(),
                };
                let mean = judged.iter().sum::<f64>() / judged.len() as f64;
                let spread = judged.iter().map(|y| (y - mean).powi(2)).sum::<f64>();
                moved = moved.max((spread / judged.len() as f64).sqrt());
                let class = if self.model.is_multiclass() { classes.get(k) } else { None };
                panel = panel
                    .series(Series::line(class.cloned().unwrap_or_else(|| name.clone()), line));
            }
            if moved == 0.0 {
                continue;
            }
            let mut chart = Figure::new(name.clone()).panel(panel);
            if knots.len() > 1 {
                let rows = Panel::new(name.clone(), "rows").height(60);
                chart = chart
                    .subtitle("below: how dense the first rows are, by the distances of the knots, which are quantiles")
                    .panel(rows.series(Series::bars("rows", density(knots))));
            }
            charts.push((moved, chart));
        }
        charts
    }

    /// The ends of a chart.
    fn range(&self, column: &str, knots: &[f64]) -> Option<(f64, f64)> {
        if let [low, .., high] = knots {
            return Some((*low, *high));
        }
        let key = hash::feature(0, column.as_bytes());
        let moments = self.model.columns().iter().find(|moments| moments.key == key)?;
        let (low, high) = moments.range();
        (low < high).then_some((low, high))
    }

    /// A map of each pair that has a weight, with how much it moves predictions.
    fn maps(&self) -> Vec<(f64, Markup)> {
        let mut values: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for name in self.table.pairs.iter().flatten() {
            values.entry(name).or_insert_with(|| self.values(name));
        }
        let classes = self.model.classes();
        let mut maps = Vec::new();
        for [a, b] in &self.table.pairs {
            for (k, head) in self.model.heads().iter().enumerate().take(MOST_CLASSES) {
                let (of_a, of_b) = (&values[a.as_str()], &values[b.as_str()]);
                let weights: Vec<Vec<f64>> = of_a
                    .iter()
                    .map(|a| of_b.iter().map(|b| head.weight(self.slot_of_pair(a, b))).collect())
                    .collect();
                let squares = weights.iter().flatten().map(|w| w * w).sum::<f64>();
                if squares == 0.0 {
                    continue;
                }
                let cells = (of_a.len() * of_b.len()) as f64;
                let class = if self.model.is_multiclass() { classes.get(k) } else { None };
                let title = match class {
                    Some(class) => format!("{a} and {b}, {class}"),
                    None => format!("{a} and {b}"),
                };
                maps.push(((squares / cells).sqrt(), map(&title, of_a, of_b, &weights)));
            }
        }
        maps
    }

    /// The features of a column of pairs: all bins of a number, some values of a category.
    fn values(&self, name: &str) -> Vec<String> {
        let Some(column) = self.table.column(name) else { return Vec::new() };
        let cuts = column.cuts.values();
        if column.kind == parsimon::workspace::Kind::Number {
            return (0..=cuts.len()).map(|i| bin_name(name, cuts, i)).collect();
        }
        let prefix = format!("{name}=");
        let mut found: Vec<String> = Vec::new();
        for (j, _) in self.model.heads().iter().flat_map(Head::iter) {
            let feature = self.model.name(j);
            for part in feature.split('*') {
                if part.starts_with(&prefix) && !found.iter().any(|known| known == part) {
                    found.push(part.to_owned());
                }
            }
        }
        found.sort();
        found.truncate(MOST_VALUES);
        found
    }
}

/// The density of rows between knots that are quantiles, as bars whose largest is 1.
fn density(knots: &[f64]) -> Vec<(f64, f64, f64)> {
    let gaps = || knots.windows(2).map(|pair| pair[1] - pair[0]);
    let least = gaps().fold(f64::INFINITY, f64::min);
    knots.windows(2).zip(gaps()).map(|(pair, gap)| (pair[0], pair[1], least / gap)).collect()
}

/// Weights of pairs as a table with colored cells.
fn map(title: &str, of_a: &[String], of_b: &[String], weights: &[Vec<f64>]) -> Markup {
    let largest = weights.iter().flatten().fold(0.0_f64, |most, w| most.max(w.abs()));
    let color = |w: f64| {
        let share = (w.abs() / largest * 0.7).min(0.7);
        let tone = if w > 0.0 { "46,125,50" } else { "198,40,40" };
        format!("background:rgba({tone},{share:.2})")
    };
    html! {
        h3 { (title) } "\n"
        (wide(html! {
            table {
                tr { th {} @for b in of_b { th { (b) } } } "\n"
                @for (a, row) in of_a.iter().zip(weights) {
                    tr {
                        th { (a) }
                        @for &w in row {
                            @if w == 0.0 { td {} } @else { td style=(color(w)) { (significant(w, 2)) } }
                        }
                    } "\n"
                }
            }
        }))
    }
}

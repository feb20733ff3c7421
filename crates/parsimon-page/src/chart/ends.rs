//! Names at the right ends of lines, where the eye arrives anyway.
//!
//! Lines that end close together would write their names over each other. The names keep the order of the ends and move as
//! little as possible, in the sense of least squares, until each has a separate line.

use crate::chart::marks::Plot;
use crate::chart::panel::Panel;
use crate::chart::series::Marks;
use crate::chart::slot::{Slot, slot_of};
use crate::chart::svg::{Svg, polyline, text_width};

const SIZE: f64 = 12.0;
/// The distance of two names.
const LINE: f64 = 15.0;
/// From the plot to the marker and from there to the name.
const MARKER: f64 = 16.0;
const TEXT: f64 = 25.0;
/// Names may take this share of the figure.
const SHARE: f64 = 0.32;
/// A narrower figure has no room beside its plot.
const NARROWEST: f64 = 600.0;

/// The names of a panel's lines.
#[derive(Debug)]
pub(crate) struct Ends {
    names: Vec<(String, Slot)>,
}

impl Ends {
    /// The names to write, where all of them fit; the legend has them elsewhere.
    pub(crate) fn of(panel: &Panel, all: &[&str], figure_width: f64, height: f64) -> Option<Self> {
        let mut names: Vec<(String, Slot)> = Vec::new();
        for series in &panel.series {
            let is_line = matches!(&series.marks, Marks::Line { points, .. } if !points.is_empty());
            if is_line && !series.name.is_empty() && names.iter().all(|n| n.0 != series.name) {
                names.push((series.name.clone(), slot_of(series, all)));
            }
        }
        let ends = Self { names };
        let fits = figure_width >= NARROWEST
            && ends.width() <= SHARE * figure_width
            && ends.names.len() as f64 * LINE <= height;
        (ends.names.len() > 1 && fits).then_some(ends)
    }

    /// The room it needs to the right of the plot.
    pub(crate) fn width(&self) -> f64 {
        TEXT + self.names.iter().map(|n| text_width(&n.0, SIZE)).fold(0.0, f64::max)
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.names.iter().any(|n| n.0 == name)
    }

    pub(crate) fn draw(&self, svg: &mut Svg, panel: &Panel, plot: &Plot) {
        let mut ends: Vec<((f64, f64), &str, Slot)> = Vec::new();
        for (name, slot) in &self.names {
            // The rightmost point: a line may be drawn from right to left.
            let own = panel.series.iter().filter(|s| s.name == *name);
            let points = own.filter_map(|s| match &s.marks {
                Marks::Line { points, .. } => Some(points),
                _ => None,
            });
            let places = points.flatten().filter_map(|&p| plot.at(p));
            let end = places.max_by(|a, b| a.0.total_cmp(&b.0));
            ends.extend(end.map(|(x, y)| {
                let inside = (x.min(plot.right()), y.clamp(plot.top, plot.bottom()));
                (inside, name.as_str(), *slot)
            }));
        }
        ends.sort_by(|a, b| a.0.1.total_cmp(&b.0.1));
        let wanted: Vec<f64> = ends.iter().map(|end| end.0.1).collect();
        // The middle of a name may be at the top or bottom edge of the plot.
        let places = spread(&wanted, LINE, (plot.top, plot.bottom()));
        for ((end, name, slot), y) in ends.into_iter().zip(places) {
            let right = plot.right();
            svg.path(&polyline([end, (right + MARKER - 6.0, y)]), &slot.filled("leader"));
            svg.path(&slot.marker((right + MARKER, y), 3.5), &slot.filled("dot"));
            svg.text((right + TEXT, y + 4.0), &slot.filled("label"), "start", name);
        }
    }
}

/// The places nearest to the wanted ones, which ascend, that are `gap` apart and within the limits as far as there is room:
/// isotonic regression of `wanted[i] - i * gap` by pooling neighbors that are too close.
fn spread(wanted: &[f64], gap: f64, (low, high): (f64, f64)) -> Vec<f64> {
    let mut pools: Vec<(f64, usize)> = Vec::new();
    for (i, y) in wanted.iter().enumerate() {
        let mut pool = (y - i as f64 * gap, 1);
        while let Some(&(sum, len)) = pools.last()
            && sum / len as f64 > pool.0 / pool.1 as f64
        {
            pools.pop();
            pool = (sum + pool.0, len + pool.1);
        }
        pools.push(pool);
    }
    let last = high - wanted.len().saturating_sub(1) as f64 * gap;
    let means = pools.iter().flat_map(|&(sum, len)| std::iter::repeat_n(sum / len as f64, len));
    means.enumerate().map(|(i, mean)| mean.min(last).max(low) + i as f64 * gap).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::{Figure, Series};
    use parsimon_testing::SplitMix64;

    #[test]
    fn names_never_collide_and_stay_within_the_plot() {
        let mut random = SplitMix64::new(5);
        for n in 0..20 {
            for _ in 0..50 {
                // Many lines end at nearly the same height.
                let mut wanted: Vec<f64> =
                    (0..n).map(|_| 100.0 + 290.0 * random.unit().powi(4)).collect();
                wanted.sort_by(f64::total_cmp);
                let places = spread(&wanted, LINE, (100.0, 390.0));
                assert_eq!(places.len(), n);
                assert!(places.windows(2).all(|w| w[1] - w[0] >= LINE - 1e-9), "{places:?}");
                assert!(places.iter().all(|y| (100.0..=390.0 + 1e-9).contains(y)), "{places:?}");
            }
        }
    }

    #[test]
    fn a_name_stands_at_the_rightmost_point() {
        let line = |name: &str, points: [(f64, f64); 2]| Series::line(name, points);
        let figure = Figure::new("").panel(
            Panel::new("", "")
                .series(line("there", [(0.0, 0.0), (1.0, 1.0)]))
                .series(line("back", [(1.0, 0.5), (0.0, 0.0)])),
        );
        let svg = figure.to_svg();
        let heights: Vec<f64> = ["there", "back"]
            .iter()
            .filter_map(|name| svg.lines().find(|l| l.ends_with(&format!(">{name}</text>"))))
            .filter_map(|text| text.split(" y=\"").nth(1)?.split('"').next()?.parse().ok())
            .collect();
        // Half of 290 pixels, with five percent of room above.
        assert!((heights[1] - heights[0] - 145.0 / 1.05).abs() < 1.0, "{heights:?}");
    }

    #[test]
    fn names_that_do_not_collide_stay_at_their_lines() {
        assert_eq!(spread(&[10.0, 30.0, 70.0], 15.0, (0.0, 100.0)), [10.0, 30.0, 70.0]);
        // Two at one place move apart by the same way.
        assert_eq!(spread(&[50.0, 50.0], 10.0, (0.0, 100.0)), [45.0, 55.0]);
        assert_eq!(spread(&[99.0, 100.0], 10.0, (0.0, 100.0)), [90.0, 100.0]);
    }
}

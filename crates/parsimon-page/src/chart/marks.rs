//! Drawing the series of a panel into its rectangle.

use crate::chart::axis::Axis;
use crate::chart::labels::{Label, Placement};
use crate::chart::series::{Better, Marks, Series, pareto};
use crate::chart::slot::Slot;
use crate::chart::svg::{Svg, polyline};

/// The distance of the markers on a line, in pixels.
const MARKER_GAP: f64 = 80.0;

/// A rectangle with two axes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plot {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
}

impl Plot {
    pub(crate) fn right(&self) -> f64 {
        self.left + self.width
    }

    pub(crate) fn bottom(&self) -> f64 {
        self.top + self.height
    }

    pub(crate) fn x_at(&self, value: f64) -> Option<f64> {
        self.x.place(value).map(|p| self.left + p * self.width)
    }

    pub(crate) fn y_at(&self, value: f64) -> Option<f64> {
        self.y.place(value).map(|p| self.bottom() - p * self.height)
    }

    pub(crate) fn at(&self, (x, y): (f64, f64)) -> Option<(f64, f64)> {
        Some((self.x_at(x)?, self.y_at(y)?))
    }

    /// Base of bars and stems: zero, or the low end of an axis without zero.
    fn floor(&self) -> f64 {
        let zero = self.y_at(0.0).unwrap_or(self.bottom());
        zero.clamp(self.top, self.bottom())
    }

    fn visible(&self, points: &[(f64, f64)]) -> Vec<(f64, f64)> {
        points.iter().filter_map(|&p| self.at(p)).collect()
    }
}

/// Draws one series, marks the covered area for the placement of labels, and returns the labels that are still to be placed.
pub(crate) fn draw(
    svg: &mut Svg,
    plot: &Plot,
    series: &Series,
    slot: Slot,
    placement: &mut Placement,
) -> Vec<Label> {
    let mut labels = Vec::new();
    match &series.marks {
        Marks::Line { points, markers } => {
            svg.path(&line(plot, points), &slot.stroked("line"));
            if *markers {
                dots(svg, &plot.visible(points), slot, 3.5);
                labels = labels_of(plot, series, points, slot);
            } else if slot.is_one_of_many() {
                dots(svg, &sparse(plot, points, slot), slot, 3.5);
            }
        }
        Marks::Reference(points) => {
            svg.path(&line(plot, points), "reference");
            avoid_steps(plot, points, placement);
        }
        Marks::Points(points) => {
            if let Some(directions) = series.front {
                let steps = staircase(&pareto(points, directions), directions.0);
                svg.path(&line(plot, &steps), &slot.stroked("thin"));
                avoid_steps(plot, &steps, placement);
            }
            dots(svg, &plot.visible(points), slot, 4.5);
            plot.visible(points).into_iter().for_each(|p| placement.avoid_point(p));
            labels = labels_of(plot, series, points, slot);
        }
        Marks::Stems(points) => stems(svg, plot, points, slot),
        Marks::Bars(bars) => draw_bars(svg, plot, bars, slot),
        Marks::Band(edges) => band(svg, plot, edges, slot),
    }
    labels
}

/// Keeps labels off the level and upright parts of a line. The rectangle around a slanted part would be mostly empty.
fn avoid_steps(plot: &Plot, points: &[(f64, f64)], placement: &mut Placement) {
    for pair in plot.visible(points).windows(2) {
        if pair[0].0 == pair[1].0 || pair[0].1 == pair[1].1 {
            placement.avoid_line(pair[0], pair[1]);
        }
    }
}

fn labels_of(plot: &Plot, series: &Series, points: &[(f64, f64)], slot: Slot) -> Vec<Label> {
    let named = points.iter().zip(&series.labels);
    named
        .filter_map(|(&p, text)| Some(Label { at: plot.at(p)?, text: text.clone(), slot }))
        .collect()
}

/// The path of a line: one piece for each run of points that can be shown.
fn line(plot: &Plot, points: &[(f64, f64)]) -> String {
    let places: Vec<Option<(f64, f64)>> = points.iter().map(|&p| plot.at(p)).collect();
    places
        .split(Option::is_none)
        .map(|run| {
            let run: Vec<(f64, f64)> = run.iter().copied().flatten().collect();
            // A path of one point is invisible, so give it a width.
            match run[..] {
                [(x, y)] => polyline([(x - 1.0, y), (x + 1.0, y)]),
                _ => polyline(thinned(&run)),
            }
        })
        .collect()
}

/// The envelope of a line that has more points than pixels: of the points in one column of pixels the
/// first, the lowest, the highest and the last draw the same ink as all of them.
fn thinned(run: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut out = Vec::new();
    for column in run.chunk_by(|a, b| a.0.floor() == b.0.floor()) {
        if column.len() <= 4 {
            out.extend_from_slice(column);
            continue;
        }
        let by_height = |i: &usize, j: &usize| column[*i].1.total_cmp(&column[*j].1);
        let low = (0..column.len()).min_by(by_height).unwrap_or(0);
        let high = (0..column.len()).max_by(by_height).unwrap_or(0);
        let mut keep = [0, low, high, column.len() - 1];
        keep.sort_unstable();
        out.extend(keep.iter().map(|&i| column[i]));
    }
    out
}

/// Draws a front as steps: the best `y` that a budget of `x` allows.
fn staircase(front: &[(f64, f64)], x: Better) -> Vec<(f64, f64)> {
    let mut steps = Vec::new();
    for (i, &p) in front.iter().enumerate() {
        if i > 0 {
            let q = front[i - 1];
            steps.push(if x == Better::Low { (p.0, q.1) } else { (q.0, p.1) });
        }
        steps.push(p);
    }
    steps
}

fn dots(svg: &mut Svg, places: &[(f64, f64)], slot: Slot, r: f64) {
    let d: String = places.iter().map(|&p| slot.marker(p, r)).collect();
    svg.path(&d, &slot.filled("dot"));
}

/// A few places of a line for its markers: points of the data near a regular grid, which is shifted from series to series so
/// that the markers of lines that coincide do not.
fn sparse(plot: &Plot, points: &[(f64, f64)], slot: Slot) -> Vec<(f64, f64)> {
    let inside = |p: &(f64, f64)| p.1 >= plot.top && p.1 <= plot.bottom();
    let places: Vec<_> = plot.visible(points).into_iter().filter(inside).collect();
    let gap = plot.width / (plot.width / MARKER_GAP).round().max(1.0);
    let shift = (slot.index as f64 + 0.5) / slot.of as f64;
    let mut chosen: Vec<usize> = Vec::new();
    for k in 0..(plot.width / gap).round() as usize {
        let target = plot.left + (k as f64 + shift) * gap;
        let away = |i: &usize| (places[*i].0 - target).abs();
        let nearest = (0..places.len()).min_by(|i, j| away(i).total_cmp(&away(j)));
        chosen.extend(nearest.filter(|i| away(i) <= gap / 2.0 && !chosen.contains(i)));
    }
    if chosen.is_empty() && !places.is_empty() {
        chosen.push(places.len() / 2);
    }
    chosen.into_iter().map(|i| places[i]).collect()
}

fn stems(svg: &mut Svg, plot: &Plot, points: &[(f64, f64)], slot: Slot) {
    let floor = plot.floor();
    let (zeros, others): (Vec<_>, Vec<_>) = points.iter().copied().partition(|p| p.1 == 0.0);
    let heads = plot.visible(&others);
    let d: String = heads.iter().map(|&(x, y)| polyline([(x, floor), (x, y)])).collect();
    svg.path(&d, &slot.filled("thin"));
    // Many taps need small heads, and zeros are there to be counted, not to be looked at.
    let r = (plot.width / points.len().max(1) as f64 * 0.4).clamp(1.4, 3.5);
    let marker = |r: f64| move |&p: &(f64, f64)| slot.marker(p, r);
    let d: String = heads.iter().map(marker(r)).collect();
    svg.path(&d, &slot.filled("head"));
    let d: String = plot.visible(&zeros).iter().map(marker(r * 0.5)).collect();
    svg.path(&d, &slot.filled("head"));
}

fn draw_bars(svg: &mut Svg, plot: &Plot, bars: &[(f64, f64, f64)], slot: Slot) {
    let floor = plot.floor();
    for &(from, to, height) in bars {
        let (Some(a), Some(b)) = (plot.x_at(from), plot.x_at(to)) else {
            continue;
        };
        let Some(y) = plot.y_at(height) else { continue };
        // A gap between neighbors, and never less than a visible line.
        let gap = if (b - a).abs() > 6.0 { 1.0 } else { 0.0 };
        let width = ((b - a).abs() - gap).max(1.5);
        let left = f64::midpoint(a, b) - width / 2.0;
        svg.rect((left, y.min(floor)), (width, (y - floor).abs()), &slot.filled("fill"));
    }
}

fn band(svg: &mut Svg, plot: &Plot, edges: &[(f64, f64, f64)], slot: Slot) {
    // On a logarithmic axis a band that reaches zero, or a value below the axis, ends at the frame.
    let low_at = |low: f64| match plot.y_at(low) {
        None if low.is_nan() => None,
        y => Some(y.unwrap_or(plot.bottom()).min(plot.bottom())),
    };
    let place = |&(x, low, high): &(f64, f64, f64)| {
        let (x, low, high) = (plot.x_at(x)?, low_at(low)?, plot.y_at(high)?);
        Some([(x, low), (x, high.min(plot.bottom()))])
    };
    let places: Vec<Option<[(f64, f64); 2]>> = edges.iter().map(place).collect();
    for run in places.split(Option::is_none) {
        let run: Vec<[(f64, f64); 2]> = run.iter().copied().flatten().collect();
        if run.len() > 1 {
            let there = run.iter().map(|e| e[0]);
            let back = run.iter().rev().map(|e| e[1]);
            svg.path(&(polyline(there.chain(back)) + "Z"), &slot.filled("band"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::axis::AxisScale;

    fn plot() -> Plot {
        let axis = Axis::fit(AxisScale::Linear, [0.0, 10.0]);
        Plot { left: 0.0, top: 0.0, width: 100.0, height: 100.0, x: axis, y: axis }
    }

    #[test]
    fn a_line_is_interrupted_where_there_is_no_number() {
        let points = [(0.0, 0.0), (1.0, 1.0), (2.0, f64::NAN), (3.0, 3.0), (4.0, 4.0)];
        assert_eq!(line(&plot(), &points), "M0 100L10 90M30 70L40 60");
        assert_eq!(line(&plot(), &[]), "");
    }

    #[test]
    fn lines_that_coincide_have_markers_at_different_places() {
        let points: Vec<(f64, f64)> = (0..100).map(|i| (f64::from(i) / 10.0, 5.0)).collect();
        let wide = Plot { width: 480.0, ..plot() };
        let of = |index| sparse(&wide, &points, Slot { index, of: 3 });
        let all: Vec<(f64, f64)> = (0..3).flat_map(of).collect();
        assert_eq!(all.len(), 18);
        assert!(all.iter().enumerate().all(|(i, p)| !all[..i].contains(p)), "{all:?}");
        // A line that is too short for the grid still gets one mark.
        assert_eq!(sparse(&wide, &[(9.9, 1.0)], Slot { index: 0, of: 3 }).len(), 1);
        assert!(sparse(&wide, &[], Slot { index: 0, of: 3 }).is_empty());
    }

    #[test]
    fn thinning_keeps_the_envelope() {
        let run: Vec<(f64, f64)> =
            (0..10_000).map(|i| (f64::from(i) / 100.0, f64::from((i * 7919) % 1000))).collect();
        let thin = thinned(&run);
        assert!(thin.len() <= 400);
        let extent = |points: &[(f64, f64)]| {
            points.iter().fold((f64::INFINITY, 0.0), |(a, b), p| (p.1.min(a), p.1.max(b)))
        };
        for column in 0..100 {
            let of = |points: &[(f64, f64)]| {
                let inside = points.iter().filter(|p| p.0.floor() == f64::from(column));
                extent(&inside.copied().collect::<Vec<_>>())
            };
            assert_eq!(of(&run), of(&thin));
        }
    }

    #[test]
    fn a_band_that_reaches_zero_ends_at_the_frame_of_a_logarithmic_axis() {
        let y = Axis::fit(AxisScale::Log, [0.1, 1000.0]);
        let mut svg = Svg::default();
        let edges = [(0.0, 1.0, 100.0), (5.0, -3.0, 10.0), (10.0, 0.001, 10.0)];
        band(&mut svg, &Plot { y, ..plot() }, &edges, Slot { index: 0, of: 1 });
        assert!(svg.finish().contains("d=\"M0 75L50 100L100 100L100 50L50 50L0 25Z\""));
        let mut svg = Svg::default();
        band(
            &mut svg,
            &plot(),
            &[(0.0, f64::NAN, 1.0), (5.0, f64::NAN, 1.0)],
            Slot { index: 0, of: 1 },
        );
        assert!(!svg.finish().contains("path"));
    }

    #[test]
    fn a_budget_buys_the_best_seen_so_far() {
        let front = [(1.0, 5.0), (3.0, 8.0)];
        assert_eq!(staircase(&front, Better::Low), [(1.0, 5.0), (3.0, 5.0), (3.0, 8.0)]);
        let front = [(1.0, 8.0), (3.0, 5.0)];
        assert_eq!(staircase(&front, Better::High), [(1.0, 8.0), (1.0, 5.0), (3.0, 5.0)]);
    }
}

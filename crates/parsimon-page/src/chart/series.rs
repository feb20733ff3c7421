//! The series of a panel: lines, points, stems, bars, bands.

/// One named set of marks.
///
/// Series of the same name share their color throughout a figure. Points that are not finite, or not
/// positive on a logarithmic axis, are not drawn; a line is interrupted there, because bridging the gap
/// would invent data.
///
/// ```
/// use parsimon_page::chart::{Better, Series};
///
/// let curve = Series::line("ftrl", [(1.0, 0.69), (2.0, 0.64), (4.0, 0.61)]).with_markers();
/// let models = Series::points("ftrl", [(120.0, 0.91), (40.0, 0.90), (90.0, 0.85)])
///     .labels(["l1 = 1", "l1 = 10", "l1 = 2"])
///     .front(Better::Low, Better::High); // few weights, high accuracy
/// # let _ = (curve, models);
/// ```
#[derive(Clone, Debug)]
pub struct Series {
    pub(crate) name: String,
    pub(crate) marks: Marks,
    pub(crate) labels: Vec<String>,
    pub(crate) front: Option<(Better, Better)>,
}

#[derive(Clone, Debug)]
pub(crate) enum Marks {
    Line {
        points: Vec<(f64, f64)>,
        markers: bool,
    },
    Points(Vec<(f64, f64)>),
    Stems(Vec<(f64, f64)>),
    /// From, to, height.
    Bars(Vec<(f64, f64, f64)>),
    /// At, low, high.
    Band(Vec<(f64, f64, f64)>),
    Reference(Vec<(f64, f64)>),
}

/// The better end of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// Less is better: a loss, a number of weights, a time.
    Low,
    /// More is better: an accuracy, a throughput.
    High,
}

impl Series {
    fn new(name: impl Into<String>, marks: Marks) -> Self {
        Self { name: name.into(), marks, labels: Vec::new(), front: None }
    }

    /// A line through points, in the order given.
    pub fn line(name: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        let points = points.into_iter().collect();
        Self::new(name, Marks::Line { points, markers: false })
    }

    /// Points, not connected.
    pub fn points(name: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self::new(name, Marks::Points(points.into_iter().collect()))
    }

    /// Stems from zero: taps of a filter, an impulse response, weights by index. Exact zeros get a dot on
    /// the line and no stem.
    pub fn stems(name: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self::new(name, Marks::Stems(points.into_iter().collect()))
    }

    /// Bars standing on zero, each as `(from, to, height)`.
    pub fn bars(name: impl Into<String>, bars: impl IntoIterator<Item = (f64, f64, f64)>) -> Self {
        Self::new(name, Marks::Bars(bars.into_iter().collect()))
    }

    /// A shaded region, as `(x, low, high)`: the spread over seeds, around a line of the same name.
    pub fn band(name: impl Into<String>, edges: impl IntoIterator<Item = (f64, f64, f64)>) -> Self {
        Self::new(name, Marks::Band(edges.into_iter().collect()))
    }

    /// A dashed gray line to compare with: a bound, a diagonal, a published number.
    pub fn reference(
        name: impl Into<String>,
        points: impl IntoIterator<Item = (f64, f64)>,
    ) -> Self {
        Self::new(name, Marks::Reference(points.into_iter().collect()))
    }

    /// Marks the points of a line.
    #[must_use]
    pub fn with_markers(mut self) -> Self {
        if let Marks::Line { markers, .. } = &mut self.marks {
            *markers = true;
        }
        self
    }

    /// Writes a label beside each point, in the order of the points.
    #[must_use]
    pub fn labels<T: Into<String>>(mut self, labels: impl IntoIterator<Item = T>) -> Self {
        self.labels = labels.into_iter().map(Into::into).collect();
        self
    }

    /// Draws the Pareto front of the points: those that no other point equals or beats in both
    /// directions, joined by the staircase of what can be had.
    #[must_use]
    pub fn front(mut self, x: Better, y: Better) -> Self {
        self.front = Some((x, y));
        self
    }

    /// Every value the x axis must show.
    pub(crate) fn xs(&self) -> Vec<f64> {
        match &self.marks {
            Marks::Line { points, .. }
            | Marks::Points(points)
            | Marks::Stems(points)
            | Marks::Reference(points) => points.iter().map(|p| p.0).collect(),
            Marks::Bars(bars) => bars.iter().flat_map(|b| [b.0, b.1]).collect(),
            Marks::Band(edges) => edges.iter().map(|e| e.0).collect(),
        }
    }

    /// Every value the y axis must show.
    pub(crate) fn ys(&self) -> Vec<f64> {
        match &self.marks {
            Marks::Line { points, .. } | Marks::Points(points) | Marks::Reference(points) => {
                points.iter().map(|p| p.1).collect()
            }
            Marks::Stems(points) => points.iter().map(|p| p.1).chain([0.0]).collect(),
            Marks::Bars(bars) => bars.iter().map(|b| b.2).chain([0.0]).collect(),
            Marks::Band(edges) => edges.iter().flat_map(|e| [e.1, e.2]).collect(),
        }
    }

    /// Whether its marks need room at the ends of the x axis.
    pub(crate) fn is_wide(&self) -> bool {
        !matches!(self.marks, Marks::Line { markers: false, .. } | Marks::Band(_))
            && !matches!(self.marks, Marks::Reference(_) | Marks::Bars(_))
    }
}

/// The points of the Pareto front, by increasing x. Of equal points the first is kept.
pub(crate) fn pareto(points: &[(f64, f64)], (x, y): (Better, Better)) -> Vec<(f64, f64)> {
    let cost = |better: Better, v: f64| if better == Better::Low { v } else { -v };
    let mut sorted: Vec<(f64, f64)> =
        points.iter().copied().filter(|p| p.0.is_finite() && p.1.is_finite()).collect();
    sorted.sort_by(|p, q| {
        let by_y = cost(y, p.1).total_cmp(&cost(y, q.1));
        cost(x, p.0).total_cmp(&cost(x, q.0)).then(by_y)
    });
    let mut best = f64::INFINITY;
    sorted.retain(|p| {
        let keep = cost(y, p.1) < best;
        best = best.min(cost(y, p.1));
        keep
    });
    sorted.sort_by(|p, q| p.0.total_cmp(&q.0));
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;
    use parsimon_testing::SplitMix64;

    #[test]
    fn the_front_is_what_nothing_beats() {
        let mut random = SplitMix64::new(4);
        let points: Vec<(f64, f64)> =
            (0..200).map(|_| (random.below(30) as f64, random.below(30) as f64)).collect();
        for x in [Better::Low, Better::High] {
            for y in [Better::Low, Better::High] {
                let no_worse =
                    |b: Better, p: f64, q: f64| if b == Better::Low { p <= q } else { p >= q };
                let mut expected: Vec<(f64, f64)> = points.clone();
                expected.retain(|q| {
                    !points.iter().any(|p| p != q && no_worse(x, p.0, q.0) && no_worse(y, p.1, q.1))
                });
                expected.sort_by(|p, q| p.0.total_cmp(&q.0));
                expected.dedup();
                assert_eq!(pareto(&points, (x, y)), expected);
            }
        }
    }

    #[test]
    fn points_that_are_no_numbers_beat_nothing() {
        let front = pareto(&[(f64::NAN, 9.0), (1.0, 1.0)], (Better::Low, Better::High));
        assert_eq!(front, [(1.0, 1.0)]);
    }
}

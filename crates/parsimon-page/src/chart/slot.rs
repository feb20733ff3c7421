//! The place of a series in a figure, and with it its color, marker and dashes.

use crate::chart::series::Series;
use crate::chart::svg::{num, polyline};
use crate::chart::theme::COLORS;

/// The number of markers, and of dash patterns (`.d0` to `.d5` of the style sheet).
pub(crate) const SHAPES: usize = 6;

/// A place among the series of a figure. Two series differ in color, marker and dashes; when the markers have been used up, they and
/// the dashes are paired anew, so that 36 series can be distinguished without color.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    pub(crate) index: usize,
    /// The number of series in the figure.
    pub(crate) of: usize,
}

impl Slot {
    /// Whether the figure has other series.
    pub(crate) fn is_one_of_many(self) -> bool {
        self.of > 1
    }

    /// The classes of a filled shape.
    pub(crate) fn filled(self, shape: &str) -> String {
        format!("c{} {shape}", self.index % COLORS)
    }

    /// The classes of a stroke.
    pub(crate) fn stroked(self, shape: &str) -> String {
        match self.dash() {
            0 => self.filled(shape),
            dash => format!("{} d{dash}", self.filled(shape)),
        }
    }

    fn dash(self) -> usize {
        (self.index + 2 * (self.index / SHAPES)) % SHAPES
    }

    /// The outline of a marker.
    pub(crate) fn marker(self, (x, y): (f64, f64), r: f64) -> String {
        let corners = |corners: &[(f64, f64)]| {
            polyline(corners.iter().map(|c| (x + r * c.0, y + r * c.1))) + "Z"
        };
        match (self.index + self.index / SHAPES) % SHAPES {
            1 => corners(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]),
            2 => corners(&[(0.0, -1.2), (1.1, 0.8), (-1.1, 0.8)]),
            3 => corners(&[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)]),
            4 => corners(&[(0.0, 1.2), (-1.1, -0.8), (1.1, -0.8)]),
            5 => corners(&[
                (-0.4, -1.2),
                (0.4, -1.2),
                (0.4, -0.4),
                (1.2, -0.4),
                (1.2, 0.4),
                (0.4, 0.4),
                (0.4, 1.2),
                (-0.4, 1.2),
                (-0.4, 0.4),
                (-1.2, 0.4),
                (-1.2, -0.4),
                (-0.4, -0.4),
            ]),
            _ => {
                let (left, r, d) = (polyline([(x - r, y)]), num(r), num(2.0 * r));
                format!("{left}a{r} {r} 0 1 0 {d} 0a{r} {r} 0 1 0 -{d} 0Z")
            }
        }
    }
}

/// The place of a series among the names of a figure.
pub(crate) fn slot_of(series: &Series, names: &[&str]) -> Slot {
    let index = names.iter().position(|name| *name == series.name).unwrap_or(0);
    Slot { index, of: names.len() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn marker_and_dashes_tell_series_apart_without_color() {
        let look = |index| {
            let slot = Slot { index, of: 36 };
            (slot.dash(), slot.marker((0.0, 0.0), 4.0))
        };
        assert_eq!((0..36).map(look).collect::<HashSet<_>>().len(), 36);
        // The first six differ in each of the two.
        assert_eq!((0..6).map(|i| look(i).0).collect::<HashSet<_>>().len(), 6);
        assert_eq!((0..6).map(|i| look(i).1).collect::<HashSet<_>>().len(), 6);
    }
}

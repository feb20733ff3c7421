//! Placement of the names of points.
//!
//! Each label tries the sides of its point, near ones first, and takes the place that covers least of what
//! is already there. A label that would cover another, or leave the panel, is left out: color and marker still say whose
//! point it is. Greedy and in order: the same points give the same picture.

use crate::chart::slot::Slot;
use crate::chart::svg::{Svg, text_width};

const SIZE: f64 = 12.0;

/// An upright rectangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Area {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) right: f64,
    pub(crate) bottom: f64,
}

impl Area {
    pub(crate) fn around((x, y): (f64, f64), radius: f64) -> Self {
        Self { left: x - radius, top: y - radius, right: x + radius, bottom: y + radius }
    }

    /// The rectangle two corners span, a hair wide if it is a line.
    pub(crate) fn between(a: (f64, f64), b: (f64, f64)) -> Self {
        Self {
            left: a.0.min(b.0) - 1.0,
            top: a.1.min(b.1) - 1.0,
            right: a.0.max(b.0) + 1.0,
            bottom: a.1.max(b.1) + 1.0,
        }
    }

    fn overlap(&self, other: &Self) -> f64 {
        let width = self.right.min(other.right) - self.left.max(other.left);
        let height = self.bottom.min(other.bottom) - self.top.max(other.top);
        if width > 0.0 && height > 0.0 { width * height } else { 0.0 }
    }

    fn size(&self) -> f64 {
        (self.right - self.left) * (self.bottom - self.top)
    }
}

/// A name that wants a place.
#[derive(Clone, Debug)]
pub(crate) struct Label {
    pub(crate) at: (f64, f64),
    pub(crate) text: String,
    pub(crate) slot: Slot,
}

/// Places for labels among points and lines.
#[derive(Debug)]
pub(crate) struct Placement {
    bounds: Area,
    /// An area that labels should not cover, and the cost of covering it.
    taken: Vec<(Area, f64)>,
    /// The labels so far.
    written: Vec<Area>,
}

impl Placement {
    pub(crate) fn new(bounds: Area) -> Self {
        Self { bounds, taken: Vec::new(), written: Vec::new() }
    }

    /// Marks a point that labels should not cover.
    pub(crate) fn avoid_point(&mut self, at: (f64, f64)) {
        self.taken.push((Area::around(at, 5.0), 4.0));
    }

    /// Keeps a line free where that is cheap: text over a line can still be read.
    pub(crate) fn avoid_line(&mut self, a: (f64, f64), b: (f64, f64)) {
        self.taken.push((Area::between(a, b), 0.2));
    }

    /// Finds the best place for a label and reserves it; nothing where every place covers another label.
    fn place(&mut self, label: &Label) -> Option<Area> {
        let width = text_width(&label.text, SIZE);
        let (x, y) = label.at;
        let mut best = (f64::INFINITY, Area::around(label.at, 1.0));
        for gap in [8.0, 16.0, 28.0, 44.0, 64.0] {
            for (dx, dy) in SIDES {
                let center = (x + dx * (gap + width / 2.0), y + dy * (gap + SIZE / 2.0));
                // Above and below, the text need not clear the point sideways.
                let center = if dx.abs() < 1.0 { (x + dx * width, center.1) } else { center };
                let area = Area {
                    left: center.0 - width / 2.0,
                    right: center.0 + width / 2.0,
                    top: center.1 - SIZE * 0.6,
                    bottom: center.1 + SIZE * 0.6,
                };
                let cost = self.cost(&area) + gap;
                if cost < best.0 {
                    best = (cost, area);
                }
            }
        }
        let area = best.1;
        let is_free = self.written.iter().all(|other| area.overlap(other) == 0.0)
            && area.overlap(&self.bounds) > area.size() - 1e-6;
        is_free.then(|| {
            self.written.push(area);
            area
        })
    }

    fn cost(&self, area: &Area) -> f64 {
        let outside = area.size() - area.overlap(&self.bounds);
        let covered: f64 = self.taken.iter().map(|(other, w)| w * area.overlap(other)).sum();
        let hidden: f64 = self.written.iter().map(|other| area.overlap(other)).sum();
        1e3 * (outside + hidden) + covered
    }

    /// Writes all labels; those that had to move away are tied to their point by a thin line.
    pub(crate) fn write(&mut self, svg: &mut Svg, labels: &[Label]) {
        for label in labels.iter().filter(|label| !label.text.is_empty()) {
            let Some(area) = self.place(label) else { continue };
            let (x, y) = label.at;
            let near = (x.clamp(area.left, area.right), y.clamp(area.top, area.bottom));
            if (near.0 - x).hypot(near.1 - y) > 12.0 {
                svg.line(label.at, near, "axis");
            }
            let middle = f64::midpoint(area.left, area.right);
            let class = label.slot.filled("label halo");
            svg.text((middle, area.bottom - 3.0), &class, "middle", &label.text);
        }
    }
}

// Right, left, above, below, then the corners; last, above and below but shifted to one side.
const SIDES: [(f64, f64); 12] = [
    (1.0, 0.0),
    (-1.0, 0.0),
    (0.0, -1.0),
    (0.0, 1.0),
    (1.0, -1.0),
    (-1.0, -1.0),
    (1.0, 1.0),
    (-1.0, 1.0),
    (0.4, -1.0),
    (-0.4, -1.0),
    (0.4, 1.0),
    (-0.4, 1.0),
];

#[cfg(test)]
mod tests {
    use super::*;
    use parsimon_testing::SplitMix64;

    const SLOT: Slot = Slot { index: 0, of: 1 };
    const BOUNDS: Area = Area { left: 0.0, top: 0.0, right: 600.0, bottom: 300.0 };

    #[test]
    fn labels_of_close_points_do_not_overlap() {
        let mut random = SplitMix64::new(12);
        let mut placement = Placement::new(BOUNDS);
        let labels: Vec<Label> = (0..24)
            .map(|i| Label {
                at: (random.unit() * 600.0, random.unit() * 300.0),
                text: format!("l1 = {i}"),
                slot: SLOT,
            })
            .collect();
        for label in &labels {
            placement.avoid_point(label.at);
        }
        let areas: Vec<Area> = labels.iter().filter_map(|label| placement.place(label)).collect();
        assert_eq!(areas.len(), labels.len());
        for (i, a) in areas.iter().enumerate() {
            assert!(a.overlap(&BOUNDS) > a.size() - 1e-9, "{a:?} leaves the panel");
            assert!(areas[..i].iter().all(|b| a.overlap(b) == 0.0), "label {i} covers another");
        }
    }

    #[test]
    fn a_lonely_label_stands_to_the_right() {
        let mut placement = Placement::new(BOUNDS);
        let label = Label { at: (100.0, 100.0), text: "x".to_owned(), slot: SLOT };
        let area = placement.place(&label).unwrap();
        assert!(area.left > 104.0 && area.left < 112.0);
    }

    #[test]
    fn a_crowd_loses_names_and_covers_none() {
        let mut placement = Placement::new(BOUNDS);
        let name = |i| Label { at: (300.0, 150.0), text: format!("a long name {i}"), slot: SLOT };
        let areas: Vec<Area> = (0..200).filter_map(|i| placement.place(&name(i))).collect();
        assert!(areas.len() > 8 && areas.len() < 200, "{}", areas.len());
        for (i, a) in areas.iter().enumerate() {
            assert!(areas[..i].iter().all(|b| a.overlap(b) == 0.0));
        }
    }
}

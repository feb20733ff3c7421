//! The line above a panel: what the y axis shows, and which series is which.
//!
//! The legend stands outside of the plot, where no data can be below it. The title of the y axis stands
//! there too, upright, because sideways text is read slowly. Both share a line if they fit.

use crate::chart::figure::slot_of;
use crate::chart::marks::{Plot, Slot};
use crate::chart::panel::Panel;
use crate::chart::series::{Marks, Series};
use crate::chart::svg::{Svg, text_width};

const SIZE: f64 = 13.0;
const LINE: f64 = 20.0;
const SWATCH: f64 = 22.0;
const GAP: f64 = 18.0;

/// The entries of one panel, broken into lines.
#[derive(Debug)]
pub(crate) struct Legend {
    lines: Vec<Vec<LegendEntry>>,
    /// Whether the title of the y axis stands on the last of the lines.
    shares_line: bool,
}

#[derive(Debug)]
struct LegendEntry {
    name: String,
    slot: Slot,
    swatch: Swatch,
    width: f64,
}

#[derive(Debug, PartialEq)]
enum Swatch {
    Line,
    MarkedLine,
    Dot,
    Box,
    Band,
    Reference,
}

impl Legend {
    /// The legend of a panel. Names explained in a panel above (`shown`) are not explained again, and one
    /// series needs no legend: the titles say what it is.
    pub(crate) fn new(panel: &Panel, names: &[&str], shown: &mut Vec<String>, width: f64) -> Self {
        let mut entries: Vec<LegendEntry> = Vec::new();
        for series in panel.series.iter().filter(|s| !s.name.is_empty()) {
            let entry = LegendEntry::new(series, slot_of(series, names));
            match entries.iter_mut().find(|e| e.name == entry.name) {
                // A line says more than the band around it.
                Some(old) if old.swatch == Swatch::Band => *old = entry,
                Some(_) => {}
                None => entries.push(entry),
            }
        }
        let is_needed = entries.len() > 1 || names.len() > 1;
        if !is_needed || entries.iter().all(|e| shown.contains(&e.name)) {
            entries.clear();
        }
        shown.extend(entries.iter().map(|e| e.name.clone()));
        let title = text_width(&panel.y_title, SIZE);
        let all: f64 = entries.iter().map(|e| e.width + GAP).sum();
        let shares_line = all + title <= width;
        Self { lines: broken(entries, width), shares_line }
    }

    /// How much room it needs above the plot.
    pub(crate) fn height(&self) -> f64 {
        let own = self.lines.len() + usize::from(!self.shares_line || self.lines.is_empty());
        own as f64 * LINE + 6.0
    }

    pub(crate) fn draw(&self, svg: &mut Svg, panel: &Panel, plot: &Plot) {
        let top = plot.top - self.height();
        let title_line = self.height() - 6.0 - LINE;
        svg.text((plot.left, top + title_line + 14.0), "name muted", "start", &panel.y_title);
        for (i, line) in self.lines.iter().enumerate() {
            let width: f64 = line.iter().map(|e| e.width).sum::<f64>()
                + GAP * line.len().saturating_sub(1) as f64;
            // On the line of the title it stands at the right end; lines of its own begin at the left.
            let mut x = if self.shares_line { plot.right() - width } else { plot.left };
            for entry in line {
                entry.draw(svg, (x, top + i as f64 * LINE + 14.0));
                x += entry.width + GAP;
            }
        }
    }
}

impl LegendEntry {
    fn new(series: &Series, slot: Slot) -> Self {
        let swatch = match series.marks {
            Marks::Line { markers: false, .. } => Swatch::Line,
            Marks::Line { markers: true, .. } => Swatch::MarkedLine,
            Marks::Points(_) | Marks::Stems(_) => Swatch::Dot,
            Marks::Bars(_) => Swatch::Box,
            Marks::Band(_) => Swatch::Band,
            Marks::Reference(_) => Swatch::Reference,
        };
        let name = series.name.clone();
        let width = SWATCH + 6.0 + text_width(&name, SIZE);
        Self { name, slot, swatch, width }
    }

    fn draw(&self, svg: &mut Svg, (x, y): (f64, f64)) {
        let middle = y - 4.5;
        let (from, to) = ((x, middle), (x + SWATCH, middle));
        match self.swatch {
            Swatch::Line => svg.line(from, to, &self.slot.class("line")),
            Swatch::MarkedLine => {
                svg.line(from, to, &self.slot.class("line"));
                self.dot(svg, (x + SWATCH / 2.0, middle), 3.5);
            }
            Swatch::Dot => self.dot(svg, (x + SWATCH / 2.0, middle), 4.5),
            Swatch::Box | Swatch::Band => {
                let shape = if self.swatch == Swatch::Box { "fill" } else { "band" };
                svg.rect((x + 5.0, middle - 6.0), (12.0, 12.0), &self.slot.class(shape));
            }
            Swatch::Reference => svg.line(from, to, "reference"),
        }
        svg.text((x + SWATCH + 6.0, y), "name", "start", &self.name);
    }

    fn dot(&self, svg: &mut Svg, at: (f64, f64), r: f64) {
        let plain = Slot(self.slot.0 % crate::chart::theme::COLORS);
        svg.path(&self.slot.marker(at, r), &plain.class("dot"));
    }
}

fn broken(entries: Vec<LegendEntry>, width: f64) -> Vec<Vec<LegendEntry>> {
    let mut lines: Vec<Vec<LegendEntry>> = Vec::new();
    let mut used = f64::INFINITY;
    for entry in entries {
        if used + entry.width > width {
            lines.push(Vec::new());
            used = 0.0;
        }
        used += entry.width + GAP;
        if let Some(line) = lines.last_mut() {
            line.push(entry);
        }
    }
    lines
}

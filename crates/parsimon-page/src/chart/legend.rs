//! The line above a panel: what the y axis shows, and which series is which.
//!
//! The legend stands outside of the plot, where no data can be below it. The title of the y axis stands
//! there too, upright, because sideways text is read slowly. Both share a line if they fit.

use crate::chart::ends::Ends;
use crate::chart::marks::Plot;
use crate::chart::panel::Panel;
use crate::chart::series::{Marks, Series};
use crate::chart::slot::{Slot, slot_of};
use crate::chart::svg::{Svg, text_width};
use crate::chart::wrap::wrapped;

const SIZE: f64 = 13.0;
const LINE: f64 = 20.0;
/// Long enough for a dash pattern to be recognized.
const SWATCH: f64 = 34.0;
const GAP: f64 = 18.0;

/// The title and the entries of one panel, broken into lines.
#[derive(Debug)]
pub(crate) struct Legend {
    title: Vec<String>,
    lines: Vec<Vec<LegendEntry>>,
    /// Whether the title of the y axis stands on the only line of entries.
    shares_line: bool,
}

#[derive(Debug)]
struct LegendEntry {
    name: String,
    /// The name, broken where it does not fit on a line.
    text: Vec<String>,
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
    /// The legend of a panel. Names explained in a panel above (`shown`) or at the ends of their lines are not explained again,
    /// and one series needs no legend: the titles say what it is.
    pub(crate) fn new(
        panel: &Panel,
        names: &[&str],
        ends: Option<&Ends>,
        shown: &mut Vec<String>,
        width: f64,
    ) -> Self {
        let mut entries: Vec<LegendEntry> = Vec::new();
        for series in panel.series.iter().filter(|s| !s.name.is_empty()) {
            let entry = LegendEntry::new(series, slot_of(series, names), width);
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
        // A name that also has points or bars keeps its entry.
        entries.retain(|e| !(e.swatch.is_line() && ends.is_some_and(|ends| ends.has(&e.name))));
        let title = wrapped(&panel.y_title, SIZE, width);
        let all: f64 = entries.iter().map(|e| e.width + GAP).sum();
        let shares_line = title.len() == 1 && all + text_width(&title[0], SIZE) <= width;
        Self { title, lines: broken(entries, width), shares_line }
    }

    /// Height that the legend needs above the plot.
    pub(crate) fn height(&self) -> f64 {
        let entries: usize = self.lines.iter().map(|line| height(line)).sum();
        let lines = if self.shares_line { entries.max(1) } else { entries + self.title.len() };
        lines as f64 * LINE + 6.0
    }

    pub(crate) fn draw(&self, svg: &mut Svg, plot: &Plot) {
        let mut y = plot.top - self.height() + 14.0;
        for line in &self.lines {
            let width: f64 = line.iter().map(|e| e.width).sum::<f64>()
                + GAP * line.len().saturating_sub(1) as f64;
            // On the line of the title the legend is right-aligned; on further lines it is left-aligned.
            let mut x = if self.shares_line { plot.right() - width } else { plot.left };
            for entry in line {
                entry.draw(svg, (x, y));
                x += entry.width + GAP;
            }
            y += height(line) as f64 * LINE;
        }
        let first = plot.top - 6.0 - LINE * self.title.len() as f64 + 14.0;
        for (i, line) in self.title.iter().enumerate() {
            svg.text((plot.left, first + LINE * i as f64), "name muted", "start", line);
        }
    }
}

impl Swatch {
    fn width(&self) -> f64 {
        match self {
            Swatch::Line | Swatch::MarkedLine | Swatch::Reference => SWATCH,
            Swatch::Dot | Swatch::Box | Swatch::Band => 14.0,
        }
    }

    fn is_line(&self) -> bool {
        matches!(self, Swatch::Line | Swatch::MarkedLine)
    }
}

impl LegendEntry {
    fn new(series: &Series, slot: Slot, room: f64) -> Self {
        let swatch = match series.marks {
            Marks::Line { markers: false, .. } if !slot.is_one_of_many() => Swatch::Line,
            Marks::Line { .. } => Swatch::MarkedLine,
            Marks::Points(_) | Marks::Stems(_) => Swatch::Dot,
            Marks::Bars(_) => Swatch::Box,
            Marks::Band(_) => Swatch::Band,
            Marks::Reference(_) => Swatch::Reference,
        };
        let before = swatch.width() + 6.0;
        let text = wrapped(&series.name, SIZE, room - before);
        let widest = text.iter().map(|line| text_width(line, SIZE)).fold(0.0, f64::max);
        Self { name: series.name.clone(), text, slot, swatch, width: before + widest }
    }

    fn draw(&self, svg: &mut Svg, (x, y): (f64, f64)) {
        let (middle, width) = (y - 4.5, self.swatch.width());
        let (from, to) = ((x, middle), (x + width, middle));
        let center = (x + width / 2.0, middle);
        match self.swatch {
            Swatch::Line => svg.line(from, to, &self.slot.stroked("line")),
            Swatch::MarkedLine => {
                svg.line(from, to, &self.slot.stroked("line"));
                self.dot(svg, center, 3.5);
            }
            Swatch::Dot => self.dot(svg, center, 4.5),
            Swatch::Box | Swatch::Band => {
                let shape = if self.swatch == Swatch::Box { "fill" } else { "band" };
                svg.rect((center.0 - 6.0, middle - 6.0), (12.0, 12.0), &self.slot.filled(shape));
            }
            Swatch::Reference => svg.line(from, to, "reference"),
        }
        for (i, line) in self.text.iter().enumerate() {
            svg.text((x + width + 6.0, y + LINE * i as f64), "name", "start", line);
        }
    }

    fn dot(&self, svg: &mut Svg, at: (f64, f64), r: f64) {
        svg.path(&self.slot.marker(at, r), &self.slot.filled("dot"));
    }
}

/// The lines of text that a line of entries takes.
fn height(line: &[LegendEntry]) -> usize {
    line.iter().map(|entry| entry.text.len()).max().unwrap_or(0)
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

//! Live progress of a search: a table redrawn on a terminal, otherwise a line per report.

use std::fmt::Write as _;
use std::io::{IsTerminal, stderr};

use indicatif::{ProgressBar, ProgressStyle};
use parsimon::tune::Sweep;
use parsimon::workspace::Measure;
use parsimon::workspace::Position;
use parsimon::workspace::number::thousands;
use parsimon::workspace::{Standing, Stopped};

use crate::cmd::comparison::{Run, Screen, plain};
use crate::console::note;

/// Settings shown at a time: they fit on a terminal of 24 lines.
const MOST_LINES: usize = 20;

/// The table, or the lines.
pub(super) struct Live {
    quiet: bool,
    bar: Option<ProgressBar>,
    names: Vec<String>,
    /// Nonzero weights at the last report: counting them costs a pass over the weights.
    nonzeros: Vec<usize>,
    has_header: bool,
    measure: Measure,
}

impl Live {
    pub(super) fn new(quiet: bool, runs: &[Run], measure: Measure) -> Self {
        let bar = (!quiet && stderr().is_terminal()).then(|| {
            let bar = ProgressBar::no_length();
            let style = "{msg}\n{bar:30} {percent:>3}%  {elapsed} elapsed, {eta} left";
            bar.set_style(
                ProgressStyle::with_template(style)
                    .unwrap_or_else(|_| ProgressStyle::default_bar()),
            );
            bar
        });
        let name = |run: &Run| {
            let pairs = run.swept.iter().map(|(k, v)| format!("{k}={}", plain(v)));
            pairs.collect::<Vec<_>>().join(" ")
        };
        let names: Vec<String> = runs.iter().map(name).collect();
        let nonzeros = vec![0; names.len()];
        Self { quiet, bar, nonzeros, names, has_header: false, measure }
    }

    /// The name of the average loss.
    fn average(&self) -> &'static str {
        if self.measure.is_mse() { self.measure.name } else { "average" }
    }

    /// An average loss as people read it.
    fn shown(&self, loss: Option<f64>) -> String {
        loss.map_or("-".to_owned(), |x| format!("{:.6}", self.measure.factor * x))
    }

    fn table(&self, sweep: &Sweep, rows: u64) -> String {
        let width = self.names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        let mut table = format!(
            "{:<width$} {:>10} {:>10} {:>10}  {} rows",
            "setting",
            self.average(),
            "since last",
            "nonzeros",
            thousands(rows)
        );
        let best = sweep.best();
        for k in self.lines(sweep) {
            let loss = |x: Option<f64>| self.shown(x);
            let progressive = sweep.progressive(k);
            let state = match sweep.stopped(k) {
                None if best == Some(k) => "best".to_owned(),
                None => "learning".to_owned(),
                Some(Stopped::GivenUp { rows, .. }) => format!("given up at {}", thousands(*rows)),
                Some(Stopped::Failed(_)) => "failed".to_owned(),
            };
            let _ = write!(
                table,
                "\n{:<width$} {:>10} {:>10} {:>10}  {state}",
                self.names[k],
                loss(progressive.average()),
                loss(progressive.since_last()),
                thousands(self.nonzeros[k] as u64),
            );
        }
        if self.names.len() > MOST_LINES {
            let _ = write!(table, "\nand {} more", self.names.len() - MOST_LINES);
        }
        table
    }

    /// All settings as they were given, or the best when there are too many.
    fn lines(&self, sweep: &Sweep) -> Vec<usize> {
        let mut all: Vec<usize> = (0..self.names.len()).collect();
        if all.len() > MOST_LINES {
            let cost = |k: &usize| match sweep.stopped(*k) {
                None => sweep.progressive(*k).average().unwrap_or(f64::INFINITY),
                Some(_) => f64::INFINITY,
            };
            all.sort_by(|a, b| cost(a).total_cmp(&cost(b)));
            all.truncate(MOST_LINES);
        }
        all
    }
}

impl Screen for Live {
    /// Takes a report; without a terminal, prints the best so far.
    fn standings(&mut self, standings: &[Standing]) {
        self.nonzeros = standings.iter().map(|s| s.nonzeros).collect();
        if self.quiet || self.bar.is_some() {
            return;
        }
        let learning = standings.iter().filter(|s| s.stopped.is_none());
        let count = learning.clone().count();
        let best = learning.min_by(|a, b| {
            let cost = |s: &Standing| s.average.unwrap_or(f64::INFINITY);
            cost(a).total_cmp(&cost(b))
        });
        let Some(best) = best else { return };
        if !self.has_header {
            self.has_header = true;
            let heads = ["rows", self.average(), "since last", "nonzeros", "learning"];
            note(&line(heads, "best so far"));
        }
        let loss = |x: Option<f64>| self.shown(x);
        let (average, recent) = (loss(best.average), loss(best.since_last));
        let (rows, nonzeros) = (thousands(best.rows), thousands(best.nonzeros as u64));
        let cells = [&*rows, &*average, &*recent, &*nonzeros, &*count.to_string()];
        note(&line(cells, &self.names[best.setting]));
    }

    /// Draws the table where the pass is now, on a terminal.
    fn show(&mut self, sweep: &Sweep, position: &Position) {
        let Some(bar) = &self.bar else { return };
        if let Some(total) = position.total {
            bar.set_length(total);
        }
        bar.set_position(position.bytes);
        bar.set_message(self.table(sweep, position.rows));
    }

    /// Removes the table: the final one is printed to standard output.
    fn finish(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn line(cells: [&str; 5], name: &str) -> String {
    let [rows, average, recent, nonzeros, learning] = cells;
    format!("{rows:>13} {average:>10} {recent:>10} {nonzeros:>10} {learning:>8}  {name}")
}

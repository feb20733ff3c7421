//! Progress on standard error: a table, and a bar if it is a terminal.
//!
//! Standard error may be closed, full, or a pipe without a reader. That never ends the work: text that cannot be written is lost.

use std::io::{IsTerminal, Write, stderr, stdin};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use parsimon::data::Input;
use parsimon::job::Events;
use parsimon::train::{Pass, Progress};
use parsimon::workspace::Measure;
use parsimon::workspace::Position;
use parsimon::workspace::{number::duration, number::significant, number::thousands};

use crate::escape::escaped;

/// Prints the reason why the program stops.
pub(crate) fn complain(message: &str) {
    note(&format!("error: {message}"));
}

/// Prints a note for the user.
pub(crate) fn note(message: &str) {
    let message = if stderr().is_terminal() { escaped(message) } else { message.into() };
    // In one piece, so that lines of several threads do not mix.
    let _ = stderr().write_all(format!("{message}\n").as_bytes());
}

/// Prints that the program waits for input, if standard input is a terminal.
pub(crate) fn announce_terminal(inputs: &[Input]) {
    if inputs.iter().any(|input| matches!(input, Input::Stdin)) && stdin().is_terminal() {
        note("reading rows from the terminal; end with Ctrl-D");
    }
}

/// Short enough for 80 columns: a line that is wrapped when the terminal becomes narrower would leave parts of itself behind.
const BAR: &str = "{percent:>3}% {bar:14} {msg}";
/// Progress without a known end.
const NO_BAR: &str = "{spinner} {msg}";

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// A bar, if a person watches.
fn bar(quiet: bool) -> Option<ProgressBar> {
    (!quiet && stderr().is_terminal()).then(|| {
        let bar = ProgressBar::no_length();
        bar.set_style(style(NO_BAR));
        bar
    })
}

/// Shows the progress of reading, after `ended` of `passes` passes.
fn show(
    bar: &ProgressBar,
    position: &Position,
    ended: u64,
    passes: u64,
    start: Instant,
    message: String,
) {
    let mut message = message;
    if let Some(total) = position.total.filter(|total| *total > 0) {
        if bar.length().is_none() {
            bar.set_style(style(BAR));
            bar.set_length(total * passes);
        }
        let done = total * ended + position.bytes.min(total);
        bar.set_position(done);
        let left = (total * passes - done) as f64 / (done as f64).max(1.0);
        if done > 0 {
            message.push_str(&format!(
                ", {} left",
                whole_seconds(start.elapsed().as_secs_f64() * left)
            ));
        }
    }
    bar.set_message(message);
}

/// The bar of a command that reads rows and learns nothing.
pub(crate) struct ReadingBar {
    bar: Option<ProgressBar>,
    start: Instant,
}

impl ReadingBar {
    pub(crate) fn new(quiet: bool) -> Self {
        Self { bar: bar(quiet), start: Instant::now() }
    }

    pub(crate) fn show(&self, position: &Position) {
        if let Some(bar) = &self.bar {
            let rate = position.rows as f64 / self.start.elapsed().as_secs_f64().max(1e-9);
            let (rows, rate) = (thousands(position.rows), thousands(rate as u64));
            show(bar, position, 0, 1, self.start, format!("{rows} rows, {rate}/s"));
        }
    }
}

/// Errors end a command early: the bar is removed in any case.
impl Drop for ReadingBar {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// The table and the bar of a training run.
pub(crate) struct Console {
    quiet: bool,
    passes: u32,
    start: Instant,
    rows_at_start: u64,
    bar: Option<ProgressBar>,
    /// Passes that have ended, with their rows.
    ended: (u32, u64),
    /// The loss that the bar shows.
    loss: Option<f64>,
    has_header: bool,
    classes: Vec<String>,
    measure: Measure,
}

impl Console {
    pub(crate) fn new(quiet: bool, passes: u32, rows_at_start: u64, classes: Vec<String>) -> Self {
        let bar = bar(quiet);
        let start = Instant::now();
        Self {
            quiet,
            passes,
            start,
            rows_at_start,
            bar,
            ended: (0, 0),
            loss: None,
            has_header: false,
            classes,
            measure: Measure::default(),
        }
    }

    /// Shows losses by this measure.
    pub(crate) fn measure_by(&mut self, measure: Measure) {
        self.measure = measure;
    }

    /// Prints a line above the bar.
    pub(crate) fn say(&self, line: &str) {
        match &self.bar {
            _ if self.quiet => {}
            Some(bar) => bar.println(escaped(line)),
            None => note(line),
        }
    }

    /// Takes the bar away.
    pub(crate) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn rate(&self, rows: u64) -> f64 {
        (rows - self.rows_at_start) as f64 / self.start.elapsed().as_secs_f64().max(1e-9)
    }

    fn label(&self, y: f64) -> String {
        match self.classes.get(y as usize) {
            Some(class) if y >= 0.0 => class.chars().take(10).collect(),
            _ => significant(y, 4),
        }
    }
}

impl Events for Console {
    fn progress(&mut self, line: &Progress) {
        if !self.has_header {
            self.has_header = true;
            self.say(&format!(
                "{:>10} {:>10} {:>10} {:>13} {:>10} {:>10} {:>9} {:>10} {:>11}",
                if self.measure.is_mse() { self.measure.name } else { "average" },
                "constant",
                "since last",
                "rows",
                "label",
                "predicted",
                "features",
                "nonzeros",
                "rows/s"
            ));
        }
        let shown = |x: Option<f64>| x.map_or("-".into(), |x| loss(self.measure.factor * x));
        self.say(&format!(
            "{:>10} {:>10} {:>10} {:>13} {:>10} {:>10} {:>9} {:>10} {:>11}",
            shown(line.average),
            shown(line.constant),
            shown(line.since_last),
            thousands(line.rows),
            self.label(line.label),
            self.label(line.prediction),
            thousands(line.features as u64),
            thousands(line.nonzeros as u64),
            thousands(self.rate(line.rows) as u64),
        ));
    }

    fn loss(&mut self, average: f64) {
        self.loss = Some(average);
    }

    /// One bar for all passes, by the bytes of the files.
    fn position(&mut self, position: &Position) {
        let Some(bar) = &self.bar else { return };
        let (ended, rows_before) = self.ended;
        let rows = rows_before + position.rows;
        let elapsed = self.start.elapsed().as_secs_f64().max(1e-9);
        let mut message = format!("{} rows", thousands(rows));
        message.push_str(&format!(", {}/s", thousands((rows as f64 / elapsed) as u64)));
        if let Some(average) = self.loss {
            let name = if self.measure.is_mse() { self.measure.name } else { "loss" };
            message.push_str(&format!(", {name} {}", loss(self.measure.factor * average)));
        }
        show(bar, position, u64::from(ended), u64::from(self.passes), self.start, message);
    }

    fn pass(&mut self, pass: &Pass) {
        self.ended = (pass.pass, pass.rows - self.rows_at_start);
        if self.passes < 2 && pass.holdout.is_none() {
            return;
        }
        let holdout = pass.holdout.as_ref().and_then(parsimon::eval::Evaluation::mean_loss);
        let name = if self.measure.is_mse() { self.measure.name } else { "loss" };
        let holdout = holdout.map(|loss| self.measure.factor * loss);
        let holdout = holdout.map_or(String::new(), |loss| format!(", holdout {name} {loss:.6}"));
        self.say(&format!(
            "pass {} of {}: {} rows{holdout}, {} nonzeros",
            pass.pass,
            self.passes,
            thousands(pass.rows),
            thousands(pass.nonzeros as u64)
        ));
    }
}

/// A time in whole seconds, which does not flicker.
fn whole_seconds(seconds: f64) -> String {
    let whole = seconds.ceil().max(1.0);
    if whole < 60.0 { format!("{whole} s") } else { duration(Duration::from_secs(whole as u64)) }
}

/// A loss within ten characters.
fn loss(x: f64) -> String {
    if x.abs() < 1000.0 { format!("{x:.6}") } else { significant(x, 6) }
}

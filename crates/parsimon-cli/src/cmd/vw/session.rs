//! A run: passes over the data, held-out examples, predictions and the summary.

use std::collections::BTreeMap;
use std::io::{BufRead, Write};

use super::csv::Columns;
use super::example::Example;
use super::learner::Learner;
use super::model;
use super::options::{Holdout, LinkWord, Options, Shown};
use super::report::{Report, Totals};
use super::slots::Slots;
use super::{Fault, Output, note};

/// Outputs of a run that are written line by line.
#[derive(Default)]
pub(super) struct Writers {
    pub(super) predictions: Option<Output>,
    pub(super) raw: Option<Output>,
    pub(super) audit: Option<Output>,
}

/// Opens a file by its name.
type Open = dyn Fn(&str) -> Result<Box<dyn BufRead>, Fault>;

/// The most warnings that are printed.
const WARNINGS: u64 = 10;

pub(super) struct Session {
    pub(super) options: Options,
    pub(super) learner: Learner,
    pub(super) writers: Writers,
    pub(super) report: Report,
    /// Names by slot, where they are printed.
    pub(super) names: BTreeMap<usize, String>,
    /// The number of the first class, once it is known.
    pub(super) indexing: Option<u32>,
    /// Whether a model was written after a pass with a lower holdout loss.
    pub(super) is_saved: bool,
    slots: Slots,
    warnings: u64,
    /// Margins of the classes of an example.
    margins: Vec<f32>,
}

/// A label with its importance and base value.
#[derive(Clone, Copy, Debug)]
struct Label {
    y: Option<f32>,
    weight: f32,
    base: f32,
}

impl Session {
    pub(super) fn new(
        options: Options,
        learner: Learner,
        writers: Writers,
        indexing: Option<u32>,
    ) -> Self {
        let report = Report::new(&options);
        let indexing = options.indexing.or(indexing);
        Self {
            options,
            learner,
            writers,
            report,
            names: BTreeMap::new(),
            indexing,
            is_saved: false,
            slots: Slots::default(),
            warnings: 0,
            margins: Vec::new(),
        }
    }

    /// Reads all files once. `open` gives a file by its name.
    fn pass(&mut self, pass: u64, open: &Open) -> Result<(), Fault> {
        let (mut example, mut read) = (Example::default(), 0);
        for file in self.options.data.clone() {
            let mut lines = open(&file)?;
            let mut columns = None;
            let mut line = Vec::new();
            for number in 1u64.. {
                line.clear();
                let length = lines.read_until(b'\n', &mut line).map_err(|error| {
                    Fault::Input(format!("{file}:{number}: {}", parsimon_files::in_words(&error)))
                })?;
                if length == 0 || read >= self.options.examples {
                    break;
                }
                let at = || format!("{file}:{number}");
                let text = trimmed(&line, number == 1);
                if self.options.csv.is_some() {
                    if !self
                        .csv_line(text, &mut columns, &mut example)
                        .map_err(|why| Fault::Input(format!("{}: {why}", at())))?
                    {
                        continue;
                    }
                } else {
                    example.read(text, &self.options);
                }
                read += 1;
                self.example(&example, pass, read).map_err(|why| match why {
                    Fault::Input(why) => Fault::Input(format!("{}: {why}", at())),
                    other => other,
                })?;
                for warning in &example.warnings {
                    self.warn(&at(), warning)?;
                }
            }
        }
        Ok(())
    }

    /// Reads a line of a CSV file; returns whether it is an example.
    fn csv_line(
        &self,
        line: &[u8],
        columns: &mut Option<Columns>,
        example: &mut Example,
    ) -> Result<bool, String> {
        let Some(csv) = &self.options.csv else { return Ok(false) };
        let text = String::from_utf8_lossy(line);
        if text.trim().is_empty() {
            return Ok(false);
        }
        if columns.is_none() {
            let header = csv.header.as_deref().unwrap_or(&text);
            *columns = Some(Columns::of(header, csv)?);
            if csv.has_header {
                return Ok(false);
            }
        }
        if let Some(columns) = columns {
            columns.read(&text, &self.options, csv, example)?;
        }
        Ok(true)
    }

    fn warn(&mut self, at: &str, warning: &str) -> Result<(), Fault> {
        if self.options.strict {
            return Err(Fault::Input(format!("{at}: malformed example: {warning}")));
        }
        self.warnings += 1;
        if self.warnings <= WARNINGS {
            note(&format!("warning: {at}: malformed example: {warning}"));
        }
        Ok(())
    }

    fn example(&mut self, example: &Example, pass: u64, counter: u64) -> Result<(), Fault> {
        if example.is_blank {
            return Ok(());
        }
        let is_held_out = match self.options.holdout {
            None => false,
            Some(Holdout::Every(n)) => counter.is_multiple_of(n),
            Some(Holdout::After(n)) => counter > n,
        };
        let width = u64::from(self.options.classes.unwrap_or(1));
        self.slots.fill(example, &self.options, width);
        let before = self.slots.list.len();
        // NUMERICS: a product of values may overflow; such a feature would make every margin infinite.
        if self.slots.list.iter().any(|f| !f.value.is_finite()) {
            if self.slots.names.len() == before {
                let mut values = self.slots.list.iter();
                self.slots.names.retain(|_| values.next().is_some_and(|f| f.value.is_finite()));
            }
            self.slots.list.retain(|f| f.value.is_finite());
            self.warnings += 1;
            if self.warnings <= WARNINGS {
                let left_out = before - self.slots.list.len();
                note(&format!(
                    "warning: example {counter}: {left_out} features are too large and left out"
                ));
            }
        }
        let mut label = self.label(example)?;
        if let (Some(y), false) = (label.y, self.options.class_weights.is_empty()) {
            label.weight *= self.options.class_weights.get(&(y as i64)).copied().unwrap_or(1.0);
        }
        self.remember_names(pass, width);
        match self.options.classes {
            None => self.number(example, label, is_held_out),
            Some(classes) => self.class(example, label, is_held_out, classes),
        }
    }

    fn remember_names(&mut self, pass: u64, width: u64) {
        if self.options.inverted.is_none() || pass > 0 {
            return;
        }
        let mask = self.options.mask();
        for (feature, name) in self.slots.list.iter().zip(&self.slots.names) {
            for class in 0..width {
                let slot = (feature.hash.wrapping_add(class) & mask) as usize;
                self.names.entry(slot).or_insert_with(|| match class {
                    0 => name.clone(),
                    class => format!("{name}[{class}]"),
                });
            }
        }
    }

    /// Reads a label: the number or class, the importance, and the base value.
    fn label(&mut self, example: &Example) -> Result<Label, Fault> {
        let words = &example.label;
        let number = |word: &str| {
            Options::number(word).ok_or_else(|| Fault::Input(format!("{word:?} is not a number")))
        };
        let most = if self.options.classes.is_some() { 2 } else { 3 };
        if words.len() > most {
            return Err(Fault::Input(format!(
                "a label of {} words; expected at most {most}",
                words.len()
            )));
        }
        let weight = words.get(1).map_or(Ok(1.0), |word| number(word))?;
        if weight < 0.0 {
            return Err(Fault::Input(format!("the importance {weight} is negative")));
        }
        let base = words.get(2).map_or(Ok(0.0), |word| number(word))?;
        let y = match words.first() {
            None => None,
            Some(word) if self.options.names_of_classes.is_empty() => Some(number(word)?),
            Some(word) => {
                let place = self.options.names_of_classes.iter().position(|name| name == word);
                let place = place.ok_or_else(|| {
                    Fault::Input(format!("the label {word:?} is not one of --named_labels"))
                })?;
                Some(place as f32 + 1.0)
            }
        };
        Ok(Label { y, weight, base })
    }

    /// Predicts an example with a number or two classes, and learns it unless it is held out.
    fn number(&mut self, example: &Example, label: Label, is_held_out: bool) -> Result<(), Fault> {
        let Label { y, weight, base } = label;
        let learns = !self.options.test && !is_held_out && weight > 0.0;
        let margin = match y.filter(|_| learns) {
            Some(y) => self.learner.learn(&self.slots.list, 0, base, y, weight),
            None => self.learner.margin(&self.slots.list, 0, base),
        };
        let prediction = self.learner.clipped(margin);
        let mut shown = match self.options.link {
            LinkWord::Identity => prediction,
            LinkWord::Logistic => 1.0 / (1.0 + (-prediction).exp()),
            LinkWord::Glf1 => 2.0 / (1.0 + (-prediction).exp()) - 1.0,
            LinkWord::Poisson => prediction.exp(),
        };
        let mut loss = y.map_or(0.0, |y| self.learner.loss(prediction, y));
        if self.options.binary {
            shown = if prediction > 0.0 { 1.0 } else { -1.0 };
            loss = y.map_or(0.0, |y| f64::from(u8::from(y != shown)));
        }
        self.count(label, is_held_out, loss);
        self.report.line(
            &self.options,
            y.map(real),
            real(shown),
            self.slots.list.len(),
            is_held_out,
        );
        if let Some(out) = &mut self.writers.raw {
            line(out, &short(margin), &example.tag)?;
        }
        if let Some(out) = &mut self.writers.predictions {
            line(out, &fixed(shown), &example.tag)?;
        }
        let shown = fixed(shown);
        self.audit(&shown, example)
    }

    /// Predicts the class of an example, and learns it unless it is held out.
    fn class(
        &mut self,
        example: &Example,
        label: Label,
        is_held_out: bool,
        classes: u32,
    ) -> Result<(), Fault> {
        let Label { y, weight, .. } = label;
        let features = &self.slots.list;
        let raw: Vec<f32> =
            (0..u64::from(classes)).map(|k| self.learner.margin(features, k, 0.0)).collect();
        self.margins.clear();
        self.margins.extend(raw.iter().map(|margin| self.learner.clipped(*margin)));
        let best = (1..self.margins.len())
            .fold(0, |best, k| if self.margins[k] > self.margins[best] { k } else { best });
        let predicted = best as u32 + first_of(self.indexing);
        let class = y.map(whole_class).transpose()?;
        if let Some(class) = class.filter(|_| !self.options.test && !is_held_out) {
            self.learn_class(class, weight, classes)?;
        }
        // Probabilities are numbered as the classes are, once that is known.
        let predicted = match self.options.shown {
            Shown::Class => predicted,
            _ => best as u32 + first_of(self.indexing),
        };
        let loss = class.map_or(0.0, |class| f64::from(u8::from(class != predicted)));
        self.count(label, is_held_out, loss);
        let named = |options: &Options, class: u32| {
            let name =
                (class as usize).checked_sub(1).and_then(|k| options.names_of_classes.get(k));
            name.cloned().unwrap_or_else(|| class.to_string())
        };
        let shown = class.map(|class| named(&self.options, class));
        let predicted = named(&self.options, predicted);
        self.report.line(
            &self.options,
            shown,
            predicted.clone(),
            self.slots.list.len(),
            is_held_out,
        );
        let first = first_of(self.indexing);
        if let Some(out) = &mut self.writers.raw {
            let all: Vec<_> =
                raw.iter().zip(first..).map(|(m, k)| format!("{k}:{}", short(*m))).collect();
            line(out, &all.join(" "), &example.tag)?;
        }
        let text = match self.options.shown {
            Shown::Class => predicted,
            shown => {
                let numbers = self.of_classes(shown);
                let all: Vec<_> = numbers
                    .iter()
                    .zip(first..)
                    .map(|(m, k)| format!("{}:{}", named(&self.options, k), short(*m)))
                    .collect();
                all.join(" ")
            }
        };
        if let Some(out) = &mut self.writers.predictions {
            line(out, &text, &example.tag)?;
        }
        self.audit(&text, example)
    }

    /// Learns an example of a class, one update for each class.
    fn learn_class(&mut self, class: u32, weight: f32, classes: u32) -> Result<(), Fault> {
        if self.indexing.is_none() && class == 0 {
            self.indexing = Some(0);
        } else if self.indexing.is_none() && class == classes {
            self.indexing = Some(1);
        }
        let first = first_of(self.indexing);
        let is_known = self.indexing.is_some() || class > classes;
        if is_known && !(first..first + classes).contains(&class) {
            return Err(Fault::Input(format!(
                "the class {class} is not among {first} to {}; --oaa {classes} expects these",
                first + classes - 1
            )));
        }
        if weight > 0.0 {
            for k in 0..classes {
                let own = if class == k + first { 1.0 } else { -1.0 };
                let p = self.margins[k as usize];
                self.learner.update(&self.slots.list, u64::from(k), p, own, weight);
            }
        }
        Ok(())
    }

    /// The probabilities or the margins of all classes.
    fn of_classes(&self, shown: Shown) -> Vec<f32> {
        let mut each = self.margins.clone();
        if shown == Shown::Probabilities {
            each.iter_mut().for_each(|m| *m = 1.0 / (1.0 + (-*m).exp()));
            let sum: f32 = each.iter().sum();
            each.iter_mut().for_each(|m| *m /= sum);
        }
        each
    }

    /// Adds an example to the sums.
    fn count(&mut self, label: Label, is_held_out: bool, loss: f64) {
        let Label { y, weight, .. } = label;
        let weight = f64::from(weight);
        let totals = &mut self.report.totals;
        totals.features +=
            if is_held_out && y.is_some() { 0 } else { self.slots.list.len() as u64 };
        match y {
            Some(_) if is_held_out => {
                totals.held_out += weight;
                totals.held_out_loss += loss * weight;
            }
            Some(y) => {
                totals.examples += 1;
                totals.labeled += weight;
                totals.labels +=
                    if self.options.classes.is_none() { f64::from(y) * weight } else { 0.0 };
                totals.loss += loss * weight;
                totals.loss_since += loss * weight;
                if !self.options.test {
                    self.learner.state.seen += weight;
                }
            }
            None => {
                totals.examples += 1;
                totals.unlabeled += weight;
            }
        }
    }

    fn audit(&mut self, prediction: &str, example: &Example) -> Result<(), Fault> {
        let Some(out) = &mut self.writers.audit else { return Ok(()) };
        line(out, prediction, &example.tag)?;
        let mask = self.options.mask();
        let mut all: Vec<(f32, String)> = self
            .slots
            .list
            .iter()
            .zip(&self.slots.names)
            .map(|(feature, name)| {
                let slot = (feature.hash & mask) as usize;
                let w = self.learner.weight(slot);
                let text = format!("\t{name}:{slot}:{}:{}", short(feature.value), short(w));
                (w * feature.value, text)
            })
            .collect();
        all.sort_by(|a, b| b.0.abs().total_cmp(&a.0.abs()));
        for (_, text) in &all {
            out.write_all(text.as_bytes())?;
        }
        Ok(out.write_all(b"\n")?)
    }

    /// Runs all passes.
    pub(super) fn run(&mut self, open: &Open) -> Result<(), Fault> {
        self.report.header(&self.options);
        let (mut best, mut without_gain) = (f64::INFINITY, 0);
        for pass in 0..self.options.passes {
            self.pass(pass, open)?;
            self.report.totals.passes += 1;
            self.learner.decay(self.options.decay);
            if self.options.save_per_pass
                && let Some(path) = &self.options.output
            {
                self.save(&format!("{path}.{pass}"))?;
            }
            if self.options.holdout.is_none() {
                continue;
            }
            let Totals { held_out, held_out_loss, .. } = &mut self.report.totals;
            let (weight, loss) = (std::mem::take(held_out), std::mem::take(held_out_loss));
            if weight <= 0.0 {
                continue;
            }
            let mean = loss / weight;
            if mean < best {
                (best, without_gain) = (mean, 0);
                self.report.totals.best = Some(mean);
                if let Some(path) = &self.options.output {
                    self.save(path)?;
                    self.is_saved = true;
                }
            } else {
                without_gain += 1;
            }
            if without_gain == self.options.early_terminate {
                break;
            }
        }
        if self.warnings > WARNINGS {
            note(&format!("{} warnings in all", self.warnings));
        }
        Ok(())
    }

    pub(super) fn save(&self, path: &str) -> Result<(), Fault> {
        let Options { words, weights_only, .. } = &self.options;
        model::save(path, &self.learner, words, self.indexing, *weights_only)
    }
}

/// The number of the first class: 1 until the data shows that it is 0.
fn first_of(indexing: Option<u32>) -> u32 {
    u32::from(indexing != Some(0))
}

/// Reads a label as the number of a class.
fn whole_class(y: f32) -> Result<u32, Fault> {
    match y.fract() == 0.0 && (0.0..=65_536.0).contains(&y) {
        true => Ok(y as u32),
        false => Err(Fault::Input(format!("{y} is not the number of a class"))),
    }
}

/// A line without its end, and without a mark of UTF-8 at the start of a file.
fn trimmed(line: &[u8], is_first: bool) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let marked = line.strip_prefix(b"\xef\xbb\xbf").filter(|_| is_first);
    marked.unwrap_or(line)
}

fn line(out: &mut Output, text: &str, tag: &str) -> Result<(), Fault> {
    out.write_all(text.as_bytes())?;
    if !tag.is_empty() {
        out.write_all(b" ")?;
        out.write_all(tag.as_bytes())?;
    }
    Ok(out.write_all(b"\n")?)
}

/// Six decimals, none for a whole number.
fn fixed(x: f32) -> String {
    if x.fract() == 0.0 { format!("{x:.0}") } else { format!("{x:.6}") }
}

/// Six significant digits.
fn short(x: f32) -> String {
    let text = format!("{x:.5e}");
    text.parse::<f64>().map_or(text, |x| x.to_string())
}

/// Four decimals, for the table of progress.
fn real(x: f32) -> String {
    format!("{x:.4}")
}

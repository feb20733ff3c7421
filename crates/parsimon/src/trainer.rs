//! A learner at work: it predicts, is judged, learns, and can be saved at any row.

use std::path::Path;

use parsimon_core::{Chunk, Frozen, Loss, Online};
use parsimon_data::Names;
use parsimon_eval::{LearningCurve, Progressive, Schedule};
use serde_json::json;

use crate::container::{self, Container, Kind};
use crate::model::{push_names, read_common, read_names};
use crate::{
    BuildError, Error, FormatError, InputSchema, LearnerOptions, Model, Provenance, Settings,
};

/// Learns from chunks and keeps the score.
///
/// ```
/// use parsimon::core::{Chunk, Repeats};
/// use parsimon::{LearnerOptions, InputSchema, Spec, Trainer};
///
/// let settings = Spec::new("ftrl").set("l1", 0.1).resolve()?;
/// let mut trainer = Trainer::new(settings, LearnerOptions::default(), InputSchema::default())?;
/// let mut chunk = Chunk::new();
/// for i in 0..100 {
///     chunk.push_feature(1 + i % 2, 1.0);
///     chunk.finish_row(Some(if i % 2 == 0 { 1.0 } else { -1.0 }), 1.0, Repeats::Refuse).unwrap();
/// }
/// trainer.learn(&chunk, &mut |_| {})?;
/// assert!(trainer.progressive().average().unwrap() < 0.6);
/// assert_eq!(trainer.model().nonzeros(), 2);
/// # Ok::<(), parsimon::Error>(())
/// ```
pub struct Trainer {
    settings: Settings,
    frame: LearnerOptions,
    reading: InputSchema,
    online: Box<dyn Online>,
    progressive: Progressive,
    curve: LearningCurve,
    schedule: Schedule,
    names: Names,
    inputs: Vec<String>,
    margins: Vec<f64>,
    losses: Vec<f64>,
    last: Option<Progress>,
    /// The settings' own, asked for every row.
    loss: Loss,
}

/// One line of the progress table.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// Rows learned so far.
    pub rows: u64,
    /// The sum of their importance weights.
    pub weight: f64,
    /// The average progressive loss.
    pub average: f64,
    /// The average since the last line.
    pub since_last: f64,
    /// The last row's label: a number, or the position of a class.
    pub label: f64,
    /// What was predicted for it.
    pub prediction: f64,
    /// Its features.
    pub features: usize,
    /// Nonzero weights now.
    pub nonzeros: usize,
}

impl Trainer {
    /// A learner at the origin.
    pub fn new(
        settings: Settings,
        frame: LearnerOptions,
        reading: InputSchema,
    ) -> Result<Self, BuildError> {
        let settings = settings.with_classes_of(&reading);
        // A filter over a dictionary has no bias, and says so everywhere.
        let frame = LearnerOptions { bias: frame.bias && !settings.is_kernel(), ..frame };
        let online = settings.build(frame)?;
        let loss = if settings.flag("multiclass") { "error" } else { settings.word("loss") };
        let curve = LearningCurve::new(loss);
        Ok(Self {
            loss: settings.loss(),
            settings,
            frame,
            reading,
            online,
            progressive: Progressive::new(),
            curve,
            schedule: Schedule::doubling(),
            names: Names::default(),
            inputs: Vec::new(),
            margins: Vec::new(),
            losses: Vec::new(),
            last: None,
        })
    }

    /// When to report.
    pub fn report_when(&mut self, schedule: Schedule) {
        self.schedule = schedule;
    }
    /// The settings, after defaults.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }
    /// Precision, bias and store.
    pub fn frame(&self) -> LearnerOptions {
        self.frame
    }
    /// How rows are read.
    pub fn schema(&self) -> &InputSchema {
        &self.reading
    }
    /// The loss so far.
    pub fn progressive(&self) -> &Progressive {
        &self.progressive
    }
    /// The reports so far.
    pub fn curve(&self) -> &LearningCurve {
        &self.curve
    }
    /// The learner.
    pub fn online(&self) -> &dyn Online {
        &*self.online
    }
    /// What learning changes, for whoever puts several learners together.
    pub(crate) fn learned_mut(&mut self) -> (&mut dyn Online, &mut Progressive, &mut Names) {
        // A line that told of the last row here tells of nothing once rows were learned elsewhere.
        self.last = None;
        (&mut *self.online, &mut self.progressive, &mut self.names)
    }
    /// The inputs noted so far.
    pub(crate) fn inputs(&self) -> &[String] {
        &self.inputs
    }
    /// The names met so far.
    pub fn names(&self) -> &Names {
        &self.names
    }
    /// Takes note of an input, for the model's provenance.
    pub fn note_input(&mut self, name: &str) {
        if !self.inputs.iter().any(|known| known == name) {
            self.inputs.push(name.to_owned());
        }
    }
    /// Takes the names a reader has met.
    pub fn note_names(&mut self, names: Names) {
        // A million names are moved, not copied, when they are the first.
        if self.names.is_empty() {
            self.names = names;
            return;
        }
        self.names.extend(&names);
    }

    /// The margins of the last chunk learned, made before learning: one per row and class.
    pub fn margins(&self) -> &[f64] {
        &self.margins
    }

    /// Predicts, judges and learns every row. Reports come at the same rows whatever the chunks.
    pub fn learn(&mut self, chunk: &Chunk, report: &mut dyn FnMut(&Progress)) -> Result<(), Error> {
        self.margins.clear();
        let (heads, mut i) = (self.online.heads(), 0);
        while i < chunk.len() {
            let (rows, mut learned) = (self.progressive.rows(), None);
            let until_report = self.schedule.next_after(rows).saturating_sub(rows).max(1);
            let end = chunk
                .len()
                .min(i.saturating_add(usize::try_from(until_report).unwrap_or(usize::MAX)));
            self.online.learn_rows(chunk, i..end, &mut self.margins);
            if let Some(feature) = self.online.overflow() {
                let dimension = self.settings.natural("dimension");
                return Err(Error::TooManyFeatures { feature, dimension });
            }
            if heads == 1 {
                let labels = &chunk.labels()[i..end];
                self.loss.row_values(&self.margins[i..end], labels, &mut self.losses);
            }
            for k in i..end {
                let margins = &self.margins[k * heads..(k + 1) * heads];
                let diverged = Error::Diverged { row: self.progressive.rows() + 1 };
                if !margins.iter().all(|p| p.is_finite()) {
                    return Err(diverged);
                }
                let Some(y) = chunk.label(k) else { continue };
                let loss = match heads {
                    1 => self.losses[k - i],
                    _ => progressive_loss(self.loss, margins, y),
                };
                // A finite margin whose square is infinite: the same thing, one row earlier.
                if !loss.is_finite() {
                    return Err(diverged);
                }
                self.progressive.record(loss, chunk.weight(k));
                learned = Some(k);
            }
            // The line tells of the last row with a label, wherever the chunk ends.
            if let Some(row) = learned {
                let due = self.schedule.due(self.progressive.rows());
                let line = self.line(chunk, row);
                self.last = (!due).then(|| line.clone());
                if due {
                    report(&self.reported(line));
                }
            }
            i = end;
        }
        Ok(())
    }

    /// The line after the last row learned, unless the schedule has brought it already. The end of a run leaves no
    /// trace in the learner: one that goes on reports as if it had never stopped.
    pub fn last_report(&self) -> Option<Progress> {
        let nonzeros = self.online.nonzeros();
        self.last.clone().map(|line| Progress { nonzeros, ..line })
    }

    /// The learning curve, to the last row learned.
    pub fn curve_so_far(&self) -> LearningCurve {
        let mut curve = self.curve.clone();
        if let Some(line) = self.last_report() {
            curve.report(&mut self.progressive.clone(), line.nonzeros as u64);
        }
        curve
    }

    /// What is known of the last row, without the count of nonzeros, which costs a pass over the weights.
    fn line(&self, chunk: &Chunk, row: usize) -> Progress {
        let heads = self.online.heads();
        let prediction = match &self.margins[row * heads..(row + 1) * heads] {
            [p] => self.loss.predict(*p),
            margins => arg_max(margins) as f64,
        };
        Progress {
            rows: self.progressive.rows(),
            weight: self.progressive.weight(),
            average: self.progressive.average().unwrap_or(0.0),
            since_last: self.progressive.since_last().unwrap_or(0.0),
            label: chunk.label(row).unwrap_or(f64::NAN),
            prediction,
            features: chunk.row(row).len(),
            nonzeros: 0,
        }
    }

    fn reported(&mut self, line: Progress) -> Progress {
        let nonzeros = self.online.nonzeros();
        self.curve.report(&mut self.progressive, nonzeros as u64);
        Progress { nonzeros, ..line }
    }

    /// The model as it is now.
    pub fn model(&self) -> Model {
        let parts = ModelParts {
            settings: &self.settings,
            frame: self.frame,
            reading: &self.reading,
            progressive: &self.progressive,
            inputs: &self.inputs,
            names: &self.names,
        };
        parts.model(self.online.freeze())
    }

    /// Writes everything needed to go on, bit for bit.
    pub fn save_checkpoint(&self, path: &Path) -> Result<(), FormatError> {
        container::write(&self.to_container(), path, Kind::Checkpoint)
    }

    /// A checkpoint file's bytes, for those who keep them elsewhere.
    pub fn checkpoint(&self) -> Vec<u8> {
        self.to_container().to_bytes(Kind::Checkpoint)
    }

    fn to_container(&self) -> Container {
        let mut container = Container::new(json!({
            "settings": self.settings.to_json(),
            "precision": self.frame.precision.to_string(),
            "bias": self.frame.bias,
            "reading": self.reading,
            "progressive": self.progressive,
            "curve": self.curve,
            "inputs": self.inputs,
            "version": env!("CARGO_PKG_VERSION"),
        }));
        let mut state = Vec::new();
        self.online.save(&mut state);
        container.push("state", state);
        push_names(&mut container, self.names.iter());
        container
    }

    /// A learner that goes on where a checkpoint stopped.
    pub fn resume(path: &Path) -> Result<Self, Error> {
        Self::from_container(&container::read(path, Kind::Checkpoint)?, path)
    }

    /// The same from a checkpoint's bytes.
    pub fn from_checkpoint(bytes: &[u8]) -> Result<Self, Error> {
        let path = Path::new("the checkpoint");
        let container = Container::from_bytes(bytes, Kind::Checkpoint);
        Self::from_container(&container.map_err(|e| FormatError::new(path, e.to_string()))?, path)
    }

    fn from_container(container: &Container, path: &Path) -> Result<Self, Error> {
        let bad = |message: String| Error::Format(FormatError::new(path, message));
        let (settings, precision, reading) = read_common(container).map_err(bad)?;
        let field = |name: &str| container.about[name].clone();
        let bias = field("bias").as_bool().unwrap_or(true);
        let frame = LearnerOptions { precision, bias, storage: reading.storage() };
        let mut trainer = Self::new(settings, frame, reading)?;
        let unreadable =
            |e: serde_json::Error| bad(format!("has a field that cannot be read: {e}"));
        trainer.progressive = serde_json::from_value(field("progressive")).map_err(unreadable)?;
        trainer.curve = serde_json::from_value(field("curve")).map_err(unreadable)?;
        trainer.inputs = serde_json::from_value(field("inputs")).map_err(unreadable)?;
        let mut state = container.section("state");
        let restored = trainer.online.restore(&mut state);
        if restored.is_none() || !state.is_empty() {
            return Err(bad("has a state that does not belong to its settings".into()));
        }
        let names = read_names(container);
        trainer.names = names.iter().map(|(slot, name)| (*slot, name.as_str())).collect();
        Ok(trainer)
    }
}

/// What is known of weights beside themselves.
pub(crate) struct ModelParts<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) frame: LearnerOptions,
    pub(crate) reading: &'a InputSchema,
    pub(crate) progressive: &'a Progressive,
    pub(crate) inputs: &'a [String],
    pub(crate) names: &'a Names,
}

impl ModelParts<'_> {
    pub(crate) fn model(&self, frozen: Frozen) -> Model {
        let provenance = Provenance {
            version: env!("CARGO_PKG_VERSION").into(),
            rows: self.progressive.rows(),
            inputs: self.inputs.to_vec(),
            bias: self.frame.bias,
            progressive_loss: self.progressive.average(),
            collisions: self.names.collisions() as u64,
            names_met: self.names.len() as u64,
        };
        let (settings, reading) = (self.settings.clone(), self.reading.clone());
        Model::new(settings, self.frame.precision, reading, frozen, self.names, provenance)
    }
}

/// The loss of a row; for several classes, whether the largest margin is another class.
pub(crate) fn progressive_loss(loss: Loss, margins: &[f64], y: f64) -> f64 {
    match margins {
        [p] => loss.value(*p, y),
        margins => f64::from(u8::from(arg_max(margins) as f64 != y)),
    }
}

/// The position of the largest margin, the first of equals.
pub(crate) fn arg_max(margins: &[f64]) -> usize {
    let mut best = 0;
    for (k, &p) in margins.iter().enumerate() {
        if p > margins[best] {
            best = k;
        }
    }
    best
}

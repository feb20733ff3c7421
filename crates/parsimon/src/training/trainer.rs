//! A learner at work: it predicts, is judged, learns, and can be saved at any row.

use std::ops::Range;

use parsimon_core::workspace::Coming;
use parsimon_core::{Chunk, Online, Scorer};
use parsimon_data::Names;
use parsimon_eval::{LearningCurve, Progressive, Schedule};
use parsimon_files::memory::Claim;

use super::baseline::Baseline;
use super::first_features::FirstFeatures;
use super::shared::{SharedLearner, arg_max, options_of};
use super::stretch::{self, Course, Watch};
use super::{Behind, Consumed, Progress};
use crate::error::{BuildError, Error};
use crate::model::{Learned, Model, Provenance, laid_out};
use crate::options::LearnerOptions;
use crate::settings::{IntoSettings, Settings};
use crate::survey::InputSchema;

/// Trains one learner on chunks of rows, and keeps its progressive loss and learning curve.
///
/// ```
/// use parsimon::rows::{Chunk, Repeats};
/// use parsimon::{InputSchema, LearnerOptions, Spec, Trainer};
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
    pub(super) settings: Settings,
    pub(super) frame: LearnerOptions,
    pub(super) reading: InputSchema,
    pub(super) learner: SharedLearner,
    pub(super) progressive: Progressive,
    pub(super) curve: LearningCurve,
    schedule: Schedule,
    pub(super) names: Names,
    names_claim: Claim,
    pub(super) inputs: Vec<String>,
    /// The constant beside the learner; none after resuming a checkpoint that has none.
    pub(super) baseline: Option<Baseline>,
    /// The files whose rows were learned by a run.
    pub(super) consumed: Vec<Consumed>,
    /// The share of negative rows that is learned, if not all are.
    pub(super) sampled: Option<f64>,
    /// The model that learning began with, if there is one, by its file's name.
    pub(super) began_with: Option<String>,
    /// The line of the last row, if it was not reported.
    pub(super) last: Option<Progress>,
    first: FirstFeatures,
}

impl Trainer {
    /// A learner whose weights are zero, from settings, a spec, or a struct of [`algorithm::typed`](crate::algorithm::typed).
    ///
    /// ```
    /// use parsimon::algorithm::typed::{Ftrl, Penalized};
    /// use parsimon::{InputSchema, LearnerOptions, Trainer};
    ///
    /// let ftrl = Ftrl { penalized: Penalized::l1(0.5), ..Ftrl::default() };
    /// let trainer = Trainer::new(ftrl, LearnerOptions::default(), InputSchema::default())?;
    /// assert_eq!(trainer.settings().to_json()["l1"], 0.5);
    /// # Ok::<(), parsimon::BuildError>(())
    /// ```
    pub fn new(
        settings: impl IntoSettings,
        frame: LearnerOptions,
        reading: InputSchema,
    ) -> Result<Self, BuildError> {
        let settings = settings.into_settings()?;
        let frame = options_of(&settings, frame);
        reading.check_factors(&settings)?;
        let online = settings.build(frame, &reading.found_in_space())?;
        Self::around(online, settings, frame, reading)
    }

    /// Builds a trainer around an existing learner.
    pub(super) fn around(
        online: Box<dyn Online>,
        settings: Settings,
        frame: LearnerOptions,
        reading: InputSchema,
    ) -> Result<Self, BuildError> {
        Ok(Self {
            learner: SharedLearner::one(online, &settings, frame, &reading)?,
            curve: LearningCurve::new(settings.progressive_name()),
            baseline: Some(Baseline::new(&settings, &reading.found)),
            settings,
            frame,
            reading,
            progressive: Progressive::new(),
            schedule: Schedule::doubling(),
            names: Names::default(),
            names_claim: Claim::default(),
            inputs: Vec::new(),
            consumed: Vec::new(),
            sampled: None,
            began_with: None,
            last: None,
            first: FirstFeatures::new(frame.storage),
        })
    }

    /// Sets when to report.
    pub fn report_when(&mut self, schedule: Schedule) {
        self.schedule = schedule;
    }
    /// The settings, after defaults.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }
    /// Precision, bias and storage.
    pub fn options(&self) -> LearnerOptions {
        self.frame
    }
    /// The reading of rows.
    pub fn schema(&self) -> &InputSchema {
        &self.reading
    }
    /// The progressive loss so far.
    pub fn progressive(&self) -> &Progressive {
        &self.progressive
    }
    /// The average loss of a constant that predicts each row from the labels before it; for several classes, the share of errors.
    /// `None` if some rows were learned by other processes.
    pub fn constant_loss(&self) -> Option<f64> {
        self.baseline().and_then(Baseline::average)
    }
    /// The average loss of predicting each row by the label of the row before, for numbers where this is surely better than the
    /// constant: the rows are then a series in time order.
    pub fn last_label_loss(&self) -> Option<f64> {
        self.baseline().and_then(Baseline::last_label)
    }
    /// Whether all labels learned were the same; false where that is not known.
    pub fn has_one_label(&self) -> bool {
        self.baseline().is_some_and(|baseline| {
            let constant = baseline.constant();
            constant.accuracy() == Some(1.0) || constant.deviation() == Some(0.0)
        })
    }
    /// The comparison with the constant, if the learner is significantly worse: after 1,000 rows, by more than three standard
    /// errors of the paired difference.
    pub fn behind_constant(&self) -> Option<Behind> {
        self.baseline().and_then(Baseline::behind)
    }
    /// Returns the comparison with the constant at the looks after 1,000, 2,000, 4,000, ... rows.
    pub(super) fn noticed_behind(&self) -> Option<Behind> {
        self.baseline().and_then(Baseline::noticed)
    }
    /// The constant, if it has seen the rows that the learner has.
    pub(super) fn baseline(&self) -> Option<&Baseline> {
        self.baseline.as_ref().filter(|baseline| baseline.rows() == self.progressive.rows())
    }
    /// The reports so far.
    pub fn curve(&self) -> &LearningCurve {
        &self.curve
    }
    /// The learner.
    pub fn online(&self) -> &dyn Online {
        self.learner.online()
    }
    /// The state that learning changes, for code that merges learners.
    pub(crate) fn learned_mut(&mut self) -> (&mut dyn Online, &mut Progressive, &mut Names) {
        // A progress line about the last row is out of date once rows were learned elsewhere.
        self.last = None;
        (self.learner.online_mut(), &mut self.progressive, &mut self.names)
    }
    /// Claims the memory for the rows that are learned next.
    pub(crate) fn reserve(&mut self, coming: Coming) -> Result<(), Error> {
        self.learner.reserve(coming)?;
        self.learner.note_met(coming.features as u64);
        Ok(())
    }
    /// The inputs noted so far.
    pub(crate) fn inputs(&self) -> &[String] {
        &self.inputs
    }
    /// The names of the features seen so far.
    pub fn names(&self) -> &Names {
        &self.names
    }
    /// The share of negative rows that the last run has learned; `None` for all of them.
    pub fn sample_negatives(&self) -> Option<f64> {
        self.sampled
    }
    /// Records the name of an input in the provenance of the model.
    pub fn note_input(&mut self, name: &str) {
        if !self.inputs.iter().any(|known| known == name) {
            self.inputs.push(name.to_owned());
        }
    }
    /// Adds the names of a reader to those of the model.
    pub fn note_names(&mut self, names: Names) {
        if names.is_empty() {
            return;
        }
        // A million names are moved, not copied, when they are the first.
        if self.names.is_empty() {
            self.names = names;
        } else {
            self.names.extend(&names);
        }
        // The reader has claimed more for them before.
        let _ = self.names_claim.set(self.names.room());
    }

    /// Predicts and then learns every row. `report` is called at the same rows for any division into chunks.
    pub fn learn(&mut self, chunk: &Chunk, report: &mut dyn FnMut(&Progress)) -> Result<(), Error> {
        self.learn_watched(chunk, report, &mut ())
    }

    /// As [`learn`](Trainer::learn), and passes the margins that were predicted before learning to `watch`.
    ///
    /// ```
    /// use parsimon::rows::{Chunk, Repeats};
    /// use parsimon::{InputSchema, LearnerOptions, Spec, Trainer};
    /// use parsimon::train::Stretch;
    ///
    /// let settings = Spec::new("sgd").resolve()?;
    /// let mut trainer = Trainer::new(settings, LearnerOptions::default(), InputSchema::default())?;
    /// let mut chunk = Chunk::new();
    /// for label in [1.0, 1.0, -1.0] {
    ///     chunk.push_feature(1, 1.0);
    ///     chunk.finish_row(Some(label), 1.0, Repeats::Refuse).unwrap();
    /// }
    /// let mut margins = Vec::new();
    /// let mut watch = |stretch: &Stretch<'_>| margins.extend(stretch.labelled().map(|(m, ..)| m[0]));
    /// trainer.learn_watched(&chunk, &mut |_| {}, &mut watch)?;
    /// assert_eq!(margins.len(), 3);
    /// assert!(margins[0] == 0.0 && margins[1] > 0.0);
    /// # Ok::<(), parsimon::Error>(())
    /// ```
    pub fn learn_watched<W: Watch>(
        &mut self,
        chunk: &Chunk,
        report: &mut dyn FnMut(&Progress),
        watch: &mut W,
    ) -> Result<(), Error> {
        let schedule = self.schedule;
        stretch::learn(&mut SingleLearner { trainer: self, report, watch }, schedule, chunk)
    }

    /// The report after the last row, unless it was already reported. The call does not change the trainer: training can continue,
    /// with the same reports as without the call.
    pub fn last_report(&self) -> Option<Progress> {
        self.last.clone().map(|line| Progress { nonzeros: self.online().nonzeros(), ..line })
    }

    /// The learning curve, to the last row learned.
    pub fn curve_so_far(&self) -> LearningCurve {
        let mut curve = self.curve.clone();
        if let Some(line) = self.last_report() {
            curve.report(&mut self.progressive.clone(), line.nonzeros as u64);
        }
        curve
    }

    /// A report about the row that was just learned, without the count of nonzeros, which costs a pass over the weights.
    fn line(&self, chunk: &Chunk, row: usize, margins: &[f64]) -> Progress {
        let prediction = match margins {
            [p] => self.learner.loss().predict(*p),
            margins => arg_max(margins) as f64,
        };
        Progress {
            rows: self.progressive.rows(),
            weight: self.progressive.weight(),
            average: self.progressive.average(),
            constant: self.constant_loss(),
            since_last: self.progressive.since_last(),
            label: chunk.label(row).unwrap_or(f64::NAN),
            prediction,
            features: chunk.row(row).len() + cells(chunk, row),
            nonzeros: 0,
        }
    }

    fn reported(&mut self, line: Progress) -> Progress {
        let met = self.first.met(self.progressive.rows());
        let few = met.and_then(|met| self.learner.online().nonzeros_among(met, &|_| true));
        let nonzeros = few.unwrap_or_else(|| self.online().nonzeros());
        self.curve.report(&mut self.progressive, nonzeros as u64);
        Progress { nonzeros, ..line }
    }

    /// Ends the race of `auto`: the leading setting continues alone. Call it before a second pass, because rows that were learned
    /// before cannot compare settings.
    pub fn decide(&mut self) {
        self.learner.online_mut().decide();
    }

    /// A copy of the current weights, laid out for fast prediction. The copy pays off if the rows to predict have more features
    /// than the model has weights.
    pub fn scorer(&self) -> Scorer {
        let online = self.online();
        let settings = self.settings.after_race(online.chosen());
        let (columns, range) = (online.columns(), online.label_range());
        laid_out(&online.freeze(), columns, range, &settings, self.frame.precision)
    }

    /// The current model.
    pub fn model(&self) -> Model {
        let settings = self.settings.after_race(self.online().chosen());
        let parts = ModelParts {
            settings: &settings,
            frame: self.frame,
            reading: &self.reading,
            progressive: &self.progressive,
            inputs: &self.inputs,
            names: &self.names,
            constant: self.baseline().map(|baseline| baseline.constant().margins()),
        };
        parts.model(Learned::of(self.online(), self.online().freeze()))
    }
}

/// The cells of a row in number columns.
pub(super) fn cells(chunk: &Chunk, row: usize) -> usize {
    chunk.numbers(row).iter().filter(|x| !x.is_nan()).count()
}

/// A trainer that learns a chunk.
struct SingleLearner<'a, W> {
    trainer: &'a mut Trainer,
    report: &'a mut dyn FnMut(&Progress),
    watch: &'a mut W,
}

impl<W: Watch> Course for SingleLearner<'_, W> {
    type Failure = Error;

    fn rows(&self) -> u64 {
        self.trainer.progressive.rows()
    }

    fn fits(&mut self, chunk: &Chunk, rows: Range<usize>) -> bool {
        self.trainer.learner.reserve(chunk.coming(rows)).is_ok()
    }

    fn learn(&mut self, chunk: &Chunk, rows: Range<usize>) -> Result<(), Error> {
        let trainer = &mut *self.trainer;
        trainer.learner.learn(chunk, rows.clone())?;
        let stretch = trainer.learner.stretch(chunk, rows, 0);
        trainer.learner.judge(&stretch, 0, &mut trainer.progressive)?;
        if let Some(baseline) = &mut trainer.baseline {
            let losses = trainer.learner.losses(&stretch, 0);
            losses.for_each(|(loss, y, weight)| baseline.record(loss, y, weight));
        }
        self.watch.see(&stretch);
        trainer.first.note(&stretch);
        // The line describes the last row with a label, wherever the chunk ends.
        if let Some(row) = stretch.last_labelled() {
            let line = trainer.line(chunk, row, stretch.margins(row));
            trainer.last = Some(line);
        }
        Ok(())
    }

    fn pause(&mut self, is_due: bool) {
        if is_due && let Some(line) = self.trainer.last.take() {
            (self.report)(&self.trainer.reported(line));
        }
    }
}

/// Facts about weights that are kept beside them.
pub(crate) struct ModelParts<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) frame: LearnerOptions,
    pub(crate) reading: &'a InputSchema,
    pub(crate) progressive: &'a Progressive,
    pub(crate) inputs: &'a [String],
    pub(crate) names: &'a Names,
    /// The margins of the constant.
    pub(crate) constant: Option<Vec<f64>>,
}

impl ModelParts<'_> {
    pub(crate) fn model(&self, learned: Learned) -> Model {
        let provenance = Provenance {
            version: env!("CARGO_PKG_VERSION").into(),
            rows: self.progressive.rows(),
            inputs: self.inputs.to_vec(),
            bias: self.frame.bias,
            progressive_loss: self.progressive.average(),
            collisions: self.names.collisions() as u64,
            names_met: self.names.len() as u64,
            // Importance weights of extreme sizes leave shares of exactly 0 or 1, and those have no log odds.
            constant: match &self.constant {
                Some(margins) if margins.iter().all(|m| m.is_finite()) => margins.clone(),
                _ => Vec::new(),
            },
        };
        let (settings, reading) = (self.settings.clone(), self.reading.clone());
        Model::new(settings, self.frame.precision, reading, learned, self.names, provenance)
    }
}

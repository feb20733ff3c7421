//! Evaluation of models of every kind.

use parsimon_core::{Chunk, Loss, Scorer};
use parsimon_data::{Input, Labels, Options, Reader};
use parsimon_eval::{Binary, Calibrator, Evaluation, Evaluator, Multiclass};

use super::parallel::in_parallel;
use crate::error::Error;
use crate::model::Model;
use crate::settings::Settings;
use crate::survey::Found;

/// Collects margins and labels, and computes the metrics of the task.
#[derive(Clone, Debug)]
pub struct ModelEvaluator(Task);

#[derive(Clone, Debug)]
enum Task {
    One(Evaluator),
    Many(Multiclass),
}

impl ModelEvaluator {
    /// An evaluator for a learner with these settings and classes.
    pub fn new(settings: &Settings, classes: &[String]) -> Self {
        let loss: Loss = settings.loss();
        let found = Found { classes: classes.to_vec(), ..Found::default() };
        Self(if settings.is_multiclass() {
            Task::Many(Multiclass::new(loss, classes.iter().cloned()))
        } else if settings.is_of_two_classes(&found) {
            Task::One(Evaluator::Binary(Binary::new(loss)))
        } else {
            Task::One(Evaluator::new(loss))
        })
    }

    /// Evaluator of models with one margin per row.
    pub(super) fn one(evaluator: Evaluator) -> Self {
        Self(Task::One(evaluator))
    }

    /// For two classes, also evaluates decisions at this threshold: a probability, or a margin if there are no probabilities.
    #[must_use]
    pub fn threshold(self, threshold: f64) -> Self {
        match self.0 {
            Task::One(Evaluator::Binary(binary)) => {
                Self(Task::One(Evaluator::Binary(binary.threshold(threshold))))
            }
            _ => self,
        }
    }

    /// Takes one row: its margins, one per class, and its label.
    pub fn record(&mut self, margins: &[f64], label: f64, weight: f64) {
        match &mut self.0 {
            Task::One(evaluator) => evaluator.record(margins[0], label, weight),
            Task::Many(multiclass) => multiclass.record(margins, label as usize, weight),
        }
    }

    /// Takes every row of a chunk that has a label.
    pub fn record_chunk(&mut self, chunk: &Chunk, margins: &[f64]) {
        let heads = if chunk.is_empty() { 1 } else { margins.len() / chunk.len() };
        for (i, margins) in margins.chunks_exact(heads).enumerate() {
            if let Some(y) = chunk.label(i) {
                self.record(margins, y, chunk.weight(i));
            }
        }
    }

    /// The metrics.
    pub fn finish(self) -> Evaluation {
        match self.0 {
            Task::One(evaluator) => evaluator.finish(),
            Task::Many(multiclass) => Evaluation::Multiclass(multiclass.finish()),
        }
    }
}

impl Model {
    /// An evaluator for the predictions of this model.
    pub fn evaluator(&self) -> ModelEvaluator {
        ModelEvaluator::new(self.settings(), &self.schema().found.classes)
    }

    /// Options to read rows for this model; labels may be missing when only predicting.
    pub fn options(&self, options: &Options, labels: Expect) -> Options {
        let mut options = self.schema().options(self.settings(), self.precision(), options);
        options.ask.unfit_is_missing = true;
        if labels == Expect::Nothing {
            options.reading.labels = Labels::Optional(Box::new(options.reading.labels));
        }
        options
    }

    /// Predicts labeled data and evaluates the predictions.
    pub fn evaluate(&self, inputs: &[Input], options: &Options) -> Result<Evaluation, Error> {
        self.evaluate_warning(inputs, options).map(|(evaluation, _)| evaluation)
    }

    /// Like [`evaluate`](Model::evaluate), and returns the warnings about the rows ([`Reader::warnings`]).
    pub fn evaluate_warning(
        &self,
        inputs: &[Input],
        options: &Options,
    ) -> Result<(Evaluation, Vec<String>), Error> {
        let mut judge = Judge::new(self);
        let warnings = judge_all(std::slice::from_mut(&mut judge), self, inputs, options, 1)?;
        Ok((judge.evaluator.finish(), warnings))
    }
}

/// Evaluates several models in one pass over labeled data. Rows are read by the schema of the first model. Models predict in
/// parallel on a number of threads.
pub fn evaluate_models(
    models: &[Model],
    inputs: &[Input],
    options: &Options,
    threads: usize,
) -> Result<Vec<Evaluation>, Error> {
    let Some(first) = models.first() else { return Ok(Vec::new()) };
    let mut judges: Vec<Judge> = models.iter().map(Judge::new).collect();
    judge_all(&mut judges, first, inputs, options, threads)?;
    Ok(judges.into_iter().map(|judge| judge.evaluator.finish()).collect())
}

/// A model while it is judged.
struct Judge {
    scorer: Scorer,
    is_normalized: bool,
    evaluator: ModelEvaluator,
    margins: Vec<f64>,
    calibration: Option<Calibrator>,
}

impl Judge {
    fn new(model: &Model) -> Self {
        let (scorer, is_normalized) = (model.scorer(), model.settings().is_normalized());
        let (evaluator, margins) = (model.evaluator(), Vec::new());
        let calibration = model.calibration().cloned();
        let evaluator = match calibration {
            Some(_) => ModelEvaluator::one(Evaluator::Binary(Binary::new(Loss::Logistic))),
            None => evaluator,
        };
        Self { scorer, is_normalized, evaluator, margins, calibration }
    }

    fn take(&mut self, chunk: &Chunk) {
        self.margins.clear();
        self.scorer.margins(chunk, &mut self.margins);
        if let Some(calibration) = &self.calibration {
            self.margins.iter_mut().for_each(|margin| *margin = calibration.log_odds(*margin));
        }
        self.evaluator.record_chunk(chunk, &self.margins);
    }
}

fn judge_all(
    judges: &mut [Judge],
    model: &Model,
    inputs: &[Input],
    options: &Options,
    threads: usize,
) -> Result<Vec<String>, Error> {
    let mut options = model.options(options, Expect::Labels);
    options.reading.numbers_apart = judges.iter().any(|judge| judge.is_normalized);
    let mut reader = Reader::open(inputs, &options)?;
    let mut chunk = Chunk::new();
    while reader.read(&mut chunk)? {
        in_parallel(threads, judges, |judge| judge.take(&chunk));
    }
    Ok(reader.warnings())
}

/// Whether rows must have labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// Rows must have labels.
    Labels,
    /// Labels may be missing, and are not checked.
    Nothing,
}

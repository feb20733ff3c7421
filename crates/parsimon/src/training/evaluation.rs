//! Metrics for whatever a model predicts.

use parsimon_core::{Chunk, Loss, Scorer};
use parsimon_data::{Input, Labels, Options, Reader};
use parsimon_eval::{Binary, Evaluation, Evaluator, Multiclass};

use super::beside::{Beside, BesideConstant};
use super::parallel::in_parallel;
use crate::survey::Found;
use crate::{Error, Model, Settings};

/// Takes margins and labels of any task, and gives its metrics.
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
    /// Collects this model's metrics.
    pub fn evaluator(&self) -> ModelEvaluator {
        ModelEvaluator::new(self.settings(), &self.schema().found.classes)
    }

    /// Options to read rows for this model; labels may be missing when only predicting.
    pub fn options(&self, options: &Options, labels: Expect) -> Options {
        let mut options = self.schema().options(self.settings(), self.precision(), options);
        options.unfit_is_missing = true;
        if labels == Expect::Nothing {
            options.labels = Labels::Optional(Box::new(options.labels));
        }
        options
    }

    /// Predicts labeled data and judges the predictions.
    pub fn evaluate(&self, inputs: &[Input], options: &Options) -> Result<Evaluation, Error> {
        self.evaluate_warning(inputs, options).map(|(evaluation, _)| evaluation)
    }

    /// The same, with what a person should know of the rows: see [`Reader::warnings`].
    pub fn evaluate_warning(
        &self,
        inputs: &[Input],
        options: &Options,
    ) -> Result<(Evaluation, Vec<String>), Error> {
        let mut judge = Judge::new(self);
        let warnings = judge_all(std::slice::from_mut(&mut judge), self, inputs, options, 1)?;
        Ok((judge.evaluator.finish(), warnings))
    }

    /// The same, and sets the model beside a constant prediction on the same rows: the metrics, the comparison, the warnings.
    ///
    /// ```
    /// use parsimon::data::{Input, Labels, Options};
    /// use parsimon::{InputSchema, LearnerOptions, Plan, Prior, Spec, Trainer, run};
    ///
    /// let input = Input::Bytes { name: "d.svm".into(), bytes: b"1 1:1\n-1 2:1\n".repeat(100) };
    /// let settings = Spec::new("ftrl").resolve()?;
    /// let mut trainer = Trainer::new(settings, LearnerOptions::default(), InputSchema::default())?;
    /// let options = Options { labels: Labels::binary(), ..Options::default() };
    /// let model = run(&mut trainer, &Plan::new(vec![input.clone()], options.clone()), &mut ())?.model;
    /// let (_, beside, _) = model.evaluate_beside_constant(&[input], &options)?;
    /// assert_eq!(beside.constant_from, Prior::TrainingLabels);
    /// assert!((beside.constant.value().unwrap() - 2f64.ln()).abs() < 1e-3);
    /// assert!(beside.difference.interval().unwrap().1 < 0.0);
    /// # Ok::<(), parsimon::Error>(())
    /// ```
    pub fn evaluate_beside_constant(
        &self,
        inputs: &[Input],
        options: &Options,
    ) -> Result<(Evaluation, BesideConstant, Vec<String>), Error> {
        let mut judge = Judge { beside: Some(Beside::new(self)), ..Judge::new(self) };
        let warnings = judge_all(std::slice::from_mut(&mut judge), self, inputs, options, 1)?;
        let beside = judge.beside.unwrap_or_else(|| Beside::new(self)).finish();
        Ok((judge.evaluator.finish(), beside, warnings))
    }
}

/// Predicts labeled data with several models, which read rows as the first does, and judges the predictions. The data is read
/// once; models predict at the same time, with so many threads.
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
    beside: Option<Beside>,
}

impl Judge {
    fn new(model: &Model) -> Self {
        let (scorer, is_normalized) = (model.scorer(), model.settings().is_normalized());
        let (evaluator, margins) = (model.evaluator(), Vec::new());
        Self { scorer, is_normalized, evaluator, margins, beside: None }
    }

    fn take(&mut self, chunk: &Chunk) {
        self.margins.clear();
        self.scorer.margins(chunk, &mut self.margins);
        self.evaluator.record_chunk(chunk, &self.margins);
        if let Some(beside) = &mut self.beside {
            beside.take(chunk, &self.margins);
        }
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
    options.numbers_apart = judges.iter().any(|judge| judge.is_normalized);
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
    /// They must.
    Labels,
    /// They need not, and what stands there may be anything.
    Nothing,
}

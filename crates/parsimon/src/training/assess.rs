//! Evaluation of a model on labeled data: metrics, the constant beside it, segments, and coverage of the data.

use parsimon_core::{Chunk, Link, Loss};
use parsimon_data::{Carried, Input, Message, Options, Position, Reader};
use parsimon_eval::{Binary, Evaluation, Evaluator};

use super::beside::{Beside, BesideConstant};
use super::evaluation::{Expect, ModelEvaluator};
use super::segments::{SegmentRow, SegmentTally, Segments};
use crate::coverage::Coverage;
use crate::error::Error;
use crate::model::Model;

/// Options of [`Model::assess`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Assess {
    /// Rows to skip at the beginning.
    pub skip: u64,
    /// The largest number of rows to evaluate.
    pub limit: Option<u64>,
    /// The column whose values are segments.
    pub by: Option<String>,
    /// Also evaluates decisions at this threshold: a probability, or a margin if the model has no probabilities.
    pub threshold: Option<f64>,
    /// Whether to ignore the calibration of the model.
    pub raw: bool,
    /// Whether to evaluate data whose features have no weight in the model; by default such data is an error.
    pub allow_unknown: bool,
}

/// The result of [`Model::assess`].
#[derive(Clone, Debug)]
pub struct Assessed {
    /// The metrics.
    pub evaluation: Evaluation,
    /// The loss of the model compared with that of a constant prediction.
    pub beside: BesideConstant,
    /// The segments, if a column is set.
    pub segments: Option<Segments>,
    /// Which features of the data have a weight in the model.
    pub coverage: Coverage,
    /// Warnings about the rows; see [`Reader::warnings`].
    pub warnings: Vec<String>,
    /// Guesses about the data; see [`Reader::guesses`].
    pub guesses: Vec<Message>,
    /// Bad rows that were skipped.
    pub skipped: u64,
}

impl Model {
    /// Predicts labeled data and evaluates the predictions. `observe` is called with the position in the data.
    ///
    /// ```
    /// use parsimon::data::{Input, Labels, Options, Reading};
    /// use parsimon::{InputSchema, LearnerOptions, Plan, Spec, Trainer, run};
    /// use parsimon::predict::{Assess, Assessed, Coverage};
    ///
    /// let input = Input::Bytes { name: "d.svm".into(), bytes: b"1 1:1\n-1 2:1\n".repeat(100) };
    /// let settings = Spec::new("ftrl").resolve()?;
    /// let mut trainer = Trainer::new(settings, LearnerOptions::default(), InputSchema::default())?;
    /// let options = Options::from(Reading { labels: Labels::binary(), ..Reading::default() });
    /// let model = run(&mut trainer, &Plan::new(vec![input.clone()], options.clone()), &mut ())?.model;
    /// let assessed: Assessed = model.assess(&[input], &options, &Assess::default(), &mut |_| {})?;
    /// let coverage: &Coverage = &assessed.coverage;
    /// assert!(coverage.refusal().is_none());
    /// let beside = &assessed.beside;
    /// assert!((beside.constant.value().unwrap() - 2f64.ln()).abs() < 1e-3);
    /// assert!(beside.difference.interval().unwrap().1 < 0.0);
    /// # Ok::<(), parsimon::Error>(())
    /// ```
    pub fn assess(
        &self,
        inputs: &[Input],
        options: &Options,
        how: &Assess,
        observe: &mut dyn FnMut(&Position),
    ) -> Result<Assessed, Error> {
        let mut options = self.options(options, Expect::Labels);
        options.ask.carried = how.by.iter().cloned().collect();
        let mut reader = Reader::open(inputs, &options)?;
        let mut coverage = Coverage::new(self, &reader);
        let refuse = |coverage: &Coverage| match coverage.refusal() {
            Some(words) if !how.allow_unknown => Err(Error::Unknown(words.into())),
            _ => Ok(()),
        };
        if coverage.lacks_half() {
            refuse(&coverage)?;
        }
        let mut judge = Assessor::new(self, how);
        let scorer = self.scorer();
        let (mut chunk, mut part, mut margins) = (Chunk::new(), Chunk::new(), Vec::new());
        let (mut skip, mut left) = (how.skip, how.limit.unwrap_or(u64::MAX));
        while left > 0 && reader.read(&mut chunk)? {
            let rows = chunk.len() as u64;
            let first = skip.min(rows);
            let taken = left.min(rows - first);
            (skip, left) = (skip - first, left - taken);
            let chunk = if taken == rows {
                &chunk
            } else {
                part.clear();
                (first..first + taken).for_each(|i| part.copy_row(&chunk, i as usize));
                &part
            };
            margins.clear();
            scorer.margins(chunk, &mut margins);
            judge.take(chunk, &mut margins);
            if coverage.take(chunk) {
                refuse(&coverage)?;
            }
            observe(&reader.position());
        }
        refuse(&coverage)?;
        Ok(Assessed {
            evaluation: judge.evaluator.finish(),
            beside: judge.beside.finish(),
            segments: judge.segments.map(SegmentTally::finish),
            coverage,
            warnings: reader.warnings(),
            guesses: reader.guesses().to_vec(),
            skipped: reader.skipped_rows(),
        })
    }
}

struct Assessor<'a> {
    model: &'a Model,
    /// Whether margins become calibrated log odds.
    is_calibrated: bool,
    evaluator: ModelEvaluator,
    beside: Beside,
    segments: Option<SegmentTally>,
}

impl<'a> Assessor<'a> {
    fn new(model: &'a Model, how: &Assess) -> Self {
        let is_calibrated = model.calibration().is_some() && !how.raw;
        let mut evaluator = match is_calibrated {
            true => ModelEvaluator::one(Evaluator::Binary(Binary::new(Loss::Logistic))),
            false => model.evaluator(),
        };
        if let Some(threshold) = how.threshold {
            evaluator = evaluator.threshold(threshold);
        }
        let segments = how.by.as_deref().map(SegmentTally::new);
        Self { model, is_calibrated, evaluator, beside: Beside::new(model), segments }
    }

    fn take(&mut self, chunk: &Chunk, margins: &mut [f64]) {
        let loss = self.model.settings().loss();
        // Log odds are not margins of another loss, so the comparison with the constant uses the loss that was trained.
        if self.is_calibrated && loss == Loss::Logistic {
            self.model.calibrate(margins);
        }
        let outputs = self.model.outputs();
        let losses = self.beside.take(chunk, margins);
        if self.is_calibrated && loss != Loss::Logistic {
            self.model.calibrate(margins);
        }
        self.evaluator.record_chunk(chunk, margins);
        let Some(segments) = &mut self.segments else { return };
        let model = self.model;
        let predict = if self.is_calibrated { Loss::Logistic } else { loss };
        let has_ratio = predict.link() != Link::Identity;
        for (i, own, constant) in losses {
            let (margins, y) = (&margins[i * outputs..(i + 1) * outputs], chunk.label(i));
            let label = match model.is_binary() {
                true => y.map(|y| f64::from(u8::from(y > 0.0))),
                false => y,
            };
            let is_single = !model.is_multiclass();
            let predicted = (is_single && has_ratio).then(|| predict.predict(margins[0]));
            let value = Carried::new(chunk.tag(i)).nth(1).flatten().unwrap_or_default();
            segments.add(
                value,
                SegmentRow {
                    loss: own,
                    constant,
                    label: label.filter(|_| is_single),
                    predicted,
                    weight: chunk.weight(i),
                },
            );
        }
    }
}

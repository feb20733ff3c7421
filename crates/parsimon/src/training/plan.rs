//! What a training run is to do, and what came of it.

use std::path::PathBuf;
use std::time::Duration;

use parsimon_data::{Input, Options, Position, Reader};
use parsimon_eval::Evaluation;
use serde::Serialize;

use super::hindsight::Hindsight;
use super::holdout::Holdout;
use super::regret::Regret;
use super::{Progress, Warning};
use crate::error::Error;
use crate::model::Model;

/// What [`run`](crate::train::run) does: inputs, passes, holdout, checkpoints.
///
/// ```
/// use parsimon::data::{Input, Labels, Options};
/// use parsimon::{InputSchema, LearnerOptions, Plan, Spec, Trainer, run};
///
/// let input = Input::Bytes { name: "d.svm".into(), bytes: b"1 1:1\n-1 2:1\n".repeat(100) };
/// let options = Options { labels: Labels::binary(), ..Options::default() };
/// // Three passes; a tenth of the rows is evaluated and not learned.
/// let plan = Plan { passes: 3, holdout: Some(0.1), ..Plan::new(vec![input], options) };
/// let settings = Spec::new("ftrl").resolve()?;
/// let mut trainer = Trainer::new(settings, LearnerOptions::default(), InputSchema::default())?;
/// let outcome = run(&mut trainer, &plan, &mut ())?;
/// assert_eq!((outcome.rows, outcome.passes.len()), (540, 3));
/// assert!(outcome.passes[2].holdout.is_some());
/// # Ok::<(), parsimon::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Plan {
    /// The data.
    pub inputs: Vec<Input>,
    /// How the data is read.
    pub options: Options,
    /// The number of passes over the data.
    pub passes: u32,
    /// Shuffles rows within windows of this many rows.
    pub shuffle: Option<usize>,
    /// The seed of shuffling.
    pub seed: u64,
    /// Holds out this share of the rows, at most 0.5 and evenly spread: they are predicted and evaluated, not learned. Row `t`,
    /// counted from 1, is held out if `t * share` reaches a whole number that `(t - 1) * share` does not.
    pub holdout: Option<f64>,
    /// Stops after this many passes without a better holdout loss, and keeps the best model.
    pub patience: Option<u32>,
    /// The largest number of rows per pass.
    pub limit: Option<u64>,
    /// Rows skipped at the beginning of every pass.
    pub skip: u64,
    /// For each input, the number of rows that were learned earlier; they are skipped in the first pass. Inputs that are not listed
    /// start with their first row. [`Trainer::starts`](crate::training::Trainer::starts) finds them.
    pub starts: Vec<u64>,
    /// Learns negative rows with this probability and divides their importance weight by it; see
    /// [`NegativeSampler`](crate::training::NegativeSampler).
    pub sample_negatives: Option<f64>,
    /// Whether the observer is given the prediction made for every row of the first pass before it was learned. A reader
    /// that is open already must mark bad rows ([`Options::mark_skipped`]) for them to be counted.
    pub predictions: bool,
    /// The path of the checkpoint, and optionally the number of rows between checkpoints. The last checkpoint is written at the
    /// end.
    pub checkpoint: Option<(PathBuf, Option<u64>)>,
    /// Whether to compute the regret, which keeps all rows in memory.
    pub regret: bool,
}

impl Plan {
    /// A plan for one pass over some inputs.
    pub fn new(inputs: Vec<Input>, options: Options) -> Self {
        Self {
            inputs,
            options,
            passes: 1,
            shuffle: None,
            seed: 1,
            holdout: None,
            patience: None,
            limit: None,
            skip: 0,
            starts: Vec::new(),
            sample_negatives: None,
            predictions: false,
            checkpoint: None,
            regret: false,
        }
    }

    /// Opens the inputs.
    pub(super) fn open(&self) -> Result<Reader, Error> {
        let mark_skipped = self.predictions || self.options.mark_skipped;
        let options = Options { mark_skipped, ..self.options.clone() };
        Ok(Reader::open(&self.inputs, &options)?)
    }

    /// Returns an error if parts of the plan contradict each other.
    pub fn check(&self) -> Result<(), Error> {
        let usage = |message: &str| Err(Error::Usage(message.into()));
        let is_stdin = self.inputs.iter().any(|input| matches!(input, Input::Stdin));
        if self.passes > 1 && is_stdin {
            return usage("standard input can be read once only; give a file for several passes");
        }
        if self.patience.is_some() && self.holdout.is_none() {
            return usage("early stopping needs a holdout; add --holdout");
        }
        if self.regret && (self.passes > 1 || self.holdout.is_some()) {
            return usage("the regret is defined for one pass without holdout");
        }
        if self.regret && self.sample_negatives.is_some() {
            return usage("the regret is defined for all rows; leave out --sample-negatives");
        }
        if self.regret && self.predictions {
            return usage(
                "--predictions and --regret cannot be combined; run them one after the other",
            );
        }
        self.holdout.map_or(Ok(()), |share| Holdout::new(share).map(|_| ()))
    }
}

/// Follows a run. Every method has an empty default.
///
/// ```
/// use parsimon::train::{Observer, Progress};
///
/// struct Print;
/// impl Observer for Print {
///     fn progress(&mut self, line: &Progress) {
///         println!("{:>10} rows, loss {:.4}, {} nonzero", line.rows, line.average, line.nonzeros);
///     }
/// }
/// ```
pub trait Observer {
    /// A line of the progress table.
    fn progress(&mut self, _line: &Progress) {}
    /// The average progressive loss so far, after every chunk.
    fn loss(&mut self, _average: f64) {}
    /// How far the reading has come.
    fn position(&mut self, _position: &Position) {}
    /// A pass has ended.
    fn pass(&mut self, _pass: &Pass) {}
    /// Something is probably wrong. Each kind of warning comes once.
    fn warning(&mut self, _warning: &Warning) {}
    /// With [`Plan::predictions`], called for every row of the first pass, in the order of the data: the margins that were
    /// predicted before the row was learned, one or one per class. `None` for a row that was passed over: a bad row, a row
    /// before the start, a negative row that was not sampled.
    fn predicted(&mut self, _margins: Option<&[f64]>) {}
}

/// Observes nothing.
impl Observer for () {}

/// A pass that has ended.
#[derive(Clone, Debug, Serialize)]
pub struct Pass {
    /// The number of the pass, from 1.
    pub pass: u32,
    /// Rows learned so far.
    pub rows: u64,
    /// The average progressive loss so far. From the second pass on it has rows in it that were learned before.
    pub progressive: Option<f64>,
    /// The average loss of a constant on the same rows, where it is known.
    pub constant: Option<f64>,
    /// The holdout's metrics in this pass.
    pub holdout: Option<Evaluation>,
    /// Nonzero weights.
    pub nonzeros: usize,
}

/// How long learning was paused for checkpoints during a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pauses {
    /// The number of checkpoints.
    pub count: u64,
    /// The sum of all pauses.
    pub total: Duration,
    /// The shortest pause.
    pub shortest: Duration,
    /// The longest pause.
    pub longest: Duration,
}

impl Pauses {
    pub(super) fn add(&mut self, pause: Duration) {
        self.shortest = if self.count == 0 { pause } else { self.shortest.min(pause) };
        self.longest = self.longest.max(pause);
        self.total += pause;
        self.count += 1;
    }
}

impl Outcome {
    /// The pass after which the model was taken; `None` if not even the first has ended.
    pub fn kept_pass(&self) -> Option<&Pass> {
        self.passes.iter().find(|pass| pass.pass == self.kept)
    }
}

/// The result of a run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The model.
    pub model: Model,
    /// What the model has forgotten of the rows, if that is much.
    pub hindsight: Option<Hindsight>,
    /// The passes.
    pub passes: Vec<Pass>,
    /// The number of the pass after which the model was taken, from 1: the best by the holdout with [`Plan::patience`], else the last.
    pub kept: u32,
    /// The regret, if [`Plan::regret`] is set.
    pub regret: Option<Regret>,
    /// Rows learned in this run.
    pub rows: u64,
    /// The number of features of these rows.
    pub features: u64,
    /// The number of malformed rows that were skipped, and the first errors.
    pub skipped: (u64, Vec<String>),
    /// Warnings about the rows; see [`Reader::warnings`](parsimon_data::Reader::warnings).
    pub warnings: Vec<String>,
    /// Time spent reading and learning.
    pub elapsed: Duration,
    /// With [`Plan::sample_negatives`]: the number of negative rows that were learned, and the number of all negative rows.
    pub negatives: Option<(u64, u64)>,
    /// The pauses for checkpoints ([`Plan::checkpoint`]).
    pub pauses: Pauses,
    /// Whether the run ended early because reading was stopped ([`Stop`](parsimon_data::Stop)).
    pub is_stopped: bool,
}

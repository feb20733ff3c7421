//! Plan and result of a training run.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use parsimon_core::Chunk;
use parsimon_data::{Input, Message, Options, Position, Remedy, Setting};
use parsimon_eval::Evaluation;
use parsimon_files::Stamp;
use serde::Serialize;

use super::hindsight::Hindsight;
use super::holdout::Holdout;
use super::regret::Regret;
use super::{Notice, Progress, Standing, Sweep, Trainer};
use crate::error::Error;
use crate::model::Model;
use crate::settings::Settings;
use crate::survey::{Guess, Opened};

/// A plan for [`run`](crate::train::run): inputs, passes, holdout, checkpoints.
///
/// ```
/// use parsimon::data::{Input, Labels, Options, Reading};
/// use parsimon::{InputSchema, LearnerOptions, Plan, Spec, Trainer, run};
///
/// let input = Input::Bytes { name: "d.svm".into(), bytes: b"1 1:1\n-1 2:1\n".repeat(100) };
/// let options = Options::from(Reading { labels: Labels::binary(), ..Reading::default() });
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
    /// Options of reading.
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
    /// that is open already must mark bad rows ([`Ask::mark_skipped`](parsimon_data::Ask::mark_skipped)) for them to be counted.
    pub predictions: bool,
    /// The path of the checkpoint, and optionally the number of rows between checkpoints. The last checkpoint is written at the
    /// end.
    pub checkpoint: Option<(PathBuf, Option<u64>)>,
    /// The state of the checkpoint's file before the run, such as when it was read: a file that another process has replaced since is
    /// not overwritten. `None` overwrites any.
    pub checkpoint_stamp: Option<Stamp>,
    /// Whether the caller writes the checkpoint at the end, after other outputs.
    pub defers_checkpoint: bool,
    /// Whether to compute the regret, which keeps all rows in memory.
    pub regret: bool,
    /// The features that are learned, sorted; all if this is `None`.
    pub features: Option<Arc<[u32]>>,
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
            checkpoint_stamp: None,
            defers_checkpoint: false,
            regret: false,
            features: None,
        }
    }

    /// The options for another pass over the rows.
    pub(crate) fn reading(&self) -> Options {
        let mut options = self.options.clone();
        options.ask.mark_skipped |= self.predictions;
        options
    }

    /// Returns an error if parts of the plan contradict each other.
    pub fn check(&self) -> Result<(), Error> {
        let usage = |message: &str| Err(Error::usage(message));
        let remedied = |fact: &str, remedy| Err(Error::usage(Message::new(fact).or(remedy)));
        let is_stdin = self.inputs.iter().any(|input| matches!(input, Input::Stdin));
        if self.passes > 1 && is_stdin {
            return usage("standard input can be read once only; give a file for several passes");
        }
        if self.patience.is_some() && self.holdout.is_none() {
            let remedy = Remedy::Pass(Setting::Holdout, None);
            return remedied("early stopping needs a holdout", remedy);
        }
        if self.regret && (self.passes > 1 || self.holdout.is_some()) {
            return usage("the regret is defined for one pass without holdout");
        }
        if self.regret && self.sample_negatives.is_some() {
            let remedy = Remedy::LeaveOut(Setting::SampleNegatives);
            return remedied("the regret is defined for all rows", remedy);
        }
        if self.regret && self.predictions {
            let fact = "predictions and the regret are computed in separate runs";
            return remedied(fact, Remedy::LeaveOut(Setting::Regret));
        }
        self.holdout.map_or(Ok(()), |share| Holdout::new(share).map(|_| ()))
    }
}

/// A decision, and the losses that led to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decided {
    /// The loss of lines on rows that were not learned.
    pub lines: f64,
    /// The loss of the winner on the same rows.
    pub chosen: f64,
    /// The number of columns with a curve.
    pub curves: usize,
    /// The number of pairs.
    pub pairs: usize,
    /// The rows that were predicted.
    pub rows: usize,
}

/// Follows a run, a job or a sweep. Every method has an empty default.
///
/// ```
/// use parsimon::train::{Events, Progress};
///
/// struct Print;
/// impl Events for Print {
///     fn progress(&mut self, line: &Progress) {
///         println!("{:>10} rows, loss {:?}, {} nonzero", line.rows, line.average, line.nonzeros);
///     }
/// }
/// ```
pub trait Events {
    /// A [`Job`](crate::job::Job) has opened the data; nothing is learned yet.
    fn opened(&mut self, _opened: &Opened, _guess: Option<Guess>, _settings: &Settings) {}
    /// A [`Job`](crate::job::Job) has decided between lines, curves and pairs of columns, by rows that no contender has learned.
    fn decided(&mut self, _decided: &Decided) {}
    /// A [`Job`](crate::job::Job) begins to learn, with the first row. What was reported since an earlier beginning is void.
    fn begin(&mut self, _trainer: &Trainer, _plan: &Plan) {}
    /// A [`Job`](crate::job::Job) is about to learn the rows again in random order; this is the result so far.
    fn again(&mut self, _outcome: &Outcome) {}
    /// Rows of a sweep were learned.
    fn swept(&mut self, _sweep: &Sweep, _position: &Position) {}
    /// The settings of a sweep report.
    fn standings(&mut self, _standings: &[Standing]) {}
    /// Rows were learned.
    fn learned(&mut self, _chunk: &Chunk) {}
    /// A line of the progress table.
    fn progress(&mut self, _line: &Progress) {}
    /// The average progressive loss so far, after every chunk.
    fn loss(&mut self, _average: f64) {}
    /// Progress of reading.
    fn position(&mut self, _position: &Position) {}
    /// A pass has ended.
    fn pass(&mut self, _pass: &Pass) {}
    /// A notice. Each kind comes once.
    fn notice(&mut self, _notice: &Notice) {}
    /// With [`Plan::predictions`], called for every row of the first pass, in the order of the data: the margins that were
    /// predicted before the row was learned, one or one per class. `None` for a row that was skipped: a bad row, a row
    /// before the start, a negative row that was not sampled.
    fn predicted(&mut self, _margins: Option<&[f64]>) {}
}

/// Observes nothing.
impl Events for () {}

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

/// Total time for which learning was paused for checkpoints during a run.
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
    /// Evidence that the model has forgotten many of the rows.
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
    /// The state of the checkpoint's file after the last checkpoint of the run, or [`Plan::checkpoint_stamp`].
    pub checkpoint_stamp: Option<Stamp>,
    /// Whether the run ended early because reading was stopped ([`Stop`](parsimon_data::Stop)).
    pub is_stopped: bool,
}

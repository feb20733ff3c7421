//! What a training run is to do, and what came of it.

use std::path::PathBuf;
use std::time::Duration;

use parsimon_data::{Input, Options, Position, Reader};
use parsimon_eval::Evaluation;
use serde::Serialize;

use super::regret::Regret;
use super::{Progress, Warning};
use crate::{Error, Model};

/// What a run is to do.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The data.
    pub inputs: Vec<Input>,
    /// How it is read; labels and space included.
    pub options: Options,
    /// How often the data is read.
    pub passes: u32,
    /// Rows are shuffled within windows of so many.
    pub shuffle: Option<usize>,
    /// For shuffling.
    pub seed: u64,
    /// Every so many-th row is held out: predicted and judged, not learned.
    pub holdout: Option<u64>,
    /// Stop after so many passes without a better holdout loss, and keep the best model.
    pub patience: Option<u32>,
    /// At most so many rows per pass.
    pub limit: Option<u64>,
    /// Rows passed over at the beginning of every pass.
    pub skip: u64,
    /// For each input, how many of its rows were learned before: they are passed over in the first pass. Inputs that are
    /// not listed start with their first row. [`Trainer::starts`](crate::Trainer::starts) finds them.
    pub starts: Vec<u64>,
    /// Negative rows are learned with this probability, and count one over it; see
    /// [`NegativeSampler`](crate::NegativeSampler).
    pub sample_negatives: Option<f64>,
    /// Whether the observer is given the prediction made for every row of the first pass before it was learned. A reader
    /// that is open already must mark bad rows ([`Options::mark_skipped`]) for them to be counted.
    pub predictions: bool,
    /// Where to save the state, and every how many rows beside at the end.
    pub checkpoint: Option<(PathBuf, Option<u64>)>,
    /// Whether to keep the books for the regret: all rows stay in memory.
    pub regret: bool,
}

impl Plan {
    /// One pass over some inputs.
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

    /// Whether the plan makes sense, before any data is opened.
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
        if self.holdout.is_some_and(|n| n < 2) {
            return usage("the holdout must leave rows to learn from");
        }
        Ok(())
    }
}

/// Who wants to hear of a run while it goes.
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
    /// Its number, from 1.
    pub pass: u32,
    /// Rows learned so far.
    pub rows: u64,
    /// The average progressive loss so far.
    pub progressive: Option<f64>,
    /// The holdout's metrics in this pass.
    pub holdout: Option<Evaluation>,
    /// Nonzero weights.
    pub nonzeros: usize,
}

/// How long learning stood still for checkpoints that were due during a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pauses {
    /// Checkpoints.
    pub count: u64,
    /// All pauses together.
    pub total: Duration,
    /// The shortest, and the longest.
    pub shortest: Duration,
    /// See `shortest`.
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

/// What came of a run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The model.
    pub model: Model,
    /// The passes.
    pub passes: Vec<Pass>,
    /// The regret, when asked for.
    pub regret: Option<Regret>,
    /// Rows learned in this run.
    pub rows: u64,
    /// Their features.
    pub features: u64,
    /// Rows passed over because they were bad, and the first of their errors.
    pub skipped: (u64, Vec<String>),
    /// What a person should know of the rows: see [`Reader::warnings`](parsimon_data::Reader::warnings).
    pub warnings: Vec<String>,
    /// Time spent reading and learning.
    pub elapsed: Duration,
    /// With [`Plan::sample_negatives`]: the negative rows that were learned, and all that were met.
    pub negatives: Option<(u64, u64)>,
    /// The checkpoints every so many rows ([`Plan::checkpoint`]).
    pub pauses: Pauses,
    /// Whether the run ended early because reading was stopped ([`Stop`](parsimon_data::Stop)).
    pub is_stopped: bool,
}

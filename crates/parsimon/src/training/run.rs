//! A training run over inputs: passes, holdout, shuffling, limits, checkpoints.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use parsimon_core::Chunk;
use parsimon_data::{Input, Options, Position, Reader};
use parsimon_eval::Evaluation;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use serde::Serialize;

use super::first_rows::{FirstRows, Leak};
use super::regret::{Ledger, Regret};
use super::saver::Saver;
use super::trainer::cells;
use super::{Behind, ModelEvaluator, Progress, Reason, Trainer, Warning};
use crate::{Error, Model};

/// Values so many times larger than those of other features are in another unit, and likely to spoil the learning.
const OTHER_UNIT: f64 = 1e3;
/// A learner that is worse than the constant by this share has learned noise; steps that are too large cost more.
const A_LITTLE: f64 = 0.1;

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
    /// Rows passed over at the beginning.
    pub skip: u64,
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
            checkpoint: None,
            regret: false,
        }
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
    /// How far the reading has come.
    fn position(&mut self, _position: &Position) {}
    /// A pass has ended.
    fn pass(&mut self, _pass: &Pass) {}
    /// Something is probably wrong. Each kind of warning comes once.
    fn warning(&mut self, _warning: &Warning) {}
}

/// Nobody.
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
    /// What a person should know of the rows: see [`Reader::warnings`].
    pub warnings: Vec<String>,
    /// Time spent reading and learning.
    pub elapsed: Duration,
}

/// Runs a plan.
pub fn run(
    trainer: &mut Trainer,
    plan: &Plan,
    observer: &mut dyn Observer,
) -> Result<Outcome, Error> {
    let reader = Reader::open(&plan.inputs, &plan.options)?;
    run_with(trainer, plan, reader, observer)
}

/// Runs a plan whose inputs are open already, with the plan's options.
pub fn run_with(
    trainer: &mut Trainer,
    plan: &Plan,
    reader: Reader,
    observer: &mut dyn Observer,
) -> Result<Outcome, Error> {
    plan.check()?;
    if plan.regret && trainer.settings().is_normalized() {
        return Err(Error::Usage(
            "the regret is defined for features as they come; choose a method with --algorithm and leave out --normalize"
                .into(),
        ));
    }
    if plan.regret && trainer.settings().class_weight().is_some() {
        let message = "the regret is defined for rows as they are; leave out --class-weight";
        return Err(Error::Usage(message.into()));
    }
    let mut reader = Some(reader);
    for input in &plan.inputs {
        trainer.note_input(&input.name());
    }
    let start = Instant::now();
    let mut state = RunState {
        first: FirstRows::new(trainer.settings()),
        is_warned: false,
        trainer,
        plan,
        observer,
        ledger: plan.regret.then(Ledger::new),
        rows: 0,
        features: 0,
        skipped: (0, Vec::new()),
        warnings: Vec::new(),
        unsaved: 0,
        saver: None,
    };
    let (mut passes, mut best, mut worse) = (Vec::new(), None::<(f64, Model)>, 0);
    for number in 1..=plan.passes {
        let reader = match reader.take() {
            Some(reader) => reader,
            None => Reader::open(&plan.inputs, &plan.options)?,
        };
        let holdout = state.pass(number, reader)?;
        if number < plan.passes {
            state.trainer.decide();
        }
        let loss = holdout.as_ref().and_then(Evaluation::mean_loss);
        let pass = Pass {
            pass: number,
            rows: state.trainer.progressive().rows(),
            progressive: state.trainer.progressive().average(),
            holdout,
            nonzeros: state.trainer.online().nonzeros(),
        };
        state.observer.pass(&pass);
        passes.push(pass);
        if let (Some(patience), Some(loss)) = (plan.patience, loss) {
            if best.as_ref().is_none_or(|(least, _)| loss < *least) {
                best = Some((loss, state.trainer.model()));
                worse = 0;
            } else {
                worse += 1;
            }
            if worse >= patience {
                break;
            }
        }
    }
    if let Some(saver) = &mut state.saver {
        saver.wait()?;
    }
    let RunState { ledger, rows, features, skipped, warnings, .. } = state;
    let elapsed = start.elapsed();
    if trainer.progressive().rows() == 0 {
        return Err(Error::NothingLearned);
    }
    if let Some((path, _)) = &plan.checkpoint {
        trainer.save_checkpoint(path)?;
    }
    let model = best.map_or_else(|| trainer.model(), |(_, model)| model);
    let regret = ledger.map(|ledger| ledger.close(trainer));
    Ok(Outcome { model, passes, regret, rows, features, skipped, warnings, elapsed })
}

struct RunState<'a> {
    trainer: &'a mut Trainer,
    plan: &'a Plan,
    observer: &'a mut dyn Observer,
    ledger: Option<Ledger>,
    rows: u64,
    features: u64,
    skipped: (u64, Vec<String>),
    warnings: Vec<String>,
    unsaved: u64,
    saver: Option<Saver>,
    /// What the first rows show, in search of reasons.
    first: FirstRows,
    /// Whether it was said that the learner is worse than a constant.
    is_warned: bool,
}

impl RunState<'_> {
    /// One pass; the holdout's metrics.
    fn pass(&mut self, number: u32, mut reader: Reader) -> Result<Option<Evaluation>, Error> {
        let plan = self.plan;
        let seed = plan.seed.wrapping_add(u64::from(number).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut judge =
            ModelEvaluator::new(self.trainer.settings(), &self.trainer.schema().found.classes);
        let (mut chunk, mut kept, mut held) = (Chunk::new(), Chunk::new(), Chunk::new());
        let (mut row, mut learned, mut judged) = (0u64, 0u64, false);
        let mut more = true;
        while more {
            more = reader.read(&mut chunk)?;
            self.observer.position(&reader.position());
            // Straight through when nothing is to be picked, put aside or mixed.
            let plain = plan.holdout.is_none() && plan.shuffle.is_none() && row >= plan.skip;
            let left = plan.limit.map_or(u64::MAX, |limit| limit - learned);
            if plain && left >= chunk.len() as u64 {
                row += chunk.len() as u64;
                learned += chunk.len() as u64;
                self.learn(&chunk, &reader)?;
                self.save_if_due(&reader)?;
                continue;
            }
            for i in 0..if more { chunk.len() } else { 0 } {
                row += 1;
                if row <= plan.skip || plan.limit.is_some_and(|limit| learned >= limit) {
                    continue;
                }
                learned += 1;
                match plan.holdout {
                    Some(n) if row.is_multiple_of(n) => held.copy_row(&chunk, i),
                    _ => kept.copy_row(&chunk, i),
                }
            }
            let full = kept.len() >= plan.shuffle.unwrap_or(1);
            let done = plan.limit.is_some_and(|limit| learned >= limit);
            if full || !more || done {
                self.learn_mixed(&mut kept, &mut random, &reader)?;
                self.save_if_due(&reader)?;
                // Judged where they stand in the stream: after the rows that came with them.
                judged |= !held.is_empty();
                self.judge(&mut held, &mut judge);
            }
            if done {
                break;
            }
        }
        // The table ends with the last row, wherever that is.
        if let Some(line) = self.trainer.last_report() {
            self.observer.progress(&line);
        }
        if number == 1 {
            let leak = self.first.finish();
            self.warn_of_leak(leak, &reader);
        }
        self.warn_if_behind(self.trainer.behind_constant(), &reader);
        if number == 1 {
            let errors = reader.skipped().iter().map(ToString::to_string).collect();
            self.skipped = (reader.skipped_rows(), errors);
            self.warnings = reader.warnings();
        }
        self.trainer.note_names(reader.into_names());
        Ok(judged.then(|| judge.finish()))
    }

    fn judge(&mut self, held: &mut Chunk, judge: &mut ModelEvaluator) {
        let mut margins = Vec::new();
        self.trainer.online().predict(held, &mut margins);
        judge.record_chunk(held, &margins);
        held.clear();
    }

    fn learn_mixed(
        &mut self,
        kept: &mut Chunk,
        random: &mut Xoshiro256PlusPlus,
        reader: &Reader,
    ) -> Result<(), Error> {
        if self.plan.shuffle.is_some() {
            let mut order: Vec<usize> = (0..kept.len()).collect();
            order.shuffle(random);
            let mut mixed = Chunk::new();
            order.iter().for_each(|&i| mixed.copy_row(kept, i));
            *kept = mixed;
        }
        self.learn(kept, reader)?;
        kept.clear();
        Ok(())
    }

    fn learn(&mut self, chunk: &Chunk, reader: &Reader) -> Result<(), Error> {
        self.rows += chunk.len() as u64;
        let cells: usize = (0..chunk.len()).map(|row| cells(chunk, row)).sum();
        self.features += (chunk.nonzeros() + cells) as u64;
        let leak = self.first.take(chunk);
        let observer = &mut *self.observer;
        let report = &mut |line: &Progress| observer.progress(line);
        let learned = match &mut self.ledger {
            None => self.trainer.learn(chunk, report),
            Some(ledger) => ledger.learn(self.trainer, chunk, report),
        };
        if let Err(Error::Diverged { row }) = learned {
            let reason = self.reason(None, reader);
            self.observer.warning(&Warning::Diverged { row, reason });
        }
        learned?;
        self.warn_of_leak(leak, reader);
        self.warn_if_behind(self.trainer.noticed_behind(), reader);
        self.unsaved += chunk.len() as u64;
        Ok(())
    }

    fn warn_of_leak(&mut self, leak: Option<Leak>, reader: &Reader) {
        if let Some(Leak { feature, rows, evidence }) = leak {
            let (feature, rows) = (self.name(feature, reader), rows as u64);
            self.observer.warning(&Warning::Leak { feature, rows, evidence });
        }
    }

    fn warn_if_behind(&mut self, behind: Option<Behind>, reader: &Reader) {
        if let Some(behind) = behind.filter(|_| !self.is_warned) {
            self.is_warned = true;
            let reason = self.reason(Some(behind), reader);
            self.observer.warning(&Warning::WorseThanConstant { behind, reason });
        }
    }

    /// Why the learner is likely to be worse than the constant, or to have diverged.
    fn reason(&mut self, behind: Option<Behind>, reader: &Reader) -> Reason {
        let is_normalized = self.trainer.settings().is_normalized();
        let largest = self.first.largest().filter(|l| !is_normalized && l.times >= OTHER_UNIT);
        let is_close = |b: Behind| b.loss - b.constant < A_LITTLE * b.constant.abs();
        let number = self.trainer.baseline().and_then(|b| b.constant().typical_number());
        let number = number.filter(|typical| !is_normalized && *typical >= OTHER_UNIT);
        match (largest, behind) {
            (Some(largest), _) => Reason::Magnitude {
                feature: self.name(largest.feature, reader),
                times: largest.times,
            },
            (None, Some(behind)) => match number {
                Some(typical) => Reason::LabelScale { typical },
                None if is_close(behind) => Reason::Labels,
                None => Reason::Rate,
            },
            (None, None) => Reason::Rate,
        }
    }

    /// A feature as the user calls it.
    fn name(&self, feature: u32, reader: &Reader) -> String {
        let known = reader.names().name(feature).or_else(|| self.trainer.names().name(feature));
        match (known, self.trainer.schema().bits) {
            (Some(name), _) => name.to_owned(),
            (None, None) => feature.to_string(),
            (None, Some(_)) => format!("#{feature}"),
        }
    }

    /// Begins to save the state if enough rows have been learned since it was last saved, and that has been written.
    fn save_if_due(&mut self, reader: &Reader) -> Result<(), Error> {
        if let Some((path, Some(every))) = &self.plan.checkpoint
            && self.unsaved >= *every
        {
            if self.saver.get_or_insert_with(|| Saver::new(path)).save(self.trainer, reader)? {
                self.unsaved = 0;
            }
        }
        Ok(())
    }
}

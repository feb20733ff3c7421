//! A training run over inputs: passes, holdout, shuffling, limits, checkpoints.

use std::time::{Duration, Instant};

use parsimon_core::Chunk;
use parsimon_data::{DataError, DataErrorKind, Input, Message, Reader, Remedy, Setting, Stop};
use parsimon_eval::Evaluation;
use parsimon_files::Stamp;
use parsimon_files::memory::Claim;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

use super::hindsight::Sample;
use super::holdout::Holdout;
use super::predictions::{Place, Predictions};
use super::regret::Ledger;
use super::sampling::NegativeSampler;
use super::saver::Saver;
use super::trainer::cells;
use super::{
    Events, Hindsight, ModelEvaluator, Notice, Noticing, Outcome, Pass, Pauses, Plan, Progress,
    Regret, Stretch, Trainer,
};
use crate::error::Error;
use crate::model::Model;
use crate::survey::Source;

/// Trains on the inputs of a plan.
pub fn run(
    trainer: &mut Trainer,
    plan: &Plan,
    observer: &mut dyn Events,
) -> Result<Outcome, Error> {
    let reader = plan.inputs[..].open(&plan.reading())?;
    run_with(trainer, plan, reader, observer)
}

/// As [`run`], with a reader that was opened with the options of the plan.
pub fn run_with(
    trainer: &mut Trainer,
    plan: &Plan,
    reader: Reader,
    observer: &mut dyn Events,
) -> Result<Outcome, Error> {
    let mut noticing = Noticing::new(trainer.settings());
    pass_over(trainer, plan, &plan.inputs, reader, &mut noticing, observer)?.finish(trainer, plan)
}

/// Makes the passes of a plan over the rows of a source; `reader` reads the first.
pub(crate) fn pass_over(
    trainer: &mut Trainer,
    plan: &Plan,
    source: &dyn Source,
    reader: Reader,
    noticing: &mut Noticing,
    observer: &mut dyn Events,
) -> Result<Passes, Error> {
    plan.check()?;
    refuse_regret(trainer, plan)?;
    let mut reader = Some(reader);
    let start = Instant::now();
    let mut state = RunState::new(trainer, plan, noticing, observer)?;
    let (mut passes, mut best, mut worse) = (Vec::new(), None::<(f64, u32, Model)>, 0);
    for number in 1..=plan.passes {
        let reader = match reader.take() {
            Some(reader) => reader,
            None if plan.options.run.stop.as_ref().is_some_and(Stop::is_stopped) => {
                state.is_stopped = true;
                break;
            }
            None => source.open(&plan.reading())?,
        };
        let (holdout, counted) = state.pass(number, reader)?;
        if state.is_stopped {
            break;
        }
        // The end of a race may change the weights.
        let is_last = number == plan.passes;
        if !is_last {
            state.trainer.decide();
        }
        let counted = counted.filter(|_| is_last);
        let loss = holdout.as_ref().and_then(Evaluation::mean_loss);
        let pass = Pass {
            pass: number,
            rows: state.trainer.progressive().rows(),
            progressive: state.trainer.progressive().average(),
            constant: state.trainer.constant_loss(),
            holdout,
            nonzeros: counted.unwrap_or_else(|| state.trainer.online().nonzeros()),
        };
        state.observer.pass(&pass);
        passes.push(pass);
        if let (Some(patience), Some(loss)) = (plan.patience, loss) {
            if best.as_ref().is_none_or(|(least, ..)| loss < *least) {
                best = Some((loss, number, state.trainer.model()));
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
    state.note_consumed();
    let RunState { ledger, sample, rows, features, skipped, warnings, is_stopped, .. } = state;
    Ok(Passes {
        passes,
        best: best.map(|(_, pass, model)| (pass, model)),
        ledger,
        sample,
        rows,
        features,
        skipped,
        warnings,
        elapsed: start.elapsed(),
        negatives: state.sampler.as_ref().map(NegativeSampler::counts),
        pauses: state.saver.as_ref().map(Saver::pauses).unwrap_or_default(),
        stamp: state.saver.as_ref().map_or_else(|| plan.checkpoint_stamp.clone(), Saver::stamp),
        is_stopped,
    })
}

/// Refuses a regret that is not defined for the learner.
fn refuse_regret(trainer: &Trainer, plan: &Plan) -> Result<(), Error> {
    if !plan.regret {
        return Ok(());
    }
    let (fact, setting) = if trainer.settings().is_normalized() {
        let fact =
            "the regret is defined for features as they come, and this method standardizes them";
        let message = Message::new(fact)
            .or(Remedy::LeaveOut(Setting::Normalize))
            .or(Remedy::Pass(Setting::Algorithm, Some("NAME".into())));
        return Err(Error::usage(message));
    } else if trainer.settings().class_weight().is_some() {
        ("the regret is defined for rows as they are", Setting::ClassWeight)
    } else if trainer.began_with().is_some() {
        ("the regret is defined for a learner that begins at zero", Setting::From)
    } else {
        return Ok(());
    };
    Err(Error::usage(Message::new(fact).or(Remedy::LeaveOut(setting))))
}

/// The passes of a plan, made, before the model is taken from the learner.
pub(crate) struct Passes {
    passes: Vec<Pass>,
    /// The best pass by the holdout, and the model after it.
    best: Option<(u32, Model)>,
    ledger: Option<Ledger>,
    sample: Sample,
    pub(crate) rows: u64,
    features: u64,
    skipped: (u64, Vec<String>),
    warnings: Vec<String>,
    elapsed: Duration,
    negatives: Option<(u64, u64)>,
    pauses: Pauses,
    stamp: Option<Stamp>,
    is_stopped: bool,
}

impl Passes {
    /// Remarks of the reader, and rows that were skipped.
    pub(crate) fn notices(&self) -> Vec<Notice> {
        Notice::of_rows(&self.warnings, &self.skipped)
    }

    /// Takes the model from the learner and judges it.
    pub(crate) fn finish(self, trainer: &mut Trainer, plan: &Plan) -> Result<Outcome, Error> {
        if trainer.progressive().rows() == 0 {
            return Err(Error::NothingLearned);
        }
        let last = self.passes.last().map_or(0, |pass: &Pass| pass.pass);
        let (kept, model) = self.best.unwrap_or_else(|| (last, trainer.model()));
        // The last rows may have had features that no later row showed.
        if !model.is_finite() {
            return Err(Error::Diverged { row: trainer.progressive().rows() });
        }
        if let Some((path, _)) = &plan.checkpoint
            && !plan.defers_checkpoint
        {
            trainer.save_checkpoint_over(path, self.stamp.as_ref())?;
        }
        let regret: Option<Regret> = self.ledger.map(|ledger| ledger.close(trainer));
        let hindsight: Option<Hindsight> = self.sample.judge(trainer, &model);
        Ok(Outcome {
            model,
            hindsight,
            passes: self.passes,
            kept,
            regret,
            rows: self.rows,
            features: self.features,
            skipped: self.skipped,
            warnings: self.warnings,
            elapsed: self.elapsed,
            negatives: self.negatives,
            pauses: self.pauses,
            checkpoint_stamp: self.stamp,
            is_stopped: self.is_stopped,
        })
    }
}

/// The refusal of a base value by a method that does not learn with one, with the place of the first.
fn refused_base(inputs: &[Input], input: usize, begin: u64, chunk: &Chunk) -> Error {
    let row = (0..chunk.len()).find(|&i| chunk.base(i) != 0.0).unwrap_or(0) as u64;
    let name = inputs.get(input).map_or_else(String::new, Input::name);
    Error::usage(format!(
        "{name}, row {}: a base value (the third number before the bar), with which this method does not learn; \
         use another one, such as ftrl, or remove the number",
        begin + row + 1
    ))
}

struct RunState<'a> {
    trainer: &'a mut Trainer,
    plan: &'a Plan,
    observer: &'a mut dyn Events,
    ledger: Option<Ledger>,
    /// Rows that are evaluated and not learned.
    holdout: Option<Holdout>,
    /// Rows to judge the final model by.
    sample: Sample,
    rows: u64,
    features: u64,
    skipped: (u64, Vec<String>),
    warnings: Vec<String>,
    unsaved: u64,
    saver: Option<Saver>,
    sampler: Option<NegativeSampler>,
    /// Removed after the first pass.
    predictions: Option<Predictions>,
    /// Rows of each input that are learned or skipped in this pass.
    delivered: Vec<u64>,
    is_stopped: bool,
    /// The memory of rows that are kept.
    claim: Claim,
    noticing: &'a mut Noticing,
}

impl<'a> RunState<'a> {
    fn new(
        trainer: &'a mut Trainer,
        plan: &'a Plan,
        noticing: &'a mut Noticing,
        observer: &'a mut dyn Events,
    ) -> Result<Self, Error> {
        let sampler = plan
            .sample_negatives
            .map(|share| NegativeSampler::new(share, trainer.settings(), &trainer.schema().found));
        let sampler = sampler.transpose()?;
        trainer.sampled = plan.sample_negatives;
        for input in &plan.inputs {
            trainer.note_input(&input.name());
        }
        Ok(Self {
            noticing,
            holdout: plan.holdout.map(Holdout::new).transpose()?,
            trainer,
            plan,
            observer,
            ledger: plan.regret.then(Ledger::new),
            sample: Sample::new(),
            rows: 0,
            features: 0,
            skipped: (0, Vec::new()),
            warnings: Vec::new(),
            unsaved: 0,
            saver: None,
            sampler,
            predictions: plan.predictions.then(Predictions::default),
            delivered: vec![0; plan.inputs.len()],
            is_stopped: false,
            claim: Claim::default(),
        })
    }

    /// One pass; the holdout's metrics, and the nonzero weights if they were counted after the last row.
    fn pass(
        &mut self,
        number: u32,
        mut reader: Reader,
    ) -> Result<(Option<Evaluation>, Option<usize>), Error> {
        let passed = self.read(number, &mut reader);
        // The rows before an error are learned, and have their names.
        self.trainer.note_names(reader.into_names());
        passed
    }

    fn read(
        &mut self,
        number: u32,
        reader: &mut Reader,
    ) -> Result<(Option<Evaluation>, Option<usize>), Error> {
        let plan = self.plan;
        let seed = plan.seed.wrapping_add(u64::from(number).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut judge =
            ModelEvaluator::new(self.trainer.settings(), &self.trainer.schema().found.classes);
        let (mut chunk, mut kept, mut held) = (Chunk::new(), Chunk::new(), Chunk::new());
        let (mut row, mut learned, mut judged) = (0u64, 0u64, false);
        let starts = if number == 1 { &plan.starts[..] } else { &[] };
        self.delivered.fill(0);
        let mut more = true;
        while more {
            more = self.next_chunk(reader, &mut chunk)?;
            self.observer.position(&reader.position());
            let (input, end) = reader.input_position();
            let begin = end - chunk.len() as u64;
            let start = starts.get(input).copied().unwrap_or(0);
            if chunk.has_bases() && !self.trainer.online().takes_bases() {
                return Err(refused_base(&plan.inputs, input, begin, &chunk));
            }
            // All rows are learned directly if none is selected, held out or shuffled.
            let plain = self.holdout.is_none()
                && plan.shuffle.is_none()
                && self.sampler.is_none()
                && row >= plan.skip
                && begin >= start;
            let left = plan.limit.map_or(u64::MAX, |limit| limit - learned);
            if plain && left >= chunk.len() as u64 {
                row += chunk.len() as u64;
                learned += chunk.len() as u64;
                self.delivered_until(input, end);
                self.learn_whole(&chunk, &kept, reader)?;
                if left == chunk.len() as u64 {
                    break;
                }
                continue;
            }
            let mut rows = begin;
            for i in 0..chunk.len() {
                if plan.limit.is_some_and(|limit| learned >= limit) {
                    break;
                }
                row += 1;
                rows += 1;
                let mut place = Place::Nowhere;
                if row > plan.skip && rows > start {
                    place = self.put(&chunk, i, row, &mut kept, &mut held);
                    learned += u64::from(place != Place::Nowhere);
                }
                if let Some(predictions) = &mut self.predictions {
                    predictions.push(place);
                }
            }
            self.delivered_until(input, rows);
            self.claim_rows(&kept)?;
            let full = kept.len() >= plan.shuffle.unwrap_or(1);
            let done = plan.limit.is_some_and(|limit| learned >= limit);
            if full || !more || done {
                self.learn_mixed(&mut kept, &mut random, reader)?;
                // Evaluated at their place in the stream: after the rows of their chunk.
                judged |= !held.is_empty();
                self.judge(&mut held, &mut judge);
                if let Some(predictions) = &mut self.predictions {
                    predictions.placed(self.observer, reader);
                }
                self.save_if_due(reader)?;
            }
            if done {
                break;
            }
        }
        let nonzeros = self.end_pass(number, reader);
        Ok((judged.then(|| judge.finish()), nonzeros))
    }

    /// Reads the next chunk. Returns whether more rows follow; a stop ends the rows.
    fn next_chunk(&mut self, reader: &mut Reader, chunk: &mut Chunk) -> Result<bool, Error> {
        match reader.read(chunk) {
            Err(error) if error.kind() == DataErrorKind::Stopped => {
                self.is_stopped = true;
                Ok(false)
            }
            read => {
                let is_read = read?;
                if let Some(features) = &self.plan.features {
                    *chunk = chunk.with_features(&|j| features.binary_search(&j).is_ok());
                }
                Ok(is_read)
            }
        }
    }

    /// Learns all rows of a chunk in their order.
    fn learn_whole(
        &mut self,
        chunk: &Chunk,
        kept: &Chunk,
        reader: &mut Reader,
    ) -> Result<(), Error> {
        if self.ledger.is_some() {
            self.claim_rows(kept)?;
        }
        self.learn(chunk, reader)?;
        if let Some(predictions) = &mut self.predictions {
            predictions.all(self.observer, reader);
        }
        self.save_if_due(reader)
    }

    /// Reports the end of a pass. Returns the nonzero weights if they were counted after the last row.
    fn end_pass(&mut self, number: u32, reader: &mut Reader) -> Option<usize> {
        if let Some(mut predictions) = self.predictions.take() {
            predictions.finish(self.observer, reader);
        }
        // The table ends with the last row, wherever that is.
        let line = self.trainer.last_report();
        if let Some(line) = &line {
            self.observer.progress(line);
        }
        let mut notices = Vec::new();
        self.noticing.end(self.trainer, reader.names(), &mut notices);
        if self.plan.passes > 1 {
            self.noticing.end_search();
        }
        notices.iter().for_each(|notice| self.observer.notice(notice));
        if number == 1 {
            let errors = reader.skipped().iter().map(DataError::fact).collect();
            self.skipped = (reader.skipped_rows(), errors);
            self.warnings = reader.warnings();
        }
        line.map(|line| line.nonzeros)
    }

    /// Claims the memory of rows that wait to be learned in another order, and of those that are kept for the regret. They are copied
    /// once, and vectors double.
    fn claim_rows(&mut self, kept: &Chunk) -> Result<(), Error> {
        let ledger = self.ledger.as_ref().map_or(0, Ledger::room);
        self.claim.set(kept.room().saturating_add(ledger).saturating_mul(3)).map_err(|shortage| {
            let (what, remedy) = match ledger {
                0 => ("a list of the rows to be shuffled", Remedy::Smaller(Setting::Shuffle)),
                _ => ("a list of all rows", Remedy::LeaveOut(Setting::Regret)),
            };
            Error::Memory(Message::shortage(&shortage, what, &[remedy]))
        })
    }

    /// Assigns a row: to the rows to learn, to the rows to evaluate, or to none.
    fn put(
        &mut self,
        chunk: &Chunk,
        i: usize,
        row: u64,
        kept: &mut Chunk,
        held: &mut Chunk,
    ) -> Place {
        if self.holdout.is_some_and(|holdout| holdout.has(row)) {
            held.copy_row(chunk, i);
            return Place::Held(held.len() - 1);
        }
        let is_kept = match &mut self.sampler {
            None => {
                kept.copy_row(chunk, i);
                true
            }
            Some(sampler) => sampler.put(chunk, i, kept),
        };
        if is_kept { Place::Kept(kept.len() - 1) } else { Place::Nowhere }
    }

    /// Notes that the first `rows` rows of an input are learned or skipped.
    fn delivered_until(&mut self, input: usize, rows: u64) {
        if let Some(delivered) = self.delivered.get_mut(input) {
            *delivered = rows;
        }
    }

    fn note_consumed(&mut self) {
        self.trainer.note_consumed(&self.plan.inputs, &self.delivered);
    }

    fn judge(&mut self, held: &mut Chunk, judge: &mut ModelEvaluator) {
        let mut margins = Vec::new();
        self.trainer.online().predict(held, &mut margins);
        judge.record_chunk(held, &margins);
        if let Some(predictions) = &mut self.predictions {
            predictions.held(&margins);
        }
        held.clear();
    }

    fn learn_mixed(
        &mut self,
        kept: &mut Chunk,
        random: &mut Xoshiro256PlusPlus,
        reader: &Reader,
    ) -> Result<(), Error> {
        let mut order: Vec<usize> = Vec::new();
        if self.plan.shuffle.is_some() {
            order.extend(0..kept.len());
            order.shuffle(random);
            let mut mixed = Chunk::new();
            order.iter().for_each(|&i| mixed.copy_row(kept, i));
            *kept = mixed;
        }
        self.learn(kept, reader)?;
        if let Some(predictions) = &mut self.predictions {
            predictions.put_in_order(&order);
        }
        kept.clear();
        Ok(())
    }

    fn learn(&mut self, chunk: &Chunk, reader: &Reader) -> Result<(), Error> {
        self.rows += chunk.len() as u64;
        let cells: usize = (0..chunk.len()).map(|row| cells(chunk, row)).sum();
        self.features += (chunk.nonzeros() + cells) as u64;
        let (ledger, predictions) = (&mut self.ledger, &mut self.predictions);
        let (observer, sample) = (&mut *self.observer, &mut self.sample);
        let loss = self.trainer.settings().loss();
        let mut notices = Vec::new();
        let learned =
            self.noticing.learn(self.trainer, chunk, reader.names(), &mut notices, |trainer| {
                let report = &mut |line: &Progress| observer.progress(line);
                let watch = &mut |stretch: &Stretch<'_>| {
                    sample.see(stretch, loss);
                    if let Some(predictions) = predictions {
                        predictions.learned(stretch);
                    }
                };
                match ledger {
                    Some(ledger) => ledger.learn(trainer, chunk, report, watch)?,
                    None => trainer.learn_watched(chunk, report, watch)?,
                }
                observer.learned(chunk);
                if let Some(average) = trainer.progressive().average() {
                    observer.loss(average);
                }
                Ok(())
            });
        notices.iter().for_each(|notice| self.observer.notice(notice));
        learned?;
        self.unsaved += chunk.len() as u64;
        Ok(())
    }

    /// Begins to save the state if enough rows have been learned since it was last saved, and that has been written.
    fn save_if_due(&mut self, reader: &Reader) -> Result<(), Error> {
        let plan = self.plan;
        if let Some((path, Some(every))) = &plan.checkpoint
            && self.unsaved >= *every
        {
            self.note_consumed();
            if self
                .saver
                .get_or_insert_with(|| Saver::new(path, plan.checkpoint_stamp.clone()))
                .save(self.trainer, reader)?
            {
                self.unsaved = 0;
            }
        }
        Ok(())
    }
}

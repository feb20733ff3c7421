//! A training run over inputs: passes, holdout, shuffling, limits, checkpoints.

use std::time::Instant;

use parsimon_core::Chunk;
use parsimon_data::{DataErrorKind, Input, Reader};
use parsimon_eval::Evaluation;
use parsimon_files::memory::Claim;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

use super::first_rows::{FirstRows, Leak};
use super::hindsight::Sample;
use super::holdout::Holdout;
use super::predictions::{Place, Predictions};
use super::regret::Ledger;
use super::sampling::NegativeSampler;
use super::saver::Saver;
use super::trainer::cells;
use super::{
    Behind, ModelEvaluator, Observer, Outcome, Pass, Plan, Progress, Reason, Stretch, Trainer,
    Warning,
};
use crate::error::Error;
use crate::model::Model;

/// Values so many times larger than those of other features are in another unit, and likely to spoil the learning.
const OTHER_UNIT: f64 = 1e3;
/// A learner that is worse than the constant by this share has learned noise; steps that are too large cost more.
const A_LITTLE: f64 = 0.1;

/// Trains on the inputs of a plan.
pub fn run(
    trainer: &mut Trainer,
    plan: &Plan,
    observer: &mut dyn Observer,
) -> Result<Outcome, Error> {
    let reader = plan.open()?;
    run_with(trainer, plan, reader, observer)
}

/// As [`run`], with a reader that was opened with the options of the plan.
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
    if plan.regret && trainer.began_with().is_some() {
        let message = "the regret is defined for a learner that begins at zero; leave out --from";
        return Err(Error::Usage(message.into()));
    }
    let sampler = plan
        .sample_negatives
        .map(|share| NegativeSampler::new(share, trainer.settings(), &trainer.schema().found));
    let sampler = sampler.transpose()?;
    trainer.sampled = plan.sample_negatives;
    let mut reader = Some(reader);
    for input in &plan.inputs {
        trainer.note_input(&input.name());
    }
    let start = Instant::now();
    let mut state = RunState {
        first: FirstRows::new(trainer.settings()),
        holdout: plan.holdout.map(Holdout::new).transpose()?,
        is_warned: false,
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
    };
    let (mut passes, mut best, mut worse) = (Vec::new(), None::<(f64, u32, Model)>, 0);
    for number in 1..=plan.passes {
        let reader = match reader.take() {
            Some(reader) => reader,
            None => plan.open()?,
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
    let pauses = state.saver.as_ref().map(Saver::pauses).unwrap_or_default();
    let negatives = state.sampler.as_ref().map(NegativeSampler::counts);
    let elapsed = start.elapsed();
    if trainer.progressive().rows() == 0 {
        return Err(Error::NothingLearned);
    }
    let last = passes.last().map_or(0, |pass: &Pass| pass.pass);
    let (kept, model) =
        best.map_or_else(|| (last, trainer.model()), |(_, pass, model)| (pass, model));
    // The last rows may have had features that no later row showed.
    if !model.is_finite() {
        return Err(Error::Diverged { row: trainer.progressive().rows() });
    }
    if let Some((path, _)) = &plan.checkpoint {
        trainer.save_checkpoint(path)?;
    }
    let regret = ledger.map(|ledger| ledger.close(trainer));
    let hindsight = sample.judge(trainer, &model);
    Ok(Outcome {
        model,
        hindsight,
        passes,
        kept,
        regret,
        rows,
        features,
        skipped,
        warnings,
        elapsed,
        negatives,
        pauses,
        is_stopped,
    })
}

/// The refusal of a base value by a method that does not learn with one, with the place of the first.
fn refused_base(inputs: &[Input], input: usize, begin: u64, chunk: &Chunk) -> Error {
    let row = (0..chunk.len()).find(|&i| chunk.base(i) != 0.0).unwrap_or(0) as u64;
    let name = inputs.get(input).map_or_else(String::new, Input::name);
    Error::Usage(format!(
        "{name}, row {}: a base value (the third number before the bar), with which this method does not learn; \
         use another one, such as ftrl, or remove the number",
        begin + row + 1
    ))
}

struct RunState<'a> {
    trainer: &'a mut Trainer,
    plan: &'a Plan,
    observer: &'a mut dyn Observer,
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
    /// Taken away after the first pass.
    predictions: Option<Predictions>,
    /// Rows of each input that are learned or passed over in this pass.
    delivered: Vec<u64>,
    is_stopped: bool,
    /// The memory of rows that are kept.
    claim: Claim,
    /// What the first rows show, in search of reasons.
    first: FirstRows,
    /// Whether it was said that the learner is worse than a constant.
    is_warned: bool,
}

impl RunState<'_> {
    /// One pass; the holdout's metrics, and the nonzero weights if they were counted after the last row.
    fn pass(
        &mut self,
        number: u32,
        mut reader: Reader,
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
            more = match reader.read(&mut chunk) {
                Err(error) if error.kind() == DataErrorKind::Stopped => {
                    self.is_stopped = true;
                    false
                }
                read => read?,
            };
            self.observer.position(&reader.position());
            let (input, end) = reader.input_position();
            let begin = end - chunk.len() as u64;
            let start = starts.get(input).copied().unwrap_or(0);
            if chunk.has_bases() && !self.trainer.online().takes_bases() {
                return Err(refused_base(&plan.inputs, input, begin, &chunk));
            }
            // Straight through when nothing is to be picked, put aside or mixed.
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
                if self.ledger.is_some() {
                    self.claim_rows(&kept)?;
                }
                self.learn(&chunk, &reader)?;
                if let Some(predictions) = &mut self.predictions {
                    predictions.all(self.observer, &mut reader);
                }
                self.save_if_due(&reader)?;
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
                self.learn_mixed(&mut kept, &mut random, &reader)?;
                // Judged where they stand in the stream: after the rows that came with them.
                judged |= !held.is_empty();
                self.judge(&mut held, &mut judge);
                if let Some(predictions) = &mut self.predictions {
                    predictions.placed(self.observer, &mut reader);
                }
                self.save_if_due(&reader)?;
            }
            if done {
                break;
            }
        }
        if let Some(mut predictions) = self.predictions.take() {
            predictions.finish(self.observer, &mut reader);
        }
        // The table ends with the last row, wherever that is.
        let line = self.trainer.last_report();
        if let Some(line) = &line {
            self.observer.progress(line);
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
        Ok((judged.then(|| judge.finish()), line.map(|line| line.nonzeros)))
    }

    /// Claims the memory of rows that wait to be learned in another order, and of those that are kept for the regret. They are copied
    /// once, and vectors double.
    fn claim_rows(&mut self, kept: &Chunk) -> Result<(), Error> {
        let ledger = self.ledger.as_ref().map_or(0, Ledger::room);
        self.claim.set(kept.room().saturating_add(ledger).saturating_mul(3)).map_err(|shortage| {
            Error::Memory(match ledger {
                0 => shortage.of("a list of the rows to be shuffled", "use a smaller --shuffle"),
                _ => shortage.of("a list of all rows", "leave out --regret"),
            })
        })
    }

    /// Puts a row where it belongs: among the rows to learn, those to judge, or nowhere.
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

    /// So many rows of an input are learned or passed over.
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
        let leak = self.first.take(chunk);
        let observer = &mut *self.observer;
        let report = &mut |line: &Progress| observer.progress(line);
        let learned = match (&mut self.ledger, &mut self.predictions) {
            (Some(ledger), _) => ledger.learn(self.trainer, chunk, report),
            (None, None) => self.trainer.learn(chunk, report),
            (None, Some(predictions)) => {
                let watch = &mut |stretch: &Stretch<'_>| predictions.learned(stretch);
                self.trainer.learn_watched(chunk, report, watch)
            }
        };
        if let Err(Error::Diverged { row }) = learned {
            let reason = self.reason(None, reader);
            self.observer.warning(&Warning::Diverged { row, reason });
        }
        learned?;
        if let Some(average) = self.trainer.progressive().average() {
            self.observer.loss(average);
        }
        self.warn_of_leak(leak, reader);
        self.warn_if_behind(self.trainer.noticed_behind(), reader);
        self.sample.take(chunk);
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
        let plan = self.plan;
        if let Some((path, Some(every))) = &plan.checkpoint
            && self.unsaved >= *every
        {
            self.note_consumed();
            if self.saver.get_or_insert_with(|| Saver::new(path)).save(self.trainer, reader)? {
                self.unsaved = 0;
            }
        }
        Ok(())
    }
}

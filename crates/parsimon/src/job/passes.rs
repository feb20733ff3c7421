//! Several passes over small data, chosen on rows that were held out.
//!
//! One pass leaves something to learn where rows are few. Settings near the one that the race has chosen (below the first look of the
//! race: all of them) learn a part of the rows in random order, pass after pass, and are judged on the other part, which no setting has
//! learned. Settings and number of passes with the lowest loss then learn all rows. Nothing is changed where this is not surely better
//! than one pass, or where it is worse on the last rows of the data, for which the rows before them were learned.

use parsimon_core::{Chunk, Loss};
use parsimon_eval::Mean;
use parsimon_files::memory;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

use super::plan::PassChoice;
use super::{Job, Trained};
use crate::algorithm::auto::Auto;
use crate::error::Error;
use crate::options::{LearnerOptions, Storage};
use crate::settings::Settings;
use crate::training::{Evidenced, Trainer};

/// Rows times passes, at most, of the model that is kept; for several classes times the classes.
const MOST_VISITS: u64 = 1_000_000;
/// The same of all settings together that are compared: about what a race costs on a few ten thousand rows (record/classes.md).
const MOST_TRIED: u64 = 600_000;
/// The passes after which settings are compared.
const PASSES: [u32; 8] = [1, 2, 3, 5, 8, 12, 20, 30];
/// A setting is given up after so many comparisons without a lower loss.
const PATIENCE: usize = 2;
/// Below this number of rows the race has not looked, and all of its settings are tried.
const FIRST_LOOK: usize = 1024;
/// The settings that learn all folds.
const FINALISTS: usize = 2;
/// Fewer rows decide nothing.
const LEAST_ROWS: usize = 60;
/// A fifth of the rows is held out; below the first look of the race every fifth in turn.
const FOLDS: usize = 5;
/// Losses within this share are equal: fewer passes and fewer weights are preferred.
const MARGIN: f64 = 0.001;
/// The gain on one pass in standard errors, and the loss on the last rows that is too much.
const SURE: f64 = 1.0;
const WORSE: f64 = 2.0;

/// Settings and passes that are better than one pass.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The settings of every pass.
    pub settings: Settings,
    /// The passes, and the losses that speak for them.
    pub evidence: Evidenced,
    /// Number of rows.
    pub rows: usize,
}

/// The answer to whether several passes over small data are better than one.
#[derive(Clone, Debug)]
pub enum Repetition {
    /// The rows or the settings do not allow a decision.
    Undecided,
    /// One pass is as good, or the data is large.
    Once,
    /// Several passes are better.
    Several(Box<Choice>),
}

/// A setting with a rate and an l1, and its losses after each number of passes.
struct Contender {
    settings: Settings,
    courses: Vec<Course>,
}

/// The losses after a number of passes: of every held-out row, and the mean number of nonzero weights.
#[derive(Clone, Default)]
struct Course {
    losses: Vec<f64>,
    errors: Mean,
    nonzeros: usize,
}

/// Returns settings and passes that are surely better than the one pass that was made, if there are such.
pub(super) fn better(job: &Job<'_>, trained: &Trained) -> Result<Option<Choice>, Error> {
    let Trained { trainer, outcome, plan, .. } = trained;
    let is_bare = plan.passes == 1
        && plan.holdout.is_none()
        && plan.checkpoint.is_none()
        && plan.limit.is_none()
        && plan.skip == 0
        && plan.sample_negatives.is_none()
        && !plan.predictions
        && !plan.regret
        && !outcome.is_stopped;
    let may =
        job.passes == PassChoice::HeldOut && job.is_repeatable && job.source.read_once().is_none();
    if !is_bare || !may || may_repeat(trainer, outcome.rows, outcome.features).is_some() {
        return Ok(None);
    }
    match decide(trainer, &read(job, trained)?, plan.seed)? {
        Repetition::Several(choice) => Ok(Some(*choice)),
        Repetition::Undecided | Repetition::Once => Ok(None),
    }
}

/// Returns the answer that needs no look at the rows: for settings that leave nothing to choose, for few rows, and for data that is
/// large. `features` is the number of features of all rows.
pub fn may_repeat(trainer: &Trainer, rows: u64, features: u64) -> Option<Repetition> {
    let settings = trainer.settings();
    let is_open = settings.typed::<Auto>().is_some()
        && !settings.has_half_life()
        && settings.class_weight().is_none();
    let bytes = features.saturating_mul(16).saturating_add(rows.saturating_mul(96));
    let fits = bytes.saturating_mul(4) < memory::left() / 2;
    if !is_open || rows < LEAST_ROWS as u64 {
        Some(Repetition::Undecided)
    } else if !fits || most_passes(trainer, rows) < 2 {
        Some(Repetition::Once)
    } else {
        None
    }
}

/// The passes over rows that stay within the limit of visits.
fn most_passes(trainer: &Trainer, rows: u64) -> u64 {
    MOST_VISITS / (rows.max(1) * (trainer.online().heads() as u64).max(1))
}

/// Decides between the pass that a trainer has made over rows and several passes in random order.
pub fn decide(trainer: &Trainer, all: &Chunk, seed: u64) -> Result<Repetition, Error> {
    let settings = trainer.settings();
    if let Some(known) = may_repeat(trainer, all.len() as u64, all.nonzeros() as u64) {
        return Ok(known);
    }
    let Some(auto) = settings.typed::<Auto>() else { return Ok(Repetition::Undecided) };
    let heads = (trainer.online().heads() as u64).max(1);
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(seed));
    let usual = settings.after_race(trainer.online().chosen());
    let mut contenders = contenders(settings, auto, &usual, all.len());
    let folds = if all.len() < FIRST_LOOK { FOLDS } else { 1 };
    let learned = all.len() - all.len() / FOLDS;
    let visits = |contenders: usize| (contenders * folds * learned) as u64 * heads;
    // Where the budget is short, the settings of the one pass are better learned twice than others once.
    while contenders.len() > 1 && MOST_TRIED / visits(contenders.len()).max(1) < 2 {
        contenders.pop();
    }
    let most = most_passes(trainer, all.len() as u64);
    let most = most.min(MOST_TRIED / visits(contenders.len()).max(1));
    let passes: Vec<u32> = PASSES.into_iter().filter(|p| u64::from(*p) <= most).collect();
    if passes.len() < 2 {
        return Ok(Repetition::Once);
    }
    race(&mut contenders, (trainer, all, &order), &passes, folds)?;
    // The first contender is the one that has made the pass.
    let Some((k, at)) = best(&contenders) else { return Ok(Repetition::Once) };
    let (before, after) = (&contenders[0].courses[0], &contenders[k].courses[at]);
    let mut gain = Mean::default();
    before.losses.iter().zip(&after.losses).for_each(|(a, b)| gain.record(a - b, 1.0));
    let (Some(won), Some(error)) = (gain.value(), gain.standard_error()) else {
        return Ok(Repetition::Once);
    };
    let (one_pass, loss) = (mean(&before.losses), mean(&after.losses));
    let is_sure = won > SURE * error && won > MARGIN * one_pass.abs();
    let (chosen, passes) = (&contenders[k].settings, passes[at]);
    if !is_sure || is_worse_later(trainer, all, (&usual, chosen), passes)? {
        return Ok(Repetition::Once);
    }
    let estimate = match settings.is_multiclass() {
        true => after.errors.value().unwrap_or(loss),
        false => loss,
    };
    let evidence = Evidenced { passes, rows: after.losses.len() as u64, loss, one_pass, estimate };
    let choice = Choice { settings: chosen.clone(), evidence, rows: all.len() };
    Ok(Repetition::Several(Box::new(choice)))
}

/// The settings that compete, the one that was chosen first.
fn contenders(settings: &Settings, auto: &Auto, usual: &Settings, rows: usize) -> Vec<Contender> {
    let number = |settings: &Settings, name: &str| settings.to_json()[name].as_f64().unwrap_or(0.0);
    let (rate, l1) = (number(usual, "rate"), number(usual, "l1"));
    let racers = auto.racers(settings.loss());
    let pairs: Vec<(f64, f64)> = if rows < FIRST_LOOK {
        // The last racer is the constant.
        racers[..racers.len() - 1].iter().map(|(rate, l1, _)| (*rate, *l1)).collect()
    } else {
        let mut near = vec![(rate, l1)];
        if auto.rate.is_none() {
            near.push((rate / 3.0, l1));
        }
        if auto.l1.is_none() {
            near.extend([(rate, l1 / 3.0), (rate, 3.0 * l1)]);
        }
        near
    };
    let others = pairs.into_iter().filter(|pair| *pair != (rate, l1));
    let all = std::iter::once(usual.clone())
        .chain(others.map(|(rate, l1)| settings.raced(rate, l1, usual.loss())));
    all.map(|settings| Contender { settings, courses: Vec::new() }).collect()
}

/// A learner of the rows of every fold but one.
struct Entrant {
    trainer: Trainer,
    held: Chunk,
    kept: Vec<usize>,
    random: Xoshiro256PlusPlus,
    done: u32,
}

/// A learner like others, all rows, and their order.
type Given<'a> = (&'a Trainer, &'a Chunk, &'a [usize]);

impl Entrant {
    fn new(settings: &Settings, (like, all, order): Given<'_>, fold: usize) -> Result<Self, Error> {
        let (held, kept): (Vec<_>, Vec<_>) =
            order.iter().enumerate().partition(|(place, _)| place % FOLDS == fold);
        let rows = |part: Vec<(usize, &usize)>| part.into_iter().map(|(_, &i)| i).collect();
        let held: Vec<usize> = rows(held);
        let random = Xoshiro256PlusPlus::seed_from_u64(fold as u64 + 1);
        let held = picked(all, &held);
        Ok(Self { trainer: fresh(like, settings)?, held, kept: rows(kept), random, done: 0 })
    }

    /// Learns up to a number of passes, and predicts the fold. Returns the mean loss; `None` after a divergence.
    fn advance(&mut self, all: &Chunk, pass: u32, course: &mut Course) -> Option<f64> {
        while self.done < pass {
            self.kept.shuffle(&mut self.random);
            self.trainer.learn(&picked(all, &self.kept), &mut |_| {}).ok()?;
            self.done += 1;
        }
        let start = course.losses.len();
        course.judge(&self.trainer, &self.held);
        let loss = mean(&course.losses[start..]);
        loss.is_finite().then_some(loss)
    }
}

/// Learns all contenders on all rows but the first fold, fewer and fewer of them, and the best ones on those but the other folds.
fn race(
    contenders: &mut [Contender],
    given: Given<'_>,
    passes: &[u32],
    folds: usize,
) -> Result<(), Error> {
    let mut leaders = first_fold(contenders, given, passes)?;
    if folds > 1 {
        leaders.truncate(FINALISTS);
    }
    for (k, contender) in contenders.iter_mut().enumerate() {
        if folds > 1 && !leaders.contains(&k) {
            // One pass of the first contender is what the others are compared with.
            contender.courses.truncate(usize::from(k == 0));
        }
        let mut complete = contender.courses.len();
        for fold in 1..folds {
            let mut entrant = Entrant::new(&contender.settings, given, fold)?;
            for (at, course) in contender.courses.iter_mut().take(complete).enumerate() {
                // Settings that diverge in any fold are compared up to there.
                if entrant.advance(given.1, passes[at], course).is_none() {
                    complete = at;
                    break;
                }
            }
        }
        contender.courses.truncate(complete);
    }
    Ok(())
}

/// Learns the rows of all folds but the first, and returns the contenders by their lowest loss. After two passes half of them go on, after
/// three a quarter, at least two; each as long as its loss falls.
fn first_fold(
    contenders: &mut [Contender],
    given: Given<'_>,
    passes: &[u32],
) -> Result<Vec<usize>, Error> {
    let entrants = contenders.iter().map(|c| Entrant::new(&c.settings, given, 0));
    let mut entrants: Vec<Entrant> = entrants.collect::<Result<_, _>>()?;
    let mut standing: Vec<(f64, usize)> = vec![(f64::INFINITY, 0); contenders.len()];
    let mut alive: Vec<usize> = (0..contenders.len()).collect();
    for (at, &pass) in passes.iter().enumerate() {
        alive.retain(|&k| {
            let mut course = Course::default();
            let Some(loss) = entrants[k].advance(given.1, pass, &mut course) else { return false };
            contenders[k].courses.push(course);
            let (least, worse) = &mut standing[k];
            *worse = if loss < *least { 0 } else { *worse + 1 };
            *least = least.min(loss);
            *worse < PATIENCE
        });
        alive.sort_by(|a, b| standing[*a].0.total_cmp(&standing[*b].0));
        let share = [1, 2, 4][at.min(2)];
        alive.truncate(contenders.len().div_ceil(share).max(2));
    }
    let mut leaders: Vec<usize> = (0..contenders.len()).collect();
    leaders.sort_by(|a, b| standing[*a].0.total_cmp(&standing[*b].0));
    Ok(leaders)
}

impl Course {
    /// Takes the losses of rows that were not learned.
    fn judge(&mut self, trainer: &Trainer, held: &Chunk) {
        let (online, loss) = (trainer.online(), trainer.settings().loss());
        let mut margins = Vec::new();
        online.predict(held, &mut margins);
        for (i, margins) in margins.chunks_exact(online.heads().max(1)).enumerate() {
            if let Some(y) = held.label(i) {
                let (cost, error) = cost(loss, margins, y);
                // One row counts as often as it weighs.
                self.losses.push(cost * held.weight(i));
                self.errors.record(error, held.weight(i));
            }
        }
        self.nonzeros += online.nonzeros();
    }
}

/// The loss of a row, and for several classes whether the class is another.
fn cost(loss: Loss, margins: &[f64], y: f64) -> (f64, f64) {
    match margins {
        [p] => (loss.value(*p, y), 0.0),
        margins => {
            let is_other = parsimon_core::workspace::arg_max(margins) as f64 != y;
            (loss.value_of_classes(margins, y as usize), f64::from(u8::from(is_other)))
        }
    }
}

fn mean(losses: &[f64]) -> f64 {
    losses.iter().sum::<f64>() / losses.len().max(1) as f64
}

/// The setting and the number of passes with the lowest loss: of those that are as good, the fewest weights.
fn best(contenders: &[Contender]) -> Option<(usize, usize)> {
    let places = || {
        let of = |(k, c): (usize, &Contender)| (0..c.courses.len()).map(move |at| (k, at));
        contenders.iter().enumerate().flat_map(of)
    };
    let course = |(k, at): (usize, usize)| &contenders[k].courses[at];
    contenders.first()?.courses.first()?;
    let least = places().map(|p| mean(&course(p).losses)).min_by(f64::total_cmp)?;
    let limit = least + MARGIN * least.abs();
    let near = places().filter(|p| mean(&course(*p).losses) <= limit);
    near.min_by_key(|&(k, at)| (course((k, at)).nonzeros, at, k))
}

/// Whether several passes over the first rows predict the last rows worse than one pass in order does: where the future differs, the
/// order of the rows matters.
fn is_worse_later(
    like: &Trainer,
    all: &Chunk,
    (before, after): (&Settings, &Settings),
    passes: u32,
) -> Result<bool, Error> {
    let cut = all.len() - all.len() / FOLDS;
    let (mut first, last): (Vec<usize>, Vec<usize>) = (0..all.len()).partition(|i| *i < cut);
    let last = picked(all, &last);
    let (mut once, mut often) = (fresh(like, before)?, fresh(like, after)?);
    if once.learn(&picked(all, &first), &mut |_| {}).is_err() {
        return Ok(false);
    }
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    for _ in 0..passes {
        first.shuffle(&mut random);
        if often.learn(&picked(all, &first), &mut |_| {}).is_err() {
            return Ok(true);
        }
    }
    let mut courses = [Course::default(), Course::default()];
    courses[0].judge(&once, &last);
    courses[1].judge(&often, &last);
    let mut worse = Mean::default();
    let pairs = courses[0].losses.iter().zip(&courses[1].losses);
    pairs.for_each(|(once, often)| worse.record(often - once, 1.0));
    let one = mean(&courses[0].losses);
    Ok(match (worse.value(), worse.standard_error()) {
        (Some(more), Some(error)) => more > WORSE * error && more > 10.0 * MARGIN * one.abs(),
        _ => false,
    })
}

/// A learner at the origin that reads rows as another one does.
pub(super) fn fresh(like: &Trainer, settings: &Settings) -> Result<Trainer, Error> {
    // PERF: arrays of all slots would take longer to clear than the rows to learn.
    let options = LearnerOptions { storage: Storage::Index, ..like.options() };
    Ok(Trainer::new(settings.clone(), options, like.schema().clone())?)
}

/// Reads the rows that count.
pub(super) fn read(job: &Job<'_>, trained: &Trained) -> Result<Chunk, Error> {
    let mut reader = job.source.open(&trained.plan.reading())?;
    let (mut all, mut chunk) = (Chunk::new(), Chunk::new());
    while reader.read(&mut chunk)? {
        for i in 0..chunk.len() {
            if chunk.label(i).is_some() && chunk.weight(i) > 0.0 {
                all.copy_row(&chunk, i);
            }
        }
    }
    Ok(all)
}

pub(super) fn picked(all: &Chunk, rows: &[usize]) -> Chunk {
    let mut some = Chunk::new();
    rows.iter().for_each(|&i| some.copy_row(all, i));
    some
}

#[cfg(test)]
mod tests;

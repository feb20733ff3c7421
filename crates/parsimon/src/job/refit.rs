//! The weights that an l1 penalty has kept, fitted again without it.
//!
//! A penalty that leaves few weights also shrinks those: they predict less than they could. So the features with a weight are learned
//! again alone and without l1, from the start, in as many passes as rows that were held out favor. The model keeps its few
//! features, and is replaced only where this is surely better on the held-out rows, and not worse on the last rows.

use std::collections::HashSet;
use std::sync::Arc;

use parsimon_core::Chunk;
use parsimon_eval::Mean;
use parsimon_files::memory;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

use super::passes::{fresh, picked, read};
use super::plan::RefitChoice;
use super::{Job, Trained};
use crate::algorithm::typed::Ftrl;
use crate::error::Error;
use crate::settings::Settings;
use crate::training::{Evidenced, Trainer, cost};

/// Rows times passes, at most.
const MOST_VISITS: u64 = 1_000_000;
/// The passes after which the loss is compared, and the comparisons without a lower loss after which a rate is given up.
const PASSES: [u32; 8] = [1, 2, 3, 5, 8, 12, 20, 30];
const PATIENCE: usize = 2;
/// Factors on the rate.
const RATES: [f64; 3] = [1.0, 0.3, 3.0];
/// Fewer rows decide nothing.
const LEAST_ROWS: usize = 60;
/// A fifth of the rows is held out.
const FOLDS: usize = 5;
/// There is nothing to fit again where the penalty has kept more than this share of the features.
const MOST_KEPT: f64 = 0.5;
/// The gain in standard errors, and as a share of the loss.
const SURE: f64 = 1.0;
const MARGIN: f64 = 0.005;
/// The loss on the last rows that is too much, in standard errors.
const WORSE: f64 = 2.0;

/// What is to be learned instead.
pub(super) struct Choice {
    pub(super) settings: Settings,
    pub(super) passes: u32,
    pub(super) rows: usize,
    /// The features, sorted.
    pub(super) features: Arc<[u32]>,
    pub(super) evidence: Evidenced,
}

/// Returns how the features of a model are fitted again, if that is surely better.
pub(super) fn better(job: &Job<'_>, trained: &Trained) -> Result<Option<Choice>, Error> {
    let Trained { trainer, outcome, plan, .. } = trained;
    let settings = outcome.model.settings();
    let Some(ftrl) = settings.typed::<Ftrl>() else { return Ok(None) };
    let is_penalized = ftrl.penalized.l1 > 0.0 && outcome.model.nonzeros() > 0;
    let rows = usize::try_from(outcome.rows / u64::from(plan.passes.max(1))).unwrap_or(usize::MAX);
    let most = MOST_VISITS / (rows.max(1) as u64);
    if !may_refit(job, trained) || !is_penalized || rows < LEAST_ROWS || most < 1 {
        return Ok(None);
    }
    let all = read(job, trained)?;
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(plan.seed));
    let held = picked(&all, &every(&order, |place| place % FOLDS == 0));
    let mut kept = every(&order, |place| place % FOLDS != 0);
    let mut penalized = fresh(trainer, settings)?;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    for _ in 0..plan.passes {
        kept.shuffle(&mut random);
        if penalized.learn(&picked(&all, &kept), &mut |_| {}).is_err() {
            return Ok(None);
        }
    }
    let (features, before) = (kept_features(&penalized), losses(&penalized, &held));
    let is_sparse = (features.len() as f64) < MOST_KEPT * count_features(&all) as f64;
    if !is_sparse || features.is_empty() {
        return Ok(None);
    }
    let some = |chunk: &Chunk| chunk.with_features(&|j| features.binary_search(&j).is_ok());
    let (few, held) = (some(&all), some(&held));
    let mut best: Option<(f64, Settings, u32, Vec<f64>)> = None;
    for factor in RATES {
        let Some(settings) = without_l1(settings, ftrl.rate * factor) else { return Ok(None) };
        let mut trainer = fresh(trainer, &settings)?;
        let (mut done, mut worse, mut least) = (0, 0, f64::INFINITY);
        for passes in PASSES.into_iter().filter(|passes| u64::from(*passes) <= most) {
            while done < passes {
                kept.shuffle(&mut random);
                if trainer.learn(&picked(&few, &kept), &mut |_| {}).is_err() {
                    return Ok(None);
                }
                done += 1;
            }
            let losses = losses(&trainer, &held);
            let loss = mean(&losses);
            worse = if loss < least { 0 } else { worse + 1 };
            least = least.min(loss);
            if best.as_ref().is_none_or(|(least, ..)| loss < *least) {
                best = Some((loss, settings.clone(), passes, losses));
            }
            if worse >= PATIENCE {
                break;
            }
        }
    }
    let Some((loss, settings, passes, after)) = best else { return Ok(None) };
    let mut gain = Mean::default();
    before.iter().zip(&after).for_each(|(before, after)| gain.record(before - after, 1.0));
    let (one_pass, held) = (mean(&before), before.len() as u64);
    let is_sure = gain
        .value()
        .zip(gain.standard_error())
        .is_some_and(|(won, error)| won > SURE * error && won > MARGIN * one_pass.abs());
    let is_asked = job.refit == RefitChoice::Always;
    if !is_asked && (!is_sure || is_worse_later(trained, &all, &settings, passes)?) {
        return Ok(None);
    }
    let features = outcome.model.heads().first().map(|head| head.indices().to_vec());
    let evidence = Evidenced { passes, rows: held, loss, one_pass, estimate: loss };
    let features = features.unwrap_or_default().into();
    Ok(Some(Choice { settings, passes, rows, features, evidence }))
}

/// Whether the job learns all rows of one model at once, and can do so again.
fn may_refit(job: &Job<'_>, trained: &Trained) -> bool {
    let Trained { trainer, outcome, .. } = trained;
    let (plan, settings) = (&job.plan, trainer.settings());
    let is_plain = plan.holdout.is_none()
        && plan.checkpoint.is_none()
        && plan.limit.is_none()
        && plan.skip == 0
        && plan.sample_negatives.is_none()
        && !plan.predictions
        && !plan.regret
        && !settings.has_half_life()
        && settings.class_weight().is_none()
        && trainer.online().heads() == 1
        // The order of the rows is kept where random order is worse.
        && (outcome.hindsight.is_none() || trained.plan.shuffle.is_some());
    let bytes = outcome.features.saturating_mul(16).saturating_add(outcome.rows.saturating_mul(96));
    job.refit != RefitChoice::Never
        && is_plain
        && job.is_repeatable
        && !outcome.is_stopped
        && job.source.read_once().is_none()
        && bytes.saturating_mul(6) < memory::left() / 2
}

/// The settings without their l1, and with another rate; `None` if another setting needs the l1.
fn without_l1(settings: &Settings, rate: f64) -> Option<Settings> {
    settings.to_spec().set("l1", 0.0).set("rate", rate).resolve().ok()
}

/// Whether the first rows, fitted again, predict the last rows worse: where the future differs, the order of the rows matters.
fn is_worse_later(
    trained: &Trained,
    all: &Chunk,
    refit: &Settings,
    passes: u32,
) -> Result<bool, Error> {
    let (like, plan) = (&trained.trainer, &trained.plan);
    let cut = all.len() - all.len() / FOLDS;
    let (mut first, last): (Vec<usize>, Vec<usize>) = (0..all.len()).partition(|i| *i < cut);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(plan.seed);
    let mut learn = |trainer: &mut Trainer, rows: &Chunk, passes: u32, is_mixed: bool| {
        for _ in 0..passes {
            if is_mixed {
                first.shuffle(&mut random);
            }
            trainer.learn(&picked(rows, &first), &mut |_| {})?;
        }
        Ok::<(), Error>(())
    };
    let mut penalized = fresh(like, trained.outcome.model.settings())?;
    let mut again = fresh(like, refit)?;
    if learn(&mut penalized, all, plan.passes, plan.shuffle.is_some()).is_err() {
        return Ok(false);
    }
    let features = kept_features(&penalized);
    let few = all.with_features(&|j| features.binary_search(&j).is_ok());
    if learn(&mut again, &few, passes, true).is_err() {
        return Ok(true);
    }
    let before = losses(&penalized, &picked(all, &last));
    let after = losses(&again, &picked(&few, &last));
    let mut worse = Mean::default();
    before.iter().zip(&after).for_each(|(before, after)| worse.record(after - before, 1.0));
    Ok(worse
        .value()
        .zip(worse.standard_error())
        .is_some_and(|(more, error)| more > WORSE * error && more > MARGIN * mean(&before).abs()))
}

fn every(order: &[usize], is_meant: fn(usize) -> bool) -> Vec<usize> {
    order.iter().enumerate().filter(|(place, _)| is_meant(*place)).map(|(_, &row)| row).collect()
}

/// The features with a weight, sorted.
fn kept_features(trainer: &Trainer) -> Vec<u32> {
    let frozen = trainer.online().freeze();
    frozen.heads().first().map(|head| head.indices().to_vec()).unwrap_or_default()
}

fn count_features(all: &Chunk) -> usize {
    let rows = (0..all.len()).flat_map(|i| all.row(i).indices().iter().copied());
    rows.collect::<HashSet<u32>>().len() + all.columns().len()
}

/// The loss of each row, by its importance.
fn losses(trainer: &Trainer, rows: &Chunk) -> Vec<f64> {
    let mut margins = Vec::new();
    trainer.online().predict(rows, &mut margins);
    let loss = trainer.settings().loss();
    let of = |(i, margin): (usize, &f64)| {
        rows.label(i).map(|y| cost(loss, &[*margin], y) * rows.weight(i))
    };
    margins.iter().enumerate().filter_map(of).collect()
}

fn mean(losses: &[f64]) -> f64 {
    losses.iter().sum::<f64>() / losses.len().max(1) as f64
}

//! Lines, curves, or curves and pairs of columns: decided by rows that no contender has learned.
//!
//! The first rows are learned by up to three contenders, each the job's own method: lines; the columns whose curve pays; these and the
//! pairs that pay. What pays is found from residuals of predictions made before a row was learned, fitted on one half of these rows and
//! judged on the other. The contenders are compared on rows that none of them has learned. All rows are then learned by the one that
//! won.

use std::sync::Arc;

use parsimon_core::{Chunk, Loss};
use parsimon_data::{
    Ask, Curves, DataError, Format, Kind, Kinds, Options, Pairs, Points, Reader, Run, Sample,
    Space, TableSchema,
};

use super::Job;
use super::screen::{Column, Residuals, knots_that_pay, strongest_pairs};
use crate::error::Error;
use crate::options::{LearnerOptions, Storage};
use crate::settings::Settings;
use crate::survey::{self, InputSchema, Opened, Source};
use crate::training::{Decided, Holdout, ModelEvaluator, Stretch, Trainer};

/// The rows that the contenders learn and are judged on, at most.
const ROWS: usize = 6_000;
/// The cells of these rows, at most, unless there are fewer rows than this.
const MOST_CELLS: usize = 2_000_000;
const LEAST_OF_MANY: usize = 1_000;
/// Columns times classes, at most: more would take longer to decide than to learn.
const MOST_WIDTH: usize = 10_000;
/// The rows that are looked at for what comes later, at most.
const FAR: u64 = 100_000;
/// Below this number of rows there is nothing to decide from.
const LEAST_ROWS: usize = 60;
/// With fewer rows each row is predicted once, by contenders that learned the other folds.
const FEW_ROWS: usize = 2_000;
const FOLDS: usize = 4;
/// One row in so many is predicted, where there are more.
const HELD: usize = 3;
/// Standard errors by which a richer contender must be better.
const LIKELY: f64 = 1.0;
/// Richer models within this share of the loss are not better.
const MARGIN: f64 = 0.002;

/// Opens the data with the curves and pairs that pay, if there are any.
pub(super) fn decide(
    job: &Job<'_>,
    settings: &Settings,
    opened: Opened,
) -> Result<(Opened, Option<Decided>), Error> {
    let Some(trial) = Trial::new(job, settings, &opened)? else { return Ok((opened, None)) };
    let Some((table, decided)) = trial.run()? else { return Ok((opened, None)) };
    let is_same = table == *trial.table;
    let Opened { mut schema, mut options, reader } = opened;
    (options.reading.curves, options.reading.pairs) = (Curves::None, Pairs::None);
    if is_same {
        return Ok((Opened { schema, options, reader }, Some(decided)));
    }
    options.reading.kinds = Kinds::Known(Arc::new(table.clone()));
    schema.table = Some(table);
    let reader = job.source.open(&options)?;
    Ok((Opened { schema, options, reader }, Some(decided)))
}

/// Returns the columns of a table with the curves and pairs that pay, where no job learns its rows, as for the first rows of a
/// stream. `None` where lines are as good, or where nothing can be decided.
pub fn shaped(
    source: &dyn Source,
    settings: &Settings,
    options: &Options,
) -> Result<Option<TableSchema>, Error> {
    let opened = survey::open(std::slice::from_ref(settings), source, options)?;
    let job = Job::new(source, settings.to_spec(), options.clone());
    let (opened, decided) = decide(&job, settings, opened)?;
    let is_rich = decided.is_some_and(|decided| decided.curves + decided.pairs > 0);
    Ok(opened.schema.table.filter(|_| is_rich))
}

/// The decision by a table's first rows.
struct Trial<'a> {
    source: &'a dyn Source,
    settings: &'a Settings,
    schema: &'a InputSchema,
    options: Options,
    table: Arc<TableSchema>,
    sample: Sample,
    learner: LearnerOptions,
    passes: u32,
    /// Rows that are passed over, and those that are evaluated.
    skip: u64,
    holdout: Option<Holdout>,
    limit: Option<u64>,
    most: usize,
    may_curve: bool,
    may_pair: bool,
}

/// A contender: which columns have curves, and which are paired.
#[derive(Clone, Debug, Default, PartialEq)]
struct Features {
    curves: Vec<(String, usize)>,
    pairs: Vec<[String; 2]>,
}

/// What a contender did with one fold.
struct Tried {
    /// The losses of the rows that were held out.
    losses: Vec<f64>,
    /// The residuals of the rows that were learned, each before it was.
    residuals: Residuals,
}

/// Reads rows; behind more bad rows than a sample passes over, the rows have ended.
fn reads(reader: &mut Reader, chunk: &mut Chunk) -> Result<bool, DataError> {
    match reader.read(chunk) {
        Err(error) if error.is_bad_row() => Ok(false),
        read => read,
    }
}

impl<'a> Trial<'a> {
    /// `None` where there is nothing to decide.
    fn new(
        job: &Job<'a>,
        settings: &'a Settings,
        opened: &'a Opened,
    ) -> Result<Option<Self>, Error> {
        let Opened { schema, options, reader } = opened;
        let is_auto = settings.algorithm().name == "auto";
        let may_curve = match options.reading.curves {
            Curves::Auto => true,
            Curves::ByMethod => is_auto,
            Curves::None | Curves::Of { .. } => false,
        };
        let may_pair = match options.reading.pairs {
            Pairs::Auto => true,
            Pairs::ByMethod => is_auto,
            Pairs::None | Pairs::Of(_) => false,
        };
        let Kinds::Known(table) = &options.reading.kinds else { return Ok(None) };
        let is_open = (may_curve || may_pair)
            && job.source.read_once().is_none()
            && reader.format() != Format::Cache
            && reader.space() != Space::Ids
            && !job.plan.regret
            && (!table.has_curves()
                || !matches!(options.reading.curves, Curves::ByMethod | Curves::Auto));
        if !is_open || settings.has_half_life() {
            return Ok(None);
        }
        let sample = Sample::read(table, options, may_pair, &|options| job.source.open(options));
        // What cannot be read is reported when rows are learned.
        let Ok(sample) = sample else { return Ok(None) };
        if sample.rows() < LEAST_ROWS {
            return Ok(None);
        }
        let mut options = options.clone();
        options.run = Run { threads: 1, ..options.run };
        options.ask = Ask { keep_names: false, mark_skipped: false, ..options.ask };
        options.bounds.skip_bad = Sample::ROWS as u64;
        let learner =
            LearnerOptions { precision: job.precision, bias: job.bias, storage: Storage::Index };
        Ok(Some(Self {
            source: job.source,
            settings,
            schema,
            options,
            table: table.clone(),
            sample,
            learner,
            passes: job.plan.passes.min(4),
            skip: job.plan.skip,
            holdout: job.plan.holdout.map(Holdout::new).transpose()?,
            limit: job.plan.limit.map(|limit| limit.saturating_add(job.plan.skip)),
            most: job
                .plan
                .limit
                .map_or(ROWS, |limit| usize::try_from(limit).unwrap_or(ROWS).min(ROWS)),
            may_curve,
            may_pair,
        }))
    }

    /// The schema of the winner; `None` where there is nothing to choose from.
    fn run(&self) -> Result<Option<(TableSchema, Decided)>, Error> {
        if self.width() > MOST_WIDTH {
            return Ok(None);
        }
        let lines = self.read(&Features::default())?;
        let rows = lines.len();
        if rows < LEAST_ROWS {
            return Ok(None);
        }
        let order = shuffled(rows);
        let is_small = rows < FEW_ROWS && rows * self.width() < 50 * FEW_ROWS;
        let folds = if is_small { FOLDS } else { 1 };
        let mut losses: [Vec<f64>; 3] = Default::default();
        let mut votes: Vec<[Features; 2]> = Vec::new();
        for fold in 0..folds {
            let is_held = |at: usize| match folds {
                1 => at.is_multiple_of(HELD),
                _ => at % FOLDS == fold,
            };
            let (mut learned, mut held) = (Vec::new(), Vec::new());
            for (at, &row) in order.iter().enumerate() {
                if is_held(at) { held.push(row) } else { learned.push(row) }
            }
            let Some(plain) = self.learn(&lines, &Features::default(), &learned, &held)? else {
                return Ok(None);
            };
            let curved = Features { curves: self.curves(&plain.residuals), pairs: Vec::new() };
            let with_curves = match curved.curves.is_empty() {
                true => None,
                false => self.learn(&self.read(&curved)?, &curved, &learned, &held)?,
            };
            let best = with_curves.as_ref().unwrap_or(&plain);
            let paired = Features { pairs: self.pairs(&best.residuals), ..curved.clone() };
            let with_pairs = match paired.pairs.is_empty() {
                true => None,
                false => self.learn(&self.read(&paired)?, &paired, &learned, &held)?,
            };
            let best = best.losses.clone();
            losses[2].extend(with_pairs.map_or(best.clone(), |tried| tried.losses));
            losses[1].extend(best);
            losses[0].extend(plain.losses);
            votes.push([curved, paired]);
        }
        if votes.iter().flatten().all(|features| *features == Features::default()) {
            return Ok(None);
        }
        let mut winner = winner(&losses);
        let mut features = Features::default();
        let ahead = if winner > 0 { self.ahead(&features)? } else { None };
        // Rows of a later time may be unlike those before: a richer contender must not be worse there.
        while winner > 0 {
            let chosen = |[curved, paired]: &[Features; 2]| [curved, paired][winner - 1].clone();
            features = vote(votes.iter().map(chosen));
            let richer = self.ahead(&features)?;
            match (&ahead, richer) {
                (Some(lines), Some(richer)) if !is_worse(lines, &richer) => break,
                _ => {
                    winner -= 1;
                    features = Features::default();
                }
            }
        }
        let table = self.table_of(&features);
        let decided = Decided {
            lines: mean(&losses[0]),
            chosen: mean(&losses[winner]),
            curves: features.curves.len(),
            pairs: features.pairs.len(),
            rows: losses[0].len(),
        };
        Ok(Some((table, decided)))
    }

    /// The schema of a contender.
    fn table_of(&self, features: &Features) -> TableSchema {
        let mut table = TableSchema::clone(&self.table);
        for column in &mut table.columns {
            if let Some((_, knots)) = features.curves.iter().find(|(name, _)| *name == column.name)
            {
                column.knots = Points::knots(self.sample.numbers(&column.name), *knots);
            }
        }
        table.pairs.extend(features.pairs.iter().cloned());
        table.cut(&|column| self.sample.numbers(column).to_vec());
        table
    }

    /// The losses of a contender that learns rows of the whole file in their order, on those behind.
    fn ahead(&self, features: &Features) -> Result<Option<Vec<f64>>, Error> {
        let rows = self.read_spread(features)?;
        let (learned, held): (Vec<usize>, Vec<usize>) =
            (0..rows.len()).partition(|row| HELD * row < (HELD - 1) * rows.len());
        let tried = self.learn(&rows, features, &learned, &held)?;
        Ok(tried.map(|tried| tried.losses))
    }

    /// Rows at even distances, of all rows up to a large number.
    fn read_spread(&self, features: &Features) -> Result<Chunk, DataError> {
        let mut reader = self.open(features)?;
        let (mut all, mut chunk) = (Chunk::new(), Chunk::new());
        let (mut row, mut stride) = (0, 1);
        let most = self.limit.map_or(FAR, |limit| limit.min(FAR));
        while row < most && reads(&mut reader, &mut chunk)? {
            for i in 0..chunk.len() {
                if row < most && row % stride == 0 && self.is_learned(row + 1) {
                    all.copy_row(&chunk, i);
                }
                row += 1;
                if all.len() > ROWS.min((MOST_CELLS / self.width()).max(LEAST_OF_MANY)) {
                    stride *= 2;
                    let mut half = Chunk::new();
                    (0..all.len()).step_by(2).for_each(|i| half.copy_row(&all, i));
                    all = half;
                }
            }
        }
        Ok(all)
    }

    /// The first rows, as a contender reads them.
    fn read(&self, features: &Features) -> Result<Chunk, DataError> {
        let mut reader = self.open(features)?;
        let (mut all, mut chunk) = (Chunk::new(), Chunk::new());
        let mut row = 0;
        let most = self.most.min((MOST_CELLS / self.width()).max(LEAST_OF_MANY));
        while all.len() < most && reads(&mut reader, &mut chunk)? {
            for i in 0..chunk.len() {
                row += 1;
                if all.len() < most && self.is_learned(row) {
                    all.copy_row(&chunk, i);
                }
            }
        }
        Ok(all)
    }

    /// Opens the rows for a contender.
    fn open(&self, features: &Features) -> Result<Reader, DataError> {
        let mut options = self.options.clone();
        options.reading.kinds = Kinds::Known(Arc::new(self.table_of(features)));
        self.source.open(&options)
    }

    /// The columns of a row, for each class: several classes are as many learners.
    fn width(&self) -> usize {
        (self.table.columns.len() * self.schema.found.classes.len().max(1)).max(1)
    }

    /// Whether the job learns a row, counted from 1.
    fn is_learned(&self, row: u64) -> bool {
        row > self.skip && !self.holdout.is_some_and(|holdout| holdout.has(row))
    }

    /// The places in the sample of so many rows that are learned.
    fn places(&self, rows: usize) -> Vec<usize> {
        (self.skip + 1..)
            .filter(|row| self.is_learned(*row))
            .take(rows)
            .map(|row| usize::try_from(row - 1).unwrap_or(usize::MAX))
            .collect()
    }

    /// Learns rows and predicts others. `None` if the learner fails, which shows when all rows are learned.
    fn learn(
        &self,
        rows: &Chunk,
        features: &Features,
        learned: &[usize],
        held: &[usize],
    ) -> Result<Option<Tried>, Error> {
        if learned.iter().chain(held).any(|&row| row >= rows.len()) {
            return Ok(None);
        }
        let schema = InputSchema { table: Some(self.table_of(features)), ..self.schema.clone() };
        let mut trainer = Trainer::new(self.settings.clone(), self.learner, schema)?;
        let mut chunk = Chunk::new();
        learned.iter().for_each(|&row| chunk.copy_row(rows, row));
        let loss = self.settings.loss();
        let mut residuals = Residuals::new(loss);
        let places = self.places(rows.len());
        for pass in 0..self.passes {
            let mut watch = |stretch: &Stretch<'_>| {
                for row in stretch.rows() {
                    if let (0, Some(y)) = (pass, chunk.label(row)) {
                        residuals.push(
                            places[learned[row]],
                            stretch.margins(row),
                            y,
                            stretch.chunk().weight(row),
                        );
                    }
                }
            };
            if trainer.learn_watched(&chunk, &mut |_| {}, &mut watch).is_err() {
                return Ok(None);
            }
            if pass + 1 < self.passes {
                trainer.decide();
            }
        }
        let mut others = Chunk::new();
        held.iter().for_each(|&row| others.copy_row(rows, row));
        let mut margins = Vec::new();
        trainer.online().predict(&others, &mut margins);
        let heads = margins.len() / others.len().max(1);
        let classes = &self.schema.found.classes;
        let template = ModelEvaluator::new(self.settings, classes);
        let losses = margins.chunks_exact(heads.max(1)).enumerate().map(|(i, margins)| {
            let (y, weight) = (others.label(i).unwrap_or(0.0), others.weight(i));
            weight * row_loss(&template, loss, margins, y)
        });
        Ok(Some(Tried { losses: losses.collect(), residuals }))
    }

    /// The columns whose curve pays, with their number of knots.
    fn curves(&self, residuals: &Residuals) -> Vec<(String, usize)> {
        if !self.may_curve {
            return Vec::new();
        }
        let candidates = self.table.columns.iter().filter(|c| self.table.may_curve(&c.name));
        candidates
            .filter_map(|column| {
                let knots = knots_that_pay(residuals, self.sample.numbers(&column.name))?;
                Some((column.name.clone(), knots))
            })
            .collect()
    }

    /// The pairs that pay, the strongest first.
    fn pairs(&self, residuals: &Residuals) -> Vec<[String; 2]> {
        if !self.may_pair {
            return Vec::new();
        }
        let roles = [&self.table.label, &self.table.weight];
        let is_free = |name: &String| !roles.contains(&&Some(name.clone()));
        let columns: Vec<Column> = self
            .table
            .columns
            .iter()
            .filter(|column| is_free(&column.name))
            .filter_map(|column| match column.kind {
                Kind::Number => {
                    Some(Column::binned(&column.name, self.sample.numbers(&column.name)))
                }
                Kind::Category | Kind::Boolean => {
                    Some(Column::coded(&column.name, self.sample.codes(&column.name)))
                }
                _ => None,
            })
            .collect();
        strongest_pairs(residuals, &columns)
    }
}

/// Rows in an order that depends on their number alone.
fn shuffled(rows: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..rows).collect();
    let hash = |row: &usize| {
        (*row as u64 + 1)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(31)
            .wrapping_mul(0xbf58_476d_1ce4_e5b9)
    };
    order.sort_by_key(hash);
    order
}

/// The loss of a row: of several classes that of their probabilities.
fn row_loss(template: &ModelEvaluator, loss: Loss, margins: &[f64], y: f64) -> f64 {
    match margins {
        [margin] => loss.value(*margin, y),
        _ => {
            let mut evaluator = template.clone();
            evaluator.record(margins, y, 1.0);
            let found = evaluator.finish();
            let log_loss = found.metrics().into_iter().find(|(name, _)| *name == "log loss");
            log_loss.and_then(|(_, value)| value).or(found.mean_loss()).unwrap_or(0.0)
        }
    }
}

fn mean(losses: &[f64]) -> f64 {
    losses.iter().sum::<f64>() / losses.len().max(1) as f64
}

/// Whether a richer contender is worse on rows behind those it learned. Of few rows only a clear difference counts.
fn is_worse(lines: &[f64], richer: &[f64]) -> bool {
    let (worse, error) = difference(richer, lines);
    worse > if HELD * lines.len() < FEW_ROWS { LIKELY * error } else { 0.0 }
}

/// The mean of the differences of two losses, and its standard error.
fn difference(a: &[f64], b: &[f64]) -> (f64, f64) {
    let each: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    let (n, mean) = (each.len() as f64, mean(&each));
    let variance = each.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
    (mean, (variance / n.max(1.0)).sqrt())
}

/// The contender to be kept: the first, unless a richer one is surely better.
fn winner(losses: &[Vec<f64>; 3]) -> usize {
    let mut winner = 0;
    for (k, richer) in losses.iter().enumerate().skip(1) {
        let (gain, error) = difference(&losses[winner], richer);
        if gain > LIKELY * error && gain > MARGIN * mean(&losses[winner]).abs() {
            winner = k;
        }
    }
    winner
}

/// What at least half of the folds have chosen.
fn vote(folds: impl Iterator<Item = Features>) -> Features {
    let folds: Vec<Features> = folds.collect();
    let mut kept = Features::default();
    for features in &folds {
        for (column, _) in &features.curves {
            let of_column =
                |f: &Features| f.curves.iter().find(|(name, _)| name == column).map(|c| c.1);
            let mut knots: Vec<usize> = folds.iter().filter_map(of_column).collect();
            if 2 * knots.len() >= folds.len() && kept.curves.iter().all(|(name, _)| name != column)
            {
                knots.sort_unstable();
                kept.curves.push((column.clone(), knots[knots.len() / 2]));
            }
        }
        for pair in &features.pairs {
            let votes = folds.iter().filter(|f| f.pairs.contains(pair)).count();
            if 2 * votes >= folds.len() && !kept.pairs.contains(pair) {
                kept.pairs.push(pair.clone());
            }
        }
    }
    kept
}

#[cfg(test)]
mod tests;

//! Test of the final model on rows from the whole run: it may have forgotten the first rows.
//!
//! The progressive loss judges each row by the model of that moment. Where rows are sorted, or change along the file, a
//! learner that follows the last rows has a low progressive loss, and its final model is poor on the others. So a sample of all rows is kept
//! with the loss of each when it came, and predicted again at the end. The two losses of a row are compared row by row: a few rows
//! with large losses, such as flights that are hours late, are in both and decide nothing.

use std::ops::Range;

use parsimon_core::{Chunk, Loss};
use parsimon_eval::Mean;
use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

use super::beside::{Beside, cost};
use super::{Stretch, Trainer};
use crate::model::Model;

/// Rows in the sample.
const SAMPLE: usize = 1000;
/// Features of these rows together, at most: rows of text may be long.
const MOST_ENTRIES: usize = 1 << 22;
/// Least number of rows for which a sample is meaningful.
const ENOUGH: u64 = 30;
/// The final model must keep this share of the learner's gain over the constant.
const KEPT: f64 = 0.75;
/// Largest ratio of its loss to the progressive loss.
const TIMES: f64 = 1.5;
/// Standard errors of the mean difference to the progressive losses of the same rows by which it must be worse.
const SURE: f64 = 3.0;
/// The standard errors where the final model is not even better than the constant.
const LIKELY: f64 = 2.0;

/// A comparison that shows that the final model has lost much of what was learned, because of the order of the rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hindsight {
    /// Rows in the sample.
    pub rows: u64,
    /// The loss of the final model on them.
    pub loss: f64,
    /// The loss of a constant on them.
    pub constant: f64,
    /// The loss of the predictions made before each of them was learned.
    pub progressive: f64,
}

/// A uniform sample of the rows that were learned.
pub(super) struct Sample {
    rows: Vec<Chunk>,
    /// The loss of each when it came; none without a label or a prediction.
    came: Vec<Option<f64>>,
    entries: usize,
    seen: u64,
    /// The number of the next row to be taken.
    next: u64,
    /// State of the draws so far, for the length of the next gap (Li 1994, Algorithm L).
    w: f64,
    random: Xoshiro256PlusPlus,
}

impl Sample {
    pub(super) fn new() -> Self {
        let random = Xoshiro256PlusPlus::seed_from_u64(1);
        Self { rows: Vec::new(), came: Vec::new(), entries: 0, seen: 0, next: 0, w: 1.0, random }
    }

    /// Takes rows that were learned, with the margins that were predicted before.
    pub(super) fn see(&mut self, stretch: &Stretch<'_>, loss: Loss) {
        let (chunk, rows) = (stretch.chunk(), stretch.rows());
        let came = |i: usize| {
            let y = chunk.label(i).filter(|_| stretch.origin != Some(i))?;
            Some(cost(loss, stretch.margins(i), y))
        };
        self.take(chunk, rows.clone(), &came);
    }

    fn take(&mut self, chunk: &Chunk, rows: Range<usize>, came: &dyn Fn(usize) -> Option<f64>) {
        let end = self.seen + rows.len() as u64;
        while self.next < end {
            let i = rows.start + (self.next - self.seen) as usize;
            self.put(chunk, i, came(i));
            self.next = match self.rows.len() {
                SAMPLE => self.after_gap(),
                _ => self.next.saturating_add(1),
            };
        }
        self.seen = end;
    }

    fn put(&mut self, chunk: &Chunk, i: usize, came: Option<f64>) {
        let place = match self.rows.len() {
            SAMPLE => self.random.random_range(0..SAMPLE),
            free => {
                self.rows.push(Chunk::new());
                self.came.push(None);
                free
            }
        };
        self.came[place] = came;
        let row = &mut self.rows[place];
        self.entries -= row.nonzeros();
        row.clear();
        row.copy_row(chunk, i);
        self.entries += row.nonzeros();
        if self.entries > MOST_ENTRIES {
            (self.rows, self.came) = (Vec::new(), Vec::new());
            self.next = u64::MAX;
        }
    }

    fn after_gap(&mut self) -> u64 {
        let mut draw = || 1.0 - self.random.random::<f64>();
        self.w *= (draw().ln() / SAMPLE as f64).exp();
        let gap = (draw().ln() / (1.0 - self.w).ln()).floor();
        // A number that is too large for the cast, or NaN, ends the sampling.
        self.next.saturating_add(gap as u64).saturating_add(1)
    }

    /// Judges the final model; `None` if it has not forgotten, or if there are too few rows to decide.
    pub(super) fn judge(&self, trainer: &Trainer, model: &Model) -> Option<Hindsight> {
        let is_other =
            trainer.settings().class_weight().is_some() || trainer.began_with().is_some();
        if is_other || self.rows.is_empty() || self.seen < ENOUGH {
            return None;
        }
        let mut beside = Beside::new(model);
        let (scorer, mut margins) = (model.scorer(), Vec::new());
        let (mut came, mut lost) = (Mean::default(), Mean::default());
        for (row, before) in self.rows.iter().zip(&self.came) {
            margins.clear();
            scorer.margins(row, &mut margins);
            let now = beside.take(row, &margins);
            if let (Some(before), [(_, now, _)]) = (before, &now[..]) {
                came.record(*before, row.weight(0));
                lost.record(now - before, row.weight(0));
            }
        }
        let found = beside.finish();
        let (loss, constant) = (found.model.value()?, found.constant.value()?);
        let (progressive, more) = (came.value()?, lost.value()?);
        let is_learned = trainer.constant_loss()? > trainer.progressive().average()?;
        let gained = |loss: f64| 1.0 - loss / constant;
        let sure = if loss < constant { SURE } else { LIKELY };
        let has_lost = constant > 0.0
            && is_learned
            && (gained(loss) < KEPT * gained(progressive) || loss > TIMES * progressive)
            && more > sure * lost.standard_error()?;
        has_lost.then_some(Hindsight { rows: found.model.rows(), loss, constant, progressive })
    }
}

#[cfg(test)]
mod tests {
    use parsimon_core::Repeats;

    use super::*;

    fn chunk(rows: std::ops::Range<u64>) -> Chunk {
        let mut chunk = Chunk::new();
        for i in rows {
            chunk.push_feature(i as u32, 1.0);
            chunk.finish_row(Some(1.0), 1.0, Repeats::Refuse).unwrap();
        }
        chunk
    }

    fn sampled(cuts: &[u64]) -> Vec<u32> {
        let mut sample = Sample::new();
        cuts.windows(2).for_each(|ends| {
            let chunk = chunk(ends[0]..ends[1]);
            sample.take(&chunk, 0..chunk.len(), &|_| None);
        });
        sample.rows.iter().map(|row| row.row(0).indices()[0]).collect()
    }

    #[test]
    fn rows_are_drawn_evenly_whatever_the_chunks() {
        let rows = sampled(&[0, 100_000]);
        assert_eq!(rows, sampled(&[0, 1, 999, 1000, 1001, 50_000, 50_001, 100_000]));
        assert_eq!(rows.len(), SAMPLE);
        for tenth in 0..10 {
            let count = rows.iter().filter(|i| **i / 10_000 == tenth).count();
            assert!((60..=140).contains(&count), "{count} of the rows in tenth {tenth}");
        }
    }

    #[test]
    fn a_few_rows_are_all_kept() {
        assert_eq!(sampled(&[0, 3, 7]), [0, 1, 2, 3, 4, 5, 6]);
    }
}

//! Metrics in bounded memory: of all rows, or of the last ones when there are very many.

use parsimon::Settings;
use parsimon::eval::Evaluation;
use parsimon::survey::Found;
use parsimon::train::{Stretch, Watch};
use parsimon::workspace::ModelEvaluator;

/// Scores kept by all runs together; at 16 bytes each, two gigabytes at most.
const MOST_SCORES: usize = 1 << 27;

/// Metrics that restart after too many rows, and others that are half a window behind: at the end
/// the older ones cover the last rows, at least half a window of them.
///
/// Only two classes need it: the AUC is exact because every score is kept.
pub(super) struct Window {
    fresh: ModelEvaluator,
    older: ModelEvaluator,
    newer: Option<ModelEvaluator>,
    rows: usize,
    half: usize,
}

impl Window {
    pub(super) fn new(settings: &Settings, classes: &[String], runs: usize) -> Self {
        let found = Found { classes: classes.to_vec(), ..Found::default() };
        let keeps_scores = settings.is_of_two_classes(&found);
        // The two parts of a run overlap by half a window: one and a half windows are kept.
        let half = if keeps_scores { MOST_SCORES / 3 / runs.max(1) } else { usize::MAX };
        let fresh = ModelEvaluator::new(settings, classes);
        Self { older: fresh.clone(), newer: None, fresh, rows: 0, half: half.max(1) }
    }

    fn record(&mut self, margins: &[f64], y: f64, weight: f64) {
        // Half a window has passed: the newer part becomes the older one, or the first part begins.
        if self.rows == self.half {
            if let Some(newer) = self.newer.replace(self.fresh.clone()) {
                self.older = newer;
            }
            self.rows = 0;
        }
        self.rows += 1;
        self.older.record(margins, y, weight);
        if let Some(newer) = &mut self.newer {
            newer.record(margins, y, weight);
        }
    }

    pub(super) fn finish(self) -> Evaluation {
        self.older.finish()
    }
}

impl Watch for Window {
    fn see(&mut self, stretch: &Stretch<'_>) {
        stretch.labelled().for_each(|(margins, y, weight)| self.record(margins, y, weight));
    }
}

#[cfg(test)]
mod tests {
    use parsimon::Spec;

    use super::*;

    #[test]
    fn the_last_rows_are_judged() {
        let settings = Spec::new("ftrl").resolve().expect("defaults are right");
        for rows in [1, 4, 5, 8, 9, 13, 100] {
            let mut window = Window { half: 4, ..Window::new(&settings, &[], 1) };
            (0..rows).for_each(|_| window.record(&[0.5], 1.0, 1.0));
            let judged = window.finish().rows();
            let expected = if rows <= 8 { rows..=rows } else { 5..=8 };
            assert!(expected.contains(&judged), "{judged} of {rows}");
        }
    }
}

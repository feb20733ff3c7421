//! The features of the first rows.
//!
//! PERF: a report counts the nonzero weights, and most reports come early: after 1, 2, 4, ... rows. A pass over a large array that is nearly
//! empty would take longer than learning these rows, so that the features met are kept as long as there are few of them.

use super::stretch::Stretch;
use crate::options::Storage;

/// More features than this are not kept: 256 kB.
const MOST: usize = 1 << 16;

/// The features of a learner's first rows, while there are few.
pub(super) struct FirstFeatures {
    ids: Vec<u32>,
    /// The rows with a label that they are of. A learner that has learned others, here or before it was saved, has met more features.
    rows: u64,
}

impl FirstFeatures {
    /// For a learner with that storage. An index holds only the features met, and does not need the list.
    pub(super) fn new(storage: Storage) -> Self {
        let rows = if storage == Storage::Index { u64::MAX } else { 0 };
        Self { ids: Vec::new(), rows }
    }

    /// Records the features of rows that were learned.
    pub(super) fn note(&mut self, stretch: &Stretch<'_>) {
        let chunk = stretch.chunk();
        if self.rows == u64::MAX {
            return;
        }
        for row in stretch.rows().filter(|&row| chunk.label(row).is_some()) {
            if self.ids.len() > MOST || !chunk.columns().is_empty() {
                *self = Self { ids: Vec::new(), rows: u64::MAX };
                return;
            }
            self.ids.extend_from_slice(chunk.row(row).indices());
            self.rows += 1;
        }
    }

    /// Returns the features met, sorted and unique, if all of `rows` rows are known.
    pub(super) fn met(&mut self, rows: u64) -> Option<&[u32]> {
        if self.rows != rows {
            return None;
        }
        self.ids.sort_unstable();
        self.ids.dedup();
        Some(&self.ids)
    }
}

#[cfg(test)]
mod tests {
    use parsimon_core::{Chunk, Repeats};

    use crate::options::LearnerOptions;
    use crate::settings::Spec;
    use crate::survey::InputSchema;
    use crate::training::Trainer;

    /// Counts at every report, of rows that come in chunks of a size.
    fn counts(spec: &Spec, rows: u32, chunk_rows: u32, resumed_after: Option<u32>) -> Vec<u64> {
        let settings = spec.clone().resolve().unwrap();
        let new = Trainer::new(settings, LearnerOptions::default(), InputSchema::default());
        let mut trainer = new.unwrap();
        let mut chunk = Chunk::new();
        for row in 0..rows {
            if resumed_after == Some(row) {
                trainer = Trainer::from_checkpoint(&trainer.checkpoint()).unwrap();
            }
            for j in 0..30 {
                chunk.push_feature(1 + j * 1000 + (row * 7 + j * 13) % 997, 1.0);
            }
            chunk.push_feature(40_000 + row % 3, 1.0);
            let label = if row % 3 == 0 { 1.0 } else { -1.0 };
            chunk.finish_row(Some(label), 1.0, Repeats::Refuse).unwrap();
            if (row + 1) % chunk_rows == 0 || row + 1 == rows || resumed_after == Some(row + 1) {
                trainer.learn(&chunk, &mut |_| {}).unwrap();
                chunk.clear();
            }
        }
        trainer.curve().points.iter().map(|point| point.nonzeros).collect()
    }

    #[test]
    fn the_count_is_that_of_all_weights() {
        let bare = Spec::new("ftrl").set("l1", 0.5).set("normalize", false);
        for spec in [bare, Spec::new("ftrl"), Spec::new("auto")] {
            let whole = counts(&spec, 4096, 4096, None);
            assert_eq!(whole.len(), 13);
            assert!(whole.iter().any(|&n| n > 0));
            assert_eq!(counts(&spec, 4096, 100, None), whole);
            // A learner that was saved has forgotten its first features, and counts all weights.
            assert_eq!(counts(&spec, 4096, 100, Some(1)), whole);
        }
    }

    #[test]
    fn every_learner_on_a_common_scale_counts_among_the_features_met() {
        for algorithm in ["ftrl", "auto"] {
            let settings = Spec::new(algorithm).resolve().unwrap();
            let new = Trainer::new(settings, LearnerOptions::default(), InputSchema::default());
            let online = new.unwrap();
            assert_eq!(online.online().nonzeros_among(&[1, 2], &|_| true), Some(0), "{algorithm}");
        }
    }
}

//! A learner whose rows may have number columns.

use std::ops::Range;

use crate::columns::{ColumnMoments, Columns};
use crate::fade::Fade;
use crate::merge::{CANNOT, Mergeable, merged_inside};
use crate::moments::{Moments, MomentsDelta};
use crate::normalized::blocks;
use crate::room::Coming;
use crate::state::{StateError, StateWriter, fits};
use crate::{Chunk, Frozen, HalfLife, Online, State};

/// A learner whose rows may have number columns. Chunks without any pass through unchanged.
///
/// ```
/// use parsimon_core::penalty::L1;
/// use parsimon_core::rule::mirror::{HalfStep, Scheduled};
/// use parsimon_core::{Chunk, Learner, Loss, NumberColumn, Online, Repeats, Schedule, StandardizedColumns, Table};
///
/// let rule = Scheduled { penalty: L1 { l1: 0.0 }, schedule: Schedule::Sqrt { rate: 0.3 }, half_step: HalfStep::Same };
/// let learner = Learner::<f64, _>::new(rule, Some(rule), Loss::Logistic, Table::growing());
/// let mut learner = StandardizedColumns::new(learner);
/// let mut chunk = Chunk::new();
/// chunk.set_columns(&[NumberColumn { key: 1, id: 1 }]);
/// for (second, label) in [(1_700_000_000.0, 1.0), (1_700_000_060.0, -1.0), (1_700_000_001.0, 1.0)] {
///     chunk.open_numbers()[0] = second;
///     chunk.finish_row(Some(label), 1.0, Repeats::Refuse).unwrap();
/// }
/// let mut margins = Vec::new();
/// learner.learn(&chunk, &mut margins);
/// assert!(margins[2] > 0.0);
/// ```
pub struct StandardizedColumns<O> {
    inner: O,
    columns: Columns,
    fade: Fade,
    rows: Chunk,
}

impl<O: Online> StandardizedColumns<O> {
    /// Standardizes the number columns of a learner at the origin.
    pub fn new(inner: O) -> Self {
        Self { inner, columns: Columns::default(), fade: Fade::default(), rows: Chunk::new() }
    }

    /// The same with means and deviations in which old rows fade, for a learner inside whose old rows fade alike.
    #[must_use]
    pub fn fading(self, half_life: Option<HalfLife>) -> Self {
        Self { fade: Fade::new(half_life), ..self }
    }

    /// Counts row `i` if it is learned; what its importance is multiplied by.
    fn tick(&mut self, chunk: &Chunk, i: usize) -> Option<f64> {
        (chunk.label(i).is_some() && chunk.weight(i) > 0.0).then(|| self.fade.tick())
    }

    /// Ends the round of a row that was learned.
    fn close(&mut self, growth: Option<f64>) {
        if growth.is_some() && self.fade.divides() {
            self.columns.divide();
        }
    }

    /// Shows the rows of a chunk, block by block, with the cells of number columns as features.
    fn with_features(&self, chunk: &Chunk, mut show: impl FnMut(&Chunk)) {
        if chunk.columns().is_empty() {
            return show(chunk);
        }
        let (mut columns, mut rows) = (self.columns.clone(), Chunk::new());
        for block in blocks(0..chunk.len()) {
            columns.apply(chunk, block, &mut rows);
            show(&rows);
        }
    }

    /// The learner inside, to be changed.
    pub fn inner_mut(&mut self) -> &mut O {
        &mut self.inner
    }
}

impl<O: Online> Online for StandardizedColumns<O> {
    fn learn_rows(&mut self, chunk: &Chunk, rows: Range<usize>, margins: &mut Vec<f64>) {
        if chunk.columns().is_empty() {
            // Rows without cells age the cells of other rows.
            if self.fade.counts() {
                for i in rows.clone() {
                    let growth = self.tick(chunk, i);
                    self.close(growth);
                }
            }
            return self.inner.learn_rows(chunk, rows, margins);
        }
        self.columns.meet(chunk.columns());
        for block in blocks(rows) {
            self.rows.clear();
            if self.fade.counts() {
                for i in block {
                    let growth = self.tick(chunk, i);
                    self.columns.push(chunk, i, growth, &mut self.rows);
                    self.close(growth);
                }
            } else {
                self.columns.push_rows(chunk, block, &mut self.rows);
            }
            let Self { inner, rows, .. } = self;
            inner.learn_rows(rows, 0..rows.len(), margins);
        }
    }

    fn takes_bases(&self) -> bool {
        self.inner.takes_bases()
    }

    fn predict(&self, chunk: &Chunk, margins: &mut Vec<f64>) {
        self.with_features(chunk, |rows| self.inner.predict(rows, margins));
    }

    fn score(&self, chunk: &Chunk, margins: &mut Vec<f64>) {
        self.with_features(chunk, |rows| self.inner.score(rows, margins));
    }

    fn weights_of(&self, indices: &[u32], weights: &mut Vec<f64>) {
        self.inner.weights_of(indices, weights);
    }

    fn columns(&self) -> &[ColumnMoments] {
        self.columns.moments()
    }
    fn rest_on(&mut self, columns: &[ColumnMoments]) {
        self.columns.fix(columns);
        self.inner.rest_on(columns);
    }
    fn chosen(&self) -> Option<usize> {
        self.inner.chosen()
    }
    fn decide(&mut self) {
        self.inner.decide();
    }

    fn nonzeros(&self) -> usize {
        self.inner.nonzeros()
    }
    fn nonzeros_by_head(&self) -> Vec<usize> {
        self.inner.nonzeros_by_head()
    }
    fn freeze(&self) -> Frozen {
        self.inner.freeze()
    }
    fn heads(&self) -> usize {
        self.inner.heads()
    }
    fn label_range(&self) -> Option<(f64, f64)> {
        self.inner.label_range()
    }
    fn room(&self, coming: Coming) -> u64 {
        self.inner.room(coming)
    }

    fn save(&self, out: &mut StateWriter) {
        self.columns.moments().to_vec().write(out);
        self.fade.save(out);
        self.inner.save(out);
    }
    fn restore(&mut self, input: &mut &[u8]) -> Result<(), StateError> {
        let moments = Vec::<ColumnMoments>::read(input)?;
        fits(moments.iter().all(ColumnMoments::is_sound), "the moments of the columns")?;
        self.columns = Columns::new(moments);
        self.fade.restore(input)?;
        self.inner.restore(input)
    }
    fn overflow(&self) -> Option<u32> {
        self.inner.overflow()
    }
    fn mergeable(&self) -> Result<&dyn Mergeable, &'static str> {
        self.inner.mergeable().map(|_| self as &dyn Mergeable)
    }
    fn mergeable_mut(&mut self) -> Result<&mut dyn Mergeable, &'static str> {
        self.inner.mergeable()?;
        Ok(self)
    }
}

/// The learner inside is merged as it is alone, and the columns' moments beside it.
impl<O: Online> StandardizedColumns<O> {
    fn merging(&self) -> &dyn Mergeable {
        self.inner.mergeable().expect(CANNOT)
    }
    fn merging_mut(&mut self) -> &mut dyn Mergeable {
        self.inner.mergeable_mut().expect(CANNOT)
    }
}

impl<O: Online> Mergeable for StandardizedColumns<O> {
    merged_inside!();
    fn advance(&mut self, head: usize, rounds: u64) {
        self.merging_mut().advance(head, rounds);
    }
    fn settle(&mut self, head: usize) {
        self.merging_mut().settle(head);
    }
    fn moments(&self) -> Moments {
        Moments { columns: self.columns.moments().to_vec(), ..self.merging().moments() }
    }
    fn take_moments(&mut self, added: &MomentsDelta) {
        self.columns.add(&added.columns);
        self.merging_mut().take_moments(added);
    }
}

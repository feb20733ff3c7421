//! A learner whose rows may have number columns.

use std::ops::Range;

use crate::columns::{ColumnMoments, Columns};
use crate::fade::Fade;
use crate::merge::{Around, AroundMut, MergeRead, MergeWrite, OwnMoments};
use crate::moments::{Moments, MomentsDelta};
use crate::normalized::blocks;
use crate::online::{bare, forward};
use crate::state::{StateError, StateWriter, fits};
use crate::{Chunk, HalfLife, Online, State};

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

    /// Builds the learner with means and deviations in which old rows fade, around a learner whose old rows fade equally.
    #[must_use]
    pub fn fading(self, half_life: Option<HalfLife>) -> Self {
        Self { fade: Fade::new(half_life), ..self }
    }

    /// Counts row `i` if it is learned; returns the factor of its importance.
    fn tick(&mut self, chunk: &Chunk, i: usize) -> Option<f64> {
        (chunk.label(i).is_some() && chunk.weight(i) > 0.0).then(|| self.fade.tick())
    }

    /// Ends the round of a row that was learned.
    fn close(&mut self, growth: Option<f64>) {
        if growth.is_some() && self.fade.divides() {
            self.columns.divide();
        }
    }

    /// Passes the rows of a chunk to a function, block by block, with the cells of number columns as features.
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

    /// The inner learner, mutable.
    pub fn inner_mut(&mut self) -> &mut O {
        &mut self.inner
    }
}

impl<O: Online> StandardizedColumns<O> {
    /// Passes rows to the learner inside, block by block, with the cells of number columns as features. `learn` gets some rows and
    /// their position among all rows.
    fn learn_blocks(
        &mut self,
        chunk: &Chunk,
        rows: Range<usize>,
        mut learn: impl FnMut(&mut O, &Chunk, Range<usize>, usize),
    ) {
        if chunk.columns().is_empty() {
            // Rows without cells count for the age of the cells of other rows.
            if self.fade.counts() {
                for i in rows.clone() {
                    let growth = self.tick(chunk, i);
                    self.close(growth);
                }
            }
            return learn(&mut self.inner, chunk, rows, 0);
        }
        self.columns.meet(chunk.columns());
        let first = rows.start;
        for block in blocks(rows) {
            let at = block.start - first;
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
            learn(inner, rows, 0..rows.len(), at);
        }
    }
}

impl<O: Online> Online for StandardizedColumns<O> {
    bare!(all_rows);
    forward!(self, self.inner;
        scale_penalty takes_bases is_linear label_range lacks_labels chosen decide weights_of nonzeros
        nonzeros_among nonzeros_by_head freeze heads room overflow);

    fn learn_rows(&mut self, chunk: &Chunk, rows: Range<usize>, margins: &mut Vec<f64>) {
        self.learn_blocks(chunk, rows, |inner, chunk, rows, _| {
            inner.learn_rows(chunk, rows, margins);
        });
    }

    fn learn_rows_scaled(
        &mut self,
        chunk: &Chunk,
        rows: Range<usize>,
        scales: &[f64],
        margins: &mut Vec<f64>,
    ) {
        self.learn_blocks(chunk, rows, |inner, chunk, rows, at| {
            inner.learn_rows_scaled(chunk, rows, &scales[at..], margins);
        });
    }

    fn predict(&self, chunk: &Chunk, margins: &mut Vec<f64>) {
        self.with_features(chunk, |rows| self.inner.predict(rows, margins));
    }

    fn score(&self, chunk: &Chunk, margins: &mut Vec<f64>) {
        self.with_features(chunk, |rows| self.inner.score(rows, margins));
    }

    fn columns(&self) -> &[ColumnMoments] {
        self.columns.moments()
    }
    fn learn_change_of(&mut self, columns: &[ColumnMoments]) {
        self.columns.fix(columns);
        self.inner.learn_change_of(columns);
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
    fn mergeable(&self) -> Result<Box<dyn MergeRead + '_>, &'static str> {
        let columns = || self.columns.moments().to_vec();
        let with_own = move |inner: Moments| Moments { columns: columns(), ..inner };
        Ok(Box::new(Around { inner: self.inner.mergeable()?, with_own }))
    }
    fn mergeable_mut(&mut self) -> Result<Box<dyn MergeWrite + '_>, &'static str> {
        let Self { inner, columns, .. } = self;
        Ok(Box::new(AroundMut { inner: inner.mergeable_mut()?, own: columns }))
    }
}

/// The inner learner is merged like any other, and the moments of the columns are merged separately.
impl OwnMoments for &mut Columns {
    fn add_moments(&mut self, added: &MomentsDelta) {
        self.add(&added.columns);
    }
    fn penalty_scale(&self) -> Option<f64> {
        None
    }
}

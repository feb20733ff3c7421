//! The loop over rows: learn up to the next report, report, repeat.

use std::ops::Range;

use parsimon_core::Chunk;
use parsimon_eval::Schedule;

/// The rows of a chunk up to the next report, with the margins that were predicted for them before they were learned.
#[derive(Clone, Debug)]
pub struct Stretch<'a> {
    pub(super) chunk: &'a Chunk,
    pub(super) rows: Range<usize>,
    /// The margins of all settings that share the learner, row by row.
    pub(super) margins: &'a [f64],
    /// Margins per row.
    pub(super) width: usize,
    /// Range of the setting's margins among those of a row.
    pub(super) own: Range<usize>,
    /// The row whose label sets the origin of predictions.
    pub(super) origin: Option<usize>,
}

impl<'a> Stretch<'a> {
    /// The chunk of the rows.
    pub fn chunk(&self) -> &'a Chunk {
        self.chunk
    }

    /// The positions of the rows in the chunk.
    pub fn rows(&self) -> Range<usize> {
        self.rows.clone()
    }

    /// The margins of a row of the chunk that is in the stretch: one, or one per class.
    pub fn margins(&self, row: usize) -> &'a [f64] {
        let start = (row - self.rows.start) * self.width;
        &self.margins[start..start + self.width][self.own.clone()]
    }

    /// The margins, label and importance weight of every row that has a label and a prediction. A method that takes the origin of its
    /// predictions from the labels has none for the first.
    pub fn labelled(&self) -> impl Iterator<Item = (&'a [f64], f64, f64)> + '_ {
        let row = |row| Some((self.margins(row), self.chunk.label(row)?, self.chunk.weight(row)));
        self.rows().filter(|row| self.origin != Some(*row)).filter_map(row)
    }

    /// The last row that has a label.
    pub(super) fn last_labelled(&self) -> Option<usize> {
        self.rows().rev().find(|&row| self.chunk.label(row).is_some())
    }
}

/// Receives the margins that were predicted before learning.
pub trait Watch {
    /// Receives rows that have just been learned.
    fn see(&mut self, stretch: &Stretch<'_>);
}

impl Watch for () {
    #[inline]
    fn see(&mut self, _: &Stretch<'_>) {}
}

impl<F: FnMut(&Stretch<'_>)> Watch for F {
    fn see(&mut self, stretch: &Stretch<'_>) {
        self(stretch);
    }
}

/// One learner or many, on their way through the rows.
pub(super) trait Course {
    /// The reason why learning ends before the last row; many learners do not end together.
    type Failure;
    /// Rows with a label that were learned so far.
    fn rows(&self) -> u64;
    /// Whether there is memory for the features of the rows. If there is none for a single row, learning that row is the error.
    fn fits(&mut self, _chunk: &Chunk, _rows: Range<usize>) -> bool {
        true
    }
    /// Predicts, learns and judges rows.
    fn learn(&mut self, chunk: &Chunk, rows: Range<usize>) -> Result<(), Self::Failure>;
    /// Some rows with a label have been learned, up to a report or up to the end of the chunk.
    fn pause(&mut self, is_due: bool);
}

/// Learns a chunk. Reports come at the same rows for any chunks.
pub(super) fn learn<C: Course>(
    course: &mut C,
    schedule: Schedule,
    chunk: &Chunk,
) -> Result<(), C::Failure> {
    let mut start = 0;
    while start < chunk.len() {
        let rows = course.rows();
        let until_report = schedule.next_after(rows).saturating_sub(rows).max(1);
        let most = usize::try_from(until_report).unwrap_or(usize::MAX);
        let mut end = chunk.len().min(start.saturating_add(most));
        // Estimate the new memory of all rows together: fewer rows need less, and the estimate for one row is close.
        while end - start > 1 && !course.fits(chunk, start..end) {
            end = start + (end - start) / 2;
        }
        course.learn(chunk, start..end)?;
        // Rows without a label do not count towards the next report.
        if course.rows() > rows {
            course.pause(schedule.due(course.rows()));
        }
        start = end;
    }
    Ok(())
}

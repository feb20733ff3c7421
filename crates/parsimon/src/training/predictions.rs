//! The predictions made before learning, in the order of the data regardless of the order of learning.

use parsimon_data::Reader;

use super::{Events, Stretch};

/// Sources of the prediction of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// It is skipped.
    Nowhere,
    /// The row is learned; its position among the rows put aside.
    Kept(usize),
    /// The row is judged; its position among the rows held out.
    Held(usize),
}

/// Margins on their way to the observer. The reader skips bad rows; here they have a turn as well.
#[derive(Default)]
pub(super) struct Predictions {
    /// Predictions of the rows that were learned since the last turn.
    learned: Vec<f64>,
    /// Predictions of the rows that were judged.
    held: Vec<f64>,
    /// Margins per row.
    width: usize,
    /// The rows whose turn has not come.
    waiting: Vec<Place>,
    /// Rows that had their turn, without bad rows.
    shown: u64,
}

impl Predictions {
    /// Takes the margins of rows that have been learned.
    pub(super) fn learned(&mut self, stretch: &Stretch<'_>) {
        for row in stretch.rows() {
            let margins = stretch.margins(row);
            self.width = margins.len();
            self.learned.extend_from_slice(margins);
        }
    }

    /// Puts the margins of rows that were learned in this order back into the order of the data.
    pub(super) fn put_in_order(&mut self, order: &[usize]) {
        let width = self.width;
        if order.is_empty() || self.learned.len() != width * order.len() {
            return;
        }
        let mixed = std::mem::replace(&mut self.learned, vec![0.0; width * order.len()]);
        for (margins, &i) in mixed.chunks_exact(width).zip(order) {
            self.learned[width * i..][..width].copy_from_slice(margins);
        }
    }

    /// Takes the margins of rows that were judged.
    pub(super) fn held(&mut self, margins: &[f64]) {
        self.held.extend_from_slice(margins);
    }

    /// The next row of the data.
    pub(super) fn push(&mut self, place: Place) {
        self.waiting.push(place);
    }

    /// All rows of a chunk were learned, one after the other.
    pub(super) fn all(&mut self, observer: &mut dyn Events, reader: &mut Reader) {
        let learned = std::mem::take(&mut self.learned);
        for margins in learned.chunks_exact(self.width.max(1)) {
            self.bad_rows(observer, reader);
            self.shown += 1;
            observer.predicted(Some(margins));
        }
        self.learned = learned;
        self.learned.clear();
    }

    /// All rows that wait have been learned or judged.
    pub(super) fn placed(&mut self, observer: &mut dyn Events, reader: &mut Reader) {
        let width = self.width;
        for place in std::mem::take(&mut self.waiting) {
            self.bad_rows(observer, reader);
            self.shown += 1;
            let margins = match place {
                Place::Nowhere => None,
                Place::Kept(i) => self.learned.get(width * i..width * (i + 1)),
                Place::Held(i) => self.held.get(width * i..width * (i + 1)),
            };
            observer.predicted(margins.filter(|margins| !margins.is_empty()));
        }
        self.learned.clear();
        self.held.clear();
    }

    /// The end: bad rows after the last good one.
    pub(super) fn finish(&mut self, observer: &mut dyn Events, reader: &mut Reader) {
        self.placed(observer, reader);
        self.bad_rows(observer, reader);
    }

    /// The bad rows before the next row.
    fn bad_rows(&mut self, observer: &mut dyn Events, reader: &mut Reader) {
        for _ in 0..reader.skipped_before(self.shown) {
            observer.predicted(None);
        }
    }
}

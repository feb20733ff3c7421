//! Rows of a table whose features are numbers, all cells at once.

use crate::builder::Builder;
use crate::error::Bad;
use crate::{Space, hash};

/// Rows that stay in the nearest cache while column after column is written into them.
#[cfg(feature = "columnar")]
const TILE: usize = 64;

/// The number columns of a piece of a table.
pub(crate) struct NumberRows<'a> {
    /// The columns without a cell so far: index among the number columns, and name.
    unseen: Vec<(usize, &'a str)>,
    /// The slots of the columns in ascending order, and the columns' places in that order, where numbers do not stay apart from other
    /// features.
    slots: Vec<u32>,
    order: Vec<usize>,
    /// The cells of a row in the order of the slots, or of several rows.
    ordered: Vec<f64>,
}

impl<'a> NumberRows<'a> {
    /// `None` where each cell has to be looked at: with interactions, numbers that stand for missing cells, or slots that columns share.
    pub(crate) fn new(
        builder: &Builder,
        columns: impl Iterator<Item = (usize, &'a str)>,
    ) -> Option<Self> {
        if builder.is_crossing() || builder.spec.missing.has_numbers() {
            return None;
        }
        // Features of curves come in no order.
        if builder.is_shaped() && !builder.keeps_numbers_apart() {
            return None;
        }
        let unseen: Vec<_> = columns.collect();
        let mut order: Vec<(u32, usize)> = Vec::new();
        if !builder.keeps_numbers_apart() {
            let Space::Hashed { bits } = builder.spec.space else { return None };
            let slot = |name: &str| hash::slot(hash::feature(0, name.as_bytes()), bits);
            order.extend(unseen.iter().map(|&(k, name)| (slot(name), k)));
            order.sort_unstable();
            if order.windows(2).any(|pair| pair[0].0 == pair[1].0) {
                return None;
            }
        }
        let (slots, order) = order.into_iter().unzip();
        Some(Self { unseen, slots, order, ordered: Vec::new() })
    }

    /// Adds a row. Cells are in column order, and a missing cell is NaN.
    pub(crate) fn push(
        &mut self,
        builder: &mut Builder,
        cells: &[f64],
        label: Option<f64>,
    ) -> Result<(), Bad> {
        if !self.unseen.is_empty() {
            self.report(builder, |k| !cells[k].is_nan());
        }
        if builder.keeps_numbers_apart() {
            if builder.is_shaped() {
                for (k, &cell) in cells.iter().enumerate().filter(|(_, cell)| !cell.is_nan()) {
                    builder.push_shape(k, cell);
                }
            }
            return builder.push_cells(cells, label);
        }
        self.ordered.clear();
        self.ordered.extend(self.order.iter().map(|&k| cells[k]));
        builder.push_in_order(&self.slots, &self.ordered, label)
    }

    /// Adds rows one by one, with the features of curves.
    #[cfg(feature = "columnar")]
    fn push_shaped(
        &mut self,
        builder: &mut Builder,
        labels: &[f64],
        columns: &[(usize, &[f64])],
    ) -> Result<(), Bad> {
        let width = columns.iter().map(|(k, _)| k + 1).chain(self.unseen.iter().map(|c| c.0 + 1));
        let mut cells = vec![f64::NAN; builder.number_columns().max(width.max().unwrap_or(0))];
        for (i, label) in labels.iter().enumerate() {
            for &(k, of_column) in columns {
                cells[k] = of_column[i];
            }
            self.push(builder, &cells, Some(*label).filter(|y| !y.is_nan()))?;
        }
        Ok(())
    }

    /// Reports columns that have a cell now.
    fn report(&mut self, builder: &mut Builder, has_cell: impl Fn(usize) -> bool) {
        self.unseen.retain(|&(k, name)| {
            let is_new = has_cell(k);
            if is_new && builder.keeps_numbers_apart() {
                builder.report_number(k, name.as_bytes());
            } else if is_new {
                let key = hash::feature(0, name.as_bytes());
                builder.report_name(key, || (b"", name.as_bytes()));
            }
            !is_new
        });
    }

    /// Adds all rows of some columns, each with its place. A label that is missing is NaN, and so is a cell.
    #[cfg(feature = "columnar")]
    pub(crate) fn push_columns(
        &mut self,
        builder: &mut Builder,
        labels: &[f64],
        columns: &[(usize, &[f64])],
    ) -> Result<(), Bad> {
        if builder.keeps_numbers_apart() {
            // Names are reported in the order in which cells come.
            let mut first =
                vec![usize::MAX; self.unseen.iter().map(|c| c.0 + 1).max().unwrap_or(0)];
            for &(k, cells) in columns {
                first[k] = cells.iter().position(|cell| !cell.is_nan()).unwrap_or(usize::MAX);
            }
            self.unseen.sort_by_key(|&(k, _)| first[k]);
            if builder.is_shaped() {
                return self.push_shaped(builder, labels, columns);
            }
            self.report(builder, |k| first[k] < usize::MAX);
            builder.push_number_rows(labels, columns);
            return Ok(());
        }
        let mut first = vec![usize::MAX; self.order.len()];
        let mut of_place: Vec<&[f64]> = vec![&[]; self.order.len()];
        for &(k, cells) in columns {
            first[k] = cells.iter().position(|cell| !cell.is_nan()).unwrap_or(usize::MAX);
            of_place[k] = cells;
        }
        self.unseen.sort_by_key(|&(k, _)| first[k]);
        self.report(builder, |k| first[k] < usize::MAX);
        let width = self.slots.len();
        for (labels, start) in labels.chunks(TILE).zip((0..).step_by(TILE)) {
            self.ordered.clear();
            self.ordered.resize(labels.len() * width, f64::NAN);
            for (at, &k) in self.order.iter().enumerate() {
                let cells = of_place[k].get(start..).unwrap_or_default();
                for (row, &cell) in self.ordered.chunks_exact_mut(width).zip(cells) {
                    row[at] = cell;
                }
            }
            for (i, label) in labels.iter().enumerate() {
                let cells = &self.ordered[i * width..(i + 1) * width];
                let label = Some(*label).filter(|y| !y.is_nan());
                builder.push_in_order(&self.slots, cells, label)?;
            }
        }
        Ok(())
    }
}

//! Rows of tables: columns that are named, and number columns that stay apart.

use std::sync::Arc;

use parsimon_core::NumberColumn;
use rustc_hash::FxHashMap;

use super::Builder;
use crate::columns::{Columns, Role};
use crate::error::Bad;
use crate::{Space, hash};

/// Maximum number of remembered fields that no schema knows.
const MOST_UNKNOWN: usize = 1000;

/// The columns of a table whose rows name their cells.
#[derive(Debug)]
pub(crate) struct NamedColumns {
    pub(crate) columns: Arc<Columns>,
    places: FxHashMap<String, usize>,
}

impl NamedColumns {
    fn new(columns: &Arc<Columns>) -> Self {
        let places = columns.columns.iter().zip(0..);
        let places = places.map(|(column, place)| (column.name.clone(), place)).collect();
        Self { columns: columns.clone(), places }
    }

    /// The place of a column.
    pub(crate) fn place(&self, name: &str) -> Option<usize> {
        self.places.get(name).copied()
    }

    /// Whether a field is read though the row has an object of features beside it.
    pub(crate) fn is_beside_features(&self, name: &str) -> bool {
        self.place(name).is_some_and(|place| {
            let column = &self.columns.columns[place];
            matches!(column.role, Role::Label | Role::Weight) || column.carried.is_some()
        })
    }
}

impl Builder {
    /// The columns, for rows that name their cells.
    pub(crate) fn named(&mut self, columns: &Arc<Columns>) -> Arc<NamedColumns> {
        match &self.named_columns {
            Some(named) if Arc::ptr_eq(&named.columns, columns) => named.clone(),
            _ => self.named_columns.insert(Arc::new(NamedColumns::new(columns))).clone(),
        }
    }

    /// Notes a field that is no column of the table.
    pub(crate) fn note_unknown(&mut self, field: &str) {
        if self.unknown.len() < MOST_UNKNOWN && !self.unknown.contains(field) {
            self.unknown.insert(field.into());
            self.out.unknown.push(field.into());
        }
    }

    /// Sets the columns of a table whose numbers stay apart, before its first row.
    pub(crate) fn begin_table(&mut self, columns: &Columns) {
        self.begin_numbers(columns.numbers());
        self.shape = columns.shape.clone().filter(|_| !self.is_ids());
        self.paired.begin(self.shape.as_ref().map_or(0, |shape| shape.sides));
    }

    /// Sets these columns for a table whose features are made.
    pub(crate) fn begin_numbers<'a>(&mut self, names: impl Iterator<Item = (u32, &'a str)>) {
        self.shape = None;
        self.columns.clear();
        if self.spec.options.reading.numbers_apart {
            let bits = self.bits;
            let is_ids = self.is_ids();
            self.columns.extend(names.map(|(id, name)| match is_ids {
                true => NumberColumn { key: id.into(), id },
                false => {
                    let key = hash::feature(0, name.as_bytes());
                    NumberColumn { key, id: hash::slot(key, bits) }
                }
            }));
        }
        self.chunk.set_columns(&self.columns);
    }

    /// The number of columns whose numbers stay apart.
    #[cfg(feature = "columnar")]
    pub(crate) fn number_columns(&self) -> usize {
        self.columns.len()
    }

    /// Whether numbers of tables stay apart from the features.
    pub(crate) fn keeps_numbers_apart(&self) -> bool {
        !self.columns.is_empty()
    }

    /// Adds a cell of the table's `k`-th number column, which stays apart. Interactions take it as it is.
    pub(crate) fn push_number(&mut self, k: usize, name: &[u8], value: f64) {
        self.chunk.open_numbers()[k] = value;
        self.report_number(k, name);
        let key = self.columns[k].key;
        if let Some(cross) = self.cross.as_mut().filter(|_| self.spec.space != Space::Ids) {
            cross.add(key, b"", name, value);
        }
    }

    /// Reports the table's `k`-th number column, of which there is a cell.
    pub(crate) fn report_number(&mut self, k: usize, name: &[u8]) {
        let NumberColumn { key, id } = self.columns[k];
        self.out.largest = self.out.largest.max(id);
        if !self.is_ids() {
            self.report_name(key, || (b"", name));
        }
    }

    /// Adds a row of features in the order of their slots, which are all different; those whose value is NaN are missing. Names are for
    /// the caller to report.
    pub(crate) fn push_in_order(
        &mut self,
        slots: &[u32],
        values: &[f64],
        label: Option<f64>,
    ) -> Result<(), Bad> {
        // PERF: most rows have all cells, and are copied in one piece.
        if values.iter().fold(false, |any, v| any | v.is_nan()) {
            for (&slot, &value) in slots.iter().zip(values).filter(|(_, v)| !v.is_nan()) {
                self.chunk.push_feature(slot, value);
            }
        } else {
            self.chunk.push_features(slots, values);
        }
        self.finish_adding(label, 1.0, b"")
    }

    /// Adds a row of nothing but numbers that stay apart, NaN where one is missing. Its columns are for the caller to report.
    pub(crate) fn push_cells(&mut self, cells: &[f64], label: Option<f64>) -> Result<(), Bad> {
        self.chunk.open_numbers().copy_from_slice(cells);
        self.finish_adding(label, 1.0, b"")
    }

    /// Adds rows of nothing but numbers that stay apart: for each column its place and its cells, NaN where one is missing, and so for
    /// labels. Columns are for the caller to report.
    #[cfg(feature = "columnar")]
    pub(crate) fn push_number_rows(&mut self, labels: &[f64], columns: &[(usize, &[f64])]) {
        let mut start = 0;
        while start < labels.len() {
            let room = self.spec.options.bounds.chunk_rows - self.chunk.len();
            let end = labels.len().min(start + room);
            let cells: Vec<_> = columns.iter().map(|&(k, all)| (k, &all[start..end])).collect();
            self.chunk.push_number_rows(&labels[start..end], &cells);
            self.out.rows += (end - start) as u64;
            if self.chunk.len() >= self.spec.options.bounds.chunk_rows {
                self.hand_over_chunk();
            }
            start = end;
        }
    }
}

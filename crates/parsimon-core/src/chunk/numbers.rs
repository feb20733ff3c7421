//! Columns of numbers, apart from the features of the rows.

use std::ops::Range;

use super::Chunk;

/// A column of a table whose cells are numbers.
///
/// Its cells are stored apart from the features of a row, because zero is a valid cell, and because two columns may hash to
/// one id. [`StandardizedColumns`](crate::StandardizedColumns) makes features of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NumberColumn {
    /// Identifies the column, for example by a hash of its name.
    pub key: u64,
    /// The feature that the column becomes.
    pub id: u32,
}

impl Chunk {
    /// The number columns, which are apart from the features of the rows.
    #[inline]
    pub fn columns(&self) -> &[NumberColumn] {
        &self.columns
    }

    /// The cells of row `i` in the number columns; a missing cell is NaN.
    #[inline]
    pub fn numbers(&self, i: usize) -> &[f64] {
        let width = self.columns.len();
        &self.numbers[i * width..(i + 1) * width]
    }

    /// The cells of all rows in the number columns, row after row.
    pub(crate) fn all_numbers(&self) -> &[f64] {
        &self.numbers[..self.len() * self.columns.len()]
    }

    /// Declares number columns of a chunk without rows. A chunk with rows keeps its columns.
    ///
    /// ```
    /// use parsimon_core::{Chunk, NumberColumn, Repeats};
    ///
    /// let mut chunk = Chunk::new();
    /// chunk.set_columns(&[NumberColumn { key: 7, id: 1 }, NumberColumn { key: 9, id: 2 }]);
    /// chunk.open_numbers()[1] = 0.5;
    /// chunk.finish_row(Some(1.0), 1.0, Repeats::Refuse).unwrap();
    /// assert!(chunk.numbers(0)[0].is_nan() && chunk.numbers(0)[1] == 0.5);
    /// ```
    pub fn set_columns(&mut self, columns: &[NumberColumn]) {
        if self.is_empty() {
            self.columns.clear();
            self.columns.extend_from_slice(columns);
            self.numbers.clear();
        }
    }

    /// Copies all rows with the features that satisfy the predicate; cells of number columns whose feature does not are missing.
    ///
    /// ```
    /// use parsimon_core::{Chunk, Repeats};
    ///
    /// let mut chunk = Chunk::new();
    /// (1..=4).for_each(|j| chunk.push_feature(j, 1.0));
    /// chunk.finish_row(Some(1.0), 1.0, Repeats::Refuse).unwrap();
    /// assert_eq!(chunk.with_features(&|j| j % 2 == 0).row(0).indices(), [2, 4]);
    /// ```
    #[must_use]
    pub fn with_features(&self, is_kept: &dyn Fn(u32) -> bool) -> Chunk {
        let mut some = self.clone();
        some.indices.clear();
        some.values.clear();
        some.offsets.truncate(1);
        for i in 0..self.len() {
            for (j, x) in self.row(i).iter().filter(|(j, _)| is_kept(*j)) {
                some.indices.push(j);
                some.values.push(x);
            }
            some.offsets.push(some.indices.len());
        }
        for (cell, column) in some.numbers.iter_mut().zip(self.columns.iter().cycle()) {
            if !is_kept(column.id) {
                *cell = f64::NAN;
            }
        }
        some
    }

    /// The cells of the row under construction in the number columns, for the caller to fill in.
    #[inline]
    pub fn open_numbers(&mut self) -> &mut [f64] {
        let start = self.len() * self.columns.len();
        self.numbers.resize(start + self.columns.len(), f64::NAN);
        &mut self.numbers[start..]
    }

    /// Appends rows that have cells in number columns and no features. Each of the columns has its place among the number columns, and a
    /// cell for each row, NaN where one is missing; cells of other columns are missing. A label that is missing is NaN, too; others are finite.
    ///
    /// ```
    /// use parsimon_core::{Chunk, NumberColumn};
    ///
    /// let mut chunk = Chunk::new();
    /// chunk.set_columns(&[NumberColumn { key: 7, id: 1 }, NumberColumn { key: 9, id: 2 }]);
    /// chunk.push_number_rows(&[1.0, f64::NAN], &[(1, &[0.5, 2.5])]);
    /// assert_eq!((chunk.len(), chunk.label(0), chunk.label(1)), (2, Some(1.0), None));
    /// assert!(chunk.numbers(1)[0].is_nan() && chunk.numbers(1)[1] == 2.5);
    /// ```
    ///
    /// # Panics
    /// If a place is not that of a number column.
    pub fn push_number_rows(&mut self, labels: &[f64], columns: &[(usize, &[f64])]) {
        // PERF: this number of rows stays in the nearest cache while column after column is written into them.
        const TILE: usize = 64;
        self.abandon_row();
        let (width, rows) = (self.columns.len(), labels.len());
        let start = self.numbers.len();
        self.numbers.resize(start + rows * width, f64::NAN);
        let tiles = self.numbers[start..].chunks_mut(TILE * width.max(1));
        for (tile, first) in tiles.zip((0..).step_by(TILE)) {
            for &(k, cells) in columns {
                let cells = cells.get(first..).unwrap_or_default();
                for (row, &cell) in tile.chunks_exact_mut(width).zip(cells) {
                    row[k] = cell;
                }
            }
        }
        let is_tagged = !self.tag_ends.is_empty();
        for &label in labels {
            self.offsets.push(self.indices.len());
            self.labels.push(label);
            self.weights.push(1.0);
            if is_tagged {
                self.tag_ends.push(self.tags.len());
            }
            self.open_base();
        }
    }

    /// Lays the rows out for the columns of another chunk, too, so that its rows can be copied.
    fn adopt_columns(&mut self, other: &Chunk) {
        if self.is_empty() {
            return self.set_columns(&other.columns);
        }
        let before = self.columns.len();
        let news = other.columns.iter().filter(|c| !self.columns.iter().any(|d| d.key == c.key));
        let news: Vec<_> = news.copied().collect();
        self.columns.extend(news);
        let after = self.columns.len();
        if after > before {
            let rows = self.len();
            let old = std::mem::take(&mut self.numbers);
            for i in 0..rows {
                self.numbers.extend_from_slice(&old[i * before..(i + 1) * before]);
                self.numbers.resize((i + 1) * after, f64::NAN);
            }
        }
    }

    /// Copies the cells of row `i` of `other` into the row under construction.
    pub(super) fn copy_numbers(&mut self, other: &Chunk, i: usize) {
        if self.columns != other.columns {
            self.adopt_columns(other);
        }
        if self.columns.is_empty() {
            return;
        }
        if self.columns == other.columns {
            self.open_numbers().copy_from_slice(other.numbers(i));
            return;
        }
        for (column, &x) in other.columns.iter().zip(other.numbers(i)) {
            let place = self.columns.iter().position(|c| c.key == column.key);
            if let Some(place) = place {
                self.open_numbers()[place] = x;
            }
        }
    }

    /// Returns the rows with the cells of number columns as ordinary features.
    #[must_use]
    pub fn with_plain_numbers(&self) -> Chunk {
        let mut plain = Chunk::new();
        self.plain_numbers(0..self.len(), &mut plain);
        plain
    }

    /// Replaces the contents of `plain` by some of the rows, whose cells of number columns become ordinary features.
    pub fn plain_numbers(&self, rows: Range<usize>, plain: &mut Chunk) {
        plain.clear();
        // Cells of columns with one id add up in the order of the columns.
        let mut order: Vec<usize> = (0..self.columns.len()).collect();
        order.sort_by_key(|&k| self.columns[k].id);
        let ids: Vec<u32> = order.iter().map(|&k| self.columns[k].id).collect();
        let are_alone = ids.windows(2).all(|pair| pair[0] < pair[1]);
        let (mut cells, mut extra) = (Vec::with_capacity(ids.len()), Vec::new());
        for i in rows {
            let (row, numbers) = (self.row(i), self.numbers(i));
            cells.clear();
            cells.extend(order.iter().map(|&k| numbers[k]));
            // PERF: most tables of numbers have no other features, no two columns of one id and few zeros or missing cells.
            if are_alone && row.is_empty() && are_features(&cells) {
                plain.push_ordered(&ids, &cells, self.label(i), self.weight(i));
            } else {
                extra.clear();
                let given = ids.iter().zip(&cells).filter(|(_, x)| x.is_finite());
                extra.extend(given.map(|(&j, &x)| (j, x)));
                plain.push_merged(row, &extra, self.label(i), self.weight(i));
            }
            if !self.tag(i).is_empty() {
                plain.tag_last(self.tag(i));
            }
            plain.copy_base(self, i);
        }
    }
}

/// Whether no cell is zero, missing or not finite.
fn are_features(cells: &[f64]) -> bool {
    // NaN is neither.
    cells.iter().fold(true, |all, x| all & (x.abs() > 0.0) & (x.abs() <= f64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Repeats;

    /// Cells of every kind, with and without features beside them, columns in and out of order and two of one id.
    #[test]
    fn plain_numbers_are_the_sums_of_cells_and_features() {
        let kinds = [0.0, -0.0, f64::NAN, f64::INFINITY, 1.5, -2.25];
        for ids in [[1, 2, 3], [3, 1, 2], [2, 2, 1]] {
            let mut chunk = Chunk::new();
            let columns: Vec<_> =
                ids.iter().zip(1..).map(|(&id, key)| NumberColumn { key, id }).collect();
            chunk.set_columns(&columns);
            let cases = kinds.iter().flat_map(|a| kinds.iter().map(move |b| [*a, 0.5, *b]));
            for (n, cells) in cases.enumerate() {
                chunk.open_numbers().copy_from_slice(&cells);
                if n % 2 == 1 {
                    chunk.push_feature(2, -0.5);
                }
                chunk.finish_row((n % 3 > 0).then_some(1.0), n as f64, Repeats::Add).unwrap();
                if n % 5 == 0 {
                    chunk.tag_last(b"tag");
                }
            }
            let mut plain = Chunk::new();
            chunk.plain_numbers(7..chunk.len(), &mut plain);
            let all = chunk.with_plain_numbers();
            assert_eq!((all.len(), plain.len()), (chunk.len(), chunk.len() - 7));
            for i in 0..chunk.len() {
                let mut sums = std::collections::BTreeMap::new();
                chunk.row(i).iter().for_each(|(j, v)| *sums.entry(j).or_insert(0.0) += v);
                for (id, x) in ids.iter().zip(chunk.numbers(i)).filter(|(_, x)| x.is_finite()) {
                    *sums.entry(*id).or_insert(0.0) += x;
                }
                let wanted: Vec<_> = sums.into_iter().filter(|(_, v)| *v != 0.0).collect();
                assert_eq!(all.row(i).iter().collect::<Vec<_>>(), wanted, "row {i}");
                assert_eq!((all.label(i), all.weight(i)), (chunk.label(i), chunk.weight(i)));
                assert_eq!(all.tag(i), chunk.tag(i));
                if let Some(k) = i.checked_sub(7) {
                    assert_eq!(plain.row(k), all.row(i));
                    assert_eq!((plain.label(k), plain.tag(k)), (all.label(i), all.tag(i)));
                }
            }
        }
    }

    #[test]
    fn rows_of_tables_with_other_columns_are_matched_by_key() {
        let table = |keys: &[u64], cells: &[f64]| {
            let mut chunk = Chunk::new();
            let columns: Vec<_> =
                keys.iter().map(|&key| NumberColumn { key, id: key as u32 }).collect();
            chunk.set_columns(&columns);
            chunk.open_numbers().copy_from_slice(cells);
            chunk.push_feature(2, 10.0);
            chunk.finish_row(Some(1.0), 1.0, Repeats::Add).unwrap();
            chunk
        };
        let mut all = table(&[1, 2], &[0.5, 1.5]);
        all.copy_row(&table(&[2, 3], &[2.5, 3.5]), 0);
        assert_eq!(all.columns().iter().map(|c| c.key).collect::<Vec<_>>(), [1, 2, 3]);
        assert!(all.numbers(0)[2].is_nan() && all.numbers(1)[0].is_nan());
        let plain = all.with_plain_numbers();
        assert_eq!(plain.row(0).iter().collect::<Vec<_>>(), [(1, 0.5), (2, 11.5)]);
        assert_eq!(plain.row(1).iter().collect::<Vec<_>>(), [(2, 12.5), (3, 3.5)]);
    }
}

//! Margins of rows whose cells are all in number columns.
//!
//! Cells are standardized tile by tile beside the weights of their columns. The bits are those of rows that become features
//! first: the sum of a row takes the columns in the order of their ids, and leaves out cells that are exactly zero.

use super::{ArrayValue, SparseRows, Weights, score, score_dense};
use crate::columns::LIMIT;
use crate::wide::{Work, wide};
use crate::{ColumnMoments, NumberColumn, Precision};

/// Number of rows that are standardized before they are scored: they stay in the nearest cache.
const TILE: usize = 64;

/// The weights, means and deviations of number columns, in the order of their ids.
pub(crate) struct NumberWeights {
    /// The place of each column among the cells of a row; empty if the columns are in order.
    places: Vec<usize>,
    mean: Vec<f64>,
    deviation: Vec<f64>,
    /// The weight of column `k` is that of feature `k + 1`.
    heads: Vec<(f64, Weights)>,
}

impl NumberWeights {
    /// Lays out the weights of columns, whose moments are asked for by place; `None` if two columns share an id, because their cells are then one feature.
    pub(crate) fn new(
        heads: &[(f64, Weights)],
        columns: &[NumberColumn],
        moments: impl Fn(usize) -> ColumnMoments,
        precision: Precision,
    ) -> Option<Self> {
        let mut places: Vec<usize> = (0..columns.len()).collect();
        places.sort_by_key(|&k| columns[k].id);
        if places.windows(2).any(|pair| columns[pair[0]].id == columns[pair[1]].id) {
            return None;
        }
        let moments: Vec<_> = places.iter().map(|&k| moments(k)).collect();
        let ids: Vec<u32> = (1..).take(columns.len()).collect();
        let of_head = |(bias, weights): &(f64, Weights)| {
            let of_columns: Vec<f64> = places.iter().map(|&k| weights.get(columns[k].id)).collect();
            (*bias, Weights::new(&ids, &of_columns, precision))
        };
        let heads = heads.iter().map(of_head).collect();
        if places.is_sorted() {
            places.clear();
        }
        let mean = moments.iter().map(|m| m.mean).collect();
        let deviation = moments.iter().map(ColumnMoments::deviation).collect();
        Some(Self { places, mean, deviation, heads })
    }

    /// Appends the margins of rows, one per head. The cells of a row are one after the other; NaN is a missing cell.
    pub(crate) fn margins<V: ArrayValue>(&self, cells: &[V], margins: &mut Vec<f64>) {
        let width = self.mean.len();
        if width == 0 {
            return;
        }
        let mut tile = Vec::with_capacity(TILE * width);
        for cells in cells.chunks(TILE * width) {
            tile.clear();
            if self.places.is_empty() {
                tile.extend(cells.iter().map(|x| x.wide()));
            } else {
                for row in cells.chunks_exact(width) {
                    tile.extend(self.places.iter().map(|&k| row[k].wide()));
                }
            }
            wide(Standardize { tile: &mut tile, mean: &self.mean, deviation: &self.deviation });
            self.score(&tile, margins);
        }
    }

    /// Appends the margins of standardized rows.
    fn score(&self, mut tile: &[f64], margins: &mut Vec<f64>) {
        let (width, limit) = (self.mean.len(), f64::MAX);
        loop {
            let scored = score_dense(&self.heads, limit, (tile, width), margins);
            tile = &tile[scored * width..];
            let Some(row) = tile.get(..width) else { return };
            // A cell that is missing or exactly the mean is no feature.
            let cells = (1u32..).zip(row).filter(|&(_, u)| *u != 0.0);
            let (indices, values): (Vec<u32>, Vec<f64>) = cells.unzip();
            let starts = [0, indices.len() as u32];
            let columns = width + 1;
            let row = SparseRows { starts: &starts, indices: &indices, values: &values, columns };
            score(&self.heads, limit, &row, margins);
            tile = &tile[width..];
        }
    }
}

/// Scales cells to standard deviations from the means of their columns.
struct Standardize<'a> {
    tile: &'a mut [f64],
    mean: &'a [f64],
    deviation: &'a [f64],
}

impl Work for Standardize<'_> {
    type Output = ();

    /// INVARIANT: the arithmetic of [`ColumnMoments::standardized`], without branches.
    #[inline(always)]
    fn work(self) {
        for row in self.tile.chunks_exact_mut(self.mean.len()) {
            for (cell, (mean, deviation)) in
                row.iter_mut().zip(self.mean.iter().zip(self.deviation))
            {
                let u = (*cell - mean) / deviation;
                let u = if u < -LIMIT { -LIMIT } else { u };
                let u = if u > LIMIT { LIMIT } else { u };
                *cell = if u.is_nan() { 0.0 } else { u };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Chunk, ColumnMoments, Head, NumberColumn, Precision, Repeats, Scorer};

    fn moments(columns: &[NumberColumn]) -> Vec<ColumnMoments> {
        let of = |(k, column): (usize, &NumberColumn)| {
            let mut m =
                ColumnMoments { key: column.key, id: column.id, ..ColumnMoments::default() };
            let spread = if k == 4 { 0.0 } else { 1.0 };
            [1.0, 2.0, 4.0, 9.0]
                .iter()
                .for_each(|x| m.push(3.0 + spread * x * (k + 1) as f64, 1.0));
            m
        };
        columns.iter().enumerate().map(of).collect()
    }

    /// Rows with missing cells, cells at the mean, outliers, and ordinary ones.
    fn rows(columns: &[NumberColumn], moments: &[ColumnMoments]) -> Chunk {
        let mut chunk = Chunk::new();
        chunk.set_columns(columns);
        for i in 0..300u32 {
            for (k, cell) in chunk.open_numbers().iter_mut().enumerate() {
                *cell = match (i * 7 + k as u32 * 3) % 40 {
                    0 => f64::NAN,
                    1 => moments[k].mean,
                    2 => 1e12,
                    n => f64::from(n).sin() * 20.0,
                };
            }
            chunk.finish_row(None, 1.0, Repeats::Refuse).unwrap();
        }
        chunk
    }

    #[test]
    fn rows_of_numbers_have_the_bits_of_rows_of_features() {
        for ids in [[1u32, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11], [9, 2, 31, 4, 25, 6, 7, 18, 1, 10, 3]] {
            let columns = ids.map(|id| NumberColumn { key: u64::from(id), id });
            let moments = moments(&columns);
            let chunk = rows(&columns, &moments);
            let mut used = ids.to_vec();
            used.retain(|id| id % 5 != 0);
            used.sort_unstable();
            for precision in [Precision::F64, Precision::F32] {
                let head = |seed: f64| {
                    let short =
                        |w: f64| if precision == Precision::F32 { f64::from(w as f32) } else { w };
                    let weights =
                        used.iter().map(|&j| short((f64::from(j) * seed).cos())).collect();
                    Head::from_parts(short(seed), used.clone(), weights).unwrap()
                };
                let scorer = Scorer::new(&[head(0.3), head(1.7)], precision).with_columns(&moments);
                let (mut fast, mut plain) = (Vec::new(), Vec::new());
                scorer.margins(&chunk, &mut fast);
                let features = scorer.features(&chunk).into_owned();
                scorer.margins(&features, &mut plain);
                let bits =
                    |margins: &[f64]| margins.iter().map(|p| p.to_bits()).collect::<Vec<_>>();
                assert_eq!(fast.len(), 600);
                assert_eq!(bits(&fast), bits(&plain));
            }
        }
    }

    #[test]
    fn columns_that_share_an_id_are_one_feature() {
        let columns = [NumberColumn { key: 1, id: 5 }, NumberColumn { key: 2, id: 5 }];
        let mut one = ColumnMoments { key: 1, id: 5, ..ColumnMoments::default() };
        [0.0, 2.0].iter().for_each(|&x| one.push(x, 1.0));
        let two = ColumnMoments { key: 2, ..one };
        let head = Head::from_parts(0.0, vec![5], vec![1.0]).unwrap();
        let scorer = Scorer::new(&[head], Precision::F64).with_columns(&[one, two]);
        let mut chunk = Chunk::new();
        chunk.set_columns(&columns);
        chunk.open_numbers().copy_from_slice(&[3.0, 2.0]);
        chunk.finish_row(None, 1.0, Repeats::Refuse).unwrap();
        let mut margins = Vec::new();
        scorer.margins(&chunk, &mut margins);
        assert_eq!(margins, [3.0]);
    }
}

use super::*;
use crate::Repeats;

/// Pseudorandom numbers.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        (self.0 >> 33) % sides
    }
}

const COLUMNS: usize = 300;

/// Heads whose weights end before the columns do.
fn heads(precision: Precision, has_array: bool) -> Vec<(f64, Weights)> {
    let head = |k: u32| {
        let ids: Vec<u32> = (1..250).filter(|j| !(j + k).is_multiple_of(3)).collect();
        let weights: Vec<f64> = ids.iter().map(|&j| f64::from(j * (k + 1)).sin()).collect();
        match has_array {
            true => Weights::new(&ids, &weights, precision),
            false => Weights::map(&ids, &weights, precision),
        }
    };
    (0..2).map(|k| (0.3 + f64::from(k), head(k))).collect()
}

/// Rows of every length up to 40, some of them empty.
fn matrix() -> (Vec<i32>, Vec<i32>, Vec<f64>) {
    let mut dice = Dice(7);
    let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for i in 0..200 {
        let mut row: Vec<i32> = (0..i % 41).map(|_| dice.roll(COLUMNS as u64) as i32).collect();
        row.sort_unstable();
        row.dedup();
        values.extend(row.iter().map(|_| dice.roll(1000) as f64 / 300.0 + 0.1));
        indices.extend(row);
        starts.push(indices.len() as i32);
    }
    (starts, indices, values)
}

fn bits(margins: &[f64]) -> Vec<u64> {
    margins.iter().map(|m| m.to_bits()).collect()
}

/// All ways to score the rows of a matrix: how many rows, and their margins.
fn scored<I: ArrayIndex, V: ArrayValue>(
    rows: &SparseRows<'_, I, V>,
    heads: &[(f64, Weights)],
    limit: f64,
) -> (usize, Vec<u64>) {
    let (mut fast, mut safe) = (Vec::new(), Vec::new());
    let count = score(heads, limit, rows, &mut fast);
    assert_eq!(plain(heads, limit, rows, &mut safe), count);
    assert_eq!(bits(&fast), bits(&safe));
    (count, bits(&fast))
}

#[test]
fn chunks_and_arrays_of_any_type_give_the_same_bits() {
    let (starts, indices, values) = matrix();
    let mut chunk = Chunk::new();
    for pair in starts.windows(2) {
        for k in pair[0] as usize..pair[1] as usize {
            chunk.push_feature(indices[k] as u32 + 1, f64::from(values[k] as f32));
        }
        chunk.finish_row(None, 1.0, Repeats::Refuse).unwrap();
    }
    let long = |items: &[i32]| items.iter().map(|&j| i64::from(j)).collect::<Vec<_>>();
    let (long_starts, long_indices) = (long(&starts), long(&indices));
    let short: Vec<f32> = values.iter().map(|&v| v as f32).collect();
    let rounded: Vec<f64> = short.iter().map(|&v| f64::from(v)).collect();
    for precision in [Precision::F64, Precision::F32] {
        let limit = precision.max_value();
        let mut all = Vec::new();
        for has_array in [true, false] {
            let heads = &heads(precision, has_array);
            let (mut fast, mut safe) = (Vec::new(), Vec::new());
            assert_eq!(score(heads, limit, &chunk, &mut fast), 200);
            assert_eq!(plain(heads, limit, &chunk, &mut safe), 200);
            all.extend([(200, bits(&fast)), (200, bits(&safe))]);
            let (starts, indices, columns) = (&starts[..], &indices[..], COLUMNS);
            let values = &rounded[..];
            all.push(scored(&SparseRows { starts, indices, values, columns }, heads, limit));
            let values = &short[..];
            all.push(scored(&SparseRows { starts, indices, values, columns }, heads, limit));
            let (starts, indices) = (&long_starts[..], &long_indices[..]);
            all.push(scored(&SparseRows { starts, indices, values, columns }, heads, limit));
        }
        assert!(all.iter().all(|one| *one == all[0]), "{precision}");
    }
}

#[test]
fn scoring_ends_before_a_row_that_is_not_in_order() {
    let (starts, indices, values) = matrix();
    let (starts, columns) = (&starts[..], COLUMNS);
    // The first and the last entry of a row of 37, and one of a short row, which has no block of eight.
    let row = starts.windows(2).rposition(|p| p[1] - p[0] >= 35).unwrap();
    let (first, last) = (starts[row] as usize, starts[row + 1] as usize - 1);
    for precision in [Precision::F64, Precision::F32] {
        let (heads, limit) = (&heads(precision, true), precision.max_value());
        for k in [first, first + 9, last, starts[3] as usize - 1] {
            let is_in = starts.partition_point(|&start| start as usize <= k) - 1;
            for bad in [0.0, -0.0, f64::NAN, f64::INFINITY, -limit * 1.0001] {
                let mut values = values.clone();
                values[k] = bad;
                let (indices, short) = (&indices[..], values.iter().map(|&v| v as f32));
                let short: Vec<f32> = short.collect();
                let rows = SparseRows { starts, indices, values: &values[..], columns };
                assert_eq!(scored(&rows, heads, limit).0, is_in, "{bad} at {k}");
                let rows = SparseRows { starts, indices, values: &short[..], columns };
                assert_eq!(scored(&rows, heads, limit).0, is_in, "{bad} at {k}");
            }
            for bad in [-1, i32::MIN, i32::MAX, COLUMNS as i32] {
                let mut indices = indices.clone();
                indices[k] = bad;
                let rows = SparseRows { starts, indices: &indices, values: &values[..], columns };
                assert_eq!(scored(&rows, heads, limit).0, is_in, "{bad} at {k}");
            }
        }
        // Twice the same, and the other way round.
        for k in [first + 1, first + 9, last] {
            let mut repeated = indices.clone();
            repeated[k] = repeated[k - 1];
            let rows = SparseRows { starts, indices: &repeated, values: &values[..], columns };
            assert_eq!(scored(&rows, heads, limit).0, row);
            let mut turned = indices.clone();
            turned.swap(k, k - 1);
            let rows = SparseRows { starts, indices: &turned, values: &values[..], columns };
            assert_eq!(scored(&rows, heads, limit).0, row);
        }
    }
}

#[test]
fn dense_rows_are_scored_as_their_features() {
    for columns in [1, 7, 8, 40, 300] {
        let cells: Vec<f32> = (0..columns * 5).map(|k| (k as f32 * 0.37).sin() + 1.5).collect();
        let wide: Vec<f64> = cells.iter().map(|&v| f64::from(v)).collect();
        let starts: Vec<i32> = (0..=5).map(|i| (i * columns) as i32).collect();
        let indices: Vec<i32> = (0..5).flat_map(|_| 0..columns as i32).collect();
        let (starts, indices) = (&starts[..], &indices[..]);
        for (precision, has_array) in
            [(Precision::F64, true), (Precision::F32, true), (Precision::F32, false)]
        {
            let (heads, limit) = (&heads(precision, has_array), precision.max_value());
            let rows = SparseRows { starts, indices, values: &cells[..], columns };
            let wanted = scored(&rows, heads, limit);
            assert_eq!(wanted.0, 5);
            let mut ways = [Vec::new(), Vec::new(), Vec::new()];
            score_dense(heads, limit, (&cells, columns), &mut ways[0]);
            score_dense(heads, limit, (&wide, columns), &mut ways[1]);
            plain_dense(heads, limit, (&wide, columns), &mut ways[2]);
            assert!(ways.iter().all(|way| bits(way) == wanted.1), "{columns} {precision}");
            for bad in [0.0, f64::NAN, f64::NEG_INFINITY, limit * 1.0001] {
                for k in [3 * columns, 4 * columns - 1] {
                    let mut wide = wide.clone();
                    wide[k] = bad;
                    let (mut fast, mut safe) = (Vec::new(), Vec::new());
                    assert_eq!(score_dense(heads, limit, (&wide, columns), &mut fast), 3);
                    assert_eq!(plain_dense(heads, limit, (&wide, columns), &mut safe), 3);
                    assert_eq!(bits(&fast), bits(&safe));
                }
            }
        }
    }
}

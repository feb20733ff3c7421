//! Rows in the plane: their two principal components, the flat picture that loses the least of the distances between rows.

use parsimon::rows::Chunk;
use rand::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

/// More than a picture needs: after `k` rounds a direction is off by the `k`-th power of the ratio of two variances.
const ROUNDS: usize = 60;

/// A point for every row; features are counted from 1 to `dimension`.
pub(super) fn embed(rows: &Chunk, dimension: usize) -> Result<Vec<(f32, f32)>, String> {
    if rows.len() < 3 {
        return Err(format!("a picture of rows needs 3 rows at least, got {}", rows.len()));
    }
    let centered = centered(rows, dimension);
    // Any start that is not orthogonal to both components will do; a constant seed keeps the picture the same.
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut normal = || StandardNormal.sample(&mut random);
    let mut axes: [Vec<f64>; 2] =
        std::array::from_fn(|_| (0..dimension).map(|_| normal()).collect());
    for _ in 0..ROUNDS {
        let mut next = [vec![0.0; dimension], vec![0.0; dimension]];
        for row in &centered {
            for (axis, next) in axes.iter().zip(&mut next) {
                let along = dot(row, axis);
                next.iter_mut().zip(row).for_each(|(n, x)| *n += along * x);
            }
        }
        axes = next;
        orthonormalize(&mut axes);
    }
    let point = |row: &Vec<f64>| (dot(row, &axes[0]) as f32, dot(row, &axes[1]) as f32);
    Ok(centered.iter().map(point).collect())
}

/// Dense rows without their mean.
fn centered(rows: &Chunk, dimension: usize) -> Vec<Vec<f64>> {
    let mut dense: Vec<Vec<f64>> = (0..rows.len()).map(|i| dense(rows, i, dimension)).collect();
    for j in 0..dimension {
        let mean = dense.iter().map(|x| x[j]).sum::<f64>() / dense.len() as f64;
        dense.iter_mut().for_each(|x| x[j] -= mean);
    }
    dense
}

fn dense(rows: &Chunk, i: usize, dimension: usize) -> Vec<f64> {
    let mut x = vec![0.0; dimension];
    let row = rows.row(i);
    for (&j, &v) in row.indices().iter().zip(row.values()) {
        if let Some(place) = (j as usize).checked_sub(1).and_then(|j| x.get_mut(j)) {
            *place = v;
        }
    }
    x
}

/// The second axis loses its part along the first. An axis without length, where all rows are alike, stays zero.
fn orthonormalize([first, second]: &mut [Vec<f64>; 2]) {
    normalize(first);
    let along = dot(first, second);
    second.iter_mut().zip(&*first).for_each(|(s, f)| *s -= along * f);
    normalize(second);
}

fn normalize(axis: &mut [f64]) {
    let length = dot(axis, axis).sqrt();
    if length > 0.0 {
        axis.iter_mut().for_each(|x| *x /= length);
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use parsimon::rows::Repeats;

    use super::*;

    /// Two heaps far apart in twenty dimensions.
    fn heaps() -> Chunk {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut chunk = Chunk::new();
        for i in 0..60 {
            for j in 1..=20 {
                let noise: f64 = StandardNormal.sample(&mut random);
                chunk.push_feature(j, noise + if i % 2 == 0 { 8.0 } else { 0.0 });
            }
            chunk.finish_row(Some(f64::from(i % 2)), 1.0, Repeats::Refuse).unwrap();
        }
        chunk
    }

    #[test]
    fn neighbors_stay_neighbors() {
        let rows = heaps();
        let points = embed(&rows, 20).unwrap();
        let far = |a: (f32, f32), b: (f32, f32)| (a.0 - b.0).hypot(a.1 - b.1);
        for (i, &point) in points.iter().enumerate() {
            let others = points.iter().enumerate().filter(|(k, _)| *k != i);
            let nearest = others.min_by(|a, b| far(point, *a.1).total_cmp(&far(point, *b.1)));
            assert_eq!(nearest.unwrap().0 % 2, i % 2, "row {i}");
        }
        assert!(embed(&Chunk::new(), 20).is_err());
    }

    #[test]
    fn the_components_are_those_of_the_variance() {
        // A cross: variance 18 along the second feature, 2 along the third, none along the first.
        let mut chunk = Chunk::new();
        for (a, b) in [(6.0, 0.0), (-6.0, 0.0), (0.0, 2.0), (0.0, -2.0)] {
            [5.0, 1.0 + a, b].iter().zip(1..).for_each(|(&v, j)| chunk.push_feature(j, v));
            chunk.finish_row(Some(1.0), 1.0, Repeats::Refuse).unwrap();
        }
        let points = embed(&chunk, 3).unwrap();
        for (point, expected) in points.iter().zip([(6.0, 0.0), (6.0, 0.0), (0.0, 2.0), (0.0, 2.0)])
        {
            assert!((point.0.abs() - expected.0).abs() < 1e-5, "{points:?}");
            assert!((point.1.abs() - expected.1).abs() < 1e-5, "{points:?}");
        }
        assert!(points[0].0 * points[1].0 < 0.0 && points[2].1 * points[3].1 < 0.0);
    }

    #[test]
    fn rows_that_are_alike_are_one_point() {
        let mut chunk = Chunk::new();
        for _ in 0..4 {
            chunk.push_feature(1, 2.0);
            chunk.finish_row(Some(1.0), 1.0, Repeats::Refuse).unwrap();
        }
        assert_eq!(embed(&chunk, 2).unwrap(), [(0.0, 0.0); 4]);
    }
}

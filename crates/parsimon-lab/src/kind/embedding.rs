//! Rows in the plane, near ones near each other: t-SNE.
//!
//! The library sums in any order its threads like, and starts anywhere. Here it has one thread and a start that is drawn from the seed: the same picture
//! for the same seed, whatever the machine has to do besides.

use bhtsne::tSNE;
use parsimon::core::Chunk;
use rand::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

const PERPLEXITY: f32 = 30.0;
const EPOCHS: usize = 1000;
/// How roughly far points are taken together.
const THETA: f32 = 0.5;

/// A point for every row; features are counted from 1 to `dimension`.
pub(super) fn embed(rows: &Chunk, dimension: usize, seed: u64) -> Result<Vec<(f32, f32)>, String> {
    // The library wants three neighbors for every unit of perplexity.
    let perplexity = PERPLEXITY.min((rows.len().saturating_sub(2) / 3) as f32);
    if perplexity < 1.0 {
        return Err(format!("an embedding needs 5 rows at least, got {}", rows.len()));
    }
    let dense: Vec<Vec<f32>> = (0..rows.len()).map(|i| dense(rows, i, dimension)).collect();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut normal = || -> f32 { StandardNormal.sample(&mut random) };
    let start: Vec<f32> = (0..2 * rows.len()).map(|_| 1e-4 * normal()).collect();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().map_err(|e| e.to_string())?;
    let points = pool.install(|| {
        let mut tsne = tSNE::<f32, Vec<f32>, 2>::new(&dense);
        tsne.perplexity(perplexity).epochs(EPOCHS).initial_embedding(start);
        tsne.barnes_hut(THETA, |a, b| distance(a, b)).embedding()
    });
    Ok(points.chunks_exact(2).map(|p| (p[0], p[1])).collect())
}

fn dense(rows: &Chunk, i: usize, dimension: usize) -> Vec<f32> {
    let mut x = vec![0.0; dimension];
    let row = rows.row(i);
    for (&j, &v) in row.indices().iter().zip(row.values()) {
        if let Some(place) = (j as usize).checked_sub(1).and_then(|j| x.get_mut(j)) {
            *place = v as f32;
        }
    }
    x
}

fn distance(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f32>().sqrt()
}

#[cfg(test)]
mod tests {
    use parsimon::core::Repeats;

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
    fn the_seed_alone_decides_and_neighbors_stay_neighbors() {
        let rows = heaps();
        let points = embed(&rows, 20, 5).unwrap();
        assert_eq!(points, embed(&rows, 20, 5).unwrap());
        assert_ne!(points, embed(&rows, 20, 6).unwrap());
        let far = |a: (f32, f32), b: (f32, f32)| (a.0 - b.0).hypot(a.1 - b.1);
        for (i, &point) in points.iter().enumerate() {
            let others = points.iter().enumerate().filter(|(k, _)| *k != i);
            let nearest = others.min_by(|a, b| far(point, *a.1).total_cmp(&far(point, *b.1)));
            assert_eq!(nearest.unwrap().0 % 2, i % 2, "row {i}");
        }
        assert!(embed(&Chunk::new(), 20, 5).is_err());
    }
}

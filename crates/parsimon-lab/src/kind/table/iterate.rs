//! The iterate `x^t` of Algorithms 1 and 3 of the lazy thesis, as they define it: the point played in round `t`, before the penalty that is still due.
//!
//! The thesis charges every round with `log(1 + exp(-b <a, x^t>)) + lambda |x^t|` and counts the nonzeros of `x^t`. Both are kept while coordinates change, in
//! `O(nnz)` per round: magnitudes are summed as integers, so that additions and subtractions leave no rounding error. A whole sweep happens once in
//! `K` rounds. There is no bias.

use parsimon::rows::Row;
use parsimon::settings::Loss;
use parsimon_core::soft;

/// Parts of one in the integer sum: finer than the last place of any weight above `2^-11`.
const SCALE: f64 = (1u64 << 63) as f64;

/// The kind of iterate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Algorithm {
    /// Algorithm 1: the penalty of `K` rounds at their end.
    Blockwise,
    /// Algorithm 3: a coordinate pays its debt when it has a gradient, and all coordinates pay every `K` rounds.
    Sparse,
}

/// The iterate and its running sums.
pub(super) struct Iterate {
    algorithm: Algorithm,
    loss: Loss,
    rate: f64,
    l1: f64,
    period: u64,
    t: u64,
    w: Vec<f64>,
    /// `Gamma^t`: the sum of the steps of all rounds.
    gamma: f64,
    /// `Gamma^t` at the last full sweep.
    swept: f64,
    /// `z_i`: the sum of the steps that coordinate `i` has paid for.
    paid: Vec<f64>,
    norm: i128,
    nonzeros: usize,
}

impl Iterate {
    pub(super) fn new(
        algorithm: Algorithm,
        loss: Loss,
        rate: f64,
        l1: f64,
        period: u64,
        features: usize,
    ) -> Self {
        Self {
            algorithm,
            loss,
            rate,
            l1,
            period: period.max(1),
            t: 0,
            w: vec![0.0; features + 1],
            gamma: 0.0,
            swept: 0.0,
            paid: vec![0.0; features + 1],
            norm: 0,
            nonzeros: 0,
        }
    }

    /// `|x^t|_1`.
    pub(super) fn norm(&self) -> f64 {
        self.norm as f64 / SCALE
    }

    /// Number of nonzero coordinates of `x^t`.
    pub(super) fn nonzeros(&self) -> usize {
        self.nonzeros
    }

    /// `<a, x^t>`.
    pub(super) fn margin(&self, row: &Row<'_>) -> f64 {
        row.indices().iter().zip(row.values()).map(|(j, v)| self.w[*j as usize] * v).sum()
    }

    fn put(&mut self, j: usize, w: f64) {
        let of = |w: f64| (w.abs() * SCALE) as i128;
        self.norm += of(w) - of(self.w[j]);
        self.nonzeros = self.nonzeros + usize::from(w != 0.0) - usize::from(self.w[j] != 0.0);
        self.w[j] = w;
    }

    /// From `x^t` to `x^{t+1}`.
    pub(super) fn learn(&mut self, row: &Row<'_>, y: f64) {
        self.t += 1;
        let eta = self.rate / (self.t as f64).sqrt();
        let slope = self.loss.slope(self.margin(row), y);
        for (&j, &v) in row.indices().iter().zip(row.values()) {
            let (j, g) = (j as usize, slope * v);
            if g == 0.0 {
                continue;
            }
            let stepped = self.w[j] - eta * g;
            match self.algorithm {
                Algorithm::Blockwise => self.put(j, stepped),
                Algorithm::Sparse => {
                    let owed = self.gamma - self.paid[j].max(self.swept);
                    self.put(j, soft(soft(stepped, self.l1 * eta), self.l1 * owed));
                    self.paid[j] = self.gamma + eta;
                }
            }
        }
        self.gamma += eta;
        if self.t.is_multiple_of(self.period) {
            for j in 0..self.w.len() {
                if self.w[j] != 0.0 {
                    let owed = match self.algorithm {
                        Algorithm::Blockwise => self.gamma - self.swept,
                        Algorithm::Sparse => self.gamma - self.paid[j].max(self.swept),
                    };
                    let w = soft(self.w[j], self.l1 * owed);
                    self.put(j, w);
                }
            }
            self.swept = self.gamma;
        }
    }
}

#[cfg(test)]
mod tests {
    use parsimon::rows::{Chunk, Repeats};
    use parsimon::survey::Found;
    use parsimon::{LearnerOptions, Spec};
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    const N: usize = 30;

    fn rows(count: usize) -> Chunk {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(9);
        let mut chunk = Chunk::new();
        for _ in 0..count {
            for _ in 0..4 {
                let j = random.random_range(1..=N as u32);
                chunk.push_feature(j, random.random_range(-1.0..1.0));
            }
            let label = if random.random() { 1.0 } else { -1.0 };
            chunk.finish_row(Some(label), 1.0, Repeats::Add).unwrap();
        }
        chunk
    }

    /// The algorithms as the thesis writes them, every coordinate in every round, `Gamma` and `z` included. Step 3 of Algorithm 3 uses what Step 2 has
    /// just made, and does not change signs.
    fn dense(
        algorithm: Algorithm,
        rows: &Chunk,
        rate: f64,
        l1: f64,
        period: usize,
    ) -> Vec<Vec<f64>> {
        let (mut x, mut z, mut gamma) = (vec![0.0; N + 1], vec![0.0; N + 1], 0.0);
        let mut all = Vec::new();
        for t in 1..=rows.len() {
            all.push(x.clone());
            let (row, y) = (rows.row(t - 1), rows.label(t - 1).unwrap());
            let mut a = vec![0.0; N + 1];
            row.indices().iter().zip(row.values()).for_each(|(j, v)| a[*j as usize] += v);
            let p: f64 = a.iter().zip(&x).map(|(a, x)| a * x).sum();
            let slope = -y / (1.0 + (y * p).exp());
            let eta = rate / (t as f64).sqrt();
            for i in 0..=N {
                let g = slope * a[i];
                if algorithm == Algorithm::Blockwise {
                    x[i] -= eta * g;
                } else if g != 0.0 {
                    x[i] = soft(soft(x[i] - eta * g, l1 * eta), l1 * (gamma - z[i]));
                    z[i] = gamma + eta;
                }
            }
            gamma += eta;
            if t % period == 0 {
                for i in 0..=N {
                    let owed: f64 = match algorithm {
                        Algorithm::Blockwise => {
                            (t - period + 1..=t).map(|s| rate / (s as f64).sqrt()).sum()
                        }
                        Algorithm::Sparse => gamma - z[i],
                    };
                    x[i] = soft(x[i], l1 * owed);
                    z[i] = gamma;
                }
            }
        }
        all
    }

    #[test]
    fn the_iterate_and_its_sums_are_those_of_the_dense_twin() {
        let rows = rows(400);
        for algorithm in [Algorithm::Blockwise, Algorithm::Sparse] {
            for (rate, l1, period) in [(0.5, 0.02, 50), (0.05, 0.3, 7), (2.0, 0.001, 400)] {
                let twin = dense(algorithm, &rows, rate, l1, period as usize);
                let mut iterate = Iterate::new(algorithm, Loss::Logistic, rate, l1, period, N);
                for (t, x) in twin.iter().enumerate() {
                    let norm: f64 = x.iter().map(|x| x.abs()).sum();
                    assert!(
                        (iterate.norm() - norm).abs() < 1e-12 * (1.0 + norm),
                        "{algorithm:?} {t}"
                    );
                    let zeros = |w: &[f64]| w.iter().filter(|w| **w == 0.0).count();
                    assert_eq!(N + 1 - iterate.nonzeros(), zeros(&iterate.w));
                    for (a, b) in iterate.w.iter().zip(x) {
                        assert!((a - b).abs() < 1e-12, "{algorithm:?} {t}: {a} {b}");
                    }
                    iterate.learn(&rows.row(t), rows.label(t).unwrap());
                }
            }
        }
    }

    /// What plays a round is what the library's learner of that name plays.
    #[test]
    fn the_library_plays_the_same_points() {
        let rows = rows(400);
        for (algorithm, name) in
            [(Algorithm::Blockwise, "lazy-fobos"), (Algorithm::Sparse, "lazy-sparse")]
        {
            let spec = Spec::new(name).set("rate", 0.5).set("l1", 0.02).set("period", 50);
            let frame = LearnerOptions { bias: false, ..LearnerOptions::default() };
            let mut online =
                spec.for_signals().resolve().unwrap().build(frame, &Found::default()).unwrap();
            let mut margins = Vec::new();
            online.learn(&rows, &mut margins);
            let mut iterate = Iterate::new(algorithm, Loss::Logistic, 0.5, 0.02, 50, N);
            for (i, p) in margins.iter().enumerate() {
                assert!((iterate.margin(&rows.row(i)) - p).abs() < 1e-9, "{name} {i}");
                iterate.learn(&rows.row(i), rows.label(i).unwrap());
            }
        }
    }
}

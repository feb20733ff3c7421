//! PDA by the steps that section 3.5 of the thesis counts, in plain loops.
//!
//! Errors `X^T w - y`, normalization `X^T Q^-1 X`, the update of `w`, the proximity operator, the metric. A division counts as a multiplication.

use parsimon_core::Float;

use super::counted::Counted;

/// Parts that are counted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Steps {
    /// Whether the metric is (3.5), or the identity.
    pub(super) metric: bool,
    /// Whether the operations of the inverse of the `r x r` matrix are counted, which the thesis leaves out.
    pub(super) inverse: bool,
}

/// The state of the twin.
pub(super) struct Twin {
    pub(super) w: Vec<Counted>,
    s: Vec<Counted>,
    rate: Counted,
    l1: Counted,
    delta: Counted,
    alpha: Counted,
    epsilon: Counted,
}

impl Twin {
    pub(super) fn new(n: usize, rate: f64, l1: f64, delta: f64, alpha: f64, epsilon: f64) -> Self {
        let [rate, l1, delta, alpha, epsilon] = [rate, l1, delta, alpha, epsilon].map(Counted);
        let zero = vec![Counted(0.0); n];
        Self { w: zero.clone(), s: zero, rate, l1, delta, alpha, epsilon }
    }

    /// A round with the last rows `x` and their targets. Returns the products of the step of inversion apart.
    pub(super) fn step(&mut self, x: &[Vec<Counted>], y: &[Counted], has_metric: bool) -> u64 {
        let (n, r) = (self.w.len(), x.len());
        // (3.5): q = alpha + n (1 - alpha)/S / (|w| + epsilon).
        let q: Vec<Counted> = if has_metric {
            let inverse: Vec<Counted> =
                self.w.iter().map(|w| Counted::ONE / (w.abs() + self.epsilon)).collect();
            let sum = inverse.iter().fold(Counted::ZERO, |s, v| s + *v);
            let scale = Counted(n as f64) * (Counted::ONE - self.alpha) / sum;
            inverse.iter().map(|v| self.alpha + scale * *v).collect()
        } else {
            Vec::new()
        };
        // Q^-1 X.
        let gained: Vec<Vec<Counted>> = match has_metric {
            true => x.iter().map(|x| x.iter().zip(&q).map(|(x, q)| *x / *q).collect()).collect(),
            false => x.to_vec(),
        };
        // X^T Q^-1 X + delta I, every entry.
        let mut gram = vec![vec![Counted::ZERO; r]; r];
        for i in 0..r {
            for j in 0..r {
                gram[i][j] = dot(&x[i], &gained[j]);
            }
            gram[i][i] += self.delta;
        }
        let errors: Vec<Counted> = (0..r).map(|i| dot(&x[i], &self.w) - y[i]).collect();
        let mut inverse = Vec::new();
        let apart = super::counted::products_of(|| inverse = inverted(&gram));
        let a: Vec<Counted> = inverse.iter().map(|row| dot(row, &errors)).collect();
        for (gained, a) in gained.iter().zip(&a) {
            self.s.iter_mut().zip(gained).for_each(|(s, x)| *s += *a * *x);
        }
        // (3.7): w = soft(-eta s, q lambda eta). With the identity the threshold is one number.
        let threshold = self.l1 * self.rate;
        for (i, (w, s)) in self.w.iter_mut().zip(&self.s).enumerate() {
            let level = if has_metric { q[i] * threshold } else { threshold };
            let v = -(self.rate * *s);
            *w = (v.abs() - level).max(Counted::ZERO).copysign(v);
        }
        apart
    }
}

fn dot(a: &[Counted], b: &[Counted]) -> Counted {
    a.iter().zip(b).fold(Counted::ZERO, |sum, (a, b)| sum + *a * *b)
}

/// By Gauss and Jordan.
fn inverted(matrix: &[Vec<Counted>]) -> Vec<Vec<Counted>> {
    let r = matrix.len();
    let mut left = matrix.to_vec();
    let mut right: Vec<Vec<Counted>> =
        (0..r).map(|i| (0..r).map(|j| Counted(f64::from(u8::from(i == j)))).collect()).collect();
    for k in 0..r {
        let pivot = left[k][k];
        for j in 0..r {
            left[k][j] = left[k][j] / pivot;
            right[k][j] = right[k][j] / pivot;
        }
        for i in (0..r).filter(|i| *i != k) {
            let factor = left[i][k];
            for j in 0..r {
                let (l, r) = (factor * left[k][j], factor * right[k][j]);
                left[i][j] -= l;
                right[i][j] -= r;
            }
        }
    }
    right
}

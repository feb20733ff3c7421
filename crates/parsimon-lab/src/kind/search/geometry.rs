//! The statements of the PDA thesis on projections and on the proximal step in the metric.

use rand::RngExt;

use super::{Case, Order, Statement};
use crate::kind::hindsight::dot;
use parsimon_core::soft;

pub(super) const STATEMENTS: &[Statement] = &[
    Statement {
        name: "pda-thesis/nonexpansive-projection",
        says: "|P(w) - P(z)|_Q <= |w - z|_Q for hyperplanes (2.10) and half-spaces (3.9), in the metric (3.5)",
        excess: |case, c| Pair::of(case).expands(false, c),
    },
    Statement {
        name: "pda-thesis/nonexpansive-gradient",
        says: "the gradient w - P(w) of (2.7) is nonexpansive, too",
        excess: |case, c| Pair::of(case).expands(true, c),
    },
    Statement {
        name: "pda-thesis/2.9",
        says: "g = 0 if and only if w is in C",
        excess: |case, _| Pair::of(case).zero_gradient(),
    },
    Statement {
        name: "pda-thesis/3.7",
        says: "sgn(w) (|w| - q lambda eta)+ minimizes eta sum lambda q^2 |z| + |z - w|_Q^2/2",
        excess: |case, _| prox(case),
    },
    Statement {
        name: "pda-thesis/figure-3.2",
        says: "where neither becomes zero, sum |w| takes more from a large component than from a small one, sum q^2 |w| less",
        excess: |case, _| balls(case),
    },
];

/// Two points, a set and a metric.
struct Pair {
    w: Vec<f64>,
    z: Vec<f64>,
    x: Vec<f64>,
    y: f64,
    is_half_space: bool,
    q: Vec<f64>,
}

/// (3.5), with the two ends of alpha by the step.
fn metric(case: &Case, w: &[f64]) -> Vec<f64> {
    let alpha = case.step(1e-3, 1.0);
    let inverse: Vec<f64> = w.iter().map(|w| 1.0 / (w.abs() + 1e-2)).collect();
    let sum: f64 = inverse.iter().sum();
    let share = w.len() as f64 * (1.0 - alpha) / sum;
    inverse.iter().map(|v| alpha + share * v).collect()
}

impl Pair {
    fn of(case: &Case) -> Self {
        let mut random = case.random();
        let mut vector = |length| Case::vector(&mut random, case.n(), length);
        let (w, z, x) = (vector(case.length()), vector(case.length()), vector(1.0 + case.noise()));
        let is_half_space = matches!(case.order(), Order::Drawn | Order::Sorted);
        let target = case.length() * (random.random::<f64>() - 0.5);
        let y = if is_half_space { target.signum() } else { target };
        let q = metric(case, &w);
        Self { w, z, x, y, is_half_space, q }
    }

    /// (2.10) and (3.9), with the index and the sign that (3.10) misprints.
    fn project(&self, w: &[f64]) -> Vec<f64> {
        let size: f64 = self.x.iter().zip(&self.q).map(|(x, q)| x * x / q).sum();
        let by = match self.is_half_space {
            true => self.y * (1.0 - self.y * dot(w, &self.x)).max(0.0) / size,
            false => (self.y - dot(w, &self.x)) / size,
        };
        w.iter().zip(&self.x).zip(&self.q).map(|((w, x), q)| w + by * x / q).collect()
    }

    fn norm(&self, v: &[f64]) -> f64 {
        v.iter().zip(&self.q).map(|(v, q)| q * v * v).sum::<f64>().sqrt()
    }

    fn expands(&self, is_gradient: bool, constant: f64) -> f64 {
        let of = |w: &[f64]| -> Vec<f64> {
            let p = self.project(w);
            if is_gradient { minus(w, &p) } else { p }
        };
        let left = self.norm(&minus(&of(&self.w), &of(&self.z)));
        let right = constant * self.norm(&minus(&self.w, &self.z));
        // Points that coincide differ by rounding only.
        let rounding = 1e-6 * (self.norm(&self.w) + self.norm(&self.z));
        (left - right) / (left + right + rounding)
    }

    /// A point of the set has no gradient, and a point outside has one.
    fn zero_gradient(&self) -> f64 {
        let inside = self.project(&self.w);
        let size = self.norm(&self.w) + self.norm(&inside);
        let of_inside = self.norm(&minus(&inside, &self.project(&inside))) / size;
        let margin = dot(&self.w, &self.x);
        let distance = if self.is_half_space {
            (1.0 - self.y * margin).max(0.0)
        } else {
            (self.y - margin).abs()
        };
        let moved = self.norm(&minus(&self.w, &inside)) / size;
        let is_same = (distance > 1e-9) == (moved > 1e-12);
        if is_same { of_inside } else { 1.0 }
    }
}

fn minus(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

/// No point nearby or far has a smaller objective than the closed form.
fn prox(case: &Case) -> f64 {
    let mut random = case.random();
    let w = Case::vector(&mut random, case.n(), case.length());
    let (q, strength) = (metric(case, &w), [0.01, 0.5, 10.0][case.third()]);
    let objective = |z: &[f64]| -> f64 {
        let term =
            |j: usize| strength * q[j] * q[j] * z[j].abs() + 0.5 * q[j] * (z[j] - w[j]).powi(2);
        (0..z.len()).map(term).sum()
    };
    let closed: Vec<f64> = w.iter().zip(&q).map(|(w, q)| soft(*w, q * strength)).collect();
    let least = objective(&closed);
    let mut worst = f64::NEG_INFINITY;
    for k in 0..40 {
        let far = case.length() * 2f64.powi(-k / 2);
        let z: Vec<f64> = closed.iter().map(|v| v + far * (random.random::<f64>() - 0.5)).collect();
        let other = objective(&z);
        worst = worst.max((least - other) / (least + other).max(1e-300));
    }
    worst
}

/// The amounts that the steps take from two components, by (3.7) and its analogues for the other norms: `lambda eta q^(k-1)`.
fn balls(case: &Case) -> f64 {
    let mut random = case.random();
    let small = case.length() * random.random_range(0.01..0.5);
    let large = small * random.random_range(1.5..10.0);
    let q = metric(case, &[large, small]);
    let takes = |k: i32, j: usize| q[j].powi(k - 1);
    let gap = |less: f64, more: f64| (less - more) / (less + more);
    gap(takes(0, 1), takes(0, 0)).max(gap(takes(2, 0), takes(2, 1)))
}

//! The best fixed weights in hindsight, with a certificate: proximal Newton steps until the duality gap is negligible.
//!
//! Minimizes `P(w) = sum_i f(x_i.w, y_i) + t psi(w)`. The gap is between `P` and a point of the dual, so it bounds how far `P(w)` is from the minimum,
//! for any solver. For small dimensions: a step computes the whole matrix of second derivatives.

use parsimon::settings::Loss;
use parsimon_core::rule::dense::threshold;
use parsimon_core::soft;

const MOST_STEPS: usize = 60;
const MOST_INNER: usize = 20_000;
/// The gap at which to stop, relative to the minimum.
const GAP: f64 = 1e-12;

/// Dense rows, one after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct DenseRows {
    pub(super) n: usize,
    pub(super) x: Vec<f64>,
    pub(super) y: Vec<f64>,
}

impl DenseRows {
    pub(super) fn row(&self, i: usize) -> &[f64] {
        &self.x[i * self.n..(i + 1) * self.n]
    }

    pub(super) fn margin(&self, i: usize, w: &[f64]) -> f64 {
        dot(self.row(i), w)
    }
}

/// Penalty of a round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Charge {
    /// `l1 |w|_1 + l2/2 |w|^2`, the soft kind.
    ElasticNet { l1: f64, l2: f64 },
    /// Zero within `|w|_1 <= radius`, infinite beyond: the hard kind.
    Ball { radius: f64 },
}

impl Charge {
    pub(super) fn at(self, w: &[f64]) -> f64 {
        match self {
            Charge::ElasticNet { l1, l2 } => {
                w.iter().map(|w| l1 * w.abs() + 0.5 * l2 * w * w).sum()
            }
            Charge::Ball { .. } => 0.0,
        }
    }

    /// The point nearest to `v` once `amount` times the charge has been paid.
    fn prox(self, v: &mut [f64], amount: f64) {
        match self {
            Charge::ElasticNet { l1, l2 } => {
                v.iter_mut().for_each(|v| *v = soft(*v, amount * l1) / (1.0 + amount * l2));
            }
            Charge::Ball { radius } => {
                let mut magnitudes: Vec<f64> = v.iter().map(|v| v.abs()).collect();
                let theta = threshold(&mut magnitudes, radius);
                v.iter_mut().for_each(|v| *v = soft(*v, theta));
            }
        }
    }
}

/// The sum of the first rounds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sum<'a> {
    pub(super) rows: &'a DenseRows,
    pub(super) rounds: usize,
    pub(super) loss: Loss,
    pub(super) charge: Charge,
}

/// The best fixed weights.
#[derive(Clone, Debug)]
pub(super) struct Best {
    pub(super) w: Vec<f64>,
    pub(super) value: f64,
    /// `value` is at most this much above the minimum.
    pub(super) gap: f64,
}

impl Sum<'_> {
    pub(super) fn value(&self, w: &[f64]) -> f64 {
        let Self { rows, loss, .. } = self;
        let cost = |i| loss.value(rows.margin(i, w), rows.y[i]);
        (0..self.rounds).map(cost).sum::<f64>() + self.rounds as f64 * self.charge.at(w)
    }

    /// Newton's steps from `start`, each cut until the sum falls.
    pub(super) fn minimize(&self, start: &[f64]) -> Best {
        let mut best = self.judged(start.to_vec());
        for _ in 0..MOST_STEPS {
            if best.gap <= GAP * (1.0 + best.value.abs()) {
                break;
            }
            let Some(next) = self.newton(&best) else { break };
            best = next;
        }
        best
    }

    /// A better point, if the next step finds one.
    fn newton(&self, best: &Best) -> Option<Best> {
        let target = self.model_minimum(&best.w);
        let mut part = 1.0;
        while part > 1e-6 {
            let w = best.w.iter().zip(&target).map(|(w, v)| w + part * (v - w)).collect();
            let tried = self.judged(w);
            // Close to the minimum points cannot be distinguished by the sum, but by the gap.
            if tried.value < best.value || tried.gap < 0.5 * best.gap {
                return Some(tried);
            }
            part *= 0.5;
        }
        None
    }

    /// Minimizes the quadratic model at `w`, by accelerated proximal steps with restarts.
    fn model_minimum(&self, w: &[f64]) -> Vec<f64> {
        let n = self.rows.n;
        let (g, h) = self.derivatives(w);
        let steepest = (0..n).map(|j| h[j * n..][..n].iter().map(|h| h.abs()).sum::<f64>());
        let steepest = steepest.fold(1e-12, f64::max);
        let amount = self.rounds as f64 / steepest;
        let (mut v, mut y, mut momentum) = (w.to_vec(), w.to_vec(), 1.0f64);
        for _ in 0..MOST_INNER {
            let away: Vec<f64> = y.iter().zip(w).map(|(y, w)| y - w).collect();
            let mut next: Vec<f64> =
                (0..n).map(|j| y[j] - (g[j] + dot(&h[j * n..][..n], &away)) / steepest).collect();
            self.charge.prox(&mut next, amount);
            let moved: Vec<f64> = next.iter().zip(&v).map(|(a, b)| a - b).collect();
            let uphill: f64 = (0..n).map(|j| (y[j] - next[j]) * moved[j]).sum();
            let size = next.iter().fold(1e-3, |m: f64, w| m.max(w.abs()));
            let still = moved.iter().all(|d| d.abs() <= 1e-16 * size);
            momentum = if uphill > 0.0 { 1.0 } else { momentum };
            let grown = f64::midpoint(1.0, (1.0 + 4.0 * momentum * momentum).sqrt());
            let factor = (momentum - 1.0) / grown;
            y = next.iter().zip(&moved).map(|(v, d)| v + factor * d).collect();
            (v, momentum) = (next, grown);
            if still {
                break;
            }
        }
        v
    }

    /// Gradient and second derivatives of the losses.
    fn derivatives(&self, w: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let n = self.rows.n;
        let (mut g, mut h) = (vec![0.0; n], vec![0.0; n * n]);
        for i in 0..self.rounds {
            let (x, p) = (self.rows.row(i), self.rows.margin(i, w));
            let slope = self.loss.slope(p, self.rows.y[i]);
            let bend = curvature(self.loss, p);
            for j in (0..n).filter(|&j| x[j] != 0.0) {
                g[j] += slope * x[j];
                let row = &mut h[j * n..][..n];
                row.iter_mut().zip(x).for_each(|(h, x_k)| *h += bend * x[j] * x_k);
            }
        }
        (g, h)
    }

    /// A point, its value and its gap.
    fn judged(&self, w: Vec<f64>) -> Best {
        let value = self.value(&w);
        let t = self.rounds as f64;
        let slope = |i: usize| self.loss.slope(self.rows.margin(i, &w), self.rows.y[i]);
        let slopes: Vec<f64> = (0..self.rounds).map(slope).collect();
        let mut g = vec![0.0; self.rows.n];
        for (i, slope) in slopes.iter().enumerate() {
            g.iter_mut().zip(self.rows.row(i)).for_each(|(g, x)| *g += slope * x);
        }
        let steepest = g.iter().fold(0.0f64, |m, g| m.max(g.abs()));
        let dual = |part: f64| -> f64 {
            let cost = |i: usize| conjugate(self.loss, part * slopes[i], self.rows.y[i]);
            -(0..self.rounds).map(cost).sum::<f64>()
        };
        let gap = match self.charge {
            Charge::Ball { radius } => dot(&g, &w) + radius * steepest,
            Charge::ElasticNet { l1, l2 } if l2 > 0.0 => {
                let over = |g: &f64| (g.abs() - t * l1).max(0.0).powi(2) / (2.0 * t * l2);
                value - dual(1.0) + g.iter().map(over).sum::<f64>()
            }
            // Scales the slopes down until none exceeds l1.
            Charge::ElasticNet { l1, .. } => value - dual((t * l1 / steepest.max(1e-300)).min(1.0)),
        };
        Best { w, value, gap }
    }
}

/// The losses whose hindsight can be certified here.
pub(super) fn is_smooth(loss: Loss) -> bool {
    matches!(loss, Loss::Logistic | Loss::Squared)
}

/// The second derivative; labels do not change it.
fn curvature(loss: Loss, p: f64) -> f64 {
    if loss.has_probabilities() {
        let s = loss.predict(p.abs());
        return s * (1.0 - s);
    }
    1.0
}

/// `f*(a)`, for a slope `a` that the loss has somewhere.
fn conjugate(loss: Loss, a: f64, y: f64) -> f64 {
    match loss {
        Loss::Logistic => {
            let theta = (-y * a).clamp(0.0, 1.0);
            let entropy = |q: f64| if q > 0.0 { q * q.ln() } else { 0.0 };
            entropy(theta) + entropy(1.0 - theta)
        }
        _ => a * (0.5 * a + y),
    }
}

pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    fn rows(loss: Loss) -> DenseRows {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
        let mut rows = DenseRows { n: 6, ..DenseRows::default() };
        for _ in 0..200 {
            let x: Vec<f64> = (0..6).map(|_| random.random_range(-1.0..1.0)).collect();
            let margin = 2.0 * x[0] - x[3] + random.random_range(-1.0..1.0);
            rows.y.push(if loss == Loss::Logistic { margin.signum() } else { margin });
            rows.x.extend(x);
        }
        rows
    }

    /// No point nearby or far is better than the certificate allows, and the certificate is tight.
    #[test]
    fn the_best_weights_are_the_best() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(4);
        for loss in [Loss::Logistic, Loss::Squared] {
            let rows = rows(loss);
            let soft = |l1, l2| Charge::ElasticNet { l1, l2 };
            for charge in [soft(0.05, 0.0), soft(0.02, 0.1), Charge::Ball { radius: 1.0 }] {
                let sum = Sum { rows: &rows, rounds: 200, loss, charge };
                let best = sum.minimize(&[0.0; 6]);
                assert!(best.gap < 1e-9 && best.gap > -1e-9, "{loss:?} {charge:?} {}", best.gap);
                for k in 0..300 {
                    let far = 2f64.powi(-(k / 15));
                    let mut w: Vec<f64> =
                        best.w.iter().map(|w| w + far * random.random_range(-1.0..1.0)).collect();
                    if let Charge::Ball { .. } = charge {
                        charge.prox(&mut w, 1.0);
                    }
                    assert!(sum.value(&w) >= best.value - best.gap.max(1e-9), "{charge:?}");
                }
            }
        }
    }
}

//! The statements of the CSGD paper, by equation (9) written out.

use super::{Case, Statement};
use crate::kind::hindsight::{DenseRows, dot};
use crate::kind::least_squares::solve;

pub(super) const STATEMENTS: &[Statement] = &[
    Statement {
        name: "csgd/theorem-2.1",
        says: "w*.x_mean = y_mean, with a bias coordinate",
        excess: |case, _| Played::of(case, Method::Sgd, (0.1, 0.1)).off_line,
    },
    Statement {
        name: "csgd/proposition-2.2",
        says: "|P_t(w*) - w*| <= eps from step m on, as printed, with the smallest eps that a step so far allows",
        excess: |case, c| Played::of(case, Method::Csgd, (0.01, 1.0)).distance(c),
    },
    Statement {
        name: "csgd/proposition-2.2-mended",
        says: "|P_t(w*) - w*| <= (|w*| |x_t - x| + |y_t - y|)/|x_t|, at the same step",
        excess: |case, c| Played::of(case, Method::Csgd, (0.01, 1.0)).distance_mended(c),
    },
    Statement {
        name: "csgd/theorem-3.1",
        says: "|w_{t+1} - w*|^2 - |w_t - w*|^2 <= eta^2 |g|^2 - 2 eta (l(w_t) - l(w*)), for SGD",
        excess: |case, c| Played::of(case, Method::Sgd, (1e-3, 1.0)).step(c, false),
    },
    Statement {
        name: "csgd/theorem-3.2",
        says: "the step of CSGD, (13), against the best point, as printed",
        excess: |case, c| Played::of(case, Method::Csgd, (1e-3, 1.0)).step(c, false),
    },
    Statement {
        name: "csgd/theorem-3.2-projected",
        says: "the step of CSGD, (13), against the best point projected on the plane of the step",
        excess: |case, c| Played::of(case, Method::Csgd, (1e-3, 1.0)).step(c, true),
    },
    Statement {
        name: "csgd/theorem-3.3",
        says: "2 sum eta (l(w_t) - l(w*)) <= D^2 - G_2 + G^2 sum eta^2",
        excess: |case, c| Played::of(case, Method::Csgd, (1e-3, 1.0)).weighted(c),
    },
    Statement {
        name: "csgd/theorem-3.3-sgd",
        says: "2 sum eta (l(w_t) - l(w*)) <= D^2 + G^2 sum eta^2, for SGD",
        excess: |case, c| Played::of(case, Method::Sgd, (1e-3, 1.0)).weighted(c),
    },
    Statement {
        name: "csgd/corollary-3.4",
        says: "(1/T) sum l(w_t) <= (D^2 - G_2 + G^2)/(2 sqrt T) + l(w*), with eta = 1/sqrt T",
        excess: |case, c| Played::of(case, Method::Fixed, (1.0, 1.0)).weighted(c),
    },
    Statement {
        name: "csgd/theorem-4.1",
        says: "R(T) <= G^2/(2 H) (1 + ln T), with eta = 1/(H t) and a constant H",
        excess: |case, c| Played::of(case, Method::Inverse, (0.01, 100.0)).regret(c),
    },
    Statement {
        name: "csgd/lemma-4.2",
        says: "tan(theta) does not fall from one step to the next",
        excess: |case, _| Played::of(case, Method::Inverse, (0.01, 100.0)).falls(),
    },
];

#[derive(Clone, Copy, PartialEq)]
enum Method {
    /// Without a projection, `rate/sqrt t`.
    Sgd,
    /// With it, `rate/sqrt t`.
    Csgd,
    /// With it, `rate/sqrt T`.
    Fixed,
    /// With it, `1/(rate t)`.
    Inverse,
}

/// One round.
struct Round {
    eta: f64,
    x: Vec<f64>,
    y: f64,
    before: Vec<f64>,
    after: Vec<f64>,
    slope2: f64,
    /// The squared distance that the projection moved.
    moved2: f64,
    mean: Vec<f64>,
    mean_y: f64,
}

struct Played {
    rounds: Vec<Round>,
    star: Vec<f64>,
    whole: (Vec<f64>, f64),
    rate: f64,
    off_line: f64,
}

fn loss(x: &[f64], y: f64, w: &[f64]) -> f64 {
    0.5 * (y - dot(x, w)).powi(2)
}

fn distance2(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

/// Excess of the left side over the right, relative to the terms of both.
fn over(left: f64, right: f64, terms: f64) -> f64 {
    (left - right) / terms.max(1e-300)
}

/// The point of least squares; among several, a point close to the shortest.
fn best(rows: &DenseRows) -> Vec<f64> {
    let n = rows.n;
    let (mut square, mut right) = (vec![vec![0.0; n]; n], vec![0.0; n]);
    for i in 0..rows.y.len() {
        let x = rows.row(i);
        for a in 0..n {
            right[a] += x[a] * rows.y[i];
            (0..n).for_each(|b| square[a][b] += x[a] * x[b]);
        }
    }
    let trace: f64 = (0..n).map(|j| square[j][j]).sum();
    (0..n).for_each(|j| square[j][j] += 1e-13 * trace);
    // One step of refinement removes the effect of the ridge.
    let mut w = solve(&square, &right);
    for _ in 0..3 {
        let mut residual = vec![0.0; n];
        for i in 0..rows.y.len() {
            let error = rows.y[i] - rows.margin(i, &w);
            residual.iter_mut().zip(rows.row(i)).for_each(|(r, x)| *r += error * x);
        }
        w.iter_mut().zip(solve(&square, &residual)).for_each(|(w, d)| *w += d);
    }
    w
}

impl Played {
    fn of(case: &Case, method: Method, (low, high): (f64, f64)) -> Self {
        let rows = case.uniform_rows();
        let star = best(&rows);
        let (n, horizon, rate) = (rows.n, case.rounds(), case.step(low, high));
        let count = horizon as f64;
        let mut whole = (vec![0.0; n], rows.y.iter().sum::<f64>() / count);
        for i in 0..horizon {
            whole.0.iter_mut().zip(rows.row(i)).for_each(|(m, x)| *m += x / count);
        }
        let off = dot(&star, &whole.0) - whole.1;
        let size = whole.1.abs() + dot(&star, &star).sqrt() * dot(&whole.0, &whole.0).sqrt();
        let off_line = off.abs() / size.max(1e-300);
        let (mut w, mut mean, mut mean_y) = (vec![0.0; n], vec![0.0; n], 0.0);
        let mut left: Vec<usize> = (0..horizon).collect();
        let mut rounds: Vec<Round> = Vec::new();
        for t in 1..=horizon {
            let i = case.next(&mut left, |i| loss(rows.row(i), rows.y[i], &w));
            let (x, y) = (rows.row(i), rows.y[i]);
            let eta = match method {
                Method::Sgd | Method::Csgd => rate / (t as f64).sqrt(),
                Method::Fixed => rate / count.sqrt(),
                Method::Inverse => 1.0 / (rate * t as f64),
            };
            let slope = dot(x, &w) - y;
            mean.iter_mut().zip(x).for_each(|(m, x)| *m += (x - *m) / t as f64);
            mean_y += (y - mean_y) / t as f64;
            let stepped: Vec<f64> = w.iter().zip(x).map(|(w, x)| w - eta * slope * x).collect();
            let after = match method {
                Method::Sgd => stepped.clone(),
                _ => on(&stepped, &mean, mean_y),
            };
            rounds.push(Round {
                eta,
                x: x.to_vec(),
                y,
                before: w,
                moved2: distance2(&after, &stepped),
                slope2: slope * slope * dot(x, x),
                mean: mean.clone(),
                mean_y,
                after: after.clone(),
            });
            w = after;
        }
        Self { rounds, star, whole, rate, off_line }
    }

    /// The maximum of a quantity over the rounds.
    fn most(&self, excess: impl FnMut(&Round) -> f64) -> f64 {
        self.rounds.iter().map(excess).fold(f64::NEG_INFINITY, f64::max)
    }

    /// `|w*| |x_t - x| + |y_t - y|`.
    fn parts(&self, round: &Round) -> f64 {
        let norm = dot(&self.star, &self.star).sqrt();
        norm * distance2(&round.mean, &self.whole.0).sqrt() + (round.mean_y - self.whole.1).abs()
    }

    fn away(&self, round: &Round) -> f64 {
        distance2(&on(&self.star, &round.mean, round.mean_y), &self.star).sqrt()
    }

    fn distance(&self, constant: f64) -> f64 {
        let norm = dot(&self.star, &self.star).sqrt();
        let mut least = f64::INFINITY;
        self.most(|round| {
            least = least.min(self.parts(round) / norm);
            let away = self.away(round);
            over(away, constant * least, away + least + SMALL * (1.0 + norm))
        })
    }

    fn distance_mended(&self, constant: f64) -> f64 {
        let norm = dot(&self.star, &self.star).sqrt();
        self.most(|round| {
            let (away, right) =
                (self.away(round), self.parts(round) / dot(&round.mean, &round.mean).sqrt());
            over(away, constant * right, away + right + SMALL * (1.0 + norm))
        })
    }

    fn step(&self, constant: f64, is_projected: bool) -> f64 {
        self.most(|round| {
            let star = match is_projected {
                true => on(&self.star, &round.mean, round.mean_y),
                false => self.star.clone(),
            };
            let (after2, before2) =
                (distance2(&round.after, &star), distance2(&round.before, &star));
            let noise = round.eta * round.eta * round.slope2;
            let gain = 2.0
                * round.eta
                * (loss(&round.x, round.y, &round.before) - loss(&round.x, round.y, &star));
            let right = constant * noise - gain - round.moved2;
            over(after2 - before2, right, after2 + before2 + noise + gain.abs() + round.moved2)
        })
    }

    fn weighted(&self, constant: f64) -> f64 {
        let regret = |r: &Round| loss(&r.x, r.y, &r.before) - loss(&r.x, r.y, &self.star);
        let left: f64 = self.rounds.iter().map(|r| 2.0 * r.eta * regret(r)).sum();
        let g2 = self.most(|r| r.slope2);
        let noise = g2 * self.rounds.iter().map(|r| r.eta * r.eta).sum::<f64>();
        let moved: f64 = self.rounds.iter().map(|r| r.moved2).sum();
        let d2 = dot(&self.star, &self.star);
        over(left, d2 - moved + constant * noise, left.abs() + d2 + moved + noise)
    }

    fn regret(&self, constant: f64) -> f64 {
        let regret = |r: &Round| loss(&r.x, r.y, &r.before) - loss(&r.x, r.y, &self.star);
        let left: f64 = self.rounds.iter().map(regret).sum();
        let g2 = self.most(|r| r.slope2);
        let right = g2 / (2.0 * self.rate) * (1.0 + (self.rounds.len() as f64).ln());
        over(left, constant * right, left.abs() + right)
    }

    fn falls(&self) -> f64 {
        let tangent = |r: &Round| (r.moved2 / distance2(&r.after, &self.star).max(1e-300)).sqrt();
        let pairs = self.rounds.iter().zip(self.rounds.iter().skip(1));
        let falls = pairs.map(|(a, b)| over(tangent(a), tangent(b), tangent(a) + tangent(b)));
        falls.fold(0.0, f64::max)
    }
}

/// Rounding of a distance, in parts of the length of the truth.
const SMALL: f64 = 1e-4;

/// The point projected on the plane of a mean row.
fn on(v: &[f64], mean: &[f64], mean_y: f64) -> Vec<f64> {
    let by = (mean_y - dot(mean, v)) / dot(mean, mean);
    v.iter().zip(mean).map(|(v, m)| v + by * m).collect()
}

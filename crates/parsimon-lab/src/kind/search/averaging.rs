//! The regret bounds of dual averaging: Theorem 4.1 of the notes for every sequence, and Theorem 1 and its lemmas of the PDA thesis.
//!
//! A bound holds against every fixed point. The worst point is computed: the largest `R(w) - beta D^2` is the least of the losses and penalties with
//! `beta D^2` added, which the solver of hindsight finds with a certificate.

use parsimon::settings::Loss;
use parsimon_core::rule::dense::threshold;
use parsimon_core::soft;
use rand::RngExt;

use super::{Case, Statement};
use crate::kind::hindsight::{Charge, DenseRows, Sum, dot};

pub(super) const STATEMENTS: &[Statement] = &[
    Statement {
        name: "rda-notes/theorem-4.1-root",
        says: "R(w) <= Delta_t, (4.1), with beta_t = gamma sqrt(t) and soft l1, gamma from 1/30 to 30",
        excess: |case, c| soft_l1(case, Sequence::Root).over(c),
    },
    Statement {
        name: "rda-notes/4.4",
        says: "R(w) <= (gamma D^2 + L^2/gamma) sqrt(t), (4.4)",
        excess: |case, c| {
            let found = soft_l1(case, Sequence::Root);
            let closed = found.slope2 / found.gamma * (case.rounds() as f64).sqrt();
            Found { noise: closed, ..found }.over(c)
        },
    },
    Statement {
        name: "rda-notes/theorem-4.1-constant-beta",
        says: "R(w) <= Delta_t, (4.1), with a constant beta and soft l1: eta t G/2 + D^2/eta of the PDA thesis for RDA",
        excess: |case, c| soft_l1(case, Sequence::Constant).over(c),
    },
    Statement {
        name: "rda-notes/theorem-4.1-linear-beta",
        says: "R(w) <= Delta_t, (4.1), with beta_t = gamma t and soft l1",
        excess: |case, c| soft_l1(case, Sequence::Linear).over(c),
    },
    Statement {
        name: "rda-notes/theorem-4.1-ball",
        says: "R(w) <= Delta_t, (4.1), with beta_t = gamma sqrt(t) in an l1 ball",
        excess: |case, c| ball(case).over(c),
    },
    Statement {
        name: "rda-notes/4.6",
        says: "R(w) <= sigma D^2 + L^2/(2 sigma) (1 + ln t), strongly convex, beta = sigma",
        excess: |case, c| strong(case, Strong::Constant).over(c),
    },
    Statement {
        name: "rda-notes/4.7",
        says: "R(w) <= (sigma D^2 + L^2/(2 sigma)) (1 + ln t), strongly convex, beta = sigma (1 + ln t)",
        excess: |case, c| strong(case, Strong::Log).over(c),
    },
    Statement {
        name: "rda-notes/4.8",
        says: "R(w) <= L^2/(2 sigma) (6 + ln t), strongly convex, beta = 0",
        excess: |case, c| strong(case, Strong::Zero).over(c),
    },
    Statement {
        name: "rda-notes/3.3.2",
        says: "R(w) <= L^2/(2 sigma) (6 + ln t) on the simplex, with sigma times the Kullback-Leibler divergence and beta = 0; L in the largest component",
        excess: |case, c| divergence(case).over(c),
    },
    Statement {
        name: "pda-thesis/A.10",
        says: "R(w) <= eta t (G + L)/2 + D^2/eta, as printed, eta from 0.02 to 2",
        excess: |case, c| pda(case).printed(c),
    },
    Statement {
        name: "pda-thesis/A.17",
        says: "R(w) <= t L + eta t G/2 + D^2/eta, where the proof ends, eta from 0.02 to 2",
        excess: |case, c| pda(case).over(c),
    },
    Statement {
        name: "pda-thesis/lemma-1",
        says: "U(s) <= V(s) + D^2/eta",
        excess: |case, c| {
            let Lemma { a, eta, .. } = lemma(case);
            let length = dot(&a, &a).sqrt();
            // At the worst D the two sides touch.
            let d = [0.5, 1.0, 2.0].map(|part| part * eta * length / std::f64::consts::SQRT_2);
            let excess = |d: f64| {
                let (left, right) = (
                    std::f64::consts::SQRT_2 * d * length,
                    0.5 * eta * length * length + c * d * d / eta,
                );
                (left - right) / (left + right).max(1e-300)
            };
            d.map(excess).into_iter().fold(f64::NEG_INFINITY, f64::max)
        },
    },
    Statement {
        name: "pda-thesis/A.8",
        says: "|grad V(s1) - grad V(s2)|^2 <= eta |s1 - s2|^2, as printed, eta from 0.02 to 2",
        excess: |case, c| lemma(case).lipschitz(c * case.step(0.02, 2.0)),
    },
    Statement {
        name: "pda-thesis/A.8-mended",
        says: "|grad V(s1) - grad V(s2)|^2 <= eta^2 |s1 - s2|^2",
        excess: |case, c| lemma(case).lipschitz(c * case.step(0.02, 2.0).powi(2)),
    },
    Statement {
        name: "pda-thesis/A.9",
        says: "V(s + g) <= V(s) + <g, grad V(s)> + eta/2 |g|^2",
        excess: |case, c| {
            let Lemma { a, b, s, other, eta } = lemma(case);
            let v = |a: &[f64]| 0.5 * eta * dot(a, a);
            let g: Vec<f64> = other.iter().zip(&s).map(|(o, s)| o - s).collect();
            let (linear, square) = (eta * dot(&g, &a), 0.5 * eta * dot(&g, &g));
            (v(&b) - v(&a) - linear - c * square)
                / (v(&b) + v(&a) + linear.abs() + square).max(1e-300)
        },
    },
];

/// Regret of a run against the worst fixed point, and the terms of its bound.
#[derive(Clone, Copy)]
struct Found {
    /// The regret against the worst point.
    regret: f64,
    /// Term of the bound for the distance of that point.
    distance: f64,
    /// Term of the bound for the gradients.
    noise: f64,
    /// The largest squared gradient.
    slope2: f64,
    gamma: f64,
}

impl Found {
    /// The constant multiplies the term for the gradients.
    fn over(self, constant: f64) -> f64 {
        let right = self.distance + constant * self.noise;
        (self.regret - right) / (self.regret.abs() + right).max(1e-300)
    }
}

#[derive(Clone, Copy)]
enum Sequence {
    Root,
    Constant,
    Linear,
}

/// Squared loss where the configuration has noise, and logistic loss where it has none.
fn rows(case: &Case) -> (DenseRows, Loss) {
    let mut rows = case.unit_rows();
    if case.third() > 0 {
        return (rows, Loss::Squared);
    }
    rows.y.iter_mut().for_each(|y| *y = if *y > 0.0 { 1.0 } else { -1.0 });
    (rows, Loss::Logistic)
}

/// Events of a play.
struct Play {
    /// The rows in the order played.
    rows: DenseRows,
    loss: Loss,
    paid: f64,
    slope2: f64,
    /// The largest penalty of a point played.
    psi: f64,
}

/// Plays `w_{t+1} = of(t, sum of gradients)` from zero.
fn play(case: &Case, charge: Charge, mut of: impl FnMut(usize, &[f64]) -> Vec<f64>) -> Play {
    let (rows, loss) = rows(case);
    let mut play = Play {
        rows: DenseRows { n: rows.n, ..DenseRows::default() },
        loss,
        paid: 0.0,
        slope2: 0.0,
        psi: 0.0,
    };
    let (mut w, mut s) = (vec![0.0; rows.n], vec![0.0; rows.n]);
    let mut left: Vec<usize> = (0..rows.y.len()).collect();
    for t in 1..=rows.y.len() {
        let i = case.next(&mut left, |i| loss.value(rows.margin(i, &w), rows.y[i]));
        let (x, y) = (rows.row(i), rows.y[i]);
        let (p, psi) = (dot(x, &w), charge.at(&w));
        play.paid += loss.value(p, y) + psi;
        play.psi = play.psi.max(psi);
        let slope = loss.slope(p, y);
        play.slope2 = play.slope2.max(slope * slope * dot(x, x));
        s.iter_mut().zip(x).for_each(|(s, x)| *s += slope * x);
        play.rows.x.extend_from_slice(x);
        play.rows.y.push(y);
        w = of(t, &s);
    }
    play
}

impl Play {
    /// The regret against the point that makes `R(w) - stabilizer` largest; `held` is the penalty with the stabilizer in it, per round.
    fn against(&self, charge: Charge, held: Charge) -> (f64, Vec<f64>) {
        let rounds = self.rows.y.len();
        let sum = Sum { rows: &self.rows, rounds, loss: self.loss, charge: held };
        let worst = sum.minimize(&vec![0.0; self.rows.n]).w;
        (self.paid - Sum { charge, ..sum }.value(&worst), worst)
    }
}

const L1: f64 = 0.01;

fn soft_l1(case: &Case, sequence: Sequence) -> Found {
    let gamma = case.step(1.0 / 30.0, 30.0);
    let beta = |t: usize| match sequence {
        Sequence::Root => gamma * (t as f64).sqrt(),
        Sequence::Constant => gamma,
        Sequence::Linear => gamma * t as f64,
    };
    let charge = Charge::ElasticNet { l1: L1, l2: 0.0 };
    let play =
        play(case, charge, |t, s| s.iter().map(|s| -soft(*s, t as f64 * L1) / beta(t)).collect());
    let t = case.rounds();
    let held = Charge::ElasticNet { l1: L1, l2: beta(t) / t as f64 };
    let (regret, w) = play.against(charge, held);
    // beta_0 = beta_1.
    let steps = 1.0 / beta(1) + (1..t).map(|t| 1.0 / beta(t)).sum::<f64>();
    Found {
        regret,
        distance: 0.5 * beta(t) * dot(&w, &w),
        noise: 0.5 * play.slope2 * steps,
        slope2: play.slope2,
        gamma,
    }
}

fn ball(case: &Case) -> Found {
    let (gamma, radius) = (case.step(1.0 / 30.0, 30.0), case.length());
    let charge = Charge::Ball { radius };
    let beta = |t: usize| gamma * (t as f64).sqrt();
    let play = play(case, charge, |t, s| {
        let v: Vec<f64> = s.iter().map(|s| -s / beta(t)).collect();
        let mut magnitudes: Vec<f64> = v.iter().map(|v| v.abs()).collect();
        let theta = threshold(&mut magnitudes, radius);
        v.iter().map(|v| soft(*v, theta)).collect()
    });
    let t = case.rounds();
    // The best point of the ball, and points on the way to it: the solver has no ball with a stabilizer.
    let (_, best) = play.against(charge, charge);
    let steps = 1.0 / beta(1) + (1..t).map(|t| 1.0 / beta(t)).sum::<f64>();
    let at = |part: f64| {
        let w: Vec<f64> = best.iter().map(|w| part * w).collect();
        let sum = Sum { rows: &play.rows, rounds: t, loss: play.loss, charge };
        Found {
            regret: play.paid - sum.value(&w),
            distance: 0.5 * beta(t) * dot(&w, &w),
            noise: 0.5 * play.slope2 * steps,
            slope2: play.slope2,
            gamma,
        }
    };
    let worst = |a: Found, b: Found| if b.over(1.0) > a.over(1.0) { b } else { a };
    [0.5, 0.2, 0.05].map(at).into_iter().fold(at(1.0), worst)
}

#[derive(Clone, Copy)]
enum Strong {
    Constant,
    Log,
    Zero,
}

/// With `h = Psi/sigma`, so that `D^2` is `Psi(w)/sigma`.
fn strong(case: &Case, sequence: Strong) -> Found {
    let sigma = case.step(0.01, 10.0);
    let charge = Charge::ElasticNet { l1: L1, l2: sigma };
    let beta = |t: usize| match sequence {
        Strong::Constant => sigma,
        Strong::Log => sigma * (1.0 + (t as f64).ln()),
        Strong::Zero => 0.0,
    };
    let play = play(case, charge, |t, s| {
        let times = t as f64 + beta(t) / sigma;
        s.iter().map(|s| -soft(*s, times * L1) / (times * sigma)).collect()
    });
    let t = case.rounds();
    let times = 1.0 + beta(t) / (sigma * t as f64);
    let (regret, w) =
        play.against(charge, Charge::ElasticNet { l1: times * L1, l2: times * sigma });
    let (log, noise) = (1.0 + (t as f64).ln(), play.slope2 / (2.0 * sigma));
    Found {
        regret,
        distance: beta(t) * charge.at(&w) / sigma,
        noise: match sequence {
            Strong::Constant | Strong::Log => noise * log,
            Strong::Zero => noise * (5.0 + log),
        },
        slope2: play.slope2,
        gamma: sigma,
    }
}

/// RDA with `sigma KL(w | even)` on the simplex, and linear losses, for which the best point has a closed form:
/// the least of `sum g.w + t sigma KL(w)` is `-t sigma ln((1/n) sum_i exp(-gbar_i / sigma))`.
fn divergence(case: &Case) -> Found {
    let sigma = case.step(0.01, 10.0);
    let rows = case.unit_rows();
    let n = rows.n as f64;
    let even = vec![1.0 / n; rows.n];
    let kl = |w: &[f64]| -> f64 {
        w.iter().map(|w| if *w > 0.0 { w * (n * w).ln() } else { 0.0 }).sum()
    };
    let sign = |i: usize| if rows.y[i] < 0.0 { -1.0 } else { 1.0 };
    let (mut w, mut s, mut paid, mut largest) = (even, vec![0.0; rows.n], 0.0, 0.0f64);
    let mut left: Vec<usize> = (0..rows.y.len()).collect();
    let (mut top, mut log_mean) = (0.0, 0.0);
    for t in 1..=rows.y.len() {
        let i = case.next(&mut left, |i| sign(i) * dot(rows.row(i), &w));
        paid += sign(i) * dot(rows.row(i), &w) + sigma * kl(&w);
        for (s, x) in s.iter_mut().zip(rows.row(i)) {
            *s += sign(i) * x;
            largest = largest.max(x.abs());
        }
        let exponents: Vec<f64> = s.iter().map(|s| -s / (sigma * t as f64)).collect();
        // NUMERICS: the largest exponent is factored out, so that no exponential overflows.
        top = exponents.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let parts: Vec<f64> = exponents.iter().map(|e| (e - top).exp()).collect();
        let sum: f64 = parts.iter().sum();
        log_mean = (sum / n).ln();
        w = parts.iter().map(|part| part / sum).collect();
    }
    let t = case.rounds() as f64;
    let slope2 = largest * largest;
    Found {
        regret: paid + t * sigma * (top + log_mean),
        distance: 0.0,
        noise: slope2 / (2.0 * sigma) * (6.0 + t.ln()),
        slope2,
        gamma: sigma,
    }
}

/// PDA with the identity as the metric, on rows of length 1.
struct PdaFound {
    found: Found,
    eta: f64,
    psi: f64,
    rounds: f64,
}

fn pda(case: &Case) -> PdaFound {
    let (eta, l1) = (case.step(0.02, 2.0), 0.1);
    let charge = Charge::ElasticNet { l1, l2: 0.0 };
    let play = play(case, charge, |_, s| s.iter().map(|s| soft(-eta * s, eta * l1)).collect());
    let rounds = case.rounds() as f64;
    let held = Charge::ElasticNet { l1, l2: 1.0 / (eta * rounds) };
    let (regret, w) = play.against(charge, held);
    let found = Found {
        regret,
        distance: 0.5 * dot(&w, &w) / eta,
        noise: rounds * (play.psi + 0.5 * eta * play.slope2),
        slope2: play.slope2,
        gamma: 1.0 / eta,
    };
    PdaFound { found, eta, psi: play.psi, rounds }
}

impl PdaFound {
    fn over(&self, constant: f64) -> f64 {
        self.found.over(constant)
    }

    fn printed(&self, constant: f64) -> f64 {
        let noise = 0.5 * self.eta * self.rounds * (self.found.slope2 + self.psi);
        Found { noise, ..self.found }.over(constant)
    }
}

/// Two sums of gradients, and their shrunk forms: `grad V(s) = eta soft(s, lambda)`.
struct Lemma {
    s: Vec<f64>,
    other: Vec<f64>,
    a: Vec<f64>,
    b: Vec<f64>,
    eta: f64,
}

fn lemma(case: &Case) -> Lemma {
    let mut random = case.random();
    let s = Case::vector(&mut random, case.n(), case.length());
    // A neighbor, a stranger, and the opposite.
    let part = [0.01, 1.0, 2.0][case.third()];
    let way = Case::vector(&mut random, case.n(), case.length());
    let other: Vec<f64> = match case.third() {
        2 => s.iter().map(|s| -s).collect(),
        _ => s.iter().zip(&way).map(|(s, w)| s + part * w).collect(),
    };
    let lambda = 0.3 * random.random::<f64>();
    let shrunk = |s: &[f64]| -> Vec<f64> { s.iter().map(|s| soft(*s, lambda)).collect() };
    let (a, b) = (shrunk(&s), shrunk(&other));
    Lemma { s, other, a, b, eta: case.step(0.02, 2.0) }
}

impl Lemma {
    fn lipschitz(&self, constant: f64) -> f64 {
        let distance2 =
            |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum() };
        let left = self.eta * self.eta * distance2(&self.a, &self.b);
        let right = constant * distance2(&self.s, &self.other);
        (left - right) / (left + right).max(1e-300)
    }
}

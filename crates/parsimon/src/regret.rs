//! Regret: what was paid, against the best fixed weights found afterwards.
//!
//! `R_T = sum_t [f_t(w_t) + psi(w_t)] - min_w sum_t [f_t(w) + psi(w)]`, with `psi` the method's own penalty per round.
//! Where the method charges its penalty once in all (`ftrl`), the comparison does too. The best weights are found by
//! accelerated proximal gradient steps over the rows, which are kept in memory: this is for study.

use parsimon_core::{Chunk, Head, Loss};
use serde::Serialize;

use crate::{Error, Progress, Settings, Stretch, Trainer};

/// The rows and what was paid for them.
pub(crate) struct Ledger {
    rows: Chunk,
    paid: f64,
    curve: Vec<(u64, f64, f64)>,
    slope2: f64,
    second: Option<Head>,
}

/// What a method paid too much.
#[derive(Clone, Debug, Serialize)]
pub struct Regret {
    /// Rounds.
    pub rounds: u64,
    /// Cumulative loss, penalties included, of the weights played.
    pub paid: f64,
    /// The same of the best fixed weights.
    pub best: f64,
    /// The difference.
    pub regret: f64,
    /// The same per round.
    pub average: f64,
    /// How far the best weights may be from the minimum: the last relative change of the objective.
    pub accuracy: f64,
    /// The theory's bound, where there is one.
    pub bound: Option<Bound>,
    /// Rounds, regret so far against those same weights, and the bound.
    pub curve: Vec<(u64, f64, Option<f64>)>,
}

/// RDA's `Delta_t` (Xiao 2010, eq. 18; the notes' eq. 4.1) with the constants of this very run.
#[derive(Clone, Debug, Serialize)]
pub struct Bound {
    /// `Delta_T`
    pub value: f64,
    /// `D^2`: the stabilizer `h` at the best weights.
    pub d2: f64,
    /// `L`: the largest norm of a gradient.
    pub lipschitz: f64,
}

/// How a method charges its penalty.
#[derive(Clone, Copy, PartialEq)]
enum Charge {
    EveryRound,
    Once,
}

impl Ledger {
    pub(crate) fn new() -> Self {
        Self { rows: Chunk::new(), paid: 0.0, curve: Vec::new(), slope2: 0.0, second: None }
    }

    /// Learns row by row, and books what each cost.
    pub(crate) fn learn(
        &mut self,
        trainer: &mut Trainer,
        chunk: &Chunk,
        report: &mut dyn FnMut(&Progress),
    ) -> Result<(), Error> {
        let settings = trainer.settings().clone();
        refuse(&settings)?;
        let (loss, bias) = (settings.loss(), f64::from(u8::from(trainer.frame().bias)));
        let mut one = Chunk::new();
        for i in 0..chunk.len() {
            let Some(y) = chunk.label(i).filter(|_| chunk.weight(i) > 0.0) else { continue };
            let penalty = match charge(&settings) {
                Charge::EveryRound => psi(&settings, &trainer.online().freeze().heads()[0]),
                Charge::Once => 0.0,
            };
            one.clear();
            one.copy_row(chunk, i);
            let mut p = 0.0;
            let watch = &mut |stretch: &Stretch<'_>| p = stretch.margins(0)[0];
            trainer.learn_watched(&one, report, watch)?;
            self.rows.copy_row(chunk, i);
            if self.rows.len() == 1 {
                self.second = Some(trainer.online().freeze().into_heads().remove(0));
            }
            let weight = chunk.weight(i);
            self.paid += weight * loss.value(p, y) + penalty;
            let norm2 = bias + chunk.row(i).values().iter().map(|v| v * v).sum::<f64>();
            let d = weight * loss.slope(p, y);
            self.slope2 = self.slope2.max(d * d * norm2);
            let t = self.rows.len() as u64;
            if t.is_power_of_two() {
                self.curve.push((t, self.paid, 0.0));
            }
        }
        Ok(())
    }

    /// Finds the best fixed weights and closes the books.
    pub(crate) fn close(mut self, trainer: &Trainer) -> Regret {
        let settings = trainer.settings();
        let (rounds, has_bias) = (self.rows.len() as u64, trainer.frame().bias);
        if self.curve.last().is_none_or(|&(t, ..)| t != rounds) {
            self.curve.push((rounds, self.paid, 0.0));
        }
        let problem = Problem::new(&self.rows, settings, has_bias, rounds);
        let (w, best, accuracy) = problem.minimize();
        let norm2 = w.iter().map(|w| w * w).sum();
        let bound_at = |t: u64| {
            let second = self.second.as_ref().map_or(0.0, |head| psi(settings, head));
            rda_bound(settings, has_bias, t, norm2, problem.psi(&w), second, self.slope2)
        };
        let costs = problem.costs(&w);
        let curve = self.curve.iter().map(|&(t, paid, _)| {
            let fixed = costs[..t as usize].iter().sum::<f64>() + problem.penalty_after(&w, t);
            (t, paid - fixed, bound_at(t).map(|b| b.value))
        });
        Regret {
            rounds,
            paid: self.paid,
            best,
            regret: self.paid - best,
            average: (self.paid - best) / rounds.max(1) as f64,
            accuracy,
            bound: bound_at(rounds),
            curve: curve.collect(),
        }
    }
}

fn refuse(settings: &Settings) -> Result<(), Error> {
    let usage = |message: String| Err(Error::Usage(message));
    if settings.is_multiclass() {
        return usage(
            "the regret is computed for one set of weights, not for one per class".into(),
        );
    }
    if settings.is_kernel() {
        return usage("the regret is computed for linear models, not for a dictionary".into());
    }
    if ["linf", "l2-norm", "group"].contains(&settings.word("penalty"))
        || settings.word("ball") == "simplex-kl"
    {
        return usage(
            "the regret is computed for separable penalties and for l1 and l2 balls".into(),
        );
    }
    Ok(())
}

fn charge(settings: &Settings) -> Charge {
    if settings.algorithm().name == "ftrl" { Charge::Once } else { Charge::EveryRound }
}

fn psi(settings: &Settings, head: &Head) -> f64 {
    let (l1, l2) = (settings.number("l1"), settings.number("l2"));
    head.weights().iter().map(|w| l1 * w.abs() + 0.5 * l2 * w * w).sum()
}

/// `Delta_t = beta_t D^2 + L^2/2 sum_{tau<t} 1/(sigma tau + beta_tau)`, `beta_0 = beta_1`; for `beta = 0` the notes'
/// eq. 4.8.
fn rda_bound(
    settings: &Settings,
    has_bias: bool,
    t: u64,
    norm2: f64,
    psi: f64,
    psi_second: f64,
    slope2: f64,
) -> Option<Bound> {
    let sigma = settings.number("l2");
    // Without a penalty of its own the bias is outside the strongly convex analysis.
    if settings.algorithm().name != "rda" || (sigma > 0.0 && has_bias) {
        return None;
    }
    let rate = settings.number("rate");
    let beta = |tau: u64| match settings.word("beta") {
        "zero" => 0.0,
        "constant" => sigma,
        "log" => sigma * (1.0 + (tau.max(1) as f64).ln()),
        _ => (tau.max(1) as f64).sqrt() / rate,
    };
    let zero = settings.word("beta") == "zero";
    let d2 = if settings.word("prox") == "psi" || zero { psi / sigma } else { 0.5 * norm2 };
    let beta_0 = if zero { sigma } else { beta(1) };
    let sum: f64 = (0..t)
        .map(|tau| 1.0 / (sigma * tau as f64 + if tau == 0 { beta_0 } else { beta(tau) }))
        .sum();
    let first = if zero { psi_second } else { 0.0 };
    Some(Bound { value: first + beta(t) * d2 + 0.5 * slope2 * sum, d2, lipschitz: slope2.sqrt() })
}

/// `sum_t f_t(w) + c psi(w)` over compact coordinates; the last one is the bias.
struct Problem<'a> {
    rows: &'a Chunk,
    columns: Vec<Vec<usize>>,
    dimension: usize,
    has_bias: bool,
    loss: Loss,
    l1: f64,
    l2: f64,
    times: f64,
    ball: Option<(bool, f64)>,
}

const MOST_STEPS: usize = 5000;

impl<'a> Problem<'a> {
    fn new(rows: &'a Chunk, settings: &Settings, has_bias: bool, rounds: u64) -> Self {
        let mut ids: Vec<u32> =
            (0..rows.len()).flat_map(|i| rows.row(i).indices().iter().copied()).collect();
        ids.sort_unstable();
        ids.dedup();
        let column = |j: &u32| ids.binary_search(j).unwrap_or(0);
        let columns = (0..rows.len()).map(|i| rows.row(i).indices().iter().map(column).collect());
        let ball = match settings.word("ball") {
            "l1" => Some((true, settings.number("radius"))),
            "l2" => Some((false, settings.number("radius"))),
            _ if settings.algorithm().name == "ftl" => Some((false, settings.number("radius"))),
            _ => None,
        };
        Self {
            rows,
            columns: columns.collect(),
            dimension: ids.len(),
            has_bias,
            loss: settings.loss(),
            l1: settings.number("l1"),
            l2: settings.number("l2"),
            times: if charge(settings) == Charge::Once { 1.0 } else { rounds as f64 },
            ball,
        }
    }

    fn margin(&self, w: &[f64], i: usize) -> f64 {
        let x = self.rows.row(i).values().iter().zip(&self.columns[i]);
        x.map(|(v, &k)| v * w[k]).sum::<f64>() + w[self.dimension]
    }

    fn costs(&self, w: &[f64]) -> Vec<f64> {
        let cost = |i| {
            let y = self.rows.label(i).unwrap_or(0.0);
            self.rows.weight(i) * self.loss.value(self.margin(w, i), y)
        };
        (0..self.rows.len()).map(cost).collect()
    }

    fn gradient(&self, w: &[f64]) -> Vec<f64> {
        let mut g = vec![0.0; w.len()];
        for i in 0..self.rows.len() {
            let y = self.rows.label(i).unwrap_or(0.0);
            let d = self.rows.weight(i) * self.loss.slope(self.margin(w, i), y);
            for (v, &k) in self.rows.row(i).values().iter().zip(&self.columns[i]) {
                g[k] += d * v;
            }
            if self.has_bias {
                g[self.dimension] += d;
            }
        }
        g
    }

    fn features<'w>(&self, w: &'w [f64]) -> &'w [f64] {
        &w[..self.dimension]
    }

    fn psi(&self, w: &[f64]) -> f64 {
        self.features(w).iter().map(|w| self.l1 * w.abs() + 0.5 * self.l2 * w * w).sum()
    }

    /// The penalty charged in the first `t` rounds.
    fn penalty_after(&self, w: &[f64], t: u64) -> f64 {
        let times = if self.times == 1.0 { 1.0 } else { t as f64 };
        times * self.psi(w)
    }

    fn value(&self, w: &[f64]) -> f64 {
        self.costs(w).iter().sum::<f64>() + self.times * self.psi(w)
    }

    /// The proximal step of the penalty, or the projection on the ball.
    fn step(&self, from: &[f64], g: &[f64], size: f64) -> Vec<f64> {
        let mut w: Vec<f64> = from.iter().zip(g).map(|(w, g)| w - size * g).collect();
        let features = &mut w[..self.dimension];
        let (c1, c2) = (size * self.times * self.l1, size * self.times * self.l2);
        for w in features.iter_mut() {
            *w = parsimon_core::soft(*w, c1) / (1.0 + c2);
        }
        match self.ball {
            Some((true, radius)) => {
                let mut magnitudes: Vec<f64> = features.iter().map(|w| w.abs()).collect();
                let theta = parsimon_core::rule::dense::threshold(&mut magnitudes, radius);
                features.iter_mut().for_each(|w| *w = parsimon_core::soft(*w, theta));
            }
            Some((false, radius)) => {
                let norm = features.iter().map(|w| w * w).sum::<f64>().sqrt();
                if norm > radius {
                    features.iter_mut().for_each(|w| *w *= radius / norm);
                }
            }
            None => {}
        }
        w
    }

    /// FISTA with backtracking and restarts (Beck and Teboulle 2009). For losses with a kink the same steps are
    /// subgradient steps, and the best point seen counts.
    fn minimize(&self) -> (Vec<f64>, f64, f64) {
        let mut w = vec![0.0; self.dimension + 1];
        let (mut y, mut momentum, mut size) = (w.clone(), 1.0f64, 1.0);
        let mut least = self.value(&w);
        let (mut accuracy, mut still) = (f64::INFINITY, 0);
        for _ in 0..MOST_STEPS {
            let g = self.gradient(&y);
            let at_y: f64 = self.costs(&y).iter().sum();
            let mut next;
            loop {
                next = self.step(&y, &g, size);
                let moved = next.iter().zip(&y).map(|(a, b)| a - b);
                let (linear, square) =
                    moved.zip(&g).fold((0.0, 0.0), |(l, s), (d, g)| (l + d * g, s + d * d));
                let smooth: f64 = self.costs(&next).iter().sum();
                if smooth <= at_y + linear + square / (2.0 * size) + 1e-12 * at_y.abs()
                    || size < 1e-18
                {
                    break;
                }
                size /= 2.0;
            }
            let value = self.value(&next);
            if value > least {
                // Too far: begin again from the best point, without momentum.
                (y, momentum) = (w.clone(), 1.0);
                still += 1;
            } else {
                accuracy = (least - value) / least.abs().max(1e-300);
                still = if accuracy < 1e-13 { still + 1 } else { 0 };
                let grown = f64::midpoint(1.0, (1.0 + 4.0 * momentum * momentum).sqrt());
                let factor = (momentum - 1.0) / grown;
                y = next.iter().zip(&w).map(|(a, b)| a + factor * (a - b)).collect();
                (w, least, momentum) = (next, value, grown);
                size *= 1.1;
            }
            if still >= 20 {
                break;
            }
        }
        (w, least, accuracy)
    }
}

//! Regret: what was paid, against the best fixed weights found afterwards.
//!
//! `R_T = sum_t [f_t(w_t) + psi(w_t)] - min_w sum_t [f_t(w) + psi(w)]`, with `psi` the method's own penalty per round.
//! Where the method charges its penalty once in all (`ftrl`), the comparison does too. The best weights are found by
//! accelerated proximal gradient steps over the rows, which are kept in memory: this is for study.

use parsimon_core::{Chunk, Head, Loss};
use serde::Serialize;

use crate::algorithm::objective::{Bound, Charge, FeasibleSet, Met, Objective};
use crate::error::Error;
use crate::settings::Settings;
use crate::training::{Progress, Stretch, Trainer};

/// The rows and what was paid for them.
pub(crate) struct Ledger {
    rows: Chunk,
    paid: f64,
    curve: Vec<(u64, f64, f64)>,
    slope2: f64,
    second: Option<Head>,
}

/// The regret of a run: its cumulative loss minus that of the best fixed weights.
///
/// ```
/// use parsimon::data::{Input, Labels, Options};
/// use parsimon::{InputSchema, LearnerOptions, Plan, Spec, Trainer, run};
///
/// let input = Input::Bytes { name: "d.svm".into(), bytes: b"1 1:1\n-1 2:1\n".repeat(100) };
/// let options = Options { labels: Labels::binary(), ..Options::default() };
/// let plan = Plan { regret: true, ..Plan::new(vec![input], options) };
/// let settings = Spec::new("rda").set("l1", 0.01).resolve()?;
/// let mut trainer = Trainer::new(settings, LearnerOptions::default(), InputSchema::default())?;
/// let regret = run(&mut trainer, &plan, &mut ())?.regret.unwrap();
/// assert_eq!(regret.rounds, 200);
/// assert!(regret.regret > 0.0 && regret.paid > regret.best);
/// # Ok::<(), parsimon::Error>(())
/// ```
#[derive(Clone, Debug, Serialize)]
pub struct Regret {
    /// The number of rounds.
    pub rounds: u64,
    /// Cumulative loss, penalties included, of the weights played.
    pub paid: f64,
    /// Cumulative loss of the best fixed weights, penalties included.
    pub best: f64,
    /// `paid` minus `best`.
    pub regret: f64,
    /// The regret per round.
    pub average: f64,
    /// How far the best weights may be from the minimum: the last relative change of the objective.
    pub accuracy: f64,
    /// The bound from theory, if there is one.
    pub bound: Option<Bound>,
    /// Rounds, regret so far against those same weights, and the bound.
    pub curve: Vec<(u64, f64, Option<f64>)>,
}

impl Ledger {
    pub(crate) fn new() -> Self {
        Self { rows: Chunk::new(), paid: 0.0, curve: Vec::new(), slope2: 0.0, second: None }
    }

    /// The bytes of the rows.
    pub(crate) fn room(&self) -> u64 {
        self.rows.room()
    }

    /// Learns row by row, and books what each cost.
    pub(crate) fn learn(
        &mut self,
        trainer: &mut Trainer,
        chunk: &Chunk,
        report: &mut dyn FnMut(&Progress),
    ) -> Result<(), Error> {
        let settings = trainer.settings().clone();
        let objective = objective(&settings)?;
        let (loss, bias) = (settings.loss(), f64::from(u8::from(trainer.frame().bias)));
        let mut one = Chunk::new();
        for i in 0..chunk.len() {
            let Some(y) = chunk.label(i).filter(|_| chunk.weight(i) > 0.0) else { continue };
            let penalty = match objective.charge {
                Charge::EveryRound => {
                    objective.penalty(trainer.online().freeze().heads()[0].weights())
                }
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
        // Learning has refused settings without one.
        let objective = settings.objective().unwrap_or_default();
        let problem = Problem::new(&self.rows, settings.loss(), objective, has_bias, rounds);
        let (w, best, accuracy) = problem.minimize();
        let norm2 = w.iter().map(|w| w * w).sum();
        let bound_at = |t: u64| {
            let psi_second = self.second.as_ref().map_or(0.0, |h| objective.penalty(h.weights()));
            let (psi, slope2) = (problem.psi(&w), self.slope2);
            settings.regret_bound(&Met { has_bias, rounds: t, norm2, psi, psi_second, slope2 })
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

/// What the weights are compared with; refused where the comparison is not computed.
fn objective(settings: &Settings) -> Result<Objective, Error> {
    let usage = |message: &str| Err(Error::Usage(message.into()));
    if settings.is_multiclass() {
        return usage("the regret is computed for one set of weights, not for one per class");
    }
    if settings.is_kernel() {
        return usage("the regret is computed for linear models, not for a dictionary");
    }
    match settings.objective() {
        Some(objective) => Ok(objective),
        None => usage("the regret is computed for separable penalties and for l1 and l2 balls"),
    }
}

/// `sum_t f_t(w) + c psi(w)` over compact coordinates; the last one is the bias.
struct Problem<'a> {
    rows: &'a Chunk,
    columns: Vec<Vec<usize>>,
    dimension: usize,
    has_bias: bool,
    loss: Loss,
    objective: Objective,
    times: f64,
}

const MOST_STEPS: usize = 5000;

impl<'a> Problem<'a> {
    fn new(rows: &'a Chunk, loss: Loss, objective: Objective, has_bias: bool, rounds: u64) -> Self {
        let mut ids: Vec<u32> =
            (0..rows.len()).flat_map(|i| rows.row(i).indices().iter().copied()).collect();
        ids.sort_unstable();
        ids.dedup();
        let column = |j: &u32| ids.binary_search(j).unwrap_or(0);
        let columns = (0..rows.len()).map(|i| rows.row(i).indices().iter().map(column).collect());
        Self {
            rows,
            columns: columns.collect(),
            dimension: ids.len(),
            has_bias,
            loss,
            objective,
            times: if objective.charge == Charge::Once { 1.0 } else { rounds as f64 },
        }
    }

    fn margin(&self, w: &[f64], i: usize) -> f64 {
        let x = self.rows.row(i).values().iter().zip(&self.columns[i]);
        x.map(|(v, &k)| v * w[k]).sum::<f64>() + w[self.dimension] + self.rows.base(i)
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
        self.objective.penalty(self.features(w))
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
        let (l1, l2) = (self.objective.l1, self.objective.l2);
        let (c1, c2) = (size * self.times * l1, size * self.times * l2);
        for w in features.iter_mut() {
            *w = parsimon_core::soft(*w, c1) / (1.0 + c2);
        }
        match self.objective.set {
            FeasibleSet::L1Ball { radius } => {
                let mut magnitudes: Vec<f64> = features.iter().map(|w| w.abs()).collect();
                let theta = parsimon_core::rule::dense::threshold(&mut magnitudes, radius);
                features.iter_mut().for_each(|w| *w = parsimon_core::soft(*w, theta));
            }
            FeasibleSet::L2Ball { radius } => {
                let norm = features.iter().map(|w| w * w).sum::<f64>().sqrt();
                if norm > radius {
                    features.iter_mut().for_each(|w| *w *= radius / norm);
                }
            }
            FeasibleSet::Box { lower, upper } => {
                features.iter_mut().for_each(|w| *w = w.clamp(lower, upper));
            }
            FeasibleSet::Everything => {}
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

//! Regret: the loss of a run, against that of the best fixed weights found afterwards.
//!
//! `R_T = sum_t [f_t(w_t) + psi(w_t)] - min_w sum_t [f_t(w) + psi(w)]`, with `psi` the method's own penalty per round.
//! Where the method charges its penalty once in all (`ftrl`), the comparison does too. The best weights are found by
//! accelerated proximal gradient steps over the rows, which are kept in memory: this is for study. Each column has a separate
//! step, by the sum of its squares around its mean: columns of different scales would take thousands of common steps.

use parsimon_core::{Chunk, Head, Loss};
use serde::Serialize;

use crate::algorithm::objective::{Bound, Charge, FeasibleSet, Met, Objective};
use crate::error::Error;
use crate::settings::Settings;
use crate::training::{Progress, Stretch, Trainer};

/// The rows with their losses.
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
/// use parsimon::data::{Input, Labels, Options, Reading};
/// use parsimon::{InputSchema, LearnerOptions, Plan, Spec, Trainer, run};
///
/// let input = Input::Bytes { name: "d.svm".into(), bytes: b"1 1:1\n-1 2:1\n".repeat(100) };
/// let options = Options::from(Reading { labels: Labels::binary(), ..Reading::default() });
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
    /// About how far `best` may be above the minimum, as a share of `best`: the length of the proximal gradient times that of the
    /// weights, in the scales of the columns. It is 0 at the minimum.
    pub accuracy: f64,
    /// The bound from theory, if any.
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

    /// Learns row by row, and records the loss of each. `see` is called with each row that has been learned.
    pub(crate) fn learn(
        &mut self,
        trainer: &mut Trainer,
        chunk: &Chunk,
        report: &mut dyn FnMut(&Progress),
        see: &mut dyn FnMut(&Stretch<'_>),
    ) -> Result<(), Error> {
        let settings = trainer.settings().clone();
        let objective = objective(&settings)?;
        let (loss, bias) = (settings.loss(), f64::from(u8::from(trainer.options().bias)));
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
            let watch = &mut |stretch: &Stretch<'_>| {
                p = stretch.margins(0)[0];
                see(stretch);
            };
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
        let (rounds, has_bias) = (self.rows.len() as u64, trainer.options().bias);
        if self.curve.last().is_none_or(|&(t, ..)| t != rounds) {
            self.curve.push((rounds, self.paid, 0.0));
        }
        // Learning has refused settings without an objective.
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

/// Returns the weights of the comparison; refuses a comparison that is not computed.
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
    /// The mean of each column where there is a bias, else 0. Steps are taken with the bias at the means: a column of years is then
    /// no second bias.
    means: Vec<f64>,
    /// The scale of each coordinate: the sum of its squares around the mean.
    scales: Vec<f64>,
}

const MOST_STEPS: usize = 5000;
/// A share of the objective within which the best weights are found.
const EXACT: f64 = 1e-9;
/// A column that hardly varies is not scaled by more than this share of its squares.
const LEAST_VARIATION: f64 = 1e-8;

impl<'a> Problem<'a> {
    fn new(rows: &'a Chunk, loss: Loss, objective: Objective, has_bias: bool, rounds: u64) -> Self {
        let mut ids: Vec<u32> =
            (0..rows.len()).flat_map(|i| rows.row(i).indices().iter().copied()).collect();
        ids.sort_unstable();
        ids.dedup();
        let column = |j: &u32| ids.binary_search(j).unwrap_or(0);
        let columns = (0..rows.len()).map(|i| rows.row(i).indices().iter().map(column).collect());
        let mut problem = Self {
            rows,
            columns: columns.collect(),
            dimension: ids.len(),
            has_bias,
            loss,
            objective,
            times: if objective.charge == Charge::Once { 1.0 } else { rounds as f64 },
            means: vec![0.0; ids.len()],
            scales: vec![0.0; ids.len() + 1],
        };
        problem.scale();
        problem
    }

    /// Finds the means and scales of the columns.
    fn scale(&mut self) {
        let (mut sums, mut squares, mut total) =
            (vec![0.0; self.dimension], vec![0.0; self.dimension], 0.0);
        for i in 0..self.rows.len() {
            let weight = self.rows.weight(i);
            total += weight;
            for (v, &k) in self.rows.row(i).values().iter().zip(&self.columns[i]) {
                sums[k] += weight * v;
                squares[k] += weight * v * v;
            }
        }
        for k in 0..self.dimension {
            let mean = if self.has_bias && total > 0.0 { sums[k] / total } else { 0.0 };
            let around = squares[k] - mean * sums[k];
            self.means[k] = mean;
            self.scales[k] = around.max(LEAST_VARIATION * squares[k]).max(f64::MIN_POSITIVE);
        }
        // The projection on a ball is that of equal scales.
        if matches!(self.objective.set, FeasibleSet::L1Ball { .. } | FeasibleSet::L2Ball { .. }) {
            let largest = self.scales.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
            self.scales.fill(largest);
        }
        self.scales[self.dimension] = total.max(f64::MIN_POSITIVE);
    }

    /// The weights themselves, from those whose bias is at the means of the columns.
    fn uncentered(&self, w: &[f64]) -> Vec<f64> {
        let mut own = w.to_vec();
        let shift: f64 = w.iter().zip(&self.means).map(|(w, mean)| w * mean).sum();
        own[self.dimension] -= shift;
        own
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

    /// The gradient at weights whose bias is at the means.
    fn gradient(&self, centered: &[f64]) -> Vec<f64> {
        let w = &self.uncentered(centered)[..];
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
        let slope = g[self.dimension];
        g.iter_mut().zip(&self.means).for_each(|(g, mean)| *g -= mean * slope);
        g
    }

    /// The sum of the losses at weights whose bias is at the means.
    fn smooth(&self, centered: &[f64]) -> f64 {
        self.costs(&self.uncentered(centered)).iter().sum()
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

    fn value(&self, centered: &[f64]) -> f64 {
        self.smooth(centered) + self.times * self.psi(centered)
    }

    /// About how far the objective may be above its minimum: see [`Regret::accuracy`].
    fn gap(&self, w: &[f64], size: f64) -> f64 {
        let next = self.step(w, &self.gradient(w), size);
        let (mut slope, mut length) = (0.0, 0.0);
        for ((w, next), scale) in w.iter().zip(&next).zip(&self.scales) {
            let moved = (next - w) / size;
            slope += moved * moved * scale;
            length += w * w * scale;
        }
        (slope * length.max(slope)).sqrt()
    }

    /// The proximal step of the penalty, or the projection on the ball.
    fn step(&self, from: &[f64], g: &[f64], size: f64) -> Vec<f64> {
        let sizes = self.scales.iter().map(|scale| size / scale);
        let moved = from.iter().zip(g).zip(sizes.clone());
        let mut w: Vec<f64> = moved.map(|((w, g), size)| w - size * g).collect();
        let features = &mut w[..self.dimension];
        let (l1, l2) = (self.objective.l1, self.objective.l2);
        for (w, size) in features.iter_mut().zip(sizes) {
            *w = parsimon_core::soft(*w, size * self.times * l1) / (1.0 + size * self.times * l2);
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

    /// FISTA with backtracking and restarts (Beck and Teboulle 2009), in the scales of the columns. For losses with a kink the same
    /// steps are subgradient steps, and the best point seen counts. The weights, the objective, and how exact it is.
    fn minimize(&self) -> (Vec<f64>, f64, f64) {
        let mut w = vec![0.0; self.dimension + 1];
        let (mut y, mut momentum, mut size) = (w.clone(), 1.0f64, 1.0);
        let mut least = self.value(&w);
        let mut still = 0;
        for round in 1..=MOST_STEPS {
            let g = self.gradient(&y);
            let at_y = self.smooth(&y);
            let mut next;
            loop {
                next = self.step(&y, &g, size);
                let moved = next.iter().zip(&y).map(|(a, b)| a - b);
                let (linear, square) = moved
                    .zip(&g)
                    .zip(&self.scales)
                    .fold((0.0, 0.0), |(l, s), ((d, g), scale)| (l + d * g, s + d * d * scale));
                let smooth = self.smooth(&next);
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
                let change = (least - value) / least.abs().max(1e-300);
                still = if change < 1e-13 { still + 1 } else { 0 };
                let grown = f64::midpoint(1.0, (1.0 + 4.0 * momentum * momentum).sqrt());
                let factor = (momentum - 1.0) / grown;
                y = next.iter().zip(&w).map(|(a, b)| a + factor * (a - b)).collect();
                (w, least, momentum) = (next, value, grown);
                size *= 1.1;
            }
            let is_exact = round % 10 == 0 && self.gap(&w, size) <= EXACT * least.abs();
            // A change below the rounding of the sums proves little: scales may still be far apart.
            if is_exact || still >= 200 {
                break;
            }
        }
        let accuracy = self.gap(&w, size) / least.abs().max(1e-300);
        (self.uncentered(&w), least, accuracy)
    }
}

#[cfg(test)]
mod tests {
    use parsimon_core::Repeats;

    use super::*;

    /// Rows whose columns are of very different scales, one of them far from zero, and their labels.
    fn rows(label: impl Fn(f64, f64) -> f64) -> (Chunk, Vec<([f64; 4], f64)>) {
        let mut random = parsimon_testing::SplitMix64::new(5);
        let (mut chunk, mut dense) = (Chunk::new(), Vec::new());
        for _ in 0..400 {
            let mut normal = || (0..12).map(|_| random.unit()).sum::<f64>() - 6.0;
            let z = [normal(), normal(), normal()];
            let noise = normal();
            let x = [1e4 * z[0], 1e-3 * (z[1] + 0.5 * z[0]), 2000.0 + 10.0 * z[2], 1.0];
            let y = label(z[0] - 2.0 * z[1] + 0.5 * z[2] - 0.3, noise);
            (1..4).for_each(|j| chunk.push_feature(j, x[j as usize - 1]));
            chunk.finish_row(Some(y), 1.0, Repeats::Refuse).unwrap();
            dense.push((x, y));
        }
        (chunk, dense)
    }

    fn solved(mut a: [[f64; 4]; 4], mut b: [f64; 4]) -> [f64; 4] {
        for k in 0..4 {
            let pivot = (k..4).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs())).unwrap();
            a.swap(k, pivot);
            b.swap(k, pivot);
            for i in k + 1..4 {
                let factor = a[i][k] / a[k][k];
                (k..4).for_each(|j| a[i][j] -= factor * a[k][j]);
                b[i] -= factor * b[k];
            }
        }
        for k in (0..4).rev() {
            b[k] = (b[k] - (k + 1..4).map(|j| a[k][j] * b[j]).sum::<f64>()) / a[k][k];
        }
        b
    }

    /// The least loss by Newton's method with columns of one scale; for the squared loss its first step solves the normal equations.
    fn by_newton(loss: Loss, rows: &[([f64; 4], f64)]) -> f64 {
        let scale = |x: &[f64; 4]| [x[0] / 1e4, x[1] / 1e-3, (x[2] - 2000.0) / 10.0, 1.0];
        let margin = |w: &[f64; 4], x: &[f64; 4]| w.iter().zip(x).map(|(w, x)| w * x).sum::<f64>();
        let mut w = [0.0; 4];
        for _ in 0..30 {
            let (mut a, mut g) = ([[0.0; 4]; 4], [0.0; 4]);
            for (x, y) in rows {
                let x = scale(x);
                let p = margin(&w, &x);
                let h = (loss.slope(p + 1e-5, *y) - loss.slope(p - 1e-5, *y)) / 2e-5;
                for i in 0..4 {
                    g[i] += loss.slope(p, *y) * x[i];
                    (0..4).for_each(|j| a[i][j] += h * x[i] * x[j]);
                }
            }
            let step = solved(a, g);
            w.iter_mut().zip(step).for_each(|(w, step)| *w -= step);
        }
        rows.iter().map(|(x, y)| loss.value(margin(&w, &scale(x)), *y)).sum()
    }

    #[test]
    fn columns_of_different_scales_have_their_best_weights() {
        for loss in [Loss::Squared, Loss::Logistic] {
            let (chunk, dense) = rows(|margin, noise| match loss {
                Loss::Squared => margin + noise,
                _ => (margin + 1.5 * noise).signum(),
            });
            let problem = Problem::new(&chunk, loss, Objective::default(), true, 400);
            let (w, best, accuracy) = problem.minimize();
            let least = by_newton(loss, &dense);
            assert!((best - least).abs() <= 1e-8 * least, "{loss:?}: {best}, Newton {least}");
            assert!(accuracy < 1e-6, "{loss:?}: {accuracy}");
            let at_w: f64 = problem.costs(&w).iter().sum();
            assert!((at_w - best).abs() <= 1e-9 * best, "{loss:?}");
        }
    }

    #[test]
    fn penalties_are_at_their_optimum() {
        let (chunk, _) = rows(|margin, noise| margin + noise);
        let objective = Objective { l1: 0.2, l2: 0.1, ..Objective::default() };
        let problem = Problem::new(&chunk, Loss::Squared, objective, true, 400);
        let (w, best, accuracy) = problem.minimize();
        assert!(accuracy < 1e-8, "{accuracy}");
        // No step along a column lowers the objective.
        let value =
            |w: &[f64]| problem.costs(w).iter().sum::<f64>() + problem.penalty_after(w, 400);
        for k in 0..w.len() {
            for step in [-1e-3, 1e-3] {
                let mut other = w.clone();
                other[k] += step / problem.scales[k].sqrt();
                assert!(value(&other) >= best * (1.0 - 1e-9), "column {k}");
            }
        }
    }
}

//! Regret at marks during the run, `R_t = sum [f(w) + psi(w)] - min_w sum [f(w) + psi(w)]`, and the bound of the theory.
//!
//! At each mark the rival is the best fixed point of the rounds so far, so the bound is computed with the smallest `D` that covers it; `L` is the largest
//! gradient met. Rows have length 1 unless they come from a real set.

use std::collections::BTreeMap;

use parsimon::algorithm::typed::{Beta, DualAveraging, GeneralizedRda, Pda, Rda, Stabilizer};
use parsimon::rows::{Chunk, Repeats, Row};
use parsimon::survey::Found;
use parsimon::workspace::{FeasibleSet, Objective};
use parsimon::{LearnerOptions, Settings, Spec};
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Deserialize;

use super::hindsight::{Best, Charge, DenseRows, Sum, dot, is_smooth};
use super::{Curve, Run, Trial, spec};
use crate::data::rows::shuffled;
use crate::data::stand_in::rows_or_stand_in;
use crate::experiment::PerEffort;

const FIRST_MARK: usize = 16;
/// Rows on which the mean of the iterates is judged.
const FRESH: usize = 5000;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Data {
    rounds: PerEffort,
    /// A real set, instead of generated rows.
    #[serde(default)]
    set: Option<String>,
    #[serde(default)]
    n: usize,
    /// The share of zeros in the truth.
    #[serde(default)]
    zeros: f64,
    /// Euclidean norm of the true weights.
    #[serde(default)]
    length: f64,
    /// Numbers with noise of this standard deviation; without it, classes drawn from the logistic model.
    #[serde(default)]
    noise: Option<f64>,
    /// Whether each mark is a separate run, with the rate over the root of its rounds.
    #[serde(default)]
    horizon: bool,
}

pub(super) fn trial(run: &Run<'_>) -> Result<Trial, String> {
    let data: Data = run.settings()?;
    let rounds = data.rounds.at(run.effort) as usize;
    let (rows, rounds, stand_in) = data.rows(run, rounds)?;
    let fresh = rows.tail(rounds);
    let mut trial = Trial { stand_in, ..Trial::default() };
    let mut known: Vec<(Rivals, Charge)> = Vec::new();
    for method in run.experiment.methods_of(run.variant) {
        let fail = |e: parsimon::BuildError| format!("{}: {e}", method.name);
        let settings = spec(method).resolve().map_err(fail)?;
        let Some(charge) = charge(&settings).filter(|_| is_smooth(settings.loss())) else {
            return Err(format!("{}: its regret cannot be certified here", method.name));
        };
        let place = known.iter().position(|(r, c)| *c == charge && r.loss == settings.loss());
        let place = place.unwrap_or_else(|| {
            known.push((Rivals::find(&rows, &fresh, rounds, &settings, charge), charge));
            known.len() - 1
        });
        let rivals = &known[place].0;
        let curves = match data.horizon {
            false => play(&rows, &fresh, rivals, &settings, charge, &rivals.marks()),
            true => horizons(&rows, &fresh, rivals, &spec(method), charge),
        };
        trial.curves.insert(method.name.clone(), curves.map_err(fail)?);
    }
    Ok(trial)
}

impl Data {
    /// The rows of the run, followed by fresh rows; a set that is too small gives fewer rounds.
    fn rows(
        &self,
        run: &Run<'_>,
        rounds: usize,
    ) -> Result<(DenseRows, usize, Option<String>), String> {
        let Some(set) = &self.set else {
            return Ok((self.generate(run.seed, rounds), rounds, None));
        };
        let (read, stand_in) = rows_or_stand_in(set, run.data).map_err(|e| e.to_string())?;
        let chunk = shuffled(&read.train, run.seed);
        if chunk.len() < 2 * FRESH {
            return Err(format!("{set} has {} rows, {} are needed", chunk.len(), 2 * FRESH));
        }
        let rounds = rounds.min(chunk.len() - FRESH);
        let rows: Vec<_> = (0..rounds + FRESH).map(|i| chunk.row(i)).collect();
        let n = rows.iter().flat_map(Row::indices).max().map_or(0, |j| *j as usize);
        let mut dense = DenseRows { n, x: vec![0.0; n * rows.len()], y: Vec::new() };
        for (i, row) in rows.iter().enumerate() {
            for (j, v) in row.indices().iter().zip(row.values()).filter(|(j, _)| **j > 0) {
                dense.x[i * n + *j as usize - 1] = *v;
            }
            dense.y.push(chunk.label(i).unwrap_or(1.0));
        }
        Ok((dense, rounds, stand_in))
    }

    fn generate(&self, seed: u64, rounds: usize) -> DenseRows {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let normal = |random: &mut Xoshiro256PlusPlus| -> f64 { StandardNormal.sample(random) };
        let dense = ((1.0 - self.zeros) * self.n as f64).round() as usize;
        let mut truth: Vec<f64> =
            (0..self.n).map(|j| if j < dense { normal(&mut random) } else { 0.0 }).collect();
        scale(&mut truth, self.length);
        let mut rows = DenseRows { n: self.n, ..DenseRows::default() };
        for _ in 0..rounds + FRESH {
            let mut x: Vec<f64> = (0..self.n).map(|_| normal(&mut random)).collect();
            scale(&mut x, 1.0);
            let p = dot(&x, &truth);
            rows.y.push(match self.noise {
                Some(noise) => p + noise * normal(&mut random),
                None if random.random::<f64>() < 1.0 / (1.0 + (-p).exp()) => 1.0,
                None => -1.0,
            });
            rows.x.extend(x);
        }
        rows
    }
}

fn scale(v: &mut [f64], length: f64) {
    let norm = dot(v, v).sqrt().max(1e-300);
    v.iter_mut().for_each(|v| *v *= length / norm);
}

impl DenseRows {
    fn tail(&self, from: usize) -> DenseRows {
        DenseRows { n: self.n, x: self.x[from * self.n..].to_vec(), y: self.y[from..].to_vec() }
    }

    fn chunk(&self, i: usize, chunk: &mut Chunk) {
        chunk.clear();
        (1..).zip(self.row(i)).for_each(|(j, &v)| chunk.push_feature(j, v));
        if chunk.finish_row(Some(self.y[i]), 1.0, Repeats::Refuse).is_err() {
            unreachable!("rows are finite");
        }
    }
}

/// The charge of a round, for the methods whose theory is here.
fn charge(settings: &Settings) -> Option<Charge> {
    let has_theory = settings.typed::<Rda>().is_some()
        || settings.typed::<GeneralizedRda>().is_some()
        || settings.typed::<Pda>().is_some();
    let Objective { l1, l2, set, .. } = settings.objective()?;
    match set {
        FeasibleSet::L1Ball { radius } if settings.typed::<DualAveraging>().is_some() => {
            Some(Charge::Ball { radius })
        }
        FeasibleSet::Everything if has_theory && (l1 > 0.0 || l2 > 0.0) => {
            Some(Charge::ElasticNet { l1, l2 })
        }
        _ => None,
    }
}

/// The best fixed points: of the first rounds up to each mark, and of the fresh rows.
struct Rivals {
    loss: parsimon::settings::Loss,
    at: Vec<(usize, Best)>,
    fresh: Best,
}

impl Rivals {
    fn find(
        rows: &DenseRows,
        fresh: &DenseRows,
        rounds: usize,
        like: &Settings,
        charge: Charge,
    ) -> Self {
        let loss = like.loss();
        let mut start = vec![0.0; rows.n];
        let mut at = Vec::new();
        for mark in marks(rounds) {
            let best = Sum { rows, rounds: mark, loss, charge }.minimize(&start);
            start.clone_from(&best.w);
            at.push((mark, best));
        }
        let fresh = Sum { rows: fresh, rounds: fresh.y.len(), loss, charge }.minimize(&start);
        Self { loss, at, fresh }
    }

    fn marks(&self) -> Vec<usize> {
        self.at.iter().map(|(t, _)| *t).collect()
    }

    fn before(&self, mark: usize) -> Option<&Best> {
        self.at.iter().find(|(t, _)| *t == mark).map(|(_, best)| best)
    }
}

/// Powers of two, and the last round.
fn marks(rounds: usize) -> Vec<usize> {
    let powers = std::iter::successors(Some(FIRST_MARK), |t| Some(2 * t));
    powers.take_while(|t| *t < rounds).chain([rounds]).collect()
}

/// The rate of a method whose theory is here.
fn rate(settings: &Settings) -> f64 {
    let rates = [
        settings.typed::<Rda>().map(|rda| rda.rate),
        settings.typed::<GeneralizedRda>().map(|rda| rda.rate),
        settings.typed::<Pda>().map(|pda| pda.rate),
        settings.typed::<DualAveraging>().map(|averaging| averaging.rate),
    ];
    rates.into_iter().flatten().next().unwrap_or(1.0)
}

/// Each mark a separate run, at a rate made for its length.
fn horizons(
    rows: &DenseRows,
    fresh: &DenseRows,
    rivals: &Rivals,
    spec: &Spec,
    charge: Charge,
) -> Result<BTreeMap<String, Curve>, parsimon::BuildError> {
    let rate = rate(&spec.resolve()?);
    let mut all: BTreeMap<String, Curve> = BTreeMap::new();
    for mark in rivals.marks() {
        let settings = spec.clone().set("rate", rate / (mark as f64).sqrt()).resolve()?;
        for (measure, curve) in play(rows, fresh, rivals, &settings, charge, &[mark])? {
            all.entry(measure).or_default().extend(curve);
        }
    }
    // Each run is counted separately.
    for measure in ["beyond", "beyond_printed"] {
        let mut sum = 0.0;
        for (_, count) in all.get_mut(measure).into_iter().flatten() {
            sum += *count;
            *count = sum;
        }
    }
    Ok(all)
}

/// Plays a method and measures it at the marks.
fn play(
    rows: &DenseRows,
    fresh: &DenseRows,
    rivals: &Rivals,
    settings: &Settings,
    charge: Charge,
    marks: &[usize],
) -> Result<BTreeMap<String, Curve>, parsimon::BuildError> {
    let loss = settings.loss();
    let mut online = settings
        .build(LearnerOptions { bias: false, ..LearnerOptions::default() }, &Found::default())?;
    let mut w = vec![0.0; rows.n];
    let (mut paid, mut met, mut mean) = (0.0, Met::default(), vec![0.0; rows.n]);
    let (mut chunk, mut margins, mut books) = (Chunk::new(), Vec::new(), Books::default());
    for i in 0..marks.last().copied().unwrap_or(0) {
        let t = i + 1;
        let psi = charge.at(&w);
        let p = rows.margin(i, &w);
        paid += loss.value(p, rows.y[i]) + psi;
        met.psi = met.psi.max(psi);
        met.slope2 =
            met.slope2.max(loss.slope(p, rows.y[i]).powi(2) * dot(rows.row(i), rows.row(i)));
        mean.iter_mut().zip(&w).for_each(|(m, w)| *m += (w - *m) / t as f64);
        rows.chunk(i, &mut chunk);
        margins.clear();
        online.learn(&chunk, &mut margins);
        let frozen = online.freeze();
        (1..).zip(&mut w).for_each(|(j, w)| *w = frozen.heads()[0].weight(j));
        if t == 1 {
            met.psi_second = charge.at(&w);
        }
        if let Some(best) = rivals.before(t).filter(|_| marks.contains(&t)) {
            let bound = |w: &[f64]| Bound::of(settings, t, &met, charge, w);
            books.regret(t, paid - best.value, best.gap, bound(&best.w));
            let sum = Sum { rows: fresh, rounds: fresh.y.len(), loss, charge };
            let excess = (sum.value(&mean) - rivals.fresh.value) / fresh.y.len() as f64;
            books.push(t, "excess", excess);
            books.push(t, "excess_bound", bound(&rivals.fresh.w).exact / t as f64);
        }
    }
    Ok(books.curves)
}

/// Constants of the bounds.
#[derive(Clone, Copy, Debug, Default)]
struct Met {
    /// The largest `|g|^2`.
    slope2: f64,
    /// The largest charge of a point played.
    psi: f64,
    /// The charge of the second point.
    psi_second: f64,
}

/// Bound of the regret.
#[derive(Clone, Copy, Debug)]
struct Bound {
    /// The bound of the proof.
    exact: f64,
    /// The closed expression the paper prints for this sequence, where it does.
    printed: Option<f64>,
}

impl Bound {
    /// At round `t`, against `w`.
    fn of(settings: &Settings, t: usize, met: &Met, charge: Charge, w: &[f64]) -> Self {
        let half = 0.5 * dot(w, w);
        let rounds = t as f64;
        // Ushio 2018: (A.17), and (A.10).
        if let Some(Pda { rate, .. }) = settings.typed() {
            return Self {
                exact: rounds * met.psi + 0.5 * rate * rounds * met.slope2 + half / rate,
                printed: Some(0.5 * rate * rounds * (met.slope2 + met.psi) + half / rate),
            };
        }
        if let Some(&GeneralizedRda { rate, b, .. }) = settings.typed() {
            let beta = |tau: f64| tau.powf(b) / rate;
            let constant = 0.5 * rate * rounds * met.slope2 + half / rate;
            return Self {
                exact: delta(t, 0.0, beta(1.0), &beta, half, met.slope2),
                printed: (b == 0.0).then_some(constant),
            };
        }
        match (settings.typed::<Rda>(), settings.typed::<DualAveraging>()) {
            (Some(rda), _) if rda.penalized.l2 > 0.0 => Self::strong(rda, t, met, charge, w),
            (Some(rda), _) => Self::root(rda.rate, t, half, met),
            (None, Some(averaging)) => Self::root(averaging.rate, t, half, met),
            (None, None) => unreachable!("charge() admits only the methods above"),
        }
    }

    /// (4.1) with the square-root sequence, and (4.4).
    fn root(rate: f64, t: usize, half: f64, met: &Met) -> Self {
        Self {
            exact: delta(t, 0.0, 1.0 / rate, &|tau| tau.sqrt() / rate, half, met.slope2),
            printed: Some((half / rate + rate * met.slope2) * (t as f64).sqrt()),
        }
    }

    /// (4.1) with `sigma > 0`, and (4.6), (4.7) or (4.8).
    fn strong(rda: &Rda, t: usize, met: &Met, charge: Charge, w: &[f64]) -> Self {
        let sigma = rda.penalized.l2;
        let (log, slope2) = (1.0 + (t as f64).ln(), met.slope2);
        let noise = slope2 / (2.0 * sigma);
        let d2 = match rda.prox {
            Stabilizer::Psi => charge.at(w) / sigma,
            Stabilizer::Half => 0.5 * dot(w, w),
        };
        let at = |beta: &dyn Fn(f64) -> f64| delta(t, sigma, sigma, beta, d2, slope2);
        match rda.beta {
            Beta::Zero => {
                Self { exact: met.psi_second + at(&|_| 0.0), printed: Some(noise * (5.0 + log)) }
            }
            Beta::Constant => {
                Self { exact: at(&|_| sigma), printed: Some(sigma * d2 + noise * log) }
            }
            Beta::Log => Self {
                exact: at(&|tau| sigma * (1.0 + tau.ln())),
                printed: Some((sigma * d2 + noise) * log),
            },
            Beta::Sqrt => {
                let beta = |tau: f64| tau.sqrt() / rda.rate;
                Self { exact: delta(t, sigma, beta(1.0), &beta, d2, slope2), printed: None }
            }
        }
    }
}

/// `beta_t D^2 + L^2/2 sum_{tau<t} 1/(sigma tau + beta_tau)`, (4.1) of the notes.
fn delta(
    t: usize,
    sigma: f64,
    beta_0: f64,
    beta: &dyn Fn(f64) -> f64,
    d2: f64,
    slope2: f64,
) -> f64 {
    let later = (1..t).map(|tau| 1.0 / (sigma * tau as f64 + beta(tau as f64))).sum::<f64>();
    beta(t as f64) * d2 + 0.5 * slope2 * (1.0 / beta_0 + later)
}

#[derive(Default)]
struct Books {
    curves: BTreeMap<String, Curve>,
    beyond: f64,
    beyond_printed: f64,
}

impl Books {
    fn push(&mut self, t: usize, measure: &str, value: f64) {
        self.curves.entry(measure.to_owned()).or_default().push((t as f64, value));
    }

    fn regret(&mut self, t: usize, regret: f64, gap: f64, bound: Bound) {
        let rounds = t as f64;
        self.push(t, "regret", regret);
        self.push(t, "bound", bound.exact);
        self.push(t, "ratio", regret / bound.exact);
        self.beyond += f64::from(u8::from(regret > bound.exact));
        self.push(t, "beyond", self.beyond);
        if let Some(printed) = bound.printed {
            self.push(t, "printed", printed);
            self.beyond_printed += f64::from(u8::from(regret > printed));
            self.push(t, "beyond_printed", self.beyond_printed);
        }
        self.push(t, "average", regret / rounds);
        self.push(t, "per_root", regret / rounds.sqrt());
        self.push(t, "per_log", regret / (1.0 + rounds.ln()));
        self.push(t, "gap", gap);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sums of (4.4), (4.6) and (4.7) are below the closed expressions the notes print for them.
    #[test]
    fn closed_bounds_are_above_the_sums() {
        let met = Met { slope2: 2.0, psi: 0.3, psi_second: 0.1 };
        let charge = Charge::ElasticNet { l1: 0.01, l2: 0.5 };
        let build = |fields: &str| {
            let table: toml::Table = toml::from_str(fields).unwrap();
            crate::kind::spec_of(&table).resolve().unwrap()
        };
        let sequences = [
            "algorithm = 'rda'\nrate = 0.5\nl1 = 0.01",
            "algorithm = 'rda'\nl1 = 0.01\nl2 = 0.5\nbeta = 'constant'\nprox = 'psi'",
            "algorithm = 'rda'\nl1 = 0.01\nl2 = 0.5\nbeta = 'log'\nprox = 'psi'",
            "algorithm = 'rda'\nl1 = 0.01\nl2 = 0.5\nbeta = 'zero'\nprox = 'psi'",
            "algorithm = 'dual-averaging'\nball = 'l1'\nradius = 3\nrate = 0.5",
        ];
        for sequence in sequences.map(build) {
            for t in [1, 2, 10, 1000] {
                let bound = Bound::of(&sequence, t, &met, charge, &[1.0, -0.5]);
                let printed = bound.printed.unwrap();
                assert!(bound.exact <= printed * (1.0 + 1e-12), "{t}: {bound:?}");
                assert!(t < 1000 || bound.exact > 0.5 * printed, "{t}: {bound:?}");
            }
        }
    }

    #[test]
    fn marks_are_powers_of_two_and_the_end() {
        assert_eq!(marks(100), [16, 32, 64, 100]);
        assert_eq!(marks(64), [16, 32, 64]);
        assert_eq!(marks(5), [5]);
    }
}

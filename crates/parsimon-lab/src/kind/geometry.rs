//! Figures 2.1 and 3.2 of the PDA thesis, which illustrate one step, as numbers over many draws.
//!
//! Figure 2.1: the descent directions of the squared loss, of the normalized squared loss, and of the normalized squared loss in the metric `Q`, for a row scaled up.
//! Figure 3.2: the amounts by which the proximal step of `sum q_i^k |w_i|` in the metric `Q` shrinks a large and a small component, for `k` of 0, 1 and 2. The step is
//! found by search over its definition, not by the closed form.

use std::collections::BTreeMap;

use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Deserialize;

use super::hindsight::dot;
use super::{Curve, Run, Trial};
use crate::picture::Picture;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct GeometrySettings {
    n: usize,
    /// The share of zeros in the truth.
    zeros: f64,
    /// `alpha` and `epsilon` of (3.5).
    alpha: f64,
    epsilon: f64,
    /// Factor of the row.
    scales: Vec<f64>,
    /// `lambda eta` of the proximal step.
    threshold: f64,
}

/// Step, as in the file.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
enum What {
    /// The descent direction of the squared loss.
    Squared,
    /// The descent direction of the normalized squared loss.
    Normalized,
    /// The descent direction of the normalized squared loss in the metric.
    Metric,
    /// The proximal step of `sum q_i^k |w_i|`.
    Penalty(i32),
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct GeometryMethod {
    step: What,
}

pub(super) fn trial(run: &Run<'_>) -> Result<Trial, String> {
    let settings: GeometrySettings = run.settings()?;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(run.seed);
    let draw = settings.draw(&mut random);
    let mut trial = Trial::default();
    for method in run.experiment.methods_of(run.variant) {
        let GeometryMethod { step } =
            method.spec.clone().try_into().map_err(|e| format!("{}: {e}", method.name))?;
        let curves = match step {
            What::Penalty(power) => settings.shrinking(&draw, power),
            _ => settings.directions(&draw, step),
        };
        trial.curves.insert(method.name.clone(), curves);
    }
    let has_balls = trial.curves.values().any(|c| c.contains_key("large"));
    if run.is_first && has_balls {
        trial.pictures.push(balls());
    }
    Ok(trial)
}

/// A truth, an estimate on the way to it, and a row.
struct Draw {
    truth: Vec<f64>,
    w: Vec<f64>,
    x: Vec<f64>,
    /// The diagonal of `Q`.
    q: Vec<f64>,
}

impl GeometrySettings {
    fn draw(&self, random: &mut Xoshiro256PlusPlus) -> Draw {
        let normal = |random: &mut Xoshiro256PlusPlus| -> f64 { StandardNormal.sample(random) };
        let dense = ((1.0 - self.zeros) * self.n as f64).round() as usize;
        let truth: Vec<f64> =
            (0..self.n).map(|j| if j < dense { normal(random) } else { 0.0 }).collect();
        // An estimate that has come part of the way, with errors everywhere.
        let part: f64 = random.random_range(0.3..0.7);
        let w: Vec<f64> = truth.iter().map(|v| part * v + 0.02 * normal(random)).collect();
        let x = (0..self.n).map(|_| normal(random)).collect();
        // (3.5): Q = alpha I + n (1 - alpha)/S (|w| + epsilon)^-1.
        let inverse: Vec<f64> = w.iter().map(|w| 1.0 / (w.abs() + self.epsilon)).collect();
        let sum: f64 = inverse.iter().sum();
        let q = inverse
            .iter()
            .map(|v| self.alpha + self.n as f64 * (1.0 - self.alpha) / sum * v)
            .collect();
        Draw { truth, w, x, q }
    }

    /// Length of the step and its angle to the way to the truth, by the scale of the row.
    fn directions(&self, draw: &Draw, step: What) -> BTreeMap<String, Curve> {
        let goal: Vec<f64> = draw.truth.iter().zip(&draw.w).map(|(t, w)| t - w).collect();
        let (mut lengths, mut angles) = (Curve::new(), Curve::new());
        for &scale in &self.scales {
            let x: Vec<f64> = draw.x.iter().map(|x| scale * x).collect();
            let error = dot(&x, &draw.truth) - dot(&x, &draw.w);
            let metric: Vec<f64> = match step {
                What::Metric => x.iter().zip(&draw.q).map(|(x, q)| x / q).collect(),
                _ => x.clone(),
            };
            let over = if matches!(step, What::Squared) { 1.0 } else { dot(&x, &metric) };
            let way: Vec<f64> = metric.iter().map(|v| error * v / over).collect();
            let length = dot(&way, &way).sqrt();
            let cosine = dot(&way, &goal) / (length * dot(&goal, &goal).sqrt()).max(1e-300);
            lengths.push((scale, length));
            angles.push((scale, cosine.clamp(-1.0, 1.0).acos().to_degrees()));
        }
        BTreeMap::from([("length".to_owned(), lengths), ("angle".to_owned(), angles)])
    }

    /// The amounts that the largest and the smallest component of the truth's support lose.
    fn shrinking(&self, draw: &Draw, power: i32) -> BTreeMap<String, Curve> {
        let lost = |w: f64, q: f64| {
            let weight = self.threshold * q.powi(power);
            let cost = |z: f64| weight * z.abs() + 0.5 * q * (w - z) * (w - z);
            w.abs() - minimum(&cost, w).abs()
        };
        // Both stand far enough from zero that neither is cut to nothing.
        let (large, small) = (4.0, 1.0);
        let q_of = |w: f64| {
            let sum = 1.0 / (large + self.epsilon) + 1.0 / (small + self.epsilon);
            self.alpha + 2.0 * (1.0 - self.alpha) / sum / (w + self.epsilon)
        };
        // The draw decides the sizes; their order is that of the figure.
        let unit = draw.w.iter().fold(0.0f64, |m, w| m.max(w.abs()));
        let point = |value: f64| vec![(1.0, value)];
        BTreeMap::from([
            ("large".to_owned(), point(lost(large * unit, q_of(large)) / unit)),
            ("small".to_owned(), point(lost(small * unit, q_of(small)) / unit)),
        ])
    }
}

/// The minimum of a convex function between zero and `w`, by golden sections.
fn minimum(cost: &dyn Fn(f64) -> f64, w: f64) -> f64 {
    let ratio = 0.5 * (5f64.sqrt() - 1.0);
    let (mut low, mut high) = (w.min(0.0), w.max(0.0));
    for _ in 0..120 {
        let (a, b) = (high - ratio * (high - low), low + ratio * (high - low));
        if cost(a) < cost(b) { high = b } else { low = a }
    }
    f64::midpoint(low, high)
}

/// The unit balls of figure 3.2 in the coordinates of the metric, for `q` of 1/2 and 2.
fn balls() -> Picture {
    let q = [0.5f64, 2.0];
    let ball = |power: i32| -> Vec<(f64, f64)> {
        let corner = |k: usize| q[k].sqrt() / q[k].powi(power);
        let (a, b) = (corner(0), corner(1));
        vec![(a, 0.0), (0.0, b), (-a, 0.0), (0.0, -b), (a, 0.0)]
    };
    Picture::Lines {
        title: "Unit balls of the three penalties in the metric (Figure 3.2)".into(),
        subtitle: "q of 1/2 across (a large weight) and 2 upwards (a small one); coordinates are the weights times the root of q".into(),
        across: "component with the smaller q".into(),
        up: "component with the larger q".into(),
        lines: [(0, "sum |w|: fat"), (1, "sum q |w|"), (2, "sum q^2 |w|: tall")]
            .map(|(power, name)| (name.to_owned(), ball(power)))
            .to_vec(),
    }
}

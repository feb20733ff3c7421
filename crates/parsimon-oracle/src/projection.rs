//! Projections in a metric that follows the weights (000): PDA, APFBS, PAPA, APA, NLMS.
//!
//! Each round has a set `C_t` of weights that are right about it, and the step is
//! `g = w - P(w)`, the way back from the `Q`-nearest point of the set: the `Q`-gradient of
//! `d_Q(w, C_t)^2 / 2`.

use crate::history::History;
use crate::matrix::{Matrix, solve};
use crate::method::{Method, Round, dot};
use crate::prox::soft;
use crate::space::Space;
use crate::spec::Spec;

/// The diagonal of the metric (3.5): `q_i = alpha + (1 - alpha) (n/S) / (|w_i| + epsilon)`, with
/// `S` the sum of `1 / (|w_j| + epsilon)`, so that the trace is `n`.
pub fn metric(w: &[f64], alpha: f64, epsilon: f64) -> Vec<f64> {
    let n = w.len() as f64;
    let s: f64 = w.iter().map(|w| 1.0 / (w.abs() + epsilon)).sum();
    w.iter().map(|w| alpha + (1.0 - alpha) * (n / s) / (w.abs() + epsilon)).collect()
}

/// `g = Q^-1 X (X^T Q^-1 X + delta I)^-1 (X^T w - y)`, where `rows` are the columns of `X`.
///
/// With `delta = 0`, `w - g` is the nearest point where every row has its label.
pub fn from_hyperplanes(
    w: &[f64],
    q: &[f64],
    rows: &[Vec<f64>],
    labels: &[f64],
    delta: f64,
) -> Vec<f64> {
    // A row of zeros is no hyperplane. Its column of X changes nothing when delta > 0, and is a
    // division of zero by zero when delta = 0.
    let (rows, labels): (Vec<&Vec<f64>>, Vec<f64>) =
        rows.iter().zip(labels).filter(|(x, _)| x.iter().any(|&x| x != 0.0)).unzip();
    let gained: Vec<Vec<f64>> =
        rows.iter().map(|x| x.iter().zip(q).map(|(x, q)| x / q).collect()).collect();
    let gram: Matrix = (0..rows.len())
        .map(|i| {
            (0..rows.len())
                .map(|j| dot(rows[i], &gained[j]) + if i == j { delta } else { 0.0 })
                .collect()
        })
        .collect();
    let residual: Vec<f64> = rows.iter().zip(labels).map(|(x, y)| dot(x, w) - y).collect();
    let c = solve(&gram, &residual);
    (0..w.len()).map(|i| gained.iter().zip(&c).map(|(column, c)| column[i] * c).sum()).collect()
}

/// `g = -y Q^-1 x max(0, 1 - y w.x) / (x^T Q^-1 x + delta)`.
///
/// With `delta = 0`, `w - g` is the nearest point of `{w : y w.x >= 1}`.
pub fn from_halfspace(w: &[f64], q: &[f64], x: &[f64], y: f64, delta: f64) -> Vec<f64> {
    let gained: Vec<f64> = x.iter().zip(q).map(|(x, q)| x / q).collect();
    let square = dot(x, &gained) + delta;
    // A row of zeros has no margin to gain.
    if square == 0.0 {
        return vec![0.0; w.len()];
    }
    let missing = (1.0 - y * dot(w, x)).max(0.0);
    gained.iter().map(|gained| -y * gained * missing / square).collect()
}

/// The set a round projects on.
#[derive(Clone, Copy, Debug)]
enum Set {
    /// The weights that fit the last `order` rows.
    Hyperplanes { order: usize },
    /// The weights with margin at least one.
    HalfSpace,
}

/// Returns the transformed gradient.
#[derive(Clone, Debug)]
enum Update {
    /// `w = soft(-eta s, eta l1 q)`, `s` the sum of every `g` so far.
    DualAveraging(History),
    /// `w = soft(w - eta g, eta l1 q)`.
    ForwardBackward,
}

struct Projection {
    space: Space,
    /// `alpha` and `epsilon` of the metric; none is the identity.
    metric: Option<(f64, f64)>,
    set: Set,
    update: Update,
    eta: f64,
    l1: Vec<f64>,
    /// The multiple of the penalty in force, where it is in force once.
    scale: f64,
    /// The metric of the last round.
    q: Vec<f64>,
    delta: f64,
    /// The power `k` of the metric in the penalty `l1 sum q_i^k |w_i|`.
    power: i32,
    /// Whether the penalty counts once per round.
    grows: bool,
    rows: Vec<Vec<f64>>,
    labels: Vec<f64>,
    w: Vec<f64>,
}

impl Projection {
    fn new(spec: &Spec, space: &Space, update: Update, order: usize) -> Self {
        spec.refuse_strength("l2");
        spec.check_dimension(space.dimension);
        let set = match spec.text("loss").as_str() {
            "projection" => Set::Hyperplanes { order },
            "halfspace" => {
                assert!(order == 1, "a half-space is projected on alone, got order {order}");
                Set::HalfSpace
            }
            other => panic!("unknown loss {other:?}"),
        };
        let metric =
            spec.get("alpha").map(|_| (spec.number("alpha"), spec.number_or("epsilon", 1e-5)));
        Projection {
            space: space.clone(),
            metric,
            set,
            update,
            eta: spec.number("rate"),
            l1: space.on_features(spec.number_or("l1", 0.0)),
            scale: 1.0,
            q: vec![1.0; space.len()],
            delta: spec.number_or("delta", 1e-5),
            power: match spec.text_or("l1_metric", "squared").as_str() {
                "none" => 0,
                "metric" => 1,
                "squared" => 2,
                other => panic!("unknown l1_metric {other:?}"),
            },
            grows: spec.flag_or("growing_l1", false),
            rows: Vec::new(),
            labels: Vec::new(),
            w: space.zeros(),
        }
    }

    /// The metric over the features, from the weights before the round; one for the bias.
    fn q(&self) -> Vec<f64> {
        match self.metric {
            Some((alpha, epsilon)) => {
                let mut q = metric(&self.w[..self.space.dimension], alpha, epsilon);
                q.resize(self.space.len(), 1.0);
                q
            }
            None => vec![1.0; self.space.len()],
        }
    }

    /// `soft(v, eta l1 q^(k-1))`, with the multiple of the penalty that is in force: the rounds so far, where it grows with them.
    fn shrink(&mut self, v: &[f64]) {
        let times = if self.grows { self.rows.len() as f64 } else { self.scale };
        for (i, w) in self.w.iter_mut().enumerate() {
            let q = self.q[i].powi(self.power - 1);
            *w = soft(v[i], self.eta * times * self.l1[i] * q);
        }
    }
}

impl Method for Projection {
    fn point(&self) -> Vec<f64> {
        self.w.clone()
    }

    fn learn(&mut self, round: &Round) {
        self.rows.push(round.x.to_vec());
        self.labels.push(round.y);
        self.q = self.q();
        let q = &self.q;
        let g = match self.set {
            Set::Hyperplanes { order } => {
                let first = self.rows.len().saturating_sub(order);
                let (rows, labels) = (&self.rows[first..], &self.labels[first..]);
                from_hyperplanes(&self.w, q, rows, labels, self.delta)
            }
            Set::HalfSpace => from_halfspace(&self.w, q, round.x, round.y, self.delta),
        };
        let g: Vec<f64> = g.iter().map(|g| round.weight * g).collect();
        let eta = self.eta;
        let v: Vec<f64> = match &mut self.update {
            Update::DualAveraging(past) => {
                past.push(g);
                past.sum(self.w.len()).iter().map(|s| -eta * s).collect()
            }
            Update::ForwardBackward => self.w.iter().zip(&g).map(|(w, g)| w - eta * g).collect(),
        };
        self.shrink(&v);
    }

    fn scale_penalty(&mut self, scale: f64) {
        if let Update::DualAveraging(past) = &self.update {
            let v: Vec<f64> = past.sum(self.w.len()).iter().map(|s| -self.eta * s).collect();
            self.scale = scale;
            self.shrink(&v);
        }
    }
}

fn order(spec: &Spec) -> usize {
    if spec.get("order").is_some() { spec.count("order") } else { 1 }
}

pub(crate) fn pda(spec: &Spec, space: &Space) -> Box<dyn Method> {
    Box::new(Projection::new(spec, space, Update::DualAveraging(History::default()), order(spec)))
}

pub(crate) fn apfbs(spec: &Spec, space: &Space) -> Box<dyn Method> {
    Box::new(Projection::new(spec, space, Update::ForwardBackward, order(spec)))
}

/// APFBS without a penalty.
pub(crate) fn papa(spec: &Spec, space: &Space) -> Box<dyn Method> {
    spec.refuse_strength("l1");
    Box::new(Projection::new(spec, space, Update::ForwardBackward, order(spec)))
}

/// PAPA in the identity metric.
pub(crate) fn apa(spec: &Spec, space: &Space) -> Box<dyn Method> {
    assert!(spec.get("alpha").is_none(), "{} has no metric", spec.text("algorithm"));
    papa(spec, space)
}

/// APA of order one.
pub(crate) fn nlms(spec: &Spec, space: &Space) -> Box<dyn Method> {
    assert!(order(spec) == 1, "nlms is of order 1, got {}", order(spec));
    apa(spec, space)
}

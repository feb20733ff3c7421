//! Recursive least squares, twice: by its recursion, and as the ridge regression it solves
//! (001, "2SGD").

use crate::Stream;
use crate::loss::Loss;
use crate::matrix::{Matrix, solve, times};
use crate::method::{self, Method, Round, dot};
use crate::space::Space;
use crate::spec::Spec;
use serde_json::Value;

/// `k = v P x / (f + v x.Px)`, `w += k (y - p)`, `P = (P - k (Px)^T) / f`, `P_0 = I / delta`.
struct Rls {
    forgetting: f64,
    p: Matrix,
    w: Vec<f64>,
}

impl Method for Rls {
    fn point(&self) -> Vec<f64> {
        self.w.clone()
    }

    fn learn(&mut self, round: &Round) {
        let v = round.weight;
        let px = times(&self.p, round.x);
        let scale = self.forgetting + v * dot(round.x, &px);
        let k: Vec<f64> = px.iter().map(|px| v * px / scale).collect();
        for (i, k) in k.iter().enumerate() {
            self.w[i] += k * (round.y - round.margin);
            for (entry, px) in self.p[i].iter_mut().zip(&px) {
                *entry = (*entry - k * px) / self.forgetting;
            }
        }
    }
}

/// `argmin sum_s f^(t-s) v_s (y_s - w.x_s)^2 + f^t delta |w|^2`, solved anew from the past.
struct Ridge {
    delta: f64,
    forgetting: f64,
    rows: Vec<(Vec<f64>, f64, f64)>,
    len: usize,
}

impl Method for Ridge {
    fn point(&self) -> Vec<f64> {
        let t = self.rows.len();
        let f = |age: usize| self.forgetting.powi(i32::try_from(age).expect("a short stream"));
        let mut normal = diagonal(self.len, f(t) * self.delta);
        let mut right = vec![0.0; self.len];
        for (s, (x, y, v)) in self.rows.iter().enumerate() {
            let weight = f(t - 1 - s) * v;
            for i in 0..self.len {
                right[i] += weight * y * x[i];
                for j in 0..self.len {
                    normal[i][j] += weight * x[i] * x[j];
                }
            }
        }
        solve(&normal, &right)
    }

    fn learn(&mut self, round: &Round) {
        self.rows.push((round.x.to_vec(), round.y, round.weight));
    }
}

fn diagonal(n: usize, value: f64) -> Matrix {
    (0..n).map(|i| (0..n).map(|j| if i == j { value } else { 0.0 }).collect()).collect()
}

fn forgetting(spec: &Spec) -> f64 {
    let forgetting = spec.number_or("forgetting", 1.0);
    assert!(
        forgetting > 0.0 && forgetting <= 1.0,
        "forgetting must be in (0, 1], got {forgetting}"
    );
    forgetting
}

fn refuse(spec: &Spec) {
    // The method has no rate setting: P takes its role.
    for key in ["rate", "l1", "l2"] {
        spec.refuse_strength(key);
    }
}

pub(crate) fn rls(spec: &Spec, space: &Space) -> Box<dyn Method> {
    refuse(spec);
    Box::new(Rls {
        forgetting: forgetting(spec),
        p: diagonal(space.len(), 1.0 / spec.number("delta")),
        w: space.zeros(),
    })
}

/// The points of the ridge regression that the `rls` spec stands for, after each round that
/// counts.
///
/// # Panics
/// Like [`run`](crate::run), and if the spec is not of `rls`.
pub fn ridge_trajectory(spec: &Value, stream: &Stream, bias: bool) -> Vec<Vec<f64>> {
    let spec = Spec::new(spec);
    assert!(spec.text("algorithm") == "rls", "only rls is a ridge regression");
    refuse(&spec);
    let space = Space::new(stream.dimension, bias);
    let mut ridge = Ridge {
        delta: spec.number("delta"),
        forgetting: forgetting(&spec),
        rows: Vec::new(),
        len: space.len(),
    };
    let (_, points) = method::play(&mut ridge, &Loss::Squared, stream, &space);
    points
}

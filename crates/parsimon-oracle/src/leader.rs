//! FTRL-Proximal with the penalty in force once (003, Algorithm 6; McMahan et al. 2013), and the same with a past that fades.

use crate::history::History;
use crate::interval::Interval;
use crate::method::{Method, Round};
use crate::prox::soft;
use crate::space::Space;
use crate::spec::Spec;

/// `argmin g_{1:t}.w + l1 |w|_1 + l2/2 |w|^2 + 1/2 sum_s sigma_s (w - w_s)^2`, per coordinate,
/// over the interval of the penalty. With a half-life, a round of age `k` counts `gamma^k` in both sums, `gamma = 2^(-1/half-life)`.
///
/// The whole past is stored and the argmin solved from it each round.
struct Ftrl {
    alpha: f64,
    beta: f64,
    /// Infinite if the past does not fade.
    half_life: f64,
    l1: Vec<f64>,
    /// The multiple of the penalty in force.
    scale: f64,
    l2: Vec<f64>,
    bounds: Vec<Interval>,
    gradients: History,
    /// The points `w_s` the gradients were taken at.
    points: History,
    w: Vec<f64>,
}

impl Ftrl {
    /// One coordinate of the argmin.
    fn solve(&self, i: usize) -> f64 {
        let fade = |age: usize| (-(age as f64) / self.half_life).exp2();
        let (mut z, mut q) = (0.0_f64, 0.0_f64);
        let rounds = self.points.iter().count();
        for (s, (g, w)) in (1..).zip(self.gradients.iter().zip(self.points.iter())) {
            // 1/eta_s - gamma/eta_{s-1} for eta_s = alpha/sqrt(g_s^2 + gamma^2 g_{s-1}^2 + gamma^4 g_{s-2}^2 + ...), which is zero
            // without a gradient; beta does not fade, and stands beside l2.
            let next = fade(2) * q + g[i] * g[i];
            let sigma =
                if g[i] == 0.0 { 0.0 } else { (next.sqrt() - fade(1) * q.sqrt()) / self.alpha };
            z += fade(rounds - s) * (g[i] - sigma * w[i]);
            q = next;
        }
        let curvature = (self.beta + q.sqrt()) / self.alpha + self.scale * self.l2[i];
        let free =
            if curvature == 0.0 { 0.0 } else { -soft(z, self.scale * self.l1[i]) / curvature };
        self.bounds[i].nearest(free)
    }

    fn solve_all(&mut self) {
        self.w = (0..self.w.len()).map(|i| self.solve(i)).collect();
    }
}

impl Method for Ftrl {
    fn point(&self) -> Vec<f64> {
        self.w.clone()
    }

    fn learn(&mut self, round: &Round) {
        self.gradients.push(round.gradient.clone());
        self.points.push(self.w.clone());
        self.solve_all();
    }

    fn scale_penalty(&mut self, scale: f64) {
        self.scale = scale;
        self.solve_all();
    }
}

pub(crate) fn ftrl(spec: &Spec, space: &Space) -> Box<dyn Method> {
    Box::new(Ftrl {
        alpha: spec.number("rate"),
        beta: spec.number_or("beta", 1.0),
        half_life: spec.number_or("half_life", f64::INFINITY),
        l1: spec.strength(spec.number_or("l1", 0.0), space),
        scale: 1.0,
        l2: spec.strength(spec.number_or("l2", 0.0), space),
        bounds: Interval::from_spec(spec).on_features(space),
        gradients: History::default(),
        points: History::default(),
        w: space.zeros(),
    })
}

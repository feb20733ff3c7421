//! AdaGrad with a diagonal metric, dual and primal (Duchi, Hazan and Singer 2011).
//!
//! `H = delta + sqrt(g_1^2 + ... + g_t^2)` per coordinate, from the stored gradients. Each argmin is
//! over the interval of the penalty.

use crate::history::History;
use crate::interval::Interval;
use crate::method::{Method, Round};
use crate::prox::soft;
use crate::space::Space;
use crate::spec::Spec;

/// Center of the quadratic `H |w - center|^2 / (2 rate)`.
enum Center {
    /// `argmin s.w + t (l1 |w| + l2/2 w^2) + H w^2/(2 rate)`.
    Origin,
    /// `argmin g.w + l1 |w| + l2/2 w^2 + H (w - w_t)^2/(2 rate)`.
    Iterate,
}

/// Both AdaGrads; they differ in the center and in how often the penalty counts.
struct AdaGrad {
    center: Center,
    rate: f64,
    delta: f64,
    l1: Vec<f64>,
    l2: Vec<f64>,
    bounds: Vec<Interval>,
    gradients: History,
    w: Vec<f64>,
}

impl Method for AdaGrad {
    fn point(&self) -> Vec<f64> {
        self.w.clone()
    }

    fn learn(&mut self, round: &Round) {
        self.gradients.push(round.gradient.clone());
        let t = round.time();
        let s = self.gradients.sum(self.w.len());
        let squares = self.gradients.sum_of(self.w.len(), |g| g * g);
        for (i, w) in self.w.iter_mut().enumerate() {
            let metric = self.delta + squares[i].sqrt();
            // No gradient yet and nothing to hold the weight: it stays where it started.
            if metric == 0.0 {
                *w = 0.0;
                continue;
            }
            let step = self.rate / metric;
            let free = match self.center {
                Center::Origin => {
                    -soft(s[i], t * self.l1[i]) / (metric / self.rate + t * self.l2[i])
                }
                Center::Iterate => {
                    let v = *w - step * round.gradient[i];
                    soft(v, step * self.l1[i]) / (1.0 + step * self.l2[i])
                }
            };
            *w = self.bounds[i].nearest(free);
        }
    }
}

fn adagrad(spec: &Spec, space: &Space, center: Center) -> Box<dyn Method> {
    Box::new(AdaGrad {
        center,
        rate: spec.number("rate"),
        delta: spec.number_or("delta", 0.0),
        l1: spec.strength(spec.number_or("l1", 0.0), space),
        l2: spec.strength(spec.number_or("l2", 0.0), space),
        bounds: Interval::from_spec(spec).on_features(space),
        gradients: History::default(),
        w: space.zeros(),
    })
}

pub(crate) fn adagrad_rda(spec: &Spec, space: &Space) -> Box<dyn Method> {
    adagrad(spec, space, Center::Origin)
}

pub(crate) fn adagrad_fobos(spec: &Spec, space: &Space) -> Box<dyn Method> {
    adagrad(spec, space, Center::Iterate)
}

//! Margin methods: PA (Crammer et al. 2006), AROW (Crammer, Kulesza and Dredze 2009), SCW (Wang, Zhao and Hoi 2012).
//!
//! AROW and SCW keep a mean and a covariance of the weights. The covariance is diagonal here: of the inverse that the papers give,
//! `Sigma^-1 + x x^T / r` (AROW) and `Sigma^-1 + alpha phi u^-1/2 x x^T` (SCW), the diagonal is kept.

use crate::method::{Method, Round, dot};
use crate::space::Space;
use crate::spec::Spec;

/// The cost of a missed margin.
#[derive(Clone, Copy)]
enum Slack {
    None,
    Linear(f64),
    Squared(f64),
}

fn slack(spec: &Spec) -> Slack {
    let cost = spec.number_or("aggressiveness", 1.0);
    match spec.text_or("slack", "linear").as_str() {
        "none" => Slack::None,
        "linear" => Slack::Linear(cost),
        "squared" => Slack::Squared(cost),
        other => panic!("unknown slack {other:?}"),
    }
}

/// `tau = l/|x|^2` (PA), `min(C, l/|x|^2)` (PA-I), `l/(|x|^2 + 1/(2C))` (PA-II); `w += tau y x`.
struct PassiveAggressive {
    slack: Slack,
    w: Vec<f64>,
}

impl Method for PassiveAggressive {
    fn point(&self) -> Vec<f64> {
        self.w.clone()
    }

    fn learn(&mut self, round: &Round) {
        let loss = (1.0 - round.y * round.margin).max(0.0);
        let square = dot(round.x, round.x);
        if loss == 0.0 || square == 0.0 {
            return;
        }
        let tau = match self.slack {
            Slack::None => loss / square,
            Slack::Linear(cost) => (round.weight * cost).min(loss / square),
            Slack::Squared(cost) => loss / (square + 1.0 / (2.0 * round.weight * cost)),
        };
        for (w, x) in self.w.iter_mut().zip(round.x) {
            *w += tau * round.y * x;
        }
    }
}

/// Which of the two keeps the Gaussian.
enum Kind {
    Arow { r: f64 },
    Scw { phi: f64, slack: Slack },
}

/// `mu += alpha y Sigma x`, and the diagonal of the new inverse of `Sigma`.
struct Gaussian {
    kind: Kind,
    mu: Vec<f64>,
    sigma: Vec<f64>,
}

/// `alpha` and `u` of SCW-I or SCW-II (propositions 1 and 2).
fn scw(margin: f64, v: f64, phi: f64, slack: Slack, weight: f64) -> (f64, f64) {
    let first = || {
        let (psi, zeta) = (1.0 + phi * phi / 2.0, 1.0 + phi * phi);
        let root = (margin * margin * phi.powi(4) / 4.0 + v * phi * phi * zeta).sqrt();
        ((-margin * psi + root) / (v * zeta)).max(0.0)
    };
    let alpha = match slack {
        Slack::None => first(),
        Slack::Linear(cost) => first().min(weight * cost),
        Slack::Squared(cost) => {
            let n = v + 1.0 / (2.0 * weight * cost);
            let under = phi * phi * margin * margin * v * v + 4.0 * n * v * (n + v * phi * phi);
            let gamma = phi * under.sqrt();
            let above = gamma - (2.0 * margin * n + phi * phi * margin * v);
            (above / (2.0 * (n * n + n * v * phi * phi))).max(0.0)
        }
    };
    let root = (alpha * alpha * v * v * phi * phi + 4.0 * v).sqrt();
    (alpha, 0.25 * (root - alpha * v * phi).powi(2))
}

impl Method for Gaussian {
    fn point(&self) -> Vec<f64> {
        self.mu.clone()
    }

    fn learn(&mut self, round: &Round) {
        let margin = round.y * round.margin;
        let v: f64 = self.sigma.iter().zip(round.x).map(|(sigma, x)| sigma * x * x).sum();
        if v == 0.0 {
            return;
        }
        let (alpha, gain) = match self.kind {
            Kind::Arow { r } => {
                let r = r / round.weight;
                let beta = 1.0 / (v + r);
                ((1.0 - margin).max(0.0) * beta, 1.0 / r)
            }
            Kind::Scw { phi, slack } => {
                if phi * v.sqrt() - margin <= 0.0 {
                    return;
                }
                let (alpha, u) = scw(margin, v, phi, slack, round.weight);
                (alpha, alpha * phi / u.sqrt())
            }
        };
        if alpha == 0.0 {
            return;
        }
        for (j, x) in round.x.iter().enumerate() {
            self.mu[j] += alpha * round.y * self.sigma[j] * x;
            self.sigma[j] = 1.0 / (1.0 / self.sigma[j] + gain * x * x);
        }
    }
}

pub(crate) fn pa(spec: &Spec, space: &Space) -> Box<dyn Method> {
    Box::new(PassiveAggressive { slack: slack(spec), w: space.zeros() })
}

pub(crate) fn arow(spec: &Spec, space: &Space) -> Box<dyn Method> {
    gaussian(Kind::Arow { r: spec.number_or("r", 1.0) }, space)
}

pub(crate) fn soft_confidence(spec: &Spec, space: &Space) -> Box<dyn Method> {
    gaussian(Kind::Scw { phi: spec.number_or("phi", 1.0), slack: slack(spec) }, space)
}

fn gaussian(kind: Kind, space: &Space) -> Box<dyn Method> {
    let mu = space.zeros();
    let sigma = vec![1.0; mu.len()];
    Box::new(Gaussian { kind, mu, sigma })
}

//! The entropy on the simplex: mirror descent by multiplications, and RDA with the Kullback-Leibler divergence as the regularizer
//! (notes on RDA, section 3.3.2).

use crate::method::{Method, Round};
use crate::space::Space;
use crate::spec::Spec;

/// What the weights of the next round are made of.
enum Form {
    /// `w_i <- w_i exp(-eta_t g_i)`, then divided by the sum; in logarithms, or large gradients overflow.
    Mirror,
    /// `argmin_w (1/t) sum_tau g_tau.w + sigma KL(w | even)`, so `w_i ~ exp(-gbar_i / sigma)`.
    Divergence { sigma: f64 },
}

struct Entropic {
    form: Form,
    rate: f64,
    radius: f64,
    space: Space,
    /// Of the features `1..=n`, which a stream may have fewer of.
    w: Vec<f64>,
    /// The logarithms of the weights of mirror descent, but for a common number.
    logs: Vec<f64>,
    sums: Vec<f64>,
    bias_sum: f64,
    bias: f64,
}

impl Method for Entropic {
    fn point(&self) -> Vec<f64> {
        let mut point = self.space.zeros();
        for (j, w) in (1..self.space.dimension).zip(&self.w) {
            point[j] = *w;
        }
        if self.space.bias {
            point[self.space.dimension] = self.bias;
        }
        point
    }

    fn learn(&mut self, round: &Round) {
        let t = round.time();
        let eta = self.rate / t.sqrt();
        let gradient = |k: usize| match k + 1 < self.space.dimension {
            true => round.gradient[k + 1],
            false => 0.0,
        };
        for k in 0..self.w.len() {
            self.sums[k] += gradient(k);
            self.logs[k] -= eta * gradient(k);
        }
        let exponents: Vec<f64> = match self.form {
            Form::Mirror => self.logs.clone(),
            Form::Divergence { sigma } => self.sums.iter().map(|s| -s / t / sigma).collect(),
        };
        let top = exponents.iter().fold(f64::NEG_INFINITY, |top, e| top.max(*e));
        self.w = exponents.iter().map(|e| (e - top).exp()).collect();
        let sum: f64 = self.w.iter().sum();
        self.w.iter_mut().for_each(|w| *w *= self.radius / sum);
        if self.space.bias {
            // Outside of the simplex: plain dual averaging.
            self.bias_sum += round.gradient[self.space.dimension];
            self.bias = -eta * self.bias_sum;
        }
    }
}

/// The two variants of dual averaging over the simplex, if the spec names one.
pub(crate) fn variant(spec: &Spec, space: &Space) -> Option<Box<dyn Method>> {
    let form = match (spec.flag_or("mirror", false), spec.get("sigma")) {
        (true, _) => Form::Mirror,
        (false, Some(_)) => Form::Divergence { sigma: spec.number("sigma") },
        (false, None) => return None,
    };
    let (n, radius) = (spec.count("dimension"), spec.number("radius"));
    Some(Box::new(Entropic {
        form,
        rate: spec.number("rate"),
        radius,
        space: space.clone(),
        w: vec![radius / n as f64; n],
        logs: vec![0.0; n],
        sums: vec![0.0; n],
        bias_sum: 0.0,
        bias: 0.0,
    }))
}

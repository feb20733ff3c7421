//! Adam and AdaDelta: running moments, no penalty (Kingma and Ba 2015; Zeiler 2012).
//!
//! Every coordinate moves at every round, also one whose gradient is zero: its moments decay and
//! Adam's step goes on.

use crate::method::{Method, Round};
use crate::space::Space;
use crate::spec::Spec;

/// `w -= rate mhat / (sqrt(vhat) + epsilon)`.
struct Adam {
    rate: f64,
    beta1: f64,
    beta2: f64,
    epsilon: f64,
    m: Vec<f64>,
    v: Vec<f64>,
    w: Vec<f64>,
}

impl Method for Adam {
    fn point(&self) -> Vec<f64> {
        self.w.clone()
    }

    fn learn(&mut self, round: &Round) {
        let t = round.time();
        for (i, &g) in round.gradient.iter().enumerate() {
            self.m[i] = self.beta1 * self.m[i] + (1.0 - self.beta1) * g;
            self.v[i] = self.beta2 * self.v[i] + (1.0 - self.beta2) * g * g;
            let mean = self.m[i] / (1.0 - self.beta1.powf(t));
            let square = self.v[i] / (1.0 - self.beta2.powf(t));
            self.w[i] -= self.rate * mean / (square.sqrt() + self.epsilon);
        }
    }
}

/// `d = -sqrt(Ed + epsilon)/sqrt(Eg + epsilon) g; w += rate d`: `Eg` is updated before, `Ed` after.
struct AdaDelta {
    rate: f64,
    rho: f64,
    epsilon: f64,
    mean_square_gradient: Vec<f64>,
    mean_square_step: Vec<f64>,
    w: Vec<f64>,
}

impl Method for AdaDelta {
    fn point(&self) -> Vec<f64> {
        self.w.clone()
    }

    fn learn(&mut self, round: &Round) {
        let (rho, epsilon) = (self.rho, self.epsilon);
        for (i, &g) in round.gradient.iter().enumerate() {
            let eg = rho * self.mean_square_gradient[i] + (1.0 - rho) * g * g;
            let d = -((self.mean_square_step[i] + epsilon).sqrt() / (eg + epsilon).sqrt()) * g;
            self.mean_square_gradient[i] = eg;
            self.mean_square_step[i] = rho * self.mean_square_step[i] + (1.0 - rho) * d * d;
            self.w[i] += self.rate * d;
        }
    }
}

pub(crate) fn adam(spec: &Spec, space: &Space) -> Box<dyn Method> {
    spec.refuse_strength("l1");
    spec.refuse_strength("l2");
    Box::new(Adam {
        rate: spec.number("rate"),
        beta1: spec.number("beta1"),
        beta2: spec.number("beta2"),
        epsilon: spec.number("epsilon"),
        m: space.zeros(),
        v: space.zeros(),
        w: space.zeros(),
    })
}

pub(crate) fn adadelta(spec: &Spec, space: &Space) -> Box<dyn Method> {
    spec.refuse_strength("l1");
    spec.refuse_strength("l2");
    Box::new(AdaDelta {
        rate: spec.number_or("rate", 1.0),
        rho: spec.number("rho"),
        epsilon: spec.number("epsilon"),
        mean_square_gradient: space.zeros(),
        mean_square_step: space.zeros(),
        w: space.zeros(),
    })
}

//! Least mean squares: a constant step down the squared error (001, section 4).
//!
//! Adaline is the same step on labels that are classes: -1 and 1, or 1 and 0 for one neuron of
//! many. The label is used unchanged.

use crate::method::{Method, Round};
use crate::space::Space;
use crate::spec::Spec;

/// `w += eta v (y - p) x`.
struct Lms {
    eta: f64,
    w: Vec<f64>,
}

impl Method for Lms {
    fn point(&self) -> Vec<f64> {
        self.w.clone()
    }

    fn learn(&mut self, round: &Round) {
        let error = round.y - round.margin;
        for (w, x) in self.w.iter_mut().zip(round.x) {
            *w += self.eta * round.weight * error * x;
        }
    }
}

pub(crate) fn lms(spec: &Spec, space: &Space) -> Box<dyn Method> {
    spec.refuse_strength("l1");
    spec.refuse_strength("l2");
    Box::new(Lms { eta: spec.number("rate"), w: space.zeros() })
}

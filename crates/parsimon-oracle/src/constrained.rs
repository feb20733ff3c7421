//! Constrained SGD (001): every iterate predicts the mean label at the mean row.

use crate::method::{Method, Round, dot};
use crate::schedule::Schedule;
use crate::space::Space;
use crate::spec::Spec;

/// A squared loss step, then the projection on `{w : w.xbar = ybar}`.
///
/// The means are those of the rows so far, the current one included, weighted by importance. The
/// bias is a coordinate of `x` like any other: its mean is one.
struct Constrained {
    schedule: Schedule,
    total_x: Vec<f64>,
    total_y: f64,
    total_weight: f64,
    w: Vec<f64>,
}

impl Constrained {
    fn new(spec: &Spec, space: &Space, schedule: Schedule) -> Self {
        spec.refuse_strength("l1");
        spec.refuse_strength("l2");
        Constrained {
            schedule,
            total_x: space.zeros(),
            total_y: 0.0,
            total_weight: 0.0,
            w: space.zeros(),
        }
    }
}

impl Method for Constrained {
    fn point(&self) -> Vec<f64> {
        self.w.clone()
    }

    fn learn(&mut self, round: &Round) {
        for (total, x) in self.total_x.iter_mut().zip(round.x) {
            *total += round.weight * x;
        }
        self.total_y += round.weight * round.y;
        self.total_weight += round.weight;
        let mean_x: Vec<f64> = self.total_x.iter().map(|x| x / self.total_weight).collect();
        let mean_y = self.total_y / self.total_weight;

        let step = self.schedule.eta(round.t) * round.weight * (round.margin - round.y);
        let v: Vec<f64> = self.w.iter().zip(round.x).map(|(w, x)| w - step * x).collect();

        // A mean row of zero constrains nothing.
        let square = dot(&mean_x, &mean_x);
        if square == 0.0 {
            self.w = v;
            return;
        }
        let c = (mean_y - dot(&mean_x, &v)) / square;
        self.w = v.iter().zip(&mean_x).map(|(v, x)| v + c * x).collect();
    }
}

/// Two-phase rate by default.
pub(crate) fn csgd(spec: &Spec, space: &Space) -> Box<dyn Method> {
    Box::new(Constrained::new(spec, space, Schedule::from_spec_or(spec, "two-phase")))
}

/// Square root rate by default.
pub(crate) fn ncsgd(spec: &Spec, space: &Space) -> Box<dyn Method> {
    Box::new(Constrained::new(spec, space, Schedule::from_spec(spec)))
}

/// NCSGD on labels that are classes; the only rate is `rate / sqrt(t)`.
pub(crate) fn c_adaline(spec: &Spec, space: &Space) -> Box<dyn Method> {
    Box::new(Constrained::new(spec, space, Schedule::Sqrt(spec.number("rate"))))
}

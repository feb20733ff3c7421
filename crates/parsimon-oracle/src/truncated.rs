//! Truncation: a gradient step, then every `k`-th round small weights are cut or shrunk
//! (003; Langford, Li and Zhang 2009).

use crate::method::{Method, Round};
use crate::prox::soft;
use crate::schedule::Schedule;
use crate::space::Space;
use crate::spec::Spec;

/// Treatment of a coordinate with `|v| <= theta` when `k` divides `t`.
enum Cut {
    /// `T_0`: it becomes zero.
    Zero,
    /// `T_1`: it is shrunk by `eta_t k l1`.
    Shrink { l1: Vec<f64> },
}

/// Both truncations; they differ in the cut alone.
struct Truncated {
    schedule: Schedule,
    period: usize,
    theta: Vec<f64>,
    cut: Cut,
    w: Vec<f64>,
}

impl Method for Truncated {
    fn point(&self) -> Vec<f64> {
        self.w.clone()
    }

    fn learn(&mut self, round: &Round) {
        let eta = self.schedule.eta(round.t);
        for (i, w) in self.w.iter_mut().enumerate() {
            let v = *w - eta * round.gradient[i];
            let due = round.t.is_multiple_of(self.period) && v.abs() <= self.theta[i];
            *w = match &self.cut {
                Cut::Zero if due => 0.0,
                Cut::Shrink { l1 } if due => soft(v, eta * self.period as f64 * l1[i]),
                _ => v,
            };
        }
    }
}

fn period(spec: &Spec) -> usize {
    if spec.get("period").is_some() { spec.count("period") } else { 1 }
}

pub(crate) fn truncation(spec: &Spec, space: &Space) -> Box<dyn Method> {
    spec.refuse_strength("l1");
    spec.refuse_strength("l2");
    Box::new(Truncated {
        schedule: Schedule::from_spec(spec),
        period: period(spec),
        theta: space.on_features(spec.number("theta")),
        cut: Cut::Zero,
        w: space.zeros(),
    })
}

pub(crate) fn truncated_gradient(spec: &Spec, space: &Space) -> Box<dyn Method> {
    spec.refuse_strength("l2");
    Box::new(Truncated {
        schedule: Schedule::from_spec(spec),
        period: period(spec),
        theta: space.on_features(spec.number_or("theta", f64::INFINITY)),
        cut: Cut::Shrink { l1: space.on_features(spec.number_or("l1", 0.0)) },
        w: space.zeros(),
    })
}

//! The delayed methods of the thesis 002, as its algorithms define them.
//!
//! These are not the exact catch-up of FOBOS: each plays weights that have not paid their penalty
//! yet. They are kept to reproduce the thesis.

use crate::forward_backward::Penalty;
use crate::interval::ELASTIC_IN_BOUNDS;
use crate::method::{Method, Round};
use crate::prox::soft;
use crate::schedule::Schedule;
use crate::space::Space;
use crate::spec::Spec;

/// Algorithm 1: gradient steps; at the end of each block of `K` rounds one prox with the block's
/// steps added up.
struct LazyFobos {
    space: Space,
    schedule: Schedule,
    penalty: Penalty,
    period: usize,
    w: Vec<f64>,
}

impl Method for LazyFobos {
    fn point(&self) -> Vec<f64> {
        self.w.clone()
    }

    fn learn(&mut self, round: &Round) {
        let t = round.t;
        let eta = self.schedule.eta(t);
        for (w, g) in self.w.iter_mut().zip(&round.gradient) {
            *w -= eta * g;
        }
        if t.is_multiple_of(self.period) {
            let block = t - self.period + 1..=t;
            let total: f64 = block.map(|s| self.schedule.eta(s)).sum();
            self.w = self.penalty.prox(&self.w, total, &self.space);
        }
    }
}

/// Algorithm 2 split by support: coordinates with a gradient take the FOBOS step at once, the
/// others pay for the rounds they missed at the end of the block.
struct LazySplitting {
    schedule: Schedule,
    period: usize,
    l1: Vec<f64>,
    /// Per coordinate, the steps of this block's rounds it had no gradient in.
    missed: Vec<f64>,
    w: Vec<f64>,
}

impl Method for LazySplitting {
    fn point(&self) -> Vec<f64> {
        self.w.clone()
    }

    fn learn(&mut self, round: &Round) {
        let eta = self.schedule.eta(round.t);
        for (i, &g) in round.gradient.iter().enumerate() {
            if g == 0.0 {
                self.missed[i] += eta;
            } else {
                self.w[i] = soft(self.w[i] - eta * g, self.l1[i] * eta);
            }
        }
        if round.t.is_multiple_of(self.period) {
            for (i, w) in self.w.iter_mut().enumerate() {
                *w = soft(*w, self.l1[i] * self.missed[i]);
                self.missed[i] = 0.0;
            }
        }
    }
}

/// Algorithm 3 in the thesis's order: the margin and the gradient see stale weights, and a
/// coordinate pays for all the rounds it missed after its gradient step.
///
/// `debt` is the thesis's `Gamma - z`, added up round by round instead of by difference.
struct LazySparse {
    schedule: Schedule,
    /// Rounds between two full catch-ups; none means never.
    period: Option<usize>,
    l1: Vec<f64>,
    debt: Vec<f64>,
    w: Vec<f64>,
}

impl LazySparse {
    fn caught_up(&self) -> Vec<f64> {
        (0..self.w.len()).map(|i| soft(self.w[i], self.l1[i] * self.debt[i])).collect()
    }
}

impl Method for LazySparse {
    fn point(&self) -> Vec<f64> {
        self.w.clone()
    }

    fn learn(&mut self, round: &Round) {
        let eta = self.schedule.eta(round.t);
        for (i, &g) in round.gradient.iter().enumerate() {
            if g == 0.0 {
                self.debt[i] += eta;
            } else {
                let stepped = soft(self.w[i] - eta * g, self.l1[i] * eta);
                self.w[i] = soft(stepped, self.l1[i] * self.debt[i]);
                self.debt[i] = 0.0;
            }
        }
        if self.period.is_some_and(|period| round.t.is_multiple_of(period)) {
            self.w = self.caught_up();
            self.debt.fill(0.0);
        }
    }

    fn readout(&self) -> Vec<f64> {
        self.caught_up()
    }
}

fn period(spec: &Spec) -> Option<usize> {
    spec.get("period").map(|_| spec.count("period"))
}

pub(crate) fn lazy_fobos(spec: &Spec, space: &Space) -> Box<dyn Method> {
    let name = spec.text_or("penalty", "l1");
    // Prop 2.1 holds for norms; a squared norm or a bound does not add up over a block.
    let is_norm = !ELASTIC_IN_BOUNDS.contains(&name.as_str());
    assert!(is_norm, "lazy-fobos has no penalty {name:?}");
    Box::new(LazyFobos {
        space: space.clone(),
        schedule: Schedule::from_spec(spec),
        penalty: Penalty::from_spec(spec, "l1"),
        period: period(spec).unwrap_or(1),
        w: space.zeros(),
    })
}

pub(crate) fn lazy_splitting(spec: &Spec, space: &Space) -> Box<dyn Method> {
    spec.refuse_strength("l2");
    Box::new(LazySplitting {
        schedule: Schedule::from_spec(spec),
        period: period(spec).unwrap_or(1),
        l1: space.on_features(spec.number_or("l1", 0.0)),
        missed: space.zeros(),
        w: space.zeros(),
    })
}

pub(crate) fn lazy_sparse(spec: &Spec, space: &Space) -> Box<dyn Method> {
    spec.refuse_strength("l2");
    Box::new(LazySparse {
        schedule: Schedule::from_spec(spec),
        period: period(spec),
        l1: space.on_features(spec.number_or("l1", 0.0)),
        debt: space.zeros(),
        w: space.zeros(),
    })
}

//! Gradient descents: one step, perhaps a projection, perhaps an average.

use crate::history::History;
use crate::implicit::solve_slope;
use crate::method::{Method, Round, dot};
use crate::prox::{project_l1_ball, project_l2_ball, sign};
use crate::schedule::Schedule;
use crate::space::Space;
use crate::spec::Spec;

/// The set the features are projected on after each step.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ball {
    Whole,
    L1(f64),
    L2(f64),
}

impl Ball {
    pub(crate) fn project(self, w: &[f64], space: &Space) -> Vec<f64> {
        match self {
            Ball::Whole => w.to_vec(),
            Ball::L1(radius) => space.map_features(w, |w| project_l1_ball(w, radius)),
            Ball::L2(radius) => space.map_features(w, |w| project_l2_ball(w, radius)),
        }
    }
}

/// `w -= eta_t g`, or the implicit step, then `w = Pi_C(w)`.
struct Sgd {
    space: Space,
    schedule: Schedule,
    ball: Ball,
    implicit: bool,
    w: Vec<f64>,
}

impl Sgd {
    fn from_spec(spec: &Spec, space: &Space) -> Self {
        spec.refuse_strength("l1");
        spec.refuse_strength("l2");
        let ball = match spec.text_or("ball", "none").as_str() {
            "none" => Ball::Whole,
            "l1" => Ball::L1(spec.number("radius")),
            "l2" => Ball::L2(spec.number("radius")),
            other => panic!("unknown ball {other:?}"),
        };
        Sgd {
            space: space.clone(),
            schedule: Schedule::from_spec(spec),
            ball,
            implicit: spec.flag_or("implicit", false),
            w: space.zeros(),
        }
    }
}

impl Method for Sgd {
    fn point(&self) -> Vec<f64> {
        self.w.clone()
    }

    fn learn(&mut self, round: &Round) {
        let eta = self.schedule.eta(round.t);
        let stepped = |u: f64| -> Vec<f64> {
            self.w.iter().zip(round.x).map(|(w, x)| w - eta * (u * x)).collect()
        };
        // Implicit: argmin v l(w.x, y) + |w - w_t|^2 / (2 eta), whose gradient is taken at the
        // new point: u = v l'(x.(w_t - eta u x)).
        let u = if self.implicit {
            solve_slope(|p| round.slope(p), |u| dot(round.x, &stepped(u)))
        } else {
            round.slope_played
        };
        self.w = self.ball.project(&stepped(u), &self.space);
    }
}

/// SGD whose user reads the mean of the iterates `w_2, ..., w_{t+1}`.
struct Asgd {
    sgd: Sgd,
    iterates: History,
}

impl Method for Asgd {
    fn point(&self) -> Vec<f64> {
        self.sgd.point()
    }

    fn learn(&mut self, round: &Round) {
        self.sgd.learn(round);
        self.iterates.push(self.sgd.point());
    }

    fn readout(&self) -> Vec<f64> {
        let count = self.iterates.iter().count().max(1) as f64;
        self.iterates.sum(self.sgd.w.len()).iter().map(|sum| sum / count).collect()
    }
}

/// `w -= eta g + eta l1 sgn(w_t)` (003, "L1 regularization").
struct SubgradientL1 {
    schedule: Schedule,
    l1: Vec<f64>,
    w: Vec<f64>,
}

impl Method for SubgradientL1 {
    fn point(&self) -> Vec<f64> {
        self.w.clone()
    }

    fn learn(&mut self, round: &Round) {
        let eta = self.schedule.eta(round.t);
        for (i, w) in self.w.iter_mut().enumerate() {
            *w -= eta * round.gradient[i] + eta * self.l1[i] * sign(*w);
        }
    }
}

pub(crate) fn sgd(spec: &Spec, space: &Space) -> Box<dyn Method> {
    Box::new(Sgd::from_spec(spec, space))
}

pub(crate) fn asgd(spec: &Spec, space: &Space) -> Box<dyn Method> {
    Box::new(Asgd { sgd: Sgd::from_spec(spec, space), iterates: History::default() })
}

pub(crate) fn subgradient_l1(spec: &Spec, space: &Space) -> Box<dyn Method> {
    spec.refuse_strength("l2");
    Box::new(SubgradientL1 {
        schedule: Schedule::from_spec(spec),
        l1: space.on_features(spec.number_or("l1", 0.0)),
        w: space.zeros(),
    })
}

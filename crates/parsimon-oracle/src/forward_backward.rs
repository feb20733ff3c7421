//! Forward-backward splitting: a gradient step, then a proximal step (003; Duchi and Singer 2009).

use crate::interval::{ELASTIC_IN_BOUNDS, Interval};
use crate::method::{Method, Round};
use crate::prox;
use crate::schedule::Schedule;
use crate::space::Space;
use crate::spec::Spec;

/// The function of the backward step. None includes the bias.
pub(crate) enum Penalty {
    /// `l1 |w|_1 + l2/2 |w|^2`.
    Elastic { l1: f64, l2: f64 },
    /// The penalty on an interval, infinite outside ("nonnegative", "box").
    Bounded { l1: f64, l2: f64, interval: Interval },
    /// `sum_i l1_i |w_i|` on an interval, with a strength for every feature.
    Weighted { l1: Vec<f64>, interval: Interval },
    /// `l1 |w|_2` on the whole feature vector.
    L2Norm(f64),
    /// `l1 |w|_inf` on the whole feature vector.
    Linf(f64),
    /// `l1 sum_G |w_G|_2`; features in no group are free.
    Group { l1: f64, groups: Vec<Vec<usize>> },
}

impl Penalty {
    /// Reads `penalty`, `l1`, `l2`, `groups`, `lower` and `upper`.
    pub(crate) fn from_spec(spec: &Spec, default: &str) -> Self {
        let l1 = spec.number_or("l1", 0.0);
        let name = spec.text_or("penalty", default);
        let l2 = spec.number_or("l2", 0.0);
        let interval = Interval::of_penalty(spec, &name);
        if !ELASTIC_IN_BOUNDS.contains(&name.as_str()) {
            assert!(l2 == 0.0, "penalty {name:?} gives l2 no meaning, got {l2}");
        }
        match name.as_str() {
            "elastic" => Penalty::Elastic { l1, l2 },
            "nonnegative" | "box" => Penalty::Bounded { l1, l2, interval },
            "l1" => Penalty::Elastic { l1, l2: 0.0 },
            "l2-norm" => Penalty::L2Norm(l1),
            "linf" => Penalty::Linf(l1),
            "group" => Penalty::Group { l1, groups: read_groups(spec) },
            other => panic!("unknown penalty {other:?}"),
        }
    }

    /// The prox of `c` times the penalty.
    pub(crate) fn prox(&self, v: &[f64], c: f64, space: &Space) -> Vec<f64> {
        space.map_features(v, |v| match self {
            Penalty::Elastic { l1, l2 } => prox::elastic(v, c * l1, c * l2),
            Penalty::Bounded { l1, l2, interval } => {
                let free = prox::elastic(v, c * l1, c * l2);
                free.into_iter().map(|w| interval.nearest(w)).collect()
            }
            Penalty::Weighted { l1, interval } => {
                let each = v.iter().zip(l1).map(|(v, l1)| prox::soft(*v, c * l1));
                each.map(|w| interval.nearest(w)).collect()
            }
            Penalty::L2Norm(l1) => prox::l2_norm(v, c * l1),
            Penalty::Linf(l1) => prox::linf(v, c * l1),
            Penalty::Group { l1, groups } => prox::group(v, groups, c * l1),
        })
    }
}

fn read_groups(spec: &Spec) -> Vec<Vec<usize>> {
    let groups = spec.get("groups").unwrap_or_else(|| panic!("missing parameter \"groups\""));
    serde_json::from_value(groups.clone())
        .unwrap_or_else(|error| panic!("groups must be lists of feature ids: {error}"))
}

/// `v = w - eta_t g; w = prox_{eta' r}(v)`, `eta'` the step of this round or of the next.
struct Fobos {
    space: Space,
    schedule: Schedule,
    penalty: Penalty,
    /// Number of rounds by which the backward step looks ahead: 0 or 1.
    ahead: usize,
    w: Vec<f64>,
}

impl Method for Fobos {
    fn point(&self) -> Vec<f64> {
        self.w.clone()
    }

    fn learn(&mut self, round: &Round) {
        let eta = self.schedule.eta(round.t);
        let half = self.schedule.eta(round.t + self.ahead);
        let v: Vec<f64> = self.w.iter().zip(&round.gradient).map(|(w, g)| w - eta * g).collect();
        self.w = self.penalty.prox(&v, half, &self.space);
    }
}

pub(crate) fn fobos(spec: &Spec, space: &Space) -> Box<dyn Method> {
    let mut penalty = Penalty::from_spec(spec, "elastic");
    if spec.get("penalty_factor").is_some() {
        spec.refuse_strength("l2");
        let interval = Interval::from_spec(spec);
        penalty =
            Penalty::Weighted { l1: spec.strength(spec.number_or("l1", 0.0), space), interval };
    }
    let ahead = match spec.text_or("half_step", "same").as_str() {
        "same" => 0,
        "next" => 1,
        other => panic!("half_step must be same or next, got {other:?}"),
    };
    Box::new(Fobos {
        space: space.clone(),
        schedule: Schedule::from_spec(spec),
        penalty,
        ahead,
        w: space.zeros(),
    })
}

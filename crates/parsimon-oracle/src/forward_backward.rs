//! Forward-backward splitting: a gradient step, then a proximal step (003; Duchi and Singer 2009).

use crate::interval::{ELASTIC_IN_BOUNDS, Interval};
use crate::method::{Method, Round, Space};
use crate::prox;
use crate::schedule::Schedule;
use crate::spec::Spec;

/// What the backward step is the prox of. The bias is outside all of them.
pub(crate) enum Penalty {
    /// `l1 |w|_1 + l2/2 |w|^2`.
    Elastic { l1: f64, l2: f64 },
    /// The same on an interval, infinite outside ("nonnegative", "box").
    Bounded { l1: f64, l2: f64, interval: Interval },
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
    /// How many rounds ahead the backward step looks: 0 or 1.
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
    let penalty = Penalty::from_spec(spec, "elastic");
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

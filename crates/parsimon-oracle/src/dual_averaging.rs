//! Methods whose weight is a function of the sum of all gradients (004; Xiao 2010; Nesterov 2009).

use crate::history::History;
use crate::interval::Interval;
use crate::method::{Method, Round};
use crate::prox::{norm, project_l1_ball, project_l2_ball, sign, soft};
use crate::space::Space;
use crate::spec::Spec;

/// A map from `t` and `s_t = g_1 + ... + g_t` to the weights; at `t = 0` to the starting point.
trait FromSum {
    fn weights(&self, t: f64, s: &[f64]) -> Vec<f64>;
    fn start(&self) -> Vec<f64>;
}

/// Keeps every gradient and adds them all up again whenever the weights are asked for.
struct DualMethod<F> {
    rule: F,
    len: usize,
    gradients: History,
    t: f64,
    /// The argmin for the gradients so far.
    w: Vec<f64>,
}

impl<F: FromSum + 'static> DualMethod<F> {
    fn boxed(rule: F, space: &Space) -> Box<dyn Method> {
        let w = rule.start();
        let gradients = History::default();
        Box::new(DualMethod { rule, len: space.len(), gradients, t: 0.0, w })
    }
}

impl<F: FromSum> Method for DualMethod<F> {
    fn point(&self) -> Vec<f64> {
        self.w.clone()
    }

    fn learn(&mut self, round: &Round) {
        self.gradients.push(round.gradient.clone());
        self.t = round.time();
        self.w = self.rule.weights(self.t, &self.gradients.sum(self.len));
    }
}

/// Growth of `beta_t`.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Growth {
    /// `gamma sqrt(t)`, `gamma = 1/rate`.
    Sqrt {
        rate: f64,
    },
    Zero,
    /// `sigma`.
    Constant,
    /// `sigma (1 + ln t)`.
    Log,
}

/// The auxiliary function of the strongly convex form: `|w|^2/2`, or `Psi/sigma`.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Auxiliary {
    Half,
    Psi,
}

/// The plain l1 row: `-(sqrt(t)/gamma) soft(gbar, l1)`, `gamma = 1/rate`.
fn plain_rda(rate: f64, t: f64, mean: f64, l1: f64) -> f64 {
    -(rate * t.sqrt()) * soft(mean, l1)
}

/// Regularized dual averaging: `argmin gbar.w + Psi(w) + (beta_t/t) h(w)` over the interval of the
/// penalty.
///
/// With `h = Psi/sigma` the function `h` is infinite outside the interval, as `Psi` is. Without
/// `l2` there is no `sigma`, and `h` is `|w|^2/2` whichever was named.
struct Rda {
    space: Space,
    l1: Vec<f64>,
    /// `l2`, the strong convexity of `Psi`.
    sigma: Vec<f64>,
    /// `l2` without the factors of features, on which `beta_t` rests.
    common_sigma: f64,
    growth: Growth,
    auxiliary: Auxiliary,
    interval: Interval,
    bias_rate: f64,
}

impl Rda {
    fn beta(&self, t: f64) -> f64 {
        match self.growth {
            Growth::Sqrt { rate } => t.sqrt() / rate,
            Growth::Zero => 0.0,
            Growth::Constant => self.common_sigma,
            Growth::Log => self.common_sigma * (1.0 + t.ln()),
        }
    }

    fn feature(&self, i: usize, t: f64, mean: f64) -> f64 {
        let (l1, sigma) = (self.l1[i], self.sigma[i]);
        let free = match (self.growth, self.auxiliary) {
            (Growth::Sqrt { rate }, _) if sigma == 0.0 => plain_rda(rate, t, mean, l1),
            (_, Auxiliary::Half) => -soft(mean, l1) / (sigma + self.beta(t) / t),
            (_, Auxiliary::Psi) => {
                let c = 1.0 + self.beta(t) / (t * sigma);
                -soft(mean, c * l1) / (c * sigma)
            }
        };
        self.interval.nearest(free)
    }

    /// The bias is outside the penalty, hence not strongly convex: it takes the square-root sequence.
    fn bias(&self, t: f64, mean: f64) -> f64 {
        plain_rda(self.bias_rate, t, mean, 0.0)
    }
}

impl FromSum for Rda {
    fn weights(&self, t: f64, s: &[f64]) -> Vec<f64> {
        s.iter()
            .enumerate()
            .map(|(i, s)| {
                let mean = s / t;
                if i < self.space.dimension { self.feature(i, t, mean) } else { self.bias(t, mean) }
            })
            .collect()
    }

    fn start(&self) -> Vec<f64> {
        self.space.zeros()
    }
}

/// `w = soft(-(rate/t^b) s, rate t^a l1)` (000, eq. 3.1).
struct GeneralizedRda {
    l1: Vec<f64>,
    rate: f64,
    a: f64,
    b: f64,
}

impl FromSum for GeneralizedRda {
    fn weights(&self, t: f64, s: &[f64]) -> Vec<f64> {
        let step = self.rate / t.powf(self.b);
        s.iter()
            .zip(&self.l1)
            .map(|(s, l1)| soft(-step * s, self.rate * t.powf(self.a) * l1))
            .collect()
    }

    fn start(&self) -> Vec<f64> {
        vec![0.0; self.l1.len()]
    }
}

/// The set simple dual averaging stays in.
enum Set {
    Whole,
    L1(f64),
    L2(f64),
    /// The simplex scaled by `radius` over features `1..=n`, with the entropy as its distance.
    SimplexKl {
        radius: f64,
        n: usize,
    },
}

/// `w = Pi_C(-(sqrt(t)/gamma) gbar)`, `gamma = 1/rate`.
struct DualAveraging {
    space: Space,
    rate: f64,
    set: Set,
}

impl DualAveraging {
    fn at(&self, c: f64, s: &[f64]) -> Vec<f64> {
        let stepped: Vec<f64> = s.iter().map(|s| -c * s).collect();
        match self.set {
            Set::Whole => stepped,
            Set::L1(radius) => self.space.map_features(&stepped, |w| project_l1_ball(w, radius)),
            Set::L2(radius) => self.space.map_features(&stepped, |w| project_l2_ball(w, radius)),
            Set::SimplexKl { radius, n } => self
                .space
                .map_features(&stepped, |stepped| entropic(c, &s[..stepped.len()], radius, n)),
        }
    }
}

impl FromSum for DualAveraging {
    fn weights(&self, t: f64, s: &[f64]) -> Vec<f64> {
        self.at(self.rate / t.sqrt(), s)
    }

    fn start(&self) -> Vec<f64> {
        self.at(0.0, &self.space.zeros())
    }
}

/// Follow the leader on linearized losses in the l2 ball: `w = -radius s/|s|`.
struct Ftl {
    space: Space,
    radius: f64,
}

impl FromSum for Ftl {
    fn weights(&self, _t: f64, s: &[f64]) -> Vec<f64> {
        let (features, bias) = s.split_at(self.space.dimension);
        let length = norm(features);
        let mut w: Vec<f64> = features
            .iter()
            .map(|s| if length == 0.0 { 0.0 } else { -self.radius * s / length })
            .collect();
        // The bias is restricted to a separate interval, [-radius, radius].
        w.extend(bias.iter().map(|&s| -self.radius * sign(s)));
        w
    }

    fn start(&self) -> Vec<f64> {
        self.space.zeros()
    }
}

/// `w_i = radius exp(-c s_i) / sum_j exp(-c s_j)`; features outside `1..=n` have no weight.
fn entropic(c: f64, s: &[f64], radius: f64, n: usize) -> Vec<f64> {
    // A feature of the simplex the stream has no slot for still takes its share.
    let sum_at = |j: usize| if j < s.len() { s[j] } else { 0.0 };
    // NUMERICS: the largest exponent is taken out, or exp overflows.
    let top = (1..=n).map(|j| -c * sum_at(j)).fold(f64::NEG_INFINITY, f64::max);
    let total: f64 = (1..=n).map(|j| (-c * sum_at(j) - top).exp()).sum();
    (0..s.len())
        .map(|i| {
            let inside = (1..=n).contains(&i);
            if inside { radius * (-c * s[i] - top).exp() / total } else { 0.0 }
        })
        .collect()
}

pub(crate) fn rda(spec: &Spec, space: &Space) -> Box<dyn Method> {
    let sigma = spec.number_or("l2", 0.0);
    let name = spec.text_or("beta", "sqrt");
    let growth = match name.as_str() {
        "sqrt" => Growth::Sqrt { rate: spec.number("rate") },
        "zero" => Growth::Zero,
        "constant" => Growth::Constant,
        "log" => Growth::Log,
        other => panic!("beta must be sqrt, zero, constant or log, got {other:?}"),
    };
    assert!(sigma > 0.0 || name == "sqrt", "beta {name:?} needs l2 > 0");
    let auxiliary = match spec.text_or("prox", "half").as_str() {
        "half" => Auxiliary::Half,
        "psi" => Auxiliary::Psi,
        other => panic!("prox must be half or psi, got {other:?}"),
    };
    DualMethod::boxed(
        Rda {
            space: space.clone(),
            l1: spec.strength(spec.number_or("l1", 0.0), space),
            sigma: spec.strength(sigma, space),
            common_sigma: sigma,
            growth,
            auxiliary,
            interval: Interval::from_spec(spec),
            bias_rate: spec.number_or("rate", 0.1),
        },
        space,
    )
}

pub(crate) fn generalized_rda(spec: &Spec, space: &Space) -> Box<dyn Method> {
    spec.refuse_strength("l2");
    let rule = GeneralizedRda {
        l1: space.on_features(spec.number_or("l1", 0.0)),
        rate: spec.number("rate"),
        a: spec.number("a"),
        b: spec.number("b"),
    };
    DualMethod::boxed(rule, space)
}

pub(crate) fn dual_averaging(spec: &Spec, space: &Space) -> Box<dyn Method> {
    spec.refuse_strength("l1");
    spec.refuse_strength("l2");
    let set = match spec.text_or("ball", "none").as_str() {
        "none" => Set::Whole,
        "l1" => Set::L1(spec.number("radius")),
        "l2" => Set::L2(spec.number("radius")),
        "simplex-kl" => {
            Set::SimplexKl { radius: spec.number("radius"), n: spec.count("dimension") }
        }
        other => panic!("unknown ball {other:?}"),
    };
    DualMethod::boxed(DualAveraging { space: space.clone(), rate: spec.number("rate"), set }, space)
}

pub(crate) fn ftl(spec: &Spec, space: &Space) -> Box<dyn Method> {
    spec.refuse_strength("l1");
    spec.refuse_strength("l2");
    DualMethod::boxed(Ftl { space: space.clone(), radius: spec.number("radius") }, space)
}

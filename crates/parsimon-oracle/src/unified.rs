//! The four rows of the unified table (003; McMahan 2011), explicit and implicit.
//!
//! With `h = Q_{1:t}` diagonal, `Psi = l1 |x|_1 + l2/2 |x|^2` and `f_t` the loss of the row, or
//! its tangent at the point played when the update is explicit:
//!
//! | row | loss and past | penalty | quadratic |
//! | --- | --- | --- | --- |
//! | COMID | `g'_{1:t-1}.x + f_t` | `phi_{1:t-1}.x + Psi` | centered at each `x_s` |
//! | RDA | `g'_{1:t-1}.x + f_t` | `t Psi` | centered at zero |
//! | FTPRL | `g'_{1:t-1}.x + f_t` | `t Psi` | centered at each `x_s` |
//! | AOGD | `g'_{1:t-1}.x + f_t` | `phi_{1:t-1}.x + Psi` | centered at zero |
//!
//! COMID and AOGD have a second, mirror descent form (Corollary 6 eq. 14, Theorem 7 eq. 20).
//! [`crate::run`] plays that one, because it adds up fewer roundings; [`leader_trajectory`] plays
//! the form of the table, from the stored past.

use serde_json::Value;

use crate::history::History;
use crate::implicit::solve_slope;
use crate::loss::Loss;
use crate::method::{self, Method, Round, dot};
use crate::prox::soft;
use crate::space::Space;
use crate::spec::Spec;
use crate::stream::Stream;

/// Accumulation of the penalty.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Accrual {
    /// `Psi` at this round, subgradients `phi` of the rounds before.
    Linearized,
    /// `t Psi`.
    EveryRound,
}

/// Centers of the quadratics.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Center {
    Origin,
    Iterates,
}

/// Growth of `h`.
#[derive(Clone, Copy, Debug)]
enum Metric {
    /// `h = sqrt(t)/rate`.
    Sqrt,
    /// `h = (beta + sqrt(sum g_s(x_s)^2))/rate`, the gradients taken at the points played.
    AdaGrad { beta: f64 },
}

/// State shared by both forms: the row, the metric, and the stored past.
struct Table {
    accrual: Accrual,
    center: Center,
    metric: Metric,
    rate: f64,
    implicit: bool,
    l1: Vec<f64>,
    l2: Vec<f64>,
    /// Explicit gradients `g_s(x_s)`, which the metric is made of.
    gradients: History,
    /// `h` after each round.
    curvatures: History,
    /// The last point.
    x: Vec<f64>,
}

impl Table {
    fn from_spec(spec: &Spec, space: &Space) -> Self {
        let algorithm = spec.text("algorithm");
        let (accrual, center) = match algorithm.as_str() {
            "comid" => (Accrual::Linearized, Center::Iterates),
            "aogd" => (Accrual::Linearized, Center::Origin),
            "ftprl" => (Accrual::EveryRound, Center::Iterates),
            "unified-rda" => (Accrual::EveryRound, Center::Origin),
            other => panic!("{other:?} is not a row of the unified table"),
        };
        let metric = match spec.text_or("metric", "adagrad").as_str() {
            "sqrt" => Metric::Sqrt,
            "adagrad" => Metric::AdaGrad { beta: spec.number_or("beta", 1.0) },
            other => panic!("metric must be sqrt or adagrad, got {other:?}"),
        };
        Table {
            accrual,
            center,
            metric,
            rate: spec.number("rate"),
            implicit: spec.flag_or("implicit", false),
            l1: space.on_features(spec.number_or("l1", 0.0)),
            l2: space.on_features(spec.number_or("l2", 0.0)),
            gradients: History::default(),
            curvatures: History::default(),
            x: space.zeros(),
        }
    }

    /// Stores this round's gradient and gives `h_{t-1}` and `h_t`.
    fn curve(&mut self, round: &Round) -> (Vec<f64>, Vec<f64>) {
        let len = self.x.len();
        let before = self.curvatures.last().cloned().unwrap_or_else(|| vec![0.0; len]);
        self.gradients.push(round.gradient.clone());
        let h: Vec<f64> = match self.metric {
            Metric::Sqrt => vec![round.time().sqrt() / self.rate; len],
            Metric::AdaGrad { beta } => self
                .gradients
                .sum_of(len, |g| g * g)
                .iter()
                .map(|q| (beta + q.sqrt()) / self.rate)
                .collect(),
        };
        self.curvatures.push(h.clone());
        (before, h)
    }

    /// The slope `u` with `g'_t = u a`: the explicit one, or the root of `u = l'(a.x(u))`.
    fn slope(&self, round: &Round, argmin: impl Fn(f64) -> Vec<f64>) -> f64 {
        if self.implicit {
            solve_slope(|p| round.slope(p), |u| dot(round.x, &argmin(u)))
        } else {
            round.slope_played
        }
    }
}

/// COMID and AOGD as mirror descents.
///
/// COMID (eq. 14): `argmin f_t(x) + Psi(x) + 1/2 |x - x_t|_h^2`. AOGD (eq. 20): the same with the
/// gradient of `R_t = 1/2 |x|_Q^2`, `Q = h_t - h_{t-1}`, at `x_t` added to the loss.
struct Mirror {
    table: Table,
}

impl Method for Mirror {
    fn point(&self) -> Vec<f64> {
        self.table.x.clone()
    }

    fn learn(&mut self, round: &Round) {
        let (before, h) = self.table.curve(round);
        let table = &self.table;
        let argmin = |u: f64| -> Vec<f64> {
            (0..h.len())
                .map(|i| {
                    // A coordinate nothing holds has no minimizer; it stays at zero.
                    if h[i] == 0.0 {
                        return 0.0;
                    }
                    let pull = match table.center {
                        Center::Iterates => 0.0,
                        Center::Origin => (h[i] - before[i]) * table.x[i],
                    };
                    let v = table.x[i] - (u * round.x[i] + pull) / h[i];
                    soft(v, table.l1[i] / h[i]) / (1.0 + table.l2[i] / h[i])
                })
                .collect()
        };
        let x = argmin(table.slope(round, argmin));
        self.table.x = x;
    }
}

/// Any row as follow-the-regularized-leader: `x(u) = -soft(lin + u a, c l1)/(h + c l2)`.
struct Leader {
    table: Table,
    /// The points played, `x_1 = 0` first.
    points: History,
    /// `g'_s` of the rounds before.
    losses: History,
    /// `phi_{1:t-1}`; stays zero for the rows that count the penalty every round.
    phi: Vec<f64>,
}

impl Leader {
    fn from_spec(spec: &Spec, space: &Space) -> Self {
        Leader {
            table: Table::from_spec(spec, space),
            points: History::default(),
            losses: History::default(),
            phi: space.zeros(),
        }
    }

    /// `sum_{s<=t} Q_s x_s`, or zero when the quadratics sit at the origin.
    fn centers(&self) -> Vec<f64> {
        let len = self.table.x.len();
        let mut total = vec![0.0; len];
        if self.table.center == Center::Origin {
            return total;
        }
        let mut before = vec![0.0; len];
        for (h, x) in self.table.curvatures.iter().zip(self.points.iter()) {
            for i in 0..len {
                total[i] += (h[i] - before[i]) * x[i];
            }
            before.clone_from(h);
        }
        total
    }
}

impl Method for Leader {
    fn point(&self) -> Vec<f64> {
        self.table.x.clone()
    }

    fn learn(&mut self, round: &Round) {
        let len = self.table.x.len();
        let (_, h) = self.table.curve(round);
        self.points.push(self.table.x.clone());
        let centers = self.centers();
        let past = self.losses.sum(len);
        let amount = match self.table.accrual {
            Accrual::Linearized => 1.0,
            Accrual::EveryRound => round.time(),
        };
        let table = &self.table;
        let argmin = |u: f64| -> Vec<f64> {
            (0..len)
                .map(|i| {
                    let lin = past[i] - centers[i] + self.phi[i];
                    let curvature = h[i] + amount * table.l2[i];
                    // A coordinate nothing holds has no minimizer; it stays at zero.
                    if h[i] == 0.0 {
                        return 0.0;
                    }
                    -soft(lin + u * round.x[i], amount * table.l1[i]) / curvature
                })
                .collect()
        };
        let u = table.slope(round, argmin);
        let x = argmin(u);
        self.losses.push(round.x.iter().map(|a| u * a).collect());
        if self.table.accrual == Accrual::Linearized {
            // The optimality condition names the subgradient: phi_{1:t} = -(g'_{1:t} + h x - centers).
            let past = self.losses.sum(len);
            self.phi = (0..len).map(|i| -(past[i] + h[i] * x[i] - centers[i])).collect();
        }
        self.table.x = x;
    }
}

pub(crate) fn unified(spec: &Spec, space: &Space) -> Box<dyn Method> {
    let table = Table::from_spec(spec, space);
    match table.accrual {
        Accrual::Linearized => Box::new(Mirror { table }),
        Accrual::EveryRound => Box::new(Leader::from_spec(spec, space)),
    }
}

/// The points a row of the table plays in its follow-the-regularized-leader form.
///
/// For `comid` and `aogd` this is the right hand side of Theorems 4 and 7, to be compared with
/// [`crate::trajectory`]; for the other rows it is the same computation.
pub fn leader_trajectory(spec: &Value, stream: &Stream, bias: bool) -> Vec<Vec<f64>> {
    let spec = Spec::new(spec);
    let space = Space::new(stream.dimension, bias);
    let mut leader = Leader::from_spec(&spec, &space);
    let (_, points) = method::play(&mut leader, &Loss::from_spec(&spec), stream, &space);
    points
}

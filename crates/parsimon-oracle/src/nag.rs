//! Normalized adaptive gradients (Ross, Mineiro and Langford 2013, algorithm 2) with steps that respect importance (Karampatziakis and
//! Langford 2011, table 1).

use crate::loss::Loss;
use crate::method::{Method, Round};
use crate::space::Space;
use crate::spec::Spec;

/// `w_i += u (T/N)^(1 - power) G_i^-power s_i^(-2 (1 - power)) x_i`.
struct Nag {
    rate: f64,
    power: f64,
    start: f64,
    /// `s`: the largest value of each feature.
    largest: Vec<f64>,
    /// `G`: the sums of squared gradients.
    squares: Vec<f64>,
    /// `N` and `T`: sums of norms and of importances.
    norms: f64,
    rows: f64,
    w: Vec<f64>,
}

/// How far the margin moves from `p` along a row in the time `h`, where its speed is `-sensitivity l'(p, y)`.
fn way(loss: &Loss, p: f64, y: f64, h: f64, sensitivity: f64) -> f64 {
    let time = h * sensitivity;
    match *loss {
        Loss::Squared => -(y - p) * (-time).exp_m1(),
        Loss::Hinge if y * p >= 1.0 => 0.0,
        Loss::Hinge => y * time.min(1.0 - y * p),
        Loss::SquaredHinge => -y * (1.0 - y * p).max(0.0) * (-time).exp_m1(),
        Loss::Huber { delta } => {
            let r = y - p;
            // On the line the speed is delta; inside it is the distance.
            let on_line = ((r.abs() - delta) / delta).clamp(0.0, time);
            let inside = r.abs().min(delta);
            let curve = if on_line < time { -inside * (-(time - on_line)).exp_m1() } else { 0.0 };
            r.signum() * (delta * on_line + curve)
        }
        Loss::Quantile { level } => {
            let speed = if y > p { level } else { 1.0 - level };
            (y - p).signum() * (speed * time).min((y - p).abs())
        }
        Loss::Logistic => {
            // m + e^m grows by the time: solved by halving an interval.
            let m = y * p;
            let too_far = |way: f64| way + m.exp() * way.exp_m1() > time;
            let (mut low, mut high) = (0.0, time);
            for _ in 0..200 {
                let middle = 0.5 * (low + high);
                if too_far(middle) {
                    high = middle;
                } else {
                    low = middle;
                }
            }
            y * 0.5 * (low + high)
        }
        Loss::Poisson if y == 0.0 => -(p.exp() * time).ln_1p(),
        Loss::Poisson => {
            // The mean follows the logistic curve from e^p to y.
            let left = (-y * time).exp();
            -(left - p.exp() / y * (-y * time).exp_m1()).ln()
        }
    }
}

impl Method for Nag {
    fn point(&self) -> Vec<f64> {
        self.w.clone()
    }

    fn learn(&mut self, round: &Round) {
        let slope = round.slope_played / round.weight;
        if slope == 0.0 {
            return;
        }
        let order = 1.0 - self.power;
        let (mut norm, mut sensitivity) = (0.0, 0.0);
        let mut rates = vec![0.0; round.x.len()];
        for (i, &x) in round.x.iter().enumerate().filter(|(_, x)| **x != 0.0) {
            if x.abs() > self.largest[i] {
                self.w[i] *= (self.largest[i] / x.abs()).powf(2.0 * order);
                self.largest[i] = x.abs();
            }
            self.squares[i] += round.weight * slope * slope * x * x;
            norm += (x / self.largest[i]).powi(2);
            rates[i] = (self.squares[i] + self.start).powf(-self.power)
                * self.largest[i].powf(-2.0 * order);
            sensitivity += rates[i] * x * x;
        }
        self.norms += round.weight * norm;
        self.rows += round.weight;
        let factor = ((self.rows + self.start) / (self.norms + self.start)).powf(order);
        let h = self.rate * round.weight;
        let sensitivity = factor * sensitivity;
        let u = match round.own_loss() {
            Some(loss) if sensitivity > 0.0 => {
                way(loss, round.margin, round.y, h, sensitivity) / sensitivity
            }
            _ => -h * slope,
        };
        for (i, x) in round.x.iter().enumerate() {
            self.w[i] += u * factor * rates[i] * x;
        }
    }
}

pub(crate) fn nag(spec: &Spec, space: &Space) -> Box<dyn Method> {
    spec.refuse_strength("l1");
    spec.refuse_strength("l2");
    Box::new(Nag {
        rate: spec.number_or("rate", 0.5),
        power: spec.number_or("exponent", 0.5),
        start: spec.number_or("start", 0.0),
        largest: space.zeros(),
        squares: space.zeros(),
        norms: 0.0,
        rows: 0.0,
        w: space.zeros(),
    })
}

//! Proportionate NLMS: a gain per weight, larger where the weight is (000, section 2; Duttweiler
//! 2000; Benesty and Gay 2002).

use crate::method::{Method, Round, dot};
use crate::space::Space;
use crate::spec::Spec;

/// The gains of PNLMS: `gamma_i = max(rho max(delta_p, max |w|), |w_i|)` over their mean.
pub fn pnlms_gains(w: &[f64], rho: f64, delta_p: f64) -> Vec<f64> {
    let largest = w.iter().map(|w| w.abs()).fold(0.0, f64::max);
    let gamma: Vec<f64> = w.iter().map(|w| w.abs().max(rho * delta_p.max(largest))).collect();
    let mean = gamma.iter().sum::<f64>() / w.len() as f64;
    gamma.iter().map(|gamma| gamma / mean).collect()
}

/// The gains of IPNLMS: `(1 - a)/(2n) + (1 + a) |w_i| / (2 |w|_1 + epsilon)`.
pub fn ipnlms_gains(w: &[f64], a: f64, epsilon: f64) -> Vec<f64> {
    let n = w.len() as f64;
    let l1: f64 = w.iter().map(|w| w.abs()).sum();
    w.iter().map(|w| (1.0 - a) / (2.0 * n) + (1.0 + a) * w.abs() / (2.0 * l1 + epsilon)).collect()
}

#[derive(Clone, Copy, Debug)]
enum Gains {
    Pnlms { rho: f64, delta_p: f64 },
    Ipnlms { a: f64, epsilon: f64 },
}

/// `w += eta v (y - p) k x / (x.(k x) + delta)`.
struct Proportionate {
    space: Space,
    gains: Gains,
    eta: f64,
    delta: f64,
    w: Vec<f64>,
}

impl Proportionate {
    fn new(spec: &Spec, space: &Space, gains: Gains) -> Self {
        spec.refuse_strength("l1");
        spec.refuse_strength("l2");
        spec.check_dimension(space.dimension);
        Proportionate {
            space: space.clone(),
            gains,
            eta: spec.number("rate"),
            delta: spec.number("delta"),
            w: space.zeros(),
        }
    }

    /// The gains of the features; the bias has the mean gain of its method.
    fn k(&self) -> Vec<f64> {
        let features = &self.w[..self.space.dimension];
        let (mut k, mean) = match self.gains {
            Gains::Pnlms { rho, delta_p } => (pnlms_gains(features, rho, delta_p), 1.0),
            Gains::Ipnlms { a, epsilon } => {
                (ipnlms_gains(features, a, epsilon), 1.0 / self.space.dimension as f64)
            }
        };
        k.resize(self.space.len(), mean);
        k
    }
}

impl Method for Proportionate {
    fn point(&self) -> Vec<f64> {
        self.w.clone()
    }

    fn learn(&mut self, round: &Round) {
        let kx: Vec<f64> = self.k().iter().zip(round.x).map(|(k, x)| k * x).collect();
        let square = dot(round.x, &kx) + self.delta;
        // A row of zeros says nothing.
        if square == 0.0 {
            return;
        }
        let error = round.y - round.margin;
        for (w, kx) in self.w.iter_mut().zip(&kx) {
            *w += self.eta * round.weight * error * kx / square;
        }
    }
}

pub(crate) fn pnlms(spec: &Spec, space: &Space) -> Box<dyn Method> {
    let gains = Gains::Pnlms { rho: spec.number("rho"), delta_p: spec.number("delta_p") };
    Box::new(Proportionate::new(spec, space, gains))
}

pub(crate) fn ipnlms(spec: &Spec, space: &Space) -> Box<dyn Method> {
    let gains = Gains::Ipnlms { a: spec.number("a"), epsilon: spec.number("epsilon") };
    Box::new(Proportionate::new(spec, space, gains))
}

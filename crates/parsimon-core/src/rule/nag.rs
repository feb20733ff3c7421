//! Normalized adaptive gradient steps that respect importance: the default update of Vowpal Wabbit.
//!
//! Ross, Mineiro and Langford 2013 ("Normalized Online Learning", Algorithm 2, NAG) keep for every weight the largest value `s_j` of
//! its feature and the sum `G_j` of squared gradients. With the slope `g` of the loss at the margin and the importance `h` of a row,
//!
//! ```text
//! |x_j| > s_j:  w_j <- w_j (s_j/|x_j|)^(2a),  s_j <- |x_j|         a = 1 - power
//! G_j <- G_j + h g^2 x_j^2
//! N <- N + h sum_j x_j^2/s_j^2,   T <- T + h
//! w_j <- w_j + u (T/N)^a G_j^-power s_j^(-2a) x_j
//! ```
//!
//! so that a feature measured in another unit, or absent from most rows, needs no other rate. `u` follows from the loss: with the steps of
//! a gradient `u = -rate h g`; with steps that respect importance (Karampatziakis and Langford 2011) it is the limit of infinitely many
//! small steps along the row, which never overshoots the label ([`Loss::flow`](crate::Loss::flow)).
//!
//! Without the normalization `a = 0` and `N`, `T` and `s_j` are not used; without the adaptation `a = 1`, `G_j` is not used, and the rate
//! falls with the sum of importances instead, as `rate t^-power`.
//!
//! It has no penalty and no exact zeros: every weight that had a gradient is nonzero.

use super::Rule;
use crate::{Float, state::state};

/// Settings of the update.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nag {
    /// Factor of every step.
    pub rate: f64,
    /// How fast steps shrink: with this power of the sum of squared gradients, or of the sum of importances.
    pub power: f64,
    /// Sum of importances, of norms and of squared gradients before the first row.
    pub start: f64,
    /// Whether each weight has its own rate, from its gradients.
    pub adaptive: bool,
    /// Whether features are normalized by their largest values.
    pub normalized: bool,
    /// Whether steps respect importance.
    pub invariant: bool,
}

/// A weight, the sum of its squared gradients, and the largest value of its feature.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Scaled<F> {
    /// The weight.
    pub w: F,
    /// The sum of squared gradients.
    pub squares: F,
    /// The largest magnitude of the feature.
    pub scale: F,
}

state!(Scaled<F: Float> { w, squares, scale });

/// Sums over the rows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NagClock {
    /// The sum of the importances of all rows.
    pub importance: f64,
    /// The sum of the importances of the rows that changed weights.
    pub weight: f64,
    /// The sum of the norms of those rows after the normalization.
    pub norms: f64,
}

state!(NagClock { importance, weight, norms });

/// Contribution of a coordinate to the sums of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Met {
    /// By how much the margin moves for `u = 1`, without the common factor.
    pub sensitivity: f64,
    /// The square of the normalized value.
    pub norm: f64,
}

impl Nag {
    /// Exponent of the normalization.
    fn order(&self) -> f64 {
        if self.adaptive { 1.0 - self.power } else { 1.0 }
    }

    /// Raises a positive number to the exponent of the normalization.
    fn normalizing(&self, x: f64) -> f64 {
        match self.order() {
            1.0 => x,
            0.5 => x.sqrt(),
            order => x.powf(order),
        }
    }

    /// Shows a coordinate its value and `importance * slope^2`.
    #[inline]
    pub fn meet<F: Float>(&self, c: &mut Scaled<F>, x: f64, energy: f64) -> Met {
        let magnitude = x.abs();
        if magnitude == 0.0 {
            return Met { sensitivity: 0.0, norm: 0.0 };
        }
        if self.adaptive {
            let squares = c.squares.to_f64() + energy * x * x;
            // NUMERICS: the sum stays finite; the rate of such a weight is next to nothing.
            c.squares = F::from_f64(squares.min(F::PRECISION.largest()));
        }
        let mut norm = 0.0;
        if self.normalized {
            let scale = c.scale.to_f64();
            if magnitude > scale {
                if scale > 0.0 {
                    let shrink = scale / magnitude;
                    c.w = F::from_f64(c.w.to_f64() * self.normalizing(shrink * shrink));
                }
                c.scale = F::from_f64(magnitude);
            }
            let normal = x / c.scale.to_f64();
            norm = normal * normal;
        }
        Met { sensitivity: self.rate_of(c) * x * x, norm }
    }

    /// Returns the rate of a coordinate that has met the row, without the common factor.
    #[inline]
    pub fn rate_of<F: Float>(&self, c: &Scaled<F>) -> f64 {
        let mut rate = 1.0;
        if self.adaptive {
            let squares = c.squares.to_f64() + self.start;
            rate = if squares > 0.0 { self.falling(squares) } else { 0.0 };
        }
        if self.normalized {
            let scale = c.scale.to_f64();
            rate /= if scale > 0.0 { self.normalizing(scale * scale) } else { 1.0 };
        }
        rate
    }

    /// `x^-power`
    fn falling(&self, x: f64) -> f64 {
        match self.power {
            0.0 => 1.0,
            0.5 => 1.0 / x.sqrt(),
            1.0 => 1.0 / x,
            power => x.powf(-power),
        }
    }

    /// Adds the norm of a row that changes weights, and returns the common factor of its rates.
    pub fn factor(&self, now: &mut NagClock, importance: f64, norm: f64) -> f64 {
        if !self.normalized {
            return 1.0;
        }
        now.weight += importance;
        now.norms += importance * norm;
        let norms = now.norms + self.start;
        if norms > 0.0 { self.normalizing((now.weight + self.start) / norms) } else { 0.0 }
    }

    /// Returns the step of a row of this importance, which is the next one.
    pub fn step(&self, now: &NagClock, importance: f64) -> f64 {
        let step = self.rate * importance;
        if self.adaptive {
            return step;
        }
        let t = self.start + now.importance + importance;
        // Steps that neither adapt nor are normalized start at the rate itself.
        let first =
            if self.normalized || self.start == 0.0 { 1.0 } else { self.falling(self.start) };
        step * self.falling(t) / first
    }
}

impl<F: Float> Rule<F> for Nag {
    type Coord = Scaled<F>;
    type Clock = NagClock;

    fn tick(&self, _now: &mut NagClock) {}
    #[inline(always)]
    fn played(&self, _now: &NagClock, _j: u32, c: &Scaled<F>) -> F {
        c.w
    }
    /// Adds what [`Learner::normalizing`](crate::Learner::normalizing) has computed for the coordinate.
    #[inline(always)]
    fn absorb(&self, _now: &mut NagClock, _j: u32, c: &mut Scaled<F>, _w: F, g: F, _at: F) {
        c.w = F::from_f64(c.w.to_f64() - self.rate_of(c) * g.to_f64());
    }
    fn merging(
        &self,
    ) -> Result<&dyn crate::share::Merging<Self::Coord, Self::Clock>, &'static str> {
        Err("the factor of its rates is a sum over all rows, which no coordinate holds alone")
    }
}

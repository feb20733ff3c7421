//! Regularized dual averaging.

use parsimon_core::Float;
use parsimon_core::metric::{Global, Pace};
use parsimon_core::rule::leader::{Accrual, Origin};

use super::groups::AnyLoss;
use super::objective::{Bound, Met, Objective};
use super::penalized::{PENALTY_FACTOR, Penalized};
use super::recipe::{Card, Composer, Recipe};
use super::setting::{Positive, choice, settings};
use crate::error::BuildError;
use crate::found::Found;

choice! {
    /// The sequence `beta_t` of the stabilizer.
    pub enum Beta {
        /// `sqrt(t) / rate`
        Sqrt = "sqrt",
        /// 0
        Zero = "zero",
        /// `l2`
        Constant = "constant",
        /// `l2 (1 + ln t)`
        Log = "log",
    }
}

choice! {
    /// The stabilizer `h`.
    pub enum Stabilizer {
        /// `|w|^2 / 2`
        Half = "half",
        /// The penalty itself over l2.
        Psi = "psi",
    }
}

settings! {
    /// Regularized dual averaging (Xiao 2010).
    pub struct Rda {
        rate: Positive = 0.5, "learning rate (eta = 1/gamma)";
        ..penalized: Penalized;
        beta: Beta = "sqrt", "beta_t: sqrt(t)/rate; with l2 > 0 also 0, l2, l2 (1 + ln t)";
        prox: Stabilizer = "half", "h = |w|^2/2, or the penalty itself over l2";
    }
}

impl Rda {
    /// `beta_t`
    pub fn beta_at(&self, t: u64) -> f64 {
        let t = t.max(1) as f64;
        match self.beta {
            Beta::Sqrt => t.sqrt() / self.rate,
            Beta::Zero => 0.0,
            Beta::Constant => self.penalized.l2,
            Beta::Log => self.penalized.l2 * (1.0 + t.ln()),
        }
    }
}

impl Recipe for Rda {
    const CARD: Card = Card {
        name: "rda",
        paper: "Xiao 2010",
        losses: "tangent",
        penalties: "every round",
        center: "origin, beta_t",
        cost: "O(nnz)",
    };
    const FALLS_WITH_ENERGY: bool = true;
    const GRID: &'static [&'static str] = &["l1=1e-6..1e-3:4", "rate=0.1..10:4"];
    const L1: f64 = 1e-4;
    type Losses = AnyLoss;

    fn check(&self, _: &AnyLoss) -> Result<(), BuildError> {
        self.penalized.check()?;
        if self.penalized.l2 == 0.0 && self.beta != Beta::Sqrt {
            return Err(BuildError::new(
                "beta",
                "beta zero, constant and log need l2 > 0: they rest on the penalty's strong convexity",
            ));
        }
        let is_plain = self.beta == Beta::Sqrt && self.prox == Stabilizer::Half;
        if self.penalized.penalty_factor.is_some() && !is_plain {
            return Err(BuildError::new(
                PENALTY_FACTOR,
                "penalty_factor goes with beta sqrt and prox half: the others rest on the strong convexity of the penalty, which a factor changes",
            ));
        }
        if self.penalized.l2 == 0.0 && self.prox == Stabilizer::Psi {
            return Err(BuildError::new(
                "prox",
                "prox psi needs l2 > 0: the penalty is its own stabilizer",
            ));
        }
        Ok(())
    }
    fn objective(&self) -> Option<Objective> {
        Some(self.penalized.objective())
    }
    /// `Delta_t = beta_t D^2 + L^2/2 sum_{tau<t} 1/(sigma tau + beta_tau)`, `beta_0 = beta_1`; for `beta = 0` the
    /// notes' eq. 4.8.
    fn regret_bound(&self, met: &Met) -> Option<Bound> {
        let sigma = self.penalized.l2;
        // Without a separate penalty the bias is outside the strongly convex analysis.
        if sigma > 0.0 && met.has_bias {
            return None;
        }
        let zero = self.beta == Beta::Zero;
        let is_psi = self.prox == Stabilizer::Psi || zero;
        let d2 = if is_psi { met.psi / sigma } else { 0.5 * met.norm2 };
        let beta_0 = if zero { sigma } else { self.beta_at(1) };
        let sum: f64 = (0..met.rounds)
            .map(|tau| {
                1.0 / (sigma * tau as f64 + if tau == 0 { beta_0 } else { self.beta_at(tau) })
            })
            .sum();
        let first = if zero { met.psi_second } else { 0.0 };
        let value = first + self.beta_at(met.rounds) * d2 + 0.5 * met.slope2 * sum;
        Some(Bound { value, d2, lipschitz: met.slope2.sqrt() })
    }
    fn compose<F: Float, C: Composer<F>>(&self, found: &Found, composer: C) -> C::Output {
        let (rate, l2) = (self.rate, self.penalized.l2);
        let beta = match self.beta {
            Beta::Sqrt => Pace::Sqrt { rate },
            Beta::Zero => Pace::Constant { q: 0.0 },
            Beta::Constant => Pace::Constant { q: l2 },
            Beta::Log => Pace::Log { sigma: l2 },
        };
        // Without a penalty the bias is not strongly convex: it takes the square-root sequence.
        let bias_beta = Pace::Sqrt { rate };
        let (accrual, metric) = match self.prox {
            Stabilizer::Psi => (Accrual::WithItself { beta, sigma: l2 }, Pace::Constant { q: 0.0 }),
            Stabilizer::Half => (Accrual::EveryRound, beta),
        };
        let metrics = [Global(metric), Global(bias_beta)];
        self.penalized.chosen(found).leader(accrual, Origin, metrics, composer)
    }
}

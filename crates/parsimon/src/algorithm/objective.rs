//! The objective against which the regret of an algorithm is measured.

use serde::Serialize;

/// The penalty and the set of the best fixed weights in hindsight.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Objective {
    /// The strength of `|w|`.
    pub l1: f64,
    /// The strength of `w^2/2`.
    pub l2: f64,
    /// The set of weights.
    pub set: FeasibleSet,
    /// Accumulation of the penalty.
    pub charge: Charge,
}

/// The set of weights that are allowed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum FeasibleSet {
    /// All weights.
    #[default]
    Everything,
    /// The ball of the l1 norm.
    L1Ball {
        /// Its radius.
        radius: f64,
    },
    /// The ball of the l2 norm.
    L2Ball {
        /// Its radius.
        radius: f64,
    },
    /// Each weight between two bounds.
    Box {
        /// The smallest weight.
        lower: f64,
        /// The largest weight.
        upper: f64,
    },
}

/// Accumulation of a penalty: once, or in every round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Charge {
    /// In every round.
    #[default]
    EveryRound,
    /// Once, not per round.
    Once,
}

impl Objective {
    /// A penalty that is charged in every round.
    pub fn penalized(l1: f64, l2: f64) -> Self {
        Self { l1, l2, ..Self::default() }
    }

    /// No penalty, and weights that are restricted to a set.
    pub fn within(set: FeasibleSet) -> Self {
        Self { set, ..Self::default() }
    }

    /// The penalty of some weights, charged once.
    pub fn penalty(&self, weights: &[f64]) -> f64 {
        weights.iter().map(|w| self.l1 * w.abs() + 0.5 * self.l2 * w * w).sum()
    }
}

/// The constants of a regret bound, measured in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Met {
    /// Whether a bias was learned.
    pub has_bias: bool,
    /// The rounds played.
    pub rounds: u64,
    /// The squared norm of the best weights.
    pub norm2: f64,
    /// The penalty of the best weights.
    pub psi: f64,
    /// The penalty of the second weights played.
    pub psi_second: f64,
    /// The largest squared norm of a gradient.
    pub slope2: f64,
}

/// RDA's `Delta_t` (Xiao 2010, eq. 18; the notes' eq. 4.1) with the constants of one run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Bound {
    /// `Delta_T`
    pub value: f64,
    /// `D^2`: the stabilizer `h` at the best weights.
    pub d2: f64,
    /// `L`: the largest norm of a gradient.
    pub lipschitz: f64,
}

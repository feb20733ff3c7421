//! A penalty whose strength differs between features.

use std::sync::Arc;

use super::{CatchUp, Flat, Lazy, Penalty, PerFeature, soft};
use crate::Float;

/// A factor on the penalty of some features; all others have the factor 1.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Factors {
    /// Sorted, each feature once.
    each: Arc<[(u32, f64)]>,
}

impl Factors {
    /// The factors of features. `None` if a feature comes twice, or a factor is not a finite number >= 0.
    ///
    /// ```
    /// use parsimon_core::penalty::Factors;
    ///
    /// let factors = Factors::new(vec![(7, 0.0), (3, 2.5)]).unwrap();
    /// assert_eq!([3, 7, 8].map(|j| factors.of(j)), [2.5, 0.0, 1.0]);
    /// assert!(Factors::new(vec![(7, -1.0)]).is_none());
    /// ```
    pub fn new(mut each: Vec<(u32, f64)>) -> Option<Self> {
        each.sort_unstable_by_key(|&(j, _)| j);
        let is_sound = each.is_sorted_by(|a, b| a.0 < b.0)
            && each.iter().all(|&(_, factor)| factor.is_finite() && factor >= 0.0);
        is_sound.then(|| Self { each: each.into() })
    }

    /// The factor of feature `j`.
    #[inline]
    pub fn of(&self, j: u32) -> f64 {
        let place = self.each.binary_search_by_key(&j, |&(j, _)| j);
        place.map_or(1.0, |place| self.each[place].1)
    }

    /// Whether every feature has the factor 1.
    pub fn is_empty(&self) -> bool {
        self.each.is_empty()
    }
}

/// `psi_j(w) = f_j base(w)`, with the factor `f_j >= 0` of the feature: 0 leaves a feature without a penalty, and
/// `1/|w_j|` of a first fit are the weights of the adaptive lasso (Zou 2006). Bounds of the base hold for every factor.
///
/// ```
/// use parsimon_core::Penalty;
/// use parsimon_core::penalty::{ElasticNet, Factors, PerFeature, Weighted};
///
/// let factors = Factors::new(vec![(1, 0.0), (2, 3.0)]).unwrap();
/// let penalty = Weighted { base: ElasticNet { l1: 0.5, l2: 0.0 }, factors };
/// let prox = |j: u32| PerFeature::<f64>::of(&penalty, j).prox(2.0, 1.0);
/// assert_eq!([1, 2, 3].map(prox), [2.0, 0.5, 1.5]);
/// ```
///
/// Proximal steps that were missed are caught up from one total where the penalty has no curvature: they add up, and the factor
/// of the feature multiplies their sum. With a curvature the product of the steps depends on the factor, so that every factor would
/// need a total of its own; that does not compile:
///
/// ```compile_fail,E0277
/// use parsimon_core::penalty::{ElasticNet, Weighted};
/// use parsimon_core::rule::Rule;
/// use parsimon_core::rule::mirror::Scheduled;
///
/// fn needs_a_rule<R: Rule<f64>>() {}
/// needs_a_rule::<Scheduled<Weighted<ElasticNet>>>(); // with L1 this compiles
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Weighted<P> {
    /// The penalty of a feature with the factor 1.
    pub base: P,
    /// The factors.
    pub factors: Factors,
}

/// A penalty that can be multiplied.
pub trait Times {
    /// `factor psi(w)`, with the same bounds.
    #[must_use]
    fn times(self, factor: f64) -> Self;
}

impl<F: Float, P: Penalty<F> + Times> PerFeature<F> for Weighted<P> {
    type One = P;
    #[inline(always)]
    fn of(&self, j: u32) -> P {
        // PERF: bounds without factors are the usual case.
        if self.factors.is_empty() { self.base } else { self.base.times(self.factors.of(j)) }
    }
    fn none() -> Self {
        Self { base: P::free(), factors: Factors::default() }
    }
}

impl<F: Float, P: Lazy<F, Debt = f64, Stamp = F> + Times + Flat> CatchUp<F> for Weighted<P> {
    type Debt = f64;
    type Stamp = F;

    fn charge(&self, debt: &mut f64, eta: f64) {
        self.base.charge(debt, eta);
    }
    #[inline(always)]
    fn stamp(&self, debt: &f64) -> F {
        self.base.stamp(debt)
    }
    // NUMERICS: as in `L1`, a coordinate that missed nothing loses exactly nothing.
    #[inline(always)]
    fn catch_up(&self, j: u32, w: F, debt: &f64, seen: &F) -> F {
        let missed = F::from_f64(*debt) - *seen;
        self.base.project(soft(w, F::from_f64(self.factors.of(j)) * missed))
    }
}

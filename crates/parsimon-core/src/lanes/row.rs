//! The arithmetic of one coordinate for all lanes.

#![allow(
    clippy::needless_range_loop,
    reason = "a loop over lanes looks at several arrays, and is to be vectorized"
)]

use super::Lane;
use crate::Float;
use crate::metric::AdaGrad;
use crate::rule::leader::Center;

/// Computation of a weight from a coordinate in every lane, with the terms that depend only on the round.
#[derive(Clone, Copy)]
pub(super) struct Weigh<F, const K: usize> {
    l1: [F; K],
    l2: [F; K],
    /// `1/rate`
    pace: [F; K],
    delta: [F; K],
    /// Shares of `l1` and `l2` that are in force now.
    threshold: [F; K],
    ridge: [F; K],
}

/// Values read from a coordinate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Played<F, const K: usize> {
    pub(super) w: [F; K],
    /// PERF: roots are expensive, and absorbing reuses those of reading.
    q: [F; K],
}

impl<F: Float, const K: usize> Default for Played<F, K> {
    fn default() -> Self {
        Self { w: [F::ZERO; K], q: [F::ZERO; K] }
    }
}

impl<F: Float, const K: usize> Weigh<F, K> {
    pub(super) fn new(lanes: &[Lane; K]) -> Self {
        Self {
            l1: lanes.map(|lane| F::from_f64(lane.l1)),
            l2: lanes.map(|lane| F::from_f64(lane.l2)),
            pace: lanes.map(|lane| F::from_f64(1.0 / lane.rate)),
            delta: lanes.map(|lane| F::from_f64(lane.delta)),
            threshold: [F::ZERO; K],
            ridge: [F::ZERO; K],
        }
    }

    /// After the growth has changed; see [`Fading`](crate::rule::fading::Fading).
    #[inline(always)]
    pub(super) fn grow(&mut self, lanes: &[Lane; K], growth: f64) {
        for k in 0..K {
            self.delta[k] = F::from_f64(growth * lanes[k].delta);
        }
    }

    /// Values of a coordinate, read before the growth changed, that absorbing needs.
    #[inline(always)]
    pub(super) fn read_again(&self, [_, n]: &[[F; K]; 2], played: &mut Played<F, K>) {
        for k in 0..K {
            played.q[k] = self.q(k, n[k]);
        }
    }

    #[inline(always)]
    pub(super) fn tick(&mut self, amount: F) {
        for k in 0..K {
            self.threshold[k] = amount * self.l1[k];
            self.ridge[k] = amount * self.l2[k];
        }
    }

    /// `q`: see [`AdaGrad`].
    #[inline(always)]
    fn q(&self, k: usize, n: F) -> F {
        (self.delta[k] + n.sqrt()) * self.pace[k]
    }

    /// See [`ElasticNet`](crate::penalty::ElasticNet)'s `argmin`.
    #[inline(always)]
    pub(super) fn played(&self, [z, n]: &[[F; K]; 2]) -> Played<F, K> {
        let (mut w, mut q) = ([F::ZERO; K], [F::ZERO; K]);
        for k in 0..K {
            q[k] = self.q(k, n[k]);
            let over = z[k].abs() - self.threshold[k];
            let den = q[k] + self.ridge[k];
            let ratio = over / den;
            let magnitude = if (over > F::ZERO) & (den > F::ZERO) { ratio } else { F::ZERO };
            w[k] = if z[k] > F::ZERO { -magnitude } else { magnitude };
        }
        Played { w, q }
    }

    /// See [`Leader`](crate::rule::leader::Leader).
    #[inline(always)]
    pub(super) fn absorb<C: Center<AdaGrad>>(
        &self,
        center: &C,
        [z, n]: &mut [[F; K]; 2],
        played: &Played<F, K>,
        d: &[F; K],
        x: F,
    ) {
        for k in 0..K {
            let g = d[k] * x;
            let sum = n[k] + g * g;
            n[k] = sum;
            z[k] += g - center.pull(self.q(k, sum) - played.q[k], played.w[k]);
        }
    }
}

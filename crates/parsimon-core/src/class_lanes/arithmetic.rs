//! The arithmetic of one feature for all classes and settings.
//!
//! A block has the sums of gradients of all classes and settings, and behind them the sums of squares. See the arithmetic of
//! [`Lanes`](crate::Lanes), which this module repeats.

#![allow(
    clippy::needless_range_loop,
    reason = "a loop over settings looks at several arrays, and is to be vectorized"
)]

use crate::metric::AdaGrad;
use crate::rule::leader::Center;
use crate::{Float, Lane};

/// Computation of a weight in every setting of every class, with the terms that depend only on the round.
pub(super) struct Weigh<F> {
    lanes: Vec<Lane>,
    /// All of these repeat the settings for every class.
    l1: Vec<F>,
    l2: Vec<F>,
    /// `1/rate`
    pace: Vec<F>,
    delta: Vec<F>,
    /// Shares of `l1` and `l2` that are in force now.
    threshold: Vec<F>,
    ridge: Vec<F>,
}

/// Sets the length of a buffer whose contents are overwritten afterwards.
pub(super) fn prepare<F: Float>(buffer: &mut Vec<F>, len: usize) {
    if buffer.len() < len {
        buffer.resize(len, F::ZERO);
    }
}

impl<F: Float> Weigh<F> {
    pub(super) fn new(lanes: &[Lane], classes: usize) -> Self {
        let each = |value: fn(&Lane) -> f64| {
            let of_class: Vec<F> = lanes.iter().map(|lane| F::from_f64(value(lane))).collect();
            of_class.repeat(classes)
        };
        let width = lanes.len() * classes;
        Self {
            l1: each(|lane| lane.l1),
            l2: each(|lane| lane.l2),
            pace: each(|lane| 1.0 / lane.rate),
            delta: each(|lane| lane.delta),
            threshold: vec![F::ZERO; width],
            ridge: vec![F::ZERO; width],
            lanes: lanes.to_vec(),
        }
    }

    /// After the growth has changed.
    pub(super) fn grow(&mut self, growth: f64) {
        let deltas = self.lanes.iter().cycle().map(|lane| F::from_f64(growth * lane.delta));
        self.delta.iter_mut().zip(deltas).for_each(|(delta, grown)| *delta = grown);
    }

    /// Metrics of a block, read before the growth changed, that absorbing needs.
    #[inline(always)]
    pub(super) fn read_again(&self, block: &[F], q: &mut [F]) {
        let (_, n) = block.split_at(block.len() / 2);
        let of = n.iter().zip(&self.delta).zip(&self.pace);
        for (q, ((n, delta), pace)) in q.iter_mut().zip(of) {
            *q = (*delta + n.sqrt()) * *pace;
        }
    }

    #[inline(always)]
    pub(super) fn tick(&mut self, amount: F) {
        self.threshold.iter_mut().zip(&self.l1).for_each(|(t, l1)| *t = amount * *l1);
        self.ridge.iter_mut().zip(&self.l2).for_each(|(r, l2)| *r = amount * *l2);
    }

    /// Reads weights and metrics.
    #[inline(always)]
    pub(super) fn read(&self, block: &[F], w: &mut [F], q: &mut [F]) {
        // PERF: slices of equal length need no length check in the loop.
        let width = w.len();
        let (z, n) = block.split_at(width);
        let (n, q) = (&n[..width], &mut q[..width]);
        let (delta, pace) = (&self.delta[..width], &self.pace[..width]);
        let (threshold, ridge) = (&self.threshold[..width], &self.ridge[..width]);
        for m in 0..width {
            q[m] = (delta[m] + n[m].sqrt()) * pace[m];
            let over = z[m].abs() - threshold[m];
            let den = q[m] + ridge[m];
            let ratio = over / den;
            let magnitude = if (over > F::ZERO) & (den > F::ZERO) { ratio } else { F::ZERO };
            w[m] = if z[m] > F::ZERO { -magnitude } else { magnitude };
        }
    }

    #[inline(always)]
    pub(super) fn absorb<C: Center<AdaGrad>>(
        &self,
        center: &C,
        block: &mut [F],
        w: &[F],
        q: &[F],
        d: &[F],
        x: F,
    ) {
        let width = w.len();
        let (z, n) = block.split_at_mut(width);
        let (n, q, d) = (&mut n[..width], &q[..width], &d[..width]);
        let (delta, pace) = (&self.delta[..width], &self.pace[..width]);
        for m in 0..width {
            let g = d[m] * x;
            let sum = n[m] + g * g;
            n[m] = sum;
            z[m] += g - center.pull((delta[m] + sum.sqrt()) * pace[m] - q[m], w[m]);
        }
    }
}

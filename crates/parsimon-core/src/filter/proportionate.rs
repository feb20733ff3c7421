//! Proportionate steps: large taps move more. PNLMS and IPNLMS differ in the gains `k`:
//!
//! ```text
//! w -= eta (p - y) k x / (x.(k x) + delta)
//! PNLMS   gamma_i = max(rho max(delta_p, max|w|), |w_i|),  k = gamma / mean(gamma)         Duttweiler 2000
//! IPNLMS  k_i = (1 - a)/(2 n) + (1 + a) |w_i| / (2 |w|_1 + epsilon)                        Benesty and Gay 2002
//! ```
//!
//! A bias has the mean gain: 1 in PNLMS, `1/n` in IPNLMS.

use super::{Delta, Method, Past, restore_into, save_all};
use crate::Float;
use crate::state::{StateError, StateWriter};
use crate::vector::{add_scaled, dot, norm1, total};

/// Gains as functions of the weights.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Gain<F> {
    /// PNLMS.
    Proportionate {
        /// The smallest gain, as a share of the largest.
        rho: F,
        /// Replaces the largest weight while all are small.
        delta_p: F,
    },
    /// IPNLMS.
    Improved {
        /// From -1 (NLMS) to 1 (gains proportional to the weights).
        a: F,
        /// Keeps the gains finite at the origin.
        epsilon: F,
    },
}

impl<F: Float> Gain<F> {
    /// Writes the gains of the weights `w` and returns the mean gain, which is the gain of a bias.
    #[inline(always)]
    pub fn write(&self, w: &[F], k: &mut [F]) -> F {
        let n = F::from_f64(w.len() as f64);
        match *self {
            Gain::Proportionate { rho, delta_p } => {
                let largest = w.iter().fold(F::ZERO, |most, w| most.max(w.abs()));
                let least = rho * delta_p.max(largest);
                for (k, &w) in k.iter_mut().zip(w) {
                    *k = least.max(w.abs());
                }
                let mean = total(k) / n;
                match mean > F::ZERO {
                    true => k.iter_mut().for_each(|k| *k = *k / mean),
                    false => k.fill(F::ONE),
                }
                F::ONE
            }
            Gain::Improved { a, epsilon } => {
                let norm = norm1(w);
                let two = F::ONE + F::ONE;
                let base = (F::ONE - a) / (two * n);
                let whole = two * norm + epsilon;
                let share = if whole > F::ZERO { (F::ONE + a) / whole } else { F::ZERO };
                for (k, &w) in k.iter_mut().zip(w) {
                    *k = base + share * w.abs();
                }
                F::ONE / n
            }
        }
    }
}

/// PNLMS or IPNLMS.
#[derive(Clone, Debug)]
pub struct Proportionate<F> {
    rate: F,
    delta: Delta<F>,
    gain: Gain<F>,
    features: usize,
    w: Vec<F>,
    k: Vec<F>,
}

impl<F: Float> Proportionate<F> {
    /// `len` weights, the first `features` with gains, the rest a bias.
    ///
    /// # Panics
    /// `features > len`.
    pub fn new(len: usize, features: usize, rate: f64, delta: Delta<F>, gain: Gain<F>) -> Self {
        assert!(features <= len, "there are {features} features among {len} weights");
        let (w, k) = (vec![F::ZERO; len], vec![F::ZERO; len]);
        Self { rate: F::from_f64(rate), delta, gain, features, w, k }
    }
}

impl<F: Float> Method<F> for Proportionate<F> {
    fn weights(&self) -> &[F] {
        &self.w
    }
    fn set_weights(&mut self, weights: &[F]) {
        self.w.copy_from_slice(weights);
    }
    fn reset(&mut self) {
        self.w.fill(F::ZERO);
    }

    #[inline(always)]
    fn adapt<P: Past<F>>(&mut self, past: &P, p: F, weight: F) {
        let (x, n) = (past.regressor(0), self.features);
        let mean = self.gain.write(&self.w[..n], &mut self.k[..n]);
        self.k[n..].fill(mean);
        for (k, &x) in self.k.iter_mut().zip(x) {
            *k *= x;
        }
        let normalizer = dot(x, &self.k) + self.delta.of(past, mean);
        if normalizer > F::ZERO {
            let e = p - past.target(0);
            add_scaled(&mut self.w, -(self.rate * weight * e / normalizer), &self.k);
        }
    }

    fn save(&self, out: &mut StateWriter) {
        save_all(&self.w, out);
    }
    fn restore(&mut self, input: &mut &[u8]) -> Result<(), StateError> {
        restore_into(&mut self.w, input, "the weights")
    }
}

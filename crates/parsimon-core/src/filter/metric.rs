//! The metric of the PDA thesis, eq. 3.5: small weights are held, large ones may move.
//!
//! `q_i = alpha + (1 - alpha) (n/S) / (|w_i| + epsilon)`, `S = sum_j 1/(|w_j| + epsilon)`; its trace is `n`. The gain
//! of a coordinate is `1/q_i`.

use crate::Float;
use crate::vector::total;

/// The metric's two numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MagnitudeMetric<F> {
    /// The identity's share, from 0 to 1; 1 is the identity.
    pub alpha: F,
    /// Keeps a zero weight's `q` finite.
    pub epsilon: F,
}

impl<F: Float> MagnitudeMetric<F> {
    /// Writes `q` for the weights `w`, and its inverse, the gains.
    ///
    /// ```
    /// use parsimon_core::filter::metric::MagnitudeMetric;
    ///
    /// let (w, mut q, mut gain) = ([2.0, 0.0, -0.1], [0.0; 3], [0.0; 3]);
    /// MagnitudeMetric { alpha: 0.5, epsilon: 1e-5 }.write(&w, &mut q, &mut gain);
    /// assert!((q.iter().sum::<f64>() - 3.0).abs() < 1e-12); // the trace is n
    /// assert!(gain[0] > gain[2] && gain[2] > gain[1]); // gains are large where weights are
    /// ```
    #[inline(always)]
    pub fn write(&self, w: &[F], q: &mut [F], gain: &mut [F]) {
        let (alpha, epsilon) = (self.alpha, self.epsilon);
        for (q, &w) in q.iter_mut().zip(w) {
            *q = F::ONE / (w.abs() + epsilon);
        }
        let s = total(q);
        let scale = (F::ONE - alpha) * F::from_f64(w.len() as f64) / s;
        for (q, gain) in q.iter_mut().zip(gain) {
            *q = alpha + scale * *q;
            *gain = F::ONE / *q;
        }
    }
}

//! The metric of the PDA thesis, eq. 3.5: small weights are held, large ones may move.
//!
//! `q_i = alpha + (1 - alpha) (n/S) / (|w_i| + epsilon)`, `S = sum_j 1/(|w_j| + epsilon)`; its trace is `n`. The gain
//! of a coordinate is `1/q_i`.

use super::vector::sum;
use crate::Float;

/// The metric's two numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Metric<F> {
    /// The identity's share, in (0, 1]; 1 is the identity.
    pub alpha: F,
    /// Keeps a zero weight's `q` finite.
    pub epsilon: F,
}

impl<F: Float> Metric<F> {
    /// Writes `q` for the weights `w`.
    ///
    /// ```
    /// use parsimon_core::filter::metric::Metric;
    ///
    /// let (w, mut q) = ([2.0, 0.0, -0.1], [0.0; 3]);
    /// Metric { alpha: 0.5, epsilon: 1e-5 }.write(&w, &mut q);
    /// assert!((q.iter().sum::<f64>() - 3.0).abs() < 1e-12); // the trace is n
    /// assert!(q[0] < q[2] && q[2] < q[1]); // gains are large where weights are
    /// ```
    #[inline(always)]
    pub fn write(&self, w: &[F], q: &mut [F]) {
        let (alpha, epsilon) = (self.alpha, self.epsilon);
        let s = sum(w, w, |w, _| F::ONE / (w.abs() + epsilon));
        let scale = (F::ONE - alpha) * F::from_f64(w.len() as f64) / s;
        for (q, &w) in q.iter_mut().zip(w) {
            *q = alpha + scale / (w.abs() + epsilon);
        }
    }
}

//! Recursive least squares (the second-order SGD of the CSGD paper): exact ridge regression, one row at a time.
//!
//! ```text
//! k = P x / (lambda + x.P x),  w += k (y - p),  P = (P - k (P x)^T) / lambda,  P_0 = I / delta
//! ```
//!
//! With `lambda = 1`, `w` is the minimizer of `sum (y - w.x)^2 / 2 + delta |w|^2 / 2` over the rows so far. A row
//! costs `O(n^2)` in time and `P` takes `n (n + 1) / 2` numbers.

use super::{Method, Past, restore_into, save_all};
use crate::Float;
use crate::state::{StateError, StateWriter};
use crate::vector::{add_scaled, dot};

/// The method. `P` is kept in `f64` in either precision: it is a sum over the whole stream, and in `f32` it loses
/// its positive definiteness within some thousand rows.
#[derive(Clone, Debug)]
pub struct Rls<F> {
    delta: f64,
    forgetting: f64,
    w: Vec<F>,
    /// The lower triangle of `P`, row by row.
    p: Vec<f64>,
    px: Vec<f64>,
    x: Vec<f64>,
}

/// Largest factor on `P_0` to which forgetting may inflate `P`.
///
/// NUMERICS: in a direction that no row visits, forgetting multiplies `P` by `1/lambda` every round and without end.
const WIND_UP: f64 = 1e12;

impl<F: Float> Rls<F> {
    /// `len` weights; `delta > 0`, `forgetting` in (0, 1].
    pub fn new(len: usize, delta: f64, forgetting: f64) -> Self {
        let w = vec![F::ZERO; len];
        let (px, x) = (vec![0.0; len], vec![0.0; len]);
        let mut rls = Self { delta, forgetting, w, p: Vec::new(), px, x };
        rls.reset();
        rls
    }

    /// Bytes that `P` takes for `len` weights.
    pub fn memory(len: u64) -> u64 {
        (len.saturating_mul(len.saturating_add(1)) / 2).saturating_mul(8)
    }
}

/// Start of row `i` of a packed triangle.
fn start(i: usize) -> usize {
    i * (i + 1) / 2
}

impl<F: Float> Method<F> for Rls<F> {
    fn weights(&self) -> &[F] {
        &self.w
    }
    fn set_weights(&mut self, weights: &[F]) {
        self.w.copy_from_slice(weights);
    }
    fn reset(&mut self) {
        let n = self.w.len();
        self.w.fill(F::ZERO);
        self.p.clear();
        self.p.resize(start(n), 0.0);
        for i in 0..n {
            self.p[start(i) + i] = 1.0 / self.delta;
        }
    }

    #[inline(always)]
    fn adapt<P: Past<F>>(&mut self, past: &P, p: F, weight: F) {
        let v = weight.to_f64();
        for (x, given) in self.x.iter_mut().zip(past.regressor(0)) {
            *x = given.to_f64();
        }
        self.px.fill(0.0);
        for (i, &x) in self.x.iter().enumerate() {
            // Row i of the triangle is also column i above the diagonal; zeros are skipped.
            let row = &self.p[start(i)..=start(i) + i];
            if x != 0.0 {
                add_scaled(&mut self.px, x, row);
            }
            self.px[i] += dot(&row[..i], &self.x);
        }
        let energy = dot(&self.px, &self.x);
        let gain = v / (self.forgetting + v * energy);
        if !gain.is_finite() || !energy.is_finite() {
            return;
        }
        let e = (past.target(0) - p).to_f64();
        for (w, &px) in self.w.iter_mut().zip(&self.px) {
            *w += F::from_f64(gain * px * e);
        }
        let largest = (0..self.w.len()).map(|i| self.p[start(i) + i]).fold(0.0, f64::max);
        let inflate = if largest * self.delta < WIND_UP { 1.0 / self.forgetting } else { 1.0 };
        for i in 0..self.w.len() {
            let scaled = gain * self.px[i];
            let row = &mut self.p[start(i)..=start(i) + i];
            for (p, &px) in row.iter_mut().zip(&self.px) {
                *p = (*p - scaled * px) * inflate;
            }
        }
    }

    fn save(&self, out: &mut StateWriter) {
        save_all(&self.w, out);
        save_all(&self.p, out);
    }
    fn least_saved(len: u64) -> u64 {
        len.saturating_add(Self::memory(len) / 8)
    }
    fn room(&self, len: u64) -> u64 {
        let vectors = len.saturating_mul((size_of::<F>() + 2 * size_of::<f64>()) as u64);
        Self::memory(len).saturating_add(vectors)
    }
    fn restore(&mut self, input: &mut &[u8]) -> Result<(), StateError> {
        restore_into(&mut self.w, input, "the weights")?;
        restore_into(&mut self.p, input, "the inverse correlation")
    }
}

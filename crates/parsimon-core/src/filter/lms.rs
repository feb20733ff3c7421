//! LMS (Widrow and Hoff 1960): `w -= eta e x`, not normalized. Adaline by another name.

use super::{Method, Past, restore_into, save_all};
use crate::Float;
use crate::state::{StateError, StateWriter};
use crate::vector::add_scaled;

/// The least mean squares filter. It diverges when `eta x.x` comes near 2.
#[derive(Clone, Debug)]
pub struct Lms<F> {
    rate: F,
    w: Vec<F>,
}

impl<F: Float> Lms<F> {
    /// A filter of `len` zeros.
    pub fn new(len: usize, rate: f64) -> Self {
        Self { rate: F::from_f64(rate), w: vec![F::ZERO; len] }
    }
}

impl<F: Float> Method<F> for Lms<F> {
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
        let e = p - past.target(0);
        add_scaled(&mut self.w, -(self.rate * weight * e), past.regressor(0));
    }
    fn save(&self, out: &mut StateWriter) {
        save_all(&self.w, out);
    }
    fn restore(&mut self, input: &mut &[u8]) -> Result<(), StateError> {
        restore_into(&mut self.w, input, "the weights")
    }
}

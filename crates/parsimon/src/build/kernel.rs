//! The multikernel filters: the only learners whose model is not linear.

use parsimon_core::kernel::{Multikernel, Tuning, Update};
use parsimon_core::{Float, Online};

use super::Builder;

impl Builder<'_> {
    pub(super) fn multikernel<F: Float>(&self, update: Update) -> Box<dyn Online> {
        let s = self.settings;
        let tuning = Tuning {
            update,
            rate: s.number("rate"),
            l1: s.number("l1"),
            delta: s.number("delta"),
            dictionary_max: usize::try_from(s.natural("dictionary_max")).unwrap_or(usize::MAX),
            dictionary_threshold: s.number("dictionary_threshold"),
        };
        Box::new(Multikernel::<F>::new(tuning, s.kernels()))
    }
}

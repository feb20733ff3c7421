//! Properties of an algorithm, derived from its composition.

use parsimon_core::filter::Method;
use parsimon_core::kernel::{Kernel, Tuning};
use parsimon_core::margin::MarginMethod;
use parsimon_core::rule::nag::Nag;
use parsimon_core::rule::{Implicit, Rule};
use parsimon_core::{Float, Loss, Schedule};

use super::recipe::Composer;

/// Cost of a row, and linearity of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nature {
    /// A row costs time in proportion to its nonzero features.
    Sparse,
    /// Every weight is visited in every round.
    Dense,
    /// A function over a dictionary of rows; the only models that are not linear.
    Kernel,
}

/// A composer that determines the nature, and builds nothing.
pub(crate) struct NatureComposer(pub(crate) Loss);

impl<F: Float> Composer<F> for NatureComposer {
    type Output = Nature;

    fn loss(&self) -> Loss {
        self.0
    }
    fn rule<R: Rule<F>>(self, _: R, _: R) -> Nature {
        Nature::Sparse
    }
    fn exact<R: Implicit<F>>(self, _: R, _: R) -> Nature {
        Nature::Sparse
    }
    fn projecting<R: Rule<F>>(self, _: R, _: R, _: f64) -> Nature {
        Nature::Sparse
    }
    fn by_margin<R: Rule<F>>(self, _: R, _: R, _: MarginMethod) -> Nature {
        Nature::Sparse
    }
    fn normalizing(self, _: Nag, _: Nag) -> Nature {
        Nature::Sparse
    }
    fn visiting_all<R: Rule<F>>(self, _: R, _: R) -> Nature {
        Nature::Dense
    }
    fn visiting_all_exact<R: Implicit<F>>(self, _: R, _: R) -> Nature {
        Nature::Dense
    }
    fn constrained(self, _: Schedule) -> Nature {
        Nature::Sparse
    }
    fn method<M: Method<F>>(self, _: u32, _: impl Fn(usize, usize) -> M) -> Nature {
        Nature::Dense
    }
    fn kernel(self, _: Tuning, _: Vec<Kernel>) -> Nature {
        Nature::Kernel
    }
}

/// Returns the least length of a saved state in bytes, for methods whose weights all exist from the start.
pub(crate) struct SavedComposer(pub(crate) Loss);

impl<F: Float> Composer<F> for SavedComposer {
    type Output = u64;

    fn loss(&self) -> Loss {
        self.0
    }
    fn rule<R: Rule<F>>(self, _: R, _: R) -> u64 {
        0
    }
    fn exact<R: Implicit<F>>(self, _: R, _: R) -> u64 {
        0
    }
    fn projecting<R: Rule<F>>(self, _: R, _: R, _: f64) -> u64 {
        0
    }
    fn by_margin<R: Rule<F>>(self, _: R, _: R, _: MarginMethod) -> u64 {
        0
    }
    fn normalizing(self, _: Nag, _: Nag) -> u64 {
        0
    }
    fn visiting_all<R: Rule<F>>(self, _: R, _: R) -> u64 {
        0
    }
    fn visiting_all_exact<R: Implicit<F>>(self, _: R, _: R) -> u64 {
        0
    }
    fn constrained(self, _: Schedule) -> u64 {
        0
    }
    fn method<M: Method<F>>(self, dimension: u32, _: impl Fn(usize, usize) -> M) -> u64 {
        M::least_saved(dimension.into()).saturating_mul(size_of::<F>() as u64)
    }
    fn kernel(self, _: Tuning, _: Vec<Kernel>) -> u64 {
        0
    }
}

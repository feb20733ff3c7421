//! Memory of a new learner, computed from its composition before it is built.

use parsimon_core::filter::{Method, OverRows};
use parsimon_core::kernel::{Kernel, Tuning};
use parsimon_core::margin::MarginMethod;
use parsimon_core::metric::AdaGrad;
use parsimon_core::rule::leader::{Accrual, Center};
use parsimon_core::rule::nag::Nag;
use parsimon_core::rule::{Implicit, Rule};
use parsimon_core::workspace::{Coming, Stat};
use parsimon_core::{Float, Learner, Loss, Online, Schedule, Table};

use super::learner::racing;
use super::recipe::{Composer, LearnerPlan, Racers};
use crate::options::Storage;

/// Adds up the bytes of a learner at the origin.
pub(crate) struct RoomComposer<'a>(pub(crate) &'a LearnerPlan<'a>);

impl RoomComposer<'_> {
    fn heads(&self) -> u64 {
        self.0.heads.unwrap_or(1) as u64
    }

    /// One table for each class.
    fn tables<F: Float, R: Rule<F>>(&self, rule: R, storage: Storage) -> u64 {
        // Weights of features that were never seen count as well: they are those of a learner without features.
        let empty = Learner::<F, R>::new(rule, None, self.0.loss, Table::index());
        let table = storage.slots().saturating_mul(size_of::<R::Coord>() as u64);
        table.saturating_add(empty.room(Coming::default())).saturating_mul(self.heads())
    }
}

/// The bytes of the scales of features, for normalized learners.
pub(crate) fn scales<F: Float>(storage: Storage) -> u64 {
    storage.slots().saturating_mul(size_of::<Stat<F>>() as u64)
}

/// The bytes of the place of every slot, for learners of several settings.
pub(crate) fn places(storage: Storage) -> u64 {
    storage.slots().saturating_mul(size_of::<u32>() as u64)
}

impl<F: Float> Composer<F> for RoomComposer<'_> {
    type Output = u64;

    fn loss(&self) -> Loss {
        self.0.loss
    }
    fn rule<R: Rule<F>>(self, features: R, _: R) -> u64 {
        self.tables::<F, R>(features, self.0.options.storage)
    }
    fn exact<R: Implicit<F>>(self, features: R, _: R) -> u64 {
        self.tables::<F, R>(features, self.0.options.storage)
    }
    fn projecting<R: Rule<F>>(self, features: R, _: R, _: f64) -> u64 {
        self.tables::<F, R>(features, self.0.options.storage)
    }
    fn by_margin<R: Rule<F>>(self, features: R, _: R, _: MarginMethod) -> u64 {
        self.tables::<F, R>(features, self.0.options.storage)
    }
    fn normalizing(self, features: Nag, _: Nag) -> u64 {
        self.tables::<F, Nag>(features, self.0.options.storage)
    }
    fn visiting_all<R: Rule<F>>(self, features: R, _: R) -> u64 {
        self.tables::<F, R>(features, Storage::Index)
    }
    fn visiting_all_exact<R: Implicit<F>>(self, features: R, _: R) -> u64 {
        self.tables::<F, R>(features, Storage::Index)
    }
    fn constrained(self, _: Schedule) -> u64 {
        places(self.0.options.storage)
    }
    fn method<M: Method<F>>(self, dimension: u32, new: impl Fn(usize, usize) -> M) -> u64 {
        let len = u64::from(dimension) + u64::from(self.0.options.bias);
        let methods = self.0.heads.unwrap_or(1);
        OverRows::room_of(&new(1, 1), methods, len).saturating_add(places(self.0.options.storage))
    }
    fn race<C: Center<AdaGrad>>(self, racers: Racers, _: Accrual, _: C) -> u64 {
        // The bias, and the sums of a row, of all classes and settings.
        let settings = self.0.heads.map_or(1, |classes| racing(&racers, classes).len()) as u64;
        let heads = self.heads().saturating_mul(settings);
        places(self.0.options.storage)
            .saturating_add(heads.saturating_mul(16 * size_of::<F>() as u64))
    }
    fn kernel(self, _: Tuning, _: Vec<Kernel>) -> u64 {
        0
    }
}

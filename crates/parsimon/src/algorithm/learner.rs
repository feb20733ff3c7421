//! An algorithm as a learner over rows.

use parsimon_core::filter::{Method, OverRows};
use parsimon_core::kernel::{Kernel, Multikernel, Tuning};
use parsimon_core::metric::AdaGrad;
use parsimon_core::rule::leader::{Accrual, Center};
use parsimon_core::rule::{Implicit, Rule};
use parsimon_core::{Constrained, Float, Learner, Loss, OneVsAll, Online, Schedule, State, Table};

use super::lanes::side_by_side;
use super::race::Race;
use super::recipe::{Composer, LearnerPlan, Racers};
use crate::options::Storage;

/// More classes than this do not race.
pub(super) const MOST_RACING_CLASSES: usize = 32;

/// Builds a learner at the origin, one set of weights per class.
pub(crate) struct LearnerComposer<'a>(pub(crate) &'a LearnerPlan<'a>);

impl LearnerComposer<'_> {
    fn table<C: State + Copy>(&self) -> Table<C> {
        self.0.options.storage.table()
    }

    fn assemble<F: Float, R: Rule<F>>(
        &self,
        features: R,
        bias: R,
        storage: Storage,
        new: impl Fn(R, Option<R>, Loss, Table<R::Coord>) -> Learner<F, R>,
    ) -> Box<dyn Online> {
        let loss = self.0.loss;
        let bias = self.0.options.bias.then_some(bias);
        let one = || new(features.clone(), bias.clone(), loss, storage.table());
        match self.0.heads {
            Some(heads) => {
                let learners = (0..heads).map(|_| one()).collect();
                Box::new(OneVsAll::new(learners, loss.other_label()))
            }
            None => Box::new(one()),
        }
    }
}

impl<F: Float> Composer<F> for LearnerComposer<'_> {
    type Output = Box<dyn Online>;

    fn loss(&self) -> Loss {
        self.0.loss
    }
    fn rule<R: Rule<F>>(self, features: R, bias: R) -> Box<dyn Online> {
        self.assemble(features, bias, self.0.options.storage, Learner::<F, R>::new)
    }
    fn exact<R: Implicit<F>>(self, features: R, bias: R) -> Box<dyn Online> {
        self.assemble(features, bias, self.0.options.storage, Learner::<F, R>::implicit)
    }
    fn projecting<R: Rule<F>>(self, features: R, bias: R, delta: f64) -> Box<dyn Online> {
        self.assemble(features, bias, self.0.options.storage, |rule, bias, loss, table| {
            Learner::<F, R>::projecting(rule, bias, loss, table, delta)
        })
    }
    // The coordinates are kept in an index, in the order of first sight: a pass costs what was seen and adds up in one
    // order whatever the store.
    fn visiting_all<R: Rule<F>>(self, features: R, bias: R) -> Box<dyn Online> {
        self.assemble(features, bias, Storage::Index, Learner::<F, R>::new)
    }
    fn visiting_all_exact<R: Implicit<F>>(self, features: R, bias: R) -> Box<dyn Online> {
        self.assemble(features, bias, Storage::Index, Learner::<F, R>::implicit)
    }
    fn constrained(self, schedule: Schedule) -> Box<dyn Online> {
        let LearnerPlan { loss, heads, options, .. } = *self.0;
        let heads = heads.unwrap_or(1);
        Box::new(Constrained::<F>::new(schedule, loss, heads, options.bias, self.table()))
    }
    fn method<M: Method<F>>(
        self,
        dimension: u32,
        new: impl Fn(usize, usize) -> M,
    ) -> Box<dyn Online> {
        let LearnerPlan { loss, heads, options, .. } = *self.0;
        let features = dimension as usize;
        let len = features + usize::from(options.bias);
        let methods = (0..heads.unwrap_or(1)).map(|_| new(len, features)).collect();
        let other = loss.other_label();
        Box::new(OverRows::new(methods, other, features, options.bias, self.table()))
    }
    fn race<C: Center<AdaGrad>>(
        self,
        racers: Racers,
        accrual: Accrual,
        center: C,
    ) -> Box<dyn Online> {
        let classes = self.0.heads.unwrap_or(1);
        // So many settings of so many classes would not fit in memory: the usual setting learns alone.
        if classes > MOST_RACING_CLASSES {
            return racers.first::<F, _>(self, accrual, center);
        }
        let LearnerPlan { loss, options, .. } = *self.0;
        let Racers { lanes, constant, leader, half_life } = racers;
        let learner = || side_by_side::<F, C>(&lanes, options, loss, accrual, center, half_life);
        let learners = (0..classes).map(|_| learner()).collect();
        Box::new(Race::new(learners, lanes.len(), constant, leader, loss, options.storage))
    }
    fn kernel(self, tuning: Tuning, kernels: Vec<Kernel>) -> Box<dyn Online> {
        Box::new(Multikernel::<F>::new(tuning, kernels))
    }
}

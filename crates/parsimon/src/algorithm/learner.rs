//! Learners built from the composition of an algorithm.

use parsimon_core::filter::{Method, OverRows};
use parsimon_core::kernel::{Kernel, Multikernel, Tuning};
use parsimon_core::margin::MarginMethod;
use parsimon_core::metric::AdaGrad;
use parsimon_core::rule::leader::{Accrual, Center};
use parsimon_core::rule::nag::Nag;
use parsimon_core::rule::{Implicit, Rule};
use parsimon_core::workspace::{Blocks, ClassLanes};
use parsimon_core::{Constrained, Float, Learner, Loss, OneVsAll, Online, Schedule, State, Table};

use super::lanes::{SideBySide, side_by_side};
use super::race::Race;
use super::recipe::{Composer, LearnerPlan, Racers};
use crate::options::Storage;

/// The most classes times settings of a race: with more classes, fewer settings race. At eight bytes each they take 32 kB per feature.
const MOST_HEADS: usize = 4096;

/// The settings of a race of several classes, in order: as many of the racers as fit, and at least two.
pub(super) fn racing(racers: &Racers, classes: usize) -> Vec<usize> {
    let most = (MOST_HEADS / classes.max(1)).max(2);
    let mut some: Vec<usize> = racers.wanted.iter().copied().take(most).collect();
    some.sort_unstable();
    some
}

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
                Box::new(match loss {
                    Loss::Softmax => OneVsAll::softmax(learners),
                    loss => OneVsAll::new(learners, loss.other_label()),
                })
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
    fn by_margin<R: Rule<F>>(self, features: R, bias: R, method: MarginMethod) -> Box<dyn Online> {
        self.assemble(features, bias, self.0.options.storage, |rule, bias, loss, table| {
            Learner::<F, R>::by_margin(rule, bias, loss, table, method)
        })
    }
    fn normalizing(self, features: Nag, bias: Nag) -> Box<dyn Online> {
        self.assemble(features, bias, self.0.options.storage, Learner::<F, Nag>::normalizing)
    }
    // The coordinates are kept in an index, in the order of first sight: a pass costs what was seen and adds up in one
    // order in any store.
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
        let LearnerPlan { loss, heads, options, .. } = *self.0;
        let half_life = racers.half_life;
        let (seats, lanes): (Vec<usize>, Box<dyn SideBySide>) = match heads {
            None => {
                let lanes: Vec<_> = racers.lanes.iter().map(|(lane, _)| *lane).collect();
                let all = (0..lanes.len()).collect();
                (all, side_by_side::<F, C>(&lanes, options, loss, accrual, center, half_life))
            }
            Some(classes) => {
                let seats = racing(&racers, classes);
                let settings = seats.iter().map(|&k| racers.lanes[k]).collect();
                let blocks = Blocks::new(options.storage.table());
                let new = ClassLanes::<F, C>::new(
                    settings,
                    classes,
                    accrual,
                    center,
                    options.bias,
                    blocks,
                );
                (seats, Box::new(new.fading(half_life)))
            }
        };
        Box::new(Race::new(lanes, seats, &racers, loss, options.storage))
    }
    fn kernel(self, tuning: Tuning, kernels: Vec<Kernel>) -> Box<dyn Online> {
        Box::new(Multikernel::<F>::new(tuning, kernels))
    }
}

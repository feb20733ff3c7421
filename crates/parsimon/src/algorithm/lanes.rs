//! Several settings in one learner, for the compositions that allow it.

use std::fmt;

use parsimon_core::filter::Method;
use parsimon_core::kernel::{Kernel, Tuning};
use parsimon_core::metric::AdaGrad;
use parsimon_core::rule::leader::{Accrual, Center, Iterate};
use parsimon_core::rule::{Implicit, Rule};
use parsimon_core::{Float, HalfLife, Lane, Lanes, Loss, Online, Schedule};

use super::recipe::{Composer, Racers};
use crate::{LearnerOptions, Storage};

/// A learner of several settings, each a head of its model.
pub(crate) trait SideBySide: Online {
    /// Goes on with some of them, in this order; heads beyond those asked for are to be ignored.
    fn keep(&self, heads: &[usize], storage: Storage) -> Box<dyn SideBySide>;
}

/// How many settings fit into one learner.
pub(crate) const WIDEST: usize = 16;

type Build = Box<dyn Fn(&[Lane], LearnerOptions, Loss) -> Box<dyn SideBySide>>;

/// A setting that can share a learner, with what it shares and what is its own.
pub(crate) struct LaneGroup {
    /// Its own part.
    pub(crate) lane: Lane,
    /// Settings of equal keys can share a learner.
    pub(crate) key: String,
    pub(crate) build: Build,
}

impl fmt::Debug for LaneGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LaneGroup")
            .field("lane", &self.lane)
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}

/// Finds out whether a composition can share a learner.
pub(crate) struct LaneComposer(pub(crate) Loss);

impl<F: Float> Composer<F> for LaneComposer {
    type Output = Option<LaneGroup>;

    fn loss(&self) -> Loss {
        self.0
    }
    fn rule<R: Rule<F>>(self, _: R, _: R) -> Self::Output {
        None
    }
    fn exact<R: Implicit<F>>(self, _: R, _: R) -> Self::Output {
        None
    }
    fn projecting<R: Rule<F>>(self, _: R, _: R, _: f64) -> Self::Output {
        None
    }
    fn visiting_all<R: Rule<F>>(self, _: R, _: R) -> Self::Output {
        None
    }
    fn visiting_all_exact<R: Implicit<F>>(self, _: R, _: R) -> Self::Output {
        None
    }
    fn constrained(self, _: Schedule) -> Self::Output {
        None
    }
    fn method<M: Method<F>>(self, _: u32, _: impl Fn(usize, usize) -> M) -> Self::Output {
        None
    }
    fn kernel(self, _: Tuning, _: Vec<Kernel>) -> Self::Output {
        None
    }
    fn race<C: Center<AdaGrad>>(self, _: Racers, _: Accrual, _: C) -> Self::Output {
        None
    }
    fn adagrad_leader<C: Center<AdaGrad>>(
        self,
        lane: Lane,
        accrual: Accrual,
        center: C,
    ) -> Self::Output {
        let key = format!("{accrual:?} {}", std::any::type_name::<C>());
        let build: Build = Box::new(move |lanes, options, loss| {
            side_by_side::<F, C>(lanes, options, loss, accrual, center, None)
        });
        Some(LaneGroup { lane, key, build })
    }
    fn fading_leader(self, lane: Lane, half_life: HalfLife) -> Self::Output {
        let key = format!("{half_life:?}");
        let build: Build = Box::new(move |lanes, options, loss| {
            side_by_side::<F, _>(lanes, options, loss, Accrual::Once, Iterate, Some(half_life))
        });
        Some(LaneGroup { lane, key, build })
    }
}

/// A learner of up to [`WIDEST`] lanes.
pub(super) fn side_by_side<F: Float, C: Center<AdaGrad>>(
    lanes: &[Lane],
    options: LearnerOptions,
    loss: Loss,
    accrual: Accrual,
    center: C,
    half_life: Option<HalfLife>,
) -> Box<dyn SideBySide> {
    match lanes.len() {
        0..=8 => {
            let learner = of_width::<F, C, 8>(lanes, options, loss, accrual, center);
            Box::new(learner.fading(half_life))
        }
        _ => {
            let learner = of_width::<F, C, WIDEST>(lanes, options, loss, accrual, center);
            Box::new(learner.fading(half_life))
        }
    }
}

fn of_width<F: Float, C: Center<AdaGrad>, const K: usize>(
    lanes: &[Lane],
    options: LearnerOptions,
    loss: Loss,
    accrual: Accrual,
    center: C,
) -> Lanes<F, C, K> {
    // The places beyond the last setting are filled with it: whole registers cost nothing more.
    let lane = |k: usize| lanes[k.min(lanes.len() - 1)];
    let table = options.storage.table();
    Lanes::new(std::array::from_fn(lane), accrual, center, options.bias, loss, table)
}

impl<F: Float, C: Center<AdaGrad>, const K: usize> SideBySide for Lanes<F, C, K> {
    fn keep(&self, heads: &[usize], storage: Storage) -> Box<dyn SideBySide> {
        let head = |k: usize| heads.get(k).or(heads.last()).copied().unwrap_or(0).min(K - 1);
        if heads.len() <= 8 {
            Box::new(Lanes::keep::<8>(self, std::array::from_fn(head), storage.table()))
        } else {
            Box::new(Lanes::keep::<WIDEST>(self, std::array::from_fn(head), storage.table()))
        }
    }
}

//! Several settings in one learner, for the compositions that allow it.

use std::fmt;

use parsimon_core::filter::Method;
use parsimon_core::kernel::{Kernel, Tuning};
use parsimon_core::margin::MarginMethod;
use parsimon_core::metric::AdaGrad;
use parsimon_core::rule::leader::{Accrual, Center, Iterate};
use parsimon_core::rule::nag::Nag;
use parsimon_core::rule::{Implicit, Rule};
use parsimon_core::workspace::{ClassLanes, ClassLearner, LaneLearner};
use parsimon_core::{
    Float, Frozen, HalfLife, Lane, Lanes, Loss, Normalized, Online, Schedule, StandardizedColumns,
    StandardizedTarget,
};

use super::recipe::{Composer, Racers};
use crate::options::{LearnerOptions, Storage};

/// A learner of several settings, each with a head for every class.
pub(crate) trait SideBySide: Online {
    /// The number of settings, and of those that fill up the width. Heads are the classes in order, and within a class the settings.
    fn settings(&self) -> usize;
    /// The loss of a setting of several classes.
    fn loss_of_classes(&self, setting: usize) -> Option<Loss>;
    /// The weights of a setting: a head for each class.
    fn freeze_setting(&self, setting: usize) -> Frozen;
    /// Continues with the given settings, in this order, in a narrower learner; its further settings must be ignored.
    fn keep(&mut self, settings: &[usize], storage: Storage) -> Kept;
}

/// A learner that was to go on with some of its settings.
pub(crate) enum Kept {
    /// They need the present width.
    All,
    /// It has become narrower.
    Here,
    /// Another learner goes on.
    By(Box<dyn SideBySide>),
}

impl From<Option<Box<dyn SideBySide>>> for Kept {
    fn from(narrower: Option<Box<dyn SideBySide>>) -> Self {
        narrower.map_or(Kept::All, Kept::By)
    }
}

/// Returns the number of heads of a learner with `settings` settings.
pub(crate) fn width(settings: usize) -> usize {
    settings.next_power_of_two().min(WIDEST)
}

/// A learner of several settings that can be made narrower where it is.
pub(crate) trait Narrow: Online {
    /// Keeps the given settings, in this order, if that makes the learner narrower; further heads must be ignored.
    fn narrow(&mut self, heads: &[usize], storage: Storage) -> bool;
}

impl Narrow for Box<dyn SideBySide> {
    fn narrow(&mut self, heads: &[usize], storage: Storage) -> bool {
        if heads.len() >= self.settings() {
            return false;
        }
        match self.keep(heads, storage) {
            Kept::All => return false,
            Kept::Here => {}
            Kept::By(narrower) => *self = narrower,
        }
        true
    }
}

/// A learner of one setting has nothing to give up.
impl Narrow for Box<dyn Online> {
    fn narrow(&mut self, _: &[usize], _: Storage) -> bool {
        false
    }
}

impl<F: Float, O: Narrow> Narrow for Normalized<F, O> {
    fn narrow(&mut self, heads: &[usize], storage: Storage) -> bool {
        self.inner_mut().narrow(heads, storage)
    }
}

impl<O: Narrow> Narrow for StandardizedColumns<O> {
    fn narrow(&mut self, heads: &[usize], storage: Storage) -> bool {
        self.inner_mut().narrow(heads, storage)
    }
}

impl<O: Narrow> Narrow for StandardizedTarget<O> {
    fn narrow(&mut self, heads: &[usize], storage: Storage) -> bool {
        self.inner_mut().narrow(heads, storage)
    }
}

/// Largest number of settings in one learner.
pub(crate) const WIDEST: usize = 16;

type Build = Box<dyn Fn(&[Lane], LearnerOptions, Loss) -> Box<dyn SideBySide>>;

/// A setting that can share a learner, with its shared and its separate parts.
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
    fn normalizing(self, _: Nag, _: Nag) -> Self::Output {
        None
    }
    fn by_margin<R: Rule<F>>(self, _: R, _: R, _: MarginMethod) -> Self::Output {
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
    match width(lanes.len()) {
        0..=2 => {
            Box::new(of_width::<F, C, 2>(lanes, options, loss, accrual, center).fading(half_life))
        }
        4 => Box::new(of_width::<F, C, 4>(lanes, options, loss, accrual, center).fading(half_life)),
        8 => Box::new(of_width::<F, C, 8>(lanes, options, loss, accrual, center).fading(half_life)),
        _ => Box::new(
            of_width::<F, C, WIDEST>(lanes, options, loss, accrual, center).fading(half_life),
        ),
    }
}

fn of_width<F: Float, C: Center<AdaGrad>, const K: usize>(
    lanes: &[Lane],
    options: LearnerOptions,
    loss: Loss,
    accrual: Accrual,
    center: C,
) -> Lanes<F, C, K> {
    // The places beyond the last setting are filled with copies of it: whole registers cost no more.
    let lane = |k: usize| lanes[k.min(lanes.len() - 1)];
    let store = options.storage.packed();
    Lanes::new(std::array::from_fn(lane), accrual, center, options.bias, loss, store)
}

/// Common parts of the lanes of one class.
macro_rules! lanes_of_one_class {
    ($width:literal) => {
        fn settings(&self) -> usize {
            $width
        }
        fn loss_of_classes(&self, _: usize) -> Option<Loss> {
            None
        }
        fn freeze_setting(&self, setting: usize) -> Frozen {
            Frozen::Linear(vec![self.freeze().into_heads().swap_remove(setting)])
        }
        fn keep(&mut self, heads: &[usize], storage: Storage) -> Kept {
            self.half(heads, storage).into()
        }
    };
}

/// Lanes that can continue with fewer settings.
trait Halved {
    fn half(&self, heads: &[usize], storage: Storage) -> Option<Box<dyn SideBySide>>;
}

/// Sixteen lanes become eight, and those four: code for all pairs of widths would be large, for a step that happens four times.
macro_rules! halves {
    ($wide:literal to $narrow:literal) => {
        impl<F: Float, C: Center<AdaGrad>> SideBySide for Lanes<F, C, $wide> {
            lanes_of_one_class!($wide);
        }

        impl<F: Float, C: Center<AdaGrad>> Halved for Lanes<F, C, $wide> {
            fn half(&self, heads: &[usize], storage: Storage) -> Option<Box<dyn SideBySide>> {
                if let [head] = heads
                    && let Some(alone) = self.alone(*head, storage.table())
                {
                    return Some(Box::new(alone));
                }
                let last = heads.len().checked_sub(1).filter(|last| *last < $narrow)?;
                let kept = std::array::from_fn(|k| heads[k.min(last)]);
                let half = Lanes::keep::<$narrow>(self, kept, storage.packed());
                // With fading, no lane continues alone.
                match width(heads.len()).max(if self.fades() { 2 } else { 1 }) {
                    $narrow => Some(Box::new(half)),
                    _ => half.half(&(0..heads.len()).collect::<Vec<_>>(), storage),
                }
            }
        }
    };
}

halves!(16 to 8);
halves!(8 to 4);
halves!(4 to 2);

impl<F: Float, C: Center<AdaGrad>> SideBySide for Lanes<F, C, 2> {
    lanes_of_one_class!(2);
}

impl<F: Float, C: Center<AdaGrad>> Halved for Lanes<F, C, 2> {
    fn half(&self, heads: &[usize], storage: Storage) -> Option<Box<dyn SideBySide>> {
        let &[head] = heads else { return None };
        Some(Box::new(self.alone(head, storage.table())?))
    }
}

/// A lane that is left alone.
impl<F: Float, C: Center<AdaGrad>> SideBySide for LaneLearner<F, C> {
    fn settings(&self) -> usize {
        1
    }
    fn loss_of_classes(&self, _: usize) -> Option<Loss> {
        None
    }
    fn freeze_setting(&self, _: usize) -> Frozen {
        self.freeze()
    }
    fn keep(&mut self, _: &[usize], _: Storage) -> Kept {
        Kept::All
    }
}

impl<F: Float, C: Center<AdaGrad>> SideBySide for ClassLanes<F, C> {
    fn settings(&self) -> usize {
        ClassLanes::settings(self)
    }
    fn loss_of_classes(&self, setting: usize) -> Option<Loss> {
        Some(self.loss(setting))
    }
    fn freeze_setting(&self, setting: usize) -> Frozen {
        ClassLanes::freeze_setting(self, setting)
    }
    fn keep(&mut self, settings: &[usize], storage: Storage) -> Kept {
        if let [setting] = settings
            && let Some(alone) = self.alone(*setting, || storage.table())
        {
            return Kept::By(Box::new(alone));
        }
        self.retain(settings);
        Kept::Here
    }
}

/// A lane of several classes that is left alone.
impl<F: Float, C: Center<AdaGrad>> SideBySide for ClassLearner<F, C> {
    fn settings(&self) -> usize {
        1
    }
    fn loss_of_classes(&self, _: usize) -> Option<Loss> {
        None
    }
    fn freeze_setting(&self, _: usize) -> Frozen {
        self.freeze()
    }
    fn keep(&mut self, _: &[usize], _: Storage) -> Kept {
        Kept::All
    }
}

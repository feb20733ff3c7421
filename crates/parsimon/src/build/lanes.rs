//! Several settings of one algorithm in one learner, for the algorithms that can.

use parsimon_core::metric::AdaGrad;
use parsimon_core::rule::leader::{Accrual, Center, Iterate, Origin};
use parsimon_core::{Float, Lane, LaneCoord, Lanes, Online, Precision, Table};

use super::{LearnerOptions, Storage};
use crate::Settings;

/// A learner of several settings, each a head of its model.
pub(crate) trait SideBySide: Online {
    /// Goes on with some of them, in this order; there may be more heads than asked for, which are to be ignored.
    fn keep(&self, heads: &[usize], storage: Storage) -> Box<dyn SideBySide>;
}

/// How many settings fit into one learner.
pub(crate) const WIDEST: usize = 16;

/// Whether an algorithm's settings can share a learner, and what they must have in common to do so.
pub(crate) fn family(settings: &Settings) -> Option<String> {
    let name = settings.algorithm().name;
    let is_leader = match name {
        "ftrl" | "adagrad-rda" => true,
        "ftprl" | "unified-rda" => settings.word("metric") == "adagrad",
        _ => false,
    };
    let is_plain = !settings.is_multiclass() && !settings.flag("implicit");
    (is_leader && is_plain).then(|| format!("{name} {:?}", settings.loss()))
}

/// A learner of up to [`WIDEST`] settings of one [`family`].
pub(crate) fn side_by_side(
    settings: &[&Settings],
    frame: LearnerOptions,
) -> Option<Box<dyn SideBySide>> {
    let first = settings.first()?;
    Some(match (first.algorithm().name, frame.precision) {
        ("ftrl", Precision::F32) => build::<f32, _>(settings, frame, Accrual::Once, Iterate),
        ("ftrl", Precision::F64) => build::<f64, _>(settings, frame, Accrual::Once, Iterate),
        ("ftprl", Precision::F32) => build::<f32, _>(settings, frame, Accrual::EveryRound, Iterate),
        ("ftprl", Precision::F64) => build::<f64, _>(settings, frame, Accrual::EveryRound, Iterate),
        (_, Precision::F32) => build::<f32, _>(settings, frame, Accrual::EveryRound, Origin),
        (_, Precision::F64) => build::<f64, _>(settings, frame, Accrual::EveryRound, Origin),
    })
}

fn build<F: Float, C: Center<AdaGrad>>(
    settings: &[&Settings],
    frame: LearnerOptions,
    accrual: Accrual,
    center: C,
) -> Box<dyn SideBySide> {
    if settings.len() <= 8 {
        Box::new(lanes::<F, C, 8>(settings, frame, accrual, center))
    } else {
        Box::new(lanes::<F, C, WIDEST>(settings, frame, accrual, center))
    }
}

fn lanes<F: Float, C: Center<AdaGrad>, const K: usize>(
    settings: &[&Settings],
    frame: LearnerOptions,
    accrual: Accrual,
    center: C,
) -> Lanes<F, C, K> {
    // What is missing to a whole register is filled with the last: it costs nothing.
    let lane = |k: usize| {
        let s = settings[k.min(settings.len() - 1)];
        let has_beta = s.algorithm().has("beta");
        Lane {
            l1: s.number("l1"),
            l2: if s.algorithm().has("l2") { s.number("l2") } else { 0.0 },
            rate: s.number("rate"),
            delta: s.number(if has_beta { "beta" } else { "delta" }),
        }
    };
    let (loss, table) = (settings[0].loss(), table(frame.storage));
    Lanes::new(std::array::from_fn(lane), accrual, center, frame.bias, loss, table)
}

fn table<F: Float, const K: usize>(storage: Storage) -> Table<LaneCoord<F, K>> {
    match storage {
        Storage::Slots(slots) => Table::dense(slots),
        Storage::Growing => Table::growing(),
        Storage::Index => Table::index(),
    }
}

impl<F: Float, C: Center<AdaGrad>, const K: usize> SideBySide for Lanes<F, C, K> {
    fn keep(&self, heads: &[usize], storage: Storage) -> Box<dyn SideBySide> {
        let head = |k: usize| heads.get(k).or(heads.last()).copied().unwrap_or(0).min(K - 1);
        if heads.len() <= 8 {
            Box::new(Lanes::keep::<8>(self, std::array::from_fn(head), table(storage)))
        } else {
            Box::new(Lanes::keep::<WIDEST>(self, std::array::from_fn(head), table(storage)))
        }
    }
}

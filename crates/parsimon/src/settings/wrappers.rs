//! Wrappers around the learner of a method, in their fixed order.

use parsimon_core::rule::leader::{Accrual, Iterate};
use parsimon_core::{
    Float, FromModel, HalfLife, Normalized, Online, Precision, StandardizedColumns,
    StandardizedTarget,
};

use super::Settings;
use crate::algorithm::auto::{Auto, HALF_LIVES, RaceMetric};
use crate::algorithm::lanes::Narrow;
use crate::algorithm::learner::LearnerComposer;
use crate::algorithm::race::half_lives::{HalfLives, Member};
use crate::algorithm::recipe::{Composer, LearnerPlan};
use crate::found::Found;
use crate::options::{LearnerOptions, Storage};

/// Rows on a common scale: the innermost wrapper, around the method.
type Rows<F, O> = Normalized<F, O>;
/// Labels on a common scale, around the rows: base values are in the units of the label.
type Labels<F, O> = StandardizedTarget<Rows<F, O>>;
/// Cells of number columns become features before rows are normalized.
type Cells<O> = StandardizedColumns<O>;
/// Learning that begins with a model is around all others: the model's weights are in the units of the data.
pub(crate) type Begun = FromModel<Box<dyn Online>>;

/// A learner of the change of a model, before the weights of the model are known.
pub(crate) fn begun(learner: Box<dyn Online>, precision: Precision) -> Begun {
    FromModel::new(learner, precision)
}

impl Settings {
    /// Whether labels are numbers that are brought on a common scale. Two classes are -1 and 1, which need no scale, and margins
    /// beyond them rank rows.
    pub(crate) fn standardizes_labels(&self, found: &Found) -> bool {
        self.is_normalized() && self.is_of_numbers() && !self.is_of_two_classes(found)
    }

    /// Features, columns, and labels that are numbers, on a common scale where the settings have it: all lanes and classes share the
    /// statistics.
    pub(super) fn on_common_scale<O: Narrow + 'static>(
        &self,
        learner: O,
        options: LearnerOptions,
        found: &Found,
    ) -> Box<dyn Narrow> {
        let half_life = self.recipe().half_life();
        match options.precision {
            _ if !self.is_normalized() => Box::new(learner),
            Precision::F32 => self.wrapped::<f32, O>(learner, options, found, half_life),
            Precision::F64 => self.wrapped::<f64, O>(learner, options, found, half_life),
        }
    }

    /// A race of `auto` beside races of half-lives, each on its own common scale.
    pub(super) fn beside_half_lives(
        &self,
        auto: &Auto,
        plain: Box<dyn Online>,
        plan: &LearnerPlan<'_>,
    ) -> Box<dyn Online> {
        let loss = self.loss();
        let plain = self.on_common_scale(plain, plan.options, plan.found);
        let mut first = auto.racers(loss).len();
        let mut members = vec![Member { learner: plain, first: 0 }];
        // PERF: few rows of a stream fade slowly; arrays of all slots for each half-life would be mostly empty.
        let options = LearnerOptions { storage: Storage::Index, ..plan.options };
        let plan = LearnerPlan { options, ..*plan };
        for rows in HALF_LIVES {
            let racers = auto.fading_race(loss, rows);
            let (settings, half_life) = (racers.lanes.len(), racers.half_life);
            let composer = LearnerComposer(&plan);
            let learner: Box<dyn Narrow> = match options.precision {
                Precision::F32 => {
                    let race = Composer::<f32>::race(composer, racers, Accrual::Once, Iterate);
                    self.wrapped::<f32, _>(race, options, plan.found, half_life)
                }
                Precision::F64 => {
                    let race = Composer::<f64>::race(composer, racers, Accrual::Once, Iterate);
                    self.wrapped::<f64, _>(race, options, plan.found, half_life)
                }
            };
            members.push(Member { learner, first });
            first += settings;
        }
        let by_errors = auto.metric == RaceMetric::Accuracy;
        Box::new(HalfLives::new(members, loss, by_errors))
    }

    fn wrapped<F: Float, O: Narrow + 'static>(
        &self,
        learner: O,
        LearnerOptions { bias, storage, .. }: LearnerOptions,
        found: &Found,
        half_life: Option<HalfLife>,
    ) -> Box<dyn Narrow> {
        let rows: Rows<F, O> = Normalized::new(learner, bias, storage.table()).fading(half_life);
        if !self.standardizes_labels(found) {
            let cells: Cells<Rows<F, O>> = StandardizedColumns::new(rows).fading(half_life);
            return Box::new(cells);
        }
        let clips = self.clips_predictions();
        let labels: Labels<F, O> = StandardizedTarget::new(rows, clips).fading(half_life);
        let cells: Cells<Labels<F, O>> = StandardizedColumns::new(labels).fading(half_life);
        Box::new(cells)
    }
}

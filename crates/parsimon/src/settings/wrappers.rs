//! Wrappers around the learner of a method, in their fixed order.

use parsimon_core::{
    Float, FromModel, Normalized, Online, Precision, StandardizedColumns, StandardizedTarget,
};

use super::Settings;
use crate::algorithm::lanes::Narrow;
use crate::found::Found;
use crate::options::LearnerOptions;

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
        match options.precision {
            _ if !self.is_normalized() => Box::new(learner),
            Precision::F32 => self.wrapped::<f32, O>(learner, options, found),
            Precision::F64 => self.wrapped::<f64, O>(learner, options, found),
        }
    }

    fn wrapped<F: Float, O: Narrow + 'static>(
        &self,
        learner: O,
        LearnerOptions { bias, storage, .. }: LearnerOptions,
        found: &Found,
    ) -> Box<dyn Narrow> {
        let half_life = self.recipe().half_life();
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

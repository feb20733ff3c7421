//! Which settings can share a learner.

use parsimon_core::{Lane, Normalized, Precision, StandardizedColumns, StandardizedTarget};

use super::Settings;
use crate::algorithm::lanes::{LaneGroup, Narrow};
use crate::found::Found;
use crate::options::LearnerOptions;

/// What settings must have in common to share a learner; `None` for those that need one of their own.
pub(crate) fn family(settings: &Settings, options: LearnerOptions) -> Option<String> {
    let group = settings.lanes(options.precision)?;
    let scale = (settings.is_normalized(), settings.clips_predictions());
    Some(format!("{} {:?} {scale:?}", group.key, settings.loss()))
}

/// A learner of up to [`WIDEST`](crate::algorithm::lanes::WIDEST) settings of one [`family`].
pub(crate) fn shared_learner(
    settings: &[&Settings],
    options: LearnerOptions,
    found: &Found,
) -> Option<Box<dyn Narrow>> {
    let groups: Option<Vec<LaneGroup>> =
        settings.iter().map(|s| s.lanes(options.precision)).collect();
    let groups = groups.filter(|groups| !groups.is_empty())?;
    let lanes: Vec<Lane> = groups.iter().map(|group| group.lane).collect();
    let learner = (groups[0].build)(&lanes, options, settings[0].loss());
    Some(settings[0].on_common_scale(learner, options, found))
}

impl Settings {
    /// Features, columns, and labels that are numbers, on a common scale where the settings have it: all lanes and classes share the
    /// statistics.
    pub(super) fn on_common_scale<O: Narrow + 'static>(
        &self,
        learner: O,
        options: LearnerOptions,
        found: &Found,
    ) -> Box<dyn Narrow> {
        let LearnerOptions { precision, bias, storage } = options;
        let half_life = self.recipe().half_life();
        match precision {
            _ if !self.is_normalized() => Box::new(learner),
            Precision::F32 => {
                let normalized = Normalized::<f32, _>::new(learner, bias, storage.table());
                self.with_labels_on_scale(normalized.fading(half_life), found)
            }
            Precision::F64 => {
                let normalized = Normalized::<f64, _>::new(learner, bias, storage.table());
                self.with_labels_on_scale(normalized.fading(half_life), found)
            }
        }
    }

    fn with_labels_on_scale<O: Narrow + 'static>(
        &self,
        normalized: O,
        found: &Found,
    ) -> Box<dyn Narrow> {
        let half_life = self.recipe().half_life();
        // Two classes are -1 and 1, which need no scale, and margins beyond them rank rows.
        if !self.is_of_numbers() || self.is_of_two_classes(found) {
            return Box::new(StandardizedColumns::new(normalized).fading(half_life));
        }
        let target = StandardizedTarget::new(normalized, self.clips_predictions());
        Box::new(StandardizedColumns::new(target.fading(half_life)).fading(half_life))
    }
}

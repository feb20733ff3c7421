//! Which settings can share a learner.

use parsimon_core::{
    LabelDomain, Lane, Normalized, Precision, StandardizedColumns, StandardizedTarget,
};

use super::Settings;
use crate::LearnerOptions;
use crate::algorithm::lanes::{LaneGroup, Narrow, SideBySide};

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
) -> Option<Box<dyn Narrow>> {
    let groups: Option<Vec<LaneGroup>> =
        settings.iter().map(|s| s.lanes(options.precision)).collect();
    let groups = groups.filter(|groups| !groups.is_empty())?;
    let lanes: Vec<Lane> = groups.iter().map(|group| group.lane).collect();
    let learner = (groups[0].build)(&lanes, options, settings[0].loss());
    Some(settings[0].on_common_scale(learner, options))
}

impl Settings {
    /// Features, and labels that are numbers, on a common scale where the settings have it: all lanes share the statistics.
    fn on_common_scale(
        &self,
        learner: Box<dyn SideBySide>,
        options: LearnerOptions,
    ) -> Box<dyn Narrow> {
        fn on_label<O: Narrow + 'static>(learner: O, clips: Option<bool>) -> Box<dyn Narrow> {
            match clips {
                Some(clips) => {
                    Box::new(StandardizedColumns::new(StandardizedTarget::new(learner, clips)))
                }
                None => Box::new(StandardizedColumns::new(learner)),
            }
        }
        let LearnerOptions { precision, bias, storage } = options;
        let is_real = self.loss().domain() == LabelDomain::Real;
        let clips = is_real.then(|| self.clips_predictions());
        match precision {
            _ if !self.is_normalized() => Box::new(learner),
            Precision::F32 => {
                on_label(Normalized::<f32, _>::new(learner, bias, storage.table()), clips)
            }
            Precision::F64 => {
                on_label(Normalized::<f64, _>::new(learner, bias, storage.table()), clips)
            }
        }
    }
}

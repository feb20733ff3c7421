//! Grouping of settings that can share a learner.

use parsimon_core::Lane;

use super::Settings;
use crate::algorithm::lanes::{LaneGroup, Narrow};
use crate::found::Found;
use crate::options::LearnerOptions;

/// Values that settings must have in common to share a learner; `None` for settings that need a separate learner.
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

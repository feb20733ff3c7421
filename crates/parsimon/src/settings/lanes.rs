//! Which settings can share a learner.

use parsimon_core::Lane;

use super::Settings;
use crate::LearnerOptions;
use crate::algorithm::lanes::{LaneGroup, SideBySide};

/// What settings must have in common to share a learner; `None` for those that need one of their own.
pub(crate) fn family(settings: &Settings, options: LearnerOptions) -> Option<String> {
    let group = settings.lanes(options.precision)?;
    Some(format!("{} {:?}", group.key, settings.loss()))
}

/// A learner of up to [`WIDEST`](crate::algorithm::lanes::WIDEST) settings of one [`family`].
pub(crate) fn shared_learner(
    settings: &[&Settings],
    options: LearnerOptions,
) -> Option<Box<dyn SideBySide>> {
    let groups: Option<Vec<LaneGroup>> =
        settings.iter().map(|s| s.lanes(options.precision)).collect();
    let groups = groups.filter(|groups| !groups.is_empty())?;
    let lanes: Vec<Lane> = groups.iter().map(|group| group.lane).collect();
    Some((groups[0].build)(&lanes, options, settings[0].loss()))
}

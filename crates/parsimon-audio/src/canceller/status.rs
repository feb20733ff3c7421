//! What a canceller counts.

use serde::Serialize;

/// What has happened so far, in samples and in events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Status {
    /// Samples processed in whole blocks.
    pub samples: u64,
    /// Of these, with an active far end.
    pub active: u64,
    /// Of the active ones, with double talk in the detector's eyes.
    pub double_talk: u64,
    /// Not learned from because the far end was silent.
    pub frozen_silent: u64,
    /// Not learned from because of double talk.
    pub frozen_double_talk: u64,
    /// Not learned from because a sample of the block was beyond a million times full scale.
    pub frozen_too_loud: u64,
    /// Samples that were not finite and were taken for zero.
    pub not_finite: u64,
    /// Samples for which the output was the microphone because the residual was louder.
    pub bypassed: u64,
    /// Times the filter was called back to the last good one.
    pub fallbacks: u64,
    /// Times the filter took over its fast shadow, as after a change of the echo path.
    pub takeovers: u64,
    /// Times the reference was moved because the filter could not hold the path.
    pub realignments: u64,
    /// Times the filter was cleared because it was no longer finite, or harmful though called back.
    pub resets: u64,
}

impl Status {
    /// The share of active samples with double talk, 0 where there were none.
    pub fn double_talk_share(&self) -> f64 {
        if self.active == 0 { 0.0 } else { self.double_talk as f64 / self.active as f64 }
    }
}

//! Counters of a canceller.

use serde::Serialize;

/// Counts of samples and events so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Status {
    /// Samples processed in whole blocks.
    pub samples: u64,
    /// Samples with an active far end.
    pub active: u64,
    /// Active samples with detected double talk.
    pub double_talk: u64,
    /// Samples without adaptation because the far end was silent.
    pub frozen_silent: u64,
    /// Samples without adaptation because of double talk.
    pub frozen_double_talk: u64,
    /// Samples without adaptation because their block contained a sample beyond a million times full scale.
    pub frozen_too_loud: u64,
    /// Samples that were not finite and were replaced by zero.
    pub not_finite: u64,
    /// Samples for which the microphone signal was output because the residual was louder.
    pub bypassed: u64,
    /// Times the filter was reset to the last good one.
    pub fallbacks: u64,
    /// Times the filter adopted the taps of its fast shadow or, after a change of the echo path, began again.
    pub takeovers: u64,
    /// Times the reference's delay was changed because the echo path was outside of the filter's range.
    pub realignments: u64,
    /// Times the filter was cleared because it was not finite, or because it was harmful even after a fallback.
    pub resets: u64,
}

impl Status {
    /// Returns the share of active samples with double talk, 0 if no sample was active.
    pub fn double_talk_share(&self) -> f64 {
        if self.active == 0 { 0.0 } else { self.double_talk as f64 / self.active as f64 }
    }
}

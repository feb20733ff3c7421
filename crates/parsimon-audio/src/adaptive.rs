//! The interface between the canceller and its adaptive filter.

use crate::AudioError;
use crate::state::{Reader, Writer};

/// Whether the filter may adapt during a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Learning {
    /// The filter adapts to the block.
    Adapt,
    /// The filter only filters.
    Freeze,
}

/// An adaptive filter that removes from a microphone what it can predict from a reference.
///
/// [`Canceller`](crate::Canceller) wraps any implementation in the same safeguards; [`Kalman`](crate::Kalman) is
/// the default. A filter receives whole blocks of constant length, and only finite
/// samples. It does not allocate while it processes them.
pub trait Adaptive: Send {
    /// Returns the name that identifies the filter in a saved state.
    fn name(&self) -> &'static str;

    /// Returns the length of the modeled echo path in samples.
    fn taps(&self) -> usize;

    /// Writes `microphone` minus its prediction from `reference` to `residual`. All three have the length of
    /// a block, and `residual[i]` belongs to `microphone[i]`.
    fn cancel(
        &mut self,
        reference: &[f32],
        microphone: &[f32],
        learning: Learning,
        residual: &mut [f32],
    );

    /// Stores a copy of the current filter.
    fn keep(&mut self);

    /// Restores the filter stored last, or zero if none was stored.
    fn fall_back(&mut self);

    /// Clears all state, including the stored filter and the signals.
    fn clear(&mut self);

    /// Returns the estimated echo path: `taps` coefficients, the first for zero delay.
    fn echo_path(&self) -> Vec<f32>;

    /// Returns by how many samples the echo path has moved later since the last call; `None` if unknown.
    fn moved(&mut self) -> Option<f64> {
        None
    }

    /// Returns how strongly the microphone contradicts the predicted echo, from 0 (not at all, or unknown) to 1. Near-end speech
    /// does not raise it; a change of the echo path does.
    fn mismatch(&self) -> f32 {
        0.0
    }

    /// Returns whether the filter is known to remove an echo. Until then the canceller outputs the microphone signal.
    fn is_echo_proven(&self) -> bool {
        true
    }

    /// Returns the number of whole blocks of silence at the beginning of the echo path that can be left out, 0 if unknown.
    fn lead(&self) -> usize {
        0
    }

    /// Leaves out that many blocks at the beginning of the echo path; from the next block on the reference comes as many blocks later. Returns whether it was done.
    fn skip(&mut self, blocks: usize) -> bool {
        let _ = blocks;
        false
    }

    /// Returns how many times the filter adopted a better solution by itself (see [`Kalman`](crate::Kalman)).
    fn takeovers(&self) -> u64 {
        0
    }

    /// Writes the complete state that the next block depends on.
    fn save(&self, to: &mut Writer);

    /// Restores the state that [`save`](Self::save) wrote for a filter with the same settings.
    fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), AudioError>;
}

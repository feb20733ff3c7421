//! What the canceller asks of an adaptive filter.

use crate::AudioError;
use crate::state::{Reader, Writer};

/// Whether a block may change the filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Learning {
    /// The filter learns from the block.
    Adapt,
    /// The filter only filters.
    Freeze,
}

/// An adaptive filter that removes from a microphone what it can predict from a reference.
///
/// [`Canceller`](crate::Canceller) wraps any of these in the same safeguards; [`Kalman`](crate::Kalman) is
/// the one it uses by default. A filter is handed whole blocks, always of the same length, and never a
/// number that is not finite. It does not allocate while it does its work.
pub trait Adaptive: Send {
    /// The name that a saved state is known by.
    fn name(&self) -> &'static str;

    /// The length of the modeled echo path in samples.
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

    /// Remembers the filter as it is.
    fn keep(&mut self);

    /// Goes back to the filter last kept, or to zero where none was.
    fn fall_back(&mut self);

    /// Forgets everything, the kept filter and the signals included.
    fn clear(&mut self);

    /// The echo path as it is believed to be: `taps` coefficients, the first for no delay.
    fn echo_path(&self) -> Vec<f32>;

    /// By how many samples the echo path has become later since the last call; `None` where that is not known.
    fn moved(&mut self) -> Option<f64> {
        None
    }

    /// How far the microphone contradicts the predicted echo, between 0 (not at all, or not known) and 1. Near-end speech
    /// does not raise it, a change of the echo path does.
    fn mismatch(&self) -> f32 {
        0.0
    }

    /// How often the filter took up a better solution by itself (see [`Kalman`](crate::Kalman)).
    fn takeovers(&self) -> u64 {
        0
    }

    /// Writes all that the next block depends on.
    fn save(&self, to: &mut Writer);

    /// Takes over what [`save`](Self::save) wrote for a filter of the same settings.
    fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), AudioError>;
}

//! The filters of `parsimon-core` behind the safeguards of this crate.

use parsimon_core::StateWriter;
use parsimon_core::filter::Filter;

use crate::adaptive::{Adaptive, Learning};
use crate::level::decay;
use crate::state::{Reader, Writer, state};
use crate::{AudioError, Config};

/// Seconds of the mean that a filter falls back to.
const MEAN_SECONDS: f32 = 1.0;

/// A filter that adapts sample by sample (NLMS, APA, PDA, ...), as the canceller wants it.
///
/// Its step knows nothing of the near end: use [`OnDoubleTalk::Freeze`](crate::OnDoubleTalk::Freeze) with it, and a
/// regularization that scales with the signal.
pub struct Sampled {
    name: &'static str,
    filter: Box<dyn Filter<f32>>,
    /// The mean of the taps over the last second of learning.
    kept: Vec<f32>,
    follow: f32,
    blocks: u64,
    /// The state before the first sample.
    fresh: Vec<u8>,
}

impl Sampled {
    /// Wraps a filter that has processed no samples yet; `name` identifies its saved states.
    pub fn new(name: &'static str, filter: Box<dyn Filter<f32>>, config: &Config) -> Self {
        let mut fresh = StateWriter::new();
        filter.save(&mut fresh);
        let fresh = fresh.into_bytes();
        let kept = vec![0.0; filter.taps().len()];
        let follow = 1.0 - decay(config, MEAN_SECONDS);
        Self { name, filter, kept, follow, blocks: 0, fresh }
    }
}

impl Adaptive for Sampled {
    fn name(&self) -> &'static str {
        self.name
    }
    fn taps(&self) -> usize {
        self.filter.taps().len()
    }
    fn cancel(
        &mut self,
        reference: &[f32],
        microphone: &[f32],
        learning: Learning,
        residual: &mut [f32],
    ) {
        self.filter.set_adapting(learning == Learning::Adapt);
        residual.copy_from_slice(self.filter.push(reference, microphone));
        if learning == Learning::Adapt {
            self.blocks += 1;
            let share = self.follow.max(1.0 / self.blocks as f32);
            for (kept, w) in self.kept.iter_mut().zip(self.filter.taps()) {
                *kept += (w - *kept) * share;
            }
        }
    }
    /// Does nothing: the mean is always current.
    fn keep(&mut self) {}
    fn fall_back(&mut self) {
        self.filter.set_taps(&self.kept);
    }
    fn clear(&mut self) {
        self.kept.fill(0.0);
        self.blocks = 0;
        let restored = self.filter.restore(&mut &self.fresh[..]);
        debug_assert!(restored.is_ok(), "the state is the filter's own");
    }
    fn echo_path(&self) -> Vec<f32> {
        self.filter.taps().to_vec()
    }
    fn save(&self, to: &mut Writer) {
        let mut out = StateWriter::new();
        self.filter.save(&mut out);
        to.bytes(out.as_bytes());
        to.numbers(&self.kept);
        to.count(self.blocks);
    }
    fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), AudioError> {
        let bytes = from.bytes()?;
        let mut input = bytes;
        let restored = self.filter.restore(&mut input);
        restored.map_err(|e| state(format!("the filter's part: {e}")))?;
        if !input.is_empty() {
            return Err(state("the filter's part belongs to other settings"));
        }
        from.numbers(&mut self.kept)?;
        self.blocks = from.count()?;
        Ok(())
    }
}

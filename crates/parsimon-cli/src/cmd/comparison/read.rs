//! The rows of a pass, as all runs learn them.

use parsimon::Settings;
use parsimon::data::{DataError, DataErrorKind, Reader};
use parsimon::rows::Chunk;
use parsimon::survey::Found;
use parsimon::train::NegativeSampler;

use super::Task;
use crate::fault::Fault;

/// Chunks for all runs: those of the reader, or what is sampled of them.
pub(crate) struct Rows {
    chunk: Chunk,
    sampled: Chunk,
    sampler: Option<NegativeSampler>,
    is_stopped: bool,
}

/// What became of the rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Read {
    /// The negative rows learned and met, where they were sampled.
    pub(crate) negatives: Option<(u64, u64)>,
    /// Whether a signal ended the pass.
    pub(crate) is_stopped: bool,
}

impl Rows {
    /// The settings of all runs are for the same labels.
    pub(crate) fn new(
        task: &Task<'_>,
        settings: &[Settings],
        found: &Found,
    ) -> Result<Self, Fault> {
        let share = task.sample_negatives.zip(settings.first());
        let sampler = share.map(|(share, first)| NegativeSampler::new(share, first, found));
        let (chunk, sampled) = (Chunk::new(), Chunk::new());
        Ok(Self { chunk, sampled, sampler: sampler.transpose()?, is_stopped: false })
    }

    /// The next rows; none at the end of the data, and after a signal.
    pub(crate) fn next(&mut self, reader: &mut Reader) -> Result<Option<&Chunk>, DataError> {
        match reader.read(&mut self.chunk) {
            Ok(false) => return Ok(None),
            Err(error) if error.kind() == DataErrorKind::Stopped && reader.position().rows > 0 => {
                self.is_stopped = true;
                return Ok(None);
            }
            read => read?,
        };
        Ok(Some(match &mut self.sampler {
            None => &self.chunk,
            Some(sampler) => {
                sampler.sample(&self.chunk, &mut self.sampled);
                &self.sampled
            }
        }))
    }

    pub(crate) fn finish(self) -> Read {
        let negatives = self.sampler.as_ref().map(NegativeSampler::counts);
        Read { negatives, is_stopped: self.is_stopped }
    }
}

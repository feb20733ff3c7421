//! Many settings in one pass over the rows.

use parsimon_core::Chunk;
use parsimon_data::{DataErrorKind, Options, Reader};

use super::Job;
use super::attempt::{Ended, until_it_fits};
use super::plan::ended;
use crate::error::Error;
use crate::settings::Settings;
use crate::survey::{self, Opened};
use crate::training::{Events, NegativeSampler, Notice, Standing, Sweep, Watch};

/// A finished sweep.
pub struct Swept<W> {
    /// The learners.
    pub sweep: Sweep,
    /// The watches, one for each setting or none.
    pub watches: Vec<W>,
    /// How the rows were read.
    pub options: Options,
    /// The rows that were read.
    pub rows: u64,
    /// The number of malformed rows that were skipped.
    pub skipped: u64,
    /// The negative rows that were learned and met, where they were sampled.
    pub negatives: Option<(u64, u64)>,
    /// Whether reading was stopped before the end.
    pub is_stopped: bool,
}

impl Job<'_> {
    /// Trains many settings on the same rows in one pass. The spec and the learner's options of the job are not used: `begin` makes
    /// the learners for data that is open, and what watches them, once for every attempt.
    pub fn sweep<W: Watch + Send, E: From<Error> + From<parsimon_data::DataError>>(
        &self,
        settings: &[Settings],
        events: &mut dyn Events,
        mut begin: impl FnMut(&Opened) -> Result<(Sweep, Vec<W>), E>,
    ) -> Result<Swept<W>, E> {
        until_it_fits(self.source, &self.plan.options, events, |options, events| {
            let opened = survey::open(settings, self.source, options).map_err(ended)?;
            if let Some(first) = settings.first() {
                events.opened(&opened, None, first);
            }
            let (mut sweep, mut watches) = begin(&opened).map_err(Ended::Other)?;
            self.plan.inputs.iter().for_each(|input| sweep.note_input(&input.name()));
            let Opened { schema, options, mut reader } = opened;
            let share = self.plan.sample_negatives.zip(settings.first());
            let sampler =
                share.map(|(share, first)| NegativeSampler::new(share, first, &schema.found));
            let sampler = sampler.transpose().map_err(|e| ended(e.into()))?;
            let mut rows = Rows::new(sampler);
            let is_declared = settings.first().is_some_and(|first| first.classes().is_some());
            while let Some(chunk) = rows.next(&mut reader, &options, is_declared)? {
                let report = &mut |standings: &[Standing]| events.standings(standings);
                sweep.learn_watched(chunk, report, &mut watches);
                events.swept(&sweep, &reader.position());
            }
            reader.warnings().into_iter().for_each(|words| events.notice(&Notice::Remark(words)));
            let (read, skipped) = (reader.position().rows, reader.skipped_rows());
            sweep.note_names(reader.into_names());
            let negatives = rows.sampler.as_ref().map(NegativeSampler::counts);
            let is_stopped = rows.is_stopped;
            Ok(Swept { sweep, watches, options, rows: read, skipped, negatives, is_stopped })
        })
    }
}

/// Chunks for all settings: those of the reader, or a sample of them.
struct Rows {
    chunk: Chunk,
    sampled: Chunk,
    sampler: Option<NegativeSampler>,
    is_stopped: bool,
}

impl Rows {
    fn new(sampler: Option<NegativeSampler>) -> Self {
        Self { chunk: Chunk::new(), sampled: Chunk::new(), sampler, is_stopped: false }
    }

    /// Returns the next rows; `None` at the end of the data, and after a signal.
    fn next<E>(
        &mut self,
        reader: &mut Reader,
        options: &Options,
        is_declared: bool,
    ) -> Result<Option<&Chunk>, Ended<E>> {
        match reader.read(&mut self.chunk) {
            Ok(true) => {}
            Ok(false) => return Ok(None),
            Err(error) if error.kind() == DataErrorKind::Stopped && reader.position().rows > 0 => {
                self.is_stopped = true;
                return Ok(None);
            }
            Err(error) => return Err(Ended::row(error, options, is_declared)),
        }
        Ok(Some(match &mut self.sampler {
            None => &self.chunk,
            Some(sampler) => {
                sampler.sample(&self.chunk, &mut self.sampled);
                &self.sampled
            }
        }))
    }
}

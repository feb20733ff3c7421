//! The start: data that is open, and settings that are complete.

use parsimon::data::{Input, Options, Reader};
use parsimon::{InputSchema, LearnerOptions, Settings, Storage};

use super::{Run, Task};
use crate::cmd::train::{Opened, frame, surveyed};
use crate::fault::Fault;

/// Slots of all runs together up to which each run has an array of its own.
const MOST_SLOTS: usize = 1 << 26;

/// The data open, and what each run is to be built with.
pub(crate) struct Entry {
    pub(crate) options: Options,
    pub(crate) reader: Reader,
    pub(crate) reading: InputSchema,
    pub(crate) frame: LearnerOptions,
    /// One for each run.
    pub(crate) settings: Vec<Settings>,
}

impl Entry {
    pub(crate) fn new(task: &Task<'_>, runs: &[Run]) -> Result<Self, Fault> {
        let Some(first) = runs.first() else {
            return Err(Fault::Usage("no method to run".into()));
        };
        let inputs = task.data.inputs();
        let base = task.data.options(task.frame.precision.into())?;
        let mut survey = Survey::default();
        let resolved = |run: &Run| run.spec.resolve().map_err(|e| named(run, e.into()));
        let asked = resolved(first)?;
        let Opened { settings, reading, options, reader } =
            Opened::new(asked.clone(), &inputs, base)?;
        survey.note(&asked, &settings);
        let frame = thrifty(frame(task.frame, &reading), runs.len());
        let mut all = Vec::new();
        for run in runs {
            let settings = survey.complete(resolved(run)?, &inputs, &options)?;
            if reading.labels(&settings) != options.labels {
                return Err(Fault::Usage(format!(
                    "the methods must have losses for the same kind of labels: {} has {}, {} has {}",
                    first.name,
                    asked.word("loss"),
                    run.name,
                    settings.word("loss"),
                )));
            }
            all.push(settings);
        }
        Ok(Self { options, reader, reading, frame, settings: all })
    }
}

/// A complaint about the command, with the run it is about.
pub(crate) fn named(run: &Run, fault: Fault) -> Fault {
    match fault {
        Fault::Usage(message) => Fault::Usage(format!("{}: {message}", run.name)),
        other => other,
    }
}

/// An array of all slots for each of hundreds of runs would not fit in memory; the index gives the same weights.
fn thrifty(frame: LearnerOptions, runs: usize) -> LearnerOptions {
    match frame.storage {
        Storage::Slots(slots) if (slots as usize).saturating_mul(runs) > MOST_SLOTS => {
            LearnerOptions { storage: Storage::Index, ..frame }
        }
        _ => frame,
    }
}

/// What a scan of the data has told, so that the data is scanned once for all runs.
#[derive(Default)]
struct Survey {
    dimension: Option<u32>,
    switch: Option<u64>,
}

impl Survey {
    fn complete(
        &mut self,
        asked: Settings,
        inputs: &[Input],
        options: &Options,
    ) -> Result<Settings, Fault> {
        let mut settings = asked.clone();
        if let Some(dimension) = self.dimension.filter(|_| settings.wants_dimension()) {
            settings = settings.with_dimension(dimension);
        }
        if let Some(switch) = self.switch.filter(|_| settings.wants_switch()) {
            settings = settings.with_switch(switch);
        }
        let settings = surveyed(settings, inputs, options)?;
        self.note(&asked, &settings);
        Ok(settings)
    }

    fn note(&mut self, asked: &Settings, told: &Settings) {
        if asked.wants_dimension() {
            self.dimension = u32::try_from(told.natural("dimension")).ok();
        }
        if asked.wants_switch() {
            self.switch = Some(told.natural("switch"));
        }
    }
}

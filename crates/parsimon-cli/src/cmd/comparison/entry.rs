//! The start: data that is open, and settings that are complete.

use parsimon::data::{Options, Reader};
use parsimon::survey::{self, Opened};
use parsimon::{InputSchema, LearnerOptions, Settings, Storage};

use super::{Run, Task};
use crate::cmd::train::frame;
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
        let resolved = |run: &Run| run.spec.resolve().map_err(|e| named(run, e.into()));
        let settings = runs.iter().map(resolved).collect::<Result<Vec<_>, _>>()?;
        let Opened { schema: reading, options, reader } =
            survey::open(&settings, &inputs[..], &base)?;
        let frame = thrifty(frame(task.frame, &reading), runs.len());
        for (run, own) in runs.iter().zip(&settings) {
            if reading.labels(own) != options.labels {
                return Err(Fault::Usage(format!(
                    "the methods must have losses for the same kind of labels: {} has {}, {} has {}",
                    first.name,
                    settings[0].loss_name(),
                    run.name,
                    own.loss_name(),
                )));
            }
        }
        Ok(Self { options, reader, reading, frame, settings })
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

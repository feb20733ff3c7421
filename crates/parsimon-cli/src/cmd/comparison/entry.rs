//! The start: data that is open, and settings that are complete.

use parsimon::data::{DataError, Input, Options, Reader};
use parsimon::settings::Storage;
use parsimon::survey::{self, Opened};
use parsimon::{InputSchema, LearnerOptions, Settings};

use super::{Run, Task};
use crate::cmd::columns;
use crate::cmd::train::frame;
use crate::fault::Fault;
use crate::interrupt;

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
    /// Opens the data; with the kinds of `wider` after a cell that contradicts the kind of its column.
    pub(crate) fn new(
        task: &Task<'_>,
        runs: &[Run],
        wider: Option<Options>,
    ) -> Result<Self, Fault> {
        let Some(first) = runs.first() else {
            return Err(Fault::Usage("no method to run".into()));
        };
        let inputs = task.data.inputs();
        let mut base = task.data.options(task.frame.precision())?;
        base.stop = Some(interrupt::stop());
        if let Some(wider) = wider {
            columns::take_kinds(&mut base, wider);
        }
        let resolved = |run: &Run| run.spec.resolve().map_err(|e| named(run, e.into()));
        let settings = runs.iter().map(resolved).collect::<Result<Vec<_>, _>>()?;
        let opened = survey::open(&settings, &inputs[..], &base)?;
        if !task.quiet {
            columns::announce(&opened, task.data);
        }
        let Opened { schema: reading, options, reader, .. } = opened;
        let heads = if settings[0].is_multiclass() { reading.found.classes.len() } else { 1 };
        let frame = thrifty(frame(task.frame, &reading), runs.len().saturating_mul(heads.max(1)));
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

/// What ends a pass before its end.
pub(crate) enum Ended {
    /// A cell contradicts the kind of its column: the pass starts again with these options.
    Wider(Box<Options>),
    Fault(Fault),
}

impl<E: Into<Fault>> From<E> for Ended {
    fn from(error: E) -> Self {
        Ended::Fault(error.into())
    }
}

impl Ended {
    /// What becomes of an error of the data.
    pub(crate) fn by(error: DataError, task: &Task<'_>, options: &Options, quiet: bool) -> Self {
        let is_repeatable = !task.data.inputs().iter().any(Input::is_read_once);
        match survey::widened(options, &error).filter(|_| is_repeatable) {
            Some(wider) => {
                if !quiet {
                    columns::widened(&error, &wider);
                }
                Ended::Wider(Box::new(wider))
            }
            None => Ended::Fault(error.into()),
        }
    }
}

/// A pass, as often as kinds of columns must be widened.
pub(crate) fn until_it_fits<T>(
    mut pass: impl FnMut(Option<Options>) -> Result<T, Ended>,
) -> Result<T, Fault> {
    let mut wider = None;
    loop {
        match pass(wider.take()) {
            Ok(done) => return Ok(done),
            Err(Ended::Wider(options)) => wider = Some(*options),
            Err(Ended::Fault(fault)) => return Err(fault),
        }
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

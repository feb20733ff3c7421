//! The job of all runs, and the learners for data that is open.

use parsimon::job::{Events, Job, Notice};
use parsimon::settings::Storage;
use parsimon::survey::{Guess, Opened, Source};
use parsimon::tune::Sweep;
use parsimon::workspace::Position;
use parsimon::workspace::Standing;
use parsimon::{LearnerOptions, Settings, Spec};

use super::{Run, Task};
use crate::args::DataArgs;
use crate::cmd::columns;
use crate::cmd::train::model_options;
use crate::console::note;
use crate::fault::Fault;
use crate::interrupt;

/// Slots of all runs together up to which each run has an array of its own.
const MOST_SLOTS: usize = 1 << 26;

/// The job of a task: rows, and how they are read.
pub(crate) fn job<'a>(task: &Task<'_>, source: &'a dyn Source) -> Result<Job<'a>, Fault> {
    let mut options = task.data.options(task.learner.precision())?;
    options.run.stop = Some(interrupt::stop());
    let mut job = Job::new(source, Spec::default(), options);
    job.plan.sample_negatives = task.sample_negatives;
    Ok(job)
}

/// The settings of every run, complete.
pub(crate) fn settings(runs: &[Run]) -> Result<Vec<Settings>, Fault> {
    if runs.is_empty() {
        return Err(Fault::Usage("no method to run".into()));
    }
    let resolved = |run: &Run| run.spec.resolve().map_err(|e| named(run, e.into()));
    runs.iter().map(resolved).collect()
}

/// Precision, bias and store of all runs. Runs whose losses are for different kinds of labels are refused.
pub(crate) fn learner_options(
    task: &Task<'_>,
    runs: &[Run],
    settings: &[Settings],
    opened: &Opened,
) -> Result<LearnerOptions, Fault> {
    let schema = &opened.schema;
    for (run, own) in runs.iter().zip(settings) {
        if schema.labels(own) != opened.options.reading.labels {
            return Err(Fault::Usage(format!(
                "the methods must have losses for the same kind of labels: {} has {}, {} has {}",
                runs[0].name,
                settings[0].loss_name(),
                run.name,
                own.loss_name(),
            )));
        }
    }
    let heads = if settings[0].is_multiclass() { schema.found.classes.len() } else { 1 };
    Ok(thrifty(model_options(task.learner, schema), runs.len().saturating_mul(heads.max(1))))
}

/// Returns a complaint about the command with the run that it is about.
pub(crate) fn named(run: &Run, fault: Fault) -> Fault {
    match fault {
        Fault::Usage(message) => Fault::Usage(format!("{}: {message}", run.name)),
        other => other,
    }
}

/// An array of all slots for each of hundreds of runs would not fit in memory; the index gives the same weights.
fn thrifty(options: LearnerOptions, runs: usize) -> LearnerOptions {
    match options.storage {
        Storage::Slots(slots) if (slots as usize).saturating_mul(runs) > MOST_SLOTS => {
            LearnerOptions { storage: Storage::Index, ..options }
        }
        _ => options,
    }
}

/// The part of the progress that `tune` and `compare` show differently.
pub(crate) trait Screen {
    fn standings(&mut self, _standings: &[Standing]) {}
    fn show(&mut self, sweep: &Sweep, position: &Position);
    fn finish(&mut self);
}

/// Follows the pass: prints what was found in the data, and shows the progress on a screen, which each attempt begins anew.
pub(crate) struct Follower<'a, S> {
    data: &'a DataArgs,
    quiet: bool,
    begin: &'a dyn Fn() -> S,
    screen: Option<S>,
}

impl<'a, S: Screen> Follower<'a, S> {
    pub(crate) fn new(task: &Task<'a>, begin: &'a dyn Fn() -> S) -> Self {
        Self { data: task.data, quiet: task.quiet, begin, screen: None }
    }

    /// Removes the progress display; returns false if there was none.
    pub(crate) fn finish(&mut self) -> bool {
        self.screen.take().map(|mut screen| screen.finish()).is_some()
    }
}

impl<S: Screen> Events for Follower<'_, S> {
    fn opened(&mut self, opened: &Opened, _: Option<Guess>, _: &Settings) {
        if !self.quiet {
            columns::announce(opened, self.data);
        }
        self.screen = Some((self.begin)());
    }

    fn notice(&mut self, notice: &Notice) {
        let has_begun = self.finish();
        match notice {
            // A blank line separates the abandoned attempt from the next one.
            Notice::Widened(widening) if !self.quiet => {
                note(&format!("{widening}{}", if has_begun { "\n" } else { "" }));
            }
            Notice::MoreLabels { input, line, label } if !self.quiet => {
                note(&format!(
                    "{input}:{line}: the label {label:?} is none of those of the first rows; starting again with all labels\n"
                ));
            }
            Notice::Remark(words) => columns::warn(std::slice::from_ref(words)),
            _ => {}
        }
    }

    fn standings(&mut self, standings: &[Standing]) {
        self.screen.iter_mut().for_each(|screen| screen.standings(standings));
    }

    fn swept(&mut self, sweep: &Sweep, position: &Position) {
        self.screen.iter_mut().for_each(|screen| screen.show(sweep, position));
    }
}

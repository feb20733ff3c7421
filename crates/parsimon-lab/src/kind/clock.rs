//! Time of learning by the processor's clock of this thread.
//!
//! The only measure that differs between two runs. It is taken only where an experiment has an axis `seconds`.

use std::time::Duration;

use cpu_time::ThreadTime;

use super::Run;

/// The measure's name.
pub(super) const SECONDS: &str = "seconds";

/// Adds up the time of the work that it runs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Clock {
    spent: Duration,
}

impl Clock {
    /// Runs the work and counts its time. On a machine without a clock the time stays zero.
    pub(super) fn count<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let start = ThreadTime::try_now();
        let done = work();
        self.spent += start.and_then(|s| s.try_elapsed()).unwrap_or_default();
        done
    }

    pub(super) fn seconds(self) -> f64 {
        self.spent.as_secs_f64()
    }
}

/// Whether the experiment asks for it.
pub(super) fn is_asked(run: &Run<'_>) -> bool {
    run.experiment.axes.contains_key(SECONDS)
}

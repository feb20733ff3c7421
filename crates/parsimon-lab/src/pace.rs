//! Estimates of the remaining time from the mean time of a trial of each experiment.

use std::time::Duration;

/// Progress of every experiment.
#[derive(Debug)]
pub(crate) struct Pace {
    parts: Vec<Part>,
    threads: usize,
}

/// One experiment.
#[derive(Clone, Debug, Default)]
pub(crate) struct Part {
    /// Trials in all.
    pub(crate) of: usize,
    /// Trials that are done.
    pub(crate) done: usize,
    /// Number of finished trials from an earlier run.
    pub(crate) kept: usize,
    /// Number of trials that were not begun.
    pub(crate) spared: usize,
    /// Times of the finished trials.
    pub(crate) spent: Duration,
}

impl Part {
    fn left(&self) -> u32 {
        (self.of - self.done.min(self.of)) as u32
    }

    fn fresh(&self) -> u32 {
        (self.done - self.kept - self.spared) as u32
    }

    fn mean(&self) -> Option<Duration> {
        (self.fresh() > 0).then(|| self.spent / self.fresh())
    }
}

impl Pace {
    /// Creates an empty progress.
    pub(crate) fn new(trials: impl IntoIterator<Item = usize>, threads: usize) -> Self {
        let part = |of| Part { of, ..Part::default() };
        Self { parts: trials.into_iter().map(part).collect(), threads: threads.max(1) }
    }

    /// A trial is done; one that was kept took no time.
    pub(crate) fn finish(&mut self, part: usize, took: Option<Duration>) {
        let part = &mut self.parts[part];
        part.done += 1;
        part.kept += usize::from(took.is_none());
        part.spent += took.unwrap_or_default();
    }

    /// A trial is not begun.
    pub(crate) fn spare(&mut self, part: usize) {
        let part = &mut self.parts[part];
        part.done += 1;
        part.spared += 1;
    }

    pub(crate) fn part(&self, k: usize) -> &Part {
        &self.parts[k]
    }

    /// Remaining time of an experiment, if one of its trials has been timed.
    pub(crate) fn left_of(&self, k: usize) -> Option<Duration> {
        let part = &self.parts[k];
        let side_by_side = part.left().clamp(1, self.threads as u32);
        Some(part.mean()? * part.left() / side_by_side)
    }

    /// Remaining time of all experiments; those without a time count as the mean of the others.
    pub(crate) fn left(&self) -> Option<Duration> {
        let fresh: u32 = self.parts.iter().map(Part::fresh).sum();
        let spent: Duration = self.parts.iter().map(|p| p.spent).sum();
        let usual = (fresh > 0).then(|| spent / fresh)?;
        let work: Duration = self.parts.iter().map(|p| p.mean().unwrap_or(usual) * p.left()).sum();
        Some(work / self.threads as u32)
    }

    pub(crate) fn done(&self) -> usize {
        self.parts.iter().map(|p| p.done).sum()
    }

    pub(crate) fn total(&self) -> usize {
        self.parts.iter().map(|p| p.of).sum()
    }

    pub(crate) fn kept(&self) -> usize {
        self.parts.iter().map(|p| p.kept).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_experiment_goes_at_its_own_pace() {
        let second = Duration::from_secs;
        let mut pace = Pace::new([3, 10, 1], 2);
        assert_eq!((pace.left(), pace.left_of(0)), (None, None));
        pace.finish(0, None);
        assert_eq!(pace.left(), None, "what was kept says nothing about time");
        pace.finish(0, Some(second(2)));
        pace.finish(1, Some(second(20)));
        assert_eq!(pace.left_of(0), Some(second(2)), "one trial left, one thread for it");
        assert_eq!(pace.left_of(1), Some(second(90)));
        // 2 + 9 * 20 + the mean of 2 and 20, on two threads.
        assert_eq!(pace.left(), Some(Duration::from_millis(96_500)));
        assert_eq!((pace.done(), pace.kept(), pace.total()), (3, 1, 14));
    }
}

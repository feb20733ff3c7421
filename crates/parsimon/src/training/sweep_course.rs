//! Many learners on their way through the rows, with threads.

use std::convert::Infallible;
use std::ops::Range;
use std::time::Instant;

use parsimon_core::Chunk;

use super::parallel::in_parallel;
use super::shared::SharedLearner;
use super::stretch::{Course, Stretch, Watch};
use super::sweep::{Entry, Group, Sweep};
use super::{Standing, Stopped};

/// The settings of a sweep that learn a chunk.
pub(super) struct SweepCourse<'a, W> {
    pub(super) sweep: &'a mut Sweep,
    pub(super) report: &'a mut dyn FnMut(&[Standing]),
    pub(super) watches: &'a mut [W],
}

impl<W: Watch + Send> Course for SweepCourse<'_, W> {
    type Failure = Infallible;

    fn rows(&self) -> u64 {
        self.sweep.rows
    }

    fn learn(&mut self, chunk: &Chunk, rows: Range<usize>) -> Result<(), Infallible> {
        self.sweep.learn_rows(chunk, &rows, self.watches);
        self.sweep.thin();
        // All settings may have stopped, so their counts do not give the number of rows.
        for (y, row) in rows.filter_map(|row| Some((chunk.label(row)?, row))) {
            self.sweep.rows += 1;
            let weight = chunk.weight(row);
            self.sweep.constants.iter_mut().for_each(|constant| constant.learn(y, weight));
        }
        Ok(())
    }

    fn pause(&mut self, is_due: bool) {
        if is_due {
            (self.report)(&self.sweep.reported());
        }
    }
}

impl Sweep {
    /// Every learner learns the rows, each by one thread.
    fn learn_rows<W: Watch + Send>(
        &mut self,
        chunk: &Chunk,
        rows: &Range<usize>,
        watches: &mut [W],
    ) {
        let mut entries: Vec<Option<&mut Entry>> = self.entries.iter_mut().map(Some).collect();
        let mut watches: Vec<Option<&mut W>> = watches.iter_mut().map(Some).collect();
        let mut work = Vec::new();
        for Group { learner, members, time, .. } in &mut self.groups {
            let Some(learner) = learner else { continue };
            let member = |&k: &usize| {
                let watch = watches.get_mut(k).and_then(Option::take);
                Some(Member { entry: entries[k].take()?, watch })
            };
            let members: Vec<Member<'_, W>> = members.iter().filter_map(member).collect();
            work.push((learner, time, members));
        }
        in_parallel(self.threads, &mut work, |(learner, time, members)| {
            let start = Instant::now();
            learn_together(learner, chunk, rows, members);
            **time += start.elapsed();
            members.iter_mut().enumerate().for_each(|(place, member)| {
                member.watch(&learner.stretch(chunk, rows.clone(), place));
            });
        });
    }
}

/// A setting while its learner learns.
struct Member<'a, W> {
    entry: &'a mut Entry,
    watch: Option<&'a mut W>,
}

impl<W: Watch> Member<'_, W> {
    fn watch(&mut self, stretch: &Stretch<'_>) {
        if let (Some(watch), None) = (&mut self.watch, &self.entry.stopped) {
            watch.see(stretch);
        }
    }
}

/// The rows are learned and judged; settings that fail are stopped.
fn learn_together<W: Watch>(
    learner: &mut SharedLearner,
    chunk: &Chunk,
    rows: &Range<usize>,
    members: &mut [Member<'_, W>],
) {
    let is_alive = |member: &Member<'_, W>| member.entry.stopped.is_none();
    if !members.iter().any(is_alive) {
        return;
    }
    let learned = learner.learn(chunk, rows.clone());
    for (place, member) in members.iter_mut().enumerate().filter(|(_, m)| is_alive(m)) {
        let judged = learned.as_ref().map_err(ToString::to_string).and_then(|()| {
            let stretch = learner.stretch(chunk, rows.clone(), place);
            let judged = learner.judge(&stretch, place, &mut member.entry.progressive);
            judged.map_err(|error| error.to_string())
        });
        if let Err(why) = judged {
            member.entry.stopped = Some(Stopped::Failed(why));
        }
    }
}

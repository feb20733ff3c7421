//! Learners of different half-lives side by side, for streams that drift.
//!
//! The first is a race of `auto` in which all rows count alike. Each other one is a race of a few settings whose old rows fade, with
//! statistics of features and labels that fade alike: the learner that `half_life` builds, with fewer settings. Every row is predicted
//! by the leader and learned by all. At looks (1024 rows and its doublings) those that are surely worse leave, and those that fade
//! leave where they are surely no better than the one that does not. What is left ends as it would have ended alone, bit for bit.

use std::ops::Range;

use parsimon_core::merge::{MergeRead, MergeWrite};
use parsimon_core::workspace::{Coming, arg_max};
use parsimon_core::{Chunk, ColumnMoments, Frozen, Loss, Online, State, StateError, StateWriter};

use super::sums::Sums;
use super::{CERTAIN, FIRST_LOOK, MANY_SETTINGS, MARGIN};

/// A learner, and the place of its first setting among all settings.
pub(crate) struct Member {
    pub(crate) learner: Box<dyn Online>,
    pub(crate) first: usize,
}

/// Learners that race. The first one does not fade.
pub(crate) struct HalfLives {
    /// The learners that are in the race, each with its place at the start.
    members: Vec<(usize, Member)>,
    /// The number of learners at the start.
    count: usize,
    /// Position of the one that predicts.
    leader: usize,
    loss: Loss,
    /// Whether the share of errors decides, of several classes.
    by_errors: bool,
    rows: u64,
    /// Losses since the last look, and between the two looks before it.
    since: Sums,
    before: Sums,
    /// Margins of each member for the rows that are being learned.
    margins: Vec<Vec<f64>>,
}

impl HalfLives {
    /// Starts with all members at the origin.
    pub(crate) fn new(members: Vec<Member>, loss: Loss, by_errors: bool) -> Self {
        let count = members.len();
        Self {
            members: members.into_iter().enumerate().collect(),
            count,
            leader: 0,
            loss,
            by_errors,
            rows: 0,
            since: Sums::new(count),
            before: Sums::new(count),
            margins: Vec::new(),
        }
    }

    fn leading(&self) -> &dyn Online {
        &*self.members[self.leader].1.learner
    }

    fn until_look(&self) -> u64 {
        (self.rows + 1).next_power_of_two().max(FIRST_LOOK) - self.rows
    }

    /// Records the losses of rows that were just learned, and appends the leader's margins.
    fn take(&mut self, chunk: &Chunk, rows: Range<usize>, out: &mut Vec<f64>) {
        let (heads, mut losses) = (self.heads(), vec![0.0; self.members.len()]);
        for (i, row) in rows.enumerate() {
            let own = i * heads..(i + 1) * heads;
            out.extend_from_slice(&self.margins[self.leader][own.clone()]);
            let (Some(y), h) = (chunk.label(row), chunk.weight(row)) else { continue };
            if h <= 0.0 || self.members.len() == 1 {
                continue;
            }
            for (loss, margins) in losses.iter_mut().zip(&self.margins) {
                *loss = match &margins[own.clone()] {
                    [margin] => self.loss.value(*margin, y),
                    margins if self.by_errors => f64::from(u8::from(arg_max(margins) as f64 != y)),
                    margins => self.loss.value_of_classes(margins, y as usize),
                };
            }
            self.since.add(&losses, h);
        }
    }

    /// Lets go of members that are surely worse, and chooses the leader.
    fn look(&mut self) {
        if self.members.len() == 1 {
            return;
        }
        let window = self.before.plus(&self.since);
        let all = 0..self.members.len();
        let least = |a: &usize, b: &usize| window.mean(*a).total_cmp(&window.mean(*b));
        let best = all.clone().min_by(least).unwrap_or(0);
        let slack = MARGIN * window.mean(best).abs();
        let is_worse = |k: usize, other: usize, slack: f64| {
            let (worse, error) = window.difference(k, other);
            worse + slack > CERTAIN * error
        };
        // The first member is the one whose rows do not fade, as long as it is in the race.
        let has_plain = self.members[0].0 == 0;
        let stays = |k: &usize| {
            let is_idle = has_plain && *k > 0 && is_worse(*k, 0, slack);
            *k == best || !(is_worse(*k, best, -slack) || is_idle)
        };
        let staying: Vec<usize> = all.filter(stays).collect();
        // Of those that are as good, the one that forgets least.
        let limit = window.mean(best) + slack;
        let leader = staying.iter().position(|k| window.mean(*k) <= limit).unwrap_or(0);
        self.before = self.since.keep(&staying);
        self.since = Sums::new(staying.len());
        let mut at = 0..;
        self.members.retain(|_| at.next().is_some_and(|k| staying.contains(&k)));
        self.leader = leader;
    }

    fn learn_with(
        &mut self,
        chunk: &Chunk,
        rows: Range<usize>,
        scales: &[f64],
        out: &mut Vec<f64>,
    ) {
        let (first, mut start) = (rows.start, rows.start);
        while start < rows.end {
            // Rows that teach nothing bring no look nearer.
            let (mut end, mut left) = (start, self.until_look());
            while end < rows.end && left > 0 {
                left -= u64::from(chunk.label(end).is_some() && chunk.weight(end) > 0.0);
                end += 1;
            }
            let scales = scales.get(start - first..end - first).unwrap_or_default();
            self.margins.resize_with(self.members.len(), Vec::new);
            for ((_, member), margins) in self.members.iter_mut().zip(&mut self.margins) {
                margins.clear();
                match scales {
                    [] => member.learner.learn_rows(chunk, start..end, margins),
                    scales => member.learner.learn_rows_scaled(chunk, start..end, scales, margins),
                }
            }
            self.take(chunk, start..end, out);
            self.rows += self.until_look() - left;
            if left == 0 {
                self.look();
            }
            start = end;
        }
    }
}

impl Online for HalfLives {
    fn learn(&mut self, chunk: &Chunk, margins: &mut Vec<f64>) {
        self.learn_with(chunk, 0..chunk.len(), &[], margins);
    }
    fn learn_rows(&mut self, chunk: &Chunk, rows: Range<usize>, margins: &mut Vec<f64>) {
        self.learn_with(chunk, rows, &[], margins);
    }
    fn learn_rows_scaled(
        &mut self,
        chunk: &Chunk,
        rows: Range<usize>,
        scales: &[f64],
        margins: &mut Vec<f64>,
    ) {
        self.learn_with(chunk, rows, scales, margins);
    }
    fn scale_penalty(&mut self, scale: f64) {
        self.members.iter_mut().for_each(|(_, member)| member.learner.scale_penalty(scale));
    }
    fn takes_bases(&self) -> bool {
        self.leading().takes_bases()
    }
    fn is_linear(&self) -> bool {
        true
    }
    fn columns(&self) -> &[ColumnMoments] {
        self.leading().columns()
    }
    fn label_range(&self) -> Option<(f64, f64)> {
        self.leading().label_range()
    }
    fn lacks_labels(&self) -> bool {
        self.leading().lacks_labels()
    }
    fn learn_change_of(&mut self, columns: &[ColumnMoments]) {
        self.members.iter_mut().for_each(|(_, member)| member.learner.learn_change_of(columns));
    }
    fn chosen(&self) -> Option<usize> {
        let (_, member) = &self.members[self.leader];
        Some(member.first + member.learner.chosen()?)
    }
    fn decide(&mut self) {
        if self.members.len() > 1 {
            (self.before, self.since) = (Sums::new(1), Sums::new(1));
            let leader = self.members.swap_remove(self.leader);
            (self.members, self.leader) = (vec![leader], 0);
        }
        self.members.iter_mut().for_each(|(_, member)| member.learner.decide());
    }
    fn predict(&self, chunk: &Chunk, margins: &mut Vec<f64>) {
        self.leading().predict(chunk, margins);
    }
    fn score(&self, chunk: &Chunk, margins: &mut Vec<f64>) {
        self.leading().score(chunk, margins);
    }
    fn weights_of(&self, indices: &[u32], weights: &mut Vec<f64>) {
        self.leading().weights_of(indices, weights);
    }
    fn nonzeros(&self) -> usize {
        self.leading().nonzeros()
    }
    fn nonzeros_among(&self, met: &[u32], read: &dyn Fn(u32) -> bool) -> Option<usize> {
        self.leading().nonzeros_among(met, read)
    }
    fn nonzeros_by_head(&self) -> Vec<usize> {
        self.leading().nonzeros_by_head()
    }
    fn freeze(&self) -> Frozen {
        self.leading().freeze()
    }
    fn heads(&self) -> usize {
        self.leading().heads()
    }
    fn room(&self, coming: Coming) -> u64 {
        self.members.iter().map(|(_, member)| member.learner.room(coming)).sum()
    }
    fn overflow(&self) -> Option<u32> {
        self.leading().overflow()
    }
    fn mergeable(&self) -> Result<Box<dyn MergeRead + '_>, &'static str> {
        Err(MANY_SETTINGS)
    }
    fn mergeable_mut(&mut self) -> Result<Box<dyn MergeWrite + '_>, &'static str> {
        Err(MANY_SETTINGS)
    }
    fn save(&self, out: &mut StateWriter) {
        (self.members.len() as u64).write(out);
        self.members.iter().for_each(|(place, _)| (*place as u64).write(out));
        (self.leader as u64).write(out);
        self.rows.write(out);
        self.before.save(out);
        self.since.save(out);
        self.members.iter().for_each(|(_, member)| member.learner.save(out));
    }
    fn restore(&mut self, input: &mut &[u8]) -> Result<(), StateError> {
        const MEMBERS: StateError = StateError::inconsistent("the half-lives in the race");
        let number = |input: &mut &[u8], most: usize| {
            let k = u64::read(input).map_err(|e| e.in_field("the half-lives in the race"))?;
            usize::try_from(k).ok().filter(|k| *k < most).ok_or(MEMBERS)
        };
        let len = number(input, self.count + 1)?;
        let places: Vec<usize> =
            (0..len).map(|_| number(input, self.count)).collect::<Result<_, _>>()?;
        if !places.windows(2).all(|pair| pair[0] < pair[1]) {
            return Err(MEMBERS);
        }
        self.leader = number(input, len)?;
        self.rows = u64::read(input).map_err(|e| e.in_field("the number of rows"))?;
        (self.before, self.since) = (Sums::new(len), Sums::new(len));
        self.before.restore(input)?;
        self.since.restore(input)?;
        self.members.retain(|(place, _)| places.contains(place));
        if self.members.len() != len {
            return Err(MEMBERS);
        }
        self.members.iter_mut().try_for_each(|(_, member)| member.learner.restore(input))
    }
}

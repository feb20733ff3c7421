//! Learners that began at one state and learned different rows, made into one.
//!
//! A coordinate is a few numbers, and each of them says how several learners share it: sums of gradients and of their
//! squares add up ([`Share::Sum`]), weights are averaged ([`Share::Mean`]). A method whose coordinate is sums alone is merged in the
//! dual: its threshold is applied when the weight is read, once, after everything was added, so that what was zero
//! everywhere stays zero, and what all learners leave below the threshold may rise above it together. A method that keeps
//! weights can only be averaged: a weight is zero where it is zero for everybody, and supports unite.
//!
//! What is not a few numbers per coordinate, or what the clock of one learner says of the weights of another, cannot be
//! merged; [`Rule::merging`] tells why.

pub use crate::share::{DualStep, MOST_PARTS, Mergeable, Merging, Parts, Share, Step, Tally};

use crate::learner::Copies;
use crate::rule::Rule;
use crate::{Float, Learner, OneVsAll, State, Table};

impl<F: Float, R: Rule<F>> Learner<F, R> {
    fn merging_of(&self, id: u32) -> (&dyn Merging<R::Coord, R::Clock>, &R::Clock) {
        let (rule, now) = match &self.bias {
            Some(b) if id == Tally::BIAS => (&b.rule, &b.now),
            _ => (&self.rule, &self.now),
        };
        (rule.merging().expect(CANNOT), now)
    }
}

/// The methods of [`Mergeable`] that a learner around another leaves to the one inside, its `merging()` and `merging_mut()`.
macro_rules! merged_inside {
    () => {
        fn shares(&self) -> &'static [$crate::merge::Share] {
            self.merging().shares()
        }
        fn rounds(&self, head: usize) -> u64 {
            self.merging().rounds(head)
        }
        fn tally(&self, head: usize) -> $crate::merge::Tally {
            self.merging().tally(head)
        }
        fn add(&mut self, head: usize, tally: &$crate::merge::Tally) {
            self.merging_mut().add(head, tally);
        }
        fn damps(&self) -> bool {
            self.merging().damps()
        }
        fn overlap(
            &self,
            id: u32,
            start: &$crate::merge::Parts,
            end: &$crate::merge::Parts,
        ) -> f64 {
            self.merging().overlap(id, start, end)
        }
        fn step(
            &self,
            id: u32,
            rounds: [u64; 2],
            start: &$crate::merge::Parts,
            end: &$crate::merge::Parts,
            exponent: f64,
        ) -> $crate::merge::Step {
            self.merging().step(id, rounds, start, end, exponent)
        }
        fn take_steps(&mut self, head: usize, from: u64, ids: &[u32], steps: &[f64]) {
            self.merging_mut().take_steps(head, from, ids, steps);
        }
        fn set_copies(&mut self, copies: u32) {
            self.merging_mut().set_copies(copies);
        }
        fn lever(&self, id: u32, parts: &$crate::merge::Parts) -> f64 {
            self.merging().lever(id, parts)
        }
        fn dual_step(
            &self,
            id: u32,
            start: &$crate::merge::Parts,
            end: &$crate::merge::Parts,
        ) -> $crate::merge::DualStep {
            self.merging().dual_step(id, start, end)
        }
        fn take_dual_steps(
            &mut self,
            head: usize,
            from: u64,
            ids: &[u32],
            steps: &[f64],
            damping: &[f64],
        ) {
            self.merging_mut().take_dual_steps(head, from, ids, steps, damping);
        }
    };
}
pub(crate) use merged_inside;

pub(crate) const CANNOT: &str =
    "a learner hands out its mergeable side only if its rule can be merged";

impl<F: Float, R: Rule<F>> Mergeable for Learner<F, R> {
    fn shares(&self) -> &'static [Share] {
        self.merge_shares().expect(CANNOT)
    }

    fn rounds(&self, _head: usize) -> u64 {
        self.rule.merging().expect(CANNOT).rounds(&self.now)
    }

    fn tally(&self, _head: usize) -> Tally {
        let rule = self.rule.merging().expect(CANNOT);
        let width = rule.shares().len();
        let mut rows: Vec<(u32, Parts)> =
            self.table.seen().map(|(j, c)| (j, rule.parts(&self.now, c))).collect();
        rows.sort_unstable_by_key(|&(j, _)| j);
        if let Some(b) = &self.bias {
            let rule = b.rule.merging().expect(CANNOT);
            rows.extend(b.table.seen().map(|(j, c)| (j, rule.parts(&b.now, c))));
        }
        let parts = rows.iter().flat_map(|(_, parts)| &parts[..width]).copied().collect();
        Tally { ids: rows.iter().map(|&(j, _)| j).collect(), parts }
    }

    fn advance(&mut self, _head: usize, rounds: u64) {
        advance(&self.rule, &mut self.now, &mut self.table, rounds);
        if let Some(b) = &mut self.bias {
            advance(&b.rule, &mut b.now, &mut b.table, rounds);
        }
    }

    fn add(&mut self, _head: usize, tally: &Tally) {
        let width = self.shares().len();
        for (&j, added) in tally.ids.iter().zip(tally.parts.chunks_exact(width)) {
            match &mut self.bias {
                Some(b) if j == Tally::BIAS => add(&b.rule, &b.now, &mut b.table, j, added),
                _ => add(&self.rule, &self.now, &mut self.table, j, added),
            }
        }
    }

    fn damps(&self) -> bool {
        self.rule.merging().is_ok_and(Merging::damps)
    }

    fn overlap(&self, id: u32, start: &Parts, end: &Parts) -> f64 {
        self.merging_of(id).0.overlap(start, end)
    }

    fn step(&self, id: u32, rounds: [u64; 2], start: &Parts, end: &Parts, exponent: f64) -> Step {
        let (merging, now) = self.merging_of(id);
        merging.step(now, rounds, start, end, exponent)
    }

    fn take_steps(&mut self, _head: usize, from: u64, ids: &[u32], steps: &[f64]) {
        for (&j, step) in ids.iter().zip(steps.as_chunks().0) {
            match &mut self.bias {
                Some(b) if j == Tally::BIAS => {
                    take_step(&b.rule, &b.now, b.table.slot(j), from, step);
                }
                _ => take_step(&self.rule, &self.now, self.table.slot(j), from, step),
            }
        }
    }

    fn set_copies(&mut self, copies: u32) {
        self.copies = Copies::of(copies);
    }

    fn lever(&self, id: u32, parts: &Parts) -> f64 {
        let (merging, now) = self.merging_of(id);
        merging.lever(now, parts)
    }

    fn dual_step(&self, id: u32, start: &Parts, end: &Parts) -> DualStep {
        let (merging, now) = self.merging_of(id);
        merging.dual_step(now, start, end)
    }

    fn take_dual_steps(
        &mut self,
        _head: usize,
        from: u64,
        ids: &[u32],
        steps: &[f64],
        damping: &[f64],
    ) {
        for ((&j, step), &damping) in ids.iter().zip(steps.as_chunks().0).zip(damping) {
            let taken = (from, step, damping);
            match &mut self.bias {
                Some(b) if j == Tally::BIAS => {
                    take_dual_step(&b.rule, &b.now, b.table.slot(j), taken);
                }
                _ => take_dual_step(&self.rule, &self.now, self.table.slot(j), taken),
            }
        }
    }

    fn settle(&mut self, _head: usize) {
        settle(&self.rule, &mut self.now, &self.table);
        if let Some(b) = &mut self.bias {
            settle(&b.rule, &mut b.now, &b.table);
        }
    }
}

fn advance<F: Float, R: Rule<F>>(
    rule: &R,
    now: &mut R::Clock,
    table: &mut Table<R::Coord>,
    rounds: u64,
) {
    let merging = rule.merging().expect(CANNOT);
    for (_, c) in table.seen_mut() {
        *c = made_of(merging, rounds, &merging.parts(now, c));
    }
    *now = merging.clock(rounds, table);
}

fn add<F: Float, R: Rule<F>>(
    rule: &R,
    now: &R::Clock,
    table: &mut Table<R::Coord>,
    j: u32,
    added: &[f64],
) {
    let merging = rule.merging().expect(CANNOT);
    let c = table.slot(j);
    let mut parts = merging.parts(now, c);
    let precision = (64.0 * f64::EPSILON).max(4.0 * F::PRECISION.epsilon());
    parts.iter_mut().zip(added).for_each(|(p, d)| *p = cancelled(*p, *d, precision));
    *c = made_of(merging, merging.rounds(now), &parts);
}

/// NUMERICS: a weight that every learner has brought to zero must be zero, not what averages leave of it in the last digits.
fn cancelled(before: f64, added: f64, precision: f64) -> f64 {
    let after = before + added;
    if after.abs() <= precision * before.abs() { 0.0 } else { after }
}

fn take_step<F: Float, R: Rule<F>>(
    rule: &R,
    now: &R::Clock,
    c: &mut R::Coord,
    from: u64,
    step: &Step,
) {
    let merging = rule.merging().expect(CANNOT);
    let rounds = [from, merging.rounds(now)];
    let parts = merging.stepped(now, rounds, &merging.parts(now, c), step);
    *c = made_of(merging, rounds[1], &parts);
}

fn take_dual_step<F: Float, R: Rule<F>>(
    rule: &R,
    now: &R::Clock,
    c: &mut R::Coord,
    (from, step, damping): (u64, &DualStep, f64),
) {
    let merging = rule.merging().expect(CANNOT);
    let parts = merging.dual_stepped(now, from, &merging.parts(now, c), step, damping);
    *c = made_of(merging, merging.rounds(now), &parts);
}

fn settle<F: Float, R: Rule<F>>(rule: &R, now: &mut R::Clock, table: &Table<R::Coord>) {
    let merging = rule.merging().expect(CANNOT);
    *now = merging.clock(merging.rounds(now), table);
}

/// Numbers that are all zero mean "never seen".
fn made_of<C: State, K>(rule: &dyn Merging<C, K>, rounds: u64, parts: &Parts) -> C {
    if parts.iter().all(|&p| p == 0.0) { C::default() } else { rule.coordinate(rounds, parts) }
}

impl<F: Float, R: Rule<F>> Mergeable for OneVsAll<F, R> {
    fn shares(&self) -> &'static [Share] {
        self.learners.first().map_or(&[], Mergeable::shares)
    }
    fn rounds(&self, head: usize) -> u64 {
        self.learners[head].rounds(0)
    }
    fn tally(&self, head: usize) -> Tally {
        self.learners[head].tally(0)
    }
    fn advance(&mut self, head: usize, rounds: u64) {
        self.learners[head].advance(0, rounds);
    }
    fn add(&mut self, head: usize, tally: &Tally) {
        self.learners[head].add(0, tally);
    }
    fn damps(&self) -> bool {
        self.learners.first().is_some_and(Mergeable::damps)
    }
    // The rules of all classes are the same.
    fn overlap(&self, id: u32, start: &Parts, end: &Parts) -> f64 {
        self.learners[0].overlap(id, start, end)
    }
    fn step(&self, id: u32, rounds: [u64; 2], start: &Parts, end: &Parts, exponent: f64) -> Step {
        self.learners[0].step(id, rounds, start, end, exponent)
    }
    fn take_steps(&mut self, head: usize, from: u64, ids: &[u32], steps: &[f64]) {
        self.learners[head].take_steps(0, from, ids, steps);
    }
    fn set_copies(&mut self, copies: u32) {
        self.learners.iter_mut().for_each(|learner| learner.set_copies(copies));
    }
    fn lever(&self, id: u32, parts: &Parts) -> f64 {
        self.learners[0].lever(id, parts)
    }
    fn dual_step(&self, id: u32, start: &Parts, end: &Parts) -> DualStep {
        self.learners[0].dual_step(id, start, end)
    }
    fn take_dual_steps(
        &mut self,
        head: usize,
        from: u64,
        ids: &[u32],
        steps: &[f64],
        damping: &[f64],
    ) {
        self.learners[head].take_dual_steps(0, from, ids, steps, damping);
    }
    fn settle(&mut self, head: usize) {
        self.learners[head].settle(0);
    }
}

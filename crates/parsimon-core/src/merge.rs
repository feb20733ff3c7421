//! Learners that began at one state and learned different rows, made into one.
//!
//! A coordinate is a few numbers, and each of them says how several learners share it: sums of gradients and of their
//! squares add up ([`Share::Sum`]), weights are averaged ([`Share::Mean`]). A method whose coordinate is sums alone is merged in the
//! dual: its threshold is applied when the weight is read, once, after everything was added, so that what was zero
//! for all learners stays zero, and a sum that is below the threshold for each learner may exceed it for all together. A method that keeps
//! weights can only be averaged: a weight is zero where it is zero for every learner, and supports unite.
//!
//! State that is more than a few numbers per coordinate, or that depends on the clock of one learner, cannot be
//! merged; [`Rule::merging`] tells why. A learner that can be merged hands out a view of its coordinates ([`MergeRead`],
//! [`MergeWrite`]), which holds the [`Merging`] of its rules.

pub use crate::share::{DualStep, MergeRead, MergeWrite, Merging, Parts, Share, Step, Tally};

use crate::learner::Copies;
use crate::moments::{Moments, MomentsDelta};
use crate::rule::Rule;
use crate::{Float, Learner, OneVsAll, State, Table};

/// The coordinates of one rule, to be read.
struct Side<'a, C, K> {
    merging: &'a dyn Merging<C, K>,
    now: &'a K,
    table: &'a Table<C>,
}

/// The coordinates of one rule, to be changed.
struct SideMut<'a, C, K> {
    merging: &'a dyn Merging<C, K>,
    now: &'a mut K,
    table: &'a mut Table<C>,
}

/// One head of a learner, to be read.
struct HeadRead<'a, C, K> {
    features: Side<'a, C, K>,
    bias: Option<Side<'a, C, K>>,
}

/// One head of a learner, to be changed.
struct HeadWrite<'a, F: Float, R: Rule<F>> {
    rule: &'a R,
    features: SideMut<'a, R::Coord, R::Clock>,
    bias: Option<SideMut<'a, R::Coord, R::Clock>>,
    copies: &'a mut Copies,
}

/// The heads of a learner, at least one, to be read. Their rules are equal.
struct Reader<'a, C, K> {
    first: HeadRead<'a, C, K>,
    others: Vec<HeadRead<'a, C, K>>,
}

/// The heads of a learner, to be changed.
struct Writer<'a, F: Float, R: Rule<F>>(Vec<HeadWrite<'a, F, R>>);

impl<F: Float, R: Rule<F>> Learner<F, R> {
    fn head_read(&self) -> Result<HeadRead<'_, R::Coord, R::Clock>, &'static str> {
        let features = Side { merging: self.rule.merging()?, now: &self.now, table: &self.table };
        let bias = match &self.bias {
            Some(b) => Some(Side { merging: b.rule.merging()?, now: &b.now, table: &b.table }),
            None => None,
        };
        Ok(HeadRead { features, bias })
    }

    fn head_write(&mut self) -> Result<HeadWrite<'_, F, R>, &'static str> {
        let Self { rule, now, table, bias, copies, .. } = self;
        let features = SideMut { merging: rule.merging()?, now, table };
        let bias = match bias {
            Some(b) => {
                let (now, table) = (&mut b.now, &mut b.table);
                Some(SideMut { merging: b.rule.merging()?, now, table })
            }
            None => None,
        };
        Ok(HeadWrite { rule, features, bias, copies })
    }

    pub(crate) fn merge_read(&self) -> Result<Box<dyn MergeRead + '_>, &'static str> {
        Ok(Box::new(Reader { first: self.head_read()?, others: Vec::new() }))
    }

    pub(crate) fn merge_write(&mut self) -> Result<Box<dyn MergeWrite + '_>, &'static str> {
        Ok(Box::new(Writer(vec![self.head_write()?])))
    }
}

impl<F: Float, R: Rule<F>> OneVsAll<F, R> {
    pub(crate) fn merge_read(&self) -> Result<Box<dyn MergeRead + '_>, &'static str> {
        let (first, others) = self.learners.split_first().ok_or("it has no class")?;
        let others = others.iter().map(Learner::head_read).collect::<Result<_, _>>()?;
        Ok(Box::new(Reader { first: first.head_read()?, others }))
    }

    pub(crate) fn merge_write(&mut self) -> Result<Box<dyn MergeWrite + '_>, &'static str> {
        let heads = self.learners.iter_mut().map(Learner::head_write).collect::<Result<_, _>>()?;
        Ok(Box::new(Writer(heads)))
    }
}

/// Sorts coordinates by index; once for all types of learners.
fn in_order(mut rows: Vec<(u32, Parts)>) -> Vec<(u32, Parts)> {
    rows.sort_unstable_by_key(|&(j, _)| j);
    rows
}

impl<C: State + Copy, K> Side<'_, C, K> {
    fn rows(&self) -> Vec<(u32, Parts)> {
        let parts = |(j, c): (u32, &C)| (j, self.merging.parts(self.now, j, c));
        in_order(self.table.seen().map(parts).collect())
    }
}

impl<C, K> Reader<'_, C, K> {
    fn head(&self, head: usize) -> &HeadRead<'_, C, K> {
        match head {
            0 => &self.first,
            _ => &self.others[head - 1],
        }
    }

    /// The rule of an id: that of the bias or that of the features.
    fn side(&self, id: u32) -> &Side<'_, C, K> {
        match &self.first.bias {
            Some(bias) if id == Tally::BIAS => bias,
            _ => &self.first.features,
        }
    }
}

impl<C: State + Copy, K> MergeRead for Reader<'_, C, K> {
    fn shares(&self) -> &'static [Share] {
        self.first.features.merging.shares()
    }

    fn rounds(&self, head: usize) -> u64 {
        let features = &self.head(head).features;
        features.merging.rounds(features.now)
    }

    fn tally(&self, head: usize) -> Tally {
        let width = self.shares().len();
        let HeadRead { features, bias } = self.head(head);
        let mut rows = features.rows();
        rows.extend(bias.iter().flat_map(Side::rows));
        let mut tally = Tally::default();
        for (id, parts) in rows {
            tally.ids.push(id);
            tally.parts.extend_from_slice(&parts.to_array()[..width]);
        }
        tally
    }

    fn damps(&self) -> bool {
        self.first.features.merging.damps()
    }

    fn overlap(&self, id: u32, start: &Parts, end: &Parts) -> f64 {
        self.side(id).merging.overlap(start, end)
    }

    fn step(&self, id: u32, rounds: [u64; 2], start: &Parts, end: &Parts, exponent: f64) -> Step {
        let side = self.side(id);
        side.merging.step(side.now, id, rounds, start, end, exponent)
    }

    fn lever(&self, id: u32, parts: &Parts) -> f64 {
        let side = self.side(id);
        side.merging.lever(side.now, id, parts)
    }

    fn dual_step(&self, id: u32, start: &Parts, end: &Parts) -> DualStep {
        let side = self.side(id);
        side.merging.dual_step(side.now, id, start, end)
    }

    fn moments(&self) -> Moments {
        Moments::default()
    }
}

impl<C: State + Copy, K> SideMut<'_, C, K> {
    fn rounds(&self) -> u64 {
        self.merging.rounds(self.now)
    }

    /// Numbers that are all zero mean "never seen".
    fn coordinate(&self, rounds: u64, j: u32, parts: &Parts) -> C {
        match parts.to_array().iter().all(|&p| p == 0.0) {
            true => C::default(),
            false => self.merging.coordinate(rounds, j, parts),
        }
    }

    /// Changes the numbers of one coordinate.
    fn change(&mut self, j: u32, changed: impl FnOnce(&Self, &Parts) -> Parts) {
        let before = *self.table.slot(j);
        let parts = changed(self, &self.merging.parts(self.now, j, &before));
        let after = self.coordinate(self.rounds(), j, &parts);
        *self.table.slot(j) = after;
    }

    fn advance(&mut self, rounds: u64) {
        let Self { merging, now, table } = self;
        for (j, c) in table.seen_mut() {
            let parts = merging.parts(now, j, c);
            let is_unseen = parts.to_array().iter().all(|&p| p == 0.0);
            *c = if is_unseen { C::default() } else { merging.coordinate(rounds, j, &parts) };
        }
        *self.now = self.merging.clock(rounds, self.table);
    }

    fn add(&mut self, j: u32, added: &[f64], precision: f64) {
        let added = Parts::from_slice(added);
        self.change(j, |_, before| Parts {
            value: cancelled(before.value, added.value, precision),
            memory: cancelled(before.memory, added.memory, precision),
            second: cancelled(before.second, added.second, precision),
        });
    }

    fn take_step(&mut self, j: u32, from: u64, step: &Step) {
        self.change(j, |side, before| {
            side.merging.stepped(side.now, j, [from, side.rounds()], before, step)
        });
    }

    fn take_dual_step(&mut self, j: u32, from: u64, step: &DualStep, damping: f64) {
        self.change(j, |side, before| {
            side.merging.dual_stepped(side.now, j, from, before, step, damping)
        });
    }

    fn settle(&mut self) {
        *self.now = self.merging.clock(self.rounds(), self.table);
    }
}

/// NUMERICS: a weight that is zero for every learner must be exactly zero, without the rounding errors of an average.
fn cancelled(before: f64, added: f64, precision: f64) -> f64 {
    let after = before + added;
    if after.abs() <= precision * before.abs() { 0.0 } else { after }
}

impl<'a, F: Float, R: Rule<F>> HeadWrite<'a, F, R> {
    /// The coordinates that an id belongs to.
    fn side(&mut self, id: u32) -> &mut SideMut<'a, R::Coord, R::Clock> {
        match &mut self.bias {
            Some(bias) if id == Tally::BIAS => bias,
            _ => &mut self.features,
        }
    }

    fn sides(&mut self) -> impl Iterator<Item = &mut SideMut<'a, R::Coord, R::Clock>> {
        std::iter::once(&mut self.features).chain(&mut self.bias)
    }
}

impl<F: Float, R: Rule<F>> MergeWrite for Writer<'_, F, R> {
    fn advance(&mut self, head: usize, rounds: u64) {
        self.0[head].sides().for_each(|side| side.advance(rounds));
    }

    fn add(&mut self, head: usize, tally: &Tally) {
        let head = &mut self.0[head];
        let width = head.features.merging.shares().len();
        let precision = (64.0 * f64::EPSILON).max(4.0 * F::PRECISION.epsilon());
        for (&j, added) in tally.ids.iter().zip(tally.parts.chunks_exact(width)) {
            head.side(j).add(j, added, precision);
        }
    }

    fn take_steps(&mut self, head: usize, from: u64, ids: &[u32], steps: &[Step]) {
        for (&j, step) in ids.iter().zip(steps) {
            self.0[head].side(j).take_step(j, from, step);
        }
    }

    fn set_copies(&mut self, copies: u32) {
        self.0.iter_mut().for_each(|head| *head.copies = Copies::of(copies));
    }

    fn take_dual_steps(
        &mut self,
        head: usize,
        from: u64,
        ids: &[u32],
        steps: &[DualStep],
        damping: &[f64],
    ) {
        for ((&j, step), &damping) in ids.iter().zip(steps).zip(damping) {
            self.0[head].side(j).take_dual_step(j, from, step, damping);
        }
    }

    fn scale_penalty(&mut self, scale: f64) {
        for head in &mut self.0 {
            head.rule.scale_penalty(head.features.now, scale);
        }
    }

    fn settle(&mut self, head: usize) {
        self.0[head].sides().for_each(SideMut::settle);
    }

    // A learner by itself keeps no moments.
    fn take_moments(&mut self, _added: &MomentsDelta) {}
}

/// The view of a learner around another: the coordinates are those of the learner inside, the moments have more parts.
pub(crate) struct Around<'a, M> {
    pub(crate) inner: Box<dyn MergeRead + 'a>,
    /// Adds the moments of the wrapper to those of the learner inside.
    pub(crate) with_own: M,
}

impl<M: Fn(Moments) -> Moments> MergeRead for Around<'_, M> {
    fn shares(&self) -> &'static [Share] {
        self.inner.shares()
    }
    fn rounds(&self, head: usize) -> u64 {
        self.inner.rounds(head)
    }
    fn tally(&self, head: usize) -> Tally {
        self.inner.tally(head)
    }
    fn damps(&self) -> bool {
        self.inner.damps()
    }
    fn overlap(&self, id: u32, start: &Parts, end: &Parts) -> f64 {
        self.inner.overlap(id, start, end)
    }
    fn step(&self, id: u32, rounds: [u64; 2], start: &Parts, end: &Parts, exponent: f64) -> Step {
        self.inner.step(id, rounds, start, end, exponent)
    }
    fn lever(&self, id: u32, parts: &Parts) -> f64 {
        self.inner.lever(id, parts)
    }
    fn dual_step(&self, id: u32, start: &Parts, end: &Parts) -> DualStep {
        self.inner.dual_step(id, start, end)
    }
    fn moments(&self) -> Moments {
        (self.with_own)(self.inner.moments())
    }
}

/// The view of a learner around another, to be changed. `own` takes the moments of the wrapper, and gives the scale of the penalty
/// that follows from them where the wrapper sets one.
pub(crate) struct AroundMut<'a, S> {
    pub(crate) inner: Box<dyn MergeWrite + 'a>,
    pub(crate) own: S,
}

/// State that a wrapper keeps beside the coordinates of the learner inside.
pub(crate) trait OwnMoments {
    /// Adds what all learners have seen since the start.
    fn add_moments(&mut self, added: &MomentsDelta);
    /// The multiple of the penalty that the learner inside reads weights under, where the wrapper sets it.
    fn penalty_scale(&self) -> Option<f64>;
}

impl<S: OwnMoments> AroundMut<'_, S> {
    fn restore_scale(&mut self) {
        if let Some(scale) = self.own.penalty_scale() {
            self.inner.scale_penalty(scale);
        }
    }
}

impl<S: OwnMoments> MergeWrite for AroundMut<'_, S> {
    fn advance(&mut self, head: usize, rounds: u64) {
        self.inner.advance(head, rounds);
        self.restore_scale();
    }
    fn add(&mut self, head: usize, tally: &Tally) {
        self.inner.add(head, tally);
    }
    fn take_steps(&mut self, head: usize, from: u64, ids: &[u32], steps: &[Step]) {
        self.inner.take_steps(head, from, ids, steps);
    }
    fn set_copies(&mut self, copies: u32) {
        self.inner.set_copies(copies);
    }
    fn take_dual_steps(
        &mut self,
        head: usize,
        from: u64,
        ids: &[u32],
        steps: &[DualStep],
        damping: &[f64],
    ) {
        self.inner.take_dual_steps(head, from, ids, steps, damping);
    }
    fn scale_penalty(&mut self, scale: f64) {
        self.inner.scale_penalty(scale);
    }
    fn settle(&mut self, head: usize) {
        self.inner.settle(head);
        self.restore_scale();
    }
    fn take_moments(&mut self, added: &MomentsDelta) {
        self.own.add_moments(added);
        self.inner.take_moments(added);
        self.restore_scale();
    }
}

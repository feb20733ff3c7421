//! Norms of whole groups of weights: `l1 sum_G |w_G|_2`, with one group the plain l2 norm; and the l2 ball.
//!
//! Both act on a group by scaling it, so a group keeps one scale and a weight is `scale * v`. A group without
//! gradient loses a fixed length per round: its norm after any number of rounds is known, and it is caught up when it is
//! next touched. A group whose norm reaches zero begins a new epoch, in which all its old values read as zero.

use std::collections::HashMap;
use std::sync::Arc;

use super::Rule;
use crate::{Float, Schedule, Table, state::state};

/// Gradient steps, and a penalty or a constraint on the norms of groups.
#[derive(Clone, Debug)]
pub struct Grouped {
    /// `eta_t`
    pub schedule: Schedule,
    /// Assignment of features to groups.
    pub members: Members,
    /// Operation on a group's norm.
    pub action: Action,
}

/// The groups.
#[derive(Clone, Debug)]
pub enum Members {
    /// One group of all features.
    All,
    /// The group of each feature listed; the others are free.
    Listed(Arc<HashMap<u32, u32>>),
    /// No feature is in a group: the bias.
    Nobody,
}

/// Operation on a group's norm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Action {
    /// The proximal step of `l1 |w_G|`, every `period` rounds for the steps since the last.
    Shrink {
        /// The strength.
        l1: f64,
        /// 1 for FOBOS, `K` for Algorithm 1 of the lazy thesis.
        period: u64,
        /// Whether the proximal step takes the next round's size.
        half_step: super::mirror::HalfStep,
    },
    /// The projection on `|w_G| <= radius`.
    Ball {
        /// The radius.
        radius: f64,
    },
}

/// A weight in units of its group's scale, valid in one epoch of the group.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Scaled<F> {
    v: F,
    epoch: u64,
}

state!(Scaled<F: Float> { v, epoch });

/// State of a group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Group {
    scale: f64,
    norm2: f64,
    paid: f64,
    epoch: u64,
    visited: u64,
}

impl Default for Group {
    fn default() -> Self {
        Self { scale: 1.0, norm2: 0.0, paid: 0.0, epoch: 0, visited: 0 }
    }
}

state!(Group { scale, norm2, paid, epoch, visited });

/// The round, its step, the length charged so far (and before this round), and the groups.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GroupedClock {
    t: u64,
    eta: f64,
    waiting: f64,
    charged: f64,
    charged_before: f64,
    groups: Vec<Group>,
    touched: Vec<u32>,
}

state!(GroupedClock { t, eta, waiting, charged, charged_before, groups, touched });

// NUMERICS: scaling loses no digits, only range. A group is rescaled to 1 long before its values
// overflow; that costs a pass over the table about once in 700 norms' worth of shrinkage.
const SMALLEST_SCALE: f64 = 1e-100;

impl Group {
    /// The factor of the group after a length that is still due.
    fn factor(&self, owed: f64) -> f64 {
        if owed <= 0.0 || self.norm2 == 0.0 {
            return 1.0;
        }
        (1.0 - owed / self.norm2.sqrt()).max(0.0)
    }

    fn rescale(&mut self, factor: f64) {
        if factor > 0.0 {
            self.scale *= factor;
            self.norm2 *= factor * factor;
        } else {
            (self.scale, self.norm2) = (1.0, 0.0);
            self.epoch += 1;
        }
    }
}

impl Grouped {
    fn group_of(&self, j: u32) -> Option<u32> {
        match &self.members {
            Members::All => Some(0),
            Members::Listed(groups) => groups.get(&j).copied(),
            Members::Nobody => None,
        }
    }

    /// Brings a group to the end of the previous round, once per round.
    fn visit(now: &mut GroupedClock, index: u32) -> &mut Group {
        if now.groups.len() <= index as usize {
            now.groups.resize_with(index as usize + 1, Group::default);
        }
        let group = &mut now.groups[index as usize];
        if group.visited < now.t {
            group.visited = now.t;
            let factor = group.factor(now.charged_before - group.paid);
            if factor < 1.0 {
                group.rescale(factor);
            }
            group.paid = now.charged_before;
            now.touched.push(index);
        }
        group
    }

    fn act(&self, now: &GroupedClock, group: &mut Group) {
        let factor = match self.action {
            Action::Shrink { .. } => group.factor(now.charged - group.paid),
            Action::Ball { radius } => {
                let norm = group.norm2.sqrt();
                if norm > radius { radius / norm } else { 1.0 }
            }
        };
        group.paid = now.charged;
        if factor < 1.0 {
            group.rescale(factor);
        }
    }

    fn rebase<F: Float>(&self, now: &mut GroupedClock, index: u32, table: &mut Table<Scaled<F>>) {
        let group = &mut now.groups[index as usize];
        for (j, c) in table.seen_mut() {
            if self.group_of(j) == Some(index) && c.epoch == group.epoch {
                c.v = F::from_f64(c.v.to_f64() * group.scale);
            }
        }
        group.scale = 1.0;
    }
}

impl<F: Float> Rule<F> for Grouped {
    type Coord = Scaled<F>;
    type Clock = GroupedClock;

    fn tick(&self, now: &mut GroupedClock) {
        now.t += 1;
        now.eta = self.schedule.at(now.t);
        now.charged_before = now.charged;
        now.touched.clear();
        if let Action::Shrink { l1, period, half_step } = self.action {
            now.waiting += l1
                * match half_step {
                    super::mirror::HalfStep::Same => now.eta,
                    super::mirror::HalfStep::Next => self.schedule.at(now.t + 1),
                };
            if now.t.is_multiple_of(period) {
                now.charged += now.waiting;
                now.waiting = 0.0;
            }
        }
    }
    fn played(&self, now: &GroupedClock, j: u32, c: &Scaled<F>) -> F {
        let Some(index) = self.group_of(j) else {
            return c.v;
        };
        let Some(group) = now.groups.get(index as usize) else {
            return F::ZERO;
        };
        if c.epoch != group.epoch {
            return F::ZERO;
        }
        let scale = group.scale * group.factor(now.charged - group.paid);
        F::from_f64(c.v.to_f64() * scale)
    }
    fn absorb(&self, now: &mut GroupedClock, j: u32, c: &mut Scaled<F>, w: F, g: F, _at: F) {
        let eta = F::from_f64(now.eta);
        let Some(index) = self.group_of(j) else {
            c.v = w - eta * g;
            return;
        };
        let group = Self::visit(now, index);
        let (old, new) = (w.to_f64(), (w - eta * g).to_f64());
        *c = Scaled { v: F::from_f64(new / group.scale), epoch: group.epoch };
        group.norm2 = (group.norm2 + (new - old) * (new + old)).max(0.0);
    }
    fn close(&self, now: &mut GroupedClock, table: &mut Table<Scaled<F>>) {
        for k in 0..now.touched.len() {
            let index = now.touched[k];
            let mut group = now.groups[index as usize];
            self.act(now, &mut group);
            now.groups[index as usize] = group;
            if group.scale < SMALLEST_SCALE {
                self.rebase(now, index, table);
            }
        }
    }
}

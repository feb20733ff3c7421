//! Settings that learn side by side until one is left.
//!
//! Every row is learned by all settings that are still in the race; predictions are those of the leader. At looks, at fixed
//! numbers of learned rows (1024 and its doublings), settings that are surely worse leave and the leader is chosen anew. So
//! neither the size of chunks nor reading changes a bit.
//!
//! One setting may be the constant: a penalty that no weight survives. It removes no other setting; where no feature helps, it wins.

mod sums;

use std::ops::Range;

use parsimon_core::{Chunk, Frozen, Loss, Online, State};

use self::sums::Sums;
use super::lanes::SideBySide;
use crate::Storage;

/// The first look; the next ones follow whenever the rows have doubled.
const FIRST_LOOK: u64 = 1024;
/// A setting leaves when a difference of losses is this many standard errors from the margin. There are few looks and few
/// settings: by the normal distribution a false departure has a probability below 1e-5 at each.
const CERTAIN: f64 = 4.5;
/// Losses within this share are equal, and the sparser setting is preferred.
const MARGIN: f64 = 0.001;

/// Several settings of one algorithm, a head each.
pub(crate) struct Race {
    lanes: Box<dyn SideBySide>,
    /// Which setting each head of the lanes is; there may be more heads.
    alive: Vec<usize>,
    /// How many settings began.
    count: usize,
    /// Which of them is the constant.
    constant: Option<usize>,
    /// The setting that predicts.
    leader: usize,
    loss: Loss,
    storage: Storage,
    rows: u64,
    /// Losses since the last look, and between the two looks before.
    since: Sums,
    before: Sums,
    /// Of one row.
    losses: Vec<f64>,
    margins: Vec<f64>,
}

impl Race {
    /// Starts a race of `count` settings, which are the heads of `lanes`; `leader` predicts until the first look.
    pub(crate) fn new(
        lanes: Box<dyn SideBySide>,
        count: usize,
        constant: Option<usize>,
        leader: usize,
        loss: Loss,
        storage: Storage,
    ) -> Self {
        Self {
            lanes,
            alive: (0..count).collect(),
            count,
            constant,
            leader,
            loss,
            storage,
            rows: 0,
            since: Sums::new(count),
            before: Sums::new(count),
            losses: Vec::new(),
            margins: Vec::new(),
        }
    }

    /// Rows until the next look.
    fn until_look(&self) -> u64 {
        let next = match self.rows {
            0..FIRST_LOOK => FIRST_LOOK,
            rows => (rows + 1).next_power_of_two(),
        };
        next - self.rows
    }

    fn is_decided(&self) -> bool {
        self.alive.len() == 1
    }

    /// Takes the margins of learned rows, and appends the leader's.
    fn take(&mut self, chunk: &Chunk, rows: Range<usize>, out: &mut Vec<f64>) {
        let heads = self.lanes.heads();
        let (place, is_decided) = (self.place(self.leader), self.is_decided());
        let Self { margins, losses, alive, .. } = self;
        for (row, margins) in rows.zip(margins.chunks_exact(heads)) {
            out.push(margins[place]);
            let (Some(y), h) = (chunk.label(row), chunk.weight(row)) else { continue };
            if h <= 0.0 || is_decided {
                continue;
            }
            losses.clear();
            losses.resize(self.count, 0.0);
            for (&k, &p) in alive.iter().zip(margins) {
                losses[k] = self.loss.value(p, y);
            }
            self.since.add(losses, h);
        }
    }

    /// Lets go of settings that are surely worse, and chooses the leader.
    fn look(&mut self) {
        if self.is_decided() {
            return;
        }
        let (window, nonzeros) = (self.window(), self.nonzeros_by_setting());
        // A constant is hard to beat on the first rows, so it removes no other setting.
        let learners = self.alive.iter().copied().filter(|k| Some(*k) != self.constant);
        let best = learners.min_by(|a, b| {
            window.mean(*a).total_cmp(&window.mean(*b)).then(nonzeros[*a].cmp(&nonzeros[*b]))
        });
        if let Some(best) = best {
            let slack = MARGIN * window.mean(best).abs();
            let stays = |k: &usize| {
                let (worse, error) = window.difference(*k, best);
                let is_worse = worse - slack > CERTAIN * error;
                let is_idle = nonzeros[*k] > nonzeros[best] && worse + slack > CERTAIN * error;
                *k == best || !(is_worse || is_idle)
            };
            let staying: Vec<usize> = self.alive.iter().copied().filter(stays).collect();
            if staying.len() < self.alive.len() {
                let places: Vec<usize> = staying.iter().map(|k| self.place(*k)).collect();
                self.lanes = self.lanes.keep(&places, self.storage);
                self.alive = staying;
            }
        }
        self.leader = self.choose(&window, &nonzeros);
        self.before = std::mem::replace(&mut self.since, Sums::new(self.count));
    }

    /// The head of a setting that is in the race.
    fn place(&self, setting: usize) -> usize {
        self.alive.iter().position(|k| *k == setting).unwrap_or(0)
    }

    fn window(&self) -> Sums {
        self.before.plus(&self.since)
    }

    /// The sparsest of those within the margin of the lowest loss since the look before last.
    fn choose(&self, window: &Sums, nonzeros: &[usize]) -> usize {
        if self.rows < FIRST_LOOK {
            return self.leader;
        }
        let racers = || self.alive.iter().copied();
        let least = racers().map(|k| window.mean(k)).min_by(f64::total_cmp).unwrap_or(0.0);
        let limit = least + MARGIN * least.abs();
        let near = racers().filter(|k| window.mean(*k) <= limit);
        near.min_by(|a, b| {
            nonzeros[*a].cmp(&nonzeros[*b]).then(window.mean(*a).total_cmp(&window.mean(*b)))
        })
        .unwrap_or(self.leader)
    }

    fn nonzeros_by_setting(&self) -> Vec<usize> {
        let mut counts = vec![0; self.count];
        for (&k, n) in self.alive.iter().zip(self.lanes.nonzeros_by_head()) {
            counts[k] = n;
        }
        counts
    }

    fn chosen_now(&self) -> usize {
        if self.is_decided() {
            return self.leader;
        }
        self.choose(&self.window(), &self.nonzeros_by_setting())
    }

    fn learn_with(
        &mut self,
        chunk: &Chunk,
        rows: Range<usize>,
        out: &mut Vec<f64>,
        mut learn: impl FnMut(&mut dyn SideBySide, Range<usize>, &mut Vec<f64>),
    ) {
        let mut start = rows.start;
        while start < rows.end {
            // Rows that teach nothing bring no look nearer.
            let (mut end, mut left) = (start, self.until_look());
            while end < rows.end && left > 0 {
                left -= u64::from(chunk.label(end).is_some() && chunk.weight(end) > 0.0);
                end += 1;
            }
            self.margins.clear();
            learn(&mut *self.lanes, start..end, &mut self.margins);
            self.take(chunk, start..end, out);
            self.rows += self.until_look() - left;
            if left == 0 {
                self.look();
            }
            start = end;
        }
    }
}

impl Online for Race {
    fn learn_rows(&mut self, chunk: &Chunk, rows: Range<usize>, margins: &mut Vec<f64>) {
        self.learn_with(chunk, rows, margins, |lanes, rows, margins| {
            lanes.learn_rows(chunk, rows, margins);
        });
    }
    fn learn_rows_scaled(
        &mut self,
        chunk: &Chunk,
        rows: Range<usize>,
        scales: &[f64],
        margins: &mut Vec<f64>,
    ) {
        let first = rows.start;
        self.learn_with(chunk, rows, margins, |lanes, rows, margins| {
            let scales = &scales[rows.start - first..rows.end - first];
            lanes.learn_rows_scaled(chunk, rows, scales, margins);
        });
    }
    fn scale_penalty(&mut self, scale: f64) {
        self.lanes.scale_penalty(scale);
    }
    fn predict(&self, chunk: &Chunk, margins: &mut Vec<f64>) {
        let place = self.place(self.chosen_now());
        let mut all = Vec::new();
        self.lanes.predict(chunk, &mut all);
        margins.extend(all.chunks_exact(self.lanes.heads()).map(|row| row[place]));
    }
    fn nonzeros(&self) -> usize {
        let counts = self.nonzeros_by_setting();
        match self.is_decided() {
            true => counts[self.leader],
            false => counts[self.choose(&self.window(), &counts)],
        }
    }
    fn freeze(&self) -> Frozen {
        let place = self.place(self.chosen_now());
        Frozen::Linear(vec![self.lanes.freeze().into_heads().swap_remove(place)])
    }
    fn chosen(&self) -> Option<usize> {
        Some(self.chosen_now())
    }
    fn decide(&mut self) {
        if !self.is_decided() {
            self.leader = self.chosen_now();
            self.lanes = self.lanes.keep(&[self.place(self.leader)], self.storage);
            self.alive = vec![self.leader];
        }
    }
    fn save(&self, out: &mut Vec<u8>) {
        (self.alive.len() as u64).write(out);
        self.alive.iter().for_each(|k| (*k as u64).write(out));
        (self.leader as u64).write(out);
        self.rows.write(out);
        self.before.save(out);
        self.since.save(out);
        self.lanes.save(out);
    }
    fn restore(&mut self, input: &mut &[u8]) -> Option<()> {
        let racer = |input: &mut &[u8], most: usize| {
            usize::try_from(u64::read(input)?).ok().filter(|k| *k < most)
        };
        let alive = racer(input, self.count + 1)?;
        let alive: Option<Vec<usize>> = (0..alive).map(|_| racer(input, self.count)).collect();
        let alive = alive.filter(|a| !a.is_empty() && a.is_sorted())?;
        self.leader = racer(input, self.count).filter(|leader| alive.contains(leader))?;
        self.rows = u64::read(input)?;
        self.before.restore(input)?;
        self.since.restore(input)?;
        if alive.len() < self.count {
            self.lanes = self.lanes.keep(&alive, self.storage);
        }
        self.alive = alive;
        self.lanes.restore(input)
    }
}

//! Settings that learn side by side until one is left.
//!
//! Every row is learned by all settings that are still in the race; predictions are those of the leader. At looks, at fixed
//! numbers of learned rows (1024 and its doublings), settings that are surely worse leave and the leader is chosen anew. So
//! neither the size of chunks nor reading changes a bit. On fewer rows the lowest loss is mostly chance, so the usual setting leads,
//! except where it is worse than the constant: then the lowest loss is the better guess.
//!
//! One setting may be the constant: a penalty that no weight survives. It removes no other setting; where no feature helps, it wins.

mod sums;

use std::ops::Range;

use parsimon_core::merge::Mergeable;
use parsimon_core::workspace::Coming;
use parsimon_core::{Chunk, Frozen, Loss, Online, State, StateError, StateWriter};

use self::sums::Sums;
use super::lanes::{Narrow, SideBySide};
use crate::options::Storage;

/// The first look; the next ones follow whenever the rows have doubled.
const FIRST_LOOK: u64 = 1024;
/// Before it, at this number of learned rows and its doublings, the usual setting hands over if it is worse than the constant.
const FIRST_GLANCE: u64 = 64;
/// Standard errors by which it must be worse. With 1, settings were chosen too early; measured in `record/2026-11-17-small-tables.md`.
const LIKELY: f64 = 2.0;
/// A setting leaves when a difference of losses is this many standard errors from the margin. There are few looks and few
/// settings: by the normal distribution a false departure has a probability below 1e-5 at each.
const CERTAIN: f64 = 4.5;
/// Losses within this share are equal, and the sparser setting is preferred.
const MARGIN: f64 = 0.001;

/// Two learners may have let go of different settings.
const MANY_SETTINGS: &str = "it keeps several settings side by side; train with the one setting that train reports at the end";

/// Several settings of one algorithm, a head each.
pub(crate) struct Race {
    /// A learner of all settings; one for each class if there are several.
    lanes: Vec<Box<dyn SideBySide>>,
    /// Which setting each head of the lanes is; there may be more heads. Some may have left.
    seats: Vec<usize>,
    /// The settings that are in the race, in order.
    alive: Vec<usize>,
    /// The head of each.
    places: Vec<usize>,
    /// How many settings began.
    count: usize,
    /// Which of them is the constant.
    constant: Option<usize>,
    /// The setting that predicts before the first look, unless it is worse than the constant.
    usual: usize,
    /// The setting that predicts.
    leader: usize,
    loss: Loss,
    storage: Storage,
    rows: u64,
    /// Losses of those in the race since the last look, and between the two looks before.
    since: Sums,
    before: Sums,
    /// Of one row: of all heads, and of those in the race.
    head_losses: Vec<f64>,
    losses: Vec<f64>,
    /// Of each class, those of all heads, row by row.
    margins: Vec<Vec<f64>>,
    /// Rows with the labels that one class sees.
    relabeled: Chunk,
    /// The base values of one class.
    bases: Vec<f64>,
}

impl Race {
    /// Starts a race of `count` settings, which are the heads of `lanes`; `usual` predicts until the first look.
    pub(crate) fn new(
        lanes: Vec<Box<dyn SideBySide>>,
        count: usize,
        constant: Option<usize>,
        usual: usize,
        loss: Loss,
        storage: Storage,
    ) -> Self {
        Self {
            margins: lanes.iter().map(|_| Vec::new()).collect(),
            relabeled: Chunk::new(),
            bases: Vec::new(),
            lanes,
            seats: (0..count).collect(),
            alive: (0..count).collect(),
            places: (0..count).collect(),
            count,
            constant,
            usual,
            leader: usual,
            loss,
            storage,
            rows: 0,
            since: Sums::new(count),
            before: Sums::new(count),
            head_losses: Vec::new(),
            losses: Vec::new(),
        }
    }

    /// Rows until the next look.
    fn until_look(&self) -> u64 {
        (self.rows + 1).next_power_of_two().max(FIRST_GLANCE) - self.rows
    }

    fn is_decided(&self) -> bool {
        self.alive.len() == 1
    }

    /// Takes the margins of learned rows, and appends the leader's.
    fn take(&mut self, chunk: &Chunk, rows: Range<usize>, out: &mut Vec<f64>) {
        let (heads, place) = (self.lanes[0].heads(), self.place(self.leader));
        let (classes, is_decided) = (self.lanes.len(), self.is_decided());
        let Self { margins, head_losses, losses, places, loss, since, .. } = self;
        for (n, row) in rows.enumerate() {
            out.extend(margins.iter().map(|margins| margins[n * heads + place]));
            let (Some(y), h) = (chunk.label(row), chunk.weight(row)) else { continue };
            if h <= 0.0 || is_decided {
                continue;
            }
            losses.clear();
            losses.resize(places.len(), 0.0);
            for (class, margins) in margins.iter().enumerate() {
                let of_row = &margins[n * heads..(n + 1) * heads];
                loss.values(of_row, label_of(y, class, classes, *loss), head_losses);
                losses
                    .iter_mut()
                    .zip(&*places)
                    .for_each(|(sum, &place)| *sum += head_losses[place]);
            }
            since.add(losses, h);
        }
    }

    /// Lets go of settings that are surely worse, and chooses the leader. Before the first look all settings stay.
    fn look(&mut self) {
        if self.is_decided() {
            return;
        }
        if self.rows < FIRST_LOOK {
            self.leader = self.chosen_now().0;
            return;
        }
        let (window, nonzeros) = (self.window(), self.nonzeros_of_racers());
        // A constant is hard to beat on the first rows, so it removes no other setting.
        let learners = (0..self.alive.len()).filter(|i| Some(self.alive[*i]) != self.constant);
        let best = learners.min_by(|a, b| {
            window.mean(*a).total_cmp(&window.mean(*b)).then(nonzeros[*a].cmp(&nonzeros[*b]))
        });
        let mut staying: Vec<usize> = (0..self.alive.len()).collect();
        if let Some(best) = best {
            let slack = MARGIN * window.mean(best).abs();
            staying.retain(|&k| {
                let (worse, error) = window.difference(k, best);
                let is_worse = worse - slack > CERTAIN * error;
                let is_idle = nonzeros[k] > nonzeros[best] && worse + slack > CERTAIN * error;
                k == best || !(is_worse || is_idle)
            });
        }
        if let Some(leader) = choose(&window, &nonzeros, &staying) {
            self.leader = self.alive[leader];
        }
        self.before = self.since.keep(&staying);
        self.since = Sums::new(staying.len());
        self.stay(&staying);
    }

    /// Goes on with some of the settings in the race, in narrower lanes where there are such.
    fn stay(&mut self, staying: &[usize]) {
        let places: Vec<usize> = staying.iter().map(|&k| self.places[k]).collect();
        self.alive = staying.iter().map(|&k| self.alive[k]).collect();
        let mut is_narrower = false;
        for lanes in &mut self.lanes {
            is_narrower = lanes.narrow(&places, self.storage);
        }
        self.places = if is_narrower {
            self.seats.clone_from(&self.alive);
            (0..places.len()).collect()
        } else {
            places
        };
    }

    /// The head of a setting that is in the race.
    fn place(&self, setting: usize) -> usize {
        let place = self.alive.iter().position(|k| *k == setting);
        place.map_or(0, |k| self.places[k])
    }

    fn window(&self) -> Sums {
        self.before.plus(&self.since)
    }

    /// The nonzero weights of each setting in the race.
    fn nonzeros_of_racers(&self) -> Vec<usize> {
        let counts: Vec<_> = self.lanes.iter().map(Online::nonzeros_by_head).collect();
        let of_place = |&place: &usize| counts.iter().map(|counts| counts[place]).sum();
        self.places.iter().map(of_place).collect()
    }

    /// The setting to be read now, with its nonzero weights.
    fn chosen_now(&self) -> (usize, usize) {
        let nonzeros = self.nonzeros_of_racers();
        let all: Vec<usize> = (0..self.alive.len()).collect();
        let window = self.window();
        let is_open = !self.is_decided()
            && (self.rows >= FIRST_LOOK || self.rows >= FIRST_GLANCE && self.has_lost(&window));
        let chosen = is_open.then(|| choose(&window, &nonzeros, &all)).flatten();
        let before = if self.rows < FIRST_LOOK { self.usual } else { self.leader };
        let chosen = chosen.or_else(|| self.alive.iter().position(|k| *k == before)).unwrap_or(0);
        (self.alive[chosen], nonzeros[chosen])
    }

    /// Whether the usual setting is so far behind the constant that chance hardly explains it.
    fn has_lost(&self, window: &Sums) -> bool {
        let seat = |setting: usize| self.alive.iter().position(|k| *k == setting);
        let rivals = self.constant.and_then(seat).zip(seat(self.usual));
        rivals.is_some_and(|(constant, usual)| {
            let (worse, error) = window.difference(usual, constant);
            worse > LIKELY * error
        })
    }

    /// Appends the margins of one head, one per row and class.
    fn margins_at(&self, place: usize, chunk: &Chunk, margins: &mut Vec<f64>) {
        let is_based = chunk.has_bases() && self.lanes.len() > 1;
        let all = self.lanes.iter().enumerate().map(|(class, lanes)| {
            let mut all = Vec::new();
            if is_based {
                let mut based = chunk.clone();
                let bases: Vec<f64> = (0..chunk.len()).map(|i| chunk.base_of(i, class)).collect();
                based.set_bases(&bases);
                lanes.predict(&based, &mut all);
            } else {
                lanes.predict(chunk, &mut all);
            }
            all
        });
        let (all, heads) = (all.collect::<Vec<_>>(), self.lanes[0].heads());
        let of_row = |i: usize| all.iter().map(move |of_class| of_class[i * heads + place]);
        margins.extend((0..chunk.len()).flat_map(of_row));
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
            match &mut self.lanes[..] {
                [one] if one.heads() == 1 => learn(&mut **one, chunk, start..end, scales, out),
                [one] => {
                    self.margins[0].clear();
                    learn(&mut **one, chunk, start..end, scales, &mut self.margins[0]);
                    self.take(chunk, start..end, out);
                }
                _ => {
                    self.learn_classes(chunk, start..end, scales);
                    self.take(chunk, start..end, out);
                }
            }
            self.rows += self.until_look() - left;
            if left == 0 {
                self.look();
            }
            start = end;
        }
    }
}

impl Race {
    /// Each class learns the rows under its labels.
    fn learn_classes(&mut self, chunk: &Chunk, rows: Range<usize>, scales: &[f64]) {
        let Self { lanes, margins, relabeled, bases, loss, .. } = self;
        let classes = lanes.len();
        relabeled.clear();
        rows.clone().for_each(|i| relabeled.copy_row(chunk, i));
        for (class, (lanes, margins)) in lanes.iter_mut().zip(margins).enumerate() {
            for (n, i) in rows.clone().enumerate() {
                let label = chunk.label(i).map(|y| label_of(y, class, classes, *loss));
                relabeled.set_label(n, label);
            }
            if chunk.has_bases() {
                bases.clear();
                bases.extend(rows.clone().map(|i| chunk.base_of(i, class)));
                relabeled.set_bases(bases);
            }
            margins.clear();
            learn(&mut **lanes, relabeled, 0..relabeled.len(), scales, margins);
        }
    }
}

/// The label of a row as the learner of a class sees it; for two classes there is one learner, which sees the label as it is.
fn label_of(y: f64, class: usize, classes: usize, loss: Loss) -> f64 {
    match classes {
        1 => y,
        _ if y == class as f64 => 1.0,
        _ => loss.other_label(),
    }
}

/// Learns rows, under multiples of the penalty if there are some.
fn learn(
    lanes: &mut dyn SideBySide,
    chunk: &Chunk,
    rows: Range<usize>,
    scales: &[f64],
    margins: &mut Vec<f64>,
) {
    match scales {
        [] => lanes.learn_rows(chunk, rows, margins),
        scales => lanes.learn_rows_scaled(chunk, rows, scales, margins),
    }
}

/// The sparsest of those within the margin of the lowest loss.
fn choose(window: &Sums, nonzeros: &[usize], racers: &[usize]) -> Option<usize> {
    let racers = || racers.iter().copied();
    let least = racers().map(|k| window.mean(k)).min_by(f64::total_cmp)?;
    let limit = least + MARGIN * least.abs();
    let near = racers().filter(|k| window.mean(*k) <= limit);
    near.min_by(|a, b| {
        nonzeros[*a].cmp(&nonzeros[*b]).then(window.mean(*a).total_cmp(&window.mean(*b)))
    })
}

impl Online for Race {
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
        self.lanes.iter_mut().for_each(|lanes| lanes.scale_penalty(scale));
    }
    fn takes_bases(&self) -> bool {
        self.lanes[0].takes_bases()
    }
    fn room(&self, coming: Coming) -> u64 {
        self.lanes.iter().fold(0, |sum, lanes| sum.saturating_add(lanes.room(coming)))
    }
    fn predict(&self, chunk: &Chunk, margins: &mut Vec<f64>) {
        self.margins_at(self.place(self.chosen_now().0), chunk, margins);
    }
    fn score(&self, chunk: &Chunk, margins: &mut Vec<f64>) {
        self.margins_at(self.place(self.leader), chunk, margins);
    }
    fn weights_of(&self, indices: &[u32], weights: &mut Vec<f64>) {
        let place = self.place(self.leader);
        let of_class = |lanes: &dyn SideBySide| {
            let (mut all, heads) = (Vec::new(), lanes.heads());
            lanes.weights_of(indices, &mut all);
            all.into_iter().skip(place).step_by(heads).collect::<Vec<_>>()
        };
        let classes: Vec<_> = self.lanes.iter().map(|lanes| of_class(&**lanes)).collect();
        weights.extend((0..indices.len()).flat_map(|i| classes.iter().map(move |of| of[i])));
    }
    fn nonzeros(&self) -> usize {
        self.chosen_now().1
    }
    fn freeze(&self) -> Frozen {
        let place = self.place(self.chosen_now().0);
        let heads = self.lanes.iter().map(|lanes| lanes.freeze().into_heads().swap_remove(place));
        Frozen::Linear(heads.collect())
    }
    fn heads(&self) -> usize {
        self.lanes.len()
    }
    fn chosen(&self) -> Option<usize> {
        Some(self.chosen_now().0)
    }
    fn decide(&mut self) {
        if !self.is_decided() {
            self.leader = self.chosen_now().0;
            let winner = self.alive.iter().position(|k| *k == self.leader).unwrap_or(0);
            self.before = self.before.keep(&[winner]);
            self.since = self.since.keep(&[winner]);
            self.stay(&[winner]);
        }
    }
    fn mergeable(&self) -> Result<&dyn Mergeable, &'static str> {
        Err(MANY_SETTINGS)
    }
    fn mergeable_mut(&mut self) -> Result<&mut dyn Mergeable, &'static str> {
        Err(MANY_SETTINGS)
    }
    fn save(&self, out: &mut StateWriter) {
        for settings in [&self.seats, &self.alive] {
            (settings.len() as u64).write(out);
            settings.iter().for_each(|k| (*k as u64).write(out));
        }
        (self.leader as u64).write(out);
        self.rows.write(out);
        self.before.save(out);
        self.since.save(out);
        self.lanes.iter().for_each(|lanes| lanes.save(out));
    }
    fn restore(&mut self, input: &mut &[u8]) -> Result<(), StateError> {
        const RACERS: StateError = StateError::inconsistent("the settings in the race");
        let number = |input: &mut &[u8], most: usize| {
            let k = u64::read(input).map_err(|e| e.in_field("the settings in the race"))?;
            usize::try_from(k).ok().filter(|k| *k < most).ok_or(RACERS)
        };
        let settings = |input: &mut &[u8]| {
            let len = number(input, self.count + 1)?;
            let all: Vec<usize> =
                (0..len).map(|_| number(input, self.count)).collect::<Result<_, _>>()?;
            let is_good = !all.is_empty() && all.windows(2).all(|pair| pair[0] < pair[1]);
            if is_good { Ok(all) } else { Err(RACERS) }
        };
        let (seats, alive) = (settings(input)?, settings(input)?);
        let place = |k: &usize| seats.iter().position(|seat| seat == k);
        self.places = alive.iter().map(place).collect::<Option<_>>().ok_or(RACERS)?;
        self.leader = number(input, self.count)?;
        if !alive.contains(&self.leader) {
            return Err(StateError::inconsistent("the leader of the race"));
        }
        self.rows = u64::read(input).map_err(|e| e.in_field("the number of rows"))?;
        (self.before, self.since) = (Sums::new(alive.len()), Sums::new(alive.len()));
        self.before.restore(input)?;
        self.since.restore(input)?;
        if seats.len() < self.count {
            // Fewer seats than settings: the lanes were made narrower.
            for lanes in &mut self.lanes {
                *lanes = lanes.keep(&seats, self.storage).ok_or(RACERS)?;
            }
        }
        (self.seats, self.alive) = (seats, alive);
        self.lanes.iter_mut().try_for_each(|lanes| lanes.restore(input))
    }
}

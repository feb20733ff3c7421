//! Races: several settings learn in parallel until one is left.
//!
//! Every row is learned by all settings that are still in the race; predictions are those of the leader. At looks, at fixed
//! numbers of learned rows (1024 and its doublings), settings that are surely worse leave and the leader is chosen anew. So
//! neither the size of chunks nor reading changes a bit. On fewer rows the lowest loss is mostly chance, so the usual setting leads,
//! unless it is worse than the constant: then the setting with the lowest loss leads.
//!
//! One setting may be the constant: a penalty that no weight survives. It removes no other setting; where no feature helps, it wins.

pub(crate) mod half_lives;
mod sums;

use std::ops::Range;

use parsimon_core::merge::{MergeRead, MergeWrite};
use parsimon_core::workspace::{Coming, arg_max};
use parsimon_core::{Chunk, ColumnMoments, Frozen, Loss, Online, State, StateError, StateWriter};

use self::sums::Sums;
use super::lanes::{Narrow, SideBySide};
use super::recipe::Racers;
use crate::options::Storage;

/// The first look; the next ones follow whenever the rows have doubled.
const FIRST_LOOK: u64 = 1024;
/// Before it, at this number of learned rows and its doublings, the usual setting hands over if it is worse than the constant.
const FIRST_GLANCE: u64 = 64;
/// Standard errors by which it must be worse. With 1, settings were chosen too early; measured in `record/small-tables.md`.
const LIKELY: f64 = 2.0;
/// A setting leaves when a difference of losses is this many standard errors from the margin. There are few looks and few
/// settings: by the normal distribution a false departure has a probability below 1e-5 at each.
const CERTAIN: f64 = 4.5;
/// Losses within this share are equal, and the sparser setting is preferred.
const MARGIN: f64 = 0.001;

/// Reason why races cannot be merged: two learners may have dropped different settings.
const MANY_SETTINGS: &str = "it keeps several settings side by side; train with the one setting that train reports at the end";

/// Several settings of one algorithm, each with a head for every class.
pub(crate) struct Race {
    /// A learner of all settings.
    lanes: Box<dyn SideBySide>,
    /// Setting of each place of the lanes. There may be more places, and settings may have left.
    seats: Vec<usize>,
    /// The settings that are in the race, in order.
    alive: Vec<usize>,
    /// The place of each.
    places: Vec<usize>,
    /// Number of settings at the start.
    count: usize,
    /// Index of the constant.
    constant: Option<usize>,
    /// The setting that predicts before the first look, unless it is worse than the constant.
    usual: usize,
    /// The setting that predicts.
    leader: usize,
    /// The nonzero weights of each setting in the race, at the last look.
    nonzeros: Vec<usize>,
    loss: Loss,
    /// Whether the share of errors decides the race, for several classes.
    by_errors: bool,
    storage: Storage,
    rows: u64,
    /// Losses of the settings in the race: since the last look, and between the two looks before it.
    since: Sums,
    before: Sums,
    /// Losses of one row: of all heads, and of the settings in the race.
    head_losses: Vec<f64>,
    losses: Vec<f64>,
    /// Margins of all heads, row by row.
    margins: Vec<f64>,
}

impl Race {
    /// Starts a race of the settings in `seats`, in order, whose learner is `lanes`.
    pub(crate) fn new(
        lanes: Box<dyn SideBySide>,
        seats: Vec<usize>,
        racers: &Racers,
        loss: Loss,
        storage: Storage,
    ) -> Self {
        let count = seats.len();
        Self {
            margins: Vec::new(),
            lanes,
            alive: seats.clone(),
            seats,
            places: (0..count).collect(),
            count: racers.lanes.len(),
            constant: racers.constant,
            usual: racers.leader,
            leader: racers.leader,
            nonzeros: vec![0; count],
            loss,
            by_errors: racers.by_errors,
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
        let (heads, place) = (self.lanes.heads(), self.place(self.leader));
        let (settings, is_decided) = (self.lanes.settings(), self.is_decided());
        let Self { margins, head_losses, losses, places, loss, since, lanes, by_errors, .. } = self;
        for (row, margins) in rows.zip(margins.chunks_exact(heads)) {
            let own = |place: usize| margins.iter().skip(place).step_by(settings).copied();
            out.extend(own(place));
            let (Some(y), h) = (chunk.label(row), chunk.weight(row)) else { continue };
            if h <= 0.0 || is_decided {
                continue;
            }
            losses.clear();
            if heads == settings {
                loss.values(margins, y, head_losses);
                losses.extend(places.iter().map(|&place| head_losses[place]));
            } else {
                for &place in &*places {
                    head_losses.clear();
                    head_losses.extend(own(place));
                    let loss = lanes.loss_of_classes(place).unwrap_or(*loss);
                    losses.push(match by_errors {
                        true => f64::from(u8::from(arg_max(head_losses) as f64 != y)),
                        false => loss.value_of_classes(head_losses, y as usize),
                    });
                }
            }
            since.add(losses, h);
        }
    }

    /// The number of classes, 1 where labels are no classes.
    fn classes(&self) -> usize {
        self.lanes.heads() / self.lanes.settings().max(1)
    }

    /// Drops settings that are surely worse, and chooses the leader. Before the first look all settings stay.
    fn look(&mut self) {
        if self.is_decided() {
            return;
        }
        let (window, nonzeros) = (self.window(), self.nonzeros_of_racers());
        if self.rows < FIRST_LOOK {
            self.nonzeros = nonzeros;
            self.leader = self.chosen_now();
            return;
        }
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
        self.nonzeros = staying.iter().map(|&k| nonzeros[k]).collect();
        self.stay(&staying);
    }

    /// Continues with some of the settings in the race, in narrower lanes where there are such.
    fn stay(&mut self, staying: &[usize]) {
        let places: Vec<usize> = staying.iter().map(|&k| self.places[k]).collect();
        self.alive = staying.iter().map(|&k| self.alive[k]).collect();
        self.places = if self.lanes.narrow(&places, self.storage) {
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
        let (counts, settings) = (self.lanes.nonzeros_by_head(), self.lanes.settings());
        let of_place = |&place: &usize| counts.iter().skip(place).step_by(settings).sum();
        self.places.iter().map(of_place).collect()
    }

    /// The weights of some features, of all heads.
    fn weights_of_all(&self, indices: &[u32]) -> Vec<f64> {
        let mut weights = Vec::new();
        self.lanes.weights_of(indices, &mut weights);
        weights
    }

    /// The nonzero weights of a setting among the features that `read` accepts.
    fn nonzeros_of_setting(
        &self,
        setting: usize,
        met: &[u32],
        read: &dyn Fn(u32) -> bool,
    ) -> usize {
        let (place, settings) = (self.place(setting), self.lanes.settings());
        let met: Vec<u32> = met.iter().copied().filter(|&j| read(j)).collect();
        let weights = self.weights_of_all(&met);
        let of_features = weights.chunks_exact(self.lanes.heads());
        let own = of_features.flat_map(|all| all.iter().skip(place).step_by(settings));
        own.filter(|w| **w != 0.0).count()
    }

    /// The setting to be read now: the sparsest at the last look of those whose losses until now are the lowest.
    // PERF: the weights of all settings are counted at looks only, for a prediction after each row asks for the setting each time.
    fn chosen_now(&self) -> usize {
        let all: Vec<usize> = (0..self.alive.len()).collect();
        let window = self.window();
        let is_open = !self.is_decided()
            && (self.rows >= FIRST_LOOK || self.rows >= FIRST_GLANCE && self.has_lost(&window));
        let chosen = is_open.then(|| choose(&window, &self.nonzeros, &all)).flatten();
        let before = if self.rows < FIRST_LOOK { self.usual } else { self.leader };
        chosen.map_or(before, |chosen| self.alive[chosen])
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
        let (mut all, settings) = (Vec::new(), self.lanes.settings());
        self.lanes.predict(chunk, &mut all);
        let rows = all.chunks_exact(self.lanes.heads());
        margins.extend(rows.flat_map(|row| row.iter().skip(place).step_by(settings)));
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
            // Rows that are not learned do not count towards the next look.
            let (mut end, mut left) = (start, self.until_look());
            while end < rows.end && left > 0 {
                left -= u64::from(chunk.label(end).is_some() && chunk.weight(end) > 0.0);
                end += 1;
            }
            let scales = scales.get(start - first..end - first).unwrap_or_default();
            if self.lanes.settings() == 1 {
                learn(&mut *self.lanes, chunk, start..end, scales, out);
            } else {
                self.margins.clear();
                learn(&mut *self.lanes, chunk, start..end, scales, &mut self.margins);
                self.take(chunk, start..end, out);
            }
            self.rows += self.until_look() - left;
            if left == 0 {
                self.look();
            }
            start = end;
        }
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
    fn learn(&mut self, chunk: &Chunk, margins: &mut Vec<f64>) {
        self.learn_rows(chunk, 0..chunk.len(), margins);
    }
    fn is_linear(&self) -> bool {
        true
    }
    fn columns(&self) -> &[ColumnMoments] {
        &[]
    }
    fn label_range(&self) -> Option<(f64, f64)> {
        None
    }
    fn learn_change_of(&mut self, _columns: &[ColumnMoments]) {}
    fn overflow(&self) -> Option<u32> {
        None
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
        self.lanes.scale_penalty(scale);
    }
    fn takes_bases(&self) -> bool {
        self.lanes.takes_bases()
    }
    fn room(&self, coming: Coming) -> u64 {
        self.lanes.room(coming)
    }
    fn predict(&self, chunk: &Chunk, margins: &mut Vec<f64>) {
        self.margins_at(self.place(self.chosen_now()), chunk, margins);
    }
    fn score(&self, chunk: &Chunk, margins: &mut Vec<f64>) {
        self.margins_at(self.place(self.leader), chunk, margins);
    }
    fn weights_of(&self, indices: &[u32], weights: &mut Vec<f64>) {
        let all = self.weights_of_all(indices);
        let (place, settings) = (self.place(self.leader), self.lanes.settings());
        let each = all.chunks_exact(self.lanes.heads());
        weights.extend(each.flat_map(|of_feature| of_feature.iter().skip(place).step_by(settings)));
    }
    fn nonzeros(&self) -> usize {
        let chosen = self.chosen_now();
        let place = self.alive.iter().position(|k| *k == chosen);
        place.map_or(0, |k| self.nonzeros_of_racers()[k])
    }
    fn nonzeros_among(&self, met: &[u32], read: &dyn Fn(u32) -> bool) -> Option<usize> {
        Some(self.nonzeros_of_setting(self.chosen_now(), met, read))
    }
    fn nonzeros_by_head(&self) -> Vec<usize> {
        self.freeze().heads().iter().map(|head| head.indices().len()).collect()
    }
    fn freeze(&self) -> Frozen {
        self.lanes.freeze_setting(self.place(self.chosen_now()))
    }
    fn heads(&self) -> usize {
        self.classes()
    }
    fn chosen(&self) -> Option<usize> {
        Some(self.chosen_now())
    }
    fn decide(&mut self) {
        if !self.is_decided() {
            self.leader = self.chosen_now();
            let winner = self.alive.iter().position(|k| *k == self.leader).unwrap_or(0);
            self.before = self.before.keep(&[winner]);
            self.since = self.since.keep(&[winner]);
            self.nonzeros = vec![self.nonzeros[winner]];
            self.stay(&[winner]);
        }
    }
    fn mergeable(&self) -> Result<Box<dyn MergeRead + '_>, &'static str> {
        Err(MANY_SETTINGS)
    }
    fn mergeable_mut(&mut self) -> Result<Box<dyn MergeWrite + '_>, &'static str> {
        Err(MANY_SETTINGS)
    }
    fn save(&self, out: &mut StateWriter) {
        for settings in [&self.seats, &self.alive] {
            (settings.len() as u64).write(out);
            settings.iter().for_each(|k| (*k as u64).write(out));
        }
        (self.leader as u64).write(out);
        self.rows.write(out);
        self.nonzeros.iter().for_each(|n| (*n as u64).write(out));
        self.before.save(out);
        self.since.save(out);
        self.lanes.save(out);
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
        let count = |_| u64::read(input).map(|n| usize::try_from(n).unwrap_or(usize::MAX));
        self.nonzeros = (0..alive.len()).map(count).collect::<Result<_, _>>()?;
        (self.before, self.since) = (Sums::new(alive.len()), Sums::new(alive.len()));
        self.before.restore(input)?;
        self.since.restore(input)?;
        if seats.len() < self.seats.len() {
            // Fewer seats than at the start: the lanes were made narrower.
            let kept = seats.iter().map(|seat| self.seats.iter().position(|own| own == seat));
            let kept: Vec<usize> = kept.collect::<Option<_>>().ok_or(RACERS)?;
            if !self.lanes.narrow(&kept, self.storage) {
                return Err(RACERS);
            }
        } else if seats != self.seats {
            return Err(RACERS);
        }
        (self.seats, self.alive) = (seats, alive);
        self.lanes.restore(input)
    }
}

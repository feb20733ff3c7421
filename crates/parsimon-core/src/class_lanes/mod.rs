//! Several settings of one method for several classes, side by side.
//!
//! The state of a feature for all classes and settings is one block, which is looked up once per row: an index of features for each class
//! would take more memory than the weights. Each setting does what one [`Learner`](crate::Learner) per class in a
//! [`OneVsAll`](crate::OneVsAll) would do, operation by operation, and ends with the same bits.

mod arithmetic;
mod blocks;
#[cfg(test)]
mod tests;

use std::ops::Range;

use self::arithmetic::{Weigh, prepare};
pub use self::blocks::Blocks;
use crate::fade::HalfLife;
use crate::lanes::LaneLearner;
use crate::loss::own_label;
use crate::metric::AdaGrad;
use crate::online::bare;
use crate::penalty::ElasticNet;
use crate::room::Coming;
use crate::rule::fading::divided;
use crate::rule::leader::{Accrual, Center, Dual, Leader, LeaderClock};
use crate::share::Tally;
use crate::softmax::Shares;
use crate::state::{StateError, StateWriter, fits};
use crate::sums::{LANES, fold_lanes};
use crate::wide::{Work, wide};
use crate::{Chunk, Float, Frozen, Head, Lane, Learner, Loss, OneVsAll, Online, State, Table};

/// One setting that is left, with a learner for each class.
pub type ClassLearner<F, C> = OneVsAll<F, Leader<ElasticNet, C, AdaGrad>>;

/// Several settings for several classes. The heads are the classes in order, and within a class the settings.
///
/// ```
/// use parsimon_core::rule::leader::{Accrual, Iterate};
/// use parsimon_core::workspace::{Blocks, ClassLanes};
/// use parsimon_core::{Chunk, Lane, Loss, Online, Repeats};
///
/// let lane = |l1| Lane { l1, l2: 0.0, rate: 0.5, delta: 1.0 };
/// let settings = vec![(lane(0.1), Loss::Softmax), (lane(100.0), Loss::Softmax), (lane(0.1), Loss::Logistic)];
/// let mut lanes = ClassLanes::<f64, Iterate>::new(settings, 3, Accrual::Once, Iterate, true, Blocks::index());
/// let mut chunk = Chunk::new();
/// for class in [0.0, 1.0, 2.0].repeat(20) {
///     chunk.push_feature(class as u32, 1.0);
///     chunk.finish_row(Some(class), 1.0, Repeats::Refuse).unwrap();
/// }
/// let mut margins = Vec::new();
/// lanes.learn(&chunk, &mut margins);
/// assert_eq!(margins.len(), 3 * 3 * 60);
/// // The class and the setting of a head.
/// let nonzeros = lanes.nonzeros_by_head();
/// assert!(nonzeros[0] > 0 && nonzeros[1] == 0 && nonzeros[2] > 0);
/// ```
pub struct ClassLanes<F: Float, C> {
    settings: Vec<(Lane, Loss)>,
    classes: usize,
    accrual: Accrual,
    center: C,
    t: u64,
    /// The multiple of a penalty in force once.
    scale: f64,
    half_life: Option<HalfLife>,
    growth: f64,
    penalized: Weigh<F>,
    free: Weigh<F>,
    blocks: Blocks<F>,
    bias: Option<Vec<F>>,
    row: Scratch<F>,
}

/// Values of the row at hand.
#[derive(Default)]
struct Scratch<F> {
    /// The places of its features, [`UNSEEN`] where there is none.
    places: Vec<u32>,
    /// Weights and metrics that were read: of each feature, and behind them the bias.
    w: Vec<F>,
    q: Vec<F>,
    sums: Vec<F>,
    margins: Vec<f64>,
    slopes: Vec<F>,
}

/// A coordinate that no learned row had.
const UNSEEN: u32 = u32::MAX;

impl<F: Float, C: Center<AdaGrad>> ClassLanes<F, C> {
    /// Learners at the origin. The loss of a setting is softmax, or one whose classes are learned against all others.
    pub fn new(
        settings: Vec<(Lane, Loss)>,
        classes: usize,
        accrual: Accrual,
        center: C,
        bias: bool,
        blocks: Blocks<F>,
    ) -> Self {
        let width = settings.len() * classes;
        let lanes: Vec<Lane> = settings.iter().map(|(lane, _)| *lane).collect();
        let free: Vec<Lane> = lanes.iter().map(|lane| lane.free()).collect();
        Self {
            classes,
            accrual,
            center,
            t: 0,
            scale: 1.0,
            half_life: None,
            growth: 1.0,
            penalized: Weigh::new(&lanes, classes),
            free: Weigh::new(&free, classes),
            settings,
            blocks: blocks.of_width(2 * width),
            bias: bias.then(|| vec![F::ZERO; 2 * width]),
            row: Scratch::default(),
        }
    }

    /// The same with old rows that fade; see [`Lanes::fading`](crate::Lanes::fading).
    #[must_use]
    pub fn fading(mut self, half_life: Option<HalfLife>) -> Self {
        self.half_life = half_life;
        self
    }

    /// Number of settings.
    pub fn settings(&self) -> usize {
        self.settings.len()
    }

    /// Number of classes.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// The loss of a setting.
    pub fn loss(&self, setting: usize) -> Loss {
        self.settings[setting].1
    }

    /// Goes on with some of the settings, in this order. The memory of the others is given back.
    pub fn retain(&mut self, kept: &[usize]) {
        let (before, classes) = (self.settings.len(), self.classes);
        let pick = |block: &[F]| -> Vec<F> {
            let each = block.chunks_exact(before);
            each.flat_map(|of_class| kept.iter().map(|&k| of_class[k])).collect()
        };
        self.settings = kept.iter().map(|&k| self.settings[k]).collect();
        self.blocks.narrow(2 * kept.len() * classes, pick);
        self.bias = self.bias.as_deref().map(pick);
        let lanes: Vec<Lane> = self.settings.iter().map(|(lane, _)| *lane).collect();
        let free: Vec<Lane> = lanes.iter().map(|lane| lane.free()).collect();
        (self.penalized, self.free) = (Weigh::new(&lanes, classes), Weigh::new(&free, classes));
        self.row = Scratch::default();
        self.set_rounds(self.t);
    }

    /// The weights of one setting: a head for each class.
    pub fn freeze_setting(&self, setting: usize) -> Frozen {
        let (settings, width) = (self.settings.len(), self.width());
        let mut weights = vec![Vec::new(); self.classes];
        let (mut w, mut q) = (vec![F::ZERO; width], vec![F::ZERO; width]);
        for (j, block) in self.blocks.iter() {
            self.penalized.read(block, &mut w, &mut q);
            let own = w.iter().skip(setting).step_by(settings);
            for (weights, w) in weights.iter_mut().zip(own).filter(|(_, w)| **w != F::ZERO) {
                weights.push((j, w.to_f64()));
            }
        }
        w.fill(F::ZERO);
        if let Some(bias) = &self.bias {
            self.free.read(bias, &mut w, &mut q);
        }
        let biases = w.iter().skip(setting).step_by(settings);
        let head = |(mut weights, bias): (Vec<(u32, f64)>, &F)| {
            weights.sort_unstable_by_key(|&(j, _)| j);
            Head::new(bias.to_f64(), weights)
        };
        Frozen::Linear(weights.into_iter().zip(biases).map(head).collect())
    }

    /// Goes on with one setting as a learner for each class, which can be merged; `None` where old rows fade, which is another rule.
    pub fn alone(
        &self,
        setting: usize,
        table: impl Fn() -> Table<Dual<F, F>>,
    ) -> Option<ClassLearner<F, C>> {
        if self.half_life.is_some() {
            return None;
        }
        let rule = |lane: Lane| Leader {
            penalty: ElasticNet { l1: lane.l1, l2: lane.l2 },
            accrual: self.accrual,
            center: self.center,
            metric: AdaGrad { rate: lane.rate, delta: lane.delta },
        };
        let (lane, loss) = self.settings[setting];
        let (settings, half) = (self.settings.len(), self.width());
        let mut learners: Vec<LaneLearner<F, C>> = (0..self.classes)
            .map(|_| {
                let bias = self.bias.as_ref().map(|_| rule(lane.free()));
                let mut learner = Learner::new(rule(lane), bias, loss, table());
                if self.t > 0 {
                    learner.now = LeaderClock::after(self.t, self.amount_in_force());
                }
                learner
            })
            .collect();
        let coordinate = |block: &[F], class: usize| {
            let place = class * settings + setting;
            Dual::new(block[place], block[half + place])
        };
        for (j, block) in self.blocks.iter() {
            for (class, learner) in learners.iter_mut().enumerate() {
                *learner.table.slot(j) = coordinate(block, class);
            }
        }
        if let Some(block) = self.bias.as_ref().filter(|_| self.t > 0) {
            let accrued = self.accrual.amount(self.t);
            for (class, learner) in learners.iter_mut().enumerate() {
                if let Some(bias) = &mut learner.bias {
                    bias.now = LeaderClock::after(self.t, accrued);
                    *bias.table.slot(Tally::BIAS) = coordinate(block, class);
                }
            }
        }
        Some(match loss {
            Loss::Softmax => OneVsAll::softmax(learners),
            loss => OneVsAll::new(learners, loss.other_label()),
        })
    }

    /// Heads: classes times settings.
    fn width(&self) -> usize {
        self.settings.len() * self.classes
    }

    #[inline(always)]
    fn set_growth(&mut self, growth: f64) {
        self.growth = growth;
        self.penalized.grow(growth);
        self.free.grow(growth);
    }

    /// After a round at whose end the growth is divided by.
    #[cold]
    #[inline(never)]
    fn divide(&mut self) {
        let half = self.width();
        let divide = |block: &mut [F]| {
            let (z, n) = block.split_at_mut(half);
            z.iter_mut().zip(n).for_each(|(z, n)| (*z, *n) = divided(*z, *n));
        };
        (0..self.blocks.len() as u32).for_each(|place| divide(self.blocks.get_mut(place)));
        self.bias.iter_mut().for_each(|bias| divide(bias));
        self.set_growth(1.0);
        self.penalized.tick(self.amount());
    }

    /// After the number of rounds has changed otherwise than by learning.
    fn set_rounds(&mut self, t: u64) {
        self.t = t;
        if let Some(half_life) = self.half_life {
            self.set_growth(half_life.growth_after(t));
        }
        if t > 0 {
            self.penalized.tick(self.amount());
        }
    }

    #[inline(always)]
    fn amount(&self) -> F {
        F::from_f64(self.amount_in_force())
    }

    #[inline(always)]
    fn amount_in_force(&self) -> f64 {
        match self.accrual {
            Accrual::Once => self.scale * self.growth,
            accrual => accrual.amount(self.t),
        }
    }

    /// Finds the features of a row; those of a row that will be learned are made.
    #[inline(always)]
    fn find(&mut self, indices: &[u32], learns: bool) {
        let places = &mut self.row.places;
        places.clear();
        for &j in indices {
            places.push(match learns {
                true => self.blocks.place_or_new(j),
                false => self.blocks.find(j).unwrap_or(UNSEEN),
            });
        }
    }

    /// Reads the weights of a row that was found, and adds up the margins in the order of a learner's.
    #[inline(always)]
    fn gather(&mut self, chunk: &Chunk, i: usize) {
        let width = self.width();
        let Self { row, blocks, penalized, free, bias, .. } = self;
        let Scratch { places, w, q, sums, margins, .. } = row;
        let values = chunk.row(i).values();
        prepare(w, (values.len() + 1) * width);
        prepare(q, (values.len() + 1) * width);
        sums.clear();
        sums.resize(LANES * width, F::ZERO);
        for (n, (&place, &v)) in places.iter().zip(values).enumerate() {
            let (w, q) = (&mut w[n * width..][..width], &mut q[n * width..][..width]);
            if place == UNSEEN {
                w.fill(F::ZERO);
                continue;
            }
            penalized.read(blocks.get(place), w, q);
            let (v, sums) = (F::from_f64(v), &mut sums[n % LANES * width..][..width]);
            for (sum, w) in sums.iter_mut().zip(&*w) {
                *sum += *w * v;
            }
        }
        let end = values.len() * width;
        let (w, q) = (&mut w[end..][..width], &mut q[end..][..width]);
        match bias {
            Some(bias) => free.read(bias, w, q),
            None => w.fill(F::ZERO),
        }
        let settings = width / self.classes.max(1);
        margins.clear();
        margins.extend((0..width).map(|m| {
            let sums: [F; LANES] = std::array::from_fn(|k| sums[k * width + m]);
            (fold_lanes(sums) + w[m]).to_f64()
        }));
        if chunk.has_bases() {
            for (class, margins) in margins.chunks_exact_mut(settings).enumerate() {
                let base = chunk.base_of(i, class);
                margins.iter_mut().for_each(|p| *p += base);
            }
        }
    }

    /// The slopes of all classes and settings, times the importance.
    #[inline(always)]
    fn slopes(&mut self, class: usize, weight: f64) {
        let (settings, width) = (self.settings.len(), self.width());
        let Scratch { margins, slopes, .. } = &mut self.row;
        prepare(slopes, width);
        for (s, &(_, loss)) in self.settings.iter().enumerate() {
            let own = margins.iter().skip(s).step_by(settings).copied();
            let out = slopes.iter_mut().skip(s).step_by(settings);
            if loss == Loss::Softmax {
                let shares = Shares::of(own.clone());
                for ((k, m), d) in own.enumerate().zip(out) {
                    *d = F::from_f64(weight * shares.slope(k, m, class));
                }
            } else {
                for ((k, m), d) in own.enumerate().zip(out) {
                    let y = own_label(class as f64, k, loss.other_label());
                    *d = F::from_f64(weight * loss.slope(m, y));
                }
            }
        }
    }

    /// Learns the row whose weights were read.
    #[inline(always)]
    fn absorb(&mut self, values: &[f64], class: usize, weight: f64) {
        let width = self.width();
        self.t += 1;
        let weight = match self.half_life {
            None => weight,
            Some(half_life) => {
                self.set_growth(half_life.growth(self.t));
                let Self { row, blocks, penalized, free, bias, .. } = self;
                let mut q = row.q.chunks_exact_mut(width);
                for (&place, q) in row.places.iter().zip(&mut q) {
                    penalized.read_again(blocks.get(place), q);
                }
                if let (Some(bias), Some(q)) = (bias, q.next()) {
                    free.read_again(bias, q);
                }
                weight * self.growth
            }
        };
        self.slopes(class, weight);
        self.penalized.tick(self.amount());
        let Self { row, blocks, penalized, free, bias, center, .. } = self;
        let played = row.w.chunks_exact(width).zip(row.q.chunks_exact(width));
        let mut played = played.take(values.len() + 1);
        for ((&place, &v), (w, q)) in row.places.iter().zip(values).zip(&mut played) {
            let block = blocks.get_mut(place);
            penalized.absorb(center, block, w, q, &row.slopes, F::from_f64(v));
        }
        if let (Some(bias), Some((w, q))) = (bias, played.next()) {
            free.absorb(center, bias, w, q, &row.slopes, F::ONE);
        }
        if self.half_life.is_some_and(|half_life| half_life.divides(self.t)) {
            self.divide();
        }
    }
}

/// Rows to be learned.
struct LearnRows<'a, F: Float, C> {
    lanes: &'a mut ClassLanes<F, C>,
    chunk: &'a Chunk,
    rows: Range<usize>,
    /// One multiple of the penalty per row, or none.
    scales: &'a [f64],
    margins: &'a mut Vec<f64>,
}

impl<F: Float, C: Center<AdaGrad>> Work for LearnRows<'_, F, C> {
    type Output = ();

    #[inline(always)]
    fn work(self) {
        let Self { lanes, chunk, rows, scales, margins } = self;
        for (n, i) in rows.enumerate() {
            let (label, weight) = (chunk.label(i), chunk.weight(i));
            let label = label.filter(|_| weight > 0.0);
            if let (Some(&scale), Some(_)) = (scales.get(n), label) {
                lanes.scale_penalty(scale);
            }
            lanes.find(chunk.row(i).indices(), label.is_some());
            lanes.gather(chunk, i);
            margins.extend_from_slice(&lanes.row.margins);
            if let Some(y) = label {
                lanes.absorb(chunk.row(i).values(), y as usize, weight);
            }
        }
    }
}

impl<F: Float, C: Center<AdaGrad>> Online for ClassLanes<F, C> {
    bare!(all_rows no_scales no_race linear unbounded);
    bare!(@unmergeable crate::share::NO_COORDINATES);

    fn learn_rows(&mut self, chunk: &Chunk, rows: Range<usize>, margins: &mut Vec<f64>) {
        wide(LearnRows { lanes: self, chunk, rows, scales: &[], margins });
    }

    fn learn_rows_scaled(
        &mut self,
        chunk: &Chunk,
        rows: Range<usize>,
        scales: &[f64],
        margins: &mut Vec<f64>,
    ) {
        wide(LearnRows { lanes: self, chunk, rows, scales, margins });
    }

    #[inline(always)]
    fn scale_penalty(&mut self, scale: f64) {
        if self.accrual == Accrual::Once {
            self.scale = scale;
            self.penalized.tick(self.amount());
        }
    }

    fn takes_bases(&self) -> bool {
        true
    }

    fn predict(&self, chunk: &Chunk, margins: &mut Vec<f64>) {
        let (settings, width) = (self.settings.len(), self.width());
        let (mut w, mut q) = (vec![F::ZERO; width], vec![F::ZERO; width]);
        let mut bias = vec![F::ZERO; width];
        if let Some(block) = &self.bias {
            self.free.read(block, &mut bias, &mut q);
        }
        let mut sums = vec![F::ZERO; LANES * width];
        for i in 0..chunk.len() {
            sums.fill(F::ZERO);
            for (n, (j, v)) in chunk.row(i).iter().enumerate() {
                let Some(place) = self.blocks.find(j) else { continue };
                self.penalized.read(self.blocks.get(place), &mut w, &mut q);
                let (v, sums) = (F::from_f64(v), &mut sums[n % LANES * width..][..width]);
                sums.iter_mut().zip(&w).for_each(|(sum, w)| *sum += *w * v);
            }
            margins.extend((0..width).map(|m| {
                let sums: [F; LANES] = std::array::from_fn(|k| sums[k * width + m]);
                (fold_lanes(sums) + bias[m]).to_f64() + chunk.base_of(i, m / settings)
            }));
        }
    }

    fn nonzeros(&self) -> usize {
        self.nonzeros_by_head().iter().sum()
    }

    fn nonzeros_by_head(&self) -> Vec<usize> {
        let width = self.width();
        let (mut w, mut q) = (vec![F::ZERO; width], vec![F::ZERO; width]);
        let mut counts = vec![0; width];
        for (_, block) in self.blocks.iter() {
            self.penalized.read(block, &mut w, &mut q);
            counts.iter_mut().zip(&w).for_each(|(n, w)| *n += usize::from(*w != F::ZERO));
        }
        counts
    }

    fn nonzeros_among(&self, met: &[u32], read: &dyn Fn(u32) -> bool) -> Option<usize> {
        let mut weights = Vec::new();
        let read: Vec<u32> = met.iter().copied().filter(|j| read(*j)).collect();
        self.weights_of(&read, &mut weights);
        Some(weights.iter().filter(|w| **w != 0.0).count())
    }

    fn weights_of(&self, indices: &[u32], weights: &mut Vec<f64>) {
        let width = self.width();
        let (mut w, mut q) = (vec![F::ZERO; width], vec![F::ZERO; width]);
        for &j in indices {
            match self.blocks.find(j) {
                Some(place) => self.penalized.read(self.blocks.get(place), &mut w, &mut q),
                None => w.fill(F::ZERO),
            }
            weights.extend(w.iter().map(|w| w.to_f64()));
        }
    }

    fn freeze(&self) -> Frozen {
        let settings = (0..self.settings.len()).map(|k| self.freeze_setting(k).into_heads());
        let of: Vec<Vec<Head>> = settings.collect();
        let heads = (0..self.classes).flat_map(|class| of.iter().map(move |of| of[class].clone()));
        Frozen::Linear(heads.collect())
    }

    fn heads(&self) -> usize {
        self.width()
    }

    fn room(&self, coming: Coming) -> u64 {
        self.blocks.room(coming, self.classes)
    }

    fn save(&self, out: &mut StateWriter) {
        self.t.write(out);
        (self.blocks.len() as u64).write(out);
        for (j, block) in self.blocks.iter() {
            j.write(out);
            block.iter().for_each(|x| x.write(out));
        }
        if let Some(bias) = &self.bias {
            bias.iter().for_each(|x| x.write(out));
        }
    }

    fn restore(&mut self, input: &mut &[u8]) -> Result<(), StateError> {
        let read = |block: &mut [F], input: &mut &[u8], field: &'static str| {
            block.iter_mut().try_for_each(|x| {
                *x = F::read(input).map_err(|e| e.in_field(field))?;
                Ok(())
            })
        };
        self.set_rounds(u64::read(input).map_err(|e| e.in_field("the number of rows"))?);
        let count = u64::read(input).map_err(|e| e.in_field("the number of features"))?;
        for _ in 0..count {
            let j = u32::read(input).map_err(|e| e.in_field("a feature"))?;
            fits(self.blocks.find(j).is_none(), "a feature that comes twice")?;
            let place = self.blocks.place_restored(j, input.len())?;
            read(self.blocks.get_mut(place), input, "a coordinate")?;
        }
        match &mut self.bias {
            Some(bias) => read(bias, input, "the bias"),
            None => Ok(()),
        }
    }
}

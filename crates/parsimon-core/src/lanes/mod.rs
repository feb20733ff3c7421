//! Several settings of one method side by side: all learn in one pass over the rows.
//!
//! The states of a coordinate under all settings are adjacent in memory, so that one access serves all and the
//! arithmetic processes several at a time. Each lane does what a [`Learner`](crate::Learner) under a
//! [`Leader`](crate::rule::leader::Leader) would do, operation by operation, and ends with the same bits.
//!
//! The penalty is the elastic net and not a type parameter: the loop over lanes is written for it, and is already compiled
//! for every number of lanes, center and precision. Settings with another penalty are learned by one learner each.

#![allow(
    clippy::needless_range_loop,
    reason = "a loop over lanes looks at several arrays, and is to be vectorized"
)]

mod fewer;
mod row;
#[cfg(test)]
mod tests;

use std::ops::Range;

pub use self::fewer::LaneLearner;
use self::row::{Played, Weigh};
use crate::fade::HalfLife;
use crate::metric::AdaGrad;
use crate::online::bare;
use crate::packed::Packed;
use crate::room::Coming;
use crate::rule::fading::divided;
use crate::rule::leader::{Accrual, Center};
use crate::state::{StateError, StateWriter, fits};
use crate::sums::fold_lanes;
use crate::wide::{Work, wide};
use crate::{Chunk, Float, Frozen, Head, Loss, Online, Row, State};

/// One setting of follow the regularized leader with AdaGrad's metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lane {
    /// The strength of `|w|`.
    pub l1: f64,
    /// The strength of `w^2/2`.
    pub l2: f64,
    /// The step size, `eta` or `alpha`.
    pub rate: f64,
    /// Constant added to the root of the squared gradients, FTRL's `beta`.
    pub delta: f64,
}

impl Lane {
    /// The steps of the bias: as above, without a penalty.
    #[must_use]
    pub fn free(self) -> Self {
        Self { l1: 0.0, l2: 0.0, ..self }
    }
}

/// `K` settings learned together; each is a head of the model.
///
/// ```
/// use parsimon_core::rule::leader::{Accrual, Iterate};
/// use parsimon_core::{Chunk, Lane, Lanes, Loss, Online, Packed, Repeats};
///
/// let lane = |l1| Lane { l1, l2: 0.0, rate: 0.5, delta: 1.0 };
/// let lanes = [0.1, 100.0].map(lane);
/// let mut both = Lanes::<f64, Iterate, 2>::new(lanes, Accrual::Once, Iterate, true, Loss::Logistic, Packed::growing());
/// let mut chunk = Chunk::new();
/// for _ in 0..20 {
///     chunk.push_feature(1, 1.0);
///     chunk.finish_row(Some(1.0), 1.0, Repeats::Refuse).unwrap();
/// }
/// let mut margins = Vec::new();
/// both.learn(&chunk, &mut margins);
/// assert_eq!(margins.len(), 2 * 20);
/// assert_eq!(both.nonzeros_by_head(), [1, 0]);
/// ```
pub struct Lanes<F: Float, C, const K: usize> {
    lanes: [Lane; K],
    accrual: Accrual,
    center: C,
    loss: Loss,
    t: u64,
    /// The multiple of a penalty in force once.
    scale: f64,
    /// Fading of old rows, if any, with its factors on penalties and new rows.
    half_life: Option<HalfLife>,
    growth: f64,
    penalized: Weigh<F, K>,
    free: Weigh<F, K>,
    store: Packed<F, K>,
    bias: Option<[[F; K]; 2]>,
    /// Values read for the current row.
    played: Vec<Played<F, K>>,
    /// Positions of the coordinates of the current row and of the next row. Like `played`, as long as the longest row.
    places: Vec<u32>,
    next_places: Vec<u32>,
}

/// A coordinate that no learned row had.
const UNSEEN: u32 = u32::MAX;

impl<F: Float, C: Center<AdaGrad>, const K: usize> Lanes<F, C, K> {
    /// Learners at the origin.
    pub fn new(
        lanes: [Lane; K],
        accrual: Accrual,
        center: C,
        bias: bool,
        loss: Loss,
        store: Packed<F, K>,
    ) -> Self {
        let free = lanes.map(Lane::free);
        Self {
            accrual,
            center,
            loss,
            t: 0,
            scale: 1.0,
            half_life: None,
            growth: 1.0,
            penalized: Weigh::new(&lanes),
            free: Weigh::new(&free),
            lanes,
            store,
            bias: bias.then_some([[F::ZERO; K]; 2]),
            played: Vec::new(),
            places: Vec::new(),
            next_places: Vec::new(),
        }
    }

    /// The same with old rows that fade, where penalties are in force once: each lane does what a learner under
    /// [`Fading`](crate::rule::fading::Fading) would do.
    #[must_use]
    pub fn fading(mut self, half_life: Option<HalfLife>) -> Self {
        self.half_life = half_life;
        self
    }

    /// Whether old rows fade.
    pub fn fades(&self) -> bool {
        self.half_life.is_some()
    }

    #[inline(always)]
    fn set_growth(&mut self, growth: f64) {
        self.growth = growth;
        self.penalized.grow(&self.lanes, growth);
        self.free.grow(&self.lanes, growth);
    }

    /// After a round at whose end the growth is divided by.
    #[cold]
    #[inline(never)]
    fn divide(&mut self) {
        let divide = |[z, n]: &mut [[F; K]; 2]| {
            for k in 0..K {
                (z[k], n[k]) = divided(z[k], n[k]);
            }
        };
        (0..self.store.len() as u32).for_each(|place| divide(self.store.get_mut(place)));
        self.bias.iter_mut().for_each(divide);
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

    /// Share of the penalties that is in force in round `t`.
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

    /// Finds the coordinates of the row after the one at hand, and asks for them to be brought near. Those of a row that will be learned
    /// are made.
    #[inline(always)]
    fn find_next(&mut self, chunk: &Chunk, i: usize) {
        let (x, learns) = (chunk.row(i), learns(chunk, i));
        let len = x.indices().len();
        if self.next_places.len() < len {
            self.next_places.resize(len, UNSEEN);
        }
        for (found, &j) in self.next_places.iter_mut().zip(x.indices()) {
            let place = match learns {
                true => self.store.place_or_new(j),
                false => self.store.find(j).unwrap_or(UNSEEN),
            };
            if place != UNSEEN {
                self.store.prefetch(place);
            }
            *found = place;
        }
    }

    /// Predicts and then learns one row, whose coordinates were found.
    #[inline(always)]
    fn learn_row(&mut self, x: Row<'_>, label: Option<f64>, weight: f64, base: f64) -> [f64; K] {
        let p = self.gather(x).map(|p| p + base);
        let Some(y) = label.filter(|_| weight > 0.0) else { return p };
        // The bias is read anew: it is one coordinate.
        let mut bias = self.bias.as_ref().map(|c| self.free.played(c));
        self.t += 1;
        let weight = match self.half_life {
            None => weight,
            Some(half_life) => {
                self.set_growth(half_life.growth(self.t));
                let row = self.places.iter().zip(&mut self.played).take(x.values().len());
                for (&place, played) in row {
                    self.penalized.read_again(self.store.get(place), played);
                }
                if let (Some(c), Some(played)) = (&self.bias, &mut bias) {
                    self.free.read_again(c, played);
                }
                weight * self.growth
            }
        };
        let (slopes, mut d) = (self.loss.slopes(&p, y), [F::ZERO; K]);
        for k in 0..K {
            d[k] = F::from_f64(weight * slopes[k]);
        }
        self.penalized.tick(self.amount());
        let coords = self.store.all_mut();
        for ((&place, &v), played) in self.places.iter().zip(x.values()).zip(&self.played) {
            let c = &mut coords[place as usize];
            self.penalized.absorb(&self.center, c, played, &d, F::from_f64(v));
        }
        if let (Some(c), Some(played)) = (&mut self.bias, bias) {
            self.free.absorb(&self.center, c, &played, &d, F::ONE);
        }
        if self.half_life.is_some_and(|half_life| half_life.divides(self.t)) {
            self.divide();
        }
        p
    }

    /// Keeps what is read of the row and returns the margins, added up in the order of a learner's.
    #[inline(always)]
    fn gather(&mut self, x: Row<'_>) -> [f64; K] {
        let (mut sums, unseen) = ([[F::ZERO; K]; 8], [[F::ZERO; K]; 2]);
        if self.played.len() < x.values().len() {
            self.played.resize(x.values().len(), Played::default());
        }
        let (coords, row) = (self.store.all(), self.places.iter().zip(x.values()));
        for (i, ((&place, &v), played)) in row.zip(&mut self.played).enumerate() {
            let v = F::from_f64(v);
            let c = if place == UNSEEN { &unseen } else { &coords[place as usize] };
            let read = self.penalized.played(c);
            let sum = &mut sums[i % 8];
            for k in 0..K {
                sum[k] += read.w[k] * v;
            }
            *played = read;
        }
        let bias = self.bias.as_ref().map_or([F::ZERO; K], |c| self.free.played(c).w);
        let mut p = [0.0; K];
        for k in 0..K {
            let [a, b, c, d, e, f, g, h] = &sums;
            let sums = [a[k], b[k], c[k], d[k], e[k], f[k], g[k], h[k]];
            p[k] = (fold_lanes(sums) + bias[k]).to_f64();
        }
        p
    }
}

fn learns(chunk: &Chunk, i: usize) -> bool {
    chunk.label(i).is_some() && chunk.weight(i) > 0.0
}

/// Rows to be learned.
struct LearnRows<'a, F: Float, C, const K: usize> {
    lanes: &'a mut Lanes<F, C, K>,
    chunk: &'a Chunk,
    rows: Range<usize>,
    /// One multiple of the penalty per row, or none.
    scales: &'a [f64],
    margins: &'a mut Vec<f64>,
}

impl<F: Float, C: Center<AdaGrad>, const K: usize> Work for LearnRows<'_, F, C, K> {
    type Output = ();

    #[inline(always)]
    fn work(self) {
        let Self { lanes, chunk, rows, scales, margins } = self;
        if !rows.is_empty() {
            lanes.find_next(chunk, rows.start);
        }
        for (n, i) in rows.clone().enumerate() {
            std::mem::swap(&mut lanes.places, &mut lanes.next_places);
            // Do not look beyond these rows: the content of the table must not depend on the chunks.
            if i + 1 < rows.end {
                lanes.find_next(chunk, i + 1);
            }
            if let Some(&scale) = scales.get(n)
                && learns(chunk, i)
            {
                lanes.scale_penalty(scale);
            }
            let (label, weight, base) = (chunk.label(i), chunk.weight(i), chunk.base(i));
            margins.extend(lanes.learn_row(chunk.row(i), label, weight, base));
        }
    }
}

impl<F: Float, C: Center<AdaGrad>, const K: usize> Online for Lanes<F, C, K> {
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
        let bias = self.bias.as_ref().map_or([F::ZERO; K], |c| self.free.played(c).w);
        for i in 0..chunk.len() {
            let mut sums = [[F::ZERO; K]; 8];
            for (n, (j, v)) in chunk.row(i).iter().enumerate() {
                let Some(place) = self.store.find(j) else { continue };
                let w = self.penalized.played(self.store.get(place)).w;
                sums[n % 8].iter_mut().zip(w).for_each(|(sum, w)| *sum += w * F::from_f64(v));
            }
            let margin = |k: usize| (fold_lanes(sums.map(|sum| sum[k])) + bias[k]).to_f64();
            margins.extend((0..K).map(|k| margin(k) + chunk.base(i)));
        }
    }

    fn nonzeros(&self) -> usize {
        self.nonzeros_by_head().iter().sum()
    }

    fn nonzeros_by_head(&self) -> Vec<usize> {
        let mut counts = vec![0; K];
        for (_, c) in self.store.iter() {
            let w = self.penalized.played(c).w;
            counts.iter_mut().zip(w).for_each(|(n, w)| *n += usize::from(w != F::ZERO));
        }
        counts
    }

    fn nonzeros_among(&self, met: &[u32], read: &dyn Fn(u32) -> bool) -> Option<usize> {
        let counts = met.iter().filter(|j| read(**j)).filter_map(|&j| self.store.find(j));
        let nonzeros = |place| {
            let w = self.penalized.played(self.store.get(place)).w;
            w.iter().filter(|w| **w != F::ZERO).count()
        };
        Some(counts.map(nonzeros).sum())
    }

    fn weights_of(&self, indices: &[u32], weights: &mut Vec<f64>) {
        for &j in indices {
            let w = match self.store.find(j) {
                Some(place) => self.penalized.played(self.store.get(place)).w,
                None => [F::ZERO; K],
            };
            weights.extend(w.map(F::to_f64));
        }
    }

    fn freeze(&self) -> Frozen {
        let mut weights = vec![Vec::new(); K];
        for (j, c) in self.store.iter() {
            let w = self.penalized.played(c).w;
            for (weights, w) in weights.iter_mut().zip(w).filter(|(_, w)| *w != F::ZERO) {
                weights.push((j, w.to_f64()));
            }
        }
        let bias = self.bias.as_ref().map_or([F::ZERO; K], |c| self.free.played(c).w);
        let head = |(weights, bias): (Vec<(u32, f64)>, F)| Head::new(bias.to_f64(), weights);
        Frozen::Linear(weights.into_iter().zip(bias).map(head).collect())
    }

    fn heads(&self) -> usize {
        K
    }

    fn room(&self, coming: Coming) -> u64 {
        self.store.room(coming)
    }

    fn save(&self, out: &mut StateWriter) {
        let write = |c: &[[F; K]; 2], out: &mut StateWriter| {
            c.as_flattened().iter().for_each(|x| x.write(out));
        };
        self.t.write(out);
        (self.store.len() as u64).write(out);
        for (j, c) in self.store.iter() {
            j.write(out);
            write(c, out);
        }
        if let Some(c) = &self.bias {
            write(c, out);
        }
    }

    fn restore(&mut self, input: &mut &[u8]) -> Result<(), StateError> {
        let read = |c: &mut [[F; K]; 2], input: &mut &[u8], field: &'static str| {
            c.as_flattened_mut().iter_mut().try_for_each(|x| {
                *x = F::read(input).map_err(|e| e.in_field(field))?;
                Ok(())
            })
        };
        self.set_rounds(u64::read(input).map_err(|e| e.in_field("the number of rows"))?);
        let count = u64::read(input).map_err(|e| e.in_field("the number of features"))?;
        for _ in 0..count {
            let j = u32::read(input).map_err(|e| e.in_field("a feature"))?;
            fits(self.store.find(j).is_none(), "a feature that comes twice")?;
            let place = self.store.place_restored(j)?;
            read(self.store.get_mut(place), input, "a coordinate")?;
        }
        if let Some(c) = &mut self.bias {
            read(c, input, "the bias")?;
        }
        Ok(())
    }
}

//! Constrained SGD: every iterate is put on the plane of the mean row, in `O(nnz)` per row.
//!
//! ```text
//! v = w - eta_t l'(p, y) x,   w = v + xbar (ybar - xbar.v) / xbar.xbar        (Mu et al. 2013, Algorithm 1)
//! ```
//!
//! with `xbar`, `ybar` the running means, the current row's included. As written this touches every weight every
//! round. But the projection only ever adds multiples of `S = sum x`, so
//!
//! ```text
//! w = V + C S
//! ```
//!
//! with one scalar `C` and a vector `V` that changes only on the row's nonzeros: when `S` grows by `x`, `V` decreases by
//! `C x`. The constraint `w.S = Y` (`Y = sum y`) gives `C = (Y - S.V) / S.S`, and both products are kept up to date
//! from the row's own: `S.x`, `V.x`, `x.x`.
//!
//! Several classes share `S`; each has its `V`, `C` and `Y`. This is the shared mean of C-Adaline.

use std::ops::Range;

use crate::loss::own_label;
use crate::online::bare;
use crate::room::{self, Coming};
use crate::state::state;
use crate::state::{StateError, StateWriter, fits};
use crate::sums::sum_lanes;
use crate::{Chunk, Float, Frozen, Head, Loss, Online, Row, Schedule, State, Table};

/// CSGD, NCSGD and C-Adaline. The state is `f64` in either precision: `S` is a sum over the whole stream.
///
/// ```
/// use parsimon_core::{Chunk, Constrained, Loss, Online, Repeats, Schedule, Table};
///
/// let mut learner = Constrained::<f64>::new(Schedule::Sqrt { rate: 0.1 }, Loss::Squared, 1, true, Table::growing());
/// let mut chunk = Chunk::new();
/// chunk.push_feature(1, 2.0);
/// chunk.finish_row(Some(3.0), 1.0, Repeats::Refuse).unwrap();
/// learner.learn(&chunk, &mut Vec::new());
/// let mut margins = Vec::new();
/// learner.predict(&chunk, &mut margins);
/// assert!((margins[0] - 3.0).abs() < 1e-15); // the mean row is the first row, and is fitted exactly
/// ```
pub struct Constrained<F> {
    schedule: Schedule,
    loss: Loss,
    heads: usize,
    has_bias: bool,
    /// A feature's place, from 1; 0 when it was never seen. The bias is at 0.
    places: Table<u32>,
    ids: Vec<u32>,
    /// For every place `S`, then `V` of every head.
    numbers: Vec<f64>,
    now: Now,
    row: Scratch<F>,
}

/// Global state: `S.S`, and for every head `S.V`, `C` and `Y`.
#[derive(Clone, Debug, Default, PartialEq)]
struct Now {
    t: u64,
    ss: f64,
    sv: Vec<f64>,
    c: Vec<f64>,
    y: Vec<f64>,
    /// Nonzeros since the products were last recomputed.
    touched: u64,
}
state!(Now { t, ss, sv, c, y, touched });

/// The current row: the starts of its features' state, its values, and their products.
struct Scratch<F> {
    at: Vec<usize>,
    x: Vec<f64>,
    products: Vec<F>,
}

/// The products are recomputed after this number of nonzeros per place, and at the earliest after the second row.
///
/// NUMERICS: `S.V` and `S.S` are sums over rows, and `V + C S` is a difference of numbers that grow with `t`. Recomputed
/// while they are still accurate, they stay accurate; this adds a fraction to the cost of a nonzero.
const PER_PLACE: u64 = 8;
const AT_LEAST: u64 = 1 << 14;

impl<F: Float> Constrained<F> {
    /// A learner at the origin, with one set of weights or one per class.
    pub fn new(
        schedule: Schedule,
        loss: Loss,
        heads: usize,
        has_bias: bool,
        places: Table<u32>,
    ) -> Self {
        let zeros = vec![0.0; heads];
        Self {
            schedule,
            loss,
            heads,
            has_bias,
            places,
            ids: Vec::new(),
            numbers: vec![0.0; 1 + heads],
            now: Now { sv: zeros.clone(), c: zeros.clone(), y: zeros, ..Now::default() },
            row: Scratch { at: Vec::new(), x: Vec::new(), products: Vec::new() },
        }
    }

    fn stride(&self) -> usize {
        1 + self.heads
    }

    /// `V + C S` at a place.
    #[inline]
    fn weight_at(&self, place: usize, head: usize) -> f64 {
        let numbers = &self.numbers[place * self.stride()..];
        numbers[1 + head] + self.now.c[head] * numbers[0]
    }

    fn margin(&self, x: Row<'_>, head: usize) -> f64 {
        let weight = |j| match self.places.get(j) {
            0 => 0.0,
            place => self.weight_at(place as usize, head),
        };
        let products = x.iter().map(|(j, v)| F::from_f64(weight(j)) * F::from_f64(v));
        (sum_lanes(products) + F::from_f64(self.bias(head))).to_f64()
    }

    fn bias(&self, head: usize) -> f64 {
        if self.has_bias { self.weight_at(0, head) } else { 0.0 }
    }

    /// Finds the row's places, making those of features never seen, and forms the margins.
    fn gather(&mut self, x: Row<'_>, margins: &mut Vec<f64>) {
        let stride = self.stride();
        self.row.at.clear();
        self.row.x.clear();
        for (j, v) in x.iter() {
            let place = self.places.slot(j);
            if *place == 0 {
                self.ids.push(j);
                *place = self.ids.len() as u32;
                self.numbers.resize(self.numbers.len() + stride, 0.0);
            }
            self.row.at.push(*place as usize * stride);
            self.row.x.push(v);
        }
        for head in 0..self.heads {
            self.row.products.clear();
            let c = self.now.c[head];
            let products = self.row.at.iter().zip(&self.row.x).map(|(&at, &v)| {
                let w = self.numbers[at + 1 + head] + c * self.numbers[at];
                F::from_f64(w) * F::from_f64(v)
            });
            self.row.products.extend(products);
            let p = sum_lanes(self.row.products.iter().copied()) + F::from_f64(self.bias(head));
            margins.push(p.to_f64());
        }
        if self.has_bias {
            self.row.at.push(0);
            self.row.x.push(1.0);
        }
    }

    fn learn_row(&mut self, x: Row<'_>, y: f64, weight: f64, margins: &mut Vec<f64>) {
        let first = margins.len();
        self.gather(x, margins);
        self.now.t += 1;
        let eta = self.schedule.at(self.now.t);
        let Self { row, numbers, now, .. } = self;
        let features = || row.at.iter().zip(&row.x);
        let sx: f64 = features().map(|(&at, x)| numbers[at] * x).sum();
        let xx: f64 = row.x.iter().map(|x| x * x).sum();
        now.ss += weight * (2.0 * sx + weight * xx);
        for head in 0..self.heads {
            let y = if self.heads > 1 { own_label(y, head, self.loss.other_label()) } else { y };
            let d = weight * self.loss.slope(margins[first + head], y);
            // The sum of the gradient's step and of the growth of S, which V compensates.
            let step = eta * d + now.c[head] * weight;
            let mut vx = 0.0;
            for (&at, x) in features() {
                vx += numbers[at + 1 + head] * x;
                numbers[at + 1 + head] -= step * x;
            }
            now.sv[head] += weight * vx - step * sx - step * weight * xx;
            now.y[head] += weight * y;
            if now.ss > 0.0 {
                now.c[head] = (now.y[head] - now.sv[head]) / now.ss;
            }
        }
        for (&at, x) in features() {
            numbers[at] += weight * x;
        }
        now.touched += row.x.len() as u64;
        if now.touched >= AT_LEAST && now.touched >= PER_PLACE * (1 + self.ids.len() as u64) {
            self.put_together();
        }
    }

    /// Sets `V` to the weights and recomputes the products.
    fn put_together(&mut self) {
        let stride = self.stride();
        let now = &mut self.now;
        (now.ss, now.touched) = (0.0, 0);
        now.sv.fill(0.0);
        for numbers in self.numbers.chunks_exact_mut(stride) {
            let s = numbers[0];
            now.ss += s * s;
            for head in 0..self.heads {
                numbers[1 + head] += now.c[head] * s;
                now.sv[head] += s * numbers[1 + head];
            }
        }
        now.c.fill(0.0);
    }
}

impl<F: Float> Online for Constrained<F> {
    bare!(all_rows no_scales no_race no_penalty_scale_or_base linear unbounded);
    bare!(weights_of_frozen nonzeros_of_frozen);
    bare!(@unmergeable "the plane of the mean row moves every weight in every round");

    fn learn_rows(&mut self, chunk: &Chunk, rows: Range<usize>, margins: &mut Vec<f64>) {
        for i in rows {
            let (x, weight) = (chunk.row(i), chunk.weight(i));
            match chunk.label(i) {
                Some(y) if weight > 0.0 => self.learn_row(x, y, weight, margins),
                _ => margins.extend((0..self.heads).map(|head| self.margin(x, head))),
            }
        }
    }

    fn predict(&self, chunk: &Chunk, margins: &mut Vec<f64>) {
        for i in 0..chunk.len() {
            margins.extend((0..self.heads).map(|head| self.margin(chunk.row(i), head)));
        }
    }

    fn nonzeros(&self) -> usize {
        let weights = |head| (1..=self.ids.len()).map(move |place| self.weight_at(place, head));
        (0..self.heads).flat_map(weights).filter(|&w| w != 0.0).count()
    }

    fn freeze(&self) -> Frozen {
        let head = |head| {
            let features = (1..).zip(&self.ids);
            let weights = features.map(|(place, &j)| (j, self.weight_at(place, head)));
            Head::new(self.bias(head), weights.collect())
        };
        Frozen::Linear((0..self.heads).map(head).collect())
    }

    fn heads(&self) -> usize {
        self.heads
    }

    fn room(&self, coming: Coming) -> u64 {
        let places = (1 + self.ids.len() + coming.features) as u64;
        let each = size_of::<u32>() + self.stride() * size_of::<f64>();
        let weights = places.saturating_mul(self.heads as u64);
        self.places
            .bare_room(coming)
            .saturating_add(room::vector(places, each))
            .saturating_add(room::saved(weights, size_of::<f64>()))
    }

    fn save(&self, out: &mut StateWriter) {
        self.now.write(out);
        self.ids.write(out);
        self.numbers.iter().for_each(|number| number.write(out));
    }

    fn restore(&mut self, input: &mut &[u8]) -> Result<(), StateError> {
        self.now = Now::read(input)?;
        let lens = [self.now.sv.len(), self.now.c.len(), self.now.y.len()];
        fits(lens == [self.heads; 3], "the number of heads")?;
        self.ids = Vec::<u32>::read(input).map_err(|e| e.in_field("the features"))?;
        for (place, &j) in (1..).zip(&self.ids) {
            self.places.fill(j, place)?;
        }
        self.numbers.clear();
        for _ in 0..(1 + self.ids.len()) * self.stride() {
            self.numbers.push(f64::read(input).map_err(|e| e.in_field("a coordinate"))?);
        }
        Ok(())
    }
}

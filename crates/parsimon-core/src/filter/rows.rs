//! Dense methods as learners of sparse rows.

use std::ops::Range;

use super::{Method, Past, restore_into, save_all};
use crate::loss::own_label;
use crate::online::bare;
use crate::room::{self, Coming};
use crate::state::{StateError, StateWriter, fits};
use crate::sums::sum_lanes;
use crate::vector::dot;
use crate::wide::{Work, wide};
use crate::{Chunk, Float, Frozen, Head, Online, Row, State, Table};

/// A [`Method`] per class over rows of at most `dimension` features; with a bias, one more coordinate that is 1 in
/// every row.
///
/// A feature gets the next place when it is first seen, regardless of its id; places that are still free are weights that are
/// zero, as the formulas require.
pub struct OverRows<F: Float, M> {
    methods: Vec<M>,
    /// The label of "not this class"; unused with one method.
    other: f64,
    dimension: usize,
    bias: bool,
    /// Index from 1; 0 if the feature was never seen.
    places: Table<u32>,
    ids: Vec<u32>,
    overflow: Option<u32>,
    history: History<F>,
}

/// The last rows of positive weight, the newest first, dense.
struct History<F> {
    rows: Vec<Vec<F>>,
    labels: Vec<f64>,
    len: usize,
    round: u64,
}

struct Recent<'a, F> {
    history: &'a History<F>,
    /// The class whose rows have the target 1, and the label of the others; `None` if labels stay unchanged.
    class: Option<(usize, f64)>,
}

struct Adapt<'a, F, M> {
    method: &'a mut M,
    past: Recent<'a, F>,
    p: F,
    weight: F,
}

impl<F: Float, M: Method<F>> Work for Adapt<'_, F, M> {
    type Output = ();
    #[inline(always)]
    fn work(self) {
        self.method.adapt(&self.past, self.p, self.weight);
    }
}

impl<F: Float> Past<F> for Recent<'_, F> {
    #[inline(always)]
    fn len(&self) -> usize {
        self.history.len
    }
    #[inline(always)]
    fn round(&self) -> u64 {
        self.history.round
    }
    #[inline(always)]
    fn regressor(&self, c: usize) -> &[F] {
        &self.history.rows[c]
    }
    #[inline(always)]
    fn target(&self, c: usize) -> F {
        let y = self.history.labels[c];
        F::from_f64(match self.class {
            Some((class, other)) => own_label(y, class, other),
            None => y,
        })
    }
    #[inline(always)]
    fn energy(&self) -> F {
        dot(&self.history.rows[0], &self.history.rows[0])
    }
    fn usual_energy(&self) -> F {
        self.energy()
    }
}

impl<F: Float, M: Method<F>> OverRows<F, M> {
    /// One method, or one per class with `other` the label of "not this class". Each has `dimension` weights, and one
    /// more for the bias, if any.
    ///
    /// # Panics
    /// A method has another number of weights, or there is no method.
    pub fn new(
        methods: Vec<M>,
        other: f64,
        dimension: usize,
        bias: bool,
        places: Table<u32>,
    ) -> Self {
        let len = dimension + usize::from(bias);
        assert!(!methods.is_empty() && methods.iter().all(|m| m.weights().len() == len));
        let order = methods[0].order().max(1);
        let rows = (0..order).map(|_| vec![F::ZERO; len]).collect();
        let history = History { rows, labels: vec![0.0; order], len: 0, round: 0 };
        let (ids, overflow) = (Vec::new(), None);
        Self { methods, other, dimension, bias, places, ids, overflow, history }
    }

    /// Bytes of `methods` methods like this one with `len` weights each, and of the rows that they keep.
    pub fn room_of(method: &M, methods: usize, len: u64) -> u64 {
        let rows = len.saturating_mul((method.order().max(1) * size_of::<F>()) as u64);
        let saved = room::saved(len, 0);
        method
            .room(len)
            .saturating_mul(3)
            .saturating_add(saved)
            .saturating_mul(methods as u64)
            .saturating_add(rows)
    }

    fn margin(&self, method: &M, x: Row<'_>) -> f64 {
        let w = method.weights();
        let weight = |j| match self.places.get(j) {
            0 => F::ZERO,
            place => w[place as usize - 1],
        };
        let bias = if self.bias { w[self.dimension] } else { F::ZERO };
        (sum_lanes(x.iter().map(|(j, v)| weight(j) * F::from_f64(v))) + bias).to_f64()
    }

    /// Writes a row over the oldest and makes it the newest.
    fn remember(&mut self, x: Row<'_>, y: f64) {
        let Self { places, ids, dimension, overflow, .. } = self;
        let History { rows, labels, len, round } = &mut self.history;
        *round += 1;
        rows.rotate_right(1);
        labels.rotate_right(1);
        (labels[0], *len) = (y, (*len + 1).min(rows.len()));
        let row = &mut rows[0];
        row.fill(F::ZERO);
        for (j, v) in x.iter() {
            let mut place = places.get(j) as usize;
            if place == 0 {
                if ids.len() == *dimension {
                    *overflow = overflow.or(Some(j));
                    continue;
                }
                ids.push(j);
                place = ids.len();
                *places.slot(j) = place as u32;
            }
            row[place - 1] = F::from_f64(v);
        }
        row[*dimension..].fill(F::ONE);
    }

    fn learn_row(&mut self, x: Row<'_>, label: Option<f64>, weight: f64, margins: &mut Vec<f64>) {
        let first = margins.len();
        margins.extend(self.methods.iter().map(|method| self.margin(method, x)));
        let Some(y) = label.filter(|_| weight > 0.0) else { return };
        self.remember(x, y);
        let several = self.methods.len() > 1;
        for (k, method) in self.methods.iter_mut().enumerate() {
            let class = several.then_some((k, self.other));
            let past = Recent { history: &self.history, class };
            let (p, weight) = (F::from_f64(margins[first + k]), F::from_f64(weight));
            wide(Adapt { method, past, p, weight });
        }
    }
}

impl<F: Float, M: Method<F>> Online for OverRows<F, M> {
    bare!(all_rows no_scales no_race no_penalty_scale_or_base linear);
    bare!(weights_of_frozen nonzeros_of_frozen);
    bare!(@unmergeable
        "it keeps rows or a matrix; with order 1 and without alpha, apa, pda and apfbs can be merged");

    fn learn_rows(&mut self, chunk: &Chunk, rows: Range<usize>, margins: &mut Vec<f64>) {
        for i in rows {
            self.learn_row(chunk.row(i), chunk.label(i), chunk.weight(i), margins);
        }
    }

    fn predict(&self, chunk: &Chunk, margins: &mut Vec<f64>) {
        for i in 0..chunk.len() {
            margins.extend(self.methods.iter().map(|method| self.margin(method, chunk.row(i))));
        }
    }

    fn nonzeros(&self) -> usize {
        let features =
            |m: &M| m.weights()[..self.ids.len()].iter().filter(|w| **w != F::ZERO).count();
        self.methods.iter().map(features).sum()
    }

    fn freeze(&self) -> Frozen {
        let head = |method: &M| {
            let (features, bias) = method.weights().split_at(self.dimension);
            let weights = self.ids.iter().zip(features).map(|(&j, w)| (j, w.to_f64()));
            Head::new(bias.first().map_or(0.0, |b| b.to_f64()), weights.collect())
        };
        Frozen::Linear(self.methods.iter().map(head).collect())
    }

    fn heads(&self) -> usize {
        self.methods.len()
    }

    fn room(&self, coming: Coming) -> u64 {
        let len = self.history.rows[0].len() as u64;
        let methods = Self::room_of(&self.methods[0], self.methods.len(), len);
        let seen = (self.ids.len() + coming.features).min(self.dimension) as u64;
        methods
            .saturating_add(room::vector(seen, size_of::<u32>()))
            .saturating_add(self.places.bare_room(coming))
    }

    fn save(&self, out: &mut StateWriter) {
        self.ids.write(out);
        self.history.round.write(out);
        (self.history.len as u64).write(out);
        for (row, y) in self.history.rows.iter().zip(&self.history.labels).take(self.history.len) {
            save_all(row, out);
            y.write(out);
        }
        self.methods.iter().for_each(|method| method.save(out));
    }

    fn restore(&mut self, input: &mut &[u8]) -> Result<(), StateError> {
        let named = |field| move |e: StateError| e.in_field(field);
        self.ids = Vec::<u32>::read(input).map_err(named("the features"))?;
        fits(self.ids.len() <= self.dimension, "the number of features")?;
        for (place, &j) in (1..).zip(&self.ids) {
            self.places.fill(j, place)?;
        }
        self.history.round = u64::read(input).map_err(named("the number of rows"))?;
        let len = u64::read(input).map_err(named("the number of rows kept"))?;
        fits(len <= self.history.rows.len() as u64, "the number of rows kept")?;
        let len = len as usize;
        self.history.len = len;
        for c in 0..len {
            restore_into(&mut self.history.rows[c], input, "a row")?;
            self.history.labels[c] = f64::read(input).map_err(named("a label"))?;
        }
        self.methods.iter_mut().try_for_each(|method| method.restore(input))
    }

    fn overflow(&self) -> Option<u32> {
        self.overflow
    }
}

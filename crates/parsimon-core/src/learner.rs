//! The one loop: gather, predict, tick, absorb, scatter.

use std::ops::Range;

use crate::implicit::{self, Shares};
use crate::margin::MarginMethod;
use crate::online::bare;
use crate::room::{self, Coming};
use crate::rule::nag::{Nag, Scaled};
use crate::rule::{Implicit, Rule};
use crate::share::Tally;
use crate::share::{MergeRead, MergeWrite};
use crate::state::{StateError, StateWriter, fits, read_places};
use crate::sums::{dot, sum_lanes};
use crate::wide::{Work, wide};
use crate::{Chunk, Float, Frozen, Head, Loss, Online, Row, State, Table};

/// One linear model under one rule.
///
/// ```
/// use parsimon_core::metric::AdaGrad;
/// use parsimon_core::penalty::ElasticNet;
/// use parsimon_core::rule::leader::{Accrual, Iterate, Leader};
/// use parsimon_core::{Chunk, Learner, Loss, Online, Repeats, Table};
///
/// let ftrl = Leader {
///     penalty: ElasticNet { l1: 0.1, l2: 0.0 },
///     accrual: Accrual::Once,
///     center: Iterate,
///     metric: AdaGrad { rate: 0.5, delta: 1.0 },
/// };
/// let mut learner = Learner::<f64, _>::new(ftrl, None, Loss::Logistic, Table::growing());
/// let mut chunk = Chunk::new();
/// for _ in 0..20 {
///     chunk.push_feature(1, 1.0);
///     chunk.finish_row(Some(1.0), 1.0, Repeats::Refuse).unwrap();
/// }
/// let mut margins = Vec::new();
/// learner.learn(&chunk, &mut margins);
/// assert_eq!(margins[0], 0.0); // predicted before learning
/// assert!(margins[19] > 1.0);
/// assert_eq!(learner.nonzeros(), 1);
/// ```
pub struct Learner<F: Float, R: Rule<F>> {
    pub(crate) rule: R,
    loss: Loss,
    pub(crate) now: R::Clock,
    pub(crate) table: Table<R::Coord>,
    pub(crate) bias: Option<Bias<F, R>>,
    row: Scratch<F, R::Coord>,
    delta: f64,
    margin: MarginMethod,
    pub(crate) copies: Copies,
    step: fn(&mut Self, Row<'_>, f64, f64) -> f64,
    /// The step at a slope that other margins decide.
    slope_step: fn(&mut Self, Row<'_>, f64, f64),
}

/// Number of equal rows that a row counts as: one of several learners counts each of its rows as one row of every learner.
#[derive(Clone, Copy)]
pub(crate) struct Copies {
    count: u32,
    /// Factor of the gradient.
    times: f64,
    /// Factor of the gradient that the metric receives: its square is `times`, because `times` squares are summed.
    root: f64,
}

impl Copies {
    pub(crate) fn of(count: u32) -> Self {
        let times = f64::from(count);
        Self { count, times, root: times.sqrt() }
    }
}

/// A coordinate of its own, with a rule that does not penalize it, present in every row with value 1.
pub(crate) struct Bias<F: Float, R: Rule<F>> {
    pub(crate) rule: R,
    pub(crate) now: R::Clock,
    pub(crate) table: Table<R::Coord>,
}

impl<F: Float, R: Rule<F>> Bias<F, R> {
    /// PERF: a table with one coordinate has it at the first place.
    #[inline(always)]
    fn played(&self) -> (F, F) {
        self.rule.played_kept(&self.now, BIAS, &self.table.get_at(BIAS, &mut 0))
    }

    #[inline(always)]
    fn absorb(&mut self, played: (F, F), d: F, at: F) {
        let mut c = self.table.get_at(BIAS, &mut 0);
        self.rule.absorb_kept(&mut self.now, BIAS, &mut c, played, (d, at));
        self.table.put_at(BIAS, 0, c);
    }
}

/// The current row: its coordinates, weights and values in the learner's precision, and the bias played.
struct Scratch<F, C> {
    coords: Vec<C>,
    /// Their places in the index, if the table is an index.
    ///
    /// PERF: rows of a table have the same features in the same order, and rows of a stream often do. The places of the last row are
    /// tried first, and coordinates are changed in place.
    places: Vec<u32>,
    /// Whether the coordinates lie one after the other in the table, and were not copied.
    is_run: bool,
    w: Vec<F>,
    /// See [`Rule::played_kept`].
    kept: Vec<F>,
    x: Vec<F>,
    bias: (F, F),
    /// The row's base value.
    base: f64,
    /// Of implicit updates.
    shares: Shares,
}

impl<F: Float, C: State> Scratch<F, C> {
    #[inline(always)]
    fn resize(&mut self, len: usize) {
        if self.coords.len() != len {
            self.coords.resize(len, C::default());
            self.places.resize(len, u32::MAX);
            self.w.resize(len, F::ZERO);
            self.kept.resize(len, F::ZERO);
            self.x.resize(len, F::ZERO);
        }
    }

    /// Where the first coordinate may be in the index.
    #[inline(always)]
    fn first_place(&self) -> u32 {
        self.places.first().map_or(u32::MAX, |&place| place)
    }
}

/// Index of the bias; rules that depend on indices assign nothing to it.
const BIAS: u32 = Tally::BIAS;

impl<F: Float, R: Rule<F>> Learner<F, R> {
    /// A learner at the origin. `bias` is the rule for the bias, unpenalized; `None` for no bias.
    pub fn new(rule: R, bias: Option<R>, loss: Loss, table: Table<R::Coord>) -> Self {
        Self {
            rule,
            loss,
            now: R::Clock::default(),
            table,
            bias: bias.map(|rule| Bias { rule, now: R::Clock::default(), table: Table::index() }),
            row: Scratch {
                coords: Vec::new(),
                places: Vec::new(),
                is_run: false,
                w: Vec::new(),
                kept: Vec::new(),
                x: Vec::new(),
                bias: (F::ZERO, F::ZERO),
                base: 0.0,
                shares: Shares::default(),
            },
            delta: 0.0,
            margin: MarginMethod::default(),
            copies: Copies::of(1),
            step: Self::learn_tangent,
            slope_step: Self::learn_slope_tangent,
        }
    }

    /// Like [`new`](Learner::new), with steps towards the set where the row's loss is zero: the tangent over
    /// `x.x + delta`. For the squared loss the set is a hyperplane (NLMS), for the squared hinge a half-space.
    pub fn projecting(
        rule: R,
        bias: Option<R>,
        loss: Loss,
        table: Table<R::Coord>,
        delta: f64,
    ) -> Self {
        Self { delta, step: Self::learn_projection, ..Self::new(rule, bias, loss, table) }
    }

    /// As [`new`](Learner::new), with the step that follows from the margin of a row and its variance.
    pub fn by_margin(
        rule: R,
        bias: Option<R>,
        loss: Loss,
        table: Table<R::Coord>,
        method: MarginMethod,
    ) -> Self {
        let step = Self::learn_margin;
        Self { margin: method, step, ..Self::new(rule, bias, loss, table) }
    }

    /// The weight of feature `j`, caught up. Reading never writes.
    pub fn weight(&self, j: u32) -> F {
        self.rule.weight(&self.now, j, &self.table.get(j))
    }

    /// The bias as a user reads it.
    pub fn bias(&self) -> F {
        let read = |b: &Bias<F, R>| b.rule.weight(&b.now, BIAS, &b.table.get(BIAS));
        self.bias.as_ref().map_or(F::ZERO, read)
    }

    /// Predicts and then learns row `i` under the label and the base value given; the margin made before learning.
    #[inline(never)]
    pub(crate) fn learn_row(
        &mut self,
        chunk: &Chunk,
        i: usize,
        label: Option<f64>,
        base: f64,
    ) -> f64 {
        let (x, weight) = (chunk.row(i), chunk.weight(i));
        self.row.base = base;
        match label {
            // A row of weight 0 changes nothing.
            Some(y) if weight > 0.0 => (self.step)(self, x, y, weight),
            _ => self.gather(x),
        }
    }

    /// As [`learn_row`](Learner::learn_row), under `scale` times the penalty.
    pub(crate) fn learn_row_scaled(
        &mut self,
        chunk: &Chunk,
        i: usize,
        label: Option<f64>,
        base: f64,
        scale: f64,
    ) -> f64 {
        if label.is_some() && chunk.weight(i) > 0.0 {
            self.rule.scale_penalty(&mut self.now, scale);
        }
        self.learn_row(chunk, i, label, base)
    }

    /// Returns the margin of row `i` with a base value. The row can be learned afterwards, by [`learn_slope`](Learner::learn_slope).
    #[inline(never)]
    pub(crate) fn margin(&mut self, chunk: &Chunk, i: usize, base: f64) -> f64 {
        self.row.base = base;
        self.gather(chunk.row(i))
    }

    /// Learns the row whose margin was just returned, at a given slope of its loss.
    #[inline(never)]
    pub(crate) fn learn_slope(&mut self, x: Row<'_>, slope: f64, weight: f64) {
        (self.slope_step)(self, x, slope, weight);
    }

    fn learn_slope_tangent(&mut self, x: Row<'_>, slope: f64, weight: f64) {
        let d = self.tick(weight) * slope;
        if d != 0.0 {
            self.absorb(x, d * self.copies.times, d * self.copies.root);
        }
        self.close();
    }

    #[inline(always)]
    fn prefetch(&self, chunk: &Chunk, i: usize) {
        // PERF: see `prefetch.rs`.
        if i + AHEAD < chunk.len() {
            self.table.prefetch(chunk.row(i + AHEAD).indices());
        }
    }

    /// Predicts one row with the weights a user would read.
    pub fn predict_row(&self, x: Row<'_>) -> f64 {
        let weight = |j, c: &R::Coord| self.rule.weight(&self.now, j, c);
        // PERF: a row of a stream often has the features of the row before, which were found one after the other.
        let sum = match self.table.run(x.indices(), self.row.first_place()) {
            Some(run) => {
                sum_lanes(x.iter().zip(run).map(|((j, v), c)| weight(j, c) * F::from_f64(v)))
            }
            None => {
                sum_lanes(x.iter().map(|(j, v)| weight(j, &self.table.get(j)) * F::from_f64(v)))
            }
        };
        (sum + self.bias()).to_f64()
    }

    /// Fills the scratch and returns the margin at the point played.
    fn gather(&mut self, x: Row<'_>) -> f64 {
        wide(Gather { learner: self, x })
    }

    /// Begins the round of a row, and gives its importance in it.
    fn tick(&mut self, weight: f64) -> f64 {
        // PERF: all learners but those of a cluster count a row once.
        let tick = |rule: &R, now: &mut R::Clock| match self.copies.count {
            1 => rule.tick(now),
            copies => rule.tick_by(now, copies),
        };
        tick(&self.rule, &mut self.now);
        if let Some(b) = &mut self.bias {
            tick(&b.rule, &mut b.now);
        }
        weight * self.rule.importance(&self.now)
    }

    /// Absorbs `d x` everywhere; `at` is the explicit slope.
    fn absorb(&mut self, x: Row<'_>, d: f64, at: f64) {
        let (d, at) = (F::from_f64(d), F::from_f64(at));
        wide(Absorb { learner: self, x, d, at });
        if let Some(b) = &mut self.bias {
            b.absorb(self.row.bias, d, at);
        }
    }

    fn close(&mut self) {
        self.rule.close(&mut self.now, &mut self.table);
        if let Some(b) = &mut self.bias {
            b.rule.close(&mut b.now, &mut b.table);
        }
    }

    fn learn_projection(&mut self, x: Row<'_>, y: f64, weight: f64) -> f64 {
        let p = self.gather(x);
        let energy =
            dot(&self.row.x, &self.row.x).to_f64() + f64::from(u8::from(self.bias.is_some()));
        let normalizer = energy + self.delta;
        let slope = self.tick(weight) * self.loss.slope(p, y);
        if slope != 0.0 && normalizer > 0.0 {
            let d = slope / normalizer;
            self.absorb(x, d, d);
        }
        self.close();
        p
    }

    fn learn_margin(&mut self, x: Row<'_>, y: f64, weight: f64) -> f64 {
        let p = self.gather(x);
        let weight = self.tick(weight) * self.copies.times;
        let Self { rule, row, table, bias, .. } = self;
        let place = row.first_place();
        let coords = table.run(x.indices(), place).unwrap_or(&row.coords);
        // NUMERICS: in `f64`, where the square of no value of a row in single precision overflows.
        let of = |(c, v): (&R::Coord, &F)| rule.variance(c).to_f64() * v.to_f64() * v.to_f64();
        let of_bias = |b: &Bias<F, R>| b.rule.variance(&b.table.get(BIAS)).to_f64();
        let variance =
            sum_lanes(coords.iter().zip(&row.x).map(of)) + bias.as_ref().map_or(0.0, of_bias);
        if let Some(step) = self.margin.step(y * p, variance, weight) {
            self.absorb(x, -y * step.length, step.information.sqrt());
        }
        self.close();
        p
    }

    fn learn_tangent(&mut self, x: Row<'_>, y: f64, weight: f64) -> f64 {
        let p = self.gather(x);
        let d = self.tick(weight) * self.loss.slope(p, y);
        if d != 0.0 {
            self.absorb(x, d * self.copies.times, d * self.copies.root);
        }
        self.close();
        p
    }
}

/// A row's coordinates, weights and values brought together.
struct Gather<'a, F: Float, R: Rule<F>> {
    learner: &'a mut Learner<F, R>,
    x: Row<'a>,
}

impl<F: Float, R: Rule<F>> Work for Gather<'_, F, R> {
    type Output = f64;

    #[inline(always)]
    fn work(self) -> f64 {
        let Learner { rule, now, table, row, bias, .. } = self.learner;
        // PERF: the compiler knows that the loop does not change a value that is not behind a reference, and computes its consequences
        // once. So the clock is moved out of the learner and back.
        let (rule, clock) = (rule.clone(), std::mem::take(now));
        let indices = self.x.indices();
        row.resize(indices.len());
        // PERF: coordinates that lie one after the other are read, and changed, where they are.
        let run = table.run(indices, row.first_place());
        row.is_run = run.is_some();
        if run.is_none() {
            if table.is_index() {
                for ((c, place), &j) in row.coords.iter_mut().zip(&mut row.places).zip(indices) {
                    *c = table.get_at(j, place);
                }
            } else {
                table.gather(indices, &mut row.coords);
            }
        }
        for (x, &v) in row.x.iter_mut().zip(self.x.values()) {
            *x = F::from_f64(v);
        }
        // PERF: slices of equal length need no length check in the loop.
        let len = indices.len();
        let coords = &run.unwrap_or(&row.coords)[..len];
        let (w, kept) = (&mut row.w[..len], &mut row.kept[..len]);
        for k in 0..len {
            (w[k], kept[k]) = rule.played_kept(&clock, indices[k], &coords[k]);
        }
        *now = clock;
        row.bias = bias.as_ref().map_or((F::ZERO, F::ZERO), Bias::played);
        (dot(&row.w, &row.x) + row.bias.0).to_f64() + row.base
    }
}

/// The nonzero weights counted.
struct Count<'a, F: Float, R: Rule<F>> {
    learner: &'a Learner<F, R>,
}

impl<F: Float, R: Rule<F>> Work for Count<'_, F, R> {
    type Output = usize;

    #[inline(always)]
    fn work(self) -> usize {
        let Learner { rule, now, table, .. } = self.learner;
        table.count(|j, c| rule.weight(now, j, c) != F::ZERO)
    }
}

/// A gradient absorbed by every coordinate of a row.
struct Absorb<'a, F: Float, R: Rule<F>> {
    learner: &'a mut Learner<F, R>,
    x: Row<'a>,
    d: F,
    at: F,
}

impl<F: Float, R: Rule<F>> Work for Absorb<'_, F, R> {
    type Output = ();

    #[inline(always)]
    fn work(self) {
        let Learner { rule, now, table, row, .. } = self.learner;
        // PERF: see `Gather`.
        let (rule, mut clock) = (rule.clone(), std::mem::take(now));
        let indices = self.x.indices();
        let run = if row.is_run { table.run_mut(indices, row.first_place()) } else { None };
        let played = row.w.iter().zip(&row.kept);
        let features = indices.iter().zip(run.unwrap_or(&mut row.coords)).zip(played).zip(&row.x);
        for (((&j, c), (&w, &kept)), &v) in features {
            rule.absorb_kept(&mut clock, j, c, (w, kept), (self.d * v, self.at * v));
        }
        if !row.is_run {
            if table.is_index() {
                for ((&j, c), place) in indices.iter().zip(&row.coords).zip(&row.places) {
                    table.put_at(j, *place, *c);
                }
            } else {
                table.scatter(indices, &row.coords);
            }
        }
        *now = clock;
    }
}

impl<F: Float, R: Implicit<F>> Learner<F, R> {
    /// As [`new`](Learner::new), taking each loss itself instead of its tangent.
    pub fn implicit(rule: R, bias: Option<R>, loss: Loss, table: Table<R::Coord>) -> Self {
        Self { step: Self::learn_exact, ..Self::new(rule, bias, loss, table) }
    }

    fn learn_exact(&mut self, x: Row<'_>, y: f64, weight: f64) -> f64 {
        let p = self.gather(x);
        let weight = self.tick(weight);
        let at = weight * self.loss.slope(p, y) * self.copies.root;
        let weight = weight * self.copies.times;
        let Self { rule, now, row, loss, table, .. } = self;
        let place = row.first_place();
        let Scratch { coords, w, x: values, bias, base, shares, .. } = row;
        let coords = table.run(x.indices(), place).unwrap_or(coords);
        shares.clear();
        for (((&j, c), &w), &v) in x.indices().iter().zip(coords.iter()).zip(&*w).zip(&*values) {
            shares.push(rule.candidate(now, j, c, w, F::from_f64(at) * v), v.to_f64());
        }
        if let Some(b) = &self.bias {
            let c = b.table.get(BIAS);
            shares.push(b.rule.candidate(&b.now, BIAS, &c, bias.0, F::from_f64(at)), 1.0);
        }
        let d = implicit::solve(|m| weight * loss.slope(m, y), |u| shares.margin(u) + *base);
        if d != 0.0 || at != 0.0 {
            self.absorb(x, d, at);
        }
        self.close();
        p
    }
}

impl<F: Float> Learner<F, Nag> {
    /// As [`new`](Learner::new), with steps that depend on the norm of the whole row (see [`Nag`]).
    pub fn normalizing(rule: Nag, bias: Option<Nag>, loss: Loss, table: Table<Scaled<F>>) -> Self {
        Self {
            step: Self::learn_normalizing,
            slope_step: Self::learn_slope_normalizing,
            ..Self::new(rule, bias, loss, table)
        }
    }

    fn learn_normalizing(&mut self, x: Row<'_>, y: f64, weight: f64) -> f64 {
        let p = self.gather(x);
        let (loss, weight) = (self.loss, self.tick(weight) * self.copies.times);
        let slope = loss.slope(p, y);
        let is_invariant = self.rule.invariant;
        self.step_normalizing(x, slope, weight, |step, s| match is_invariant {
            true => loss.flow(p, y, step, s),
            false => -step * slope,
        });
        p
    }

    /// A slope that other margins decide has no curve along the row: the step is that of the gradient.
    fn learn_slope_normalizing(&mut self, x: Row<'_>, slope: f64, weight: f64) {
        let weight = self.tick(weight) * self.copies.times;
        self.step_normalizing(x, slope, weight, |step, _| -step * slope);
    }

    /// Shows all coordinates the row, and moves them by what `length` returns for the step and the sensitivity of the margin.
    fn step_normalizing(
        &mut self,
        x: Row<'_>,
        slope: f64,
        weight: f64,
        length: impl Fn(f64, f64) -> f64,
    ) {
        if slope != 0.0 {
            let Self { rule, now, table, row, bias, .. } = self;
            let energy = weight * slope * slope;
            let (mut sensitivity, mut norm) = (0.0, 0.0);
            let indices = x.indices();
            let run = if row.is_run { table.run_mut(indices, row.first_place()) } else { None };
            for (c, v) in run.unwrap_or(&mut row.coords).iter_mut().zip(&row.x) {
                let met = rule.meet(c, v.to_f64(), energy);
                sensitivity += met.sensitivity;
                norm += met.norm;
            }
            if let Some(b) = bias {
                let mut c = b.table.get_at(BIAS, &mut 0);
                let met = b.rule.meet(&mut c, 1.0, energy);
                b.table.put_at(BIAS, 0, c);
                sensitivity += met.sensitivity;
                norm += met.norm;
            }
            let step = rule.step(now, weight);
            let factor = rule.factor(now, weight, norm);
            let d = -factor * length(step, factor * sensitivity);
            self.absorb(x, d, d);
        }
        self.now.importance += weight;
        self.close();
    }
}

impl<F: Float, R: Rule<F>> Online for Learner<F, R> {
    bare!(all_rows no_scales no_race linear one_head nonzeros_of_frozen unbounded);

    fn learn_rows(&mut self, chunk: &Chunk, rows: Range<usize>, margins: &mut Vec<f64>) {
        margins.reserve(rows.len());
        for i in rows {
            self.prefetch(chunk, i);
            margins.push(self.learn_row(chunk, i, chunk.label(i), chunk.base(i)));
        }
    }

    fn learn_rows_scaled(
        &mut self,
        chunk: &Chunk,
        rows: Range<usize>,
        scales: &[f64],
        margins: &mut Vec<f64>,
    ) {
        margins.reserve(rows.len());
        for (i, &scale) in rows.zip(scales) {
            self.prefetch(chunk, i);
            let (label, base) = (chunk.label(i), chunk.base(i));
            margins.push(self.learn_row_scaled(chunk, i, label, base, scale));
        }
    }

    fn scale_penalty(&mut self, scale: f64) {
        self.rule.scale_penalty(&mut self.now, scale);
    }

    fn takes_bases(&self) -> bool {
        true
    }

    fn predict(&self, chunk: &Chunk, margins: &mut Vec<f64>) {
        let margin = |i| self.predict_row(chunk.row(i)) + chunk.base(i);
        margins.extend((0..chunk.len()).map(margin));
    }

    fn weights_of(&self, indices: &[u32], weights: &mut Vec<f64>) {
        weights.extend(indices.iter().map(|&j| self.weight(j).to_f64()));
    }

    fn nonzeros(&self) -> usize {
        let zero = |j, c: &R::Coord| self.rule.weight(&self.now, j, c) == F::ZERO;
        match self.rule.dimension() {
            Some(n) => (1..=n).filter(|&j| !zero(j, &self.table.get(j))).count(),
            None => wide(Count { learner: self }),
        }
    }

    fn nonzeros_among(&self, met: &[u32], read: &dyn Fn(u32) -> bool) -> Option<usize> {
        let counts = |j: &&u32| self.weight(**j) != F::ZERO && read(**j);
        self.rule.dimension().is_none().then(|| met.iter().filter(counts).count())
    }

    fn freeze(&self) -> Frozen {
        let weights: Vec<(u32, f64)> = match self.rule.dimension() {
            Some(n) => (1..=n).map(|j| (j, self.weight(j).to_f64())).collect(),
            None => {
                let mut weights = Vec::new();
                // PERF: most coordinates of a large table have no weight; no list of them is made.
                self.table.visit_seen(|j, c| {
                    let w = self.rule.weight(&self.now, j, c).to_f64();
                    if w != 0.0 {
                        weights.push((j, w));
                    }
                });
                weights
            }
        };
        Frozen::Linear(vec![Head::new(self.bias().to_f64(), weights)])
    }

    fn room(&self, coming: Coming) -> u64 {
        // Weights of features never seen are written into the model.
        let unseen = self.rule.dimension().map_or(0, u64::from);
        self.table.room(coming).saturating_add(room::saved(unseen, 0))
    }

    fn save(&self, out: &mut StateWriter) {
        self.now.write(out);
        out.places(self.table.places());
        u32::from(self.bias.is_some()).write(out);
        if let Some(b) = &self.bias {
            b.now.write(out);
            out.places(b.table.places());
        }
    }

    fn restore(&mut self, input: &mut &[u8]) -> Result<(), StateError> {
        self.now = R::Clock::read(input).map_err(|e| e.in_field("the clock"))?;
        let Self { rule, now, table, .. } = self;
        read_places(input, |j, c| {
            fits(rule.belongs(now, &c), "the last round of a coordinate")?;
            table.fill(j, c)
        })?;
        let has_bias = u32::read(input).map_err(|e| e.in_field("the bias"))?;
        fits(has_bias == u32::from(self.bias.is_some()), "the bias")?;
        if let Some(b) = &mut self.bias {
            b.now = R::Clock::read(input).map_err(|e| e.in_field("the clock of the bias"))?;
            read_places(input, |j, c| {
                fits(b.rule.belongs(&b.now, &c), "the last round of the bias")?;
                b.table.fill(j, c)
            })?;
        }
        Ok(())
    }

    fn mergeable(&self) -> Result<Box<dyn MergeRead + '_>, &'static str> {
        self.merge_read()
    }

    fn mergeable_mut(&mut self) -> Result<Box<dyn MergeWrite + '_>, &'static str> {
        self.merge_write()
    }
}

/// Number of rows ahead for which coordinates are prefetched.
const AHEAD: usize = 1;

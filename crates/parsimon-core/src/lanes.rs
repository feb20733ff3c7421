//! Several settings of one method, side by side: one pass over the rows teaches them all.
//!
//! What a coordinate keeps for each setting lies next to the others', so that one look at memory serves all and the
//! arithmetic goes over them several at a time. Each lane does what a [`Learner`](crate::Learner) under a
//! [`Leader`](crate::rule::leader::Leader) would do, operation by operation, and ends with the same bits.
//!
//! The penalty is not a type parameter here but the elastic net: the loop over lanes is written out for it, and is already compiled
//! for every number of lanes, center and precision. Settings with another penalty are learned by one learner each.

#![allow(
    clippy::needless_range_loop,
    reason = "a loop over lanes looks at several arrays, and is to be vectorized"
)]

use std::ops::Range;

use crate::fade::HalfLife;
use crate::metric::AdaGrad;
use crate::prefetch::prefetch;
use crate::rule::fading::divided;
use crate::rule::leader::{Accrual, Center};
use crate::sums::fold_lanes;
use crate::wide::{Work, wide};
use crate::{Chunk, Float, Frozen, Head, Loss, Online, Row, State, Table};

/// One setting of follow the regularized leader with AdaGrad's metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lane {
    /// The strength of `|w|`.
    pub l1: f64,
    /// The strength of `w^2/2`.
    pub l2: f64,
    /// The step size, `eta` or `alpha`.
    pub rate: f64,
    /// What is added to the root of the squared gradients, FTRL's `beta`.
    pub delta: f64,
}

impl Lane {
    /// The same steps without a penalty, as the bias takes them.
    #[must_use]
    pub fn free(self) -> Self {
        Self { l1: 0.0, l2: 0.0, ..self }
    }
}

/// `K` settings learned together; each is a head of the model.
///
/// ```
/// use parsimon_core::rule::leader::{Accrual, Iterate};
/// use parsimon_core::{Chunk, Lane, Lanes, Loss, Online, Repeats, Table};
///
/// let lane = |l1| Lane { l1, l2: 0.0, rate: 0.5, delta: 1.0 };
/// let lanes = [0.1, 100.0].map(lane);
/// let mut both = Lanes::<f64, Iterate, 2>::new(lanes, Accrual::Once, Iterate, true, Loss::Logistic, Table::growing());
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
    /// How fast the past fades, if it does, and what penalties and new rows are multiplied by for it.
    half_life: Option<HalfLife>,
    growth: f64,
    penalized: Weigh<F, K>,
    free: Weigh<F, K>,
    table: Table<LaneCoord<F, K>>,
    bias: Option<LaneCoord<F, K>>,
    /// The weights of the row at hand, and of the bias.
    w: Vec<[F; K]>,
    w_bias: [F; K],
}

/// What a coordinate keeps: the linear part and the sum of squared gradients, for every lane.
///
/// PERF: eight lanes of `f32` fill a cache line, and begin where one does.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(align(64))]
pub struct LaneCoord<F, const K: usize> {
    z: [F; K],
    n: [F; K],
}

impl<F: Float, const K: usize> Default for LaneCoord<F, K> {
    fn default() -> Self {
        Self { z: [F::ZERO; K], n: [F::ZERO; K] }
    }
}

impl<F: Float, const K: usize> State for LaneCoord<F, K> {
    fn write(&self, out: &mut Vec<u8>) {
        self.z.iter().chain(&self.n).for_each(|x| x.write(out));
    }
    fn read(input: &mut &[u8]) -> Option<Self> {
        let mut coord = Self::default();
        for x in coord.z.iter_mut().chain(&mut coord.n) {
            *x = F::read(input)?;
        }
        Some(coord)
    }
}

/// How every lane reads a weight off a coordinate, with what depends on the round alone.
#[derive(Clone, Copy)]
struct Weigh<F, const K: usize> {
    l1: [F; K],
    l2: [F; K],
    /// `1/rate`
    pace: [F; K],
    delta: [F; K],
    /// What is in force now of `l1` and of `l2`.
    threshold: [F; K],
    ridge: [F; K],
}

impl<F: Float, const K: usize> Weigh<F, K> {
    fn new(lanes: &[Lane; K]) -> Self {
        Self {
            l1: lanes.map(|lane| F::from_f64(lane.l1)),
            l2: lanes.map(|lane| F::from_f64(lane.l2)),
            pace: lanes.map(|lane| F::from_f64(1.0 / lane.rate)),
            delta: lanes.map(|lane| F::from_f64(lane.delta)),
            threshold: [F::ZERO; K],
            ridge: [F::ZERO; K],
        }
    }

    /// After the growth has changed; see [`Fading`](crate::rule::fading::Fading).
    #[inline(always)]
    fn grow(&mut self, lanes: &[Lane; K], growth: f64) {
        self.delta = std::array::from_fn(|k| F::from_f64(growth * lanes[k].delta));
    }

    fn tick(&mut self, amount: F) {
        self.threshold = self.l1.map(|l1| amount * l1);
        self.ridge = self.l2.map(|l2| amount * l2);
    }

    /// `q`: see [`AdaGrad`].
    #[inline(always)]
    fn q(&self, k: usize, n: F) -> F {
        (self.delta[k] + n.sqrt()) * self.pace[k]
    }

    /// See [`ElasticNet`](crate::penalty::ElasticNet)'s `argmin`.
    #[inline(always)]
    fn played(&self, c: &LaneCoord<F, K>) -> [F; K] {
        let mut w = [F::ZERO; K];
        for k in 0..K {
            let over = c.z[k].abs() - self.threshold[k];
            let den = self.q(k, c.n[k]) + self.ridge[k];
            let ratio = over / den;
            let magnitude = if (over > F::ZERO) & (den > F::ZERO) { ratio } else { F::ZERO };
            w[k] = if c.z[k] > F::ZERO { -magnitude } else { magnitude };
        }
        w
    }

    /// See [`Leader`](crate::rule::leader::Leader).
    #[inline(always)]
    fn absorb<C: Center<AdaGrad>>(
        &self,
        center: &C,
        c: &mut LaneCoord<F, K>,
        w: &[F; K],
        d: &[F; K],
        x: F,
    ) {
        for k in 0..K {
            let (g, before) = (d[k] * x, self.q(k, c.n[k]));
            let n = c.n[k] + g * g;
            c.n[k] = n;
            c.z[k] += g - center.pull(self.q(k, n) - before, w[k]);
        }
    }
}

impl<F: Float, C: Center<AdaGrad>, const K: usize> Lanes<F, C, K> {
    /// Learners at the origin.
    pub fn new(
        lanes: [Lane; K],
        accrual: Accrual,
        center: C,
        bias: bool,
        loss: Loss,
        table: Table<LaneCoord<F, K>>,
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
            table,
            bias: bias.then(LaneCoord::default),
            w: Vec::new(),
            w_bias: [F::ZERO; K],
        }
    }

    /// The same with old rows that fade, where penalties are in force once: each lane does what a learner under
    /// [`Fading`](crate::rule::fading::Fading) would do.
    #[must_use]
    pub fn fading(mut self, half_life: Option<HalfLife>) -> Self {
        self.half_life = half_life;
        self
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
        for c in self.table.seen_mut().map(|(_, c)| c).chain(&mut self.bias) {
            for k in 0..K {
                (c.z[k], c.n[k]) = divided(c.z[k], c.n[k]);
            }
        }
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

    /// How much of the penalties is in force in round `t`.
    #[inline(always)]
    fn amount(&self) -> F {
        F::from_f64(match self.accrual {
            Accrual::Once => self.scale * self.growth,
            accrual => accrual.amount(self.t),
        })
    }

    /// Predicts and then learns one row.
    #[inline(always)]
    fn learn_row(&mut self, x: Row<'_>, label: Option<f64>, weight: f64) -> [f64; K] {
        let p = self.gather(x);
        let Some(y) = label.filter(|_| weight > 0.0) else { return p };
        self.t += 1;
        if let Some(half_life) = self.half_life {
            self.set_growth(half_life.growth(self.t));
        }
        let weight = weight * self.growth;
        let d = self.loss.slopes(&p, y).map(|slope| F::from_f64(weight * slope));
        self.penalized.tick(self.amount());
        for ((&j, &v), w) in x.indices().iter().zip(x.values()).zip(&self.w) {
            self.penalized.absorb(&self.center, self.table.slot(j), w, &d, F::from_f64(v));
        }
        if let Some(c) = &mut self.bias {
            self.free.absorb(&self.center, c, &self.w_bias, &d, F::ONE);
        }
        if self.half_life.is_some_and(|half_life| half_life.divides(self.t)) {
            self.divide();
        }
        p
    }

    /// Keeps the weights of the row and returns the margins, added up in the order of a learner's.
    #[inline(always)]
    fn gather(&mut self, x: Row<'_>) -> [f64; K] {
        let mut sums = [[F::ZERO; K]; 8];
        self.w.clear();
        for (i, (&j, &v)) in x.indices().iter().zip(x.values()).enumerate() {
            let v = F::from_f64(v);
            let w = self.table.find(j).map_or([F::ZERO; K], |c| self.penalized.played(c));
            let sum = &mut sums[i % 8];
            for k in 0..K {
                sum[k] += w[k] * v;
            }
            self.w.push(w);
        }
        self.w_bias = self.bias.as_ref().map_or([F::ZERO; K], |c| self.free.played(c));
        std::array::from_fn(|k| (fold_lanes(sums.map(|sum| sum[k])) + self.w_bias[k]).to_f64())
    }
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
        for (n, i) in rows.enumerate() {
            if i + 1 < chunk.len() {
                for c in chunk.row(i + 1).indices().iter().filter_map(|&j| lanes.table.find(j)) {
                    // A cache line holds 16 numbers of 4 bytes.
                    c.z.iter().step_by(16).chain(c.n.iter().step_by(16)).for_each(prefetch);
                }
            }
            let (label, weight) = (chunk.label(i), chunk.weight(i));
            if let Some(&scale) = scales.get(n)
                && label.is_some()
                && weight > 0.0
            {
                lanes.scale_penalty(scale);
            }
            margins.extend(lanes.learn_row(chunk.row(i), label, weight));
        }
    }
}

impl<F: Float, C: Center<AdaGrad>, const K: usize> Online for Lanes<F, C, K> {
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

    fn predict(&self, chunk: &Chunk, margins: &mut Vec<f64>) {
        let bias = self.bias.as_ref().map_or([F::ZERO; K], |c| self.free.played(c));
        for i in 0..chunk.len() {
            let mut sums = [[F::ZERO; K]; 8];
            for (n, (j, v)) in chunk.row(i).iter().enumerate() {
                let w = self.table.find(j).map_or([F::ZERO; K], |c| self.penalized.played(c));
                sums[n % 8].iter_mut().zip(w).for_each(|(sum, w)| *sum += w * F::from_f64(v));
            }
            margins.extend((0..K).map(|k| (fold_lanes(sums.map(|sum| sum[k])) + bias[k]).to_f64()));
        }
    }

    fn nonzeros(&self) -> usize {
        self.nonzeros_by_head().iter().sum()
    }

    fn nonzeros_by_head(&self) -> Vec<usize> {
        let mut counts = vec![0; K];
        for (_, c) in self.table.seen() {
            let w = self.penalized.played(c);
            counts.iter_mut().zip(w).for_each(|(n, w)| *n += usize::from(w != F::ZERO));
        }
        counts
    }

    fn freeze(&self) -> Frozen {
        let mut weights = vec![Vec::new(); K];
        for (j, c) in self.table.seen() {
            let w = self.penalized.played(c);
            for (weights, w) in weights.iter_mut().zip(w).filter(|(_, w)| *w != F::ZERO) {
                weights.push((j, w.to_f64()));
            }
        }
        let bias = self.bias.as_ref().map_or([F::ZERO; K], |c| self.free.played(c));
        let head = |(mut weights, bias): (Vec<(u32, f64)>, F)| {
            weights.sort_unstable_by_key(|&(j, _)| j);
            Head::new(bias.to_f64(), weights)
        };
        Frozen::Linear(weights.into_iter().zip(bias).map(head).collect())
    }

    fn heads(&self) -> usize {
        K
    }

    fn save(&self, out: &mut Vec<u8>) {
        self.t.write(out);
        let places: Vec<_> = self.table.places().collect();
        (places.len() as u64).write(out);
        for (j, c) in places {
            j.write(out);
            c.write(out);
        }
        if let Some(c) = &self.bias {
            c.write(out);
        }
    }

    fn restore(&mut self, input: &mut &[u8]) -> Option<()> {
        self.set_rounds(u64::read(input)?);
        for _ in 0..u64::read(input)? {
            let j = u32::read(input)?;
            *self.table.slot(j) = LaneCoord::read(input)?;
        }
        if let Some(c) = &mut self.bias {
            *c = LaneCoord::read(input)?;
        }
        Some(())
    }
}

impl<F: Float, C: Center<AdaGrad>, const K: usize> Lanes<F, C, K> {
    /// Goes on with some of the lanes, in this order; the others are given up.
    pub fn keep<const J: usize>(
        &self,
        lanes: [usize; J],
        mut table: Table<LaneCoord<F, J>>,
    ) -> Lanes<F, C, J> {
        let pick =
            |c: &LaneCoord<F, K>| LaneCoord { z: lanes.map(|k| c.z[k]), n: lanes.map(|k| c.n[k]) };
        for (j, c) in self.table.places() {
            *table.slot(j) = pick(c);
        }
        let kept = lanes.map(|k| self.lanes[k]);
        let bias = self.bias.is_some();
        let mut kept = Lanes::new(kept, self.accrual, self.center, bias, self.loss, table)
            .fading(self.half_life);
        kept.scale = self.scale;
        kept.set_rounds(self.t);
        kept.bias = self.bias.as_ref().map(pick);
        kept
    }
}

#[cfg(test)]
mod tests {
    use parsimon_testing::Lcg64;

    use super::*;
    use crate::penalty::ElasticNet;
    use crate::rule::leader::{Iterate, Leader, Origin};
    use crate::{Learner, Repeats};

    /// Rows of a few features out of some hundred, with rows that are only predicted and rows of weight 0.
    fn rows() -> Chunk {
        let mut chunk = Chunk::new();
        let mut random = Lcg64::new(1);
        let mut draw = || random.bits31();
        for i in 0..500 {
            for _ in 0..draw() % 20 {
                chunk.push_feature(draw() % 120, f64::from(draw() % 1000) / 300.0 - 1.0);
            }
            let label = if draw() % 3 == 0 { 1.0 } else { -1.0 };
            let label = (i % 7 != 3).then_some(label);
            chunk.finish_row(label, f64::from(draw() % 3), Repeats::Add).unwrap();
        }
        chunk
    }

    const LANES: [Lane; 3] = [
        Lane { l1: 0.0, l2: 0.0, rate: 0.5, delta: 1.0 },
        Lane { l1: 0.3, l2: 0.1, rate: 0.1, delta: 0.5 },
        Lane { l1: 5.0, l2: 1.0, rate: 2.0, delta: 1e-3 },
    ];

    fn each_lane_is_the_learner_alone<F: Float, C: Center<AdaGrad>>(
        center: C,
        accrual: Accrual,
        loss: Loss,
    ) {
        let chunk = rows();
        let mut lanes = Lanes::<F, C, 3>::new(LANES, accrual, center, true, loss, Table::growing());
        let mut margins = Vec::new();
        lanes.learn(&chunk, &mut margins);
        let heads = lanes.freeze().into_heads();
        let mut scores = Vec::new();
        lanes.predict(&chunk, &mut scores);
        for (k, lane) in LANES.iter().enumerate() {
            let rule = |l1, l2| Leader {
                penalty: ElasticNet { l1, l2 },
                accrual,
                center,
                metric: AdaGrad { rate: lane.rate, delta: lane.delta },
            };
            let mut alone = Learner::<F, _>::new(
                rule(lane.l1, lane.l2),
                Some(rule(0.0, 0.0)),
                loss,
                Table::growing(),
            );
            let mut own = Vec::new();
            alone.learn(&chunk, &mut own);
            let bits = |x: f64| x.to_bits();
            let of_lane = margins.iter().skip(k).step_by(3).copied();
            assert!(of_lane.map(bits).eq(own.iter().copied().map(bits)), "margins of lane {k}");
            assert_eq!(heads[k], alone.freeze().into_heads()[0], "weights of lane {k}");
            own.clear();
            alone.predict(&chunk, &mut own);
            let of_lane = scores.iter().skip(k).step_by(3).copied();
            assert!(of_lane.map(bits).eq(own.iter().copied().map(bits)), "scores of lane {k}");
            assert_eq!(lanes.nonzeros_by_head()[k], alone.nonzeros());
        }
    }

    #[test]
    fn every_lane_is_the_learner_alone() {
        each_lane_is_the_learner_alone::<f32, _>(Iterate, Accrual::Once, Loss::Logistic);
        each_lane_is_the_learner_alone::<f64, _>(Iterate, Accrual::Once, Loss::Hinge);
        each_lane_is_the_learner_alone::<f64, _>(Iterate, Accrual::EveryRound, Loss::Logistic);
        each_lane_is_the_learner_alone::<f32, _>(Origin, Accrual::EveryRound, Loss::Squared);
    }

    #[test]
    fn lanes_saved_resumed_and_thinned_go_on_as_they_were() {
        let chunk = rows();
        let new = || {
            Lanes::<f32, _, 3>::new(
                LANES,
                Accrual::EveryRound,
                Iterate,
                true,
                Loss::Logistic,
                Table::growing(),
            )
        };
        let (mut whole, mut half, mut margins) = (new(), new(), Vec::new());
        whole.learn(&chunk, &mut margins);
        half.learn_rows(&chunk, 0..250, &mut margins);
        let mut bytes = Vec::new();
        half.save(&mut bytes);
        let mut resumed = new();
        resumed.restore(&mut &bytes[..]).unwrap();
        resumed.learn_rows(&chunk, 250..500, &mut margins);
        assert_eq!(resumed.freeze(), whole.freeze());
        let mut kept = half.keep([2, 0], Table::index());
        kept.learn_rows(&chunk, 250..500, &mut margins);
        let heads = whole.freeze().into_heads();
        assert_eq!(kept.freeze().into_heads(), [heads[2].clone(), heads[0].clone()]);
    }
}

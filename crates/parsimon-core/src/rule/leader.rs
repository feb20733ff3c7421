//! Past penalties kept whole: the weight is read off the sum of gradients.
//!
//! `w = argmin z w + amount_t psi(w) + q_{1:t}/2 w^2`, with `z` the sum of gradients, minus what the
//! quadratics' centers pull. A coordinate misses nothing between visits, so lazy updates cost nothing.

use super::{Implicit, Rule};
use crate::metric::{Metric, Quiet};
use crate::penalty::{Candidate, Elastic, Penalty, PerFeature};
use crate::share::{DualStep, Merging, Parts, Share, Step};
use crate::{Float, State, Table, state::state};

/// The multiple of the penalty in force after `t` rounds.
///
/// The analysis charges it on every round; the FTRL-Proximal that is deployed charges it once. At equal
/// strength their sparsity differs enormously.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Accrual {
    /// 1
    Once,
    /// `t`
    EveryRound,
    /// `t^exponent`
    Power(
        /// The exponent.
        f64,
    ),
    /// `t + beta_t / sigma`: the penalty itself serves as the stabilizer (`h = psi/sigma`).
    WithItself {
        /// `beta_t`
        beta: crate::metric::Pace,
        /// The penalty's strong convexity.
        sigma: f64,
    },
}

impl Accrual {
    /// The multiple in force after round `t`.
    pub fn amount(&self, t: u64) -> f64 {
        match *self {
            Accrual::Once => 1.0,
            Accrual::EveryRound => t as f64,
            Accrual::Power(exponent) => (t as f64).powf(exponent),
            Accrual::WithItself { beta, sigma } => t as f64 + beta.at(t) / sigma,
        }
    }
}

/// The center of each quadratic.
pub trait Center<M>: Copy + Send + Sync + 'static {
    /// The negative of the change of the linear part by a new quadratic of weight `sigma`.
    fn pull<F: Float>(&self, sigma: F, w: F) -> F;
}

/// At zero: dual averaging.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Origin;

impl<M> Center<M> for Origin {
    #[inline(always)]
    fn pull<F: Float>(&self, _sigma: F, _w: F) -> F {
        F::ZERO
    }
}

/// At the weight played: follow the proximally regularized leader. The metric must be [`Quiet`].
///
/// With a metric that changes without a gradient, the pull would be due on every coordinate in every round, and a lazy rule
/// would be a wrong one. It does not compile:
///
/// ```compile_fail,E0277
/// use parsimon_core::metric::{Global, Pace};
/// use parsimon_core::penalty::ElasticNet;
/// use parsimon_core::rule::Rule;
/// use parsimon_core::rule::leader::{Accrual, Iterate, Leader};
///
/// fn rule<R: Rule<f64>>(_: R) {}
/// rule(Leader {
///     penalty: ElasticNet { l1: 0.1, l2: 0.0 },
///     accrual: Accrual::EveryRound,
///     center: Iterate, // with Origin this compiles
///     metric: Global(Pace::Sqrt { rate: 0.5 }),
/// });
/// ```
///
/// The sum with its center:
///
/// ```
/// # use parsimon_core::metric::{Global, Pace};
/// # use parsimon_core::penalty::ElasticNet;
/// # use parsimon_core::rule::Rule;
/// # use parsimon_core::rule::leader::{Accrual, Leader, Origin};
/// # fn rule<R: Rule<f64>>(_: R) {}
/// rule(Leader {
///     penalty: ElasticNet { l1: 0.1, l2: 0.0 },
///     accrual: Accrual::EveryRound,
///     center: Origin,
///     metric: Global(Pace::Sqrt { rate: 0.5 }),
/// });
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Iterate;

impl<M: Quiet> Center<M> for Iterate {
    #[inline(always)]
    fn pull<F: Float>(&self, sigma: F, w: F) -> F {
        sigma * w
    }
}

/// Follow the regularized leader.
///
/// ```
/// use parsimon_core::metric::AdaGrad;
/// use parsimon_core::penalty::ElasticNet;
/// use parsimon_core::rule::leader::{Accrual, Iterate, Leader};
/// use parsimon_core::rule::Rule;
///
/// // FTRL-Proximal as deployed (McMahan et al. 2013), one coordinate, one gradient of 3:
/// let ftrl = Leader {
///     penalty: ElasticNet { l1: 1.0, l2: 0.0 },
///     accrual: Accrual::Once,
///     center: Iterate,
///     metric: AdaGrad { rate: 0.5, delta: 1.0 },
/// };
/// let (mut now, mut c) = Default::default();
/// Rule::<f64>::tick(&ftrl, &mut now);
/// ftrl.absorb(&mut now, 0, &mut c, 0.0, 3.0, 3.0);
/// let w: f64 = ftrl.played(&now, 0, &c);
/// assert_eq!(w, -(3.0 - 1.0) / ((1.0 + 3.0) / 0.5));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Leader<P, C, M> {
    /// (B) The penalty.
    pub penalty: P,
    /// (B) How much of it is in force.
    pub accrual: Accrual,
    /// (C) Where the quadratics are centered.
    pub center: C,
    /// (C) How heavy they are.
    pub metric: M,
}

/// A coordinate of a leader: the linear part, and what the metric remembers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Dual<F, Memory> {
    z: F,
    memory: Memory,
}

state!(Dual<F: Float, Memory: State> { z, memory });

impl<F, Memory> Dual<F, Memory> {
    pub(crate) fn new(z: F, memory: Memory) -> Self {
        Self { z, memory }
    }
}

/// The round, and what depends on nothing else.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LeaderClock {
    t: u64,
    amount: f64,
    pace: f64,
    pace_before: f64,
}

state!(LeaderClock { t, amount, pace, pace_before });

impl LeaderClock {
    /// The clock after `t > 0` rounds for a multiple of the penalty, with a metric that changes only with gradients.
    pub(crate) fn after(t: u64, amount: f64) -> Self {
        Self { t, amount, ..Self::default() }
    }
}

impl<F: Float, P: PerFeature<F, One: Elastic<F>>, C: Center<M>, M: Metric<F>> Rule<F>
    for Leader<P, C, M>
{
    type Coord = Dual<F, M::Memory>;
    type Clock = LeaderClock;

    fn tick(&self, now: &mut LeaderClock) {
        now.t += 1;
        now.amount = match self.accrual {
            // Set in the first round or by `scale_penalty`; rounds do not change it.
            Accrual::Once if now.amount > 0.0 => now.amount,
            accrual => accrual.amount(now.t),
        };
        now.pace_before = now.pace;
        now.pace = self.metric.pace(now.t);
    }
    fn tick_by(&self, now: &mut LeaderClock, copies: u32) {
        now.t += u64::from(copies.saturating_sub(1));
        self.tick(now);
    }
    fn merging(&self) -> Result<&dyn Merging<Self::Coord, Self::Clock>, &'static str> {
        Ok(self)
    }
    #[inline(always)]
    fn scale_penalty(&self, now: &mut LeaderClock, scale: f64) {
        if self.accrual == Accrual::Once {
            now.amount = scale;
        }
    }
    #[inline(always)]
    fn played(&self, now: &LeaderClock, j: u32, c: &Self::Coord) -> F {
        self.played_kept(now, j, c).0
    }
    #[inline(always)]
    fn absorb(&self, now: &mut LeaderClock, j: u32, c: &mut Self::Coord, w: F, g: F, at: F) {
        let before = self.metric.q(F::from_f64(now.pace_before), &c.memory);
        self.absorb_kept(now, j, c, (w, before), (g, at));
    }
    #[inline(always)]
    fn played_kept(&self, now: &LeaderClock, j: u32, c: &Self::Coord) -> (F, F) {
        let q = self.metric.q(F::from_f64(now.pace), &c.memory);
        (self.penalty.of(j).argmin(c.z, q, F::from_f64(now.amount)), q)
    }
    // The pace of the round before was in force when `before` was computed.
    #[inline(always)]
    fn absorb_kept(
        &self,
        now: &mut LeaderClock,
        _j: u32,
        c: &mut Self::Coord,
        (w, before): (F, F),
        (g, at): (F, F),
    ) {
        self.metric.absorb(&mut c.memory, at);
        let q = self.metric.q(F::from_f64(now.pace), &c.memory);
        c.z += g - self.center.pull(q - before, w);
    }
}

impl<F: Float, P: PerFeature<F, One: Elastic<F>>, C: Center<M>, M: Metric<F>> Implicit<F>
    for Leader<P, C, M>
{
    fn candidate(&self, now: &LeaderClock, j: u32, c: &Self::Coord, w: F, at: F) -> Candidate {
        let mut after = *c;
        self.absorb(&mut now.clone(), 0, &mut after, w, F::ZERO, at);
        let q = self.metric.q(F::from_f64(now.pace), &after.memory);
        self.penalty.of(j).candidate(after.z.to_f64(), q.to_f64(), now.amount)
    }
}

impl<P, C, M> Leader<P, C, M> {
    /// After round `t`: the curvature `den` of the problem, the weight `w` and the subgradient `r` of its penalty's kink and bounds, so
    /// that `z = -(den w + r)`. A penalty in force once is so to the extent that `now` says.
    fn split<F: Float>(&self, now: &LeaderClock, j: u32, t: u64, parts: &Parts) -> (f64, f64, f64)
    where
        P: PerFeature<F, One: Elastic<F>>,
        M: Metric<F>,
    {
        let &Parts { value: z, memory: sum, .. } = parts;
        let amount = match self.accrual {
            _ if t == 0 => 0.0,
            Accrual::Once if now.amount > 0.0 => now.amount,
            accrual => accrual.amount(t),
        };
        let pace = if t > 0 { self.metric.pace(t) } else { 0.0 };
        let q = self.metric.q(F::from_f64(pace), &self.metric.memory(sum.max(0.0))).to_f64();
        let problem = self.penalty.of(j).candidate(z, q, amount);
        let (den, w) = (problem.q, problem.weight());
        (den, w, -z - den * w)
    }

    /// The change of the dual by quadratics centered at the start weight while the sum of squares grows to `sum`.
    fn pull_from<F: Float>(
        &self,
        now: &LeaderClock,
        j: u32,
        from: u64,
        start: &Parts,
        sum: f64,
    ) -> f64
    where
        P: PerFeature<F, One: Elastic<F>>,
        C: Center<M>,
        M: Metric<F>,
    {
        let (_, w, _) = self.split::<F>(now, j, from, start);
        let q = |sum: f64| {
            self.metric.q(F::from_f64(now.pace), &self.metric.memory(sum.max(0.0))).to_f64()
        };
        self.center.pull(q(sum) - q(start.memory), w)
    }
}

/// Sums alone: the dual of several learners is the sum of their duals, and the penalty is applied after it.
impl<F: Float, P: PerFeature<F, One: Elastic<F>>, C: Center<M>, M: Metric<F>>
    Merging<Dual<F, M::Memory>, LeaderClock> for Leader<P, C, M>
{
    fn shares(&self) -> &'static [Share] {
        let memory = usize::from(size_of::<M::Memory>() > 0);
        &[Share::Sum; 2][..=memory]
    }
    fn rounds(&self, now: &LeaderClock) -> u64 {
        now.t
    }
    fn parts(&self, _now: &LeaderClock, _j: u32, c: &Dual<F, M::Memory>) -> Parts {
        Parts { value: c.z.to_f64(), memory: self.metric.sum(&c.memory), second: 0.0 }
    }
    fn coordinate(&self, _t: u64, _j: u32, parts: &Parts) -> Dual<F, M::Memory> {
        // NUMERICS: squares only ever add up; a rounding below zero would have no root.
        Dual { z: F::from_f64(parts.value), memory: self.metric.memory(parts.memory.max(0.0)) }
    }
    fn damps(&self) -> bool {
        self.metric.overlap(0.0, 0.0).is_some()
    }
    fn overlap(&self, start: &Parts, end: &Parts) -> f64 {
        self.metric.overlap(start.memory, end.memory).unwrap_or(0.0)
    }
    fn step(
        &self,
        now: &LeaderClock,
        j: u32,
        [from, to]: [u64; 2],
        start: &Parts,
        end: &Parts,
        exponent: f64,
    ) -> Step {
        let (_, w0, r0) = self.split::<F>(now, j, from, start);
        let (_, w1, r1) = self.split::<F>(now, j, to, end);
        Step {
            weight: w1 - w0,
            memory: end.memory - start.memory,
            subgradient: r1 - r0,
            exponent,
            made: -(-exponent).exp_m1(),
        }
    }
    // A learner makes the share `1 - e^-a` of a correction that is due, and the rows of all learners one after the other would make
    // `1 - e^-sum(a)`: the sum of the steps is too long by the common part of the shares. Rare features have small shares, which
    // add up; for a correction that every learner has completed, the mean remains.
    fn stepped(
        &self,
        now: &LeaderClock,
        j: u32,
        [from, to]: [u64; 2],
        start: &Parts,
        step: &Step,
    ) -> Parts {
        let (_, w, r) = self.split::<F>(now, j, from, start);
        let &Step { exponent, made, .. } = step;
        let sum = (start.memory + step.memory).max(0.0);
        let damping = if made > 0.0 { -(-exponent).exp_m1() / made } else { 1.0 };
        let (den, _, _) = self.split::<F>(now, j, to, &Parts { memory: sum, ..Parts::default() });
        // A penalty charged every round is due for the rounds of all learners; a penalty charged once is due once.
        let owed = if self.accrual == Accrual::Once { damping } else { 1.0 };
        let value = -(den * (w + damping * step.weight) + r + owed * step.subgradient);
        Parts { value, memory: sum, second: 0.0 }
    }
    fn lever(&self, now: &LeaderClock, j: u32, parts: &Parts) -> f64 {
        let (den, w, _) = self.split::<F>(now, j, now.t, parts);
        if w != 0.0 && den > 0.0 { 1.0 / den } else { 0.0 }
    }
    // If quadratics are centered at the weight played, the dual changes with the metric although the weight does not. The pull towards
    // the weight at the start is taken out of a learner's step, and put back for the metric of all.
    fn dual_step(&self, now: &LeaderClock, j: u32, start: &Parts, end: &Parts) -> DualStep {
        let pull = self.pull_from::<F>(now, j, now.t, start, end.memory);
        DualStep { dual: end.value - start.value + pull, memory: end.memory - start.memory }
    }
    fn dual_stepped(
        &self,
        now: &LeaderClock,
        j: u32,
        from: u64,
        start: &Parts,
        step: &DualStep,
        damping: f64,
    ) -> Parts {
        let memory = (start.memory + step.memory).max(0.0);
        let pull = self.pull_from::<F>(now, j, from, start, memory);
        Parts { value: start.value + damping * step.dual - pull, memory, second: 0.0 }
    }
    fn clock(&self, t: u64, _table: &Table<Dual<F, M::Memory>>) -> LeaderClock {
        let mut now = LeaderClock::default();
        if let Some(before) = t.checked_sub(1) {
            now.t = before;
            now.pace = if before > 0 { self.metric.pace(before) } else { 0.0 };
            self.tick(&mut now);
        }
        now
    }
}

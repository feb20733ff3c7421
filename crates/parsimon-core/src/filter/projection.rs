//! Projections onto the set that a row allows, in a metric: NLMS, APA, PAPA, APFBS and PDA are special cases.
//!
//! The row says `w.x = y` (a [`SolutionSet::Hyperplane`]; with order `r`, the last `r` rows at once) or `y w.x >= 1` (a
//! [`SolutionSet::HalfSpace`]). With `Q` diagonal ([`metric`](super::metric), or the identity) the way from `w` to the set is
//!
//! ```text
//! g = Q^-1 X (X^T Q^-1 X + delta I)^-1 (X^T w - y)          hyperplanes, Ushio 2018 eq. 3.8
//! g = -y Q^-1 x max(0, 1 - y w.x) / (x^T Q^-1 x + delta)    half-space, eq. 3.10
//! ```
//!
//! (the thesis prints 3.8 and 3.10 with errors; these are the ones that land on the set). Then, with the weighted l1
//! norm of eq. 3.6,
//!
//! ```text
//! Form::Primal   w = soft(w - eta g, eta l1 q)      APFBS (section 3.6.1 and A.19); PAPA, APA, NLMS with l1 = 0
//! Form::Dual     s += g, w = soft(-eta s, eta l1 q) PDA, eq. 3.4
//! ```
//!
//! [`Shrinking`] has the variants that the thesis compares: the plain and the once weighted l1 norm (figure 3.2), and a penalty that
//! counts once per round (eq. 3.3).

use super::metric::MagnitudeMetric;
use super::solve::cholesky;
use super::{Delta, Method, Past, restore_into, save_all};
use crate::state::{StateError, StateWriter};
use crate::vector::{add_scaled, dot, shrink};
use crate::{Float, State};

/// The set of weights that a row allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SolutionSet {
    /// `w.x = y`: regression.
    Hyperplane,
    /// `y w.x >= 1`, `y` in {-1, 1}: classification.
    HalfSpace,
}

/// State.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The weights; penalties add up as they are paid.
    Primal,
    /// The sum of the steps; the penalty is in force once.
    Dual,
}

/// The l1 norm that is the penalty: `sum q_i^k |w_i|`. In the metric its threshold is `eta l1 q_i^(k-1)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum L1Weights {
    /// `k = 0`: the l1 norm.
    Plain,
    /// `k = 1`
    Metric,
    /// `k = 2`, eq. 3.6: small weights shrink more than large ones.
    #[default]
    SquaredMetric,
}

/// How the penalty acts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shrinking {
    /// The weights of the l1 norm.
    pub weights: L1Weights,
    /// Whether the penalty counts once per round (eq. 3.3) instead of once (eq. 3.4). In the dual form only.
    pub grows: bool,
}

/// Parameters that distinguish the methods.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProjectionSettings<F> {
    /// The step, `eta`, in (0, 2).
    pub rate: F,
    /// The strength of the weighted l1 norm.
    pub l1: F,
    /// Constant added to the normalizer.
    pub delta: Delta<F>,
    /// `None` is the identity.
    pub metric: Option<MagnitudeMetric<F>>,
    /// `r`; 1 for half-spaces.
    pub order: usize,
    /// The set of weights that a row allows.
    pub set: SolutionSet,
    /// State.
    pub form: Form,
    /// How the penalty acts.
    pub shrinking: Shrinking,
}

/// The method.
///
/// ```
/// use parsimon_core::filter::projection::{Form, Projection, ProjectionSettings, Shrinking, SolutionSet};
/// use parsimon_core::filter::{Delta, Filter, Tapped};
///
/// let apa = ProjectionSettings {
///     rate: 0.5,
///     l1: 0.0,
///     delta: Delta::absolute(1e-6),
///     metric: None,
///     order: 2,
///     set: SolutionSet::Hyperplane,
///     form: Form::Primal,
///     shrinking: Shrinking::default(),
/// };
/// let mut filter = Tapped::new(Projection::new(2, 2, apa));
/// let reference = [0.3, -1.0, 0.5, 2.0, -0.7, 0.1, 1.2, -0.4f64].repeat(20);
/// let echo: Vec<f64> = (0..160).map(|t| if t > 0 { 0.8 * reference[t - 1] } else { 0.0 }).collect();
/// filter.push(&reference, &echo);
/// assert!(filter.taps()[0].abs() < 1e-3 && (filter.taps()[1] - 0.8).abs() < 1e-3);
/// ```
#[derive(Clone, Debug)]
pub struct Projection<F> {
    settings: ProjectionSettings<F>,
    /// The weights under the metric and the penalty; a bias may follow.
    features: usize,
    w: Vec<F>,
    s: Vec<F>,
    q: Vec<F>,
    /// The rounds so far, counted where the penalty grows with them.
    t: u64,
    scratch: Scratch<F>,
}

/// Buffers of a round of order `r`.
#[derive(Clone, Debug)]
struct Scratch<F> {
    /// `Q^-1`.
    gain: Vec<F>,
    /// `Q^-1 X`, one regressor after the other; empty with the identity.
    gained: Vec<F>,
    /// `X^T Q^-1 X`, and with the identity the round it belongs to.
    gram: Vec<F>,
    round: u64,
    factor: Vec<F>,
    e: Vec<F>,
}

impl<F: Float> Projection<F> {
    /// `len` weights, of which the first `features` are under the metric and the penalty and the rest (a bias) have
    /// `q = 1` and no penalty.
    ///
    /// # Panics
    /// `features > len`, or half-spaces with an order other than 1.
    pub fn new(len: usize, features: usize, settings: ProjectionSettings<F>) -> Self {
        let r = settings.order.max(1);
        assert!(features <= len, "there are {features} features among {len} weights");
        assert!(
            settings.set == SolutionSet::Hyperplane || r == 1,
            "half-spaces are projected on one by one"
        );
        let filled = |value, if_any| vec![value; if if_any { len } else { 0 }];
        let metric = settings.metric.is_some();
        let zero = F::ZERO;
        Self {
            settings: ProjectionSettings { order: r, ..settings },
            features,
            w: vec![zero; len],
            s: filled(zero, settings.form == Form::Dual),
            q: vec![F::ONE; len],
            t: 0,
            scratch: Scratch {
                gain: filled(F::ONE, metric),
                gained: filled(zero, metric).repeat(r),
                gram: vec![zero; r * r],
                round: 0,
                factor: vec![zero; r * r],
                e: vec![zero; r],
            },
        }
    }

    /// Computes the slope of the distance along the newest regressor.
    #[inline(always)]
    fn slope(&self, p: F, y: F) -> F {
        match self.settings.set {
            SolutionSet::Hyperplane => p - y,
            SolutionSet::HalfSpace => -(y * (F::ONE - y * p).max(F::ZERO)),
        }
    }

    /// `X^T X`. All but its first column is the matrix of the last round, shifted by one place: the regressors are the same.
    #[inline(always)]
    fn write_gram<P: Past<F>>(&mut self, past: &P) {
        let (r, order) = (past.len(), self.settings.order);
        let Scratch { gram, round, .. } = &mut self.scratch;
        let shifts = *round + 1 == past.round();
        for i in (1..r).rev() {
            for j in (1..=i).rev() {
                gram[i * order + j] = match shifts {
                    true => gram[(i - 1) * order + j - 1],
                    false => dot(past.regressor(i), past.regressor(j)),
                };
            }
        }
        for i in 0..r {
            gram[i * order] = dot(past.regressor(i), past.regressor(0));
        }
        *round = past.round();
    }

    /// `Q^-1 X` and `X^T Q^-1 X`.
    #[inline(always)]
    fn write_gained<P: Past<F>>(&mut self, past: &P) {
        let (n, r, order) = (self.w.len(), past.len(), self.settings.order);
        let Scratch { gain, gained, gram, .. } = &mut self.scratch;
        for c in 0..r {
            let gained = &mut gained[c * n..(c + 1) * n];
            for ((gained, &x), &gain) in gained.iter_mut().zip(past.regressor(c)).zip(&*gain) {
                *gained = x * gain;
            }
        }
        for i in 0..r {
            for j in 0..=i {
                gram[i * order + j] = dot(past.regressor(i), &gained[j * n..(j + 1) * n]);
            }
        }
    }

    /// Adds `a direction` to the step: to the weights, or to the sum of steps.
    #[inline(always)]
    fn go(w: &mut [F], s: &mut [F], form: Form, rate: F, a: F, direction: &[F]) {
        match form {
            Form::Primal => add_scaled(w, -(rate * a), direction),
            Form::Dual => add_scaled(s, a, direction),
        }
    }

    /// Pays the penalty.
    #[inline(always)]
    fn settle(&mut self) {
        let ProjectionSettings { rate, l1, form, shrinking, .. } = self.settings;
        let (features, mut threshold) = (self.features, rate * l1);
        if l1 != F::ZERO && shrinking != Shrinking::default() {
            // The thresholds overwrite the metric, which the next round recomputes.
            for q in &mut self.q[..features] {
                match shrinking.weights {
                    L1Weights::Plain => *q = F::ONE / *q,
                    L1Weights::Metric => *q = F::ONE,
                    L1Weights::SquaredMetric => {}
                }
            }
            if shrinking.grows {
                self.t += 1;
                threshold *= F::from_f64(self.t as f64);
            }
        }
        match form {
            Form::Primal if l1 == F::ZERO => {}
            Form::Primal => {
                for (w, &q) in self.w[..features].iter_mut().zip(&self.q) {
                    *w = shrink(*w, threshold * q);
                }
            }
            Form::Dual => {
                let states = self.s[..features].iter().zip(&self.q);
                for (w, (&s, &q)) in self.w.iter_mut().zip(states) {
                    *w = shrink(-(rate * s), threshold * q);
                }
                for (w, &s) in self.w[features..].iter_mut().zip(&self.s[features..]) {
                    *w = -(rate * s);
                }
            }
        }
    }
}

impl<F: Float> Method<F> for Projection<F> {
    fn order(&self) -> usize {
        self.settings.order
    }
    fn weights(&self) -> &[F] {
        &self.w
    }

    /// In the dual form, the sum of steps that would give these weights without the penalty.
    fn set_weights(&mut self, weights: &[F]) {
        self.w.copy_from_slice(weights);
        for (s, &w) in self.s.iter_mut().zip(weights) {
            *s = -(w / self.settings.rate);
        }
    }

    fn reset(&mut self) {
        self.w.fill(F::ZERO);
        self.s.fill(F::ZERO);
        self.scratch.round = 0;
        self.t = 0;
    }

    #[inline(always)]
    fn adapt<P: Past<F>>(&mut self, past: &P, p: F, weight: F) {
        let (n, r) = (self.w.len(), past.len());
        let ProjectionSettings { rate, form, metric, order, .. } = self.settings;
        let delta = self.settings.delta.of(past, F::ONE);
        let slope = self.slope(p, past.target(0));
        if let Some(metric) = metric {
            let (q, gain) = (&mut self.q[..self.features], &mut self.scratch.gain);
            metric.write(&self.w[..self.features], q, gain);
            self.write_gained(past);
        } else if order == 1 {
            self.scratch.gram[0] = past.energy();
        } else {
            self.write_gram(past);
        }
        let Scratch { gained, gram, factor, e, .. } = &mut self.scratch;
        for i in 0..r {
            factor[i * r..i * r + r].copy_from_slice(&gram[i * order..i * order + r]);
            e[i] = match i {
                0 => slope,
                _ => dot(&self.w, past.regressor(i)) - past.target(i),
            };
        }
        cholesky(&mut factor[..r * r], &mut e[..r], delta);
        for c in 0..r {
            let direction =
                if metric.is_some() { &gained[c * n..(c + 1) * n] } else { past.regressor(c) };
            Self::go(&mut self.w, &mut self.s, form, rate, e[c] * weight, direction);
        }
        self.settle();
    }

    fn save(&self, out: &mut StateWriter) {
        save_all(&self.w, out);
        save_all(&self.s, out);
        save_all(&self.scratch.gram, out);
        self.scratch.round.write(out);
        if self.settings.shrinking.grows {
            self.t.write(out);
        }
    }

    fn room(&self, len: u64) -> u64 {
        // The weights and the metric; dual sums; gains and, for each of the last regressors, gained ones.
        let (r, settings) = (self.settings.order, &self.settings);
        let dual = usize::from(settings.form == Form::Dual);
        let gains = if settings.metric.is_some() { 2 + 2 * r } else { 0 };
        len.saturating_mul(((2 + dual + gains) * size_of::<F>()) as u64).saturating_add(
            (r as u64).saturating_mul(r as u64).saturating_mul(2 * size_of::<F>() as u64),
        )
    }
    fn restore(&mut self, input: &mut &[u8]) -> Result<(), StateError> {
        restore_into(&mut self.w, input, "the weights")?;
        restore_into(&mut self.s, input, "the dual weights")?;
        restore_into(&mut self.scratch.gram, input, "the Gram matrix")?;
        self.scratch.round = u64::read(input).map_err(|e| e.in_field("the number of rows"))?;
        if self.settings.shrinking.grows {
            self.t = u64::read(input).map_err(|e| e.in_field("the number of rounds"))?;
        }
        Ok(())
    }
}

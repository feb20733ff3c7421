//! Projections onto the set a row allows, in a metric: NLMS, APA, PAPA, APFBS and PDA are one method.
//!
//! The row says `w.x = y` (a [`Set::Hyperplane`]; with order `r`, the last `r` rows at once) or `y w.x >= 1` (a
//! [`Set::HalfSpace`]). With `Q` diagonal ([`metric`](super::metric), or the identity) the way from `w` to the set is
//!
//! ```text
//! g = Q^-1 X (X^T Q^-1 X + delta I)^-1 (X^T w - y)          hyperplanes, Ushio 2018 eq. 3.9
//! g = -y Q^-1 x max(0, 1 - y w.x) / (x^T Q^-1 x + delta)    half-space, eq. 3.11
//! ```
//!
//! (the thesis prints 3.8 and 3.10 with errors; these are the ones that land on the set). Then, with the weighted l1
//! norm of eq. 3.6,
//!
//! ```text
//! Form::Primal   w = soft(w - eta g, eta l1 q)      APFBS; PAPA, APA, NLMS with l1 = 0
//! Form::Dual     s += g, w = soft(-eta s, eta l1 q) PDA, eq. 3.4
//! ```

use super::metric::Metric;
use super::solve::cholesky;
use super::vector::{add_scaled, dot, shrink};
use super::{Delta, Method, Past, restore_into, save_all};
use crate::Float;

/// Which weights a row allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Set {
    /// `w.x = y`: regression.
    Hyperplane,
    /// `y w.x >= 1`, `y` in {-1, 1}: classification.
    HalfSpace,
}

/// What is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The weights; penalties add up as they are paid.
    Primal,
    /// The sum of the steps; the penalty is in force once.
    Dual,
}

/// What makes one of the methods.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings<F> {
    /// The step, `eta`, in (0, 2).
    pub rate: F,
    /// The strength of the weighted l1 norm.
    pub l1: F,
    /// What is added to the normalizer.
    pub delta: Delta<F>,
    /// `None` is the identity.
    pub metric: Option<Metric<F>>,
    /// `r`; 1 for half-spaces.
    pub order: usize,
    /// What a row allows.
    pub set: Set,
    /// What is kept.
    pub form: Form,
}

/// The method.
///
/// ```
/// use parsimon_core::filter::projection::{Form, Projection, Set, Settings};
/// use parsimon_core::filter::{Delta, Filter, Tapped};
///
/// let apa = Settings {
///     rate: 0.5,
///     l1: 0.0,
///     delta: Delta::absolute(1e-6),
///     metric: None,
///     order: 2,
///     set: Set::Hyperplane,
///     form: Form::Primal,
/// };
/// let mut filter = Tapped::new(Projection::new(2, 2, apa));
/// let reference = [0.3, -1.0, 0.5, 2.0, -0.7, 0.1, 1.2, -0.4f64].repeat(20);
/// let echo: Vec<f64> = (0..160).map(|t| if t > 0 { 0.8 * reference[t - 1] } else { 0.0 }).collect();
/// filter.push(&reference, &echo);
/// assert!(filter.taps()[0].abs() < 1e-3 && (filter.taps()[1] - 0.8).abs() < 1e-3);
/// ```
#[derive(Clone, Debug)]
pub struct Projection<F> {
    settings: Settings<F>,
    /// The weights under the metric and the penalty; a bias may follow.
    features: usize,
    w: Vec<F>,
    s: Vec<F>,
    q: Vec<F>,
    /// `Q^-1 X`, one regressor after the other.
    gained: Vec<F>,
    gram: Vec<F>,
    e: Vec<F>,
}

impl<F: Float> Projection<F> {
    /// `len` weights, of which the first `features` are under the metric and the penalty and the rest (a bias) have
    /// `q = 1` and no penalty.
    ///
    /// # Panics
    /// When `features > len`, or when half-spaces are asked for with an order other than 1.
    pub fn new(len: usize, features: usize, settings: Settings<F>) -> Self {
        let r = settings.order.max(1);
        assert!(features <= len, "there are {features} features among {len} weights");
        assert!(
            settings.set == Set::Hyperplane || r == 1,
            "half-spaces are projected on one by one"
        );
        let dual = settings.form == Form::Dual;
        let simple = r == 1 && settings.metric.is_none();
        Self {
            settings: Settings { order: r, ..settings },
            features,
            w: vec![F::ZERO; len],
            s: vec![F::ZERO; if dual { len } else { 0 }],
            q: vec![F::ONE; len],
            gained: vec![F::ZERO; if simple { 0 } else { r * len }],
            gram: vec![F::ZERO; r * r],
            e: vec![F::ZERO; r],
        }
    }

    /// The slope of the distance along the newest regressor.
    #[inline(always)]
    fn slope(&self, p: F, y: F) -> F {
        match self.settings.set {
            Set::Hyperplane => p - y,
            Set::HalfSpace => -(y * (F::ONE - y * p).max(F::ZERO)),
        }
    }

    /// Goes `g` along `direction`, `g = sum_c a_c direction_c`, and pays the penalty.
    #[inline(always)]
    fn go(&mut self, first: &[F], a: F) {
        let Settings { rate, l1, form, .. } = self.settings;
        let (features, bias) = (self.features, self.w.len() > self.features);
        match form {
            Form::Primal => {
                add_scaled(&mut self.w, -(rate * a), first);
                if l1 > F::ZERO {
                    let threshold = rate * l1;
                    for (w, &q) in self.w[..features].iter_mut().zip(&self.q) {
                        *w = shrink(*w, threshold * q);
                    }
                }
            }
            Form::Dual => {
                add_scaled(&mut self.s, a, first);
                let threshold = rate * l1;
                let states = self.s[..features].iter().zip(&self.q);
                for (w, (&s, &q)) in self.w.iter_mut().zip(states) {
                    *w = shrink(-(rate * s), threshold * q);
                }
                if bias {
                    for (w, &s) in self.w[features..].iter_mut().zip(&self.s[features..]) {
                        *w = -(rate * s);
                    }
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

    /// In the dual form, the state whose weights these would be without the penalty.
    fn set_weights(&mut self, weights: &[F]) {
        self.w.copy_from_slice(weights);
        for (s, &w) in self.s.iter_mut().zip(weights) {
            *s = -(w / self.settings.rate);
        }
    }

    fn reset(&mut self) {
        self.w.fill(F::ZERO);
        self.s.fill(F::ZERO);
    }

    #[inline(always)]
    fn adapt<P: Past<F>>(&mut self, past: &P, p: F, weight: F) {
        let (n, r) = (self.w.len(), past.len());
        let delta = self.settings.delta.of(past);
        let slope = self.slope(p, past.target(0));
        if self.gained.is_empty() {
            let normalizer = past.energy() + delta;
            let a = if normalizer > F::ZERO { slope * weight / normalizer } else { F::ZERO };
            self.go(past.regressor(0), a);
            return;
        }
        if let Some(metric) = self.settings.metric {
            metric.write(&self.w[..self.features], &mut self.q[..self.features]);
        }
        self.e[0] = slope;
        for c in 1..r {
            self.e[c] = dot(&self.w, past.regressor(c)) - past.target(c);
        }
        for c in 0..r {
            let gained = &mut self.gained[c * n..(c + 1) * n];
            for ((gained, &x), &q) in gained.iter_mut().zip(past.regressor(c)).zip(&self.q) {
                *gained = x / q;
            }
        }
        for i in 0..r {
            for j in 0..=i {
                self.gram[i * r + j] = dot(past.regressor(i), &self.gained[j * n..(j + 1) * n]);
            }
        }
        cholesky(&mut self.gram[..r * r], &mut self.e[..r], delta);
        // The first direction takes the others in: one vector is then the whole step.
        let (first, others) = self.gained.split_at_mut(n);
        let scale = self.e[0] * weight;
        for x in first.iter_mut() {
            *x *= scale;
        }
        for (c, other) in (1..r).zip(others.chunks_exact(n)) {
            add_scaled(first, self.e[c] * weight, other);
        }
        let step = std::mem::take(&mut self.gained);
        self.go(&step[..n], F::ONE);
        self.gained = step;
    }

    fn save(&self, out: &mut Vec<u8>) {
        save_all(&self.w, out);
        save_all(&self.s, out);
    }

    fn restore(&mut self, input: &mut &[u8]) -> Option<()> {
        restore_into(&mut self.w, input)?;
        restore_into(&mut self.s, input)
    }
}

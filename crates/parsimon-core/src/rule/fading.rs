//! FTRL-Proximal whose past fades: the weight follows the leader of recent rows.
//!
//! With `gamma = 2^(-1/ROWS)`, after round `t`
//!
//! ```text
//! w = argmin sum_s gamma^(t-s) ( g_s w + sigma_s/2 (w - w_s)^2 ) + psi(w) + beta/(2 rate) w^2
//!
//! N_t = gamma^2 N_(t-1) + g_t^2
//! z_t = gamma z_(t-1) + g_t - sigma_t w_t          sigma_t = (sqrt N_t - gamma sqrt N_(t-1)) / rate
//! w   = argmin z_t w + psi(w) + (beta + sqrt N_t)/(2 rate) w^2
//! ```
//!
//! The penalty and `beta` do not fade: without new gradients the leader is zero. `beta` is centered at zero, as it is without fading.
//! Steps do not become small for good, because `N` stays bounded.
//!
//! Sums are kept in units that grow ([`HalfLife`]), so a coordinate without a gradient is not touched: `sqrt N_t = gamma sqrt N_(t-1)` there, and
//! its `sigma_t` is zero.

use std::cmp::Ordering;

use super::Rule;
use crate::fade::DIVIDED;
use crate::metric::{AdaGrad, Metric};
use crate::penalty::{Penalty, PerFeature};
use crate::share::Merging;
use crate::{Float, HalfLife, Table, state::state};

/// Follow the proximally regularized leader of recent rows; the penalty is in force once.
///
/// ```
/// use parsimon_core::metric::AdaGrad;
/// use parsimon_core::penalty::ElasticNet;
/// use parsimon_core::rule::Rule;
/// use parsimon_core::rule::fading::Fading;
/// use parsimon_core::{HalfLife, Table};
///
/// let rule = Fading {
///     penalty: ElasticNet { l1: 1.0, l2: 0.0 },
///     metric: AdaGrad { rate: 0.5, delta: 1.0 },
///     half_life: HalfLife::new(1).unwrap(),
/// };
/// let (mut now, mut c) = Default::default();
/// // One gradient of 3, then a round without one: everything that was learned counts half.
/// Rule::<f64>::tick(&rule, &mut now);
/// let g = Rule::<f64>::importance(&rule, &now) * 3.0;
/// rule.absorb(&mut now, 0, &mut c, 0.0, g, g);
/// assert_eq!(rule.played(&now, 0, &c), -(3.0 - 1.0) / ((1.0 + 3.0) / 0.5));
/// Rule::<f64>::tick(&rule, &mut now);
/// assert_eq!(rule.played(&now, 0, &c), -(1.5 - 1.0) / ((1.0 + 1.5) / 0.5));
/// // And after another one the penalty exceeds it.
/// Rule::<f64>::tick(&rule, &mut now);
/// assert_eq!(rule.played(&now, 0, &c), 0.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fading<P> {
    /// The penalty.
    pub penalty: P,
    /// The weight of the quadratics.
    pub metric: AdaGrad,
    /// Fading of old rows.
    pub half_life: HalfLife,
}

/// A coordinate: the linear part and the sum of squared gradients, in units of the growth and of its square.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Grown<F> {
    z: F,
    n: F,
}

state!(Grown<F: Float> { z, n });

/// Divides the sums, whose unit changes.
///
/// NUMERICS: a sum of squares that is not exact after the division is negligible beside any new gradient. The coordinate is
/// reset, because its weight would be the ratio of two rounding errors. NaN stays NaN, so that divergence is reported.
#[inline(always)]
pub(crate) fn divided<F: Float>(z: F, n: F) -> (F, F) {
    let divided = F::from_f64(DIVIDED);
    let small = n * divided * divided;
    let again = small / divided / divided;
    match again.partial_cmp(&n) {
        None | Some(Ordering::Equal) => (z * divided, small),
        Some(_) => (F::ZERO, F::ZERO),
    }
}

/// The round, the multiple of the penalty, and the growth. Before the first round all are zero, as is every weight.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FadingClock {
    t: u64,
    scale: f64,
    growth: f64,
}

state!(FadingClock { t, scale, growth });

impl<P> Fading<P> {
    #[inline(always)]
    fn q<F: Float>(&self, now: &FadingClock, n: F) -> F {
        let AdaGrad { rate, delta } = self.metric;
        AdaGrad { rate, delta: now.growth * delta }.q(F::ZERO, &n)
    }
}

impl<F: Float, P: PerFeature<F>> Rule<F> for Fading<P> {
    type Coord = Grown<F>;
    type Clock = FadingClock;

    fn tick(&self, now: &mut FadingClock) {
        now.t += 1;
        now.growth = self.half_life.growth(now.t);
        // Set here in the first round or by `scale_penalty`; rounds do not change it.
        if now.scale <= 0.0 {
            now.scale = 1.0;
        }
    }
    #[inline(always)]
    fn importance(&self, now: &FadingClock) -> f64 {
        now.growth
    }
    #[inline(always)]
    fn scale_penalty(&self, now: &mut FadingClock, scale: f64) {
        now.scale = scale;
    }
    #[inline(always)]
    fn played(&self, now: &FadingClock, j: u32, c: &Grown<F>) -> F {
        self.penalty.of(j).argmin(c.z, self.q(now, c.n), F::from_f64(now.scale * now.growth))
    }
    #[inline(always)]
    fn absorb(&self, now: &mut FadingClock, _j: u32, c: &mut Grown<F>, w: F, g: F, at: F) {
        let before = self.q(now, c.n);
        c.n += at * at;
        c.z += g - (self.q(now, c.n) - before) * w;
    }
    #[inline(always)]
    fn close(&self, now: &mut FadingClock, table: &mut Table<Grown<F>>) {
        if self.half_life.divides(now.t) {
            for (_, c) in table.seen_mut() {
                (c.z, c.n) = divided(c.z, c.n);
            }
            now.growth = 1.0;
        }
    }
    fn merging(&self) -> Result<&dyn Merging<Grown<F>, FadingClock>, &'static str> {
        Err(
            "half-life weighs rows by their age, and the rows of several learners have no common age",
        )
    }
}

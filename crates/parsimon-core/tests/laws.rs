//! Laws of the parts: what lazy steps, minimizers, projections and the implicit equation must satisfy whatever the
//! numbers.

use parsimon_core::implicit::solve;
use parsimon_core::penalty::{
    Bounded, Bounds, Candidate, CatchUp, Elastic, ElasticNet, Factors, L1, Lazy, PerFeature,
    Weighted, nonnegative,
};
use parsimon_core::rule::dense::threshold;
use parsimon_core::{Loss, Penalty, soft};
use proptest::collection::vec;
use proptest::prelude::*;

/// Magnitudes over many decades, and zero.
fn magnitude() -> impl Strategy<Value = f64> {
    prop_oneof![1 => Just(0.0), 9 => (-6.0..3.0f64).prop_map(|e| 10f64.powf(e))]
}

fn signed() -> impl Strategy<Value = f64> {
    (magnitude(), any::<bool>()).prop_map(|(m, negative)| if negative { -m } else { m })
}

fn steps() -> impl Strategy<Value = Vec<f64>> {
    vec((-4.0..0.5f64).prop_map(|e| 10f64.powf(e)), 0..60)
}

fn net() -> impl Strategy<Value = ElasticNet> {
    (magnitude(), magnitude()).prop_map(|(l1, l2)| ElasticNet { l1, l2 })
}

#[track_caller]
fn close(a: f64, b: f64, scale: f64, tolerance: f64) -> Result<(), TestCaseError> {
    prop_assert!((a - b).abs() <= tolerance * scale, "{a:e} against {b:e} at scale {scale:e}");
    Ok(())
}

/// The weight that pays one by one, and the same weight that sleeps through and pays at once.
///
/// The debt of the steps before it fell asleep must not be charged again; it is what the weight's magnitude is
/// measured against, since differences of totals are good to their last digits only.
fn eager_and_lazy<P: Lazy<f64>>(penalty: P, w: f64, before: &[f64], steps: &[f64]) -> (f64, f64) {
    let mut debt = P::Debt::default();
    before.iter().for_each(|&eta| Lazy::charge(&penalty, &mut debt, eta));
    let seen = Lazy::stamp(&penalty, &debt);
    let mut eager = w;
    for &eta in steps {
        eager = penalty.prox(eager, eta);
        Lazy::charge(&penalty, &mut debt, eta);
    }
    (eager, Lazy::catch_up(&penalty, w, &debt, &seen))
}

proptest! {
    #[test]
    fn sleeping_through_l1_steps_costs_what_taking_them_does(
        w in signed(), l1 in magnitude(), before in steps(), steps in steps()
    ) {
        let (eager, lazy) = eager_and_lazy(L1 { l1 }, w, &before, &steps);
        let total: f64 = before.iter().chain(&steps).sum();
        close(eager, lazy, w.abs() + l1 * total, 1e-12)?;
    }

    #[test]
    fn sleeping_through_elastic_steps_costs_what_taking_them_does(
        w in signed(), net in net(), before in steps(), steps in steps()
    ) {
        let (eager, lazy) = eager_and_lazy(net, w, &before, &steps);
        // The total shift never exceeds what the steps before and since would take without l2, nor l1/l2.
        let total: f64 = before.iter().chain(&steps).sum();
        close(eager, lazy, w.abs() + (net.l1 * total).min(net.l1 / net.l2), 1e-12)?;
        prop_assert!(lazy == 0.0 || lazy.is_sign_negative() == w.is_sign_negative());
    }

    #[test]
    fn sleeping_through_steps_of_a_feature_costs_what_taking_them_does(
        w in signed(), l1 in magnitude(), factor in 0.0..10f64, bounds in bounds(), before in steps(), steps in steps()
    ) {
        let factors = Factors::new(vec![(3, factor), (5, 0.0)]).unwrap();
        let penalty = Weighted { base: Bounded { base: L1 { l1 }, bounds }, factors };
        let mut debt = 0.0;
        let charge = |debt: &mut f64, eta| CatchUp::<f64>::charge(&penalty, debt, eta);
        before.iter().for_each(|&eta| charge(&mut debt, eta));
        let seen: f64 = CatchUp::<f64>::stamp(&penalty, &debt);
        let start = bounds.clamp(w);
        let mut eager = [start; 3];
        for &eta in &steps {
            for (j, w) in [3, 5, 7].into_iter().zip(&mut eager) {
                *w = PerFeature::<f64>::of(&penalty, j).prox(*w, eta);
            }
            charge(&mut debt, eta);
        }
        let total: f64 = before.iter().chain(&steps).sum();
        for (j, eager) in [3, 5, 7].into_iter().zip(eager) {
            let lazy = penalty.catch_up(j, start, &debt, &seen);
            close(eager, lazy, start.abs() + (1.0 + factor) * l1 * total, 1e-12)?;
        }
        // A factor of 0 is no penalty; the factor of every other feature is 1.
        prop_assert_eq!(penalty.catch_up(5, start, &debt, &seen), start);
        let plain = Lazy::catch_up(&penalty.base, start, &debt, &seen);
        prop_assert_eq!(penalty.catch_up(7, start, &debt, &seen), plain);
    }

    #[test]
    fn a_factor_multiplies_the_penalty(
        z in signed(), q in 1e-3..1e3f64, amount in magnitude(), net in net(), factor in 0.0..10f64
    ) {
        let factors = Factors::new(vec![(3, factor)]).unwrap();
        let penalty = Weighted { base: net, factors };
        let of = |j: u32| PerFeature::<f64>::of(&penalty, j);
        let scaled = ElasticNet { l1: factor * net.l1, l2: factor * net.l2 };
        prop_assert_eq!(of(3).argmin(z, q, amount), scaled.argmin(z, q, amount));
        prop_assert_eq!(of(4).argmin(z, q, amount), net.argmin(z, q, amount));
        // The problem is the one of a penalty charged `factor` times as often.
        let often = net.argmin(z, q, factor * amount);
        close(of(3).argmin(z, q, amount), often, often.abs().max(1e-300), 1e-9)?;
    }

    #[test]
    fn who_missed_nothing_loses_nothing(w in signed(), net in net(), before in steps()) {
        let (_, lazy) = eager_and_lazy(net, w, &before, &[]);
        prop_assert_eq!(lazy, w);
        let (_, lazy) = eager_and_lazy(L1 { l1: net.l1 }, w, &before, &[]);
        prop_assert_eq!(lazy, w);
    }

    #[test]
    fn repeat_is_that_many_steps(
        w in signed(), net in net(), eta in (-4.0..0.5f64).prop_map(|e| 10f64.powf(e)), n in 0u64..200
    ) {
        let fold = |step: &dyn Fn(f64) -> f64| (0..n).fold(w, |w, _| step(w));
        let l1 = L1 { l1: net.l1 };
        let scale = w.abs() + net.l1 * eta * n as f64;
        close(fold(&|w| l1.prox(w, eta)), l1.repeat(w, eta, n), scale, 1e-12)?;
        close(fold(&|w| net.prox(w, eta)), net.repeat(w, eta, n), scale, 1e-12)?;
    }

    #[test]
    fn a_step_is_the_minimizer_of_what_it_minimizes(v in signed(), net in net(), eta in 1e-3..10f64) {
        // (w - v)^2/(2 eta) + psi(w) is a linear part -v/eta, a quadratic 1/eta, and psi once.
        let minimizer = net.argmin(-v / eta, 1.0 / eta, 1.0);
        close(net.prox(v, eta), minimizer, v.abs(), 1e-12)?;
    }

    #[test]
    fn the_minimizer_is_optimal(
        z in signed(), q in magnitude(), amount in magnitude(), net in net()
    ) {
        let w = net.argmin(z, q, amount);
        let (l1, den) = (amount * net.l1, q + amount * net.l2);
        if den == 0.0 {
            prop_assert_eq!(w, 0.0);
            return Ok(());
        }
        // 0 is a subgradient at w.
        let scale = z.abs() + l1;
        if w == 0.0 {
            prop_assert!(z.abs() <= l1 * (1.0 + 1e-15), "{z:e} escapes {l1:e}");
        } else {
            close(z + l1 * w.signum() + den * w, 0.0, scale, 1e-12)?;
        }
        // And no point of a grid around it, on both sides of zero, is better.
        let value = |w: f64| z * w + l1 * w.abs() + 0.5 * den * w * w;
        let reach = 2.0 * w.abs().max(scale / den);
        for k in -50..=50 {
            let other = reach * f64::from(k) / 50.0;
            let rounding = 1e-14 * (scale * other.abs() + den * other * other);
            prop_assert!(value(w) <= value(other) + rounding, "{other:e} beats {w:e}");
        }
    }

    #[test]
    fn without_an_amount_there_is_no_penalty(z in signed(), q in 1e-3..1e3f64, net in net()) {
        prop_assert_eq!(net.argmin(z, q, 0.0), -z / q);
        prop_assert_eq!(net.prox(z, 0.0), z);
        prop_assert_eq!(soft(z, 0.0), z);
    }

    #[test]
    fn soft_is_nonexpansive_and_composes(a in signed(), b in signed(), c in magnitude(), d in magnitude()) {
        let apart = (soft(a, c) - soft(b, c)).abs();
        prop_assert!(apart <= (a - b).abs() * (1.0 + 1e-15) + 1e-15 * (a.abs() + b.abs()));
        close(soft(soft(a, c), d), soft(a, c + d), a.abs() + c + d, 1e-15)?;
        prop_assert!(a.abs() > c || soft(a, c) == 0.0);
        prop_assert!(soft(a, c) == 0.0 || soft(a, c).signum() == a.signum());
        prop_assert_eq!(soft(-a, c), -soft(a, c));
    }
}

/// Intervals around zero; each end may be zero or infinite.
fn bounds() -> impl Strategy<Value = Bounds> {
    let end = || prop_oneof![1 => Just(f64::INFINITY), 5 => magnitude()];
    (end(), end()).prop_map(|(lower, upper)| Bounds::new(-lower, upper).expect("zero is inside"))
}

/// No point of the interval is better than `w`: a grid over all of it that can matter, and points close to `w`.
fn is_least_inside(
    w: f64,
    bounds: Bounds,
    reach: f64,
    value: impl Fn(f64) -> f64,
    rounding: impl Fn(f64) -> f64,
) -> Result<(), TestCaseError> {
    prop_assert!(bounds.lower() <= w && w <= bounds.upper(), "{w:e} is outside of {bounds:?}");
    let grid = (-200..=200).map(|k| reach * f64::from(k) / 200.0);
    let near = (1..=12).flat_map(|k| [-1.0, 1.0].map(|sign| w + sign * reach * 0.2f64.powi(k)));
    for other in grid.chain(near).chain([0.0, bounds.lower(), bounds.upper()]) {
        if other.is_finite() && bounds.lower() <= other && other <= bounds.upper() {
            let slack = rounding(other) + rounding(w);
            prop_assert!(value(w) <= value(other) + slack, "{other:e} is better than {w:e}");
        }
    }
    Ok(())
}

/// What a penalty with bounds must satisfy, given by the elastic net inside of them.
#[derive(Clone, Copy, Debug)]
struct Inside<P> {
    penalty: P,
    net: ElasticNet,
    bounds: Bounds,
}

impl<P: Lazy<f64> + Lazy<f32> + Elastic<f64> + std::fmt::Debug> Inside<P> {
    fn a_step_is_the_minimizer(&self, v: f64, eta: f64) -> Result<(), TestCaseError> {
        let ElasticNet { l1, l2 } = self.net;
        let w = self.penalty.prox(v, eta);
        let value = |w: f64| (w - v) * (w - v) / (2.0 * eta) + l1 * w.abs() + l2 / 2.0 * w * w;
        let rounding = |w: f64| 1e-13 * ((v * v + w * w) / eta + l1 * w.abs() + l2 / 2.0 * w * w);
        is_least_inside(w, self.bounds, 2.0 * v.abs(), value, rounding)
    }

    fn the_minimizer_is_least(&self, z: f64, q: f64, amount: f64) -> Result<(), TestCaseError> {
        let w = self.penalty.argmin(z, q, amount);
        let (l1, den) = (amount * self.net.l1, q + amount * self.net.l2);
        if den == 0.0 {
            prop_assert_eq!(w, 0.0);
            return Ok(());
        }
        let value = |w: f64| z * w + l1 * w.abs() + 0.5 * den * w * w;
        let rounding = |w: f64| 1e-13 * ((z.abs() + l1) * w.abs() + den * w * w);
        is_least_inside(w, self.bounds, 2.0 * (z.abs() + l1) / den, value, rounding)?;
        // Implicit updates and merging see the same problem.
        let candidate: Candidate = Elastic::<f64>::candidate(&self.penalty, z, q, amount);
        for same in [candidate.weight(), candidate.at(0.0, 1.0), candidate.at(-z, 0.0)] {
            close(same, w, (z.abs() + l1) / den, 1e-14)?;
        }
        Ok(())
    }

    fn sleeping_is_stepping(
        &self,
        w: f64,
        before: &[f64],
        steps: &[f64],
    ) -> Result<(), TestCaseError> {
        // A weight that a step left behind.
        let w = self.penalty.project(w);
        let (eager, lazy) = eager_and_lazy(self.penalty, w, before, steps);
        let ElasticNet { l1, l2 } = self.net;
        let total: f64 = before.iter().chain(steps).sum();
        close(eager, lazy, w.abs() + (l1 * total).min(l1 / l2), 1e-12)?;
        prop_assert!(self.bounds.lower() <= lazy && lazy <= self.bounds.upper());
        prop_assert!(w != 0.0 || lazy == 0.0, "a zero became {lazy:e}");
        let (_, awake) = eager_and_lazy(self.penalty, w, before, &[]);
        prop_assert_eq!(awake, w);
        Ok(())
    }

    fn repeat_is_stepping(&self, w: f64, eta: f64, n: u64) -> Result<(), TestCaseError> {
        let w = self.penalty.project(w);
        let eager = (0..n).fold(w, |w, _| self.penalty.prox(w, eta));
        let lazy = self.penalty.repeat(w, eta, n);
        close(eager, lazy, w.abs() + self.net.l1 * eta * n as f64, 1e-12)?;
        prop_assert!(self.bounds.lower() <= lazy && lazy <= self.bounds.upper());
        prop_assert!(w != 0.0 || lazy == 0.0, "a zero became {lazy:e}");
        Ok(())
    }

    /// In `f32`, where a bound is rarely a number.
    fn weights_stay_inside(&self, z: f64, q: f64, eta: f64) -> Result<(), TestCaseError> {
        let penalty: &dyn Fn(f32) -> [f32; 4] = &|v| {
            let prox = self.penalty.prox(v, eta as f32);
            let mut debt = <P as Lazy<f32>>::Debt::default();
            let seen = Lazy::<f32>::stamp(&self.penalty, &debt);
            Lazy::<f32>::charge(&self.penalty, &mut debt, eta);
            let late = self.penalty.catch_up(prox, &debt, &seen);
            [prox, late, self.penalty.repeat(prox, eta as f32, 3), self.penalty.project(v)]
        };
        let argmin = self.penalty.argmin(z as f32, q as f32, eta as f32);
        for w in penalty(z as f32).into_iter().chain([argmin]).map(f64::from) {
            prop_assert!(self.bounds.lower() <= w && w <= self.bounds.upper(), "{w:e}");
        }
        Ok(())
    }
}

fn box_of(net: ElasticNet, bounds: Bounds) -> Inside<Bounded<ElasticNet>> {
    Inside { penalty: Bounded { base: net, bounds }, net, bounds }
}

fn flat_box_of(l1: f64, bounds: Bounds) -> Inside<Bounded<L1>> {
    Inside { penalty: Bounded { base: L1 { l1 }, bounds }, net: ElasticNet { l1, l2: 0.0 }, bounds }
}

fn nonnegative_of(net: ElasticNet) -> Inside<Bounded<ElasticNet>> {
    Inside { penalty: nonnegative(net), net, bounds: Bounds::NONNEGATIVE }
}

proptest! {
    #[test]
    fn inside_of_bounds_a_step_is_the_minimizer(
        v in signed(), net in net(), bounds in bounds(), eta in 1e-3..10f64
    ) {
        box_of(net, bounds).a_step_is_the_minimizer(v, eta)?;
        flat_box_of(net.l1, bounds).a_step_is_the_minimizer(v, eta)?;
        nonnegative_of(net).a_step_is_the_minimizer(v, eta)?;
    }

    #[test]
    fn inside_of_bounds_the_minimizer_is_least(
        z in signed(), q in magnitude(), amount in magnitude(), net in net(), bounds in bounds()
    ) {
        box_of(net, bounds).the_minimizer_is_least(z, q, amount)?;
        flat_box_of(net.l1, bounds).the_minimizer_is_least(z, q, amount)?;
        nonnegative_of(net).the_minimizer_is_least(z, q, amount)?;
    }

    #[test]
    fn sleeping_through_bounded_steps_costs_what_taking_them_does(
        w in signed(), net in net(), bounds in bounds(), before in steps(), steps in steps()
    ) {
        box_of(net, bounds).sleeping_is_stepping(w, &before, &steps)?;
        flat_box_of(net.l1, bounds).sleeping_is_stepping(w, &before, &steps)?;
        nonnegative_of(net).sleeping_is_stepping(w, &before, &steps)?;
    }

    #[test]
    fn repeat_is_that_many_bounded_steps(
        w in signed(), net in net(), bounds in bounds(),
        eta in (-4.0..0.5f64).prop_map(|e| 10f64.powf(e)), n in 0u64..200
    ) {
        box_of(net, bounds).repeat_is_stepping(w, eta, n)?;
        flat_box_of(net.l1, bounds).repeat_is_stepping(w, eta, n)?;
        nonnegative_of(net).repeat_is_stepping(w, eta, n)?;
    }

    #[test]
    fn bounds_hold_in_single_precision(
        z in signed(), q in magnitude(), net in net(), bounds in bounds(), eta in 1e-3..10f64
    ) {
        box_of(net, bounds).weights_stay_inside(z, q, eta)?;
        flat_box_of(net.l1, bounds).weights_stay_inside(z, q, eta)?;
        nonnegative_of(net).weights_stay_inside(z, q, eta)?;
    }

    #[test]
    fn a_free_penalty_is_none(v in signed(), q in 1e-3..1e3f64, amount in magnitude(), eta in 1e-3..10f64) {
        fn check<P: Penalty<f64>>(v: f64, q: f64, amount: f64, eta: f64) -> Result<(), TestCaseError> {
            let free = P::free();
            prop_assert_eq!(free.argmin(v, q, amount), -v / q);
            prop_assert_eq!(free.prox(v, eta), v);
            prop_assert_eq!(free.project(v), v);
            Ok(())
        }
        check::<L1>(v, q, amount, eta)?;
        check::<ElasticNet>(v, q, amount, eta)?;
        check::<Bounded<L1>>(v, q, amount, eta)?;
        check::<Bounded<ElasticNet>>(v, q, amount, eta)?;
    }
}

fn l1_norm(v: &[f64]) -> f64 {
    v.iter().map(|v| v.abs()).sum()
}

fn project(v: &[f64], radius: f64) -> Vec<f64> {
    let mut magnitudes: Vec<f64> = v.iter().map(|v| v.abs()).collect();
    let theta = threshold(&mut magnitudes, radius);
    v.iter().map(|&v| soft(v, theta)).collect()
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}

proptest! {
    #[test]
    fn the_threshold_projects_on_the_l1_ball(
        v in vec(signed(), 0..12), radius in (-3.0..2.0f64).prop_map(|e| 10f64.powf(e)),
        others in vec(vec(-1.0..1.0f64, 12), 20)
    ) {
        let w = project(&v, radius);
        let scale = l1_norm(&v) + radius;
        prop_assert!(l1_norm(&w) <= radius + 1e-13 * scale, "outside: {}", l1_norm(&w));
        if l1_norm(&v) <= radius {
            prop_assert_eq!(&w, &v, "a point inside was moved");
        } else {
            close(l1_norm(&w), radius, scale, 1e-13)?;
        }
        prop_assert!(distance(&project(&w, radius), &w) <= 1e-13 * scale, "not idempotent");
        // No feasible point is nearer: corners of the ball, and points drawn into it.
        let nearest = distance(&v, &w);
        let corners = (0..v.len()).flat_map(|i| [radius, -radius].map(|r| {
            let mut corner = vec![0.0; v.len()];
            corner[i] = r;
            corner
        }));
        let drawn = others.iter().map(|direction| {
            let point = &direction[..v.len()];
            let shrink = radius / l1_norm(point).max(radius);
            point.iter().map(|x| x * shrink).collect::<Vec<_>>()
        });
        let along = others.iter().map(|direction| {
            // Near the projection itself, where a wrong one would be beaten.
            let near: Vec<f64> = w.iter().zip(direction).map(|(w, d)| w + 0.01 * radius * d).collect();
            let shrink = radius / l1_norm(&near).max(radius);
            near.iter().map(|x| x * shrink).collect::<Vec<_>>()
        });
        for point in corners.chain(drawn).chain(along) {
            prop_assert!(nearest <= distance(&v, &point) + 1e-12 * scale, "{point:?} is nearer");
        }
    }

    #[test]
    fn the_implicit_equation_is_solved(
        which in 0usize..5, p in -20.0..20f64, size in (-4.0..4.0f64).prop_map(|e| 10f64.powf(e)),
        positive in any::<bool>(), weight in (-2.0..1.0f64).prop_map(|e| 10f64.powf(e)), l1 in magnitude()
    ) {
        let loss = [Loss::Logistic, Loss::Squared, Loss::Hinge, Loss::SquaredHinge,
                    Loss::Huber { delta: 1.0 }][which];
        let y = if positive { 1.0 } else { -1.0 };
        let slope = |m: f64| weight * loss.slope(m, y);
        // One coordinate behind a threshold, as rules have it, and one without.
        let margin = |u: f64| soft(p - size * u, l1) - 0.5 * size * u;
        let u = solve(slope, margin);
        // u lies between 0 and the explicit slope.
        let far = slope(margin(0.0));
        prop_assert!(u * far >= 0.0 && u.abs() <= far.abs(), "{u} outside 0..{far}");
        // excess(u) = u - slope(margin(u)) changes sign at u, up to the last digits of u: that is a solution also
        // where the slope jumps.
        let excess = |u: f64| u - slope(margin(u));
        let nudge = 1e-14 * (far.abs() + u.abs());
        let noise = 1e-14 * far.abs() + 1e-14 * weight * (p.abs() + l1 + size * far.abs());
        prop_assert!(excess(u - nudge) <= noise, "{u}: {}", excess(u - nudge));
        prop_assert!(excess(u + nudge) >= -noise, "{u}: {}", excess(u + nudge));
    }
}

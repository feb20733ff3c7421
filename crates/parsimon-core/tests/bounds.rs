//! Rules whose penalty has bounds, against the same method written down eagerly: every round, for a coordinate that seldom has a
//! gradient, from the definition.

use parsimon_core::merge::{Merging, Parts, Step};
use parsimon_core::metric::{AdaGrad, Global, Metric, Pace};
use parsimon_core::penalty::{Bounded, Bounds, Elastic, ElasticNet, L1, Lazy, nonnegative};
use parsimon_core::rule::anchored::Anchored;
use parsimon_core::rule::leader::{Accrual, Center, Iterate, Leader, Origin};
use parsimon_core::rule::mirror::{Adaptive, HalfStep, Scheduled};
use parsimon_core::rule::proximal::Proximal;
use parsimon_core::rule::{Implicit, Rule};
use parsimon_core::{
    Chunk, Float, Learner, Loss, Online, Penalty, Repeats, Schedule, State, StateWriter, Table,
    soft,
};
use proptest::collection::vec;
use proptest::prelude::*;

/// A gradient now and then, nothing else.
fn gradients() -> impl Strategy<Value = Vec<f64>> {
    let gradient = prop_oneof![4 => Just(0.0), 2 => -3.0..3f64, 1 => -1.0..0f64];
    // Runs of one sign press against a bound.
    let run = (vec(gradient, 1..20), -1.0..1f64).prop_map(|(mut run, push)| {
        run.iter_mut().filter(|g| **g != 0.0).for_each(|g| *g += push);
        run
    });
    vec(run, 1..5).prop_map(|runs| runs.into_iter().flatten().collect())
}

fn strength() -> impl Strategy<Value = f64> {
    prop_oneof![1 => Just(0.0), 3 => (-3.0..0.5f64).prop_map(|e| 10f64.powf(e))]
}

fn bounds() -> impl Strategy<Value = Bounds> {
    let end = || prop_oneof![1 => Just(f64::INFINITY), 1 => Just(0.0), 4 => 0.01..1f64];
    (end(), end()).prop_map(|(lower, upper)| Bounds::new(-lower, upper).expect("zero is inside"))
}

/// The weight before every round and after the last, read off a coordinate that is only visited when it has a gradient. Half way
/// everything is written down and read again.
fn lazy<F: Float, R: Rule<F>>(rule: &R, gradients: &[f64]) -> Vec<f64> {
    let (mut now, mut c) = (R::Clock::default(), R::Coord::default());
    let mut weights = Vec::new();
    for (t, &g) in gradients.iter().enumerate() {
        if t == gradients.len() / 2 {
            now = written_and_read(&now);
            c = written_and_read(&c);
        }
        let w = rule.played(&now, 0, &c);
        weights.push(w.to_f64());
        rule.tick(&mut now);
        if g != 0.0 {
            let g = F::from_f64(g);
            rule.absorb(&mut now, 0, &mut c, w, g, g);
        }
    }
    weights.push(rule.played(&now, 0, &c).to_f64());
    weights
}

fn written_and_read<S: State>(state: &S) -> S {
    let mut bytes = StateWriter::new();
    state.write(&mut bytes);
    S::read(&mut bytes.as_bytes()).expect("the bytes are those of a state")
}

/// The weights of a method that knows the round, the gradient and the weight then played.
fn eager(gradients: &[f64], mut round: impl FnMut(u64, f64, f64) -> f64) -> Vec<f64> {
    let mut w = 0.0;
    let mut weights = vec![w];
    for (t, &g) in (1..).zip(gradients) {
        w = round(t, g, w);
        weights.push(w);
    }
    weights
}

fn least(net: ElasticNet, bounds: Bounds, z: f64, q: f64, amount: f64) -> f64 {
    let w = -soft(z, amount * net.l1) / (q + amount * net.l2);
    w.max(bounds.lower()).min(bounds.upper())
}

fn check<R: Rule<f64> + Rule<f32>>(
    rule: &R,
    bounds: Bounds,
    gradients: &[f64],
    twin: &[f64],
) -> Result<(), TestCaseError> {
    let lazily = lazy::<f64, R>(rule, gradients);
    let scale = twin.iter().fold(1.0, |scale: f64, w| scale.max(w.abs()));
    for (t, (a, b)) in lazily.iter().zip(twin).enumerate() {
        prop_assert!((a - b).abs() <= 1e-10 * scale, "before round {}: {a:e}, not {b:e}", t + 1);
    }
    for w in lazily.into_iter().chain(lazy::<f32, R>(rule, gradients)) {
        prop_assert!(bounds.lower() <= w && w <= bounds.upper(), "{w:e} outside of {bounds:?}");
    }
    Ok(())
}

/// A leader from its definition: the sum of gradients, of quadratics and of what their centers pull.
fn leader_twin(
    net: ElasticNet,
    bounds: Bounds,
    accrual: Accrual,
    is_proximal: bool,
    q: impl Fn(u64, f64) -> f64,
    gradients: &[f64],
) -> Vec<f64> {
    let (mut z, mut squares) = (0.0, 0.0);
    let mut before = q(0, 0.0);
    eager(gradients, |t, g, w| {
        squares += g * g;
        let now = q(t, squares);
        z += g - if is_proximal { (now - before) * w } else { 0.0 };
        before = now;
        least(net, bounds, z, now, accrual.amount(t))
    })
}

const ADAGRAD: AdaGrad = AdaGrad { rate: 0.5, delta: 0.7 };

fn adagrad(_t: u64, squares: f64) -> f64 {
    (0.7 + squares.sqrt()) / 0.5
}

fn leaders<P>(
    penalty: P,
    net: ElasticNet,
    bounds: Bounds,
    gradients: &[f64],
) -> Result<(), TestCaseError>
where
    P: Elastic<f64> + Elastic<f32>,
{
    let amounts = [Accrual::Once, Accrual::EveryRound, Accrual::Power(0.5)];
    for accrual in amounts {
        let rule = Leader { penalty, accrual, center: Iterate, metric: ADAGRAD };
        let twin = leader_twin(net, bounds, accrual, true, adagrad, gradients);
        check(&rule, bounds, gradients, &twin)?;
        let rule = Leader { penalty, accrual, center: Origin, metric: ADAGRAD };
        let twin = leader_twin(net, bounds, accrual, false, adagrad, gradients);
        check(&rule, bounds, gradients, &twin)?;
        for pace in [Pace::Sqrt { rate: 0.5 }, Pace::Constant { q: 2.0 }, Pace::Log { sigma: 0.3 }]
        {
            let rule = Leader { penalty, accrual, center: Origin, metric: Global(pace) };
            let q = |t, _| if t > 0 { pace.at(t) } else { 0.0 };
            let twin = leader_twin(net, bounds, accrual, false, q, gradients);
            check(&rule, bounds, gradients, &twin)?;
        }
    }
    Ok(())
}

fn mirrors<P>(
    penalty: P,
    net: ElasticNet,
    bounds: Bounds,
    gradients: &[f64],
) -> Result<(), TestCaseError>
where
    P: Lazy<f64> + Lazy<f32>,
{
    let schedule = Schedule::Sqrt { rate: 0.8 };
    for half_step in [HalfStep::Same, HalfStep::Next] {
        let twin = eager(gradients, |t, g, w| {
            let eta = schedule.at(t);
            let half = if half_step == HalfStep::Same { eta } else { schedule.at(t + 1) };
            least(net, bounds, -(w - eta * g) / half, 1.0 / half, 1.0)
        });
        check(&Scheduled { penalty, schedule, half_step }, bounds, gradients, &twin)?;
    }
    let mut squares = 0.0;
    let twin = eager(gradients, |t, g, w| {
        squares += g * g;
        let q = adagrad(t, squares);
        least(net, bounds, -q * (w - g / q), q, 1.0)
    });
    check(&Adaptive { penalty, metric: ADAGRAD }, bounds, gradients, &twin)
}

/// FTPRL with a schedule, every round.
fn proximal_twin(l1: f64, bounds: Bounds, rate: f64, gradients: &[f64]) -> Vec<f64> {
    let q = |t: u64| (t as f64).sqrt() / rate;
    let net = ElasticNet { l1, l2: 0.0 };
    let mut linear = 0.0;
    eager(gradients, |t, g, w| {
        linear += g - (q(t) - q(t - 1)) * w;
        least(net, bounds, linear, q(t), t as f64)
    })
}

/// AOGD, every round.
fn anchored_twin(
    l1: f64,
    bounds: Bounds,
    q: impl Fn(u64, f64) -> f64,
    gradients: &[f64],
) -> Vec<f64> {
    let net = ElasticNet { l1, l2: 0.0 };
    let (mut y, mut squares) = (0.0, 0.0);
    eager(gradients, |t, g, _| {
        squares += g * g;
        let q = q(t, squares);
        let w = least(net, bounds, -(y - g), q, 1.0);
        y = q * w;
        w
    })
}

/// Numbers of two coordinates put together.
fn both(a: Parts, b: Parts, put: impl Fn(f64, f64) -> f64) -> Parts {
    let (a, b) = (a.to_array(), b.to_array());
    Parts::from_slice(&std::array::from_fn::<_, { Parts::WIDTH }, _>(|k| put(a[k], b[k])))
}

/// Coordinates after some rounds, made into one: the weight is inside, and a coordinate alone is what it was.
fn merges<F: Float, R>(rule: &R, bounds: Bounds, starts: [&[f64]; 2]) -> Result<(), TestCaseError>
where
    R: Rule<F> + Merging<R::Coord, R::Clock>,
{
    let learned = starts.map(|gradients| {
        let (mut now, mut c) = (R::Clock::default(), R::Coord::default());
        for &g in gradients {
            let w = rule.played(&now, 0, &c);
            rule.tick(&mut now);
            if g != 0.0 {
                let g = F::from_f64(g);
                rule.absorb(&mut now, 0, &mut c, w, g, g);
            }
        }
        (rule.rounds(&now), rule.parts(&now, 0, &c), rule.played(&now, 0, &c))
    });
    let read = |t: u64, parts: &Parts| {
        let now = rule.clock(t, &Table::index());
        rule.played(&now, 0, &rule.coordinate(t, 0, parts)).to_f64()
    };
    for (t, parts, w) in &learned {
        prop_assert!((read(*t, parts) - w.to_f64()).abs() <= 1e-6 * (1.0 + w.to_f64().abs()));
    }
    let [(t, a, _), (s, b, _)] = learned;
    let zero = Parts::default();
    let mut merged = vec![
        both(a, b, |a, b| a + b),
        both(a, b, |a, b| 0.3 * a + (1.0 - 0.3) * b),
        // What rounding leaves of a weight that was brought to zero.
        both(a, a, |a, b| a - (1.0 + 1e-7) * b),
    ];
    if rule.damps() {
        let clock = |t| rule.clock(t, &Table::index());
        let steps = [(t, a), (s, b)].map(|(t, end)| {
            rule.step(&clock(t), 0, [0, t], &zero, &end, rule.overlap(&zero, &end))
        });
        let [a, b] = steps.map(Step::to_array);
        let sum = Step::from_slice(&std::array::from_fn::<_, { Step::WIDTH }, _>(|k| a[k] + b[k]));
        merged.push(rule.stepped(&clock(t + s), 0, [0, t + s], &zero, &sum));
    }
    for parts in merged {
        let w = read(t + s, &parts);
        prop_assert!(bounds.lower() <= w && w <= bounds.upper(), "{w:e} outside of {bounds:?}");
    }
    Ok(())
}

fn merging<F: Float, C: Center<AdaGrad>>(
    net: ElasticNet,
    bounds: Bounds,
    center: C,
    gradients: [&[f64]; 2],
) -> Result<(), TestCaseError> {
    fn every_rule<F: Float, P: Lazy<F> + Elastic<F>, C: Center<AdaGrad>>(
        penalty: P,
        bounds: Bounds,
        center: C,
        gradients: [&[f64]; 2],
    ) -> Result<(), TestCaseError> {
        for accrual in [Accrual::Once, Accrual::EveryRound] {
            let leader = Leader { penalty, accrual, center, metric: ADAGRAD };
            merges::<F, _>(&leader, bounds, gradients)?;
        }
        let (schedule, half_step) = (Schedule::Sqrt { rate: 0.8 }, HalfStep::Same);
        merges::<F, _>(&Scheduled { penalty, schedule, half_step }, bounds, gradients)?;
        merges::<F, _>(&Adaptive { penalty, metric: ADAGRAD }, bounds, gradients)
    }
    every_rule::<F, _, _>(Bounded { base: net, bounds }, bounds, center, gradients)?;
    every_rule::<F, _, _>(nonnegative(net), Bounds::NONNEGATIVE, center, gradients)?;
    let flat = Bounded { base: L1 { l1: net.l1 }, bounds };
    merges::<F, _>(&Anchored { penalty: flat, metric: ADAGRAD }, bounds, gradients)
}

proptest! {
    #[test]
    fn leaders_keep_bounds(l1 in strength(), l2 in strength(), bounds in bounds(), gradients in gradients()) {
        let net = ElasticNet { l1, l2 };
        leaders(Bounded { base: net, bounds }, net, bounds, &gradients)?;
        leaders(nonnegative(net), net, Bounds::NONNEGATIVE, &gradients)?;
    }

    #[test]
    fn mirror_rules_keep_bounds(l1 in strength(), l2 in strength(), bounds in bounds(), gradients in gradients()) {
        let net = ElasticNet { l1, l2 };
        mirrors(Bounded { base: net, bounds }, net, bounds, &gradients)?;
        mirrors(Bounded { base: L1 { l1 }, bounds }, ElasticNet { l1, l2: 0.0 }, bounds, &gradients)?;
        mirrors(nonnegative(net), net, Bounds::NONNEGATIVE, &gradients)?;
    }

    #[test]
    fn ftprl_with_a_schedule_keeps_bounds(l1 in strength(), bounds in bounds(), gradients in gradients()) {
        let rule = Proximal { rate: 0.5, penalty: Bounded { base: L1 { l1 }, bounds } };
        check(&rule, bounds, &gradients, &proximal_twin(l1, bounds, 0.5, &gradients))?;
    }

    #[test]
    fn aogd_keeps_bounds(l1 in strength(), bounds in bounds(), gradients in gradients()) {
        let penalty = Bounded { base: L1 { l1 }, bounds };
        let twin = anchored_twin(l1, bounds, adagrad, &gradients);
        check(&Anchored { penalty, metric: ADAGRAD }, bounds, &gradients, &twin)?;
        let pace = Pace::Sqrt { rate: 0.5 };
        let twin = anchored_twin(l1, bounds, |t, _| pace.at(t), &gradients);
        check(&Anchored { penalty, metric: Global(pace) }, bounds, &gradients, &twin)?;
    }

    #[test]
    fn merged_weights_keep_bounds(
        l1 in strength(), l2 in strength(), bounds in bounds(), a in gradients(), b in gradients()
    ) {
        let net = ElasticNet { l1, l2 };
        merging::<f64, _>(net, bounds, Iterate, [&a, &b])?;
        merging::<f64, _>(net, bounds, Origin, [&a, &b])?;
        merging::<f32, _>(net, bounds, Iterate, [&a, &b])?;
    }
}

/// Rows whose label falls with the feature 1 and rises with the feature 2, from a bias below zero.
fn rows() -> Chunk {
    let mut chunk = Chunk::new();
    for i in 0..400 {
        let (a, b) = (f64::from(i % 7) / 3.0, f64::from(i % 11) / 5.0);
        chunk.push_feature(1, a);
        chunk.push_feature(2, b);
        chunk.finish_row(Some(2.0 * b - a - 1.5), 1.0, Repeats::Refuse).expect("a row");
    }
    chunk
}

/// Features inside of bounds, a bias outside of them, taking the loss or its tangent.
fn learns<F: Float, R: Implicit<F>>(rule: R, bias: R, upper: f64) {
    let chunk = rows();
    for is_implicit in [false, true] {
        let new = if is_implicit { Learner::implicit } else { Learner::new };
        let mut learner: Learner<F, R> =
            new(rule.clone(), Some(bias.clone()), Loss::Squared, Table::growing());
        let mut margins = Vec::new();
        for _ in 0..20 {
            learner.learn(&chunk, &mut margins);
        }
        assert_eq!(learner.weight(1), F::ZERO, "implicit: {is_implicit}");
        let w = learner.weight(2).to_f64();
        assert!(0.3 < w && w <= upper, "{w}, implicit: {is_implicit}");
        assert!(learner.bias().to_f64() < -0.1, "the bias {:?} is held", learner.bias());
        assert_eq!(learner.nonzeros(), 1);
    }
}

#[test]
fn a_learner_keeps_features_inside_and_leaves_the_bias_free() {
    fn all<F: Float>() {
        type Net = Bounded<ElasticNet>;
        let net = ElasticNet { l1: 1e-3, l2: 1e-3 };
        let inside = Bounded { base: net, bounds: Bounds::new(0.0, 0.7).unwrap() };
        let ftrl = |penalty: Net| Leader {
            penalty,
            accrual: Accrual::Once,
            center: Iterate,
            metric: AdaGrad { rate: 0.5, delta: 1.0 },
        };
        learns::<F, _>(ftrl(inside), ftrl(<Net as Penalty<F>>::free()), 0.7);
        learns::<F, _>(ftrl(nonnegative(net)), ftrl(<Net as Penalty<F>>::free()), 3.0);
        let schedule = Schedule::Sqrt { rate: 0.2 };
        let fobos = |penalty: Net| Scheduled { penalty, schedule, half_step: HalfStep::Same };
        learns::<F, _>(fobos(inside), fobos(<Net as Penalty<F>>::free()), 0.7);
        let metric = AdaGrad { rate: 0.3, delta: 0.1 };
        let adaptive = |penalty: Net| Adaptive { penalty, metric };
        learns::<F, _>(adaptive(inside), adaptive(<Net as Penalty<F>>::free()), 0.7);
    }
    all::<f64>();
    all::<f32>();
}

#[test]
fn the_metric_of_the_twins_is_that_of_the_rules() {
    assert_eq!(Metric::<f64>::q(&ADAGRAD, 0.0, &4.0), adagrad(1, 4.0));
}

//! Filters: equal to their twins, whatever the blocks, wherever they are cut, and finite whatever they hear.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use parsimon::Spec;
use parsimon::filter::{Filter, FilterPrecision, Regularization};
use parsimon::workspace::StateWriter;
use parsimon_core::Float;
use parsimon_oracle::streams::SplitMix64;
use parsimon_oracle::{Example, Stream, run};
use proptest::prelude::*;
use serde_json::{Value, json};

/// One spec per filter and variant.
fn filters() -> Vec<Value> {
    vec![
        json!({"algorithm": "lms", "rate": 0.02}),
        json!({"algorithm": "nlms", "rate": 0.5, "delta": 1e-3, "loss": "projection"}),
        json!({"algorithm": "nlms", "rate": 0.5, "delta": 1e-3, "loss": "halfspace"}),
        json!({"algorithm": "apa", "rate": 0.5, "delta": 0.1, "order": 1, "loss": "projection"}),
        json!({"algorithm": "apa", "rate": 0.5, "delta": 0.1, "order": 4, "loss": "projection"}),
        json!({"algorithm": "papa", "rate": 0.3, "delta": 0.1, "alpha": 0.5, "epsilon": 0.05, "order": 2,
               "loss": "projection"}),
        json!({"algorithm": "pnlms", "rate": 0.5, "rho": 0.05, "delta": 1e-3, "delta_p": 0.01}),
        json!({"algorithm": "ipnlms", "rate": 0.5, "a": 0.3, "delta": 1e-3, "epsilon": 1e-3}),
        json!({"algorithm": "apfbs", "rate": 0.3, "l1": 0.001, "delta": 0.1, "alpha": 0.5, "epsilon": 0.05,
               "order": 2, "loss": "projection"}),
        json!({"algorithm": "apfbs", "rate": 0.3, "l1": 0.001, "delta": 0.1, "loss": "projection"}),
        json!({"algorithm": "pda", "rate": 0.3, "l1": 0.05, "delta": 0.1, "alpha": 0.5, "epsilon": 0.05,
               "order": 2, "loss": "projection"}),
        json!({"algorithm": "pda", "rate": 0.3, "l1": 0.05, "delta": 0.1, "loss": "projection"}),
        json!({"algorithm": "rls", "delta": 0.5, "forgetting": 0.999}),
    ]
}

fn filter<F: FilterPrecision>(spec: &Value, taps: usize, relative: f64) -> Box<dyn Filter<F>> {
    let settings = Spec::from_json(&spec.to_string()).and_then(|spec| spec.resolve()).unwrap();
    settings.filter(taps, Regularization { relative }).unwrap()
}

/// A reference, and what a short sparse echo path and some noise make of it.
fn signals<F: Float>(seed: u64, len: usize, taps: usize) -> (Vec<F>, Vec<F>) {
    let mut random = SplitMix64::new(seed);
    let reference: Vec<f64> = (0..len).map(|_| random.normal()).collect();
    let path: Vec<f64> =
        (0..taps).map(|_| if random.chance(0.3) { random.normal() } else { 0.0 }).collect();
    let echo = |t: usize| -> f64 {
        path.iter().take(t + 1).zip(reference[..=t].iter().rev()).map(|(h, x)| h * x).sum()
    };
    let observed = (0..len).map(|t| echo(t) + 0.01 * random.normal()).collect::<Vec<_>>();
    let into = |signal: Vec<f64>| signal.into_iter().map(F::from_f64).collect();
    (into(reference.clone()), into(observed))
}

#[test]
fn a_filter_is_its_twin_on_the_rows_of_a_delay_line() {
    const TAPS: usize = 12;
    let (reference, observed) = signals::<f64>(1, 500, TAPS);
    for spec in filters() {
        let examples = (0..reference.len()).map(|t| {
            let x = (0..TAPS.min(t + 1)).map(|k| (k, reference[t - k])).collect();
            Example { x, y: observed[t], weight: 1.0 }
        });
        let twin = run(&spec, &Stream { dimension: TAPS, examples: examples.collect() }, false);
        let mut ours = filter::<f64>(&spec, TAPS, 0.0);
        let residual = ours.push(&reference, &observed).to_vec();
        for t in 0..reference.len() {
            let difference = (residual[t] - (observed[t] - twin.margins[t])).abs();
            assert!(difference < 1e-9, "sample {t} differs by {difference:e}: {spec}");
        }
        for (w, twin) in ours.taps().iter().zip(&twin.weights) {
            assert!((w - twin).abs() < 1e-9, "{spec}");
            assert_eq!(*w == 0.0, *twin == 0.0, "{spec}");
        }
    }
}

fn in_blocks<F: Float>(filter: &mut dyn Filter<F>, x: &[F], y: &[F], size: usize) -> Vec<u64> {
    let mut bits = Vec::new();
    for (x, y) in x.chunks(size).zip(y.chunks(size)) {
        bits.extend(filter.push(x, y).iter().map(|e| e.to_f64().to_bits()));
    }
    bits.extend(filter.taps().iter().map(|w| w.to_f64().to_bits()));
    bits
}

fn blocks<F: FilterPrecision>() {
    let (x, y) = signals::<F>(2, 700, 40);
    for spec in filters() {
        let fresh = || filter::<F>(&spec, 40, 0.01);
        let whole = in_blocks(&mut *fresh(), &x, &y, 700);
        for size in [1, 3, 64, 160] {
            assert_eq!(whole, in_blocks(&mut *fresh(), &x, &y, size), "blocks of {size}: {spec}");
        }
    }
}

#[test]
fn blocks_change_nothing() {
    blocks::<f32>();
    blocks::<f64>();
}

fn cut<F: FilterPrecision>() {
    let (x, y) = signals::<F>(3, 900, 40);
    for spec in filters() {
        let mut straight = filter::<F>(&spec, 40, 0.01);
        let want = in_blocks(&mut *straight, &x, &y, 50);
        for at in [1, 37, 450] {
            let mut first = filter::<F>(&spec, 40, 0.01);
            let mut bits = in_blocks(&mut *first, &x[..at], &y[..at], 50);
            bits.truncate(at);
            let mut state = StateWriter::new();
            first.save(&mut state);
            let state = state.into_bytes();
            let mut second = filter::<F>(&spec, 40, 0.01);
            assert!(
                second.restore(&mut &state[..state.len() - 1]).is_err(),
                "a torn state is refused"
            );
            let mut second = filter::<F>(&spec, 40, 0.01);
            let mut input = &state[..];
            assert!(second.restore(&mut input).is_ok() && input.is_empty());
            bits.extend(in_blocks(&mut *second, &x[at..], &y[at..], 50));
            assert_eq!(want, bits, "cut at {at}: {spec}");
        }
    }
}

#[test]
fn saving_and_resuming_changes_nothing() {
    cut::<f32>();
    cut::<f64>();
}

#[test]
fn a_frozen_filter_filters_and_does_not_learn() {
    let (x, y) = signals::<f64>(4, 600, 16);
    for spec in filters() {
        let mut filter = filter::<f64>(&spec, 16, 0.01);
        filter.push(&x[..300], &y[..300]);
        let taps = filter.taps().to_vec();
        filter.set_adapting(false);
        let residual = filter.push(&x[300..], &y[300..]).to_vec();
        assert_eq!(filter.taps(), taps);
        for (t, e) in (300..).zip(residual) {
            let p: f64 = taps.iter().enumerate().map(|(k, w)| w * x[t - k]).sum();
            assert!((y[t] - p - e).abs() < 1e-12);
        }
    }
}

#[test]
fn samples_that_are_no_numbers_count_as_zero() {
    let (mut x, mut y) = signals::<f32>(5, 300, 8);
    (x[50], x[51], y[60]) = (f32::NAN, f32::INFINITY, f32::NEG_INFINITY);
    let (mut clean_x, mut clean_y) = (x.clone(), y.clone());
    (clean_x[50], clean_x[51], clean_y[60]) = (0.0, 0.0, 0.0);
    for spec in filters() {
        let (mut dirty, mut clean) = (filter::<f32>(&spec, 8, 0.01), filter::<f32>(&spec, 8, 0.01));
        assert_eq!(dirty.push(&x, &y), clean.push(&clean_x, &clean_y), "{spec}");
        assert_eq!((dirty.refused(), clean.refused()), (3, 0));
    }
}

#[test]
fn a_filter_that_ran_away_begins_again() {
    let mut filter = filter::<f32>(&json!({"algorithm": "lms", "rate": 10.0}), 8, 0.0);
    let (x, y) = signals::<f32>(6, 5000, 8);
    assert!(filter.push(&x, &y).iter().all(|e| e.is_finite()));
    assert!(filter.resets() > 0);
    assert!(filter.taps().iter().all(|w| w.is_finite()));
}

fn any_finite() -> impl Strategy<Value = f32> {
    prop_oneof![
        4 => -1.0f32..1.0,
        1 => Just(0.0f32),
        1 => any::<f32>().prop_filter("finite", |x| x.is_finite()),
        1 => prop_oneof![Just(1e38f32), Just(-3.4e38), Just(1e-40), Just(1e20), Just(-1e-20)],
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn whatever_finite_comes_in_finite_comes_out(
        signal in prop::collection::vec((any_finite(), any_finite()), 1..120),
        which in 0..13usize,
        size in 1..40usize,
        relative in prop_oneof![Just(0.0), Just(0.01)],
    ) {
        let spec = &filters()[which];
        let (x, y): (Vec<f32>, Vec<f32>) = signal.into_iter().unzip();
        let mut narrow = filter::<f32>(spec, 7, relative);
        for (x, y) in x.chunks(size).zip(y.chunks(size)) {
            prop_assert!(narrow.push(x, y).iter().all(|e| e.is_finite()), "{spec}");
            prop_assert!(narrow.taps().iter().all(|w| w.is_finite()), "{spec}");
        }
        let mut wide = filter::<f64>(spec, 7, relative);
        let huge = |x: &f32| f64::from(*x) * if x.abs() > 1e30 { 1e250 } else { 1.0 };
        let (x, y): (Vec<_>, Vec<_>) = (x.iter().map(huge).collect(), y.iter().map(huge).collect());
        prop_assert!(wide.push(&x, &y).iter().all(|e| e.is_finite()), "{spec}");
        prop_assert!(wide.taps().iter().all(|w| w.is_finite()), "{spec}");
    }
}

//! The theorems and laws of projections, constraints and least squares, played by the fast engine.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use crate::common;

use common::{chunk, learner, with};
use parsimon::settings::{Precision, Storage};
use parsimon::train::Online;
use parsimon_core::filter::metric::MagnitudeMetric;
use parsimon_oracle::Stream;
use parsimon_oracle::streams::{self, SplitMix64};
use serde_json::{Value, json};

const DIMENSION: usize = 24;

fn stream(seed: u64, rounds: usize, labels: &str) -> Stream {
    let options = streams::Options { huge: false, ..streams::Options::default() };
    streams::random(seed, rounds, DIMENSION, labels, options)
}

fn weights(online: &dyn Online) -> Vec<f64> {
    let head = online.freeze().into_heads().remove(0);
    (0..DIMENSION as u32).map(|j| head.weight(j)).chain([head.bias()]).collect()
}

/// The largest difference of the weights after any row.
fn apart(a: &Value, b: &Value, labels: &str) -> f64 {
    let mut worst: f64 = 0.0;
    for (seed, bias) in [(1, false), (2, true), (3, true)] {
        let stream = stream(seed, 300, labels);
        let rows = chunk(&stream);
        let [mut one, mut other] =
            [a, b].map(|spec| learner(spec, Precision::F64, bias, Storage::Growing));
        let mut moved: f64 = 0.0;
        for i in 0..rows.len() {
            one.learn_rows(&rows, i..i + 1, &mut Vec::new());
            other.learn_rows(&rows, i..i + 1, &mut Vec::new());
            for (a, b) in weights(&*one).iter().zip(weights(&*other)) {
                worst = worst.max((a - b).abs());
                moved = moved.max(a.abs());
            }
        }
        assert!(moved > 0.1, "nothing moved, nothing was tested");
    }
    worst
}

#[track_caller]
fn assert_equal(a: &Value, b: &Value, labels: &str, tolerance: f64) {
    let measured = apart(a, b, labels);
    println!("{measured:.1e}: {a} and {b}");
    assert!(measured <= tolerance, "{measured:e} apart, {tolerance:e} allowed:\n{a}\n{b}");
}

/// The engine's learner of one method beside the twin of another: for pairs that are one rule in the engine, where
/// comparing learners would compare a rule with itself.
#[track_caller]
fn assert_equals_the_twin_of(ours: &Value, other: &Value, labels: &str, tolerance: f64) {
    let mut worst: f64 = 0.0;
    for (seed, bias) in [(1, false), (2, true), (3, true)] {
        let stream = stream(seed, 300, labels);
        let rows = chunk(&stream);
        let mut online = learner(ours, Precision::F64, bias, Storage::Growing);
        let twin = parsimon_oracle::trajectory(other, &stream, bias);
        let mut points = twin.iter();
        for i in 0..rows.len() {
            online.learn_rows(&rows, i..i + 1, &mut Vec::new());
            // The twin leaves no trace of rows without a weight, and has no bias where there is none.
            if rows.weight(i) != 0.0 {
                let pairs = weights(&*online).into_iter().zip(points.next().unwrap());
                worst = pairs.fold(worst, |worst, (a, b)| worst.max((a - b).abs()));
            }
        }
        assert!(points.next().is_none());
        assert!(twin.iter().flatten().any(|w| w.abs() > 0.1), "nothing moved, nothing was tested");
    }
    println!("{worst:.1e}: {ours} and the twin of {other}");
    assert!(worst <= tolerance, "{worst:e} apart, {tolerance:e} allowed:\n{ours}\n{other}");
}

#[test]
fn pda_and_apfbs_without_a_penalty_are_nlms() {
    for (loss, labels) in [("projection", "squared"), ("halfspace", "hinge")] {
        let spec = |algorithm: &str| json!({"algorithm": algorithm, "rate": 0.4, "l1": 0, "delta": 1e-3, "loss": loss});
        assert_equal(&spec("pda"), &spec("nlms"), labels, 1e-12);
        assert_equals_the_twin_of(&spec("apfbs"), &spec("nlms"), labels, 1e-12);
        assert_equals_the_twin_of(&spec("apa"), &spec("nlms"), labels, 1e-12);
    }
}

#[test]
fn pda_and_apfbs_without_a_penalty_are_papa() {
    for order in [1, 3] {
        let spec = |algorithm: &str| {
            json!({"algorithm": algorithm, "rate": 0.3, "l1": 0, "alpha": 0.5, "epsilon": 0.01, "delta": 0.1,
                   "order": order, "dimension": DIMENSION, "loss": "projection"})
        };
        assert_equal(&spec("pda"), &spec("papa"), "squared", 1e-9);
        assert_equals_the_twin_of(&spec("apfbs"), &spec("papa"), "squared", 1e-9);
    }
}

/// PA is the projection on the half-space of a row, PA-II the same with a larger normalizer, and PA-I an implicit step on the hinge loss.
#[test]
fn passive_aggressive_steps_are_projections_and_implicit_steps() {
    let pa = |slack: &str| json!({"algorithm": "pa", "slack": slack, "aggressiveness": 0.2, "loss": "hinge"});
    let nlms =
        |delta: f64| json!({"algorithm": "nlms", "rate": 1, "delta": delta, "loss": "halfspace"});
    let unweighted =
        streams::Options { weights: false, huge: false, ..streams::Options::default() };
    let stream = streams::random(4, 300, DIMENSION, "hinge", unweighted);
    let rows = chunk(&stream);
    let learned = |spec: &Value| {
        let mut online = learner(spec, Precision::F64, true, Storage::Growing);
        online.learn(&rows, &mut Vec::new());
        weights(&*online)
    };
    let implicit = json!({"algorithm": "sgd", "schedule": "constant", "rate": 0.2, "implicit": true, "loss": "hinge"});
    let pairs = [
        (pa("none"), nlms(0.0)),
        (pa("squared"), nlms(1.0 / 0.4)),
        (pa("linear"), implicit.clone()),
    ];
    for (ours, other) in pairs {
        let (a, b) = (learned(&ours), learned(&other));
        let apart = a.iter().zip(&b).fold(0.0f64, |worst, (a, b)| worst.max((a - b).abs()));
        assert!(a.iter().any(|w| w.abs() > 0.1) && apart <= 1e-11, "{apart:e}: {ours} and {other}");
    }
    // With importance, too: both multiply the price of a miss.
    assert_equal(&pa("linear"), &implicit, "hinge", 1e-11);
}

/// Variances only shrink, and confidence depends on which features a row has: a row of a new feature moves its weight further
/// than a row of one that is well known.
#[test]
fn a_gaussian_moves_rare_features_further() {
    for spec in [
        json!({"algorithm": "arow", "r": 0.5, "loss": "hinge"}),
        json!({"algorithm": "scw", "phi": 0.7, "loss": "hinge"}),
    ] {
        let mut rows = parsimon::rows::Chunk::new();
        for _ in 0..20 {
            for y in [1.0, -1.0] {
                rows.push_feature(1, 1.0);
                rows.finish_row(Some(y), 1.0, parsimon::rows::Repeats::Refuse).unwrap();
            }
        }
        rows.push_feature(1, 1.0);
        rows.push_feature(2, 1.0);
        rows.finish_row(Some(-1.0), 1.0, parsimon::rows::Repeats::Refuse).unwrap();
        let mut online = learner(&spec, Precision::F64, false, Storage::Growing);
        online.learn_rows(&rows, 0..40, &mut Vec::new());
        let before = weights(&*online);
        online.learn_rows(&rows, 40..41, &mut Vec::new());
        let after = weights(&*online);
        let moved = |j: usize| (after[j] - before[j]).abs();
        assert!(moved(1) > 0.0 && moved(2) > 5.0 * moved(1), "{spec}: {before:?} {after:?}");
    }
}

/// With `alpha = 1` the metric is the identity: the dense way and the sparse one meet.
#[test]
fn the_dense_way_with_the_identity_is_the_sparse_way() {
    for (loss, labels) in [("projection", "squared"), ("halfspace", "hinge")] {
        for (algorithm, l1) in [("pda", 0.1), ("apfbs", 0.01)] {
            let sparse =
                json!({"algorithm": algorithm, "rate": 0.4, "l1": l1, "delta": 1e-3, "loss": loss});
            let dense = with(&with(&sparse, "alpha", 1.0), "dimension", DIMENSION);
            assert_equal(&sparse, &dense, labels, 1e-11);
        }
    }
}

#[test]
fn ipnlms_at_one_end_is_nlms_and_pnlms_with_equal_gains_too() {
    let n = DIMENSION as f64;
    let nlms = json!({"algorithm": "nlms", "rate": 0.4, "delta": 1e-3, "loss": "projection"});
    let ipnlms = json!({"algorithm": "ipnlms", "rate": 0.4, "a": -1, "delta": 1e-3 / n, "dimension": DIMENSION});
    assert_equal(&nlms, &ipnlms, "squared", 1e-11);
    let pnlms =
        json!({"algorithm": "pnlms", "rate": 0.4, "rho": 1, "delta": 1e-3, "dimension": DIMENSION});
    assert_equal(&nlms, &pnlms, "squared", 1e-11);
}

/// The margins of a row after it was learned with the whole step.
fn landed(spec: &Value, labels: &str, bias: bool, check: impl Fn(f64, f64)) {
    let stream = stream(5, 60, labels);
    let mut rows = chunk(&stream);
    let mut online = learner(spec, Precision::F64, bias, Storage::Growing);
    let mut count = 0;
    for i in 0..rows.len() {
        online.learn_rows(&rows, i..i + 1, &mut Vec::new());
        if rows.weight(i) != 1.0 || rows.row(i).is_empty() {
            continue;
        }
        let mut margins = Vec::new();
        online.predict(&common::rows(&rows, i..i + 1), &mut margins);
        check(margins[0], rows.label(i).unwrap());
        count += 1;
    }
    rows.clear();
    assert!(count > 20, "too few rows to tell");
}

#[test]
fn a_whole_step_lands_on_the_set() {
    let metric = json!({"alpha": 0.4, "epsilon": 0.01, "dimension": DIMENSION});
    for bias in [false, true] {
        for (algorithm, extra) in [
            ("nlms", json!({})),
            ("papa", metric.clone()),
            ("pnlms", json!({"dimension": DIMENSION})),
            ("ipnlms", json!({"dimension": DIMENSION})),
            ("pda", metric.clone()),
        ] {
            let mut spec = json!({"algorithm": algorithm, "rate": 1, "l1": 0, "delta": 0});
            spec.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
            landed(&spec, "squared", bias, |p, y| {
                assert!((p - y).abs() < 1e-9 * y.abs().max(1.0), "{p} is not {y}");
            });
            if ["nlms", "papa", "pda"].contains(&algorithm) {
                let spec = with(&spec, "loss", "halfspace");
                landed(&spec, "hinge", bias, |p, y| {
                    assert!(y * p > 1.0 - 1e-9, "{p} is outside for {y}");
                });
            }
        }
        let apa =
            json!({"algorithm": "apa", "rate": 1, "delta": 0, "order": 3, "dimension": DIMENSION});
        landed(&apa, "squared", bias, |p, y| assert!((p - y).abs() < 1e-8 * y.abs().max(1.0)));
    }
}

#[test]
fn csgd_keeps_the_mean_row_on_its_plane() {
    let stream = stream(6, 400, "squared");
    let rows = chunk(&stream);
    let spec = json!({"algorithm": "csgd", "rate": 0.1, "switch": 200});
    let mut online = learner(&spec, Precision::F64, true, Storage::Growing);
    let (mut x_sum, mut y_sum, mut total) = (vec![0.0; DIMENSION + 1], 0.0, 0.0);
    for (i, example) in stream.examples.iter().enumerate() {
        online.learn_rows(&rows, i..i + 1, &mut Vec::new());
        if example.weight == 0.0 {
            continue;
        }
        example.x.iter().for_each(|&(j, v)| x_sum[j] += example.weight * v);
        x_sum[DIMENSION] += example.weight;
        y_sum += example.weight * example.y;
        total += example.weight;
        let at_mean: f64 = weights(&*online).iter().zip(&x_sum).map(|(w, x)| w * x / total).sum();
        assert!(
            (at_mean - y_sum / total).abs() < 1e-10 * (y_sum / total).abs().max(1.0),
            "round {i}"
        );
    }
}

/// The normal equations of all rows so far, solved by Gauss and Jordan.
fn ridge(rows: &[(Vec<f64>, f64, f64)], delta: f64) -> Vec<f64> {
    let n = rows[0].0.len();
    let mut a = vec![vec![0.0; n + 1]; n];
    for (i, row) in a.iter_mut().enumerate() {
        row[i] = delta;
    }
    for (x, y, weight) in rows {
        for i in 0..n {
            (0..n).for_each(|j| a[i][j] += weight * x[i] * x[j]);
            a[i][n] += weight * x[i] * y;
        }
    }
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs())).unwrap();
        a.swap(k, pivot);
        for i in (0..n).filter(|&i| i != k) {
            let factor = a[i][k] / a[k][k];
            let row = a[k].clone();
            a[i].iter_mut().zip(row).for_each(|(a, b)| *a -= factor * b);
        }
    }
    (0..n).map(|i| a[i][n] / a[i][i]).collect()
}

#[test]
fn rls_is_ridge_regression() {
    let stream = stream(7, 120, "squared");
    let rows = chunk(&stream);
    let spec = json!({"algorithm": "rls", "delta": 0.3, "dimension": DIMENSION});
    let mut online = learner(&spec, Precision::F64, true, Storage::Growing);
    let mut past = Vec::new();
    for (i, example) in stream.examples.iter().enumerate() {
        online.learn_rows(&rows, i..i + 1, &mut Vec::new());
        let mut x = vec![0.0; DIMENSION + 1];
        example.x.iter().for_each(|&(j, v)| x[j] = v);
        x[DIMENSION] = 1.0;
        past.push((x, example.y, example.weight));
        if i % 20 == 19 {
            for (w, want) in weights(&*online).iter().zip(ridge(&past, 0.3)) {
                assert!(
                    (w - want).abs() < 1e-9 * want.abs().max(1.0),
                    "round {i}: {w} is not {want}"
                );
            }
        }
    }
}

#[test]
fn the_trace_of_the_metric_is_the_number_of_weights() {
    let mut random = SplitMix64::new(8);
    for n in [1, 5, 100, 1000] {
        let w: Vec<f64> =
            (0..n).map(|_| if random.chance(0.5) { 0.0 } else { random.normal() }).collect();
        for alpha in [0.0, 0.3, 1.0] {
            let (mut q, mut gain) = (vec![0.0; n], vec![0.0; n]);
            MagnitudeMetric { alpha, epsilon: 1e-5 }.write(&w, &mut q, &mut gain);
            assert!((q.iter().sum::<f64>() / n as f64 - 1.0).abs() < 1e-12);
            assert!(q.iter().zip(&gain).all(|(q, g)| (q * g - 1.0).abs() < 1e-15 * 4.0));
        }
    }
}

/// A step of a projection method brings two points no further apart, in the metric of the step (the identity here, for
/// the metric of eq. 3.5 differs from point to point): `|w - eta g(w) - v + eta g(v)| <= |w - v|` for `eta` in (0, 2).
#[test]
fn a_step_is_nonexpansive() {
    for (loss, labels) in [("projection", "squared"), ("halfspace", "hinge")] {
        for rate in [0.3, 1.0, 1.9] {
            let spec = json!({"algorithm": "nlms", "rate": rate, "delta": 1e-3, "loss": loss});
            let (warm, other) = (stream(9, 80, labels), stream(10, 80, labels));
            let mut one = learner(&spec, Precision::F64, true, Storage::Growing);
            let mut two = learner(&spec, Precision::F64, true, Storage::Growing);
            one.learn(&chunk(&warm), &mut Vec::new());
            two.learn(&chunk(&other), &mut Vec::new());
            let mut common = stream(11, 200, labels);
            common.examples.iter_mut().for_each(|example| example.weight = 1.0);
            let rows = chunk(&common);
            let distance = |one: &dyn Online, two: &dyn Online| -> f64 {
                weights(one)
                    .iter()
                    .zip(weights(two))
                    .map(|(a, b)| (a - b) * (a - b))
                    .sum::<f64>()
                    .sqrt()
            };
            let mut before = distance(&*one, &*two);
            assert!(before > 0.1);
            for i in 0..rows.len() {
                one.learn_rows(&rows, i..i + 1, &mut Vec::new());
                two.learn_rows(&rows, i..i + 1, &mut Vec::new());
                let after = distance(&*one, &*two);
                assert!(after <= before * (1.0 + 1e-12), "{before} grew to {after}");
                before = after;
            }
        }
    }
}

/// Ushio 2018, theorem 1 as proved (A.17): the regret of PDA with the identity is at most
/// `t L + eta t G / 2 + D^2 / eta`, with `L` the largest penalty of a point played, `G` the largest `|g|^2` and
/// `D^2 = |w|^2 / 2` of the rival.
#[test]
fn the_regret_of_pda_keeps_the_bound_that_is_proved() {
    let (rate, l1, delta) = (0.4, 0.05, 1e-3);
    let spec = json!({"algorithm": "pda", "rate": rate, "l1": l1, "delta": delta});
    for seed in 20..26 {
        let mut stream = stream(seed, 400, "squared");
        stream.examples.iter_mut().for_each(|example| example.weight = 1.0);
        let rows = chunk(&stream);
        let mut online = learner(&spec, Precision::F64, false, Storage::Growing);
        let mut random = SplitMix64::new(seed);
        let rival: Vec<f64> = (0..DIMENSION).map(|_| 0.5 * random.normal()).collect();
        let norm1 = |w: &[f64]| w.iter().map(|w| w.abs()).sum::<f64>();
        let (mut regret, mut most_penalty, mut most_g): (f64, f64, f64) = (0.0, 0.0, 0.0);
        for (i, example) in stream.examples.iter().enumerate() {
            let w = weights(&*online)[..DIMENSION].to_vec();
            let energy: f64 = example.x.iter().map(|(_, v)| v * v).sum::<f64>();
            let e = |w: &[f64]| example.x.iter().map(|&(j, v)| w[j] * v).sum::<f64>() - example.y;
            let phi = |w: &[f64]| 0.5 * e(w) * e(w) / (energy + delta);
            regret += phi(&w) + l1 * norm1(&w) - phi(&rival) - l1 * norm1(&rival);
            most_penalty = most_penalty.max(l1 * norm1(&w));
            let a = e(&w) / (energy + delta);
            most_g = most_g.max(a * a * energy);
            online.learn_rows(&rows, i..i + 1, &mut Vec::new());
            let t = (i + 1) as f64;
            let d2 = 0.5 * rival.iter().map(|w| w * w).sum::<f64>();
            let bound = t * most_penalty + 0.5 * rate * t * most_g + d2 / rate;
            assert!(regret <= bound, "round {t}: {regret} is beyond {bound}");
        }
    }
}

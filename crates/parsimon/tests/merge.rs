//! Learners made into one: what must hold whatever the method, and the arithmetic of two methods written out.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use crate::common;

use std::collections::BTreeMap;

use common::{chunk, family, labels_of, projecting_family, rows, trainer, with};
use parsimon::Trainer;
use parsimon::algorithm::ALGORITHMS;
use parsimon::merge::{Combine, Delta, merge_deltas};
use parsimon::rows::{Chunk, Repeats};
use parsimon::settings::Precision;
use parsimon::workspace::Head;
use parsimon_oracle::streams::{self, SplitMix64};
use proptest::prelude::*;
use serde_json::{Value, json};

const DIMENSION: usize = 24;

/// Every spec whose learners can be merged.
fn mergeable() -> Vec<Value> {
    let mut specs = family();
    specs.extend(projecting_family());
    specs.retain(|spec| trainer(spec, Precision::F64).check_mergeable().is_ok());
    let normalized: Vec<Value> = specs.iter().map(|spec| with(spec, "normalize", true)).collect();
    specs.extend(normalized);
    specs
}

fn stream(spec: &Value, seed: u64, rounds: usize) -> Chunk {
    let loss = if spec["loss"].is_null() { "logistic" } else { labels_of(spec) };
    chunk(&streams::random(seed, rounds, DIMENSION, loss, streams::Options::tame()))
}

/// A state that has learned something, so that there is something to miss.
fn begun(spec: &Value, precision: Precision) -> Trainer {
    let mut start = trainer(spec, precision);
    start.learn(&stream(spec, 3, 40), &mut |_| {}).unwrap();
    start
}

fn copy(trainer: &Trainer) -> Trainer {
    Trainer::from_checkpoint(&trainer.checkpoint()).unwrap()
}

fn worker(start: &Trainer, chunk: &Chunk) -> Trainer {
    let mut end = copy(start);
    end.learn(chunk, &mut |_| {}).unwrap();
    end
}

fn delta(start: &Trainer, chunk: &Chunk, combine: Combine) -> Delta {
    let mut end = copy(start);
    end.count_rows_for(combine).unwrap();
    end.learn(chunk, &mut |_| {}).unwrap();
    let mut slices = Delta::between(start, &end, combine, 1).unwrap();
    Delta::from_bytes(&slices.remove(0).to_bytes()).unwrap()
}

fn weights(trainer: &Trainer) -> BTreeMap<(usize, u32), f64> {
    let model = trainer.model();
    let of = |(k, head): (usize, &Head)| {
        let bias = (head.bias() != 0.0).then_some(((k, u32::MAX), head.bias()));
        head.iter().map(move |(j, w)| ((k, j), w)).chain(bias).collect::<Vec<_>>()
    };
    model.heads().iter().enumerate().flat_map(of).collect()
}

#[track_caller]
fn assert_close(a: &Trainer, b: &Trainer, tolerance: f64, what: &dyn std::fmt::Display) {
    let (a, b) = (weights(a), weights(b));
    let keys: std::collections::BTreeSet<_> = a.keys().chain(b.keys()).collect();
    for key in keys {
        let (x, y) = (a.get(key).copied().unwrap_or(0.0), b.get(key).copied().unwrap_or(0.0));
        let scale = x.abs().max(y.abs()).max(1.0);
        assert!((x - y).abs() <= tolerance * scale, "{what}: {key:?} is {x}, not {y}");
    }
}

#[test]
fn the_delta_of_one_learner_takes_its_start_to_its_end() {
    for spec in mergeable() {
        // The weights of normalized learners are divided by scales, which are roots of sums.
        let fine = if spec["normalize"] == true { 1e-11 } else { 1e-12 };
        for (precision, tolerance) in [(Precision::F64, fine), (Precision::F32, 2e-6)] {
            for combine in [Combine::Damped, Combine::Shares, Combine::Mean, Combine::Scaled(1)] {
                let mut start = begun(&spec, precision);
                let more = stream(&spec, 4, 50);
                let end = worker(&start, &more);
                start.absorb([delta(&start, &more, combine)]).unwrap();
                assert_close(&start, &end, tolerance, &spec);
                assert_eq!(start.model().nonzeros(), end.model().nonzeros(), "{spec}");
                let (a, b) = (start.progressive(), end.progressive());
                assert_eq!(a.rows(), b.rows());
                assert!((a.total() - b.total()).abs() < 1e-9 * b.total().max(1.0), "{spec}");
                // What comes after is the same, too: nothing but the weights is behind them.
                let rest = stream(&spec, 5, 30);
                let tolerance = tolerance * 1e3;
                assert_close(&worker(&start, &rest), &worker(&end, &rest), tolerance, &spec);
            }
        }
    }
}

#[test]
fn a_delta_of_no_rows_changes_no_bit() {
    for spec in mergeable() {
        for combine in [Combine::Damped, Combine::Shares, Combine::Mean, Combine::Scaled(4)] {
            let mut start = begun(&spec, Precision::F32);
            let before = start.checkpoint();
            let nothing = delta(&start, &Chunk::new(), combine);
            assert_eq!(nothing.coordinates(), 0);
            start.absorb([nothing]).unwrap();
            assert_eq!(start.checkpoint(), before, "{spec}");
        }
    }
}

#[test]
fn neither_slices_nor_their_order_change_a_bit() {
    for spec in mergeable() {
        let start = begun(&spec, Precision::F64);
        // Ids far apart, so that slices have something to share.
        let spread = |seed: u64| {
            let (rows, mut far) = (stream(&spec, seed, 30), Chunk::new());
            for i in 0..rows.len() {
                rows.row(i).iter().for_each(|(j, v)| far.push_feature(1 + j * 5000, v));
                far.finish_row(rows.label(i), rows.weight(i), Repeats::Refuse).unwrap();
            }
            far
        };
        let merged = |combine: Combine, slices: u32, reversed: bool| {
            let mut by_slice = vec![Vec::new(); slices as usize];
            for seed in 10..15 {
                let mut end = copy(&start);
                end.count_rows_for(combine).unwrap();
                end.learn(&spread(seed), &mut |_| {}).unwrap();
                for delta in Delta::between(&start, &end, combine, slices).unwrap() {
                    by_slice[delta.slice().0 as usize].push(delta);
                }
            }
            let mut sums: Vec<_> = by_slice.into_iter().map(|d| merge_deltas(d).unwrap()).collect();
            if reversed {
                sums.reverse();
            }
            let mut state = copy(&start);
            state.absorb(sums).unwrap();
            state.checkpoint()
        };
        for combine in [Combine::Shares, Combine::Damped, Combine::Scaled(5)] {
            let whole = merged(combine, 1, false);
            assert_ne!(whole, start.checkpoint(), "{spec}: nothing was merged");
            assert_eq!(merged(combine, 7, false), whole, "{spec}");
            assert_eq!(merged(combine, 7, true), whole, "{spec}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn merging_is_associative(seed in 0u64..1 << 40) {
        for spec in mergeable() {
            for combine in [Combine::Damped, Combine::Shares, Combine::Mean, Combine::Scaled(3)] {
                let start = begun(&spec, Precision::F64);
                let all = stream(&spec, seed, 60);
                let [a, b, c] = [0..10, 10..45, 45..60].map(|r| delta(&start, &rows(&all, r), combine));
                let sum = |a: &Delta, b: &Delta| {
                    let mut sum = a.clone();
                    sum.add(b).unwrap();
                    sum
                };
                let absorbed = |delta: Delta| {
                    let mut state = copy(&start);
                    state.absorb([delta]).unwrap();
                    state
                };
                let left = absorbed(sum(&sum(&a, &b), &c));
                let right = absorbed(sum(&a, &sum(&b, &c)));
                assert_close(&left, &right, 1e-9, &spec);
                let turned = absorbed(sum(&c, &sum(&b, &a)));
                assert_close(&left, &turned, 1e-9, &spec);
            }
        }
    }
}

#[test]
fn every_flipped_bit_and_every_truncation_is_an_error() {
    let start = trainer(&json!({"algorithm": "ftrl"}), Precision::F64);
    let good = delta(&start, &stream(&json!({}), 1, 2), Combine::Shares).to_bytes();
    for i in 0..good.len() {
        let mut bad = good.clone();
        bad[i] ^= 1 << (i % 8);
        assert!(Delta::from_bytes(&bad).is_err(), "byte {i}");
        assert!(Delta::from_bytes(&good[..i]).is_err(), "cut at {i}");
    }
    let error = Delta::from_bytes(&start.checkpoint()).unwrap_err().to_string();
    assert_eq!(error, "the delta: is a checkpoint, not a delta");
}

/// Rows with a few features each, as plain numbers.
fn plain(seed: u64, rounds: usize) -> Vec<(Vec<(usize, f64)>, f64)> {
    let mut random = SplitMix64::new(seed);
    let row = |random: &mut SplitMix64| {
        let mut x = Vec::new();
        for j in 0..8 {
            if random.chance(0.4) {
                x.push((j, random.between(-1.0, 1.0)));
            }
        }
        (x, if random.chance(0.5) { 1.0 } else { -1.0 })
    };
    (0..rounds).map(|_| row(&mut random)).collect()
}

fn as_chunk(rows: &[(Vec<(usize, f64)>, f64)]) -> Chunk {
    let mut chunk = Chunk::new();
    for (x, y) in rows {
        x.iter().for_each(|&(j, v)| chunk.push_feature(1 + j as u32, v));
        chunk.finish_row(Some(*y), 1.0, Repeats::Refuse).unwrap();
    }
    chunk
}

fn slope(p: f64, y: f64) -> f64 {
    -y / (1.0 + (y * p).exp())
}

fn soft(v: f64, c: f64) -> f64 {
    if v.abs() > c { (v.abs() - c).copysign(v) } else { 0.0 }
}

/// The dense twin: sums `z` and `n` over 8 features and a bias, and the round.
#[derive(Clone)]
struct Sums {
    z: [f64; 9],
    n: [f64; 9],
    t: f64,
}

const ORIGIN: Sums = Sums { z: [0.0; 9], n: [0.0; 9], t: 0.0 };

/// Merges `workers` dense learners of one start for three rounds, and the library's own; both in the end.
fn twins(
    spec: &Value,
    weight: impl Fn(&Sums, usize) -> f64,
    absorb: impl Fn(&mut Sums, usize, f64, f64),
    workers: usize,
) {
    let (mut dense, mut state) = (ORIGIN, trainer(spec, Precision::F64));
    for round in 0..3 {
        let mut sum = dense.clone();
        let mut deltas = Vec::new();
        for k in 0..workers {
            let rows = plain(100 + (round * workers + k) as u64, 20 + 7 * k);
            let mut own = dense.clone();
            for (x, y) in &rows {
                let x: Vec<_> = x.iter().copied().chain([(8, 1.0)]).collect();
                let w: Vec<f64> = (0..9).map(|j| weight(&own, j)).collect();
                let d = slope(x.iter().map(|&(j, v)| w[j] * v).sum(), *y);
                own.t += 1.0;
                x.iter().for_each(|&(j, v)| absorb(&mut own, j, w[j], d * v));
            }
            sum.t += own.t - dense.t;
            for j in 0..9 {
                sum.z[j] += own.z[j] - dense.z[j];
                sum.n[j] += own.n[j] - dense.n[j];
            }
            deltas.push(delta(&state, &as_chunk(&rows), Combine::Shares));
        }
        dense = sum;
        state.absorb([merge_deltas(deltas).unwrap()]).unwrap();
    }
    let model = state.model();
    let head = &model.heads()[0];
    let mut zeros = 0;
    for j in 0..9 {
        let found = if j == 8 { head.bias() } else { head.weight(1 + j as u32) };
        let wanted = weight(&dense, j);
        assert!((found - wanted).abs() < 1e-12, "{spec} {j}: {found} {wanted}");
        assert_eq!(found == 0.0, wanted == 0.0, "{spec} {j}");
        zeros += usize::from(found == 0.0);
    }
    assert!((1..8).contains(&zeros), "{spec}: {zeros} zeros prove nothing");
}

#[test]
fn ftrl_is_merged_as_the_arithmetic_says() {
    let (rate, l1, beta) = (0.3, 1.5, 1.0);
    let q = |n: f64| (beta + n.sqrt()) / rate;
    let strength = move |j: usize| if j == 8 { 0.0 } else { l1 };
    for workers in [1, 2, 5] {
        twins(
            &json!({"algorithm": "ftrl", "rate": rate, "l1": l1, "beta": beta}),
            |s, j| -soft(s.z[j], strength(j)) / q(s.n[j]),
            |s, j, w, g| {
                let sigma = q(s.n[j] + g * g) - q(s.n[j]);
                s.n[j] += g * g;
                s.z[j] += g - sigma * w;
            },
            workers,
        );
    }
}

#[test]
fn rda_is_merged_as_the_arithmetic_says() {
    let (rate, l1) = (0.5, 0.02);
    let weight = |s: &Sums, j: usize| {
        let threshold = if j == 8 { 0.0 } else { s.t * l1 };
        if s.t == 0.0 { 0.0 } else { -soft(s.z[j], threshold) * rate / s.t.sqrt() }
    };
    for workers in [1, 2, 5] {
        let spec = json!({"algorithm": "rda", "rate": rate, "l1": l1});
        twins(&spec, weight, |s, j, _, g| s.z[j] += g, workers);
    }
}

/// The dense twin of damped merging: `a` and its like are written out for every coordinate, no matter whether it changed.
#[test]
fn damped_ftrl_is_merged_as_the_arithmetic_says() {
    let (rate, l1, beta) = (0.3, 1.5, 1.0);
    let spec = json!({"algorithm": "ftrl", "rate": rate, "l1": l1, "beta": beta});
    let q = |n: f64| (beta + n.sqrt()) / rate;
    let strength = |j: usize| if j == 8 { 0.0 } else { l1 };
    let weight = |s: &Sums, j: usize| -soft(s.z[j], strength(j)) / q(s.n[j]);
    // The integral of dn/q(n), by Simpson's rule in the root of n.
    let overlap = |from: f64, to: f64| {
        let (a, b, steps) = (from.sqrt(), to.sqrt(), 2000);
        let f = |u: f64| 2.0 * u / q(u * u);
        let h = (b - a) / f64::from(steps);
        let inner = (1..steps).map(|i| f64::from(2 + 2 * (i % 2)) * f(a + h * f64::from(i)));
        (f(a) + inner.sum::<f64>() + f(b)) * h / 3.0
    };
    let (mut dense, mut state) = (ORIGIN, trainer(&spec, Precision::F64));
    for round in 0..3 {
        let mut deltas = Vec::new();
        let (mut dw, mut dn, mut dr, mut exponents, mut made) =
            ([0.0; 9], [0.0; 9], [0.0; 9], [0.0; 9], [0.0; 9]);
        let subgradient = |s: &Sums, j: usize| -s.z[j] - q(s.n[j]) * weight(s, j);
        for k in 0..4u64 {
            let rows = plain(500 + 4 * round + k, 60 + 10 * k as usize);
            let mut own = dense.clone();
            for (x, y) in &rows {
                let x: Vec<_> = x.iter().copied().chain([(8, 1.0)]).collect();
                let w: Vec<f64> = (0..9).map(|j| weight(&own, j)).collect();
                let d = slope(x.iter().map(|&(j, v)| w[j] * v).sum(), *y);
                for &(j, v) in &x {
                    let g = d * v;
                    own.z[j] += g - (q(own.n[j] + g * g) - q(own.n[j])) * w[j];
                    own.n[j] += g * g;
                }
            }
            let grown: Vec<f64> = (0..9).map(|j| own.n[j] - dense.n[j]).collect();
            let most = grown.iter().copied().fold(0.0, f64::max);
            let a: Vec<f64> = (0..9).map(|j| overlap(dense.n[j], own.n[j])).collect();
            let common: f64 = (0..9).map(|j| grown[j] / most * a[j]).sum();
            for j in 0..9 {
                let exponent = a[j] + 2.0 * grown[j] / most * common;
                dw[j] += weight(&own, j) - weight(&dense, j);
                dr[j] += subgradient(&own, j) - subgradient(&dense, j);
                dn[j] += grown[j];
                exponents[j] += exponent;
                made[j] += 1.0 - (-exponent).exp();
            }
            deltas.push(delta(&state, &as_chunk(&rows), Combine::Damped));
        }
        let start = dense.clone();
        for j in 0..9 {
            let damping = (1.0 - (-exponents[j]).exp()) / made[j];
            assert!((0.25..=1.0).contains(&damping), "{damping}");
            dense.n[j] += dn[j];
            let w = weight(&start, j) + damping * dw[j];
            dense.z[j] = -(q(dense.n[j]) * w + subgradient(&start, j) + damping * dr[j]);
        }
        state.absorb([merge_deltas(deltas).unwrap()]).unwrap();
    }
    let model = state.model();
    let head = &model.heads()[0];
    for j in 0..9 {
        let found = if j == 8 { head.bias() } else { head.weight(1 + j as u32) };
        assert!((found - weight(&dense, j)).abs() < 1e-7, "{j}: {found} {}", weight(&dense, j));
    }
}

/// The dense twin of learners that count a row as one of each of them, and of the damping of what is left.
#[test]
fn scaled_ftrl_is_merged_as_the_arithmetic_says() {
    const WORKERS: u32 = 4;
    let mut counted = Vec::new();
    for rate in [0.05, 1.3, 1.6] {
        let (l1, beta) = (1.5, 1.0);
        let spec = json!({"algorithm": "ftrl", "rate": rate, "l1": l1, "beta": beta});
        let q = |n: f64| (beta + n.sqrt()) / rate;
        let strength = |j: usize| if j == 8 { 0.0 } else { l1 };
        let weight = |s: &Sums, j: usize| -soft(s.z[j], strength(j)) / q(s.n[j]);
        let overlap = |from: f64, to: f64| {
            let (a, b) = (from.sqrt(), to.sqrt());
            2.0 * rate * (b - a - beta * ((beta + b) / (beta + a)).ln())
        };
        let (mut dense, mut state) = (ORIGIN, trainer(&spec, Precision::F64));
        for round in 0..3 {
            let active = (0..9).filter(|&j| weight(&dense, j) != 0.0);
            let change = active.map(|j| dense.n[j] / q(dense.n[j])).sum::<f64>() / dense.t.max(1.0);
            let copies = if change > 0.0 { (0.3 / change).floor() } else { 1e9 };
            let copies = copies.clamp(1.0, f64::from(WORKERS));
            assert!(copies > 1.0, "damped: another test");
            counted.push(copies);
            let (mut deltas, mut dz, mut dn) = (Vec::new(), [0.0; 9], [0.0; 9]);
            for k in 0..u64::from(WORKERS) {
                let rows = plain(700 + 4 * round + k, 60 + 10 * k as usize);
                let mut own = dense.clone();
                for (x, y) in &rows {
                    let x: Vec<_> = x.iter().copied().chain([(8, 1.0)]).collect();
                    let w: Vec<f64> = (0..9).map(|j| weight(&own, j)).collect();
                    let d = slope(x.iter().map(|&(j, v)| w[j] * v).sum(), *y);
                    for &(j, v) in &x {
                        let (g, before) = (d * v, q(own.n[j]));
                        own.n[j] += copies * g * g;
                        own.z[j] += copies * g - (q(own.n[j]) - before) * w[j];
                    }
                }
                for j in 0..9 {
                    let pull = (q(own.n[j]) - q(dense.n[j])) * weight(&dense, j);
                    dz[j] += (own.z[j] - dense.z[j] + pull) / copies;
                    dn[j] += (own.n[j] - dense.n[j]) / copies;
                }
                dense.t += rows.len() as f64;
                deltas.push(delta(&state, &as_chunk(&rows), Combine::Scaled(WORKERS)));
            }
            let times = f64::from(WORKERS) / copies;
            let most = dn.iter().copied().fold(0.0, f64::max);
            let own: Vec<f64> = (0..9).map(|j| overlap(dense.n[j], dense.n[j] + dn[j])).collect();
            let common: f64 = (0..9).map(|j| dn[j] / most * own[j]).sum();
            for j in 0..9 {
                let a = own[j] + 2.0 * dn[j] / most * common;
                let damping = (1.0 - (-a).exp()) / (times * (1.0 - (-a / times).exp()));
                let pull = (q(dense.n[j] + dn[j]) - q(dense.n[j])) * weight(&dense, j);
                dense.z[j] += damping * dz[j] - pull;
                dense.n[j] += dn[j];
            }
            state.absorb([merge_deltas(deltas).unwrap()]).unwrap();
        }
        let model = state.model();
        let head = &model.heads()[0];
        for j in 0..9 {
            let found = if j == 8 { head.bias() } else { head.weight(1 + j as u32) };
            assert!((found - weight(&dense, j)).abs() < 1e-9, "{j}: {found} {}", weight(&dense, j));
        }
    }
    assert!(counted.contains(&4.0) && counted.iter().any(|&c| c < 4.0), "{counted:?}");
}

/// The loss of a model on rows, per row.
fn loss_on(state: &Trainer, rows: &Chunk) -> f64 {
    let mut margins = Vec::new();
    state.online().predict(rows, &mut margins);
    let losses = margins.iter().zip(rows.labels()).map(|(p, y)| (-y * p).exp().ln_1p());
    losses.sum::<f64>() / rows.len() as f64
}

#[test]
fn scaled_learners_come_close_to_one_pass() {
    /// Rows of a frequent feature, some rarer ones and a label that depends on a few of them.
    fn skewed(seed: u64, count: usize) -> Chunk {
        let (mut random, mut chunk) = (SplitMix64::new(seed), Chunk::new());
        for _ in 0..count {
            let mut margin = -1.5;
            for field in 0..6u32 {
                let value = (random.unit().powi(3) * 50.0) as u32;
                margin += [1.0, -0.8, 0.6, -0.4][value as usize % 4] * f64::from(value < 8);
                chunk.push_feature(1 + 50 * field + value, 1.0);
            }
            let label = if random.chance(1.0 / (1.0 + (-margin).exp())) { 1.0 } else { -1.0 };
            chunk.finish_row(Some(label), 1.0, Repeats::Refuse).unwrap();
        }
        chunk
    }
    let (all, test) = (skewed(1, 16_000), skewed(2, 8_000));
    for (spec, merges) in [
        (json!({"algorithm": "ftrl", "l1": 1.0}), 1),
        (json!({"algorithm": "ftrl", "l1": 1.0}), 4),
        (json!({"algorithm": "adagrad-rda", "l1": 2e-4}), 4),
    ] {
        let start = trainer(&spec, Precision::F64);
        let once = worker(&start, &all);
        let losses = [Combine::Scaled(16), Combine::Damped].map(|combine| {
            let mut state = copy(&start);
            let each = all.len() / 16 / merges;
            for merge in 0..merges {
                let first = |k: usize| (k * merges + merge) * each;
                let deltas = (0..16)
                    .map(|k| delta(&state, &rows(&all, first(k)..first(k) + each), combine))
                    .collect();
                state.absorb([merge_deltas(deltas).unwrap()]).unwrap();
            }
            assert_eq!(state.progressive().rows(), 16_000);
            (loss_on(&state, &test), state.model().nonzeros() as f64)
        });
        let (wanted, nonzeros) = (loss_on(&once, &test), once.model().nonzeros() as f64);
        let [(scaled, kept), (damped, _)] = losses;
        assert!(scaled < 1.01 * wanted, "{spec}, {merges} merges: {scaled}, not {wanted}");
        assert!(damped > 1.02 * wanted, "{spec}, {merges} merges: {damped} needs no scaling");
        assert!((kept / nonzeros - 1.0).abs() < 0.2, "{spec}: {kept} of {nonzeros}");
    }
}

#[test]
fn other_losses_and_methods_are_not_scaled() {
    for spec in [
        json!({"algorithm": "ftrl", "loss": "squared"}),
        json!({"algorithm": "rda", "l1": 1e-3}),
        json!({"algorithm": "fobos", "l1": 1e-3}),
    ] {
        let (start, rows) = (begun(&spec, Precision::F64), stream(&spec, 6, 30));
        let [scaled, damped] =
            [Combine::Scaled(4), Combine::Damped].map(|combine| delta(&start, &rows, combine));
        assert_eq!(scaled, damped, "{spec}");
    }
}

#[test]
fn ways_to_combine_are_read_back_from_their_names() {
    for combine in [Combine::Damped, Combine::Shares, Combine::Mean, Combine::Scaled(16)] {
        assert_eq!(combine.name().parse(), Ok(combine));
    }
    for wrong in ["scaled", "scaled:", "scaled:0", "scaled:-1", "Damped", ""] {
        assert!(wrong.parse::<Combine>().is_err(), "{wrong}");
    }
}

#[test]
fn what_everybody_learned_is_learned_once_and_what_is_rare_adds_up() {
    let spec = json!({"algorithm": "ftrl", "rate": 0.5, "l1": 0.0});
    let start = trainer(&spec, Precision::F64);
    let mut chunk = Chunk::new();
    for i in 0..4000 {
        chunk.push_feature(1, 1.0);
        if i == 7 {
            chunk.push_feature(2, 1.0);
        }
        let label = if i % 4 == 0 { -1.0 } else { 1.0 };
        chunk.finish_row(Some(label), 1.0, Repeats::Refuse).unwrap();
    }
    let alone = worker(&start, &chunk).model();
    let merged = |combine| {
        let mut state = copy(&start);
        state.absorb([merge_deltas(vec![delta(&start, &chunk, combine); 16]).unwrap()]).unwrap();
        state.model()
    };
    let margin = |model: &parsimon::Model| model.heads()[0].weight(1) + model.heads()[0].bias();
    let (damped, sum) = (merged(Combine::Damped), merged(Combine::Shares));
    assert!((margin(&damped) - margin(&alone)).abs() < 0.01 * margin(&alone).abs());
    assert!(margin(&sum) > 3.0 * margin(&alone), "adding up goes four times too far");
    let rare = |model: &parsimon::Model| model.heads()[0].weight(2);
    assert!(rare(&sum).abs() > 5.0 * rare(&alone).abs());
    assert!((rare(&damped) / rare(&sum) - 1.0).abs() < 0.4, "{} {}", rare(&damped), rare(&sum));
}

#[test]
fn thresholds_are_applied_after_the_merge_and_averages_unite_supports() {
    let one = |j: u32, rounds: usize| {
        let mut chunk = Chunk::new();
        for _ in 0..rounds {
            chunk.push_feature(j, 1.0);
            chunk.finish_row(Some(1.0), 1.0, Repeats::Refuse).unwrap();
        }
        chunk
    };
    // Two gradients of size one half stay below a threshold of 1.5; four of them do not.
    let start = trainer(&json!({"algorithm": "ftrl", "l1": 1.5, "rate": 0.01}), Precision::F64);
    let alone = worker(&start, &one(1, 2));
    assert_eq!(alone.model().heads()[0].weight(1), 0.0);
    let mut both = copy(&start);
    let deltas = vec![delta(&start, &one(1, 2), Combine::Shares); 2];
    both.absorb([merge_deltas(deltas).unwrap()]).unwrap();
    assert!(both.model().heads()[0].weight(1) > 0.0);

    let start = trainer(&json!({"algorithm": "fobos", "l1": 0.01}), Precision::F64);
    let deltas = [1, 2].map(|j| delta(&start, &one(j, 5), Combine::Shares)).to_vec();
    let ends = [1, 2].map(|j| worker(&start, &one(j, 5)));
    let mut both = copy(&start);
    both.absorb([merge_deltas(deltas).unwrap()]).unwrap();
    for (j, end) in [1, 2].into_iter().zip(ends) {
        let (mean, own) = (both.model().heads()[0].weight(j), end.model().heads()[0].weight(j));
        assert!((mean - own / 2.0).abs() < 1e-15 && own != 0.0, "{mean} {own}");
    }
}

#[test]
fn several_classes_are_merged_class_by_class() {
    let spec =
        json!({"algorithm": "ftrl", "multiclass": true, "classes": ["a", "b", "c"], "l1": 0.2});
    let mut start = trainer(&spec, Precision::F64);
    let labeled = |seed: u64| {
        let (rows, mut chunk) = (stream(&json!({}), seed, 40), Chunk::new());
        for i in 0..rows.len() {
            rows.row(i).iter().for_each(|(j, v)| chunk.push_feature(j, v));
            chunk.finish_row(Some((i % 3) as f64), 1.0, Repeats::Refuse).unwrap();
        }
        chunk
    };
    start.learn(&labeled(1), &mut |_| {}).unwrap();
    let more = labeled(2);
    let end = worker(&start, &more);
    start.absorb([delta(&start, &more, Combine::Shares)]).unwrap();
    assert_close(&start, &end, 1e-12, &spec);
}

#[test]
fn what_cannot_be_merged_is_refused_by_name() {
    let mut refused: BTreeMap<&str, String> = BTreeMap::new();
    for algorithm in ALGORITHMS.iter() {
        let mut spec = json!({"algorithm": algorithm.name});
        for (name, value) in [("dimension", 9), ("switch", 5)] {
            if algorithm.has(name) {
                spec[name] = value.into();
            }
        }
        if let Err(e) = trainer(&spec, Precision::F64).check_mergeable() {
            refused.insert(algorithm.name, e.to_string());
        }
    }
    let names: Vec<_> = refused.keys().copied().collect();
    assert_eq!(
        names,
        [
            "auto",
            "c-adaline",
            "csgd",
            "ipnlms",
            "lazy-fobos",
            "lazy-sparse",
            "lazy-splitting",
            "multikernel-apfbs",
            "multikernel-pda",
            "nag",
            "ncsgd",
            "papa",
            "pnlms",
            "rls"
        ]
    );
    assert_eq!(
        refused["lazy-fobos"],
        "lazy-fobos with these settings cannot be merged: its penalty is due at the ends of blocks of rounds, which no \
         two learners share; ftrl, rda and adagrad-rda can be, and fobos by averaging"
    );
    let sqrt = json!({"algorithm": "ftprl", "metric": "sqrt"});
    let error = trainer(&sqrt, Precision::F64).check_mergeable().unwrap_err().to_string();
    assert!(error.contains("with metric adagrad it can be"), "{error}");
    let ball = json!({"algorithm": "sgd", "ball": "l1"});
    let error = trainer(&ball, Precision::F64).check_mergeable().unwrap_err().to_string();
    assert!(error.contains("bind all weights together"), "{error}");
}

#[test]
fn what_does_not_belong_together_is_refused() {
    let spec = json!({"algorithm": "ftrl"});
    let start = begun(&spec, Precision::F64);
    let other = worker(&start, &stream(&spec, 9, 5));
    let a = delta(&start, &stream(&spec, 1, 5), Combine::Shares);
    let message = |e: Result<(), parsimon::Error>| e.unwrap_err().to_string();

    let elsewhere = delta(&other, &stream(&spec, 1, 5), Combine::Shares);
    assert_eq!(message(a.clone().add(&elsewhere)), "the deltas began at different states");
    let mean = delta(&start, &stream(&spec, 1, 5), Combine::Mean);
    let error = message(a.clone().add(&mean));
    assert_eq!(error, "the deltas are not of one slice and one way to combine");
    let error = message(copy(&other).absorb([a.clone()]));
    assert_eq!(error, "a delta began at another state than this one");
    let error = message(copy(&start).absorb([a.clone(), a]));
    assert_eq!(error, "slice 0 came twice");

    let slices = Delta::between(&start, &other, Combine::Shares, 4).unwrap();
    let error = message(copy(&start).absorb(slices.into_iter().skip(1)));
    assert_eq!(error, "slice 0 of 4 is missing: hand in all of them");

    let error = Delta::between(&other, &start, Combine::Shares, 1).unwrap_err().to_string();
    assert_eq!(error, "a state of 40 rows cannot have come from one of 45 rows");
    let stranger = begun(&with(&spec, "l1", 0.5), Precision::F64);
    let error = Delta::between(&start, &stranger, Combine::Shares, 1).unwrap_err().to_string();
    assert!(error.contains("different settings"), "{error}");
}

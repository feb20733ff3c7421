//! Learners whose rows and labels are brought to a common scale, made into one: their statistics are those of all rows.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use crate::common;

use common::trainer;
use parsimon::Trainer;
use parsimon::merge::{Combine, Delta, merge_deltas};
use parsimon::rows::{Chunk, Repeats};
use parsimon::settings::Precision;
use parsimon::workspace::ColumnMoments;
use parsimon::workspace::NumberColumn;
use parsimon::workspace::StateWriter;
use parsimon_core::{Moments, State};
use parsimon_files::container::{Container, Kind, bytes_of};
use parsimon_oracle::streams::SplitMix64;
use serde_json::{Value, json};

/// Rows of ten features whose units differ by factors of a hundred; three of them matter.
fn stream(seed: u64, rows: usize, label: impl Fn(f64, &mut SplitMix64) -> f64) -> Chunk {
    let (mut random, mut chunk) = (SplitMix64::new(seed), Chunk::new());
    for _ in 0..rows {
        let mut margin = 0.3;
        for j in 1..=10u32 {
            if random.unit() < 0.4 {
                let x = 2.0 * random.unit() - 1.0;
                margin += [1.5, -2.0, 0.0, 1.0, 0.0][j as usize % 5] * f64::from(j < 6) * x;
                // Far apart, so that slices have something to share.
                chunk.push_feature(5000 * j, x * 100f64.powi(j as i32 % 4 - 2));
            }
        }
        let y = label(margin, &mut random);
        chunk.finish_row(Some(y), 0.5 + f64::from(u8::from(y > 0.0)), Repeats::Refuse).unwrap();
    }
    chunk
}

fn classes(margin: f64, random: &mut SplitMix64) -> f64 {
    if random.unit() < 1.0 / (1.0 + (-2.0 * margin).exp()) { 1.0 } else { -1.0 }
}

fn numbers(margin: f64, random: &mut SplitMix64) -> f64 {
    1e4 * (20.0 + margin + 0.3 * random.unit())
}

fn copy(trainer: &Trainer) -> Trainer {
    Trainer::from_checkpoint(&trainer.checkpoint()).unwrap()
}

fn learned(start: &Trainer, chunk: &Chunk) -> Trainer {
    let mut end = copy(start);
    end.learn(chunk, &mut |_| {}).unwrap();
    end
}

fn part(chunk: &Chunk, rows: std::ops::Range<usize>) -> Chunk {
    let mut part = Chunk::new();
    rows.for_each(|i| part.copy_row(chunk, i));
    part
}

/// One round: a worker per part, in slices that pass through bytes.
fn round(state: &mut Trainer, parts: &[Chunk], combine: Combine, slices: u32) {
    let mut by_slice = vec![Vec::new(); slices as usize];
    for part in parts {
        let end = learned(state, part);
        for delta in Delta::between(state, &end, combine, slices).unwrap() {
            let delta = Delta::from_bytes(&delta.to_bytes()).unwrap();
            by_slice[delta.slice().0 as usize].push(delta);
        }
    }
    state.absorb(by_slice.into_iter().map(|slice| merge_deltas(slice).unwrap())).unwrap();
}

fn moments(trainer: &Trainer) -> Moments {
    trainer.online().mergeable().unwrap().moments()
}

#[track_caller]
fn assert_near(a: f64, b: f64, what: &str) {
    let near = a == b || (a - b).abs() <= 1e-12 * b.abs().max(1.0);
    assert!(near, "{what}: {a} instead of {b}");
}

#[test]
fn statistics_of_two_halves_are_those_of_the_whole_stream() {
    let ftrl = json!({"algorithm": "ftrl", "normalize": true, "l1": 0.1});
    let squared = json!({"algorithm": "rda", "normalize": true, "loss": "squared"});
    let averaged = json!({"algorithm": "fobos", "normalize": true, "loss": "huber"});
    for spec in [ftrl, squared, averaged] {
        for combine in [Combine::Damped, Combine::Shares, Combine::Mean] {
            for begin in [0, 500] {
                let label = if spec["loss"].is_null() { classes } else { numbers };
                let all = stream(7, 3000, label);
                let start = learned(&trainer(&spec, Precision::F64), &part(&all, 0..begin));
                let halves = [part(&all, begin..1700), part(&all, 1700..3000)];
                let mut merged = copy(&start);
                round(&mut merged, &halves, combine, 3);
                let whole = learned(&start, &part(&all, begin..3000));
                let (found, wanted) = (moments(&merged), moments(&whole));
                assert_near(found.weight, wanted.weight, "the rows");
                let (f, w) = (found.target, wanted.target);
                for (a, b) in [(f.weight, w.weight), (f.mean, w.mean), (f.low, w.low)] {
                    assert_near(a, b, "the labels");
                }
                assert!((f.squares - w.squares).abs() <= 1e-9 * w.squares && f.high == w.high);
                assert_eq!(found.features.len(), 10);
                for ((j, a), (id, b)) in found.features.iter().zip(&wanted.features) {
                    assert_eq!(j, id);
                    assert_near(a[0], b[0], "n");
                    assert_near(a[1] / b[1], 1.0, "s");
                }
                // A sum over rows that each learner has scaled by what it knew.
                assert!((found.energy / wanted.energy - 1.0).abs() < 0.05);
                assert_eq!(merged.progressive().rows(), 3000);
            }
        }
    }
}

/// The average loss of a model on rows, by the loss of its settings.
fn loss(trainer: &Trainer, rows: &Chunk) -> f64 {
    let mut margins = Vec::new();
    trainer.online().predict(rows, &mut margins);
    let loss = trainer.settings().loss();
    let one = |(i, p): (usize, &f64)| rows.weight(i) * loss.value(*p, rows.label(i).unwrap());
    let weight: f64 = (0..rows.len()).map(|i| rows.weight(i)).sum();
    margins.iter().enumerate().map(one).sum::<f64>() / weight
}

#[test]
fn a_merged_model_is_close_to_that_of_one_stream() {
    for (spec, label) in [
        (
            json!({"algorithm": "ftrl", "normalize": true, "rate": 0.5, "beta": 0, "l1": 0.1}),
            classes as fn(f64, &mut SplitMix64) -> f64,
        ),
        (json!({"algorithm": "adagrad-rda", "normalize": true, "l1": 1e-3}), classes),
        (
            json!({"algorithm": "ftrl", "normalize": true, "loss": "squared", "rate": 0.5,
                   "beta": 0, "l1": 0.1}),
            numbers,
        ),
    ] {
        let (all, test) = (stream(8, 16_000, label), stream(9, 4000, label));
        let start = trainer(&spec, Precision::F32);
        let alone = loss(&learned(&start, &all), &test);
        let nothing = loss(&learned(&start, &part(&all, 0..1)), &test);
        let mut merged = copy(&start);
        for k in 0..8 {
            let parts = [0, 1, 2, 3].map(|w| {
                let from = 2000 * k + 500 * w;
                part(&all, from..from + 500)
            });
            round(&mut merged, &parts, Combine::Damped, 2);
        }
        let together = loss(&merged, &test);
        println!("{spec}: one stream {alone}, merged {together}, one row {nothing}");
        assert!(together < alone + 0.03 * (nothing - alone), "{spec}: {together} {alone}");
    }
}

#[test]
fn several_classes_share_the_scales() {
    let spec = json!({"algorithm": "ftrl", "normalize": true, "multiclass": true,
                      "classes": ["a", "b", "c"], "l1": 0.2});
    let three = |margin: f64, random: &mut SplitMix64| {
        ((margin + 1.5 + 0.2 * random.unit()).max(0.0) as i64).clamp(0, 2) as f64
    };
    let all = stream(10, 600, three);
    let start = learned(&trainer(&spec, Precision::F64), &part(&all, 0..100));
    let more = part(&all, 100..600);
    let mut merged = copy(&start);
    round(&mut merged, std::slice::from_ref(&more), Combine::Damped, 2);
    let end = learned(&start, &more);
    for (a, b) in merged.model().heads().iter().zip(end.model().heads()) {
        assert_eq!(a.indices(), b.indices());
        for (x, y) in a.weights().iter().zip(b.weights()) {
            assert!((x - y).abs() <= 1e-10 * y.abs().max(1.0), "{x} {y}");
        }
    }
}

fn normalized_delta() -> (Trainer, Delta) {
    let spec = json!({"algorithm": "ftrl", "normalize": true, "loss": "squared"});
    let start = trainer(&spec, Precision::F64);
    let end = learned(&start, &stream(11, 5, numbers));
    let delta = Delta::between(&start, &end, Combine::Damped, 1).unwrap().remove(0);
    (start, delta)
}

#[test]
fn every_flipped_bit_and_every_truncation_is_an_error() {
    let good = normalized_delta().1.to_bytes();
    for i in 0..good.len() {
        let mut bad = good.clone();
        bad[i] ^= 1 << (i % 8);
        assert!(Delta::from_bytes(&bad).is_err(), "byte {i}");
        assert!(Delta::from_bytes(&good[..i]).is_err(), "cut at {i}");
    }
}

/// Files that were written as they are, by a program that is wrong.
#[test]
fn moments_that_no_rows_have_are_refused() {
    let (start, delta) = normalized_delta();
    let good = delta.to_bytes();
    let forged = |change: &dyn Fn(&mut Container)| {
        let mut container = Container::from_bytes(&good, Kind::Delta).unwrap();
        change(&mut container);
        Delta::from_bytes(&container.to_bytes(Kind::Delta))
    };
    assert_eq!(forged(&|_| {}).unwrap(), delta);
    let words = "the delta: has fields that do not belong together";
    let refused = |change: &dyn Fn(&mut Container), what: &str| {
        let error = forged(change).expect_err(what).to_string();
        assert_eq!(error, words, "{what}");
    };
    for (section, width) in [("moments", 7), ("scales", 3)] {
        let plain = Container::from_bytes(&good, Kind::Delta).unwrap().section(section).to_vec();
        for k in 0..width {
            // A mean may have any sign; that of a sum of squares says that the sample is one row.
            let is_mean = (section, k) == ("moments", 3) || (section, k) == ("scales", 1);
            let bad = [f64::NAN, if is_mean { f64::INFINITY } else { -1.0 }];
            // A range may be negative, but not turned around.
            let bad = if section == "moments" && k > 4 { [f64::NAN; 2] } else { bad };
            for x in bad {
                let mut bytes = plain.clone();
                bytes[8 * k..8 * k + 8].copy_from_slice(&x.to_le_bytes());
                refused(&|c| c.replace(section, bytes.clone()), &format!("{section} {k}: {x}"));
            }
        }
        refused(&|c| c.replace(section, plain[8..].to_vec()), "a number too few");
        refused(&|c| c.replace(section, Vec::new()), "no numbers");
    }
    let mut range = Container::from_bytes(&good, Kind::Delta).unwrap().section("moments").to_vec();
    range[40..].rotate_left(8);
    refused(&|c| c.replace("moments", range.clone()), "a range turned around");
    let count = delta.coordinates() - 1;
    let mut ids: Vec<u32> = (1..=count as u32).collect();
    ids.reverse();
    refused(&|c| c.replace("scale_ids", bytes_of(&ids, u32::to_le_bytes)), "ids descend");
    *ids.first_mut().unwrap() = u32::MAX;
    ids.sort_unstable();
    refused(&|c| c.replace("scale_ids", bytes_of(&ids, u32::to_le_bytes)), "the bias");
    refused(&|c| c.about["scales"] = json!(count + 1), "another count");
    refused(&|c| c.about["scales"] = json!("many"), "no count");

    // As a program would write it that knows no moments.
    let without = forged(&|c| {
        c.about.as_object_mut().unwrap().remove("scales");
    });
    let error = copy(&start).absorb([without.unwrap()]).unwrap_err().to_string();
    assert_eq!(error, "a delta does not belong to this method");
}

#[test]
fn deltas_without_moments_keep_their_layout() {
    let start = trainer(&json!({"algorithm": "ftrl"}), Precision::F64);
    let end = learned(&start, &stream(11, 5, classes));
    let delta = Delta::between(&start, &end, Combine::Damped, 1).unwrap().remove(0);
    let bytes = delta.to_bytes();
    let container = Container::from_bytes(&bytes, Kind::Delta).unwrap();
    assert_eq!(container.about["scales"], Value::Null);
    for section in ["moments", "scales", "scale_ids", "columns"] {
        assert!(container.section(section).is_empty());
    }
}

/// Rows with a column of timestamps, one that is mostly missing and one of zeros, beside features.
fn table(seed: u64, rows: usize) -> Chunk {
    let (mut random, mut chunk) = (SplitMix64::new(seed), Chunk::new());
    let column = |key: u64| NumberColumn { key, id: 100 + key as u32 };
    chunk.set_columns(&[column(5), column(2), column(9)]);
    for _ in 0..rows {
        let (second, other) = (random.between(0.0, 3600.0), random.between(-1.0, 1.0));
        let cells = chunk.open_numbers();
        cells[0] = 1.7e9 + second;
        cells[1] = if random.unit() < 0.3 { 1e-3 * other } else { f64::NAN };
        cells[2] = 0.0;
        chunk.push_feature(1 + random.below(5) as u32, 1.0);
        let margin = (second - 1800.0) / 600.0 + other;
        let y = classes(margin, &mut random);
        chunk.finish_row(Some(y), 1.0, Repeats::Refuse).unwrap();
    }
    chunk
}

#[test]
fn number_columns_of_parts_are_those_of_all_rows() {
    let spec = json!({"algorithm": "ftrl", "normalize": true, "rate": 0.5, "beta": 0, "l1": 0.1});
    for begin in [0, 300] {
        let mut start = trainer(&spec, Precision::F64);
        start.learn(&table(20, begin), &mut |_| {}).unwrap();
        let parts = [table(21, 1500), table(22, 1000)];
        let mut whole = copy(&start);
        parts.iter().for_each(|part| whole.learn(part, &mut |_| {}).unwrap());
        for slices in [1, 3] {
            let mut merged = copy(&start);
            round(&mut merged, &parts, Combine::Damped, slices);
            let (found, wanted) = (merged.online().columns(), whole.online().columns());
            assert_eq!(found.len(), 3);
            for (a, b) in found.iter().zip(wanted) {
                assert_eq!((a.key, a.id), (b.key, b.id));
                assert_near(a.weight, b.weight, "weight");
                assert_near(a.mean / b.mean.max(1e-300), b.mean / b.mean.max(1e-300), "mean");
                assert!((a.squares - b.squares).abs() <= 1e-9 * b.squares, "{a:?} {b:?}");
            }
            let test = table(23, 1000);
            let (alone, together) = (loss(&whole, &test), loss(&merged, &test));
            assert!(together < alone + 0.02, "{together} {alone}");
            // One part alone is itself.
            let (mut one, end) = (copy(&start), learned(&start, &parts[0]));
            round(&mut one, &parts[..1], Combine::Damped, slices);
            let (mut a, mut b) = (Vec::new(), Vec::new());
            one.online().predict(&test, &mut a);
            end.online().predict(&test, &mut b);
            a.iter().zip(&b).for_each(|(x, y)| assert!((x - y).abs() < 1e-6, "{x} {y}"));
        }
    }
}

#[test]
fn columns_that_no_rows_have_are_refused() {
    let delta = normalized_delta().1;
    let with = |columns: &[ColumnMoments]| {
        let whole = delta.to_bytes();
        let mut container = Container::from_bytes(&whole, Kind::Delta).unwrap();
        let mut out = StateWriter::new();
        columns.to_vec().write(&mut out);
        let bytes = out.into_bytes();
        container.replace("columns", bytes);
        Delta::from_bytes(&container.to_bytes(Kind::Delta))
    };
    let column =
        |key: u64, weight: f64| ColumnMoments { key, id: 3, weight, mean: 1.0, squares: 2.0 };
    let two = with(&[column(5, 2.0), column(1, 1.0)]).unwrap();
    assert_eq!(Delta::from_bytes(&two.to_bytes()).unwrap(), two);
    for bad in [
        vec![column(5, 1.0), column(5, 2.0)],
        vec![column(1, 0.0)],
        vec![column(1, f64::NAN)],
        vec![ColumnMoments { squares: -1.0, ..column(1, 1.0) }],
    ] {
        assert!(with(&bad).is_err(), "{bad:?}");
    }
}

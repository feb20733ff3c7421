//! Rows with a base value: a known part of the margin, to which the learner adds the rest.

use parsimon::rows::{Chunk, Repeats};
use parsimon::settings::Precision;
use parsimon::{Error, Trainer};
use parsimon_oracle::streams::SplitMix64;
use serde_json::{Value, json};

use crate::common::{family, implicit_family, learn_margins, trainer, with};

/// Features, label and base value of a row. Labels less base values are exact.
type Plain = (Vec<(u32, f64)>, f64, f64);

fn rows(count: usize, is_class: bool) -> Vec<Plain> {
    let mut random = SplitMix64::new(7);
    let mut unit = || random.unit();
    (0..count)
        .map(|_| {
            let x: Vec<_> =
                (1..=8).map(|j| (j, unit() - 0.5)).filter(|(_, v)| v.abs() < 0.3).collect();
            let score: f64 = x.iter().map(|(j, v)| v * (f64::from(*j) - 4.0)).sum();
            let base = (8.0 * unit()).floor() / 4.0 - 1.0;
            let y = match is_class {
                true => (score + base + unit() - 0.5).signum(),
                false => ((score + base) * 8.0).round() / 8.0,
            };
            (x, y, base)
        })
        .collect()
}

fn chunk(rows: &[Plain], has_bases: bool) -> Chunk {
    let mut chunk = Chunk::new();
    for (x, y, base) in rows {
        x.iter().for_each(|&(j, v)| chunk.push_feature(j, v));
        chunk.finish_row(Some(*y), 1.0, Repeats::Refuse).unwrap();
        if has_bases && *base != 0.0 {
            chunk.base_last(*base);
        }
    }
    chunk
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(1.0)
}

/// For a loss of `p - y`, a base value is the same as a label that is smaller by it.
#[test]
fn a_base_value_is_a_shift_of_a_number() {
    let rows = rows(300, false);
    let shifted: Vec<Plain> = rows.iter().map(|(x, y, b)| (x.clone(), y - b, 0.0)).collect();
    let (with_bases, without) = (chunk(&rows, true), chunk(&shifted, false));
    let mut specs: Vec<Value> = family().into_iter().chain(implicit_family()).collect();
    specs.push(json!({"algorithm": "nlms", "rate": 0.4, "delta": 1e-3}));
    specs.push(json!({"algorithm": "ftrl", "rate": 0.3, "l1": 0.1, "normalize": true}));
    specs.push(json!({"algorithm": "auto"}));
    for spec in specs {
        let loss = if spec["algorithm"] == "nlms" { "projection" } else { "squared" };
        let spec = with(&spec, "loss", json!(loss));
        let (mut a, mut b) = (trainer(&spec, Precision::F64), trainer(&spec, Precision::F64));
        let margins = learn_margins(&mut a, &with_bases, &mut |_| {});
        let expected = learn_margins(&mut b, &without, &mut |_| {});
        for (i, (p, q)) in margins.iter().zip(&expected).enumerate() {
            assert!(near(*p, q + rows[i].2), "{spec} row {i}: {p} and {q} + {}", rows[i].2);
        }
        let (a, b) = (a.model(), b.model());
        for j in 1..=8 {
            let (u, v) = (a.heads()[0].weight(j), b.heads()[0].weight(j));
            assert!(near(u, v), "{spec} weight {j}: {u} and {v}");
        }
        let (mut p, mut q) = (Vec::new(), Vec::new());
        a.scorer().margins(&with_bases, &mut p);
        b.scorer().margins(&without, &mut q);
        assert!((0..p.len()).all(|i| near(p[i], q[i] + rows[i].2)), "{spec}");
    }
}

/// FTRL-Proximal with the logistic loss from its formula, dense, with all gradients kept.
#[test]
fn a_base_value_is_learned_with_as_the_twin_does() {
    let (rate, l1, l2, beta) = (0.3, 0.4, 0.1, 1.0);
    let spec = json!({"algorithm": "ftrl", "rate": rate, "l1": l1, "l2": l2, "beta": beta, "loss": "logistic"});
    let rows = rows(400, true);
    let mut learner = trainer(&spec, Precision::F64);
    let margins = learn_margins(&mut learner, &chunk(&rows, true), &mut |_| {});
    // Coordinate 0 is the bias, which has no penalty.
    let (mut z, mut n) = ([0.0f64; 9], [0.0f64; 9]);
    let weight = |z: &[f64; 9], n: &[f64; 9], j: usize| {
        let (l1, l2) = if j == 0 { (0.0, 0.0) } else { (l1, l2) };
        let q = (beta + n[j].sqrt()) / rate + l2;
        if z[j].abs() <= l1 { 0.0 } else { -(z[j] - l1 * z[j].signum()) / q }
    };
    for (i, (x, y, base)) in rows.iter().enumerate() {
        let mut dense = [0.0; 9];
        dense[0] = 1.0;
        x.iter().for_each(|&(j, v)| dense[j as usize] = v);
        let w: Vec<f64> = (0..9).map(|j| weight(&z, &n, j)).collect();
        let p = base + w.iter().zip(&dense).map(|(w, v)| w * v).sum::<f64>();
        assert!(near(margins[i], p), "row {i}: {} and {p}", margins[i]);
        let slope = -y / (1.0 + (y * p).exp());
        for j in 0..9 {
            let g = slope * dense[j];
            let sigma = ((n[j] + g * g).sqrt() - n[j].sqrt()) / rate;
            z[j] += g - sigma * w[j];
            n[j] += g * g;
        }
    }
    let model = learner.model();
    for j in 1..=8 {
        let (ours, twins) = (model.heads()[0].weight(j as u32), weight(&z, &n, j));
        assert!(near(ours, twins), "weight {j}: {ours} and {twins}");
    }
}

/// The cut of a stream into chunks, of which some have no base value, changes no bit.
#[test]
fn chunks_do_not_matter() {
    let rows = rows(300, true);
    let spec = json!({"algorithm": "auto", "loss": "logistic"});
    let mut whole = trainer(&spec, Precision::F64);
    let margins = learn_margins(&mut whole, &chunk(&rows, true), &mut |_| {});
    let mut parts = trainer(&spec, Precision::F64);
    let mut of_parts = Vec::new();
    for part in rows.chunks(1) {
        of_parts.extend(learn_margins(&mut parts, &chunk(part, true), &mut |_| {}));
    }
    assert_eq!(of_parts, margins);
    assert_eq!(parts.checkpoint(), whole.checkpoint());
    let all = chunk(&rows, true);
    let mut copied = Chunk::new();
    (0..all.len()).for_each(|i| copied.copy_row(&all, i));
    assert!((0..all.len()).all(|i| copied.base(i).to_bits() == all.base(i).to_bits()));
}

#[test]
fn methods_that_cannot_learn_with_them_refuse_them() {
    let rows = chunk(&rows(20, false), true);
    for spec in [
        json!({"algorithm": "rls", "delta": 0.5, "dimension": 24, "loss": "squared"}),
        json!({"algorithm": "csgd", "rate": 0.1, "schedule": "sqrt", "loss": "squared"}),
    ] {
        let mut learner: Trainer = trainer(&spec, Precision::F64);
        let error = learner.learn(&rows, &mut |_| {}).unwrap_err();
        assert!(matches!(error, Error::Usage(_)), "{spec}");
        assert!(error.to_string().contains("base value"), "{error}");
    }
}

//! Shared code of the projection tests: streams as dense rows, and named differences.

use parsimon_oracle::Stream;
use parsimon_oracle::streams::{Options, SplitMix64, random};
use serde_json::Value;

pub(crate) const SEEDS: std::ops::Range<u64> = 0..5;

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

pub(crate) fn minus(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

pub(crate) fn difference(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    // NUMERICS: max drops a NaN, so it is looked for.
    assert!(a.iter().chain(b).all(|v| v.is_finite()), "a number is not finite");
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

pub(crate) fn largest_difference(a: &[Vec<f64>], b: &[Vec<f64>]) -> f64 {
    assert_eq!(a.len(), b.len());
    assert!(a.iter().flatten().any(|w| w.abs() > 0.1), "nothing moved, nothing was tested");
    a.iter().zip(b).map(|(a, b)| difference(a, b)).fold(0.0, f64::max)
}

#[track_caller]
pub(crate) fn assert_within(claim: &str, measured: f64, tolerance: f64) {
    println!("{claim}: {measured:.1e}");
    assert!(measured <= tolerance, "{claim}: off by {measured:e}, tolerance {tolerance:e}");
}

pub(crate) fn normals(rng: &mut SplitMix64, n: usize) -> Vec<f64> {
    (0..n).map(|_| rng.normal()).collect()
}

/// Sparse rows, empty ones among them, with importance weights.
pub(crate) fn sparse(seed: u64, rounds: usize, loss: &str) -> Stream {
    let labels = if loss == "halfspace" { "hinge" } else { "squared" };
    random(seed, rounds, 20, labels, Options { huge: false, ..Options::default() })
}

/// The rows that count, dense, the bias last when there is one: row, label, importance.
pub(crate) fn counted(stream: &Stream, bias: bool) -> Vec<(Vec<f64>, f64, f64)> {
    let rows = stream.examples.iter().filter(|row| row.weight != 0.0);
    rows.map(|row| {
        let mut x = vec![0.0; stream.dimension];
        for &(i, value) in &row.x {
            x[i] = value;
        }
        if bias {
            x.push(1.0);
        }
        (x, row.y, row.weight)
    })
    .collect()
}

/// The spec of one method with another's name and more keys.
pub(crate) fn with(spec: &Value, keys: &Value) -> Value {
    let mut spec = spec.clone();
    for (key, value) in keys.as_object().expect("keys are an object") {
        spec[key] = value.clone();
    }
    spec
}

//! What a nonzero costs under each method, from memory; and what the abstraction costs: FTRL against a loop by hand.
//!
//! `cargo bench -p parsimon --bench rules`; items are nonzeros. Arguments such as `ftrl` pick benchmarks.

use divan::Bencher;
use divan::counter::ItemsCount;
use parsimon::core::{Chunk, Precision, Repeats};
use parsimon::{Frame, Spec, Storage};

const ROWS: usize = 20_000;
const NONZEROS: usize = 40;
const BITS: u32 = 20;

fn main() {
    divan::main();
}

/// Rows of a click log's shape: 40 features, Zipf over 2^20 slots.
fn clicks() -> Chunk {
    let mut state = 1u64;
    let mut unit = || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let x = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((x ^ (x >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    };
    let mut chunk = Chunk::new();
    for _ in 0..ROWS {
        for _ in 0..NONZEROS {
            let rank = (f64::from(1u32 << BITS).powf(unit()) - 1.0) as u32;
            chunk.push_feature(rank.wrapping_mul(0x9E37_79B1) >> (32 - BITS), 1.0);
        }
        let label = if unit() < 0.17 { 1.0 } else { -1.0 };
        chunk.finish_row(Some(label), 1.0, Repeats::Add).expect("generated rows are finite");
    }
    chunk
}

const METHODS: &[&str] = &[
    r#"{"algorithm": "ftrl", "rate": 0.1, "l1": 1, "l2": 1}"#,
    r#"{"algorithm": "sgd", "rate": 0.1}"#,
    r#"{"algorithm": "asgd", "rate": 0.1}"#,
    r#"{"algorithm": "subgradient-l1", "rate": 0.1, "l1": 1e-6, "schedule": "constant"}"#,
    r#"{"algorithm": "truncation", "rate": 0.1, "period": 100}"#,
    r#"{"algorithm": "truncated-gradient", "rate": 0.1, "l1": 1e-5, "period": 10}"#,
    r#"{"algorithm": "fobos", "rate": 0.1, "l1": 1e-5}"#,
    r#"{"algorithm": "fobos", "rate": 0.1, "l1": 1e-5, "l2": 1e-5}"#,
    r#"{"algorithm": "fobos", "rate": 0.1, "l1": 1e-4, "penalty": "l2-norm"}"#,
    r#"{"algorithm": "lazy-fobos", "rate": 0.1, "l1": 1e-5, "period": 10}"#,
    r#"{"algorithm": "lazy-splitting", "rate": 0.1, "l1": 1e-5, "period": 10}"#,
    r#"{"algorithm": "lazy-sparse", "rate": 0.1, "l1": 1e-5, "period": 10}"#,
    r#"{"algorithm": "rda", "rate": 0.1, "l1": 1e-5}"#,
    r#"{"algorithm": "generalized-rda", "rate": 0.1, "l1": 1e-5}"#,
    r#"{"algorithm": "dual-averaging", "rate": 0.1, "ball": "l2"}"#,
    r#"{"algorithm": "adagrad-rda", "rate": 0.1, "l1": 1e-5}"#,
    r#"{"algorithm": "adagrad-fobos", "rate": 0.1, "l1": 1e-5}"#,
    r#"{"algorithm": "comid", "rate": 0.1, "l1": 1e-5, "metric": "sqrt"}"#,
    r#"{"algorithm": "ftprl", "rate": 0.1, "l1": 1e-5}"#,
    r#"{"algorithm": "ftprl", "rate": 0.1, "l1": 1e-5, "metric": "sqrt"}"#,
    r#"{"algorithm": "aogd", "rate": 0.1, "l1": 1e-5}"#,
    r#"{"algorithm": "unified-rda", "rate": 0.1, "l1": 1e-5}"#,
    r#"{"algorithm": "comid", "rate": 0.1, "l1": 1e-5, "implicit": true}"#,
    r#"{"algorithm": "adam"}"#,
    r#"{"algorithm": "adadelta"}"#,
    r#"{"algorithm": "ftl"}"#,
    r#"{"algorithm": "csgd", "rate": 0.1, "switch": 10000}"#,
    r#"{"algorithm": "ncsgd", "rate": 0.1}"#,
    r#"{"algorithm": "adaline", "rate": 0.001}"#,
    r#"{"algorithm": "nlms", "loss": "halfspace"}"#,
    r#"{"algorithm": "apfbs", "loss": "halfspace", "l1": 1e-5}"#,
    r#"{"algorithm": "pda", "loss": "halfspace", "l1": 0.01}"#,
];

fn learn(bencher: Bencher, spec: &str, precision: Precision) {
    let chunk = clicks();
    let settings = Spec::from_json(spec).and_then(|s| s.resolve()).expect("the spec is good");
    let frame = Frame { precision, bias: true, storage: Storage::Slots(1 << BITS) };
    let mut learner = settings.build(frame).expect("the settings are good");
    let mut margins = Vec::with_capacity(chunk.len());
    bencher.counter(ItemsCount::new(chunk.nonzeros())).bench_local(|| {
        margins.clear();
        learner.learn(&chunk, &mut margins);
    });
}

#[divan::bench(args = METHODS, sample_count = 10, sample_size = 1)]
fn method(bencher: Bencher, spec: &str) {
    learn(bencher, spec, Precision::F32);
}

#[divan::bench(sample_count = 20, sample_size = 1)]
fn ftrl_f64(bencher: Bencher) {
    learn(bencher, METHODS[0], Precision::F64);
}

#[divan::bench(sample_count = 20, sample_size = 1)]
fn ftrl_alias(bencher: Bencher) {
    learn(bencher, METHODS[0], Precision::F32);
}

/// FTRL-Proximal as one would write it by hand: an array of (z, n), two loops per row, no abstraction.
#[divan::bench(sample_count = 20, sample_size = 1)]
fn ftrl_by_hand(bencher: Bencher) {
    let (alpha, beta, l1, l2) = (0.1f32, 1.0f32, 1.0f32, 1.0f32);
    let chunk = clicks();
    let mut table = vec![(0.0f32, 0.0f32); 1 << BITS];
    let (mut bias_z, mut bias_n) = (0.0f32, 0.0f32);
    let (mut w, mut margins) = (Vec::new(), Vec::with_capacity(chunk.len()));
    let weight = |z: f32, n: f32, l1: f32, l2: f32| {
        let over = z.abs() - l1;
        if over > 0.0 { -over.copysign(z) / ((beta + n.sqrt()) / alpha + l2) } else { 0.0 }
    };
    bencher.counter(ItemsCount::new(chunk.nonzeros())).bench_local(|| {
        margins.clear();
        for i in 0..chunk.len() {
            let (x, y) = (chunk.row(i), chunk.label(i).unwrap_or(1.0) as f32);
            w.clear();
            let bias = weight(bias_z, bias_n, 0.0, 0.0);
            let mut p = bias;
            for (j, v) in x.iter() {
                let (z, n) = table[j as usize];
                let w_j = weight(z, n, l1, l2);
                w.push(w_j);
                p += w_j * v as f32;
            }
            margins.push(f64::from(p));
            let d = -y / (1.0 + (y * p).exp());
            for ((j, v), &w_j) in x.iter().zip(&w) {
                let (z, n) = &mut table[j as usize];
                let g = d * v as f32;
                let sigma = ((*n + g * g).sqrt() - n.sqrt()) / alpha;
                *z += g - sigma * w_j;
                *n += g * g;
            }
            let sigma = ((bias_n + d * d).sqrt() - bias_n.sqrt()) / alpha;
            bias_z += d - sigma * bias;
            bias_n += d * d;
        }
    });
}

//! Cost of a nonzero under each method, from memory, and of the abstraction: FTRL against a loop by hand, and against a
//! loop that only visits the coordinates; and what sixteen settings cost together.
//!
//! `cargo bench -p parsimon --bench rules`; items are nonzeros. Arguments such as `ftrl` pick benchmarks.

use divan::Bencher;
use divan::counter::ItemsCount;
use parsimon::rows::{Chunk, Repeats};
use parsimon::settings::{Precision, Storage};
use parsimon::survey::Found;
use parsimon::tune::{Grid, Sweep};
use parsimon::{InputSchema, LearnerOptions, Spec};
use parsimon_testing::SplitMix64;

const ROWS: usize = 20_000;
const NONZEROS: usize = 40;
const BITS: u32 = 20;
/// A table that caches hold in part, and one they do not.
const SIZES: [u32; 2] = [20, 24];

fn main() {
    divan::main();
}

/// Rows of a click log's shape: 40 features, Zipf over 2^bits slots.
fn clicks(bits: u32) -> Chunk {
    let mut random = SplitMix64::new(1);
    let mut unit = || random.unit();
    let mut chunk = Chunk::new();
    for _ in 0..ROWS {
        for _ in 0..NONZEROS {
            let rank = (f64::from(1u32 << bits).powf(unit()) - 1.0) as u32;
            chunk.push_feature(rank.wrapping_mul(0x9E37_79B1) >> (32 - bits), 1.0);
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
    r#"{"algorithm": "nag"}"#,
    r#"{"algorithm": "pa"}"#,
    r#"{"algorithm": "arow"}"#,
    r#"{"algorithm": "scw"}"#,
    r#"{"algorithm": "ftl"}"#,
    r#"{"algorithm": "csgd", "rate": 0.1, "switch": 10000}"#,
    r#"{"algorithm": "ncsgd", "rate": 0.1}"#,
    r#"{"algorithm": "adaline", "rate": 0.001}"#,
    r#"{"algorithm": "nlms", "loss": "halfspace"}"#,
    r#"{"algorithm": "apfbs", "loss": "halfspace", "l1": 1e-5}"#,
    r#"{"algorithm": "pda", "loss": "halfspace", "l1": 0.01}"#,
];

fn learn(bencher: Bencher, spec: &str, precision: Precision, bits: u32) {
    let chunk = clicks(bits);
    let settings = Spec::from_json(spec).and_then(|s| s.resolve()).expect("the spec is good");
    let frame = LearnerOptions { precision, bias: true, storage: Storage::Slots(1 << bits) };
    let mut learner = settings.build(frame, &Found::default()).expect("the settings are good");
    let mut margins = Vec::with_capacity(chunk.len());
    // The pages of a new table are the system's work, not the learner's.
    learner.learn(&chunk, &mut margins);
    bencher.counter(ItemsCount::new(chunk.nonzeros())).bench_local(|| {
        margins.clear();
        learner.learn(&chunk, &mut margins);
    });
}

#[divan::bench(args = METHODS, sample_count = 10, sample_size = 1)]
fn method(bencher: Bencher, spec: &str) {
    learn(bencher, spec, Precision::F32, BITS);
}

#[divan::bench(args = SIZES, sample_count = 20, sample_size = 1)]
fn ftrl_f64(bencher: Bencher, bits: u32) {
    learn(bencher, METHODS[0], Precision::F64, bits);
}

#[divan::bench(args = SIZES, sample_count = 20, sample_size = 1)]
fn ftrl_alias(bencher: Bencher, bits: u32) {
    learn(bencher, METHODS[0], Precision::F32, bits);
}

fn sweep(bencher: Bencher, l1: &str, bits: u32) {
    let specs = Grid::parse([l1]).and_then(|g| g.expand(&Spec::new("ftrl").set("rate", 0.1)));
    let settings = specs.expect("the grid is good").iter().map(Spec::resolve).collect();
    let storage = Storage::Slots(1 << bits);
    let frame = LearnerOptions { precision: Precision::F32, bias: true, storage };
    let settings = Result::expect(settings, "the specs are good");
    let mut sweep =
        Sweep::new(settings, frame, InputSchema::default()).expect("the settings are good");
    let chunk = clicks(bits);
    sweep.learn(&chunk, &mut |_| {});
    bencher
        .counter(ItemsCount::new(chunk.nonzeros()))
        .bench_local(|| sweep.learn(&chunk, &mut |_| {}));
}

#[divan::bench(args = SIZES, sample_count = 10, sample_size = 1)]
fn sweep_of_1(bencher: Bencher, bits: u32) {
    sweep(bencher, "l1=1", bits);
}

/// Items are nonzeros of the rows, met once for all settings.
#[divan::bench(args = SIZES, sample_count = 10, sample_size = 1)]
fn sweep_of_16(bencher: Bencher, bits: u32) {
    sweep(bencher, "l1=0.01..10:16", bits);
}

/// The limit: every coordinate of every row is read and written, and nothing is computed.
#[divan::bench(args = SIZES, sample_count = 20, sample_size = 1)]
fn random_access(bencher: Bencher, bits: u32) {
    let chunk = clicks(bits);
    let mut table: Vec<_> = (0..1 << bits).map(|_| (0.0f32, 0.0f32)).collect();
    bencher.counter(ItemsCount::new(chunk.nonzeros())).bench_local(|| {
        for i in 0..chunk.len() {
            for &j in chunk.row(i).indices() {
                let (z, n) = &mut table[j as usize];
                *z += 1.0;
                *n += 1.0;
            }
        }
        divan::black_box(&mut table);
    });
}

/// FTRL-Proximal as one would write it by hand: an array of (z, n), two loops per row, no abstraction.
#[divan::bench(args = SIZES, sample_count = 20, sample_size = 1)]
fn ftrl_by_hand(bencher: Bencher, bits: u32) {
    let (alpha, beta, l1, l2) = (0.1f32, 1.0f32, 1.0f32, 1.0f32);
    let chunk = clicks(bits);
    let mut table: Vec<_> = (0..1 << bits).map(|_| (0.0f32, 0.0f32)).collect();
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

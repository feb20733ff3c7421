//! Cost of a sample under each filter.
//!
//! `cargo bench -p parsimon --bench filters`; items are samples, so 16 kHz at 1% of real time is 1.6 Mitem/s.

use divan::Bencher;
use divan::counter::ItemsCount;
use parsimon::Spec;
use parsimon::filter::{FilterPrecision, Regularization};
use parsimon_core::Float;
use parsimon_testing::Lcg64;

const SAMPLES: usize = 16_000;

fn main() {
    divan::main();
}

fn noise<F: Float>(seed: u64) -> Vec<F> {
    let mut random = Lcg64::new(seed);
    std::iter::repeat_with(|| F::from_f64(random.unit24() - 0.5)).take(SAMPLES).collect()
}

const FILTERS: &[&str] = &[
    r#"{"algorithm": "lms", "rate": 0.001}"#,
    r#"{"algorithm": "nlms"}"#,
    r#"{"algorithm": "apa", "order": 2}"#,
    r#"{"algorithm": "apa", "order": 8}"#,
    r#"{"algorithm": "ipnlms"}"#,
    r#"{"algorithm": "pnlms"}"#,
    r#"{"algorithm": "papa", "order": 2}"#,
    r#"{"algorithm": "apfbs", "alpha": 0.5, "l1": 1e-4, "order": 2}"#,
    r#"{"algorithm": "pda", "alpha": 0.5, "l1": 1e-2, "order": 1}"#,
    r#"{"algorithm": "pda", "alpha": 0.5, "l1": 1e-2, "order": 2}"#,
];

fn push<F: FilterPrecision>(bencher: Bencher, spec: &str, taps: usize) {
    let settings = Spec::from_json(spec).and_then(|s| s.resolve()).expect("the table is right");
    let mut filter =
        settings.filter::<F>(taps, Regularization { relative: 0.01 }).expect("the table is right");
    let (reference, observed) = (noise::<F>(1), noise::<F>(2));
    bencher.counter(ItemsCount::new(SAMPLES)).bench_local(|| {
        for (x, y) in reference.chunks(160).zip(observed.chunks(160)) {
            divan::black_box(filter.push(x, y));
        }
    });
}

#[divan::bench(args = FILTERS, sample_count = 9, sample_size = 1)]
fn taps_512_f32(bencher: Bencher, spec: &str) {
    push::<f32>(bencher, spec, 512);
}

#[divan::bench(args = FILTERS, sample_count = 9, sample_size = 1)]
fn taps_1024_f32(bencher: Bencher, spec: &str) {
    push::<f32>(bencher, spec, 1024);
}

#[divan::bench(args = FILTERS, sample_count = 9, sample_size = 1)]
fn taps_512_f64(bencher: Bencher, spec: &str) {
    push::<f64>(bencher, spec, 512);
}

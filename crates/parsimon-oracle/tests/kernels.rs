//! Laws and theorems of the multikernel filters (000, appendix A.3).
//!
//! Tolerances are stated, and what was measured is printed (`--nocapture`).

use crate::measure;

use measure::{SEEDS, assert_within, counted, difference, dot, sparse, with};
use parsimon_oracle::matrix::{self, Matrix};
use parsimon_oracle::streams::SplitMix64;
use parsimon_oracle::{Example, KernelOutcome, Stream, multikernel, run};
use serde_json::{Value, json};

fn kernel_spec(algorithm: &str, keys: &Value) -> Value {
    let base = json!({"algorithm": algorithm, "rate": 0.3, "delta": 1e-3, "kernel": "gaussian",
        "variances": [0.5, 2.0], "dictionary_max": 100_000, "dictionary_threshold": 1e-6});
    with(&base, keys)
}

/// The thesis's function (A.35) with some importance weights.
fn nonlinear(seed: u64, rounds: usize) -> Stream {
    let mut rng = SplitMix64::new(seed);
    let examples = (0..rounds)
        .map(|_| {
            let x = rng.unit();
            let y = (-20.0 * (x - 0.1) * (x - 0.1)).exp()
                - 2.0 * (-20.0 * (x - 0.8) * (x - 0.8)).exp()
                + 0.1 * rng.normal();
            let weight = if rng.chance(0.1) { 0.0 } else { rng.between(0.5, 1.0) };
            Example { x: vec![(0, x)], y, weight }
        })
        .collect();
    Stream { dimension: 1, examples }
}

fn kernels_apart(a: &KernelOutcome, b: &KernelOutcome) -> f64 {
    assert_eq!((&a.dictionary, &a.sizes), (&b.dictionary, &b.sizes));
    let coefficients = a.coefficients.iter().zip(&b.coefficients);
    coefficients.map(|(a, b)| difference(a, b)).fold(difference(&a.margins, &b.margins), f64::max)
}

#[test]
fn one_linear_kernel_is_nlms_with_the_rows_as_gain() {
    // w = sum_j h_j x_j, so a step on h moves w by A x, A = sum_j x_j x_j^T, and |K|^2 = x.Ax.
    let mut worst: f64 = 0.0;
    for seed in SEEDS {
        let stream = sparse(seed, 150, "projection");
        let n = stream.dimension;
        let mut a: Matrix = vec![vec![0.0; n]; n];
        let mut w = vec![0.0; n];
        for (x, y, v) in counted(&stream, false) {
            for i in 0..n {
                for j in 0..n {
                    a[i][j] += x[i] * x[j];
                }
            }
            let ax = matrix::times(&a, &x);
            let step = 0.3 * v * (y - dot(&w, &x)) / (dot(&x, &ax) + 1e-3);
            for i in 0..n {
                w[i] += step * ax[i];
            }
        }
        for algorithm in ["multikernel-apfbs", "multikernel-pda"] {
            let spec = kernel_spec(algorithm, &json!({"kernel": "linear"}));
            let outcome = multikernel(&spec, &stream);
            let implied: Vec<f64> = (0..n)
                .map(|i| {
                    let columns = outcome.dictionary.iter().zip(&outcome.coefficients);
                    columns.map(|(x, h)| h[0] * x[i]).sum()
                })
                .collect();
            assert!(w.iter().any(|w| w.abs() > 0.1), "nothing moved, nothing was tested");
            worst = worst.max(difference(&implied, &w));
        }
    }
    assert_within("one linear kernel", worst, 1e-11);
}

#[test]
fn a_polynomial_of_degree_one_is_linear_with_a_bias() {
    let stream = sparse(1, 100, "projection");
    let mut explicit = stream.clone();
    explicit.dimension += 1;
    for row in &mut explicit.examples {
        row.x.push((20, 1.0));
    }
    for algorithm in ["multikernel-apfbs", "multikernel-pda"] {
        let keys = json!({"kernel": ["polynomial"], "degrees": [1], "l1": 1e-3});
        let polynomial = multikernel(&kernel_spec(algorithm, &keys), &stream);
        let keys = json!({"kernel": "linear", "l1": 1e-3});
        let linear = multikernel(&kernel_spec(algorithm, &keys), &explicit);
        assert_eq!(polynomial.sizes, linear.sizes);
        let apart = difference(&polynomial.margins, &linear.margins);
        assert_within("degree one", apart, 1e-12);
    }
}

#[test]
fn kernel_dual_averaging_without_a_penalty_is_forward_backward() {
    let mut worst: f64 = 0.0;
    for seed in SEEDS {
        // Refined as well: what PDA forgets of S is what APFBS forgets of H.
        for keys in [json!({}), json!({"dictionary_max": 30, "dictionary_threshold": 0.05})] {
            let stream = nonlinear(seed, 150);
            let pda = multikernel(&kernel_spec("multikernel-pda", &keys), &stream);
            let apfbs = multikernel(&kernel_spec("multikernel-apfbs", &keys), &stream);
            worst = worst.max(kernels_apart(&pda, &apfbs));
        }
    }
    assert_within("multikernel PDA is APFBS", worst, 1e-12);
}

#[test]
fn a_full_kernel_step_meets_the_row() {
    let keys = json!({"rate": 1.0, "delta": 0.0, "kernel": ["gaussian", "linear", "polynomial"],
        "degrees": [2, 3]});
    let mut worst: f64 = 0.0;
    for algorithm in ["multikernel-apfbs", "multikernel-pda"] {
        let spec = kernel_spec(algorithm, &keys);
        let mut stream = nonlinear(1, 40);
        for row in &mut stream.examples {
            row.weight = 1.0;
        }
        for t in 0..stream.examples.len() {
            // The row once more, without weight: it is only predicted.
            let mut seen = stream.examples[..=t].to_vec();
            seen.push(Example { weight: 0.0, ..stream.examples[t].clone() });
            let outcome = multikernel(&spec, &Stream { dimension: 1, examples: seen });
            worst = worst.max((outcome.margins[t + 1] - stream.examples[t].y).abs());
        }
    }
    assert_within("<H, K> = y", worst, 1e-12);
}

#[test]
fn a_row_of_zeros_moves_no_linear_kernel_even_without_delta() {
    let row = |x: f64| Example { x: vec![(0, x)], y: 1.0, weight: 1.0 };
    let stream = Stream { dimension: 1, examples: vec![row(0.0), row(1.0)] };
    for algorithm in ["multikernel-apfbs", "multikernel-pda"] {
        let spec = kernel_spec(algorithm, &json!({"kernel": "linear", "delta": 0.0}));
        let outcome = multikernel(&spec, &stream);
        assert_eq!(outcome.coefficients, vec![vec![0.0], vec![0.3]]);
    }
}

#[test]
fn the_order_of_the_kernels_is_the_order_of_the_coefficients() {
    let stream = nonlinear(2, 80);
    for algorithm in ["multikernel-apfbs", "multikernel-pda"] {
        let keys = json!({"l1": 1e-3, "kernel": ["gaussian", "linear"], "variances": [0.1, 1.0]});
        let one = multikernel(&kernel_spec(algorithm, &keys), &stream);
        let keys = json!({"l1": 1e-3, "kernel": ["linear", "gaussian"], "variances": [1.0, 0.1]});
        let mut other = multikernel(&kernel_spec(algorithm, &keys), &stream);
        for column in &mut other.coefficients {
            assert_eq!(column.len(), 3);
            column.reverse();
            // linear, 1, 0.1 reversed is 0.1, 1, linear.
        }
        assert_within("kernels in another order", kernels_apart(&one, &other), 1e-12);
    }
}

#[test]
fn a_dictionary_is_refined_when_it_is_full_and_only_then() {
    for algorithm in ["multikernel-apfbs", "multikernel-pda"] {
        let keys = json!({"l1": 5e-3, "dictionary_max": 20, "dictionary_threshold": 1e-12,
            "variances": [0.001, 0.01, 0.1]});
        let stream = nonlinear(3, 200);
        let outcome = multikernel(&kernel_spec(algorithm, &keys), &stream);
        let mut before = 0;
        let mut dropped = false;
        for (row, &size) in stream.examples.iter().zip(&outcome.sizes) {
            match row.weight {
                0.0 => assert_eq!(size, before, "a row of weight zero does not exist"),
                _ if before + 1 < 20 => assert_eq!(size, before + 1, "below the mark it grows"),
                _ => {
                    assert!(size <= before + 1);
                    dropped |= size <= before;
                }
            }
            before = size;
        }
        assert!(dropped, "{algorithm}: nothing was dropped, nothing was tested");
        assert_eq!(outcome.coefficients.len(), outcome.dictionary.len());
        assert_eq!(outcome.dictionary.len(), before);
        assert_eq!(outcome.margins.len(), 200);
    }
}

#[test]
#[should_panic(expected = "multikernel-pda has no weight vector; call `multikernel`")]
fn kernels_have_no_weight_vector() {
    run(&kernel_spec("multikernel-pda", &json!({})), &nonlinear(1, 5), false);
}

//! Laws and theorems of the methods that project: filters, constrained descents, least squares.
//!
//! Tolerances are stated, and what was measured is printed (`--nocapture`).

use crate::measure;

use measure::{
    SEEDS, assert_within, counted, difference, dot, largest_difference, minus, normals, sparse,
    with,
};
use parsimon_oracle::least_squares::ridge_trajectory;
use parsimon_oracle::projection::{from_halfspace, from_hyperplanes, metric};
use parsimon_oracle::proportionate::{ipnlms_gains, pnlms_gains};
use parsimon_oracle::prox::soft;
use parsimon_oracle::streams::SplitMix64;
use parsimon_oracle::{Example, Stream, run, trajectory};
use serde_json::{Value, json};

/// `|v|_Q^2` for a diagonal `Q`.
fn square(v: &[f64], q: &[f64]) -> f64 {
    v.iter().zip(q).map(|(v, q)| q * v * v).sum()
}

/// Rows without zeros, so that a few of them are always independent.
fn dense(seed: u64, rounds: usize, n: usize) -> Stream {
    let mut rng = SplitMix64::new(seed);
    let planted: Vec<f64> = (0..n).map(|i| if i % 3 == 0 { rng.normal() } else { 0.0 }).collect();
    let examples = (0..rounds)
        .map(|_| {
            let x = normals(&mut rng, n);
            let y = dot(&planted, &x) + 0.1 * rng.normal();
            Example { x: x.into_iter().enumerate().collect(), y, weight: 1.0 }
        })
        .collect();
    Stream { dimension: n, examples }
}

/// The largest difference of two specs' trajectories over seeds, with and without a bias.
fn apart(a: &Value, b: &Value) -> f64 {
    let loss = a["loss"].as_str().unwrap_or("projection");
    let mut worst: f64 = 0.0;
    for seed in SEEDS {
        let stream = sparse(seed, 300, loss);
        for bias in [false, true] {
            let (a, b) = (trajectory(a, &stream, bias), trajectory(b, &stream, bias));
            worst = worst.max(largest_difference(&a, &b));
        }
    }
    worst
}

// The metric and the sets.

#[test]
fn the_metric_has_trace_n_and_gains_follow_the_weights() {
    let mut rng = SplitMix64::new(1);
    let mut worst: f64 = 0.0;
    for n in [1, 2, 7, 100] {
        for alpha in [0.0, 0.3, 1.0] {
            for epsilon in [1e-5, 0.1] {
                let mut w = normals(&mut rng, n);
                w[0] = 0.0;
                let q = metric(&w, alpha, epsilon);
                worst = worst.max((q.iter().sum::<f64>() / n as f64 - 1.0).abs());
                for i in 0..n {
                    assert!(q[i] > 0.0 && q[i] <= q[0], "the weight at zero has the smallest gain");
                }
                if alpha == 1.0 {
                    assert!(q.iter().all(|&q| q == 1.0), "alpha = 1 is the identity");
                }
            }
        }
    }
    assert_within("trace Q = n, relative", worst, 1e-13);
}

/// Random weights, a metric that may be far from the identity, and rows with labels.
fn scene(rng: &mut SplitMix64, n: usize, order: usize) -> (Vec<f64>, Vec<f64>, Vec<Vec<f64>>) {
    let w = normals(rng, n);
    let (alpha, epsilon) = (rng.unit(), rng.between(1e-3, 1.0));
    let q = metric(&normals(rng, n), alpha, epsilon);
    let rows = (0..order).map(|_| normals(rng, n)).collect();
    (w, q, rows)
}

#[test]
fn a_projection_lands_on_its_set_at_the_nearest_point() {
    let (mut missed, mut beaten): (f64, f64) = (0.0, 0.0);
    for seed in 0..200 {
        let mut rng = SplitMix64::new(seed);
        for order in 1..=4 {
            let (w, q, rows) = scene(&mut rng, 9, order);
            let labels = normals(&mut rng, order);
            let project = |w: &[f64]| minus(w, &from_hyperplanes(w, &q, &rows, &labels, 0.0));
            let nearest = project(&w);
            for (x, y) in rows.iter().zip(&labels) {
                missed = missed.max((dot(x, &nearest) - y).abs());
            }
            // Any projected point is in the set; none is nearer to w than its own projection.
            for _ in 0..5 {
                let other = project(&normals(&mut rng, 9));
                let gain = square(&minus(&w, &nearest), &q) - square(&minus(&w, &other), &q);
                beaten = beaten.max(gain);
            }
        }
        let (w, q, rows) = scene(&mut rng, 9, 1);
        let y = if rng.chance(0.5) { 1.0 } else { -1.0 };
        let project = |w: &[f64]| minus(w, &from_halfspace(w, &q, &rows[0], y, 0.0));
        let nearest = project(&w);
        let margin = y * dot(&w, &rows[0]);
        missed = missed.max((y * dot(&nearest, &rows[0]) - margin.max(1.0)).abs());
        for _ in 0..5 {
            let other = project(&normals(&mut rng, 9));
            let gain = square(&minus(&w, &nearest), &q) - square(&minus(&w, &other), &q);
            beaten = beaten.max(gain);
        }
    }
    assert_within("a projection misses its set by", missed, 1e-10);
    assert_within("a projection is beaten by", beaten, 1e-10);
}

#[test]
fn a_projection_is_nonexpansive_in_its_metric() {
    let mut expanded: f64 = 0.0;
    for seed in 0..200 {
        let mut rng = SplitMix64::new(seed);
        // With delta > 0 the map is a shorter step toward the set, and no wilder for it.
        for delta in [0.0, 0.1] {
            for order in 1..=4 {
                let (w, q, rows) = scene(&mut rng, 9, order);
                let z = normals(&mut rng, 9);
                let labels = normals(&mut rng, order);
                let plane = |w: &[f64]| minus(w, &from_hyperplanes(w, &q, &rows, &labels, delta));
                let half = |w: &[f64]| minus(w, &from_halfspace(w, &q, &rows[0], 1.0, delta));
                let before = square(&minus(&w, &z), &q).sqrt();
                for (a, b) in [(plane(&w), plane(&z)), (half(&w), half(&z))] {
                    expanded = expanded.max(square(&minus(&a, &b), &q).sqrt() - before);
                }
            }
        }
    }
    assert_within("a projection expands by", expanded, 1e-12);
}

#[test]
fn a_full_step_without_delta_meets_the_last_rows() {
    let mut worst: f64 = 0.0;
    for seed in SEEDS {
        let stream = dense(seed, 100, 12);
        for bias in [false, true] {
            for order in 1..=4 {
                for alpha in [Value::Null, json!(0.5)] {
                    let spec = json!({"algorithm": "papa", "loss": "projection", "rate": 1.0,
                        "delta": 0.0, "order": order, "alpha": alpha, "epsilon": 1e-3});
                    let rows = counted(&stream, bias);
                    for (t, w) in trajectory(&spec, &stream, bias).iter().enumerate() {
                        for (x, y, _) in &rows[(t + 1).saturating_sub(order)..=t] {
                            worst = worst.max((dot(w, x) - y).abs());
                        }
                    }
                }
            }
        }
    }
    assert_within("X^T w = y", worst, 1e-10);
}

#[test]
fn a_full_step_without_delta_has_margin_one() {
    let mut worst: f64 = 0.0;
    for seed in SEEDS {
        let mut stream = dense(seed, 200, 12);
        for row in &mut stream.examples {
            row.y = row.y.signum();
        }
        for bias in [false, true] {
            for alpha in [Value::Null, json!(0.5)] {
                let spec = json!({"algorithm": "papa", "loss": "halfspace", "rate": 1.0,
                    "delta": 0.0, "alpha": alpha, "epsilon": 1e-3});
                let margins = run(&spec, &stream, bias).margins;
                let points = trajectory(&spec, &stream, bias);
                for (t, (x, y, _)) in counted(&stream, bias).iter().enumerate() {
                    let margin = y * dot(&points[t], x);
                    worst = worst.max((margin - (y * margins[t]).max(1.0)).abs());
                }
            }
        }
    }
    assert_within("y w.x = 1", worst, 1e-12);
}

// One method under two names, where the two are different code here.

#[test]
fn without_a_penalty_dual_averaging_is_forward_backward() {
    let base = json!({"algorithm": "pda", "loss": "projection", "rate": 0.3, "delta": 1e-5});
    let metric = json!({"alpha": 0.5, "epsilon": 1e-5});
    let pda = &base;
    let other =
        |keys: &Value, algorithm: &str| with(&with(&base, keys), &json!({"algorithm": algorithm}));
    let none = json!({});
    assert_within("PDA is NLMS", apart(pda, &other(&none, "nlms")), 1e-13);
    for order in [1, 3] {
        let keys = with(&metric, &json!({"order": order}));
        let (pda, papa) = (with(&base, &keys), other(&keys, "papa"));
        assert_within(&format!("PDA is PAPA, order {order}"), apart(&pda, &papa), 1e-9);
        let identity = json!({"order": order});
        let (pda, apa) = (with(&base, &identity), other(&identity, "apa"));
        assert_within(&format!("PDA is APA, order {order}"), apart(&pda, &apa), 1e-11);
    }
    let half = json!({"loss": "halfspace"});
    let pda = with(&base, &half);
    assert_within("PDA is NLMS, half-space", apart(&pda, &other(&half, "nlms")), 1e-13);
    let half = with(&half, &metric);
    let pda = with(&base, &half);
    assert_within("PDA is PAPA, half-space", apart(&pda, &other(&half, "papa")), 1e-9);
}

#[test]
fn order_one_is_the_scalar_formula() {
    // NUMERICS: q moves by 1/epsilon times the rounding of a weight near zero, and the next
    // weight with it: 1e-11 here, 1e-15 with epsilon = 0.1.
    let (eta, l1, alpha, epsilon, delta) = (0.4, 0.02, 0.3, 1e-3, 1e-2);
    for loss in ["projection", "halfspace"] {
        for (algorithm, l1) in [("pda", l1), ("apfbs", l1), ("papa", 0.0)] {
            let mut worst: f64 = 0.0;
            let spec = json!({"algorithm": algorithm, "loss": loss, "rate": eta, "l1": l1,
                "alpha": alpha, "epsilon": epsilon, "delta": delta, "order": 1});
            for seed in SEEDS {
                let stream = sparse(seed, 300, loss);
                let n = stream.dimension;
                let mut w = vec![0.0; n + 1];
                let mut s = vec![0.0; n + 1];
                let mut points = Vec::new();
                for (x, y, v) in counted(&stream, true) {
                    let sum: f64 = (0..n).map(|i| 1.0 / (f64::abs(w[i]) + epsilon)).sum();
                    let q: Vec<f64> = (0..=n)
                        .map(|i| {
                            let inverse = n as f64 / sum / (f64::abs(w[i]) + epsilon);
                            if i == n { 1.0 } else { alpha + (1.0 - alpha) * inverse }
                        })
                        .collect();
                    let p = dot(&w, &x);
                    let power: f64 = (0..=n).map(|i| x[i] * x[i] / q[i]).sum();
                    let residual =
                        if loss == "projection" { p - y } else { -y * (1.0 - y * p).max(0.0) };
                    for i in 0..=n {
                        let g = v * residual * x[i] / q[i] / (power + delta);
                        s[i] += g;
                        let stepped = if algorithm == "pda" { -eta * s[i] } else { w[i] - eta * g };
                        let l1 = if i == n { 0.0 } else { l1 };
                        w[i] = soft(stepped, eta * l1 * q[i]);
                    }
                    points.push(w.clone());
                }
                worst = worst.max(largest_difference(&trajectory(&spec, &stream, true), &points));
            }
            assert_within(&format!("{algorithm}, {loss}, by scalars"), worst, 1e-9);
        }
    }
}

#[test]
fn order_two_by_the_explicit_inverse() {
    let (eta, delta) = (0.4, 1e-2);
    let spec = json!({"algorithm": "apa", "loss": "projection", "rate": eta, "delta": delta,
        "order": 2});
    let mut worst: f64 = 0.0;
    for seed in SEEDS {
        let stream = sparse(seed, 300, "projection");
        let rows = counted(&stream, true);
        let mut w = vec![0.0; stream.dimension + 1];
        let mut points = Vec::new();
        for (t, (x, y, v)) in rows.iter().enumerate() {
            // A row of zeros in the place of the one before the first.
            let (z, label) = match t {
                0 => (vec![0.0; x.len()], 0.0),
                _ => (rows[t - 1].0.clone(), rows[t - 1].1),
            };
            let (xx, xz, zz) = (dot(x, x) + delta, dot(x, &z), dot(&z, &z) + delta);
            let (e, f) = (dot(&w, x) - y, dot(&w, &z) - label);
            let determinant = xx * zz - xz * xz;
            let (a, b) = ((zz * e - xz * f) / determinant, (xx * f - xz * e) / determinant);
            for i in 0..w.len() {
                w[i] -= eta * v * (a * x[i] + b * z[i]);
            }
            points.push(w.clone());
        }
        worst = worst.max(largest_difference(&trajectory(&spec, &stream, true), &points));
    }
    assert_within("order 2 is the explicit inverse", worst, 1e-11);
}

#[test]
fn proportionate_gains_have_the_mean_they_promise() {
    let mut rng = SplitMix64::new(3);
    let mut worst: f64 = 0.0;
    for n in [1, 2, 7, 100] {
        let w = normals(&mut rng, n);
        let mean = |k: Vec<f64>| k.iter().sum::<f64>() / n as f64;
        for rho in [0.01, 0.5, 2.0] {
            for w in [&w, &vec![0.0; n]] {
                worst = worst.max((mean(pnlms_gains(w, rho, 0.01)) - 1.0).abs());
            }
        }
        for a in [-1.0, -0.5, 0.0, 0.9] {
            // Without epsilon the mean is 1/n exactly; with it, at most.
            worst = worst.max((n as f64 * mean(ipnlms_gains(&w, a, 0.0)) - 1.0).abs());
            assert!(n as f64 * mean(ipnlms_gains(&w, a, 0.1)) <= 1.0 + 1e-13);
        }
    }
    assert_within("mean gain, relative", worst, 1e-13);
}

#[test]
fn even_gains_are_nlms() {
    let nlms = |delta: f64| json!({"algorithm": "nlms", "loss": "projection", "rate": 0.3, "delta": delta});
    // a = -1: every gain is 1/n, so delta counts n times.
    let ipnlms = json!({"algorithm": "ipnlms", "loss": "projection", "rate": 0.3, "a": -1.0,
        "epsilon": 1e-3, "delta": 0.01});
    assert_within("IPNLMS, a = -1, is NLMS", apart(&ipnlms, &nlms(0.2)), 1e-13);
    // rho = 1: every gamma is the largest.
    let pnlms = json!({"algorithm": "pnlms", "loss": "projection", "rate": 0.3, "rho": 1.0,
        "delta_p": 0.01, "delta": 0.2});
    assert_within("PNLMS, rho = 1, is NLMS", apart(&pnlms, &nlms(0.2)), 1e-13);
}

#[test]
fn proportionate_steps_are_projections_in_the_inverse_gains() {
    let mut worst: f64 = 0.0;
    for seed in SEEDS {
        let stream = sparse(seed, 200, "projection");
        let specs = [
            json!({"algorithm": "pnlms", "rate": 0.5, "rho": 0.05, "delta_p": 0.01, "delta": 0.01}),
            json!({"algorithm": "ipnlms", "rate": 0.5, "a": 0.3, "epsilon": 0.01, "delta": 0.01}),
        ];
        for spec in specs {
            let n = stream.dimension;
            let mut w = vec![0.0; n + 1];
            let mut points = Vec::new();
            for (x, y, v) in counted(&stream, true) {
                let (mut k, mean) = if spec["algorithm"] == "pnlms" {
                    (pnlms_gains(&w[..n], 0.05, 0.01), 1.0)
                } else {
                    (ipnlms_gains(&w[..n], 0.3, 0.01), 1.0 / n as f64)
                };
                k.push(mean);
                let q: Vec<f64> = k.iter().map(|k| 1.0 / k).collect();
                let g = from_hyperplanes(&w, &q, &[x], &[y], 0.01);
                w = w.iter().zip(g).map(|(w, g)| w - 0.5 * v * g).collect();
                points.push(w.clone());
            }
            worst = worst.max(largest_difference(&trajectory(&spec, &stream, true), &points));
        }
    }
    assert_within("proportionate NLMS projects", worst, 1e-11);
}

// Least squares.

#[test]
fn recursive_least_squares_is_the_ridge_regression_of_the_past() {
    for (forgetting, tolerance) in [(1.0, 1e-10), (0.98, 1e-10), (0.9, 1e-9)] {
        let mut worst: f64 = 0.0;
        for delta in [0.01, 1.0] {
            let spec = json!({"algorithm": "rls", "loss": "squared", "delta": delta,
                "forgetting": forgetting});
            for seed in SEEDS {
                for stream in [dense(seed, 60, 8), sparse(seed, 60, "squared")] {
                    for bias in [false, true] {
                        let recursion = trajectory(&spec, &stream, bias);
                        let ridge = ridge_trajectory(&spec, &stream, bias);
                        worst = worst.max(largest_difference(&recursion, &ridge));
                    }
                }
            }
        }
        assert_within(&format!("RLS is ridge, forgetting {forgetting}"), worst, tolerance);
    }
}

// Constrained descent.

fn constrained() -> Vec<Value> {
    vec![
        json!({"algorithm": "csgd", "rate": 0.1, "schedule": "two-phase", "switch": 100}),
        json!({"algorithm": "csgd", "rate": 0.1, "schedule": "constant"}),
        json!({"algorithm": "ncsgd", "rate": 0.1}),
        json!({"algorithm": "c-adaline", "rate": 0.1}),
    ]
}

#[test]
fn every_constrained_iterate_predicts_the_mean_label_at_the_mean_row() {
    let mut worst: f64 = 0.0;
    for spec in constrained() {
        for seed in SEEDS {
            let stream = sparse(seed, 300, "squared");
            for bias in [false, true] {
                let rows = counted(&stream, bias);
                let points = trajectory(&spec, &stream, bias);
                for (t, w) in points.iter().enumerate() {
                    // The means once more, from the stored rows.
                    let total: f64 = rows[..=t].iter().map(|(_, _, v)| v).sum();
                    let y: f64 = rows[..=t].iter().map(|(_, y, v)| v * y).sum::<f64>() / total;
                    let x: Vec<f64> = (0..w.len())
                        .map(|i| rows[..=t].iter().map(|(x, _, v)| v * x[i]).sum::<f64>() / total)
                        .collect();
                    if x.iter().any(|&x| x != 0.0) {
                        worst = worst.max((dot(w, &x) - y).abs());
                    }
                }
            }
        }
    }
    assert_within("w.xbar = ybar", worst, 1e-12);
}

#[test]
fn the_first_constrained_step_fits_the_first_row_whatever_the_rate() {
    let mut worst: f64 = 0.0;
    for mut spec in constrained() {
        for rate in [0.0, 1e-3, 1.0, 30.0] {
            spec["rate"] = json!(rate);
            for seed in SEEDS {
                let mut stream = dense(seed, 1, 8);
                stream.examples[0].weight = 0.7;
                let (x, y, _) = counted(&stream, true).remove(0);
                let w = trajectory(&spec, &stream, true).remove(0);
                worst = worst.max((dot(&w, &x) - y).abs());
                // Nothing but x is in it, so this is the shortest vector that fits.
                let shortest: Vec<f64> = x.iter().map(|v| v * y / dot(&x, &x)).collect();
                worst = worst.max(difference(&w, &shortest));
            }
        }
    }
    // The rate of 30 steps far out and comes back: 1e3 times the rounding.
    assert_within("w_2.x_1 = y_1", worst, 1e-11);
}

#[test]
fn lms_is_gradient_descent_at_a_constant_rate() {
    let keys = json!({"loss": "squared", "rate": 0.1});
    let lms = with(&json!({"algorithm": "lms"}), &keys);
    let sgd = with(&json!({"algorithm": "sgd", "schedule": "constant"}), &keys);
    assert_within("LMS is SGD", apart(&lms, &sgd), 1e-13);
}

#[test]
fn rows_whose_mean_is_zero_constrain_nothing() {
    let mut stream = dense(1, 2, 4);
    stream.examples[1] = Example {
        x: stream.examples[0].x.iter().map(|&(i, v)| (i, -v)).collect(),
        y: 1.0,
        weight: 1.0,
    };
    let spec = json!({"algorithm": "csgd", "rate": 0.1, "schedule": "constant"});
    let points = trajectory(&spec, &stream, false);
    let (x, y, _) = counted(&stream, false).remove(1);
    let p = dot(&points[0], &x);
    let plain: Vec<f64> = points[0].iter().zip(&x).map(|(w, x)| w - 0.1 * (p - y) * x).collect();
    assert_within("a plain step", difference(&points[1], &plain), 1e-15);
}

// What every method of these must do.

/// Every method with its loss, without and with a metric or penalty.
fn methods() -> Vec<Value> {
    let mut methods = constrained();
    methods.extend([
        json!({"algorithm": "lms", "rate": 0.05}),
        json!({"algorithm": "adaline", "rate": 0.05}),
        json!({"algorithm": "rls", "delta": 0.5}),
        json!({"algorithm": "rls", "delta": 0.5, "forgetting": 0.99}),
    ]);
    for loss in ["projection", "halfspace"] {
        for algorithm in ["pda", "apfbs", "papa", "apa", "nlms"] {
            methods.push(json!({"algorithm": algorithm, "loss": loss, "rate": 0.3}));
        }
    }
    methods.push(json!({"algorithm": "apa", "loss": "projection", "rate": 0.3, "order": 3}));
    methods
}

/// Methods that tell the bias from a feature.
fn uneven() -> Vec<Value> {
    let mut methods = vec![
        json!({"algorithm": "pnlms", "rate": 0.3, "rho": 0.05, "delta_p": 0.01, "delta": 0.01}),
        json!({"algorithm": "ipnlms", "rate": 0.3, "a": 0.0, "epsilon": 0.01, "delta": 0.01}),
    ];
    for loss in ["projection", "halfspace"] {
        for algorithm in ["pda", "apfbs"] {
            for alpha in [Value::Null, json!(0.5)] {
                methods.push(json!({"algorithm": algorithm, "loss": loss, "rate": 0.3, "l1": 0.01,
                    "alpha": alpha, "dimension": 20}));
            }
        }
        methods.push(json!({"algorithm": "papa", "loss": loss, "rate": 0.3, "alpha": 0.0}));
    }
    methods.push(json!({"algorithm": "pda", "loss": "projection", "rate": 0.3, "l1": 0.01,
        "alpha": 0.5, "order": 3}));
    methods
}

fn labels_for(spec: &Value) -> &str {
    spec["loss"].as_str().unwrap_or("projection")
}

#[test]
fn a_row_of_weight_zero_is_predicted_and_does_not_exist() {
    for spec in methods().iter().chain(&uneven()) {
        let stream = sparse(1, 120, labels_for(spec));
        let kept = stream.examples.iter().filter(|row| row.weight != 0.0).cloned().collect();
        let without = Stream { dimension: stream.dimension, examples: kept };
        let (all, some) = (run(spec, &stream, true), run(spec, &without, true));
        assert!(all.weights.iter().all(|w| w.is_finite()), "{spec}: not finite");
        assert_eq!(all.margins.len(), stream.examples.len());
        assert_eq!((&all.weights, all.bias), (&some.weights, some.bias), "{spec}");
    }
}

#[test]
fn a_feature_never_seen_weighs_exactly_zero() {
    for spec in methods().iter().chain(&uneven()) {
        let outcome = run(spec, &sparse(2, 120, labels_for(spec)), true);
        assert_eq!(outcome.weights.len(), 20);
        assert_eq!((outcome.weights[0], outcome.weights[19]), (0.0, 0.0), "{spec}");
        assert!(outcome.bias != 0.0, "{spec}: the bias never moved");
    }
}

#[test]
fn without_a_metric_or_penalty_the_bias_is_one_more_feature() {
    for spec in methods() {
        let stream = sparse(3, 120, labels_for(&spec));
        let mut explicit = stream.clone();
        explicit.dimension += 1;
        for row in &mut explicit.examples {
            row.x.push((20, 1.0));
        }
        let implied = run(&spec, &stream, true);
        let mut written = run(&spec, &explicit, false);
        written.bias = written.weights.pop().unwrap_or(f64::NAN);
        assert_eq!(implied, written, "{spec}");
    }
}

#[test]
fn a_row_of_zeros_moves_nothing_even_without_delta() {
    let specs = [
        json!({"algorithm": "pda", "loss": "projection", "rate": 0.3}),
        json!({"algorithm": "papa", "loss": "projection", "rate": 0.3, "alpha": 0.5}),
        json!({"algorithm": "apa", "loss": "halfspace", "rate": 0.3}),
        json!({"algorithm": "pnlms", "rate": 0.3, "rho": 0.05, "delta_p": 0.01}),
        json!({"algorithm": "ipnlms", "rate": 0.3, "a": 0.0, "epsilon": 0.01}),
    ];
    for spec in specs {
        let spec = with(&spec, &json!({"delta": 0.0}));
        let mut stream = dense(1, 3, 5);
        stream.examples[1] = Example { x: Vec::new(), y: 1.0, weight: 1.0 };
        let points = trajectory(&spec, &stream, false);
        assert_eq!(points[0], points[1], "{spec}");
        assert!(points[2] != points[1] && points[2].iter().all(|w| w.is_finite()), "{spec}");
    }
    // Of order two it fills a place, so the row after it is projected on alone.
    let mut stream = dense(1, 3, 5);
    stream.examples[1] = Example { x: Vec::new(), y: 1.0, weight: 1.0 };
    let apa = |order: usize| {
        json!({"algorithm": "apa", "loss": "projection", "rate": 0.3, "delta": 0.0,
            "order": order})
    };
    // It leaves the row before it in place: round 2 steps toward row 1 again.
    let (one, two) = (trajectory(&apa(1), &stream, false), trajectory(&apa(2), &stream, false));
    let (x, y, _) = counted(&stream, false).remove(0);
    let left = |w: &[f64]| y - dot(w, &x);
    assert_within("one step", (left(&one[1]) / y - 0.7).abs(), 1e-15);
    assert_within("two steps", (left(&two[1]) / y - 0.49).abs(), 1e-15);
    let (x, y, _) = counted(&stream, false).remove(2);
    let alone = (y - dot(&two[1], &x)) / dot(&x, &x);
    let expected: Vec<f64> = two[1].iter().zip(&x).map(|(w, x)| w + 0.3 * alone * x).collect();
    assert_within("the row after", difference(&two[2], &expected), 1e-15);
}

#[test]
fn a_strong_penalty_empties_the_features_and_spares_the_bias() {
    for mut spec in uneven() {
        if spec.get("l1").is_none() {
            continue;
        }
        spec["l1"] = json!(1e6);
        let outcome = run(&spec, &sparse(4, 120, labels_for(&spec)), true);
        assert!(outcome.weights.iter().all(|&w| w == 0.0), "{spec}: {:?}", outcome.weights);
        assert!(outcome.bias != 0.0, "{spec}: the bias was penalized");
    }
}

// What is refused.

#[test]
#[should_panic(expected = "dimension is 5, the stream has 20")]
fn another_dimension_is_refused() {
    let spec = json!({"algorithm": "pda", "loss": "projection", "rate": 0.1, "dimension": 5});
    run(&spec, &sparse(1, 5, "projection"), false);
}

#[test]
#[should_panic(expected = "a half-space is projected on alone, got order 2")]
fn half_spaces_of_an_order_are_refused() {
    let spec = json!({"algorithm": "papa", "loss": "halfspace", "rate": 0.1, "order": 2});
    run(&spec, &sparse(1, 5, "halfspace"), false);
}

//! Theorems between independent formulas (algorithms, section 3).
//!
//! Tolerances are stated, and what was measured is printed (`--nocapture`).

use parsimon_oracle::bregman::{self, Bowl, Row, Update};
use parsimon_oracle::loss::Loss;
use parsimon_oracle::matrix::{self, Matrix};
use parsimon_oracle::prox;
use parsimon_oracle::streams::{Options, SplitMix64, random};
use parsimon_oracle::unified::leader_trajectory;
use parsimon_oracle::{Stream, run, trajectory};
use serde_json::{Value, json};

const SEEDS: std::ops::Range<u64> = 0..5;

fn largest_difference(a: &[Vec<f64>], b: &[Vec<f64>]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| difference(a, b)).fold(0.0, f64::max)
}

fn difference(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    // NUMERICS: max drops a NaN, so it is looked for.
    assert!(a.iter().chain(b).all(|v| v.is_finite()), "a weight is not finite");
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[track_caller]
fn assert_within(claim: &str, measured: f64, tolerance: f64) {
    println!("{claim}: {measured:.1e}");
    assert!(measured <= tolerance, "{claim}: off by {measured:e}, tolerance {tolerance:e}");
}

/// Two trajectories that stay at zero agree about nothing.
#[track_caller]
fn assert_moved(points: &[Vec<f64>]) {
    let moved = points.iter().flatten().any(|w| w.abs() > 0.1);
    assert!(moved, "nothing moved, nothing was tested");
}

/// Ordinary values, importance weights and empty rows: sizes at which 1e-12 means something.
fn stream(seed: u64, rounds: usize, loss: &str) -> Stream {
    let options = Options { huge: false, ..Options::default() };
    random(seed, rounds, 20, loss, options)
}

/// The largest difference of two specs' trajectories over seeds, with and without a bias.
fn apart(loss: &str, a: &Value, b: &Value) -> f64 {
    let mut worst: f64 = 0.0;
    for seed in SEEDS {
        let stream = stream(seed, 300, loss);
        for bias in [false, true] {
            let (a, b) = (trajectory(a, &stream, bias), trajectory(b, &stream, bias));
            assert_moved(&a);
            worst = worst.max(largest_difference(&a, &b));
        }
    }
    worst
}

/// Theorem 4 and Corollary 6, or Theorem 7 for quadratic `R_t`: mirror descent plays what the
/// leader plays.
fn mirror_against_leader(algorithm: &str) -> f64 {
    let mut worst: f64 = 0.0;
    for loss in ["squared", "logistic", "hinge"] {
        for metric in ["sqrt", "adagrad"] {
            for implicit in [true, false] {
                for (l1, l2) in [(0.0, 0.0), (0.02, 0.0), (0.02, 0.1)] {
                    let spec = json!({"algorithm": algorithm, "loss": loss, "rate": 0.2, "l1": l1,
                        "l2": l2, "metric": metric, "implicit": implicit});
                    for seed in SEEDS {
                        let stream = stream(seed, 200, loss);
                        let mirror = trajectory(&spec, &stream, true);
                        let leader = leader_trajectory(&spec, &stream, true);
                        assert_moved(&mirror);
                        worst = worst.max(largest_difference(&mirror, &leader));
                    }
                }
            }
        }
    }
    worst
}

#[test]
fn theorem_4_comid_is_a_proximal_leader() {
    assert_within("Theorem 4, Corollary 6", mirror_against_leader("comid"), 1e-12);
}

#[test]
fn theorem_7_aogd_is_an_origin_centered_leader() {
    assert_within("Theorem 7, quadratic", mirror_against_leader("aogd"), 1e-12);
}

#[test]
fn theorem_7_holds_for_regularizers_that_are_neither_quadratic_nor_centered() {
    let mut worst: f64 = 0.0;
    for loss in [Loss::Logistic, Loss::Squared, Loss::Hinge] {
        for update in [Update::Linear, Update::Implicit] {
            for l1 in [0.0, 0.1] {
                let mut rng = SplitMix64::new(11);
                let rows: Vec<Row> = (0..60)
                    .map(|_| Row {
                        x: (0..5).map(|_| rng.normal()).collect(),
                        y: if rng.chance(0.5) { 1.0 } else { -1.0 },
                        regularizer: (0..5)
                            .map(|_| Bowl {
                                quadratic: rng.between(0.5, 2.0),
                                center: rng.between(-0.2, 0.2),
                                bend: rng.between(0.0, 3.0),
                                shift: rng.between(-0.5, 0.5),
                            })
                            .collect(),
                    })
                    .collect();
                let mirror = bregman::mirror_descent(&rows, loss, l1, update);
                let leader = bregman::leader(&rows, loss, l1, update);
                assert_moved(&mirror);
                worst = worst.max(largest_difference(&mirror, &leader));
            }
        }
    }
    assert_within("Theorem 7, not quadratic", worst, 1e-12);
}

#[test]
fn corollary_5_gradient_descent_with_a_full_metric_is_ftrl_proximal() {
    let n = 6;
    let mut worst: f64 = 0.0;
    for seed in SEEDS {
        let mut rng = SplitMix64::new(seed);
        let rows: Vec<(Vec<f64>, f64)> = (0..80)
            .map(|_| {
                let x: Vec<f64> = (0..n).map(|_| rng.normal()).collect();
                (x, if rng.chance(0.5) { 1.0 } else { -1.0 })
            })
            .collect();
        // Q_1 = I plus rank two, then rank two each round: positive semi-definite, not diagonal.
        let metrics: Vec<Matrix> = (0..rows.len())
            .map(|t| {
                let identity = if t == 0 { 1.0 } else { 0.0 };
                let a: Vec<f64> = (0..n).map(|_| 0.5 * rng.normal()).collect();
                let b: Vec<f64> = (0..n).map(|_| 0.5 * rng.normal()).collect();
                let entry = |i: usize, j: usize| {
                    let diagonal = if i == j { identity } else { 0.0 };
                    diagonal + a[i] * a[j] + b[i] * b[j]
                };
                (0..n).map(|i| (0..n).map(|j| entry(i, j)).collect()).collect()
            })
            .collect();
        let gradient = |t: usize, w: &[f64]| -> Vec<f64> {
            let (x, y) = &rows[t];
            let p: f64 = w.iter().zip(x).map(|(w, x)| w * x).sum();
            x.iter().map(|x| Loss::Logistic.slope(p, *y) * x).collect()
        };
        let descent = matrix::gradient_descent(&metrics, gradient);
        let leader = matrix::ftrl_proximal(&metrics, gradient);
        worst = worst.max(largest_difference(&descent, &leader));
    }
    assert_within("Corollary 5", worst, 1e-12);
}

#[test]
fn corollary_8_three_forms() {
    let n = 5;
    let mut worst: f64 = 0.0;
    for seed in SEEDS {
        let mut rng = SplitMix64::new(seed);
        // The gradients are exogenous: g_t of linear losses, the same for all three.
        let rounds: Vec<(Vec<f64>, f64)> = (0..200)
            .map(|_| ((0..n).map(|_| rng.normal()).collect(), rng.between(0.1, 2.0)))
            .collect();
        let mut descent = vec![0.0; n];
        for t in 0..rounds.len() {
            let seen = &rounds[..=t];
            let sigma: f64 = seen.iter().map(|(_, sigma)| sigma).sum();
            // The leader: zero of sum_s (g_s + sigma_s x), by bisection on the derivative.
            let leader: Vec<f64> = (0..n)
                .map(|i| {
                    let derivative =
                        |x: f64| seen.iter().map(|(g, sigma)| g[i] + sigma * x).sum::<f64>();
                    bisect(derivative, -1e3, 1e3)
                })
                .collect();
            // Gradient descent on f^R with eta = 1/sigma_{1:t}.
            let (g, sigma_t) = &rounds[t];
            for (x, g) in descent.iter_mut().zip(g) {
                *x -= (g + sigma_t * *x) / sigma;
            }
            // Revisionist: -eta g_{1:t}.
            let revisionist: Vec<f64> =
                (0..n).map(|i| -seen.iter().map(|(g, _)| g[i]).sum::<f64>() / sigma).collect();
            worst = worst.max(difference(&leader, &descent)).max(difference(&leader, &revisionist));
        }
    }
    assert_within("Corollary 8", worst, 1e-13);
}

/// The zero of an increasing function, to the last bit.
fn bisect(f: impl Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    for _ in 0..2200 {
        let middle = low + (high - low) / 2.0;
        if middle <= low || middle >= high {
            break;
        }
        if f(middle) > 0.0 {
            high = middle;
        } else {
            low = middle;
        }
    }
    low
}

type Prox = Box<dyn Fn(&[f64], f64) -> Vec<f64>>;
type Norm = Box<dyn Fn(&[f64]) -> f64>;

/// Name, `prox_{c r}`, `r`, and whether `r` is a norm.
fn proxes() -> Vec<(&'static str, Prox, Norm, bool)> {
    let groups = || vec![vec![0, 3], vec![1, 2, 5]];
    let squared = |v: &[f64]| 0.5 * v.iter().map(|v| v * v).sum::<f64>();
    let one = |v: &[f64]| v.iter().map(|v| v.abs()).sum::<f64>();
    let grouped = move |v: &[f64]| -> f64 {
        let norm = |g: &Vec<usize>| g.iter().map(|&i| v[i] * v[i]).sum::<f64>().sqrt();
        groups().iter().map(norm).sum()
    };
    vec![
        ("l1", Box::new(|v, c| prox::elastic(v, c, 0.0)), Box::new(one), true),
        ("l2 norm", Box::new(prox::l2_norm), Box::new(prox::norm), true),
        (
            "linf",
            Box::new(prox::linf),
            Box::new(|v| v.iter().fold(0.0, |top, v| v.abs().max(top))),
            true,
        ),
        ("group", Box::new(move |v, c| prox::group(v, &groups(), c)), Box::new(grouped), true),
        ("squared l2", Box::new(|v, c| prox::elastic(v, 0.0, c)), Box::new(squared), false),
        (
            "elastic net",
            Box::new(|v, c| prox::elastic(v, 0.5 * c, c)),
            Box::new(move |v| 0.5 * one(v) + squared(v)),
            false,
        ),
    ]
}

#[test]
fn proposition_2_1_a_norm_may_wait() {
    for (name, prox, _, is_norm) in proxes() {
        let mut rng = SplitMix64::new(3);
        let mut worst: f64 = 0.0;
        for _ in 0..500 {
            let start: Vec<f64> = (0..7).map(|_| 2.0 * rng.normal()).collect();
            let steps: Vec<f64> = (0..6).map(|_| rng.between(0.0, 0.5)).collect();
            let one_by_one = steps.iter().fold(start.clone(), |y, &eta| prox(&y, eta));
            let at_once = prox(&start, steps.iter().sum());
            worst = worst.max(difference(&one_by_one, &at_once));
        }
        if is_norm {
            assert_within(&format!("Proposition 2.1, {name}"), worst, 1e-13);
        } else {
            println!("Proposition 2.1, {name}: false, {worst:.2}");
            assert!(worst > 0.1, "{name} must not add up over steps, got {worst:e}");
        }
    }
}

#[test]
fn a_prox_is_never_beaten() {
    for (name, prox, penalty, is_norm) in proxes() {
        let mut rng = SplitMix64::new(5);
        for _ in 0..200 {
            let v: Vec<f64> = (0..7).map(|_| 2.0 * rng.normal()).collect();
            let c = rng.between(0.0, 4.0);
            let x = prox(&v, c);
            let objective = |x: &[f64]| {
                let distance: f64 = x.iter().zip(&v).map(|(x, v)| (x - v) * (x - v)).sum();
                0.5 * distance + c * penalty(x)
            };
            let best = objective(&x);
            for scale in [1e-6, 1e-3, 0.1, 1.0] {
                for _ in 0..20 {
                    let candidate: Vec<f64> = x.iter().map(|x| x + scale * rng.normal()).collect();
                    let other = objective(&candidate);
                    assert!(other >= best - 1e-13 * best, "{name}: {other} beats {best}");
                }
            }
            // For a norm the condition is exact: c |x| = <v - x, x>, v - x in c times the dual ball.
            if is_norm {
                let inner: f64 = v.iter().zip(&x).map(|(v, x)| (v - x) * x).sum();
                let gap = (c * penalty(&x) - inner).abs();
                assert!(gap <= 1e-13 * (1.0 + best), "{name}: optimality gap {gap:e}");
            }
        }
    }
}

#[test]
fn a_projection_is_the_nearest_point() {
    let mut rng = SplitMix64::new(9);
    let one = |v: &[f64]| v.iter().map(|v| v.abs()).sum::<f64>();
    for _ in 0..300 {
        let v: Vec<f64> = (0..7).map(|_| 2.0 * rng.normal()).collect();
        let radius = rng.between(0.1, 6.0);
        let l1 = prox::project_l1_ball(&v, radius);
        let l2 = prox::project_l2_ball(&v, radius);
        assert!(one(&l1) <= radius * (1.0 + 1e-14) && prox::norm(&l2) <= radius * (1.0 + 1e-14));
        for _ in 0..50 {
            let z: Vec<f64> = (0..7).map(|_| rng.normal()).collect();
            for (x, size) in [(&l1, one(&z)), (&l2, prox::norm(&z))] {
                // <v - x, z - x> <= 0 for every z of the ball.
                let inner: f64 =
                    (0..7).map(|i| (v[i] - x[i]) * (z[i] * radius / size - x[i])).sum();
                assert!(inner <= 1e-12, "a point of the ball is nearer: {inner:e}");
            }
        }
    }
}

#[test]
fn an_implicit_update_is_never_beaten() {
    let (rate, l1, l2) = (0.3, 0.05, 0.1);
    for name in ["logistic", "squared", "hinge", "squared-hinge", "huber", "quantile", "poisson"] {
        let loss = Loss::named(name, 1.0, 0.3);
        let stream = stream(2, 120, name);
        let spec = json!({"algorithm": "comid", "loss": name, "rate": rate, "l1": l1, "l2": l2,
            "metric": "sqrt", "implicit": true, "quantile": 0.3});
        let points = trajectory(&spec, &stream, false);
        let mut rng = SplitMix64::new(4);
        let mut before = vec![0.0; stream.dimension];
        let rows = stream.examples.iter().filter(|row| row.weight > 0.0);
        for ((t, row), x) in rows.enumerate().zip(&points) {
            let h = ((t + 1) as f64).sqrt() / rate;
            let objective = |x: &[f64]| {
                let p = row.x.iter().map(|&(i, value)| x[i] * value).sum();
                let rest: f64 = (0..x.len())
                    .map(|i| {
                        let moved = x[i] - before[i];
                        l1 * x[i].abs() + 0.5 * l2 * x[i] * x[i] + 0.5 * h * moved * moved
                    })
                    .sum();
                row.weight * loss.value(p, row.y) + rest
            };
            let best = objective(x);
            for scale in [1e-6, 1e-3, 0.1] {
                for _ in 0..10 {
                    let candidate: Vec<f64> = x.iter().map(|x| x + scale * rng.normal()).collect();
                    let other = objective(&candidate);
                    let slack = 1e-14 * (1.0 + best.abs());
                    assert!(other >= best - slack, "{name}, t = {}: {other} beats {best}", t + 1);
                }
            }
            before.clone_from(x);
        }
    }
}

#[test]
fn regularized_dual_averaging_is_the_argmin_it_claims() {
    let (rate, l1, l2) = (0.4, 0.03, 0.2);
    for (beta, prox, l2) in [
        ("sqrt", "half", 0.0),
        ("sqrt", "half", l2),
        ("zero", "half", l2),
        ("constant", "half", l2),
        ("log", "half", l2),
        ("zero", "psi", l2),
        ("constant", "psi", l2),
        ("log", "psi", l2),
    ] {
        let stream = stream(6, 80, "logistic");
        let spec = json!({"algorithm": "rda", "loss": "logistic", "rate": rate, "l1": l1,
            "l2": l2, "beta": beta, "prox": prox});
        let margins = run(&spec, &stream, false).margins;
        let points = trajectory(&spec, &stream, false);
        let mut rng = SplitMix64::new(8);
        let mut sum = vec![0.0; stream.dimension];
        let rows = stream.examples.iter().zip(margins).filter(|(row, _)| row.weight > 0.0);
        for ((t, (row, p)), w) in rows.enumerate().zip(&points) {
            for &(i, value) in &row.x {
                sum[i] += row.weight * Loss::Logistic.slope(p, row.y) * value;
            }
            let t = (t + 1) as f64;
            let beta_t = match beta {
                "sqrt" => t.sqrt() / rate,
                "zero" => 0.0,
                "constant" => l2,
                _ => l2 * (1.0 + t.ln()),
            };
            for (&w, &s) in w.iter().zip(&sum) {
                let psi = |w: f64| l1 * w.abs() + 0.5 * l2 * w * w;
                let h = |w: f64| {
                    if prox == "psi" { psi(w) / l2 } else { 0.5 * w * w }
                };
                let objective = |w: f64| s / t * w + psi(w) + beta_t / t * h(w);
                for scale in [1e-5, 1e-2, 1.0] {
                    let candidate = w + scale * rng.normal();
                    let (best, other) = (objective(w), objective(candidate));
                    assert!(other >= best - 1e-15, "{beta}, {prox}, t = {t}: {other} beats {best}");
                }
            }
        }
    }
}

#[test]
fn fobos_with_l1_is_truncated_gradient_bit_for_bit() {
    for loss in ["logistic", "squared", "hinge"] {
        for seed in SEEDS {
            // All troubles: equality of bits needs no scale.
            let stream = random(seed, 300, 20, loss, Options::default());
            let spec = |algorithm: &str| json!({"algorithm": algorithm, "loss": loss, "rate": 0.1, "l1": 0.01});
            let bits = |points: Vec<Vec<f64>>| -> Vec<u64> {
                points.into_iter().flatten().map(f64::to_bits).collect()
            };
            let fobos = bits(trajectory(&spec("fobos"), &stream, true));
            assert_eq!(fobos, bits(trajectory(&spec("truncated-gradient"), &stream, true)));
            // Algorithm 1 with blocks of one round is FOBOS too.
            assert_eq!(fobos, bits(trajectory(&spec("lazy-fobos"), &stream, true)));
            assert_eq!(fobos, bits(trajectory(&spec("lazy-splitting"), &stream, true)));
        }
    }
}

#[test]
fn algorithm_3_with_blocks_of_one_round_is_fobos() {
    let mut worst: f64 = 0.0;
    for loss in ["logistic", "hinge", "squared"] {
        let fobos = json!({"algorithm": "fobos", "loss": loss, "rate": 0.1, "l1": 0.01});
        let lazy = json!({"algorithm": "lazy-sparse", "loss": loss, "rate": 0.1, "l1": 0.01,
            "period": 1});
        worst = worst.max(apart(loss, &fobos, &lazy));
    }
    assert_within("Algorithm 3, K = 1", worst, 1e-14);
}

#[test]
fn ftrl_proximal_without_penalty_is_adaptive_gradient_descent() {
    let mut worst: f64 = 0.0;
    for loss in ["logistic", "hinge", "squared"] {
        let ftrl = json!({"algorithm": "ftrl", "loss": loss, "rate": 0.2, "beta": 0.5});
        let comid = json!({"algorithm": "comid", "loss": loss, "rate": 0.2, "beta": 0.5});
        let adagrad = json!({"algorithm": "adagrad-fobos", "loss": loss, "rate": 0.2,
            "delta": 0.5});
        let ftprl = json!({"algorithm": "ftprl", "loss": loss, "rate": 0.2, "beta": 0.5});
        for other in [comid, adagrad, ftprl] {
            worst = worst.max(apart(loss, &ftrl, &other));
        }
    }
    assert_within("FTRL-Proximal without penalty", worst, 1e-12);
}

#[test]
fn one_method_under_two_names() {
    let pairs = [
        (
            "RDA = generalized RDA at a = b = 1/2",
            json!({"algorithm": "rda", "loss": "logistic", "rate": 0.3, "l1": 0.01}),
            json!({"algorithm": "generalized-rda", "loss": "logistic", "rate": 0.3, "l1": 0.01,
                "a": 0.5, "b": 0.5}),
        ),
        (
            "RDA = the unified row with the sqrt metric",
            json!({"algorithm": "rda", "loss": "logistic", "rate": 0.3, "l1": 0.01}),
            json!({"algorithm": "unified-rda", "loss": "logistic", "rate": 0.3, "l1": 0.01,
                "metric": "sqrt"}),
        ),
        (
            "RDA without penalty = dual averaging without a ball",
            json!({"algorithm": "rda", "loss": "logistic", "rate": 0.3}),
            json!({"algorithm": "dual-averaging", "loss": "logistic", "rate": 0.3}),
        ),
        (
            "AdaGrad-RDA = the unified row",
            json!({"algorithm": "adagrad-rda", "loss": "logistic", "rate": 0.3, "l1": 0.01,
                "l2": 0.02, "delta": 0.5}),
            json!({"algorithm": "unified-rda", "loss": "logistic", "rate": 0.3, "l1": 0.01,
                "l2": 0.02, "beta": 0.5}),
        ),
        (
            "AdaGrad-FOBOS = COMID",
            json!({"algorithm": "adagrad-fobos", "loss": "logistic", "rate": 0.3, "l1": 0.01,
                "l2": 0.02, "delta": 0.0}),
            json!({"algorithm": "comid", "loss": "logistic", "rate": 0.3, "l1": 0.01,
                "l2": 0.02, "beta": 0.0}),
        ),
        (
            "FOBOS = COMID with the sqrt metric",
            json!({"algorithm": "fobos", "loss": "logistic", "rate": 0.3, "l1": 0.01, "l2": 0.02}),
            json!({"algorithm": "comid", "loss": "logistic", "rate": 0.3, "l1": 0.01,
                "l2": 0.02, "metric": "sqrt"}),
        ),
        (
            "implicit SGD = implicit COMID without penalty",
            json!({"algorithm": "sgd", "loss": "hinge", "rate": 0.3, "implicit": true}),
            json!({"algorithm": "comid", "loss": "hinge", "rate": 0.3, "metric": "sqrt",
                "implicit": true}),
        ),
        (
            "AOGD = RDA without penalty",
            json!({"algorithm": "aogd", "loss": "logistic", "rate": 0.3}),
            json!({"algorithm": "unified-rda", "loss": "logistic", "rate": 0.3}),
        ),
    ];
    for (claim, a, b) in pairs {
        let loss = a["loss"].as_str().unwrap_or("logistic").to_owned();
        assert_within(claim, apart(&loss, &a, &b), 1e-12);
    }
}

#[test]
fn implicit_sgd_has_closed_forms() {
    // Squared: eta (p - y)/(1 + eta x.x); hinge: PA-I with C = eta (algorithms, section 1).
    for loss in ["squared", "hinge"] {
        let mut worst: f64 = 0.0;
        for seed in SEEDS {
            let stream = random(seed, 200, 20, loss, Options::tame());
            let spec = json!({"algorithm": "sgd", "loss": loss, "rate": 0.4, "implicit": true});
            let mut w = vec![0.0; stream.dimension];
            let mut points = Vec::new();
            for (t, row) in stream.examples.iter().enumerate() {
                let eta = 0.4 / ((t + 1) as f64).sqrt();
                let p: f64 = row.x.iter().map(|&(i, value)| w[i] * value).sum();
                let square: f64 = row.x.iter().map(|(_, value)| value * value).sum();
                let step = if loss == "squared" {
                    -eta * (p - row.y) / (1.0 + eta * square)
                } else {
                    let violation = (1.0 - row.y * p).max(0.0);
                    eta * row.y * (violation / (eta * square)).min(1.0)
                };
                for &(i, value) in &row.x {
                    w[i] += step * value;
                }
                points.push(w.clone());
            }
            worst = worst.max(largest_difference(&trajectory(&spec, &stream, false), &points));
        }
        assert_within(&format!("implicit SGD, {loss}"), worst, 1e-13);
    }
}

#[test]
fn recursive_least_squares_is_ridge_regression() {
    let (n, delta) = (6, 0.5);
    let mut worst: f64 = 0.0;
    for seed in SEEDS {
        let mut rng = SplitMix64::new(seed);
        // P_0 = I/delta; k = Px/(1 + x.Px); w += k (y - p); P -= k (Px)^T.
        let mut inverse: Matrix = (0..n)
            .map(|i| (0..n).map(|j| if i == j { 1.0 / delta } else { 0.0 }).collect())
            .collect();
        let mut w = vec![0.0; n];
        // Ridge: (sum x x^T + delta I) w = sum y x.
        let mut normal: Matrix =
            (0..n).map(|i| (0..n).map(|j| if i == j { delta } else { 0.0 }).collect()).collect();
        let mut right = vec![0.0; n];
        for _ in 0..100 {
            let x: Vec<f64> = (0..n).map(|_| rng.normal()).collect();
            let y = x[0] - 2.0 * x[3] + 0.3 * rng.normal();
            let p: f64 = w.iter().zip(&x).map(|(w, x)| w * x).sum();
            let px = matrix::times(&inverse, &x);
            let gain = 1.0 + x.iter().zip(&px).map(|(x, px)| x * px).sum::<f64>();
            for i in 0..n {
                w[i] += px[i] / gain * (y - p);
                right[i] += y * x[i];
                for j in 0..n {
                    inverse[i][j] -= px[i] / gain * px[j];
                    normal[i][j] += x[i] * x[j];
                }
            }
            worst = worst.max(difference(&w, &matrix::solve(&normal, &right)));
        }
    }
    assert_within("RLS is ridge", worst, 1e-13);
}

//! Laws of penalties with bounds that hold for every method.

use parsimon_oracle::loss::Loss;
use parsimon_oracle::streams::{Options, random};
use parsimon_oracle::{Stream, run, trajectory};
use serde_json::{Value, json};

const RATE: f64 = 0.3;
const LOSSES: [&str; 3] = ["logistic", "squared", "hinge"];

/// Every method that has bounds, without its loss, its penalty and its strengths.
fn methods() -> Vec<Value> {
    let mut methods = vec![
        json!({"algorithm": "ftrl", "beta": 1.0}),
        json!({"algorithm": "ftrl", "beta": 0.0}),
        json!({"algorithm": "fobos"}),
        json!({"algorithm": "fobos", "schedule": "constant"}),
        json!({"algorithm": "fobos", "schedule": "inverse", "half_step": "next"}),
        json!({"algorithm": "adagrad-rda", "delta": 0.1}),
        json!({"algorithm": "adagrad-rda"}),
        json!({"algorithm": "adagrad-fobos", "delta": 0.1}),
        json!({"algorithm": "adagrad-fobos"}),
    ];
    for beta in ["sqrt", "zero", "constant", "log"] {
        for prox in ["half", "psi"] {
            methods.push(json!({"algorithm": "rda", "beta": beta, "prox": prox}));
        }
    }
    methods
}

/// Whether the method is defined without `l2`.
fn stands_without_l2(method: &Value) -> bool {
    method["algorithm"] != "rda" || (method["beta"] == "sqrt" && method["prox"] == "half")
}

/// What multiplies `l1` and `l2` for a method, so that they cut some weights and not all.
fn scales(method: &Value) -> (f64, f64) {
    match method["algorithm"].as_str() {
        // The penalty is in force once, not once a round.
        Some("ftrl") => (20.0, 20.0),
        // l1 counts 1 + 1/(rate l2 sqrt t) times.
        Some("rda") if method["beta"] == "sqrt" && method["prox"] == "psi" => (0.1, 10.0),
        _ => (1.0, 1.0),
    }
}

/// Every method with a loss, a rate and strengths, not yet with a penalty.
fn specs() -> Vec<Value> {
    let mut specs = Vec::new();
    for loss in LOSSES {
        for method in methods() {
            for (l1, l2) in [(0.02, 0.0), (0.0, 0.1), (0.02, 0.1)] {
                if l2 == 0.0 && !stands_without_l2(&method) {
                    continue;
                }
                let (more_l1, more_l2) = scales(&method);
                let mut spec = method.clone();
                spec["loss"] = json!(loss);
                spec["rate"] = json!(RATE);
                spec["l1"] = json!(more_l1 * l1);
                spec["l2"] = json!(more_l2 * l2);
                specs.push(spec);
            }
        }
    }
    specs
}

fn number(spec: &Value, key: &str) -> f64 {
    spec[key].as_f64().unwrap_or_else(|| panic!("{spec} has no number {key}"))
}

fn word<'a>(spec: &'a Value, key: &str) -> &'a str {
    spec[key].as_str().unwrap_or_else(|| panic!("{spec} has no word {key}"))
}

fn with(spec: &Value, keys: &Value) -> Value {
    let mut spec = spec.clone();
    let Value::Object(keys) = keys else { panic!("{keys} is not an object") };
    for (key, value) in keys {
        spec[key] = value.clone();
    }
    spec
}

fn boxed(spec: &Value, lower: f64, upper: f64) -> Value {
    with(spec, &json!({"penalty": "box", "lower": lower, "upper": upper}))
}

/// Importance weights, rows without features, features seen late and never.
fn stream(loss: &str) -> Stream {
    random(11, 150, 16, loss, Options { huge: false, ..Options::default() })
}

fn stream_of(spec: &Value) -> Stream {
    stream(word(spec, "loss"))
}

fn points(spec: &Value, stream: &Stream) -> Vec<Vec<f64>> {
    let points = trajectory(spec, stream, true);
    assert!(points.iter().flatten().all(|w| w.is_finite()), "{spec}: not finite");
    points
}

/// The largest weight of a feature at any time, by size.
fn largest(points: &[Vec<f64>], dimension: usize) -> f64 {
    points.iter().flat_map(|w| &w[..dimension]).fold(0.0, |top, w| w.abs().max(top))
}

/// The intervals that are tried, as a penalty and as numbers.
fn penalties() -> Vec<(Value, f64, f64)> {
    let (low, high) = (f64::NEG_INFINITY, f64::INFINITY);
    vec![
        (json!({"penalty": "nonnegative"}), 0.0, high),
        (json!({"penalty": "box", "lower": -0.05, "upper": 0.1}), -0.05, 0.1),
        (json!({"penalty": "box", "lower": -0.02}), -0.02, high),
        (json!({"penalty": "box", "upper": 0.03}), low, 0.03),
        (json!({"penalty": "box", "lower": "-inf", "upper": 0}), low, 0.0),
        (json!({"penalty": "box", "lower": 0, "upper": 0.1}), 0.0, 0.1),
    ]
}

#[test]
fn every_weight_is_inside_its_bounds_after_every_round() {
    for (penalty, lower, upper) in penalties() {
        for spec in specs() {
            let spec = with(&spec, &penalty);
            let stream = stream_of(&spec);
            let points = points(&spec, &stream);
            let mut bias_outside = false;
            for w in &points {
                let (features, bias) = w.split_at(stream.dimension);
                assert!(features.iter().all(|w| (lower..=upper).contains(w)), "{spec}");
                bias_outside |= !(lower..=upper).contains(&bias[0]);
            }
            assert!(largest(&points, stream.dimension) > 0.0, "{spec}: nothing moved");
            // On every stream here the bias changes sign or grows, so this interval cannot hold it.
            if lower == 0.0 && upper < 1.0 {
                assert!(bias_outside, "{spec}: the bias was held");
            }
        }
    }
}

#[test]
fn a_box_without_bounds_is_elastic() {
    for spec in specs() {
        let stream = stream_of(&spec);
        let elastic = points(&spec, &stream);
        assert!(largest(&elastic, stream.dimension) > 0.05, "{spec}: nothing moved");
        for penalty in [
            json!({"penalty": "elastic"}),
            json!({"penalty": "box"}),
            json!({"penalty": "box", "lower": null, "upper": null}),
            json!({"penalty": "box", "lower": "-inf", "upper": "inf"}),
        ] {
            assert!(points(&with(&spec, &penalty), &stream) == elastic, "{spec}, {penalty}");
        }
    }
}

#[test]
fn a_box_that_never_binds_is_elastic() {
    for spec in specs() {
        let stream = stream_of(&spec);
        let elastic = points(&spec, &stream);
        let top = largest(&elastic, stream.dimension);
        assert!(points(&boxed(&spec, -top, top), &stream) == elastic, "{spec}");
        // A slightly smaller box binds: the law above is about something.
        let smaller = 0.9 * top;
        assert!(points(&boxed(&spec, -smaller, smaller), &stream) != elastic, "{spec}");
    }
}

#[test]
fn nonnegative_is_a_box_from_zero() {
    for spec in specs() {
        let stream = stream_of(&spec);
        let nonnegative = points(&with(&spec, &json!({"penalty": "nonnegative"})), &stream);
        for rest in [json!({}), json!({"upper": "inf"})] {
            let from_zero = with(&with(&spec, &json!({"penalty": "box", "lower": 0})), &rest);
            assert!(points(&from_zero, &stream) == nonnegative, "{spec}");
        }
        assert!(points(&spec, &stream) != nonnegative, "{spec}: the bound never binds");
    }
}

#[test]
fn labels_of_the_other_sign_mirror_the_box() {
    for spec in specs() {
        let stream = stream_of(&spec);
        let mut flipped = stream.clone();
        flipped.examples.iter_mut().for_each(|row| row.y = -row.y);
        let here = points(&boxed(&spec, -0.02, 0.05), &stream);
        let mut there = points(&boxed(&spec, -0.05, 0.02), &flipped);
        there.iter_mut().flatten().for_each(|w| *w = -*w);
        assert!(here == there, "{spec}");
    }
}

#[test]
fn a_box_of_one_point_leaves_the_bias_alone() {
    for spec in specs() {
        let stream = stream_of(&spec);
        let mut without = stream.clone();
        without.examples.iter_mut().for_each(|row| row.x.clear());
        let held = run(&boxed(&spec, 0.0, 0.0), &stream, true);
        let alone = run(&spec, &without, true);
        assert!(held.weights.iter().all(|&w| w == 0.0), "{spec}");
        assert!(held.bias != 0.0, "{spec}");
        assert!(held.margins == alone.margins && held.bias == alone.bias, "{spec}");
    }
}

/// The past of one coordinate: gradients `g_1..g_t` and the weights they were taken at.
struct Past<'a> {
    gradients: &'a [f64],
    weights: &'a [f64],
}

/// The objective of one coordinate after a round: the terms that add up to the derivative of its
/// smooth part at `w`, and how many times `l1 |w|` counts.
fn objective(spec: &Value, past: &Past, w: f64, l1: f64, l2: f64) -> (Vec<f64>, f64) {
    let rounds = past.gradients.len();
    let t = rounds as f64;
    let (now, last) = (past.gradients[rounds - 1], past.weights[rounds - 1]);
    let squares: f64 = past.gradients.iter().map(|g| g * g).sum();
    let metric = spec["delta"].as_f64().unwrap_or(0.0) + squares.sqrt();
    match word(spec, "algorithm") {
        // g_{1:t} w + psi(w) + beta/(2 rate) w^2 + 1/2 sum_s sigma_s (w - w_s)^2.
        "ftrl" => {
            let mut terms = vec![l2 * w, number(spec, "beta") / RATE * w];
            let mut before: f64 = 0.0;
            for (g, at) in past.gradients.iter().zip(past.weights) {
                let after = before + g * g;
                let sigma = (after.sqrt() - before.sqrt()) / RATE;
                terms.extend([*g, sigma * w, -sigma * at]);
                before = after;
            }
            (terms, l1)
        }
        // (w - (w_t - eta g))^2/2 + eta' psi(w).
        "fobos" => {
            let eta = |t: f64| match spec["schedule"].as_str() {
                None => RATE / t.sqrt(),
                Some("constant") => RATE,
                _ => RATE / t,
            };
            let half = eta(if spec["half_step"] == "next" { t + 1.0 } else { t });
            (vec![w, -last, eta(t) * now, half * l2 * w], half * l1)
        }
        // g_{1:t} w + t psi(w) + H/(2 rate) w^2.
        "adagrad-rda" => {
            let mut terms = past.gradients.to_vec();
            terms.extend([t * l2 * w, metric / RATE * w]);
            (terms, t * l1)
        }
        // g_t w + psi(w) + H/(2 rate) (w - w_t)^2.
        "adagrad-fobos" => (vec![now, l2 * w, metric / RATE * w, -metric / RATE * last], l1),
        // gbar w + psi(w) + beta_t/t h(w).
        "rda" => {
            let sigma = number(spec, "l2");
            // The bias is outside psi, so it has the quadratic and the sequence that need no l2.
            let penalized = l1 > 0.0 || l2 > 0.0;
            let beta = match word(spec, "beta") {
                _ if !penalized => t.sqrt() / RATE,
                "sqrt" => t.sqrt() / RATE,
                "zero" => 0.0,
                "constant" => sigma,
                _ => sigma * (1.0 + t.ln()),
            };
            let mut terms: Vec<f64> = past.gradients.iter().map(|g| g / t).collect();
            if penalized && spec["prox"] == "psi" {
                let c = 1.0 + beta / (t * sigma);
                terms.push(c * l2 * w);
                (terms, c * l1)
            } else {
                terms.extend([l2 * w, beta / t * w]);
                (terms, l1)
            }
        }
        other => panic!("no objective for {other:?}"),
    }
}

/// How often each way to be optimal was seen.
#[derive(Default)]
struct Seen {
    at_lower: usize,
    at_upper: usize,
    at_zero: usize,
    inside: usize,
}

/// The minimizer of a convex function on an interval: the function does not fall to the right,
/// unless the interval ends there, and does not fall to the left, unless the interval ends there.
#[test]
fn every_round_satisfies_the_optimality_conditions() {
    for (penalty, lower, upper) in penalties() {
        for spec in specs() {
            let spec = with(&spec, &penalty);
            let mut seen = Seen::default();
            check_rounds(&spec, lower, upper, &mut seen);
            assert!(seen.inside > 0, "{spec}: every weight is at a bound");
            assert!(lower == f64::NEG_INFINITY || seen.at_lower > 0, "{spec}: lower never binds");
            assert!(upper == f64::INFINITY || seen.at_upper > 0, "{spec}: upper never binds");
            let l1 = number(&spec, "l1");
            assert!(l1 == 0.0 || seen.at_zero > 0, "{spec}: l1 cuts nothing");
        }
    }
}

fn check_rounds(spec: &Value, lower: f64, upper: f64, seen: &mut Seen) {
    let stream = stream_of(spec);
    let loss = Loss::named(word(spec, "loss"), 1.0, 0.5);
    let margins = run(spec, &stream, true).margins;
    let points = points(spec, &stream);
    let len = stream.dimension + 1;
    // The gradients, made again from the stream and the margins.
    let mut gradients = vec![Vec::new(); len];
    let mut weights = vec![vec![0.0]; len];
    let rows = stream.examples.iter().zip(margins).filter(|(row, _)| row.weight > 0.0);
    for ((row, p), point) in rows.zip(&points) {
        let mut x = vec![0.0; len];
        row.x.iter().for_each(|&(j, value)| x[j] = value);
        x[stream.dimension] = 1.0;
        for (i, &w) in point.iter().enumerate() {
            gradients[i].push(row.weight * loss.slope(p, row.y) * x[i]);
            let past = Past { gradients: &gradients[i], weights: &weights[i] };
            // Nothing but zeros: the objective may be flat, and the weight is zero by definition.
            if past.gradients.iter().all(|&g| g == 0.0) {
                assert_eq!(w, 0.0, "{spec}: feature {i} moved before it was seen");
            } else if i < stream.dimension {
                let (l1, l2) = (number(spec, "l1"), number(spec, "l2"));
                let (terms, l1) = objective(spec, &past, w, l1, l2);
                assert_optimal(spec, &terms, l1, w, lower, upper);
                count(seen, w, lower, upper);
            } else {
                let (terms, l1) = objective(spec, &past, w, 0.0, 0.0);
                assert_optimal(spec, &terms, l1, w, f64::NEG_INFINITY, f64::INFINITY);
            }
            weights[i].push(w);
        }
    }
}

fn assert_optimal(spec: &Value, terms: &[f64], l1: f64, w: f64, lower: f64, upper: f64) {
    let slope: f64 = terms.iter().sum();
    let slack = 1e-13 * (l1 + terms.iter().map(|term| term.abs()).sum::<f64>());
    let to_the_right = slope + if w >= 0.0 { l1 } else { -l1 };
    let to_the_left = slope + if w > 0.0 { l1 } else { -l1 };
    let place = format!("{spec}: w = {w} in [{lower}, {upper}]");
    assert!((lower..=upper).contains(&w), "{place}: outside");
    assert!(w == upper || to_the_right >= -slack, "{place}: slope {to_the_right:e} to the right");
    assert!(w == lower || to_the_left <= slack, "{place}: slope {to_the_left:e} to the left");
}

fn count(seen: &mut Seen, w: f64, lower: f64, upper: f64) {
    seen.at_lower += usize::from(w == lower);
    seen.at_upper += usize::from(w == upper);
    seen.at_zero += usize::from(w == 0.0);
    seen.inside += usize::from(w > lower && w < upper && w != 0.0);
}

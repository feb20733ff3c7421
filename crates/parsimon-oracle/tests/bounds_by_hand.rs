//! The penalties "nonnegative" and "box" on three rows, with numbers worked out by hand.
//!
//! The first weight is pushed out of the bounds by row 2 and back by row 3. The margin of row 3
//! shows the weight at its bound; the weights at the end show what the method remembers of it.

use parsimon_oracle::{Example, Stream, run};
use serde_json::{Value, json};

/// Squared loss; x = (1, 2), y = 1; then x = (1, 0), y = -2; then x = (1, 0), y = 3.
fn three_rows() -> Stream {
    let row = |x: &[(usize, f64)], y| Example { x: x.to_vec(), y, weight: 1.0 };
    let examples =
        vec![row(&[(0, 1.0), (1, 2.0)], 1.0), row(&[(0, 1.0)], -2.0), row(&[(0, 1.0)], 3.0)];
    Stream { dimension: 2, examples }
}

#[track_caller]
fn assert_near(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        let scale = expected.abs().max(1.0);
        assert!((found - expected).abs() <= 8e-16 * scale, "found {found}, expected {expected}");
    }
}

/// Runs a spec, with the squared loss and rate 0.5, and compares the margins of rows 2 and 3 and
/// the weights at the end.
#[track_caller]
fn check(mut spec: Value, margins: [f64; 2], weights: [f64; 2]) {
    spec["loss"] = json!("squared");
    spec["rate"] = json!(0.5);
    let outcome = run(&spec, &three_rows(), false);
    assert_near(&outcome.margins, &[0.0, margins[0], margins[1]]);
    assert_near(&outcome.weights, &weights);
}

#[test]
fn fobos() {
    // (0.5, 1) -> (0.4, 0.9); slope 2.4: (-0.8, 0.9) -> (-0.7, 0.8), hence 0;
    // slope -3: (1.5, 0.8) -> (1.4, 0.7).
    check(
        json!({"algorithm": "fobos", "schedule": "constant", "l1": 0.2, "penalty": "nonnegative"}),
        [0.4, 0.0],
        [1.4, 0.7],
    );
    // (0.4, 0.9) -> (0.4, 0.6); (-0.8, 0.6) -> (-0.7, 0.5) -> (-0.1, 0.5);
    // slope -3.1: (1.45, 0.5) -> (1.35, 0.4) -> (0.6, 0.4).
    check(
        json!({"algorithm": "fobos", "schedule": "constant", "l1": 0.2, "penalty": "box",
            "lower": -0.1, "upper": 0.6}),
        [0.4, -0.1],
        [0.6, 0.4],
    );
    // l2 = 2 halves, and the projection comes last: (0.2, 0.45) -> (0.2, 0.3);
    // slope 2.2: (-0.9, 0.3) -> (-0.4, 0.1) -> (-0.1, 0.1); slope -3.1: (1.45, 0.1) -> (0.3, 0).
    check(
        json!({"algorithm": "fobos", "schedule": "constant", "l1": 0.2, "l2": 2.0,
            "penalty": "box", "lower": -0.1, "upper": 0.3}),
        [0.2, -0.1],
        [0.3, 0.0],
    );
    // Forward 0.5, 0.25, 1/6 and backward 0.25, 1/6, 0.125: (0.45, 0.95); slope 2.45:
    // 0.45 - 0.6125 is cut at 0.2/6 and at 0; slope -3: 0.5 - 0.025.
    check(
        json!({"algorithm": "fobos", "schedule": "inverse", "half_step": "next", "l1": 0.2,
            "penalty": "nonnegative"}),
        [0.45, 0.0],
        [0.475, 0.95 - 0.2 / 6.0 - 0.025],
    );
}

#[test]
fn rda_with_the_square_root_sequence() {
    let half = 0.5 * 3.0_f64.sqrt();
    // (0.4, 0.9); s = (1.4, -2), the first is negative without bounds; s = (-1.6, -2).
    check(
        json!({"algorithm": "rda", "l1": 0.2, "penalty": "nonnegative"}),
        [0.4, 0.0],
        [half * (1.6 / 3.0 - 0.2), half * (2.0 / 3.0 - 0.2)],
    );
    // (0.4, 0.5); without bounds (-0.25 sqrt 2, 0.4 sqrt 2), with them (-0.1, 0.5); s_0 = -1.7.
    check(
        json!({"algorithm": "rda", "l1": 0.2, "penalty": "box", "lower": -0.1, "upper": 0.5}),
        [0.4, -0.1],
        [half * (1.7 / 3.0 - 0.2), half * (2.0 / 3.0 - 0.2)],
    );
    // l2 = 0.5 adds to 1/(rate sqrt t): (0.8, 1.8)/2.5; s = (1.32, -2), then (-1.68, -2).
    let curvature = 0.5 + 2.0 / 3.0_f64.sqrt();
    check(
        json!({"algorithm": "rda", "l1": 0.2, "l2": 0.5, "penalty": "nonnegative"}),
        [0.32, 0.0],
        [0.36 / curvature, (2.0 / 3.0 - 0.2) / curvature],
    );
}

#[test]
fn rda_in_the_strongly_convex_form() {
    // beta = 0: -soft(gbar, 0.2)/0.5 = (1.6, 3.6 -> 2); s = (2.6, -2): (-2.2 -> -1, 1.6);
    // slope -4: s_0 = -1.4.
    check(
        json!({"algorithm": "rda", "beta": "zero", "l1": 0.2, "l2": 0.5, "penalty": "box",
            "lower": -1, "upper": 2}),
        [1.6, -1.0],
        [1.6 / 3.0, 2.8 / 3.0],
    );
    // beta = sigma: denominators 1, 0.75, 2/3. (0.8, 1.8); s = (1.8, -2), then (-1.2, -2).
    let nonnegative = |beta: &str, prox: &str| {
        json!({"algorithm": "rda", "beta": beta, "prox": prox, "l1": 0.2, "l2": 0.5,
            "penalty": "nonnegative"})
    };
    check(nonnegative("constant", "half"), [0.8, 0.0], [0.3, 0.7]);
    // beta = sigma (1 + ln t): the same sums, another denominator.
    let curvature = 0.5 + 0.5 * (1.0 + 3.0_f64.ln()) / 3.0;
    let weights = [0.2 / curvature, (2.0 / 3.0 - 0.2) / curvature];
    check(nonnegative("log", "half"), [0.8, 0.0], weights);
    // beta = sigma, h = Psi/sigma: c = 2, 1.5, 4/3. soft at 0.4 over 1: (0.6, 1.6); s = (1.6, -2);
    // s = (-1.4, -2), soft at 0.8/3 over 2/3.
    check(nonnegative("constant", "psi"), [0.6, 0.0], [0.3, 0.6]);
}

#[test]
fn adagrad_rda() {
    // H = (1, 2): (0.4, 0.45). g = 2.4, H = 2.6, s = 1.4 is cut to 0 at once. g = -3,
    // H = sqrt 15.76, soft(-1.6, 0.6) = -1; the second: 0.25 (2 - 0.6).
    check(
        json!({"algorithm": "adagrad-rda", "l1": 0.2, "penalty": "nonnegative"}),
        [0.4, 0.0],
        [0.5 / 15.76_f64.sqrt(), 0.35],
    );
    // 0.45 -> 0.42; -0.5/2.6 -> -0.1; g = -3.1, H = sqrt(6.76 + 9.61), soft(-1.7, 0.6) = -1.1.
    check(
        json!({"algorithm": "adagrad-rda", "l1": 0.2, "penalty": "box", "lower": -0.1,
            "upper": 0.42}),
        [0.4, -0.1],
        [0.55 / 16.37_f64.sqrt(), 0.35],
    );
    // l2 = 1 counts t times: 0.8/(2 + 1) and 1.8/(4 + 1); g = 2 + 0.8/3, s > 0.4, hence 0;
    // g = -3: s = -4 + 2 + 0.8/3 and soft 0.6, over 2 H + 3.
    let g = 2.0 + 0.8 / 3.0;
    let metric = (1.0 + g * g + 9.0_f64).sqrt();
    check(
        json!({"algorithm": "adagrad-rda", "l1": 0.2, "l2": 1.0, "penalty": "nonnegative"}),
        [0.8 / 3.0, 0.0],
        [(4.0 - g - 0.6) / (2.0 * metric + 3.0), 1.4 / 7.0],
    );
}

#[test]
fn adagrad_fobos() {
    // (0.5, 0.5) - (0.1, 0.05); 0.4 - 1.2/2.6 + 0.1/2.6 < 0, hence 0; then (1.5 - 0.1)/H.
    check(
        json!({"algorithm": "adagrad-fobos", "l1": 0.2, "penalty": "nonnegative"}),
        [0.4, 0.0],
        [1.4 / 15.76_f64.sqrt(), 0.35],
    );
    // 0.45 -> 0.42, then minus 0.05 twice; -0.6/26 -> -0.01; g = -3.01, started at -0.01.
    check(
        json!({"algorithm": "adagrad-fobos", "l1": 0.2, "penalty": "box", "lower": -0.01,
            "upper": 0.42}),
        [0.4, -0.01],
        [-0.01 + 1.405 / (6.76 + 9.0601_f64).sqrt(), 0.32],
    );
}

#[test]
fn ftrl() {
    // z = (-1, -2), q = (1, 4): 0.5/4.25 = 2/17 and 1.5/6.25 = 0.24. Row 2: g = 36/17,
    // q = 1585/289, sigma = 2 (sqrt q - 1), z = 19/17 - 2/17 sigma = 0.80 > 0.5.
    let q = 1585.0_f64 / 289.0;
    let z = 19.0 / 17.0 - 4.0 / 17.0 * (q.sqrt() - 1.0);
    // Row 3 starts at 0: g = -3, and sigma times 0 leaves z.
    check(
        json!({"algorithm": "ftrl", "beta": 1, "l1": 0.5, "l2": 0.25, "penalty": "nonnegative"}),
        [2.0 / 17.0, 0.0],
        [(3.0 - z - 0.5) / (2.0 * (1.0 + (q + 9.0).sqrt()) + 0.25), 0.24],
    );
    // Row 3 starts at -0.01, which the quadratic of round 3 is centered at; 0.24 -> 0.2.
    let last = q + 3.01 * 3.01;
    let sigma = 2.0 * (last.sqrt() - q.sqrt());
    let z = z - 3.01 + 0.01 * sigma;
    check(
        json!({"algorithm": "ftrl", "beta": 1, "l1": 0.5, "l2": 0.25, "penalty": "box",
            "lower": -0.01, "upper": 0.2}),
        [2.0 / 17.0, -0.01],
        [(-z - 0.5) / (2.0 * (1.0 + last.sqrt()) + 0.25), 0.2],
    );
}

#[test]
fn the_bias_has_no_bounds() {
    // x = 1, y = -1: g = (1, 1). Without bounds the weight is -0.4, FTRL's -0.8/4.
    let row = Example { x: vec![(0, 1.0)], y: -1.0, weight: 1.0 };
    let stream = Stream { dimension: 1, examples: vec![row] };
    for (algorithm, bias) in [
        ("fobos", -0.5),
        ("rda", -0.5),
        ("adagrad-rda", -0.5),
        ("adagrad-fobos", -0.5),
        ("ftrl", -0.25),
    ] {
        let spec = json!({"algorithm": algorithm, "loss": "squared", "rate": 0.5, "l1": 0.2,
            "penalty": "nonnegative"});
        let outcome = run(&spec, &stream, true);
        assert_eq!((outcome.weights[0], outcome.bias), (0.0, bias), "{spec}");
        let spec = json!({"algorithm": algorithm, "loss": "squared", "rate": 0.5, "l1": 0.2,
            "penalty": "box", "lower": -0.1, "upper": 0.1});
        let outcome = run(&spec, &stream, true);
        assert_eq!((outcome.weights[0], outcome.bias), (-0.1, bias), "{spec}");
    }
}

fn read(spec: &Value) {
    run(spec, &three_rows(), false);
}

#[test]
#[should_panic(expected = "lower must be at most 0, got 0.1")]
fn a_lower_bound_above_zero_is_refused() {
    read(&json!({"algorithm": "ftrl", "loss": "squared", "rate": 0.5, "penalty": "box",
        "lower": 0.1}));
}

#[test]
#[should_panic(expected = "upper must be at least 0, got -0.1")]
fn an_upper_bound_below_zero_is_refused() {
    read(&json!({"algorithm": "fobos", "loss": "squared", "rate": 0.5, "penalty": "box",
        "upper": -0.1}));
}

#[test]
#[should_panic(expected = "penalty \"elastic\" gives lower no meaning")]
fn a_bound_without_a_box_is_refused() {
    read(&json!({"algorithm": "rda", "loss": "squared", "rate": 0.5, "lower": -0.1}));
}

#[test]
#[should_panic(expected = "penalty \"nonnegative\" gives upper no meaning")]
fn nonnegative_has_no_upper_bound() {
    read(&json!({"algorithm": "fobos", "loss": "squared", "rate": 0.5,
        "penalty": "nonnegative", "upper": 1.0}));
}

#[test]
#[should_panic(expected = "adagrad-rda has no penalty \"linf\"")]
fn the_norms_of_fobos_are_refused_elsewhere() {
    read(&json!({"algorithm": "adagrad-rda", "loss": "squared", "rate": 0.5, "penalty": "linf"}));
}

#[test]
#[should_panic(expected = "lazy-fobos has no penalty \"nonnegative\"")]
fn a_block_of_rounds_cannot_owe_a_bound() {
    read(&json!({"algorithm": "lazy-fobos", "loss": "squared", "rate": 0.5,
        "penalty": "nonnegative"}));
}

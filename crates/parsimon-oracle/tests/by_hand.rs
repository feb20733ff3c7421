//! Every method on two rows, with numbers worked out by hand from its formula.

use parsimon_oracle::{Example, Outcome, Stream, multikernel, run};
use serde_json::{Value, json};

/// Squared loss; round 1: x = (1, 2), y = 1; round 2: x = (1, 0), y = -1.
fn two_rows() -> Stream {
    Stream {
        dimension: 2,
        examples: vec![
            Example { x: vec![(0, 1.0), (1, 2.0)], y: 1.0, weight: 1.0 },
            Example { x: vec![(0, 1.0)], y: -1.0, weight: 1.0 },
        ],
    }
}

fn on_two_rows(spec: &Value) -> Outcome {
    run(spec, &two_rows(), false)
}

#[track_caller]
fn assert_near(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        let scale = expected.abs().max(1.0);
        assert!((found - expected).abs() <= 4e-16 * scale, "found {found}, expected {expected}");
    }
}

#[track_caller]
fn check(spec: &Value, margin2: f64, weights: &[f64]) {
    let outcome = on_two_rows(spec);
    assert_near(&outcome.margins, &[0.0, margin2]);
    assert_near(&outcome.weights, weights);
    assert_eq!(outcome.bias, 0.0);
}

#[test]
fn sgd() {
    // w = (0.5, 1), then slope 0.5 + 1.
    let mut spec = json!({"algorithm": "sgd", "loss": "squared", "rate": 0.5,
        "schedule": "constant"});
    check(&spec, 0.5, &[-0.25, 1.0]);
    // The l1 ball of radius 0.5: (0.5, 1) -> (0, 0.5); then (-0.5, 0.5) -> (-0.25, 0.25).
    spec["ball"] = json!("l1");
    spec["radius"] = json!(0.5);
    check(&spec, 0.0, &[-0.25, 0.25]);
}

#[test]
fn sgd_with_bias_and_importance() {
    // Weight 2 doubles the slope: g = (-2, -4, -2), w = (1, 2), b = 1. The row of weight zero is
    // predicted, 1 + 1 = 2, and leaves no trace.
    let mut stream = two_rows();
    stream.examples[0].weight = 2.0;
    stream.examples[1].weight = 0.0;
    let spec = json!({"algorithm": "sgd", "loss": "squared", "rate": 0.5, "schedule": "constant"});
    let outcome = run(&spec, &stream, true);
    assert_near(&outcome.margins, &[0.0, 2.0]);
    assert_near(&outcome.weights, &[1.0, 2.0]);
    assert_eq!(outcome.bias, 1.0);
}

#[test]
fn implicit_sgd() {
    // p(u) = -eta u x.x = -2.5u, u = p - 1: u = -2/7, w = (1/7, 2/7). Then u = (1/7 + 1)/1.5.
    check(
        &json!({"algorithm": "sgd", "loss": "squared", "rate": 0.5, "schedule": "constant",
            "implicit": true}),
        1.0 / 7.0,
        &[1.0 / 7.0 - 0.5 * (8.0 / 7.0) / 1.5, 2.0 / 7.0],
    );
}

#[test]
fn asgd() {
    // The mean of (0.5, 1) and (-0.25, 1); the second margin still comes from (0.5, 1).
    check(
        &json!({"algorithm": "asgd", "loss": "squared", "rate": 0.5, "schedule": "constant"}),
        0.5,
        &[0.125, 1.0],
    );
}

#[test]
fn subgradient_l1() {
    // The first step starts at sgn(0) = 0; the second pays 0.5 * 0.2 on each coordinate.
    check(
        &json!({"algorithm": "subgradient-l1", "loss": "squared", "rate": 0.5, "l1": 0.2,
            "schedule": "constant"}),
        0.5,
        &[-0.35, 0.9],
    );
}

#[test]
fn truncations() {
    // (0.5, 1) -> (0, 1), then (-0.5, 1) -> (0, 1).
    check(
        &json!({"algorithm": "truncation", "loss": "squared", "rate": 0.5, "theta": 0.5,
            "schedule": "constant"}),
        0.0,
        &[0.0, 1.0],
    );
    // At t = 2 only: |-0.25| <= 0.6 is shrunk by 0.5 * 2 * 0.2, 1 is above theta.
    check(
        &json!({"algorithm": "truncated-gradient", "loss": "squared", "rate": 0.5, "l1": 0.2,
            "theta": 0.6, "period": 2, "schedule": "constant"}),
        0.5,
        &[-0.05, 1.0],
    );
}

#[test]
fn fobos() {
    // (0.5, 1) -> (0.4, 0.9); slope 1.4: (-0.3, 0.9) -> (-0.2, 0.8).
    check(
        &json!({"algorithm": "fobos", "loss": "squared", "rate": 0.5, "l1": 0.2,
            "schedule": "constant"}),
        0.4,
        &[-0.2, 0.8],
    );
    // l2 = 2 halves after each soft threshold: (0.2, 0.45); slope 1.2: (-0.4, 0.45).
    check(
        &json!({"algorithm": "fobos", "loss": "squared", "rate": 0.5, "l1": 0.2, "l2": 2.0,
            "schedule": "constant"}),
        0.2,
        &[-0.15, 0.175],
    );
    // One group of the second feature alone; the first is free.
    check(
        &json!({"algorithm": "fobos", "loss": "squared", "rate": 0.5, "l1": 0.2,
            "schedule": "constant", "penalty": "group", "groups": [[1]]}),
        0.5,
        &[-0.25, 0.8],
    );
    // linf with strength 0.2 * 0.5 takes 0.1 off the largest: (0.5, 0.9), then (-0.25, 0.8).
    check(
        &json!({"algorithm": "fobos", "loss": "squared", "rate": 0.5, "l1": 0.2,
            "schedule": "constant", "penalty": "linf"}),
        0.5,
        &[-0.25, 0.8],
    );
    // half_step next with rate/t: forward 0.5, backward 0.25; forward 0.25, backward 0.5/3.
    check(
        &json!({"algorithm": "fobos", "loss": "squared", "rate": 0.5, "l1": 0.2,
            "schedule": "inverse", "half_step": "next"}),
        0.45,
        &[0.45 - 0.25 * 1.45 - 0.1 / 3.0, 0.95 - 0.1 / 3.0],
    );
}

#[test]
fn delayed_methods() {
    // Algorithm 1, K = 2: plain steps to (-0.25, 1), then one soft threshold of 0.2 * (0.5 + 0.5).
    check(
        &json!({"algorithm": "lazy-fobos", "loss": "squared", "rate": 0.5, "l1": 0.2, "period": 2,
            "schedule": "constant"}),
        0.5,
        &[-0.05, 0.8],
    );
    // Algorithm 2, K = 2: the second feature misses round 2 and pays at the end of the block.
    check(
        &json!({"algorithm": "lazy-splitting", "loss": "squared", "rate": 0.5, "l1": 0.2,
            "period": 2, "schedule": "constant"}),
        0.4,
        &[-0.2, 0.8],
    );
    // K = 3: the block is not over, nothing has been paid.
    check(
        &json!({"algorithm": "lazy-splitting", "loss": "squared", "rate": 0.5, "l1": 0.2,
            "period": 3, "schedule": "constant"}),
        0.4,
        &[-0.2, 0.9],
    );
    // Algorithm 3 without K: the read-out pays for round 2.
    check(
        &json!({"algorithm": "lazy-sparse", "loss": "squared", "rate": 0.5, "l1": 0.2,
            "schedule": "constant"}),
        0.4,
        &[-0.2, 0.8],
    );
}

#[test]
fn a_late_feature_pays_for_the_past_in_the_thesis_order() {
    // Seen first at t = 2 with g = -1: FOBOS has 0.5 - 0.1, Algorithm 3 takes 0.1 more.
    let stream = Stream {
        dimension: 2,
        examples: vec![
            Example { x: vec![(0, 1.0)], y: 1.0, weight: 1.0 },
            Example { x: vec![(1, 1.0)], y: 1.0, weight: 1.0 },
        ],
    };
    let spec = |algorithm: &str| {
        json!({"algorithm": algorithm, "loss": "squared", "rate": 0.5, "l1": 0.2,
            "schedule": "constant"})
    };
    assert_near(&run(&spec("lazy-sparse"), &stream, false).weights, &[0.3, 0.3]);
    assert_near(&run(&spec("fobos"), &stream, false).weights, &[0.3, 0.4]);
}

#[test]
fn rda() {
    // 0.5 soft((1, 2), 0.2); then gbar = (0.2, -1) and the first is cut.
    check(
        &json!({"algorithm": "rda", "loss": "squared", "rate": 0.5, "l1": 0.2}),
        0.4,
        &[0.0, 0.4 * 2.0_f64.sqrt()],
    );
    // Strongly convex, beta = 0: -soft(gbar, 0.2)/0.5; gbar = (0.8, -1).
    check(
        &json!({"algorithm": "rda", "loss": "squared", "beta": "zero", "l1": 0.2, "l2": 0.5}),
        1.6,
        &[-1.2, 1.6],
    );
    // beta = sigma, h = |w|^2/2: denominators 1 and 0.75; gbar = (0.4, -1).
    check(
        &json!({"algorithm": "rda", "loss": "squared", "beta": "constant", "l1": 0.2, "l2": 0.5}),
        0.8,
        &[-0.2 / 0.75, 0.8 / 0.75],
    );
    // beta = sigma, h = Psi/sigma: c = 2, then 1.5; gbar = (0.3, -1) is cut at 0.3.
    check(
        &json!({"algorithm": "rda", "loss": "squared", "beta": "constant", "l1": 0.2, "l2": 0.5,
            "prox": "psi"}),
        0.6,
        &[0.0, 0.7 / 0.75],
    );
}

#[test]
fn rda_bias_is_outside_the_penalty() {
    // The bias takes the square-root sequence: b = rate = 0.5 after round 1.
    // Round 2: p = 1.6 + 0.5, slope 3.1, s_b = 2.1, b = -0.5/sqrt 2 * 2.1.
    let spec = json!({"algorithm": "rda", "loss": "squared", "beta": "zero", "l1": 0.2, "l2": 0.5,
                      "rate": 0.5});
    let outcome = run(&spec, &two_rows(), true);
    assert_near(&outcome.margins, &[0.0, 2.1]);
    assert_near(&[outcome.bias], &[-0.5 / 2.0_f64.sqrt() * 2.1]);
}

#[test]
fn dual_averaging_and_leader_in_balls() {
    // (0.5, 1) on the l1 ball of radius 0.5 is (0, 0.5); then s = (0, -2), stepped (0, 0.7).
    check(
        &json!({"algorithm": "dual-averaging", "loss": "squared", "rate": 0.5, "ball": "l1",
            "radius": 0.5}),
        0.0,
        &[0.0, 0.5],
    );
    // s = (-1, -2), then p = 1/sqrt 5 and s = (1/sqrt 5, -2).
    let p = 1.0 / 5.0_f64.sqrt();
    check(
        &json!({"algorithm": "ftl", "loss": "squared", "radius": 1.0}),
        p,
        &[-p / 4.2_f64.sqrt(), 2.0 / 4.2_f64.sqrt()],
    );
}

#[test]
fn the_bias_is_outside_every_ball() {
    // One row with slope -1: (0.5, 1) and b = 0.5 before the ball, whose radius is 0.25.
    let mut stream = two_rows();
    stream.examples.truncate(1);
    let length = 1.25_f64.sqrt();
    let nearest = [0.25 * 0.5 / length, 0.25 / length];
    for algorithm in ["sgd", "dual-averaging"] {
        for (ball, weights) in [("l1", [0.0, 0.25]), ("l2", nearest)] {
            let spec = json!({"algorithm": algorithm, "loss": "squared", "rate": 0.5,
                "ball": ball, "radius": 0.25});
            let outcome = run(&spec, &stream, true);
            assert_near(&outcome.weights, &weights);
            assert_near(&[outcome.bias], &[0.5]);
        }
    }
    // The leader's bias is alone in [-radius, radius].
    let spec = json!({"algorithm": "ftl", "loss": "squared", "radius": 0.25});
    let outcome = run(&spec, &stream, true);
    assert_near(&outcome.weights, &nearest);
    assert_near(&[outcome.bias], &[0.25]);
    // On the simplex over feature 1 alone the weight is the radius; the bias is free.
    let spec = json!({"algorithm": "dual-averaging", "loss": "squared", "rate": 0.5,
        "ball": "simplex-kl", "radius": 0.25, "dimension": 1});
    let outcome = run(&spec, &stream, true);
    assert_near(&outcome.margins, &[0.5]);
    assert_near(&outcome.weights, &[0.0, 0.25]);
    assert_near(&[outcome.bias], &[0.25]);
}

#[test]
fn the_simplex_starts_even() {
    // n = 2 of radius 3: (1.5, 1.5); p = 1.5, y = 0.5, g = (1, 0): weights in ratio exp(-1).
    let stream =
        Stream { dimension: 3, examples: vec![Example { x: vec![(1, 1.0)], y: 0.5, weight: 1.0 }] };
    let spec = json!({"algorithm": "dual-averaging", "loss": "squared", "rate": 1.0,
        "ball": "simplex-kl", "radius": 3.0, "dimension": 2});
    let outcome = run(&spec, &stream, false);
    assert_eq!(outcome.margins, vec![1.5]);
    let e = (-1.0_f64).exp();
    assert_near(&outcome.weights, &[0.0, 3.0 * e / (1.0 + e), 3.0 / (1.0 + e)]);
}

/// Mirror descent multiplies by each round's own step, and RDA with the divergence divides the mean gradient by sigma.
#[test]
fn the_entropy_has_three_forms() {
    let row = |y: f64| Example { x: vec![(1, 1.0)], y, weight: 1.0 };
    let stream = Stream { dimension: 3, examples: vec![row(0.5), row(0.0)] };
    let spec = |more: &str, value: Value| {
        let mut spec = json!({"algorithm": "dual-averaging", "loss": "squared", "rate": 1.0,
            "ball": "simplex-kl", "radius": 3.0, "dimension": 2});
        spec[more] = value;
        spec
    };
    let share = |exponent: f64| 3.0 * exponent.exp() / (1.0 + exponent.exp());
    // Round 1: g = 1; round 2: g is the weight itself.
    let first = share(-1.0);
    let outcome = run(&spec("mirror", json!(true)), &stream, false);
    assert_near(&outcome.margins, &[1.5, first]);
    let exponent = -1.0 - first / 2f64.sqrt();
    assert_near(&outcome.weights[1..2], &[share(exponent)]);
    // sigma = 2: the exponent after round 1 is -1/2, after round 2 half the sum over 2.
    let outcome = run(&spec("sigma", json!(2.0)), &stream, false);
    let first = share(-0.5);
    assert_near(&outcome.margins, &[1.5, first]);
    assert_near(&outcome.weights[1..2], &[share(-(1.0 + first) / 4.0)]);
}

#[test]
fn a_schedule_may_be_any_power() {
    // w = (0.5, 1); slope 1.5 at a step of 0.5/2^0.75.
    let mut spec = json!({"algorithm": "sgd", "loss": "squared", "rate": 0.5, "schedule": "power", "power": 0.75});
    check(&spec, 0.5, &[0.5 - 1.5 * 0.5 / 2f64.powf(0.75), 1.0]);
    spec["power"] = json!(1.0);
    check(&spec, 0.5, &[0.5 - 1.5 * 0.25, 1.0]);
}

#[test]
fn generalized_rda() {
    // a = 1, b = 0: soft(-0.5 s, 0.5 t 0.2): (0.4, 0.9); s = (0.4, -2): soft((-0.2, 1), 0.2).
    check(
        &json!({"algorithm": "generalized-rda", "loss": "squared", "rate": 0.5, "l1": 0.2,
            "a": 1.0, "b": 0.0}),
        0.4,
        &[0.0, 0.8],
    );
}

#[test]
fn adagrads() {
    // H = (1, 2): (0.5 * 0.8, 0.25 * 1.8); then s = (0.4, -2) is soft-cut at 0.4.
    check(
        &json!({"algorithm": "adagrad-rda", "loss": "squared", "rate": 0.5, "l1": 0.2}),
        0.4,
        &[0.0, 0.4],
    );
    // (0.5, 0.5) minus (0.1, 0.05); then 0.4 - 0.7/H = -0.0069 is cut, the second pays 0.05.
    check(
        &json!({"algorithm": "adagrad-fobos", "loss": "squared", "rate": 0.5, "l1": 0.2}),
        0.4,
        &[0.0, 0.4],
    );
}

#[test]
fn ftrl() {
    // z = (-1, -2), q = (1, 4): 0.5/(4 + 0.25) and 1.5/(6 + 0.25). Round 2 brings z_0 near zero.
    check(
        &json!({"algorithm": "ftrl", "loss": "squared", "rate": 0.5, "beta": 1.0, "l1": 0.5,
            "l2": 0.25}),
        2.0 / 17.0,
        &[0.0, 0.24],
    );
}

#[test]
fn unified_rows() {
    let spec = |algorithm: &str, implicit: bool| {
        json!({"algorithm": algorithm, "loss": "squared", "rate": 0.5, "l1": 0.2,
            "metric": "sqrt", "implicit": implicit})
    };
    let h2 = 2.0_f64.sqrt() / 0.5;
    // h = 2: (1 - 0.2)/2 and (2 - 0.2)/2 for every row at t = 1.
    // COMID, round 2: 0.4 - 1.4/h = -0.095 and 0.9, each shrunk by 0.2/h.
    check(&spec("comid", false), 0.4, &[0.4 - 1.2 / h2, 0.9 - 0.2 / h2]);
    // AOGD, round 2: h_1 x = (0.8, 1.8), minus g = (1.4, 0), soft 0.2, over h_2.
    check(&spec("aogd", false), 0.4, &[-0.4 / h2, 1.6 / h2]);
    // RDA, round 2: -(s = (0.4, -2)), soft 0.4, over h_2.
    check(&spec("unified-rda", false), 0.4, &[0.0, 1.6 / h2]);
    // FTPRL, round 2: lin = (0.4, -2) - (h_2 - 2)(0.4, 0.9), soft 0.4, over h_2.
    check(&spec("ftprl", false), 0.4, &[0.0, (1.6 + 0.9 * (h2 - 2.0)) / h2]);
    // Implicit COMID, round 1: x(u) = (-u - 0.2, -2u - 0.2)/2, u = x_0 + 2 x_1 - 1 = -2.5u - 1.3.
    let u: f64 = -1.3 / 3.5;
    let outcome = on_two_rows(&spec("comid", true));
    assert_near(&[outcome.margins[1]], &[(-u - 0.2) / 2.0]);
}

#[test]
fn moments() {
    // The first Adam step is rate * sgn(g); the second still moves the silent second weight.
    let outcome = on_two_rows(&json!({"algorithm": "adam", "loss": "squared", "rate": 0.5,
        "beta1": 0.5, "beta2": 0.75, "epsilon": 0.0}));
    assert_near(&outcome.margins, &[0.0, 0.5]);
    // Second weight: m = -0.5, mhat = -0.5/0.75; v = 0.75, vhat = 0.75/(1 - 0.5625).
    let step = 0.5 * (0.5 / 0.75) / (0.75_f64 / 0.4375).sqrt();
    assert_near(&[outcome.weights[1]], &[0.5 + step]);

    // Eg = (0.5, 2), Ed = 0: d = (1/sqrt 1.5, 2/sqrt 3); the second row leaves weight two alone.
    let outcome = on_two_rows(&json!({"algorithm": "adadelta", "loss": "squared", "rho": 0.5,
        "epsilon": 1.0}));
    assert_near(&[outcome.margins[1]], &[1.0 / 1.5_f64.sqrt()]);
    assert_near(&[outcome.weights[1]], &[2.0 / 3.0_f64.sqrt()]);
}

#[test]
fn normalized_adaptive_steps() {
    // Round 1: g = -1, G = (1, 4), s = (1, 2), rates (1, 1/4), N = 2, T = 1; the margin moves by 2/sqrt 2 for each unit.
    let outcome = on_two_rows(&json!({"algorithm": "nag", "loss": "squared", "rate": 0.5}));
    let a = 0.5 * (1.0 - (-0.5_f64.sqrt()).exp());
    assert_near(&outcome.margins, &[0.0, a]);
    // Round 2: y = -1, g = a + 1, N = 3, T = 2; the second weight stands still.
    let s = (2.0_f64 / 3.0).sqrt() / (1.0 + (a + 1.0) * (a + 1.0)).sqrt();
    assert_near(&outcome.weights, &[a - (1.0 + a) * (1.0 - (-0.5 * s).exp()), a / 2.0]);
}

#[test]
fn margin_methods() {
    // Round 1: margin 0, x.x = 5, loss 1. Round 2: x.x = 1, y = -1.
    // PA: tau = 1/5, w = (0.2, 0.4); margin 0.2, loss 1.2, tau = 1.2.
    check(&json!({"algorithm": "pa", "slack": "none"}), 0.2, &[-1.0, 0.4]);
    // PA-I with C = 0.1: both steps are cut to 0.1.
    check(&json!({"algorithm": "pa", "aggressiveness": 0.1}), 0.1, &[0.0, 0.2]);
    // PA-II with C = 0.5: tau = 1/(5 + 1), then (1 + 1/6)/(1 + 1).
    check(
        &json!({"algorithm": "pa", "slack": "squared", "aggressiveness": 0.5}),
        1.0 / 6.0,
        &[1.0 / 6.0 - 7.0 / 12.0, 1.0 / 3.0],
    );
    // AROW with r = 1: alpha = 1/(5 + 1), sigma = (1/2, 1/5); then v = 1/2, alpha = (7/6)/(3/2) = 7/9.
    check(&json!({"algorithm": "arow"}), 1.0 / 6.0, &[1.0 / 6.0 - 7.0 / 18.0, 1.0 / 3.0]);
    // SCW with phi = 1: psi = 3/2, zeta = 2; alpha = sqrt(5 * 2)/(5 * 2) = 1/sqrt 10, of which C = 0.1 leaves 0.1.
    // u = (sqrt(0.25 + 20) - 0.5)^2 / 4 = 4, so 1/sigma = (1 + 0.05, 1 + 0.2). Round 2: m = -0.1, v = 1/1.05.
    let spec = json!({"algorithm": "scw", "aggressiveness": 0.1});
    check(&spec, 0.1, &[0.1 - 0.1 / 1.05, 0.2]);
}

/// A row that is met is not learned, and an importance of 2 doubles the price of a miss.
#[test]
fn margin_methods_know_what_is_met() {
    let mut stream = two_rows();
    stream.examples[1] = Example { x: vec![(0, 5.0)], y: 1.0, weight: 1.0 };
    // After PA with (0.2, 0.4) the margin of the second row is 1.
    let outcome = run(&json!({"algorithm": "pa", "slack": "none"}), &stream, false);
    assert_near(&outcome.weights, &[0.2, 0.4]);
    stream.examples.truncate(1);
    stream.examples[0].weight = 2.0;
    let once = |spec: &Value| run(spec, &stream, false).weights;
    assert_near(&once(&json!({"algorithm": "pa", "aggressiveness": 0.05})), &[0.1, 0.2]);
    // AROW: r becomes 1/2, alpha = 1/5.5.
    assert_near(&once(&json!({"algorithm": "arow"})), &[1.0 / 5.5, 2.0 / 5.5]);
}

#[test]
fn lms_and_adaline() {
    for algorithm in ["lms", "adaline"] {
        check(&json!({"algorithm": algorithm, "rate": 0.5}), 0.5, &[-0.25, 1.0]);
    }
}

#[test]
fn constrained_descents() {
    // Round 1: xbar = (1, 2), ybar = 1: v = (0.5, 1), v.xbar = 2.5, w = v - 0.3 (1, 2).
    // Round 2: xbar = (1, 1), ybar = 0: slope 0.2 + 1, eta 0.25, v = (0.2 - 0.3, 0.4), and
    // v.xbar = 0.3 is taken off in halves.
    let csgd = |schedule: &str| {
        json!({"algorithm": "csgd", "loss": "squared", "rate": 0.5, "schedule": schedule,
            "switch": 1})
    };
    check(&csgd("two-phase"), 0.2, &[-0.25, 0.25]);
    let unsaid = json!({"algorithm": "csgd", "rate": 0.5, "switch": 1});
    check(&unsaid, 0.2, &[-0.25, 0.25]);
    // The square root rate: v = (0.2 - 0.6/sqrt 2, 0.4).
    let half = 0.3 / 2.0_f64.sqrt();
    let weights = [0.2 - 2.0 * half - (0.3 - half), 0.4 - (0.3 - half)];
    check(&csgd("sqrt"), 0.2, &weights);
    for algorithm in ["ncsgd", "c-adaline"] {
        check(&json!({"algorithm": algorithm, "rate": 0.5}), 0.2, &weights);
    }
}

#[test]
fn constrained_means_know_importance_and_bias() {
    // One row of weight 2: v = 2 * 0.5 * (1, 2, 1), v.xbar = 6, w = v - 5/6 (1, 2, 1).
    let mut stream = two_rows();
    stream.examples[0].weight = 2.0;
    stream.examples.truncate(1);
    let spec = json!({"algorithm": "ncsgd", "rate": 0.5});
    let outcome = run(&spec, &stream, true);
    assert_near(&outcome.weights, &[1.0 / 6.0, 1.0 / 3.0]);
    assert_near(&[outcome.bias], &[1.0 / 6.0]);
    // Rows (1, 2) of weight 2 and (1, 0) of weight 1: xbar = (1, 4/3), ybar = 1/3. With rate 0,
    // w = (0.2, 0.4) misses by 1/3 - 11/15 = -2/5 over xbar.xbar = 25/9.
    let mut stream = two_rows();
    stream.examples[0].weight = 2.0;
    let spec = json!({"algorithm": "ncsgd", "rate": 0.0});
    assert_near(&run(&spec, &stream, false).weights, &[0.2 - 0.144, 0.4 - 0.192]);
    // Weight 2 in round 2: xbar = (1, 2/3), ybar = -1/3; the step is 0.5 * 2 * 1.2, v = (-1, 0.4)
    // misses by -1/3 + 11/15 = 2/5 over xbar.xbar = 13/9.
    let mut stream = two_rows();
    stream.examples[1].weight = 2.0;
    let spec = json!({"algorithm": "csgd", "rate": 0.5, "schedule": "constant"});
    let weights = [-1.0 + 18.0 / 65.0, 0.4 + 12.0 / 65.0];
    assert_near(&run(&spec, &stream, false).weights, &weights);
}

#[test]
fn rls() {
    // P_0 = 2I: Px = (2, 4), x.Px = 10, k = (2, 4)/11, w = k. P = 2I - (2, 4)(2, 4)^T/11.
    // Round 2: Px = (18, -8)/11, k = (18, -8)/29, error -1 - 2/11.
    let spec = json!({"algorithm": "rls", "delta": 0.5});
    let error = -13.0 / 11.0;
    let weights = [2.0 / 11.0 + error * 18.0 / 29.0, 4.0 / 11.0 - error * 8.0 / 29.0];
    check(&spec, 2.0 / 11.0, &weights);
    // Forgetting 0.5: k = (2, 4)/10.5. Weight 2 in round 1 doubles both: k = (4, 8)/20.5.
    let mut stream = two_rows();
    stream.examples[0].weight = 2.0;
    let spec = json!({"algorithm": "rls", "delta": 0.5, "forgetting": 0.5});
    assert_near(&on_two_rows(&spec).margins, &[0.0, 2.0 / 10.5]);
    assert_near(&run(&spec, &stream, false).margins, &[0.0, 4.0 / 20.5]);
}

#[test]
fn projections() {
    let spec = |algorithm: &str| json!({"algorithm": algorithm, "loss": "projection", "rate": 0.5, "delta": 5.0});
    // g = -(1, 2)/10, w = (0.05, 0.1); then g = (1.05, 0)/6.
    for algorithm in ["nlms", "apa", "papa", "apfbs", "pda"] {
        check(&spec(algorithm), 0.05, &[0.05 - 0.5 * 1.05 / 6.0, 0.1]);
    }
    // l1 = 0.08 cuts 0.04 each round: once at the end of s (PDA), every time (APFBS).
    let mut pda = spec("pda");
    pda["l1"] = json!(0.08);
    check(&pda, 0.01, &[0.0, 0.06]);
    let mut apfbs = spec("apfbs");
    apfbs["l1"] = json!(0.08);
    check(&apfbs, 0.01, &[0.01 - 0.5 * 1.01 / 6.0 + 0.04, 0.02]);
    // Order 2, delta 0, rate 1: both rows are met.
    let both = json!({"algorithm": "apa", "loss": "projection", "rate": 1.0, "delta": 0.0,
        "order": 2});
    check(&both, 0.2, &[-1.0, 1.0]);
}

#[test]
fn projections_in_the_metric() {
    // Round 1: w = 0, q = (1, 1), g = -(1, 2)/5, w = (0.2, 0.4).
    // Round 2: epsilon 0.2: 1/(|w| + epsilon) = (2.5, 5/3), S = 25/6, q = 0.5 + 0.5 (1.2, 0.8).
    // g = (1.2/1.1)/(1/1.1 + 0) = 1.2: one feature alone is met in any metric.
    let mut spec = json!({"algorithm": "papa", "loss": "projection", "rate": 1.0, "delta": 0.0,
        "alpha": 0.5, "epsilon": 0.2, "dimension": 2});
    check(&spec, 0.2, &[-1.0, 0.4]);
    // The penalty of round 2 is 0.1 (1.1, 0.9), of round 1 0.1 (1, 1).
    spec["algorithm"] = json!("pda");
    spec["l1"] = json!(0.1);
    // w_1 = (0.1, 0.3): 1/(|w| + epsilon) = (10/3, 2), q = 0.5 + 0.5 (1.25, 0.75).
    check(&spec, 0.1, &[-(0.9 - 0.1125), 0.4 - 0.0875]);
    // The bias: q = 1, counted in x^T Q^-1 x, not penalized. Weight 2 doubles g = -(1, 2, 1)/6.
    let mut stream = two_rows();
    stream.examples[0].weight = 2.0;
    stream.examples.truncate(1);
    let outcome = run(&spec, &stream, true);
    assert_near(&outcome.weights, &[1.0 / 3.0 - 0.1, 2.0 / 3.0 - 0.1]);
    assert_near(&[outcome.bias], &[1.0 / 3.0]);
}

#[test]
fn half_spaces() {
    // Margin 0 -> 1 along (1, 2)/5; then y = -1 at margin 0.2: -0.2 is short of 1 by 1.2.
    let spec = json!({"algorithm": "papa", "loss": "halfspace", "rate": 1.0, "delta": 0.0});
    check(&spec, 0.2, &[-1.0, 0.4]);
    // A margin beyond 1 is left alone.
    let mut stream = two_rows();
    stream.examples[1] = Example { x: vec![(1, 5.0)], y: 1.0, weight: 1.0 };
    assert_near(&run(&spec, &stream, false).weights, &[0.2, 0.4]);
}

#[test]
fn proportionate_gains() {
    // Round 1: even gains, w = (0.2, 0.4). Round 2: gamma = (0.2, 0.4), k = (2/3, 4/3):
    // error -1.2 times (2/3)/(2/3 + 1/3).
    let pnlms = json!({"algorithm": "pnlms", "rate": 1.0, "rho": 0.1, "delta_p": 0.01,
        "delta": 0.0});
    check(&pnlms, 0.2, &[-1.0, 0.4]);
    let mut damped = pnlms.clone();
    damped["delta"] = json!(1.0 / 3.0);
    // (1, 2)/(5 + 1/3) = (3, 6)/16; gamma in the same ratio.
    check(&damped, 3.0 / 16.0, &[3.0 / 16.0 - 19.0 / 16.0 * 2.0 / 3.0, 6.0 / 16.0]);
    // a = 0: k = 1/4 each, x.kx = 1.25, delta 0.25: w = (1, 2)/6. Then |w|_1 = 0.5 and
    // k_0 = 1/4 + (1/6)/(1 + 1) = 1/3: error -7/6 times (1/3)/(1/3 + 1/4) = 4/7.
    let ipnlms = json!({"algorithm": "ipnlms", "rate": 1.0, "a": 0.0, "epsilon": 1.0,
        "delta": 0.25});
    check(&ipnlms, 1.0 / 6.0, &[1.0 / 6.0 - 2.0 / 3.0, 1.0 / 3.0]);
}

#[test]
fn kernels_by_hand() {
    // Linear and (1 + u.v)^2. Round 1: K = (5, 36), |K|^2 = 1321, H = K/1321.
    let mut spec = json!({"algorithm": "multikernel-apfbs", "rate": 1.0, "delta": 0.0,
        "kernel": ["linear", "polynomial"], "degrees": [2], "dictionary_max": 10,
        "dictionary_threshold": 1e-3});
    let outcome = multikernel(&spec, &two_rows());
    // Round 2: against (1, 2) the kernels are (1, 4), against itself (1, 4).
    let margin = (5.0 + 36.0 * 4.0) / 1321.0;
    let scale = (margin + 1.0) / 34.0;
    assert_near(&outcome.margins, &[0.0, margin]);
    assert_eq!(outcome.dictionary, vec![vec![1.0, 2.0], vec![1.0, 0.0]]);
    assert_near(&outcome.coefficients[0], &[5.0 / 1321.0 - scale, 36.0 / 1321.0 - 4.0 * scale]);
    assert_near(&outcome.coefficients[1], &[-scale, -4.0 * scale]);
    assert_eq!(outcome.sizes, vec![1, 2]);

    // One kernel, l1 = 0.2: round 1 leaves 1/5 - 0.2 = 0 in both; the dictionary of at most 1
    // drops it. Round 2 starts anew: -1 -> -0.8.
    spec["kernel"] = json!("linear");
    spec["degrees"] = Value::Null;
    spec["l1"] = json!(0.2);
    spec["dictionary_max"] = json!(1);
    for algorithm in ["multikernel-apfbs", "multikernel-pda"] {
        spec["algorithm"] = json!(algorithm);
        let outcome = multikernel(&spec, &two_rows());
        assert_eq!(outcome.sizes, vec![0, 1]);
        assert_eq!(outcome.dictionary, vec![vec![1.0, 0.0]]);
        assert_near(&outcome.coefficients[0], &[-0.8]);
    }

    // One row x = 1, y = 1 at rate 0.5: 0.5 is cut by 0.2 * 0.5. At the threshold it stays.
    spec["rate"] = json!(0.5);
    spec["dictionary_threshold"] = json!(0.4);
    let row = Example { x: vec![(0, 1.0)], y: 1.0, weight: 1.0 };
    let outcome = multikernel(&spec, &Stream { dimension: 1, examples: vec![row] });
    assert_eq!(outcome.coefficients, vec![vec![0.4]]);
    spec["rate"] = json!(1.0);

    // Gaussians of variance 1 and 4 at distance 2: heights 1/sqrt(2 pi s), exp(-4/(2 s)).
    spec["kernel"] = json!("gaussian");
    spec["variances"] = json!([1.0, 4.0]);
    spec["l1"] = Value::Null;
    spec["dictionary_threshold"] = json!(0.0);
    let height = 1.0 / (2.0 * std::f64::consts::PI).sqrt();
    let square = height * height * 1.25;
    let outcome = multikernel(&spec, &two_rows());
    let margin =
        (height * height * (-2.0_f64).exp() + height * height / 4.0 * (-0.5_f64).exp()) / square;
    assert_near(&outcome.margins, &[0.0, margin]);
}

#[test]
#[should_panic(expected = "unknown algorithm \"sgdd\"")]
fn an_unknown_algorithm_is_named() {
    on_two_rows(&json!({"algorithm": "sgdd", "loss": "squared", "rate": 0.5}));
}

#[test]
#[should_panic(expected = "unknown key \"perod\" for algorithm \"truncation\"")]
fn an_unknown_key_is_named() {
    on_two_rows(&json!({"algorithm": "truncation", "loss": "squared", "rate": 0.5, "perod": 2}));
}

#[test]
#[should_panic(expected = "missing parameter \"rate\"")]
fn a_missing_parameter_is_named() {
    on_two_rows(&json!({"algorithm": "sgd", "loss": "squared"}));
}

#[test]
#[should_panic(expected = "adam gives l1 no meaning, got 0.1")]
fn a_penalty_a_method_does_not_have_is_refused() {
    on_two_rows(&json!({"algorithm": "adam", "loss": "squared", "rate": 0.5, "l1": 0.1,
        "beta1": 0.5, "beta2": 0.75, "epsilon": 0.0}));
}

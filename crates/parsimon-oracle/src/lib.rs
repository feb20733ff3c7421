//! Dense, eager, whole-history twins of every method.
//!
//! Each method is written a second time here, from its formula alone: every coordinate is a slot
//! of a dense vector, every coordinate is updated at every round, and the methods that are defined
//! by an argmin over the past solve that argmin from the stored past. Nothing is lazy, nothing is
//! shared with the engine. Tests compare the two; a difference is a bug in one of them.
//!
//! Conventions: rounds count from `t = 1`, weights start at zero, the margin `p = w.x` is made
//! before the update, and the gradient is `g = v l'(p, y) x` with `v` the importance weight. A row
//! of weight zero, or without a label, is predicted and otherwise does not exist. The bias is one more coordinate,
//! `x = 1` in every row, that no penalty, bound, ball or truncation touches. A constraint on the
//! whole vector, as in CSGD, holds for the bias too.
//!
//! Cost is `O(rounds * dimension)` for the descents and `O(rounds^2 * dimension)` for the methods
//! that keep their history. Do not use this crate for anything but tests.

#![allow(clippy::doc_markdown, reason = "AdaGrad and McMahan are names, not items")]

pub mod bregman;
pub mod least_squares;
pub mod loss;
pub mod matrix;
pub mod multikernel;
pub mod projection;
pub mod proportionate;
pub mod prox;
pub mod race;
pub mod softmax;
pub mod streams;
pub mod unified;

mod adagrad;
mod confident;
mod constrained;
mod descent;
mod dual_averaging;
mod entropic;
mod forward_backward;
mod history;
mod implicit;
mod interval;
mod lazy_thesis;
mod leader;
mod lms;
mod method;
mod methods;
mod moments;
mod nag;
mod normalized;
mod normalizer;
mod schedule;
mod space;
mod spec;
mod stream;
mod target;
mod truncated;

pub use multikernel::{KernelOutcome, multikernel};
pub use race::{Raced, race};
pub use softmax::run_softmax;
pub use stream::{Example, Outcome, Stream};

use loss::Loss;
use methods::build;
use serde_json::Value;
use space::Space;
use spec::Spec;
use target::Target;

/// Runs the method named by a flat spec over a stream.
///
/// The spec is an object such as `{"algorithm": "rda", "loss": "logistic", "rate": 0.3,
/// "l1": 0.01}`. With `"normalize": true` rows, and labels that are numbers on a line, are put on a common scale in front
/// of the method.
///
/// # Panics
/// With a sentence that names the key, on an unknown algorithm, an unknown key, a missing
/// parameter, or a parameter the method gives no meaning to.
pub fn run(spec: &Value, stream: &Stream, bias: bool) -> Outcome {
    let (outcome, _) = play(spec, stream, bias);
    outcome
}

/// The points played after each round that counts, the bias last when there is one.
///
/// Rows of weight zero leave no trace here. The point is the one the next margin is made with,
/// which for averaged and lazy methods is not what a user reads at the end.
pub fn trajectory(spec: &Value, stream: &Stream, bias: bool) -> Vec<Vec<f64>> {
    let (_, points) = play(spec, stream, bias);
    points
}

fn play(spec: &Value, stream: &Stream, bias: bool) -> (Outcome, Vec<Vec<f64>>) {
    let spec = Spec::new(spec);
    let space = Space::new(stream.dimension, bias);
    let loss = loss_of(&spec);
    let mut method = build(&spec, &space);
    if spec.flag_or("normalize", false) {
        // The labels of ADALINE are classes, though its loss is the squared one.
        let is_adaline = spec.text("algorithm").ends_with("adaline");
        let target = if is_adaline { Target::new(false) } else { Target::of_loss(&loss) };
        return normalized::play(method.as_mut(), &loss, target, stream, &space);
    }
    method::play(method.as_mut(), &loss, stream, &space)
}

/// Runs one method per class on normalized rows; labels are the positions of the classes.
///
/// # Panics
/// Like [`run`].
pub fn run_classes(spec: &Value, stream: &Stream, bias: bool, classes: usize) -> Vec<Outcome> {
    let spec = Spec::new(spec);
    let loss = loss_of(&spec);
    let other = match loss {
        Loss::Logistic | Loss::Hinge | Loss::SquaredHinge => -1.0,
        _ => 0.0,
    };
    let space = Space::new(stream.dimension, bias);
    let of_class = |class: usize| {
        let mut own = stream.clone();
        for example in own.examples.iter_mut().filter(|e| !e.y.is_nan()) {
            example.y = if example.y == class as f64 { 1.0 } else { other };
        }
        let mut method = build(&spec, &space);
        // Labels of classes are never standardized.
        normalized::play(method.as_mut(), &loss, Target::new(false), &own, &space).0
    };
    (0..classes).map(of_class).collect()
}

/// The loss of the margin a method descends.
///
/// A projection descends a distance, not a loss of the margin. Its twin makes its own step; the
/// losses given here are those whose slope is the residual of its set.
fn loss_of(spec: &Spec) -> Loss {
    let algorithm = spec.text("algorithm");
    let only = |word: &str| {
        let found = spec.text_or("loss", word);
        assert!(found == word, "{algorithm} has the loss {word:?}, got {found:?}");
        if word == "hinge" { Loss::Hinge } else { Loss::Squared }
    };
    match algorithm.as_str() {
        "csgd" | "ncsgd" | "rls" | "lms" | "adaline" | "c-adaline" => only("squared"),
        "pnlms" | "ipnlms" => only("projection"),
        "pa" | "arow" | "scw" => only("hinge"),
        "pda" | "apfbs" | "papa" | "apa" | "nlms" => match spec.text("loss").as_str() {
            "projection" => Loss::Squared,
            "halfspace" => Loss::SquaredHinge,
            other => panic!("{algorithm} has no loss {other:?}"),
        },
        "multikernel-pda" | "multikernel-apfbs" => {
            panic!("{algorithm} has no weight vector; call `multikernel`")
        }
        _ => Loss::from_spec(spec),
    }
}

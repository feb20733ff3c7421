//! Deterministic random streams with the troubles a sparse learner meets.
//!
//! Every stream has a feature that is always present, features first seen in the second half,
//! and features never seen. [`Options`] adds empty rows, importance weights (zero and fractions
//! among them), and huge and tiny values.

pub use parsimon_testing::SplitMix64;

use crate::stream::{Example, Stream};

/// Special rows of a random stream.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Chance that an ordinary feature is in a row.
    pub density: f64,
    /// The first index in use; 1 for feature ids counted from one, where index 0 stays empty.
    pub first: usize,
    /// Chance that a row has no features at all.
    pub empty: f64,
    /// Importance weights: half of the rows 1, the others 0, fractions and numbers above one.
    pub weights: bool,
    /// One feature with values near 1e6, in few rows (see [`random`]).
    pub huge: bool,
    /// One feature with values near 1e-9, in a fifth of the rows.
    pub tiny: bool,
}

impl Default for Options {
    /// Everything.
    fn default() -> Self {
        Options { density: 0.15, first: 1, empty: 0.05, weights: true, huge: true, tiny: true }
    }
}

impl Options {
    /// No importance weights, no empty rows, values of ordinary size.
    pub fn tame() -> Self {
        Options { empty: 0.0, weights: false, huge: false, tiny: false, ..Options::default() }
    }
}

/// A random stream from a seed, with labels suited to the named loss.
///
/// The label follows a planted sparse model with noise. With `huge`, about one row in fifty
/// carries a value near 1e6; for losses whose slope grows with the margin only four rows of the
/// stream do, because each one multiplies the weights of a descent by about 1e12, and for
/// Poisson none does, because the loss itself overflows.
///
/// # Panics
/// If the dimension has no room for the special features (it needs `first + 6`).
pub fn random(seed: u64, rounds: usize, dimension: usize, loss: &str, options: Options) -> Stream {
    let first = options.first;
    assert!(dimension >= first + 6, "dimension must be at least {}, got {dimension}", first + 6);
    let mut rng = SplitMix64::new(seed);

    // The slots: always, huge, tiny, then ordinary ones; the last sixth late, the very last never.
    let (always, huge, tiny) = (first, first + 1, first + 2);
    let ordinary = first + 3;
    let never = dimension - 1;
    let late = never - ((dimension - ordinary) / 6).max(1);
    let planted: Vec<f64> = (0..dimension)
        .map(|i| if i >= ordinary && rng.chance(0.4) { rng.normal() } else { 0.0 })
        .collect();

    let mut huge_left = match loss {
        "poisson" => 0,
        "squared" | "squared-hinge" => 4,
        _ => rounds,
    };
    let examples = (0..rounds)
        .map(|t| {
            let empty = rng.chance(options.empty);
            let mut x = Vec::new();
            for i in first..dimension {
                let chance = match i {
                    _ if i == always => 1.0,
                    _ if i == huge => 0.02,
                    _ if i == tiny => 0.2,
                    _ if i == never => 0.0,
                    _ if i >= late && t < rounds / 2 => 0.0,
                    _ => options.density,
                };
                let present = rng.chance(chance);
                let value = rng.normal();
                if !present || empty {
                    continue;
                }
                if i == huge {
                    if options.huge && huge_left > 0 {
                        huge_left -= 1;
                        x.push((i, value * 1e6));
                    }
                } else if i == tiny {
                    if options.tiny {
                        x.push((i, value * 1e-9));
                    }
                } else if i == always {
                    x.push((i, 0.5 + 0.1 * value));
                } else {
                    x.push((i, value));
                }
            }
            let score: f64 = x.iter().map(|&(i, value)| planted[i] * value).sum();
            let y = label(loss, score, &mut rng);
            let weight = if options.weights { importance(&mut rng) } else { 1.0 };
            Example { x, y, weight }
        })
        .collect();
    Stream { dimension, examples }
}

fn label(loss: &str, score: f64, rng: &mut SplitMix64) -> f64 {
    let noisy = score + 0.5 * rng.normal();
    match loss {
        "logistic" | "hinge" | "squared-hinge" => {
            if noisy >= 0.0 {
                1.0
            } else {
                -1.0
            }
        }
        "squared" | "huber" | "quantile" => noisy,
        "poisson" => (0.5 * noisy).clamp(-3.0, 3.0).exp().floor(),
        other => panic!("unknown loss {other:?}"),
    }
}

fn importance(rng: &mut SplitMix64) -> f64 {
    let which = rng.unit();
    let amount = rng.unit();
    match which {
        w if w < 0.5 => 1.0,
        w if w < 0.65 => 0.0,
        w if w < 0.85 => amount,
        w if w < 0.95 => 1.0 + 2.0 * amount,
        _ => (1.0 + 4.0 * amount).floor(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_promised_troubles_are_there() {
        let stream = random(7, 400, 30, "logistic", Options::default());
        let has = |i: usize, rows: std::ops::Range<usize>| {
            stream.examples[rows].iter().any(|e| e.x.iter().any(|&(j, _)| j == i))
        };
        let any = |test: &dyn Fn(&Example) -> bool| stream.examples.iter().any(test);
        assert!(stream.examples.iter().all(|e| e.x.is_empty() || e.x[0].0 == 1));
        assert!(!has(28, 0..200) && has(28, 200..400), "28 is first seen late");
        assert!(!has(29, 0..400) && !has(0, 0..400), "29 and 0 are never seen");
        assert!(any(&|e| e.x.is_empty()));
        assert!(any(&|e| e.x.iter().any(|&(_, v)| v.abs() > 1e5)));
        assert!(any(&|e| e.x.iter().any(|&(_, v)| v != 0.0 && v.abs() < 1e-7)));
        assert!(any(&|e| e.weight == 0.0) && any(&|e| e.weight.fract() != 0.0));
        let sorted = |e: &Example| e.x.windows(2).all(|pair| pair[0].0 < pair[1].0);
        assert!(stream.examples.iter().all(sorted));
        assert_eq!(stream, random(7, 400, 30, "logistic", Options::default()));
    }
}

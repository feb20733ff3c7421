//! Adaptive filters with several kernels and a growing dictionary (000, appendix A.3).
//!
//! The model is `f(x) = sum_j sum_m h_jm k_m(x, x_j)` over the rows `x_j` of the dictionary. One
//! column `h_j` of coefficients belongs to each of them, and the penalty is the sum of the columns'
//! norms. There is no bias.

use crate::method::dot;
use crate::prox::{l2_norm, norm};
use crate::spec::Spec;
use crate::stream::Stream;
use serde_json::Value;

/// The result of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelOutcome {
    /// The margins, one per row, each made before the row was learned.
    pub margins: Vec<f64>,
    /// The rows in the dictionary at the end, dense, in the order they came.
    pub dictionary: Vec<Vec<f64>>,
    /// One column per dictionary entry, one number per kernel.
    pub coefficients: Vec<Vec<f64>>,
    /// The size of the dictionary after each row, a row of weight zero included.
    pub sizes: Vec<usize>,
}

#[derive(Clone, Copy, Debug)]
enum Kernel {
    /// `exp(-|u - v|^2 / (2 variance)) / sqrt(2 pi variance)` (A.34), in any dimension.
    Gaussian { variance: f64 },
    /// `u.v`.
    Linear,
    /// `(1 + u.v)^degree`.
    Polynomial { degree: i32 },
}

impl Kernel {
    fn value(self, u: &[f64], v: &[f64]) -> f64 {
        match self {
            Kernel::Gaussian { variance } => {
                let square: f64 = u.iter().zip(v).map(|(u, v)| (u - v) * (u - v)).sum();
                let height = 1.0 / (2.0 * std::f64::consts::PI * variance).sqrt();
                height * (-square / (2.0 * variance)).exp()
            }
            Kernel::Linear => dot(u, v),
            Kernel::Polynomial { degree } => (1.0 + dot(u, v)).powi(degree),
        }
    }
}

/// The kernels in the order of their words, and within a word in the order of its list.
fn kernels(spec: &Spec) -> Vec<Kernel> {
    let mut kernels = Vec::new();
    for word in spec.words("kernel") {
        let before = kernels.len();
        match word.as_str() {
            "gaussian" => kernels.extend(
                spec.numbers("variances").iter().map(|&variance| Kernel::Gaussian { variance }),
            ),
            "linear" => kernels.push(Kernel::Linear),
            "polynomial" => kernels.extend(
                spec.numbers("degrees")
                    .iter()
                    .map(|&degree| Kernel::Polynomial { degree: whole(degree) }),
            ),
            other => panic!("unknown kernel {other:?}"),
        }
        assert!(kernels.len() > before, "kernel {word:?} has no variances or degrees");
    }
    kernels
}

fn whole(degree: f64) -> i32 {
    assert!(
        degree.fract() == 0.0 && (1.0..=1e6).contains(&degree),
        "degrees must be whole numbers, got {degree}"
    );
    degree as i32
}

/// Runs `multikernel-pda` or `multikernel-apfbs` over a stream.
///
/// # Panics
/// Like [`run`](crate::run).
pub fn multikernel(spec: &Value, stream: &Stream) -> KernelOutcome {
    let spec = Spec::new(spec);
    let algorithm = spec.text("algorithm");
    let dual_averaging = match algorithm.as_str() {
        "multikernel-pda" => true,
        "multikernel-apfbs" => false,
        other => panic!("{other:?} is not a multikernel method"),
    };
    let loss = spec.text_or("loss", "projection");
    assert!(loss == "projection", "{algorithm} has the loss \"projection\", got {loss:?}");
    spec.refuse_strength("l2");
    let kernels = kernels(&spec);
    let eta = spec.number("rate");
    let l1 = spec.number_or("l1", 0.0);
    let delta = spec.number_or("delta", 1e-5);
    let dictionary_max = spec.count("dictionary_max");
    let threshold = spec.number("dictionary_threshold");

    let mut dictionary: Vec<Vec<f64>> = Vec::new();
    // The columns of H and, for PDA, of S.
    let mut h: Vec<Vec<f64>> = Vec::new();
    let mut s: Vec<Vec<f64>> = Vec::new();
    let (mut margins, mut sizes) = (Vec::new(), Vec::new());
    let column = |u: &[f64], v: &[f64]| -> Vec<f64> {
        kernels.iter().map(|kernel| kernel.value(u, v)).collect()
    };

    for example in &stream.examples {
        let mut x = vec![0.0; stream.dimension];
        for &(i, value) in &example.x {
            x[i] = value;
        }
        let margin: f64 = h.iter().zip(&dictionary).map(|(h, d)| dot(h, &column(&x, d))).sum();
        margins.push(margin);
        if example.weight == 0.0 {
            sizes.push(dictionary.len());
            continue;
        }

        dictionary.push(x.clone());
        h.push(vec![0.0; kernels.len()]);
        s.push(vec![0.0; kernels.len()]);

        // G = v (<H, K> - y) / (|K|^2 + delta) K, and nothing where every kernel is zero.
        let k: Vec<Vec<f64>> = dictionary.iter().map(|d| column(&x, d)).collect();
        let square = k.iter().map(|k| dot(k, k)).sum::<f64>() + delta;
        let scale =
            if square == 0.0 { 0.0 } else { example.weight * (margin - example.y) / square };
        for j in 0..dictionary.len() {
            let g: Vec<f64> = k[j].iter().map(|k| scale * k).collect();
            s[j] = s[j].iter().zip(&g).map(|(s, g)| s + g).collect();
            let v: Vec<f64> = if dual_averaging {
                s[j].iter().map(|s| -eta * s).collect()
            } else {
                h[j].iter().zip(&g).map(|(h, g)| h - eta * g).collect()
            };
            h[j] = l2_norm(&v, l1 * eta);
        }

        if dictionary.len() >= dictionary_max {
            let kept: Vec<usize> = (0..h.len()).filter(|&j| norm(&h[j]) >= threshold).collect();
            let keep = |columns: &[Vec<f64>]| -> Vec<Vec<f64>> {
                kept.iter().map(|&j| columns[j].clone()).collect()
            };
            (dictionary, h, s) = (keep(&dictionary), keep(&h), keep(&s));
        }
        sizes.push(dictionary.len());
    }
    KernelOutcome { margins, dictionary, coefficients: h, sizes }
}

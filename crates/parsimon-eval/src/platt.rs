//! Platt scaling: the logistic function of a line through the margins.
//!
//! `p = 1 / (1 + e^-(a m + b))`, where `a` and `b` minimize the log loss against targets that are not quite 0 and 1:
//! `t+ = (N+ + 1) / (N+ + 2)` and `t- = 1 / (N- + 2)` for `N+` positives and `N-` negatives (Platt, 1999), which keeps the
//! minimum finite for margins that separate the classes. Newton's method with backtracking, as in Lin, Lin and Weng (2007).

use parsimon_core::Link;

use crate::sum::Sum;

/// The line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Line {
    pub(crate) slope: f64,
    pub(crate) offset: f64,
}

/// Newton's method ends here at the latest; it takes about ten steps.
const MOST_STEPS: usize = 100;
/// Keeps the Hessian invertible where all margins are equal.
const RIDGE: f64 = 1e-12;

/// Fits the line to margins, labels (positive or not) and importance weights. Weighted sums replace the counts.
pub(crate) fn fit(rows: &[(f64, bool, f64)]) -> Line {
    let weight = |positive: bool| {
        rows.iter().filter(|row| row.1 == positive).map(|row| row.2).collect::<Sum>().value()
    };
    let (positives, negatives) = (weight(true), weight(false));
    // NUMERICS: margins of any size are brought to the size of 1, or the Hessian would be too uneven to invert.
    let largest = rows.iter().fold(0.0, |most: f64, row| most.max(row.0.abs()));
    let scale = if largest > 0.0 { largest } else { 1.0 };
    let problem = Problem {
        rows,
        scale,
        high: (positives + 1.0) / (positives + 2.0),
        low: 1.0 / (negatives + 2.0),
    };
    let mut at = (0.0, ((positives + 1.0) / (negatives + 1.0)).ln());
    let mut value = problem.value(at);
    for _ in 0..MOST_STEPS {
        let ([ga, gb], [haa, hab, hbb]) = problem.derivatives(at);
        let total = positives + negatives;
        if ga.abs().max(gb.abs()) <= 1e-10 * total {
            break;
        }
        let (haa, hbb) = (haa + RIDGE * total, hbb + RIDGE * total);
        let determinant = haa * hbb - hab * hab;
        let step = (-(hbb * ga - hab * gb) / determinant, -(haa * gb - hab * ga) / determinant);
        let descent = ga * step.0 + gb * step.1;
        let mut length = 1.0;
        let next = loop {
            let next = (at.0 + length * step.0, at.1 + length * step.1);
            let there = problem.value(next);
            if there < value + 1e-4 * length * descent {
                break Some((next, there));
            }
            length /= 2.0;
            if length < 1e-10 {
                break None;
            }
        };
        match next {
            Some(next) => (at, value) = next,
            None => break,
        }
    }
    Line { slope: at.0 / scale, offset: at.1 }
}

struct Problem<'a> {
    rows: &'a [(f64, bool, f64)],
    scale: f64,
    high: f64,
    low: f64,
}

impl Problem<'_> {
    fn target(&self, positive: bool) -> f64 {
        if positive { self.high } else { self.low }
    }

    /// The log loss against the targets.
    fn value(&self, (a, b): (f64, f64)) -> f64 {
        let losses = self.rows.iter().map(|&(margin, positive, weight)| {
            let z = a * (margin / self.scale) + b;
            // NUMERICS: ln(1 + e^z) - t z without overflow on either side.
            weight * (z.max(0.0) - self.target(positive) * z + (-z.abs()).exp().ln_1p())
        });
        losses.collect::<Sum>().value()
    }

    /// The gradient and the Hessian.
    fn derivatives(&self, (a, b): (f64, f64)) -> ([f64; 2], [f64; 3]) {
        let (mut gradient, mut hessian) = ([Sum::default(); 2], [Sum::default(); 3]);
        for &(margin, positive, weight) in self.rows {
            let m = margin / self.scale;
            let p = Link::Probability.apply(a * m + b);
            let slope = weight * (p - self.target(positive));
            let curvature = weight * p * (1.0 - p);
            gradient[0].add(slope * m);
            gradient[1].add(slope);
            hessian[0].add(curvature * m * m);
            hessian[1].add(curvature * m);
            hessian[2].add(curvature);
        }
        (gradient.map(|sum| sum.value()), hessian.map(|sum| sum.value()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parsimon_testing::SplitMix64;

    pub(crate) fn rows(seed: u64, len: usize) -> Vec<(f64, bool, f64)> {
        let mut random = SplitMix64::new(seed);
        let row = |_| {
            let margin = 8.0 * random.unit() - 5.0;
            let positive = random.unit() < 1.0 / (1.0 + (-(0.6 * margin - 1.0)).exp());
            (margin, positive, f64::from(random.below(3) as u32) * 0.7 + 0.1)
        };
        (0..len).map(row).collect()
    }

    /// The definition, minimized by looking: a smaller and smaller grid around the best point so far.
    fn twin(rows: &[(f64, bool, f64)]) -> (f64, f64) {
        let count =
            |positive: bool| rows.iter().filter(|r| r.1 == positive).map(|r| r.2).sum::<f64>();
        let (high, low) = ((count(true) + 1.0) / (count(true) + 2.0), 1.0 / (count(false) + 2.0));
        let loss = |a: f64, b: f64| -> f64 {
            let row = |&(m, positive, w): &(f64, bool, f64)| {
                let p = 1.0 / (1.0 + (-(a * m + b)).exp());
                let t = if positive { high } else { low };
                -w * (t * p.ln() + (1.0 - t) * (1.0 - p).ln())
            };
            rows.iter().map(row).sum()
        };
        let (mut best, mut width) = ((0.0, 0.0), 4.0);
        while width > 1e-7 {
            let (a, b) = best;
            for i in -8..=8 {
                for j in -8..=8 {
                    let at = (a + width * f64::from(i) / 8.0, b + width * f64::from(j) / 8.0);
                    if loss(at.0, at.1) < loss(best.0, best.1) {
                        best = at;
                    }
                }
            }
            if best == (a, b) {
                width /= 2.0;
            }
        }
        best
    }

    #[test]
    fn newton_finds_what_a_grid_finds() {
        for seed in 1..4 {
            let rows = rows(seed, 150);
            let (line, (a, b)) = (fit(&rows), twin(&rows));
            assert!((line.slope - a).abs() < 1e-5, "{line:?} {a} {b}");
            assert!((line.offset - b).abs() < 1e-5, "{line:?} {a} {b}");
        }
    }

    #[test]
    fn margins_that_separate_the_classes_have_a_finite_line() {
        let rows: Vec<_> = (0..200).map(|i| (f64::from(i) - 99.5, i >= 100, 1.0)).collect();
        let line = fit(&rows);
        assert!(line.slope.is_finite() && line.slope > 0.0 && line.offset.abs() < 1e-6, "{line:?}");
    }

    #[test]
    fn equal_margins_give_the_rate_and_huge_ones_the_same_line() {
        let rows: Vec<_> = (0..100).map(|i| (2.0, i < 30, 1.0)).collect();
        let line = fit(&rows);
        let p = 1.0 / (1.0 + (-(line.slope * 2.0 + line.offset)).exp());
        let targets = (30.0 * 31.0 / 32.0 + 70.0 / 72.0) / 100.0;
        assert!((p - targets).abs() < 1e-8, "{p}");
        let plain = self::rows(9, 300);
        let huge: Vec<_> = plain.iter().map(|&(m, y, w)| (m * 1e12, y, w)).collect();
        let (plain, huge) = (fit(&plain), fit(&huge));
        assert!((plain.slope - huge.slope * 1e12).abs() < 1e-9 * plain.slope.abs());
    }
}

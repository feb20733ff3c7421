//! The statements of the lazy thesis: Proposition 2.1, and the constant in the proof of Theorem 3.1.

use parsimon_core::soft;

use super::{Case, Order, Statement};
use crate::kind::hindsight::dot;
use crate::kind::proximal::{Penalty, apart};

pub(super) const STATEMENTS: &[Statement] = &[
    Statement {
        name: "lazy-thesis/proposition-2.1-l1",
        says: "K proximal steps with the l1 norm are one with the sum of the step sizes, K from 1 to 500",
        excess: |case, _| put_together(case, Penalty::L1),
    },
    Statement {
        name: "lazy-thesis/proposition-2.1-l2",
        says: "the same with the l2 norm",
        excess: |case, _| put_together(case, Penalty::L2Norm),
    },
    Statement {
        name: "lazy-thesis/proposition-2.1-linf",
        says: "the same with the largest magnitude",
        excess: |case, _| put_together(case, Penalty::Linf),
    },
    Statement {
        name: "lazy-thesis/proposition-2.1-l2-squared",
        says: "the same with the squared length, which the proposition does not claim",
        excess: |case, _| put_together(case, Penalty::L2Squared),
    },
    Statement {
        name: "lazy-thesis/theorem-3.1-gap",
        says: "(12): sum |h(y) - h(x)| <= L K (G + N) sum eta, the constant in the proof of Theorem 3.1, for Algorithm 1 with K of 1, 10 and 100",
        excess: gap,
    },
];

fn put_together(case: &Case, penalty: Penalty) -> f64 {
    let mut random = case.random();
    let mut start = Case::vector(&mut random, case.n(), case.length());
    match case.order() {
        Order::Drawn => {}
        // Coordinates of one magnitude, of one magnitude in turn, and one far above the others.
        Order::Sorted => start.iter_mut().for_each(|v| *v = case.length()),
        Order::Alternating => {
            (0..)
                .zip(&mut start)
                .for_each(|(j, v)| *v = case.length() * f64::from(1 - 2 * (j % 2)));
        }
        Order::Greedy => start[0] *= 1000.0,
    }
    let rate = case.step(1e-3, 1.0);
    let sizes: Vec<f64> = (1..=case.rounds()).map(|j| rate / (j as f64).sqrt()).collect();
    apart(penalty, &start, &sizes)
}

/// Algorithm 1 on logistic loss: `g` is the loss and `h` the penalty, which is paid at the end of a block of `K` rounds.
fn gap(case: &Case, constant: f64) -> f64 {
    let (rows, l1) = (case.unit_rows(), 0.05);
    let (n, period, eta0) = (rows.n, [1, 10, 100][case.third()], case.step(1e-3, 1.0));
    let eta = |t: usize| eta0 / (t as f64).sqrt();
    let penalty = |w: &[f64]| l1 * w.iter().map(|w| w.abs()).sum::<f64>();
    let mut w = vec![0.0; n];
    let mut left: Vec<usize> = (0..rows.y.len()).collect();
    let (mut gap, mut most, mut block) = (0.0, 0.0f64, Vec::new());
    for t in 1..=rows.y.len() {
        let sign = |i: usize| if rows.y[i] > 0.0 { 1.0 } else { -1.0 };
        let i = case.next(&mut left, |i| -sign(i) * rows.margin(i, &w));
        let slope = -sign(i) / (1.0 + (sign(i) * rows.margin(i, &w)).exp());
        most = most.max(slope.abs() * dot(rows.row(i), rows.row(i)).sqrt());
        w.iter_mut().zip(rows.row(i)).for_each(|(w, x)| *w -= eta(t) * slope * x);
        block.push((penalty(&w), eta(t)));
        if t % period == 0 {
            for (x, eta) in block.drain(..) {
                w.iter_mut().for_each(|w| *w = soft(*w, l1 * eta));
                gap += (penalty(&w) - x).abs();
            }
        }
    }
    let lipschitz = l1 * (n as f64).sqrt();
    let whole = rows.y.len() / period * period;
    let steps: f64 = (1..=whole).map(eta).sum();
    let bound = constant * lipschitz * period as f64 * (most + lipschitz) * steps;
    (gap - bound) / (gap + bound).max(1e-300)
}

//! Products of one update, by the number of features and the order, and the polynomial through them.

use std::collections::BTreeMap;

use parsimon::rows::{Chunk, Repeats};
use parsimon_core::filter::metric::MagnitudeMetric;
use parsimon_core::filter::projection::{
    Form, Projection, ProjectionSettings, Shrinking, SolutionSet,
};
use parsimon_core::filter::{Delta, Method as FilterMethod, Past};
use parsimon_core::metric::{AdaGrad, Global, Pace};
use parsimon_core::penalty::ElasticNet;
use parsimon_core::rule::Rule;
use parsimon_core::rule::leader::{Accrual, Leader, Origin};
use parsimon_core::rule::mirror::{HalfStep, Scheduled};
use parsimon_core::{Learner, Loss, Online, Schedule, Table};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Deserialize;

use super::counted::{Counted, products_of};
use super::twin::{Steps, Twin};
use crate::experiment::Method;
use crate::kind::Curve;
use crate::kind::hindsight::dot;
use crate::kind::least_squares::solve;

const RATE: f64 = 0.1;
const STRENGTH: f64 = 0.001;
const DELTA: f64 = 1e-5;
const EPSILON: f64 = 1e-5;

/// The terms of the polynomial: powers of `n` and of `r`.
const TERMS: [(&str, i32, i32); 7] = [
    ("constant", 0, 0),
    ("per_r", 0, 1),
    ("per_r2", 0, 2),
    ("per_r3", 0, 3),
    ("per_n", 1, 0),
    ("per_nr", 1, 1),
    ("per_nr2", 1, 2),
];

/// The method whose products are counted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum How {
    /// The thesis's steps.
    Twin(Steps),
    /// PDA as the library has it.
    Pda {
        /// The share of the identity; `None` is the identity alone.
        alpha: Option<f64>,
    },
    Rda,
    AdaGradRda,
    Fobos,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TwinSpec {
    metric: bool,
    #[serde(default)]
    inverse: bool,
}

impl How {
    /// From the method's settings; a method that the count has no code for is only timed.
    pub(super) fn of(method: &Method) -> Result<Option<Self>, String> {
        if let Some(twin) = method.spec.get("twin") {
            let twin: TwinSpec =
                twin.clone().try_into().map_err(|e| format!("{}: {e}", method.name))?;
            return Ok(Some(How::Twin(Steps { metric: twin.metric, inverse: twin.inverse })));
        }
        let algorithm = method.spec.get("algorithm").and_then(toml::Value::as_str);
        Ok(match algorithm {
            Some("pda") => {
                Some(How::Pda { alpha: method.spec.get("alpha").and_then(toml::Value::as_float) })
            }
            Some("rda") => Some(How::Rda),
            Some("adagrad-rda") => Some(How::AdaGradRda),
            Some("fobos") => Some(How::Fobos),
            _ => None,
        })
    }

    /// Products of one update, after some that fill the past and the weights.
    fn products(self, n: usize, r: usize, seed: u64) -> u64 {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut row = || -> Vec<f64> { (0..n).map(|_| random.random_range(-1.0..1.0)).collect() };
        let rows: Vec<Vec<f64>> = (0..r + 4).map(|_| row()).collect();
        let counted = |rows: &[Vec<f64>]| -> Vec<Vec<Counted>> {
            rows.iter().rev().map(|x| x.iter().map(|v| Counted(*v)).collect()).collect()
        };
        let target = |x: &Vec<f64>| x[0] - 0.5 * x[n / 2];
        let mut products = 0;
        match self {
            How::Twin(steps) => {
                let mut twin = Twin::new(n, RATE, STRENGTH, DELTA, 0.5, EPSILON);
                for end in r..=rows.len() {
                    let last = &rows[end - r..end];
                    let y: Vec<Counted> = last.iter().rev().map(|x| Counted(target(x))).collect();
                    let x = counted(last);
                    let mut apart = 0;
                    let all = products_of(|| apart = twin.step(&x, &y, steps.metric));
                    products = if steps.inverse { all } else { all - apart };
                }
            }
            How::Pda { alpha } => {
                let metric = alpha.map(|alpha| MagnitudeMetric {
                    alpha: Counted(alpha),
                    epsilon: Counted(EPSILON),
                });
                let settings = ProjectionSettings {
                    rate: Counted(RATE),
                    l1: Counted(STRENGTH),
                    delta: Delta::absolute(Counted(DELTA)),
                    metric,
                    order: r,
                    set: SolutionSet::Hyperplane,
                    form: Form::Dual,
                    shrinking: Shrinking::default(),
                };
                let mut pda = Projection::new(n, n, settings);
                for end in r..=rows.len() {
                    let last = &rows[end - r..end];
                    let y = last.iter().rev().map(|x| Counted(target(x))).collect();
                    let past = CountedRows { x: counted(last), y, round: end as u64 };
                    products = products_of(|| {
                        let p = <Counted as parsimon_core::Reduce>::dot(pda.weights(), &past.x[0]);
                        pda.adapt(&past, p, Counted(1.0));
                    });
                }
            }
            How::Rda => {
                let penalty = ElasticNet { l1: STRENGTH, l2: 0.0 };
                let metric = Global(Pace::Sqrt { rate: RATE });
                let rule = Leader { penalty, accrual: Accrual::EveryRound, center: Origin, metric };
                products = learned(rule, &rows, target);
            }
            How::AdaGradRda => {
                let penalty = ElasticNet { l1: STRENGTH, l2: 0.0 };
                let metric = AdaGrad { rate: RATE, delta: 1e-3 };
                let rule = Leader { penalty, accrual: Accrual::EveryRound, center: Origin, metric };
                products = learned(rule, &rows, target);
            }
            How::Fobos => {
                let penalty = ElasticNet { l1: STRENGTH, l2: 0.0 };
                let schedule = Schedule::Sqrt { rate: RATE };
                let rule = Scheduled { penalty, schedule, half_step: HalfStep::Same };
                products = learned(rule, &rows, target);
            }
        }
        products
    }

    fn has_orders(self) -> bool {
        matches!(self, How::Twin(_) | How::Pda { .. })
    }
}

/// The last rows for a dense method of the library.
struct CountedRows {
    x: Vec<Vec<Counted>>,
    y: Vec<Counted>,
    round: u64,
}

impl Past<Counted> for CountedRows {
    fn len(&self) -> usize {
        self.x.len()
    }
    fn round(&self) -> u64 {
        self.round
    }
    fn regressor(&self, c: usize) -> &[Counted] {
        &self.x[c]
    }
    fn target(&self, c: usize) -> Counted {
        self.y[c]
    }
    fn energy(&self) -> Counted {
        <Counted as parsimon_core::Reduce>::dot(&self.x[0], &self.x[0])
    }
    fn usual_energy(&self) -> Counted {
        Counted(1.0)
    }
}

/// Products of the last of the rows under a sparse rule.
fn learned<R: Rule<Counted>>(rule: R, rows: &[Vec<f64>], target: impl Fn(&Vec<f64>) -> f64) -> u64 {
    let mut learner = Learner::<Counted, R>::new(rule, None, Loss::Squared, Table::growing());
    let mut products = 0;
    let mut margins = Vec::new();
    for x in rows {
        let mut chunk = Chunk::new();
        (1..).zip(x).for_each(|(j, &v)| chunk.push_feature(j, v));
        if chunk.finish_row(Some(target(x)), 1.0, Repeats::Refuse).is_err() {
            unreachable!("generated rows are finite");
        }
        products = products_of(|| learner.learn(&chunk, &mut margins));
    }
    products
}

/// Counts over a grid of sizes.
pub(super) struct Counts {
    /// `n`, `r`, products.
    points: Vec<(f64, f64, f64)>,
}

impl Counts {
    pub(super) fn of(how: How, features: &[usize], orders: &[usize], seed: u64) -> Self {
        let orders = if how.has_orders() { orders } else { &[1] };
        let mut points = Vec::new();
        for &n in features {
            for &r in orders {
                points.push((n as f64, r as f64, how.products(n, r, seed) as f64));
            }
        }
        Self { points }
    }

    /// The counts with one past row, the coefficients of the polynomial, and the largest distance from it.
    pub(super) fn measures(&self) -> BTreeMap<String, Curve> {
        let first = self.points.iter().filter(|p| p.1 == 1.0).map(|p| (p.0, p.2)).collect();
        let mut measures = BTreeMap::from([("multiplications".to_owned(), first)]);
        let has_orders = self.points.iter().any(|p| p.1 > 1.0);
        let is_used = |(_, _, power): &&(&str, i32, i32)| has_orders || *power == 0;
        let terms: Vec<_> = TERMS.iter().filter(is_used).collect();
        let row = |n: f64, r: f64| -> Vec<f64> {
            terms.iter().map(|(_, a, b)| n.powi(*a) * r.powi(*b)).collect()
        };
        let (mut square, mut right) =
            (vec![vec![0.0; terms.len()]; terms.len()], vec![0.0; terms.len()]);
        for &(n, r, count) in &self.points {
            let x = row(n, r);
            for a in 0..x.len() {
                right[a] += x[a] * count;
                (0..x.len()).for_each(|b| square[a][b] += x[a] * x[b]);
            }
        }
        let fit = solve(&square, &right);
        let off = self.points.iter().map(|&(n, r, count)| (dot(&row(n, r), &fit) - count).abs());
        let end = self.points.last().map_or(0.0, |p| p.0);
        let off = off.fold(0.0, f64::max);
        measures.insert("residual".to_owned(), vec![(end, off)]);
        for ((name, ..), value) in terms.iter().zip(fit) {
            // Coefficients of counts are fractions with small denominators; what is beyond is rounding.
            let value = (value * 1e4).round() / 1e4;
            measures.insert((*name).to_owned(), vec![(end, value)]);
        }
        measures
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FEATURES: [usize; 4] = [6, 12, 20, 33];
    const ORDERS: [usize; 5] = [1, 2, 3, 4, 5];

    fn fit(how: How) -> BTreeMap<String, f64> {
        let measures = Counts::of(how, &FEATURES, &ORDERS, 3).measures();
        measures.into_iter().map(|(name, curve)| (name, curve[curve.len() - 1].1)).collect()
    }

    /// Products are counted one by one.
    #[test]
    fn a_product_and_a_quotient_count_and_a_sum_does_not() {
        let (a, b) = (Counted(2.0), Counted(3.0));
        assert_eq!(products_of(|| assert_eq!((a * b + a - b / a).0, 6.0 + 2.0 - 1.5)), 2);
        let mut c = a;
        assert_eq!(products_of(|| c *= b), 1);
        assert_eq!(products_of(|| c += b), 0);
    }

    /// The twin takes the steps of the library's PDA.
    #[test]
    fn the_twin_is_pda() {
        for (alpha, r) in [(None, 1), (None, 3), (Some(0.5), 1), (Some(0.5), 3)] {
            let n = 9;
            let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
            let rows: Vec<Vec<Counted>> = (0..40)
                .map(|_| (0..n).map(|_| Counted(random.random_range(-1.0..1.0))).collect())
                .collect();
            let mut twin = Twin::new(n, RATE, 0.02, DELTA, alpha.unwrap_or(1.0), EPSILON);
            let settings = ProjectionSettings {
                rate: Counted(RATE),
                l1: Counted(0.02),
                delta: Delta::absolute(Counted(DELTA)),
                metric: alpha
                    .map(|a| MagnitudeMetric { alpha: Counted(a), epsilon: Counted(EPSILON) }),
                order: r,
                set: SolutionSet::Hyperplane,
                form: Form::Dual,
                shrinking: Shrinking::default(),
            };
            let mut pda = Projection::new(n, n, settings);
            for end in r..=rows.len() {
                let x: Vec<_> = rows[end - r..end].iter().rev().cloned().collect();
                let y: Vec<_> = x.iter().map(|x| x[0] - x[3]).collect();
                twin.step(&x, &y, alpha.is_some());
                let p = <Counted as parsimon_core::Reduce>::dot(pda.weights(), &x[0]);
                pda.adapt(&CountedRows { x, y, round: end as u64 }, p, Counted(1.0));
                for (a, b) in twin.w.iter().zip(pda.weights()) {
                    assert!((a.0 - b.0).abs() < 1e-9, "{alpha:?} {r}: {a:?} {b:?}");
                }
            }
        }
    }

    /// Section 3.5, and what it leaves out.
    #[test]
    fn the_twin_counts_what_the_thesis_does() {
        let found = fit(How::Twin(Steps { metric: true, inverse: false }));
        let is = |found: &BTreeMap<String, f64>, name: &str, value: f64| {
            assert!((found[name] - value).abs() < 1e-3, "{name}: {found:?}");
        };
        for (name, value) in
            [("per_n", 4.0), ("per_nr", 3.0), ("per_nr2", 1.0), ("per_r2", 1.0), ("residual", 0.0)]
        {
            is(&found, name, value);
        }
        let found = fit(How::Twin(Steps { metric: true, inverse: true }));
        is(&found, "per_r3", 2.0);
        let found = fit(How::Twin(Steps { metric: false, inverse: false }));
        for (name, value) in [("per_n", 1.0), ("per_nr", 2.0), ("per_nr2", 1.0), ("per_r2", 1.0)] {
            is(&found, name, value);
        }
    }

    #[test]
    fn the_rivals_are_linear() {
        for how in [How::Rda, How::AdaGradRda, How::Fobos] {
            let found = fit(how);
            assert!(found["residual"] < 2.0 && found["per_n"] > 0.5, "{how:?}: {found:?}");
        }
    }
}
